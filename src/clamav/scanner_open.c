/* SPDX-License-Identifier: MIT */
/* Scanners are opened and closed. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "clamav/scanner_internal.h"

enum { BATCH_LEN = 4 << 20, BATCH_LEN_MIN = 1 << 16 };

void sl_clamav_scan_config_init(struct sl_clamav_scan_config *config)
{
    memset(config, 0, sizeof *config);
    config->device.kind = SL_DEVICE_CPU;
}

enum sl_status sl_clamav_open(struct sl_clamav_scanner **scanner, const struct sl_clamav_db *db,
                              const struct sl_clamav_scan_config *config, struct sl_diag *diag)
{
    const uint64_t n_sigs = db->block->n[CLAM_A_SIGS];
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status != SL_OK)
        return status;
    struct sl_clamav_scanner *made = calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    made->db = db;
    made->config = *config;
    if (made->config.batch_len == 0)
        made->config.batch_len = BATCH_LEN;
    if (made->config.batch_len < BATCH_LEN_MIN)
        made->config.batch_len = BATCH_LEN_MIN;
    made->seen = calloc(n_sigs + 1, sizeof *made->seen);
    made->candidates = calloc(n_sigs + 1, sizeof *made->candidates);
    if (!clam_match_open(&made->match, db->block) || made->seen == NULL || made->candidates == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    else
        status = clam_filter_open(&made->filter, db->mpm, &made->config.device,
                                  made->config.batch_len, diag);
    if (status != SL_OK) {
        sl_clamav_close(made);
        return status;
    }
    *scanner = made;
    return SL_OK;
}

void sl_clamav_close(struct sl_clamav_scanner *scanner)
{
    if (scanner == NULL)
        return;
    scanner_drop_fed(scanner);
    scanner_free_names(scanner);
    scanner_free_domains(scanner);
    clam_filter_close(&scanner->filter);
    clam_match_close(&scanner->match);
    free(scanner->object.memory);
    free(scanner->seen);
    free(scanner->candidates);
    free(scanner->fed);
    free(scanner);
}
