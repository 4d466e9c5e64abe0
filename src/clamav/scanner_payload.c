/* SPDX-License-Identifier: MIT */
/* Payloads of packets, by the hits of an engine over their batch. */
#include <string.h>

#include "clamav/scanner_internal.h"

void sl_clamav_engine(const struct sl_clamav_db *db, const struct sl_engine **engine,
                      const void **table)
{
    *engine = sl_mpm_engine(db->mpm);
    *table = db->mpm;
}

/* The first byte of content: behind the empty line, if the payload begins as an HTTP message. */
static uint64_t content_of(const uint8_t *bytes, uint64_t len)
{
    static const char *const begins[] = {"HTTP/1.", "POST ", "PUT "};
    const uint8_t *end;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t n = strlen(begins[i]);

        if (len < n || memcmp(bytes, begins[i], n) != 0)
            continue;
        end = memmem(bytes, (size_t)len, "\r\n\r\n", 4);
        return end != NULL ? (uint64_t)(end + 4 - bytes) : 0;
    }
    return 0;
}

enum sl_status sl_clamav_scan_hits(struct sl_clamav_scanner *scanner, const struct sl_batch *batch,
                                   const struct sl_hits *hits)
{
    enum sl_status status = SL_OK;

    if (batch->memory == SL_MEMORY_DEVICE || hits->n > hits->cap)
        return SL_EINVAL;
    for (size_t next = 0; next < hits->n && status == SL_OK;) {
        const uint32_t item = hits->hit[next].item;
        struct clam_object *object = &scanner->object;

        if (item >= batch->n_items)
            return SL_EINVAL;
        object->bytes = batch->bytes + batch->payload[item].offset;
        scanner_begin_part(scanner, (void *)(uintptr_t)item, batch->payload[item].len);
        object->part = true;
        object->origin = content_of(object->bytes, object->len);
        object->target = CLAM_GENERIC;
        scanner->exe.good = false;
        scanner->exe.n_sections = 0;
        scanner_take_hits(scanner, hits, item, 0, &next);
        status = scanner_end_part(scanner);
    }
    return status;
}
