/* SPDX-License-Identifier: MIT */
/* Matching over the share of 64-byte segments that hold a signature, and the two rules for giving
 * up (fast virus signature matching on the GPU, GPU Gems 3, chapter 35, section 35.4, figures 35-5
 * and 35-6).
 *
 * The chapter's GPU finds tags, and its CPU compares the signatures. Engines here return matches
 * that are verified already; so that the caller has the chapter's work to do, it compares each hit
 * with its literal once more. The rules for giving up are the caller's:
 * - buffer: with more than BUFFER_HITS hits in a buffer of 8 MiB it is declared bad. Only that many
 *   hits come back, and none is compared.
 * - object: behind OBJECT_HITS hits in an object of 512 bytes its others are skipped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/random.h"
#include "cli/console.h"
#include "studies.h"

enum {
    SEGMENT_LEN = 64,
    OBJECT_LEN = 512,
    N_OBJECTS = 16384, /* a buffer is 8 MiB, as in the chapter */
    N_BUFFERS = 4,
    SIGNATURE_MIN = 8, /* bytes: shorter ones would match by chance */
    MANY = 31995,      /* signatures, as in the chapter */
    FEW = 32,
    BUFFER_HITS = 1024,
    OBJECT_HITS = 1,
    N_WAYS = 5
};

enum rule { RULE_NONE, RULE_BUFFER, RULE_OBJECT };

static const char *const rule_names[] = {"none", "buffer", "object"};

/* The matchers; the first is the base of the speedups, as ClamAV's own matcher is the chapter's. */
static const struct {
    const char *algorithm;
    enum sl_device_kind kind;
} ways[N_WAYS] = {{"ac", SL_DEVICE_CPU},
                  {"tag", SL_DEVICE_CPU},
                  {"gram", SL_DEVICE_CPU},
                  {"tag", SL_DEVICE_CUDA},
                  {"gram", SL_DEVICE_CUDA}};

struct match_rate {
    struct study *study;
    struct sl_literal *signatures; /* those that fit a segment */
    size_t n_signatures;
    struct sl_mpm_table *tables[N_WAYS];
    char why[N_WAYS][320]; /* where there is no table */
};

/* ---- data ------------------------------------------------------------------------------------ */

struct planting {
    const struct match_rate *rate;
    uint64_t state;
    uint32_t percent; /* of segments that get a signature */
    uint32_t n;       /* of the first n signatures */
};

/* An object of random bytes. */
static uint32_t plant(void *user, uint8_t *bytes)
{
    struct planting *planting = user;
    uint64_t *state = &planting->state;

    for (uint32_t at = 0; at < OBJECT_LEN; at += 4) {
        const uint32_t noise = bench_random(state);

        memcpy(bytes + at, &noise, 4);
    }
    for (uint32_t at = 0; at < OBJECT_LEN; at += SEGMENT_LEN) {
        if (bench_random(state) % 100 >= planting->percent)
            continue;
        const struct sl_literal *signature =
            &planting->rate->signatures[bench_random(state) % planting->n];
        const uint32_t shift = bench_random(state) % (SEGMENT_LEN - signature->len + 1);

        memcpy(bytes + at + shift, signature->bytes, signature->len);
    }
    return OBJECT_LEN;
}

/* ---- the caller ------------------------------------------------------------------------------ */

struct caller {
    const struct sl_literal *signatures;
    enum rule rule;
    uint8_t of_object[N_OBJECTS]; /* hits compared */
    uint64_t n_equal;             /* keeps the comparing from being optimised away */
};

static uint8_t fold(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

static bool equals(const struct sl_literal *signature, const uint8_t *text)
{
    if ((signature->flags & SL_LITERAL_NOCASE) == 0)
        return memcmp(signature->bytes, text, signature->len) == 0;
    for (uint32_t i = 0; i < signature->len; i++)
        if (fold(signature->bytes[i]) != fold(text[i]))
            return false;
    return true;
}

static void compare_hits(void *user, const struct sl_batch *batch, const struct sl_hits *hits)
{
    struct caller *caller = user;

    if (hits->n > hits->cap)
        return; /* the buffer is bad */
    memset(caller->of_object, 0, sizeof caller->of_object);
    for (size_t i = 0; i < hits->n; i++) {
        const struct sl_hit *hit = &hits->hit[i];
        const struct sl_literal *signature = &caller->signatures[hit->id];
        const uint8_t *end = batch->bytes + batch->payload[hit->item].offset + hit->offset;

        if (caller->rule == RULE_OBJECT && caller->of_object[hit->item]++ >= OBJECT_HITS)
            continue;
        caller->n_equal += equals(signature, end - signature->len);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The chapter's speedups of the GPU over ClamAV, as far as its text gives them: 27 without a match,
 * then 17 to 11; with the rule for objects 17. The rest of figures 35-5 and 35-6 is a plot. */
static double speedup_of_chapter(const struct planting *planting, enum rule rule)
{
    if (planting->percent == 0)
        return rule == RULE_NONE ? 27 : -1;
    if (planting->percent < 50 || planting->n <= FEW)
        return -1;
    return rule == RULE_NONE ? 11 : rule == RULE_OBJECT ? 17 : -1;
}

static bool measure(const struct match_rate *rate, int way, enum rule rule,
                    const struct bench_data *data, struct mpm_judge *judge, struct study_row *row,
                    double *bytes_a_second)
{
    const struct bench *bench = rate->study->bench;
    struct caller caller = {.signatures = rate->signatures, .rule = rule};
    const struct bench_work work = {.backend =
                                        mpm_backend(bench, rate->tables[way], ways[way].kind, NULL),
                                    .table = rate->tables[way],
                                    .data = data,
                                    .device = bench->device.index,
                                    .n_threads = 1,
                                    .units = (double)data->bytes,
                                    .max_hits = rule == RULE_BUFFER ? BUFFER_HITS : 0,
                                    .consume = compare_hits,
                                    .user = &caller};

    if (!study_measure(rate->study, &work, judge, row, bytes_a_second))
        return false;
    if (caller.n_equal != 0 || rule == RULE_BUFFER || judge->hits == 0)
        return true;
    cli_error("bench: no hit of %s is in the text", work.backend->name);
    return false;
}

static bool print_way(const struct match_rate *rate, int way, enum rule rule,
                      const struct planting *planting, const struct bench_data *data,
                      struct mpm_judge *judge, double *base)
{
    const bool cuda = ways[way].kind == SL_DEVICE_CUDA;
    struct study_row row = {.note = ""};
    double bytes_a_second = -1;

    memcpy(row.note, rate->why[way], sizeof row.note);
    if (rate->tables[way] != NULL && !measure(rate, way, rule, data, judge, &row, &bytes_a_second))
        return false;
    if (way == 0 && rule == RULE_NONE)
        *base = bytes_a_second;
    study_number(&row, "segments %", planting->percent, 0);
    study_number(&row, "signatures", planting->n, 0);
    study_text(&row, "algorithm", ways[way].algorithm);
    study_text(&row, "device", cuda ? "GPU" : "1 core");
    study_text(&row, "rule", rule_names[rule]);
    study_number(&row, "GB/s", bytes_a_second > 0 ? bytes_a_second / 1e9 : -1, 3);
    study_number(&row, "hits", judge->known ? (double)judge->hits : -1, 0);
    study_number(&row, "over ac on 1 core",
                 bytes_a_second > 0 && *base > 0 ? bytes_a_second / *base : -1, 2);
    study_number(&row, "chapter", cuda ? speedup_of_chapter(planting, rule) : -1, 0);
    study_print(&rate->study->table, &row);
    return true;
}

/* The rules are for the worst case, as in figure 35-6. */
static bool print_rate(const struct match_rate *rate, uint32_t percent, uint32_t n)
{
    const bool cuda = rate->study->bench->device.kind == SL_DEVICE_CUDA;
    const int n_rules = percent == 50 && n > FEW ? RULE_OBJECT : RULE_NONE;
    struct planting planting = {rate, 1, percent, n};
    const struct bench_items items = {.n_batches = N_BUFFERS,
                                      .n = N_OBJECTS,
                                      .max_len = OBJECT_LEN,
                                      .pinned = cuda,
                                      .fill = plant,
                                      .user = &planting};
    struct mpm_judge judge = {0};
    struct bench_data data;
    double base = -1;
    bool good = bench_fill(&data, &items);

    for (int way = 0; way < N_WAYS && good; way++) {
        /* A matcher that cannot run is reported once. */
        if (rate->tables[way] == NULL && percent != 0)
            continue;
        for (int rule = RULE_NONE; rule <= n_rules && good; rule++)
            good = print_way(rate, way, (enum rule)rule, &planting, &data, &judge, &base);
    }
    bench_unload(&data);
    return good;
}

/* ---- the study ------------------------------------------------------------------------------- */

static bool choose_signatures(struct match_rate *rate)
{
    const struct bench_literals *literals = &rate->study->literals;

    rate->signatures = calloc(MANY, sizeof *rate->signatures);
    for (size_t i = 0; i < literals->n && rate->signatures != NULL; i++)
        if (literals->literal[i].len >= SIGNATURE_MIN && literals->literal[i].len <= SEGMENT_LEN &&
            rate->n_signatures < MANY)
            rate->signatures[rate->n_signatures++] = literals->literal[i];
    if (rate->n_signatures == 0)
        cli_error("--study match-rate: no literal has 8 to 64 bytes");
    return rate->n_signatures != 0;
}

static void build_tables(struct match_rate *rate)
{
    for (int way = 0; way < N_WAYS; way++) {
        struct study_row row = {.note = ""};

        rate->tables[way] = study_build(&row, ways[way].algorithm, ways[way].kind, rate->signatures,
                                        rate->n_signatures);
        if (rate->tables[way] != NULL &&
            mpm_backend(rate->study->bench, rate->tables[way], ways[way].kind, NULL) == NULL) {
            snprintf(row.note, sizeof row.note, "no such backend is usable here");
            sl_mpm_free(rate->tables[way]);
            rate->tables[way] = NULL;
        }
        memcpy(rate->why[way], row.note, sizeof row.note);
    }
}

bool study_match_rate(struct study *study)
{
    static const uint32_t percents[] = {0, 1, 2, 5, 10, 20, 30, 40, 50};
    struct match_rate rate = {.study = study};
    bool good = choose_signatures(&rate);
    const uint32_t many = (uint32_t)rate.n_signatures, few = many < FEW ? many : FEW;

    study_print_note(
        &study->table,
        "GPU Gems 3, section 35.4, figures 35-5 and 35-6: speedup of a GeForce 7800 GTX over "
        "ClamAV on a Pentium 4 of 3 GHz, 8 MB, objects of 512 bytes; plots, of which the "
        "text gives a few points.\n"
        "Here: signatures of 8 to 64 bytes planted whole in random bytes, the caller compares "
        "each hit once more; GPU from pinned memory, hits back. Rules for giving up, where "
        "the chapter states no threshold: buffer, more than 1,024 hits in 8 MiB; object, "
        "behind the first hit in 512 bytes.");
    if (good)
        build_tables(&rate);
    for (size_t i = 0; i < sizeof percents / sizeof *percents && good; i++)
        good = (percents[i] == 0 || many == few || print_rate(&rate, percents[i], few)) &&
               print_rate(&rate, percents[i], many);
    for (int way = 0; way < N_WAYS; way++)
        sl_mpm_free(rate.tables[way]);
    free(rate.signatures);
    return good;
}
