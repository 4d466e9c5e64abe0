/* SPDX-License-Identifier: MIT */
/* Literals and texts that were contrived to make verification dear. The study shows the cost of
 * gram on them, which is bounded (src/engines/mpm/README.md), beside ac, to which it then switches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/random.h"
#include "studies.h"

enum {
    TEXT_LEN = 16 << 20, /* bytes: a batch */
    PACKET_LEN = 1400,
    N_MAX = 50000,
    BYTES_MAX = 2 << 20, /* of all literals of a set */
    FIVE_N = 20000
};

struct contrived {
    struct sl_literal literal[N_MAX];
    size_t n;
    uint8_t bytes[BYTES_MAX];
    size_t bytes_len;
    uint8_t text[TEXT_LEN];
    uint32_t read; /* bytes of the text that items have been made of */
};

/* ---- sets and texts -------------------------------------------------------------------------- */

/* The bytes of another literal. */
static uint8_t *add(struct contrived *set, uint32_t len)
{
    uint8_t *bytes = set->bytes + set->bytes_len;

    set->literal[set->n++] = (struct sl_literal){.bytes = bytes, .len = len};
    set->bytes_len += len;
    return bytes;
}

static void make_period(struct contrived *set)
{
    uint8_t *bytes = add(set, SL_LITERAL_LEN_MAX);

    for (uint32_t i = 0; i < SL_LITERAL_LEN_MAX; i++)
        bytes[i] = (uint8_t) "ab"[i % 2];
    for (uint32_t i = 0; i < TEXT_LEN; i++)
        set->text[i] = i % 4095 == 4094 ? 'x' : (uint8_t) "ab"[i % 2];
}

static void make_shared(struct contrived *set)
{
    for (uint32_t i = 0; i < 10000; i++) {
        char whole[17];

        snprintf(whole, sizeof whole, "\1\2\3\4\5\6\7\10%08u", i);
        memcpy(add(set, 16), whole, 16);
    }
    for (uint32_t i = 0; i < TEXT_LEN; i++)
        set->text[i] = (uint8_t)(1 + i % 8);
}

static void make_runs(struct contrived *set)
{
    for (uint32_t len = 3; len < 2000; len++)
        memset(add(set, len), '@', len);
    memset(set->text, '`', TEXT_LEN);
    for (uint32_t i = 0; i < TEXT_LEN; i += 3001)
        set->text[i] = 'x';
}

static void make_threes(struct contrived *set)
{
    for (uint32_t i = 0; i < N_MAX; i++) {
        uint8_t *bytes = add(set, 3);

        bytes[0] = 'a';
        bytes[1] = (uint8_t)i;
        bytes[2] = (uint8_t)(i >> 8);
    }
    memset(set->text, 'a', TEXT_LEN);
}

static void make_fives(struct contrived *set)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < FIVE_N; i++) {
        uint8_t *bytes = add(set, 5);

        for (int k = 0; k < 5; k++)
            bytes[k] = (uint8_t)bench_random(&state);
    }
    for (uint32_t i = 0; i + 5 <= TEXT_LEN; i += 5)
        memcpy(set->text + i, set->literal[bench_random(&state) % FIVE_N].bytes, 5);
}

static uint32_t next_item(struct contrived *set, uint8_t *bytes, uint32_t len)
{
    memcpy(bytes, set->text + set->read, len);
    set->read += len;
    return len;
}

static uint32_t fill_whole(void *user, uint8_t *bytes)
{
    return next_item(user, bytes, TEXT_LEN);
}

static uint32_t fill_packet(void *user, uint8_t *bytes)
{
    return next_item(user, bytes, PACKET_LEN);
}

static bool make_batch(struct bench_data *data, struct contrived *set, bool in_packets)
{
    const struct bench_items items = {.n_batches = 1,
                                      .n = in_packets ? TEXT_LEN / PACKET_LEN : 1,
                                      .max_len = in_packets ? PACKET_LEN : TEXT_LEN,
                                      .fill = in_packets ? fill_packet : fill_whole,
                                      .user = set};

    set->read = 0;
    return bench_fill(data, &items);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Nanoseconds a byte, or -1. */
static bool measure(struct study *study, struct study_row *row, const char *algorithm,
                    enum sl_device_kind kind, const struct contrived *set,
                    const struct bench_data *data, struct mpm_judge *judge, double *ns)
{
    struct sl_mpm_table *table = study_build(row, algorithm, kind, set->literal, set->n);
    const struct bench_work work = {
        .backend = table != NULL ? mpm_backend(study->bench, table, kind, NULL) : NULL,
        .table = table,
        .data = data,
        .device = study->bench->device.index,
        .n_threads = 1,
        .units = (double)data->bytes,
        .stays = kind == SL_DEVICE_CUDA};
    double rate = -1;
    const bool good = work.backend == NULL || study_measure(study, &work, judge, row, &rate);

    sl_mpm_free(table);
    *ns = rate > 0 ? 1e9 / rate : -1;
    return good;
}

static bool print_set(struct study *study, const char *name, const struct contrived *set,
                      const struct bench_data *data, const char *items)
{
    const enum sl_device_kind kind = study->bench->device.kind;
    struct study_row row = {.note = ""};
    struct mpm_judge judge = {0};
    double gram, ac;

    if (!measure(study, &row, "ac", kind, set, data, &judge, &ac) ||
        !measure(study, &row, "gram", kind, set, data, &judge, &gram))
        return false;
    study_text(&row, "on", kind == SL_DEVICE_CUDA ? "GPU" : "1 core");
    study_number(&row, "gram ns/B", gram, 4);
    study_number(&row, "ac ns/B", ac, 4);
    study_number(&row, "gram over ac", gram > 0 && ac > 0 ? gram / ac : -1, 2);
    study_text(&row, "items", items);
    study_text(&row, "set", name);
    study_print(&study->table, &row);
    return true;
}

/* On the device that was named. */
static bool place_set(struct study *study, const char *name, struct contrived *set, bool in_packets)
{
    const bool on_gpu = study->bench->device.kind == SL_DEVICE_CUDA;
    struct bench_data host = {0}, there = {0};
    const bool good =
        make_batch(&host, set, in_packets) &&
        (!on_gpu || bench_to_device(&there, &host, 0, study->bench->device.index)) &&
        print_set(study, name, set, on_gpu ? &there : &host, in_packets ? "1,400 B" : "one");

    bench_unload(&there);
    bench_unload(&host);
    return good;
}

bool study_hostile(struct study *study)
{
    static const struct {
        const char *name;
        void (*make)(struct contrived *set);
    } sets[] = {
        {"abab... of 4,096 bytes; the text too, but for a byte in 4,095", make_period},
        {"10,000 literals with the same eight rare bytes, the text full of them", make_shared},
        {"runs of @ of 1,997 lengths, the text runs of `", make_runs},
        {"50,000 literals of three bytes, a first, the text all a", make_threes},
        {"20,000 random literals of five bytes, one behind another", make_fives}};
    struct contrived *set = malloc(sizeof *set);
    bool good = set != NULL;

    study_print_note(&study->table,
                     "Contrived sets and texts of 16 MiB; on the GPU the time of the kernels.");
    for (size_t i = 0; i < 2 * sizeof sets / sizeof *sets && good; i++) {
        set->n = set->bytes_len = 0;
        sets[i / 2].make(set);
        good = place_set(study, sets[i / 2].name, set, i % 2 == 1);
    }
    free(set);
    return good;
}
