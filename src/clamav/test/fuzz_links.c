/* SPDX-License-Identifier: MIT */
/* Lists of phishing, .wdb where the first byte is odd, and behind a NUL and two zeros records of
 * links, which both these lists and fixed ones are asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clamav/place.h"
#include "clamav/url.h"
#include "sluice/clamav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void count(void *user, const char *name)
{
    *(size_t *)user += strlen(name);
}

static void scan(struct sl_clamav_set *set, const uint8_t *records, size_t len)
{
    const struct clam_links links = {records, len, true, true, 0};
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;
    struct sl_clamav_db *db;
    size_t n = 0;

    sl_clamav_scan_config_init(&config);
    config.batch_len = 1 << 16;
    if (sl_clamav_compile(&db, set, SL_DEVICE_CPU, NULL) != SL_OK)
        return;
    if (sl_clamav_open(&scanner, db, &config, NULL) == SL_OK) {
        if (!clam_scan_links(scanner, &links, count, &n))
            abort();
        sl_clamav_close(scanner);
    }
    sl_clamav_free(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char fixed[] =
        "H:bank.com\nR:.+\\.evil\\.com:.+\\.bank\\.de\nS1:F:"
        "0000000000000000000000000000000000000000000000000000000000000000\n";
    const uint8_t *records = memmem(data, len, "\0\0", 3);
    struct sl_clamav_set *set;
    struct sl_diag diag;

    if (len < 2 || len > 8192 || sl_clamav_set_create(&set, &diag) != SL_OK)
        return 0;
    records = records != NULL ? records + 3 : data + 1;
    if (sl_clamav_set_read_text(set, "a.pdb", fixed, sizeof fixed - 1, &diag) != SL_OK)
        abort();
    if (sl_clamav_set_read_text(set, data[0] % 2 == 1 ? "f.wdb" : "f.pdb", (const char *)data + 1,
                                (size_t)(records - data) - 1, &diag) == SL_OK)
        scan(set, records, (size_t)(data + len - records));
    sl_clamav_set_free(set);
    return 0;
}
