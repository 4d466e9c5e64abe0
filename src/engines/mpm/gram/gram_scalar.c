/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters without vectors. */
#include "gram_cpu.h"

/* A window at a text's first byte that requires one before it is of no literal there. */
static uint32_t byte_before(const uint8_t *text, uint32_t at)
{
    return at > 0 ? gram_fold4(text[at - 1]) : gram_fold4(text[0]);
}

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += view->stride) {
        const uint64_t bytes = gram_fold8(gram_load8(text + at));

        out[n] = at;
        n += gram_probe(view, byte_before(text, at), (uint32_t)bytes, (uint32_t)(bytes >> 32));
    }
    return n;
}

static bool is_quad(const uint8_t *text)
{
    uint32_t bytes;

    memcpy(&bytes, text, sizeof bytes);
    bytes = gram_fold4(bytes);
    return bytes == (bytes << 8 | bytes >> 24);
}

static bool begins_run(const uint8_t *text, uint32_t at)
{
    return is_quad(text + at) && (at == 0 || gram_fold4(text[at - 1]) != gram_fold4(text[at]));
}

static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t min, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 4) {
        if (min >= GRAM_QUADS_RUN && !(is_quad(text + at + 3) && is_quad(text + at + 7)))
            continue;
        for (uint32_t i = at; i < at + 4 && i < to; i++) {
            out[n] = i;
            n += begins_run(text, i);
        }
    }
    return n;
}

/* Most places have no class, and which do is unpredictable: no branch depends on it. */
uint32_t gram_keep_tiny(const struct gram_table *body, const uint8_t *text, uint32_t *places,
                        uint32_t n)
{
    uint32_t some = 0, kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = places[i];

        places[some] = at;
        some += gram_tiny_classes(body, text + at) != 0;
    }
    for (uint32_t i = 0; i < some; i++) {
        const uint32_t at = places[i];

        places[kept] = at;
        kept += gram_may_be_tiny(body, text + at);
    }
    return kept;
}

static uint32_t tiny(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out)
{
    for (uint32_t at = from; at < to; at++)
        out[at - from] = at;
    return gram_keep_tiny(body, text, out, to - from);
}

/* The filter's word has all those bits clear that a short window does not name. */
static void keys(const struct gram_view *view, const uint8_t *text, const uint32_t *passed,
                 uint32_t n, struct gram_keys out[GRAM_KINDS])
{
    const bool in_runs = view->body->n_in_runs != 0;

    for (int kind = 0; kind < GRAM_KINDS; kind++)
        out[kind].n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bytes = gram_fold8(gram_load8(text + passed[i]));
        const uint32_t before = byte_before(text, passed[i]), first = (uint32_t)bytes;
        const uint32_t word = view->words[gram_word_of(first, view->multiplier, view->words_log)];

        if (!in_runs && gram_in_run(before, bytes))
            continue;
        for (int kind = 0; kind < GRAM_KINDS; kind++) {
            struct gram_keys *keys = &out[kind];
            const uint32_t key =
                gram_key((enum gram_kind)kind, before, first, (uint32_t)(bytes >> 32));

            if ((word & gram_unnamed((enum gram_kind)kind)) != 0 ||
                !gram_may_have(view->present, view->slots_log, key))
                continue;
            keys->at[keys->n] = passed[i];
            keys->key[keys->n] = key;
            keys->n++;
            __builtin_prefetch(&view->slots[gram_slot_of(key, view->slots_log)]);
        }
    }
}

static void find(const struct gram_view *view, const struct gram_keys *keys,
                 struct gram_candidates *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < keys->n; i++) {
        const uint32_t entry = gram_find(view->slots, view->slots_log, keys->key[i]);

        out->at[out->n] = keys->at[i];
        out->entry[out->n] = entry;
        out->n += entry != GRAM_NONE;
        __builtin_prefetch(&view->entries[entry != GRAM_NONE ? entry : 0]);
    }
}

/* The match of an entry is as good as random, and so is the end of its key's entries: no branch
 * depends on them. */
static void compare(const struct gram_view *view, const uint8_t *text, enum gram_kind kind,
                    uint8_t left_out, struct gram_candidates *candidates,
                    struct gram_candidates *out)
{
    const uint8_t last = GRAM_ENTRY_LAST | left_out;
    uint32_t n = 0, n_more = 0;

    for (uint32_t i = 0; i < candidates->n; i++) {
        const uint32_t at = candidates->at[i];
        const uint32_t number = candidates->entry[i];
        const struct gram_entry *entry = &view->entries[number];
        const uint64_t bytes = gram_load8(text + (at >= entry->lead ? at - entry->lead : 0));

        out->at[n] = at;
        out->entry[n] = number;
        n += gram_bytes_match(entry, bytes, entry->bytes, entry->mask) & (entry->kind == kind) &
             ((entry->flags & left_out) == 0);
        candidates->at[n_more] = at;
        candidates->entry[n_more] = number + 1;
        n_more += (entry->flags & last) == 0;
    }
    candidates->n = n_more;
    out->n = n;
}

static enum sl_status open_scalar(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    static const struct gram_filters filters = {windows, runs, tiny, keys, find, compare};

    return gram_open(context, table, limits, &filters, diag);
}

extern const struct sl_backend mpm_gram_scalar;
const struct sl_backend mpm_gram_scalar = {.name = "scalar",
                                           .device = SL_DEVICE_CPU,
                                           .usable = cpu_backend_usable,
                                           .open = open_scalar,
                                           .submit = gram_submit,
                                           .wait = cpu_backend_wait,
                                           .close = cpu_backend_close};
