/* SPDX-License-Identifier: MIT */
/* Payloads of packets and windows of streams, by the hits of an engine. */
#include "clamav/payload.h"

#include <stdlib.h>
#include <string.h>

#include "clamav/scanner_internal.h"

/* Of a hit of the present part: a body may lie there with other bytes. */
#define WAITS (UINT64_C(1) << 62)

/* And with bytes before the part, where none come. */
#define LACKS (UINT64_C(1) << 61)

void sl_clamav_engine(const struct sl_clamav_db *db, const struct sl_engine **engine,
                      const void **table)
{
    *engine = sl_mpm_engine(db->mpm);
    *table = db->mpm;
}

uint32_t clam_literal_len(const struct sl_clamav_db *db, uint64_t literal)
{
    const uint32_t *literals = clam_at(db->block, CLAM_A_LITERALS);
    const struct clam_use *uses = clam_at(db->block, CLAM_A_USES);
    const struct clam_pattern *patterns = clam_at(db->block, CLAM_A_PATTERNS);
    const struct clam_seg *segs = clam_at(db->block, CLAM_A_SEGS);
    const struct clam_use *use = &uses[literals[literal]];

    return segs[patterns[use->pattern].segs + use->seg].key_len;
}

/* ---- open hits ------------------------------------------------------------------------------- */

bool clam_hits_add(struct sl_hits *hits, const struct sl_hit *hit)
{
    if (hits->n == hits->cap) {
        const size_t cap = 2 * hits->cap + 64;
        struct sl_hit *more = reallocarray(hits->hit, cap, sizeof *more);

        if (more == NULL)
            return false;
        hits->hit = more;
        hits->cap = cap;
    }
    hits->hit[hits->n++] = *hit;
    return true;
}

void clam_open_free(struct clam_open *open)
{
    free(open->hits.hit);
}

void clam_open_add(struct clam_open *open, const struct sl_hit *hit, bool matches,
                   const struct clam_object *object)
{
    const bool waits = object->behind || (object->before && open->has_before);

    if (!matches && !waits && !object->before)
        return;
    if (clam_hits_add(&open->hits, hit))
        open->hits.hit[open->hits.n - 1].id |=
            (matches ? CLAM_OPEN_MATCHES : 0) | (waits ? WAITS : 0) | (object->before ? LACKS : 0);
    else
        open->no_memory = true;
}

/* Ends a part: drops the hits that wait for nothing, or for bytes before it. */
static void decide(struct clam_open *open, bool lacks_bytes)
{
    struct sl_hit *const hit = open->hits.hit;
    size_t n = open->n_decided;

    for (size_t i = n; i < open->hits.n; i++) {
        const bool matches = lacks_bytes && (hit[i].id & CLAM_OPEN_MATCHES) != 0;
        const bool keeps = matches || (hit[i].id & WAITS) != 0;

        open->n_before += !keeps && (hit[i].id & LACKS) != 0;
        hit[n] = hit[i];
        hit[n].id &= matches ? ~(WAITS | LACKS) : ~(WAITS | LACKS | CLAM_OPEN_MATCHES);
        n += keeps;
    }
    open->hits.n = open->n_decided = n;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The first byte of content: behind the empty line, if the payload begins as an HTTP message. */
static int64_t content_of(const uint8_t *bytes, uint64_t len)
{
    static const char *const begins[] = {"HTTP/1.", "POST ", "PUT "};
    const uint8_t *end;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t n = strlen(begins[i]);

        if (len < n || memcmp(bytes, begins[i], n) != 0)
            continue;
        end = memmem(bytes, (size_t)len, "\r\n\r\n", 4);
        return end != NULL ? end + 4 - bytes : 0;
    }
    return 0;
}

/* `all_hits`: the matcher searched all of the parts. */
static void begin_parts(struct sl_clamav_scanner *scanner, struct clam_open *open, bool all_hits)
{
    scanner->open = open;
    scanner->all_hits = all_hits;
    if (open == NULL)
        return;
    open->hits.n = open->n_decided = open->n_before = 0;
    open->no_memory = false;
}

/* Scans a part by the hits from *next on that belong to the item. */
static enum sl_status scan_part(struct sl_clamav_scanner *scanner, const struct clam_window *part,
                                void *token, const struct sl_hits *hits, uint32_t item,
                                size_t *next)
{
    struct clam_object *object = &scanner->object;

    object->bytes = part->bytes;
    scanner_begin_part(scanner, token, part->len);
    object->part = true;
    object->goes_on = part->goes_on;
    object->origin =
        part->begin == 0 ? content_of(object->bytes, object->len) : -(int64_t)part->begin;
    object->target = CLAM_GENERIC;
    scanner->exe.good = false;
    scanner->exe.n_sections = 0;
    scanner_take_hits(scanner, hits, item, 0, next);
    const enum sl_status status = scanner_end_part(scanner);
    if (scanner->open != NULL)
        decide(scanner->open, scanner->lacks_bytes);
    return scanner->open != NULL && scanner->open->no_memory ? SL_ENOMEM : status;
}

enum sl_status clam_scan_payloads(struct sl_clamav_scanner *scanner, const struct sl_batch *batch,
                                  const struct sl_hits *hits, struct clam_open *open)
{
    enum sl_status status = SL_OK;

    if (batch->memory == SL_MEMORY_DEVICE || hits->n > hits->cap)
        return SL_EINVAL;
    begin_parts(scanner, open, true);
    for (size_t next = 0; next < hits->n && status == SL_OK;) {
        const uint32_t item = hits->hit[next].item;

        if (item >= batch->n_items)
            return SL_EINVAL;
        const struct clam_window part = {.bytes = batch->bytes + batch->payload[item].offset,
                                         .len = batch->payload[item].len};
        status = scan_part(scanner, &part, (void *)(uintptr_t)item, hits, item, &next);
    }
    return status;
}

enum sl_status sl_clamav_scan_hits(struct sl_clamav_scanner *scanner, const struct sl_batch *batch,
                                   const struct sl_hits *hits)
{
    return clam_scan_payloads(scanner, batch, hits, NULL);
}

enum sl_status clam_scan_window(struct sl_clamav_scanner *scanner, const struct clam_window *window,
                                const struct sl_hits *hits, void *token, struct clam_open *open)
{
    size_t next = 0;

    begin_parts(scanner, open, false);
    return scan_part(scanner, window, token, hits, 0, &next);
}
