/* SPDX-License-Identifier: MIT */
/* The literals of anchors, which the matcher searches for, and the bodies that have them. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "clamav/compile_internal.h"

struct anchor {
    const uint8_t *bytes;
    uint32_t len, flags;
    struct clam_use use;
};

static int compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;

    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    if (x->flags != y->flags)
        return x->flags < y->flags ? -1 : 1;
    const int order = memcmp(x->bytes, y->bytes, x->len);
    if (order != 0)
        return order;
    return x->use.pattern < y->use.pattern ? -1 : x->use.pattern > y->use.pattern;
}

static bool is_same_literal(const struct anchor *x, const struct anchor *y)
{
    return x->len == y->len && x->flags == y->flags && memcmp(x->bytes, y->bytes, x->len) == 0;
}

static bool collect_anchors(struct compile *c, struct clam_records *anchors)
{
    const uint8_t *bytes = (const uint8_t *)c->set->records[CLAM_A_BYTES].at;

    for (uint32_t p = 0; p < c->n_patterns; p++) {
        const struct clam_seg *seg = &c->segs[c->patterns[p].segs + c->best[p]];
        struct anchor *anchor;
        uint32_t *fixed;

        if (c->patterns[p].n_sigs == 0)
            continue;
        if (c->fixed[p]) {
            fixed = clam_grow(&c->fixeds, sizeof *fixed, 1);
            if (fixed == NULL)
                return false;
            *fixed = p;
            if (!compile_has_literal(c, p))
                continue;
        } /* where it has a literal that is for parts of files, which few begin as the file does */
        anchor = clam_grow(anchors, sizeof *anchor, 1);
        if (anchor == NULL)
            return false;
        *anchor = (struct anchor){bytes + seg->key,
                                  seg->key_len,
                                  seg->key_case != 0 ? SL_LITERAL_NOCASE : 0,
                                  {p, c->best[p], seg->key_at + seg->key_len}};
    }
    return true;
}

/* Frees the anchors: the literals have all that is needed of them. */
static enum sl_status build_matcher(struct compile *c, struct clam_records *anchors,
                                    enum sl_device_kind device, struct sl_diag *diag)
{
    const struct anchor *all = (const struct anchor *)anchors->at;
    struct sl_literal *literals = calloc(anchors->n + 1, sizeof *literals);
    struct sl_mpm_config config;
    size_t n = 0;
    bool good = literals != NULL;

    for (size_t i = 0; i < anchors->n && good; i++) {
        struct clam_use *use = clam_grow(&c->uses, sizeof *use, 1);
        uint32_t *first = NULL;

        if (i == 0 || !is_same_literal(&all[i - 1], &all[i])) {
            first = clam_grow(&c->literals, sizeof *first, 1);
            literals[n++] = (struct sl_literal){all[i].bytes, all[i].len, all[i].flags};
            if (first != NULL)
                *first = (uint32_t)i;
            good = first != NULL;
        }
        if (use != NULL)
            *use = all[i].use;
        good = good && use != NULL;
    }
    uint32_t *end = good ? clam_grow(&c->literals, sizeof *end, 1) : NULL;
    if (end == NULL) {
        free(literals);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    *end = (uint32_t)anchors->n;
    free(anchors->at);
    anchors->at = NULL;
    sl_mpm_config_init(&config);
    config.device = device;
    const enum sl_status status = sl_mpm_build(&c->mpm, &config, literals, n, diag);
    free(literals);
    return status;
}

enum sl_status compile_make_matcher(struct compile *c, enum sl_device_kind device,
                                    struct sl_diag *diag)
{
    struct clam_records anchors = {0};
    enum sl_status status;

    if (!collect_anchors(c, &anchors)) {
        free(anchors.at);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    if (anchors.n > 0)
        qsort(anchors.at, anchors.n, sizeof(struct anchor), compare_anchors);
    status = build_matcher(c, &anchors, device, diag);
    free(anchors.at);
    return status;
}
