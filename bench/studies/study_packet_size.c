/* SPDX-License-Identifier: MIT */
/* A thread a packet against a block of threads a packet, over the size of packets (traffic anomaly
 * detection on GPUs, thesis of 2017, section 6.1, figure 20). */
#include <stdio.h>
#include <string.h>

#include "studies.h"

enum { N_LITERALS = 1800, THESIS_PACKETS = 100, FULL_LEN = 16 << 20 /* bytes: a batch */ };

/* The payloads as one stream, to be cut anew; from the first again where it ends. */
struct stream {
    const struct bench_data *data;
    uint32_t item_len;
    size_t batch;
    uint32_t item, at;
};

static uint32_t cut(void *user, uint8_t *bytes)
{
    struct stream *stream = user;

    for (uint32_t done = 0; done < stream->item_len;) {
        const struct sl_batch *batch = &stream->data->batches[stream->batch];
        const struct sl_span span = batch->payload[stream->item];
        const uint32_t rest = span.len - stream->at, wanted = stream->item_len - done;
        const uint32_t n = rest < wanted ? rest : wanted;

        memcpy(bytes + done, batch->bytes + span.offset + stream->at, n);
        done += n;
        stream->at += n;
        if (stream->at < span.len)
            continue;
        stream->at = 0;
        if (++stream->item == batch->n_items) {
            stream->item = 0;
            stream->batch = (stream->batch + 1) % stream->data->n_batches;
        }
    }
    return stream->item_len;
}

/* Microseconds of the kernels over the batch, or -1. */
static bool measure(struct study *study, struct study_row *row, const struct sl_mpm_table *table,
                    const char *backend, const struct bench_data *there, struct mpm_judge *judge,
                    double *us)
{
    struct bench_work work = {.backend = mpm_backend(study->bench, table, SL_DEVICE_CUDA, backend),
                              .table = table,
                              .data = there,
                              .device = study->bench->device.index,
                              .units = 1,
                              .stays = true};
    double rate = -1;

    if (work.backend == NULL)
        snprintf(row->note, sizeof row->note, "no backend %s", backend);
    else if (!study_measure(study, &work, judge, row, &rate))
        return false;
    *us = rate > 0 ? 1e6 / rate : -1;
    return true;
}

static bool print_algorithm(struct study *study, const char *algorithm,
                            const struct bench_data *there, uint32_t item_len,
                            struct mpm_judge *judge)
{
    const struct bench_literals *literals = &study->literals;
    const size_t n = literals->n < N_LITERALS ? literals->n : N_LITERALS;
    const double bytes = (double)there->bytes;
    struct study_row row = {.note = ""};
    struct sl_mpm_table *table = study_build(&row, algorithm, SL_DEVICE_CUDA, literals->literal, n);
    double thread = -1, block = -1;
    const bool good =
        table == NULL || (measure(study, &row, table, "cuda-thread", there, judge, &thread) &&
                          measure(study, &row, table, "cuda-block", there, judge, &block));

    sl_mpm_free(table);
    study_number(&row, "packet bytes", item_len, 0);
    study_number(&row, "packets", (double)there->items, 0);
    study_text(&row, "algorithm", algorithm);
    study_number(&row, "thread us", thread, 1);
    study_number(&row, "block us", block, 1);
    study_number(&row, "thread GB/s", thread > 0 ? bytes / thread / 1e3 : -1, 3);
    study_number(&row, "block GB/s", block > 0 ? bytes / block / 1e3 : -1, 3);
    study_number(&row, "block over thread", thread > 0 && block > 0 ? thread / block : -1, 1);
    if (good)
        study_print(&study->table, &row);
    return good;
}

/* As many packets as in the thesis' files, or as many as fill a GPU: those not with Rabin-Karp,
 * whose work is each byte times all literals. */
static bool print_size(struct study *study, uint32_t item_len, uint32_t n_items)
{
    static const char *const algorithms[] = {"rk", "pfac"};
    struct stream stream = {.data = &study->scan, .item_len = item_len};
    const struct bench_items items = {
        .n_batches = 1, .n = n_items, .max_len = item_len, .fill = cut, .user = &stream};
    struct bench_data host = {0}, there = {0};
    struct mpm_judge judge = {0};
    bool good =
        bench_fill(&host, &items) && bench_to_device(&there, &host, 0, study->bench->device.index);

    for (size_t a = n_items == THESIS_PACKETS ? 0 : 1; a < 2 && good; a++)
        good = print_algorithm(study, algorithms[a], &there, item_len, &judge);
    bench_unload(&there);
    bench_unload(&host);
    return good;
}

bool study_packet_size(struct study *study)
{
    static const uint32_t sizes[] = {64, 128, 256, 512, 1024, 1460};
    bool good = true;

    study_print_note(
        &study->table,
        "Thesis, section 6.1, figure 20: Rabin-Karp, 100 packets, a K80; a plot without "
        "figures. Chapter 7: block-level is faster by a factor of 116.\n"
        "Here: 1,800 literals, packets on the device, time of the kernels; pfac is the "
        "automaton of section 4.3.2.");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++)
        good = print_size(study, sizes[i], THESIS_PACKETS) &&
               print_size(study, sizes[i], FULL_LEN / sizes[i]);
    return good;
}
