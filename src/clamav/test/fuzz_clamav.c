/* SPDX-License-Identifier: MIT */
/* Databases: the first byte picks the format, or the check of a container's member. Signatures that
 * are taken are compiled, and scan the input. The same holds for two copies of the compiled block,
 * merged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clamav/container_check.h"
#include "clamav/db.h"
#include "clamav/set.h"
#include "sluice/clamav.h"

/* A container is read from memory of its own, which is lost as it is read. */
static void read_container(struct sl_clamav_set *set, const char *name, const uint8_t *data,
                           size_t len, bool ignores)
{
    uint8_t *copy = malloc(len + 1);
    struct sl_diag diag;

    if (copy == NULL)
        return;
    memcpy(copy, data, len);
    (void)clam_container_read(set, name, copy, len, ignores, &diag);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void scan(struct sl_clamav_db *db, const uint8_t *data, size_t len)
{
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1 << 16;
    if (sl_clamav_open(&scanner, db, &config, NULL) != SL_OK)
        return;
    if (sl_clamav_scan_buffer(scanner, data, len, NULL) != SL_OK ||
        sl_clamav_flush(scanner) != SL_OK)
        abort();
    sl_clamav_close(scanner);
}

static void scan_merged(const struct sl_clamav_db *db, const uint8_t *data, size_t len)
{
    struct sl_clamav_set *set;
    struct sl_clamav_db *merged;
    struct sl_diag diag;

    if (sl_clamav_set_create(&set, &diag) != SL_OK)
        return;
    if (clam_set_merge(set, db->block, "a", &diag) != SL_OK ||
        clam_set_merge(set, db->block, "b", &diag) != SL_OK ||
        sl_clamav_compile(&merged, set, SL_DEVICE_CPU, &diag) != SL_OK)
        abort();
    scan(merged, data, len);
    sl_clamav_free(merged);
    sl_clamav_set_free(set);
}

/* A list, and the bytes of a member behind a zero. */
static void check_member(const uint8_t *data, size_t len)
{
    const uint8_t *zero = memchr(data, 0, len);
    const size_t list_len = zero != NULL ? (size_t)(zero - data) : len;
    const size_t rest = len - list_len - (zero != NULL);
    struct sl_diag diag;

    (void)container_check_member((struct clam_text){(const char *)data, list_len}, "f", "a.ndb",
                                 data + len - rest, rest, &diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const names[] = {"f.ndb", "f.ldb", "f.hdb", "f.mdb", "f.ign2", "f.db"};
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag;

    if (len == 0 || len > 4096 || sl_clamav_set_create(&set, &diag) != SL_OK)
        return 0;
    if (data[0] % 8 == 7) {
        check_member(data + 1, len - 1);
    } else if (data[0] % 8 == 6) {
        read_container(set, "f.cld", data + 1, len - 1, true);
        read_container(set, "f.cud", data + 1, len - 1, false);
    } else if (sl_clamav_set_read_text(set, names[data[0] % 8], (const char *)data + 1, len - 1,
                                       &diag) == SL_OK &&
               sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag) == SL_OK) {
        scan(db, data, len);
        scan_merged(db, data, len);
        sl_clamav_free(db);
    }
    sl_clamav_set_free(set);
    return 0;
}
