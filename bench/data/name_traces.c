/* SPDX-License-Identifier: MIT */
#include "name_traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/console.h"
#include "random.h"

enum {
    PATH_LEN = 40,  /* bytes of a path, at most */
    WOVEN_LEN = 256 /* bytes of an interwoven name, at most: the longest of 32 */
};

struct trace {
    const struct sl_fib_entry *entries;
    const uint32_t *from; /* entries to choose from */
    size_t n_from;
    uint64_t seed;
};

static size_t append_path(uint8_t *name, size_t cap, size_t len, uint64_t *seed)
{
    const size_t end = len + 8 + bench_random(seed) % (PATH_LEN - 8);
    char label[16];

    while (len < end &&
           sl_name_append(name, cap, &len, SL_NAME_GENERIC, label, bench_random_label(label, seed)))
        ;
    return len;
}

static bool fill_trace(struct bench_data *data, struct trace *trace)
{
    uint8_t name[SL_NAME_LEN_MAX + 2 * PATH_LEN];

    for (size_t b = 0; b < data->n_batches; b++) {
        struct sl_batch *batch = data->owned[b];

        if (batch == NULL)
            return false;
        while (batch->n_items < batch->max_items) {
            const uint32_t which = trace->from[bench_random(&trace->seed) % trace->n_from];
            const struct sl_fib_entry *entry = &trace->entries[which];

            memcpy(name, entry->name, entry->name_len);
            const size_t len = append_path(name, sizeof name, entry->name_len, &trace->seed);
            if (!sl_batch_fits(batch, (uint32_t)len + SL_BATCH_ALIGN))
                break;
            sl_batch_add(batch, name, (uint32_t)len, 0);
            data->bytes += len;
        }
        data->batches[b] = *batch;
        data->batches[b].packet = NULL;
        data->items += batch->n_items;
        data->crossing += batch->bytes_len + (uint64_t)batch->n_items * sizeof(struct sl_span);
    }
    return true;
}

/* The least length that at most a tenth of the names exceed or reach. */
static uint32_t long_length(const struct bench_names *names)
{
    static size_t n[SL_NAME_LEN_MAX + 1];
    size_t sum = 0;
    uint32_t len = SL_NAME_LEN_MAX;

    memset(n, 0, sizeof n);
    for (size_t i = 0; i < names->n; i++)
        n[names->entries[i].name_len]++;
    while (len > 0 && (sum += n[len]) <= names->n / 10)
        len--;
    return len + 1;
}

bool bench_names_trace(struct bench_data *data, const struct bench_names *names, bool heavy,
                       size_t n_batches, uint32_t n_items, bool pinned)
{
    const uint32_t least = heavy ? long_length(names) : 0;
    struct trace trace = {.entries = names->entries, .seed = NAME_SETS_SEED + heavy};
    uint32_t *from = malloc(names->n * sizeof *from);
    struct sl_diag diag = {0};

    data->owned = calloc(n_batches, sizeof *data->owned);
    data->batches = calloc(n_batches, sizeof *data->batches);
    if (from == NULL || data->owned == NULL || data->batches == NULL) {
        free(from);
        cli_error("bench: no memory for a trace");
        return false;
    }
    for (; data->n_batches < n_batches; data->n_batches++)
        if (sl_device_batch_create(&data->owned[data->n_batches],
                                   pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU, n_items * 160, n_items,
                                   &diag) != SL_OK) {
            free(from);
            cli_diag(&diag);
            return false;
        }
    for (size_t i = 0; i < names->n; i++)
        if (names->entries[i].name_len >= least)
            from[trace.n_from++] = (uint32_t)i;
    trace.from = from;
    const bool good = trace.n_from != 0 && fill_trace(data, &trace);
    free(from);
    snprintf(data->text, sizeof data->text, "%.48s, %s trace of %.1f B", names->text,
             heavy ? "heavy" : "average", (double)data->bytes / (double)data->items);
    return good;
}

bool bench_names_weave(struct bench_data *to, const struct bench_data *from, bool pinned,
                       double *rate)
{
    struct sl_diag diag = {.text = "interwoven names do not fit"};
    uint64_t ns = 0;

    to->owned = calloc(from->n_batches, sizeof *to->owned);
    to->batches = calloc(from->n_batches, sizeof *to->batches);
    if (to->owned == NULL || to->batches == NULL) {
        cli_error("bench: no memory for a trace");
        return false;
    }
    for (; to->n_batches < from->n_batches; to->n_batches++) {
        struct sl_batch **batch = &to->owned[to->n_batches];
        const struct sl_batch *plain = &from->batches[to->n_batches];

        if (sl_device_batch_create(batch, pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                                   plain->n_items * WOVEN_LEN + 4096, plain->n_items,
                                   &diag) != SL_OK) {
            cli_diag(&diag);
            return false;
        }
        memset((*batch)->bytes, 0, (*batch)->bytes_cap);
        const uint64_t begin = clock_ns();
        if (sl_fib_interweave(*batch, plain) != SL_OK) {
            cli_diag(&diag);
            to->n_batches++; /* to be freed */
            return false;
        }
        ns += clock_ns() - begin;
        to->batches[to->n_batches] = **batch;
        to->batches[to->n_batches].packet = NULL;
        to->crossing += (*batch)->bytes_len + (uint64_t)plain->n_items * sizeof(struct sl_span);
    }
    to->items = from->items;
    to->bytes = from->bytes;
    memcpy(to->text, from->text, sizeof to->text);
    *rate = (double)to->items * 1e9 / (double)ns;
    return true;
}
