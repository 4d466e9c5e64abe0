/* SPDX-License-Identifier: MIT */
/* Buckets of a fixed size against the compact buffer, over the size of packets and over the batches
 * in flight (Rabin fingerprinting on GPUs, TPDS 2016, figures 5 and 10). */
#include <stdio.h>

#include "study_rabin.h"

enum { BUCKET_LEN = 1500 };

/* Both buffers, on the GPU and in pinned memory. */
struct buffers {
    const struct rabin_study *rabin;
    struct bench_data there[2], pinned[2];
    struct mpm_judge judge, pinned_judge;
};

static bool fill_buffers(struct buffers *buffers, uint32_t len)
{
    for (int compact = 0; compact < 2; compact++) {
        struct rabin_packets packets = {.random = 1, .min_len = len, .max_len = len};
        const struct bench_items items = {.n_batches = 8,
                                          .n = RABIN_PAPER_PACKETS,
                                          .max_len = compact ? len : BUCKET_LEN,
                                          .pinned = true,
                                          .buckets = !compact,
                                          .fill = rabin_packet_fill,
                                          .user = &packets};

        if (!bench_fill(&buffers->pinned[compact], &items) ||
            !bench_to_device(&buffers->there[compact], &buffers->pinned[compact], 0,
                             buffers->rabin->study->bench->device.index))
            return false;
    }
    return true;
}

static bool print_buffers(struct buffers *buffers, struct study_row *row)
{
    static const char *const columns[2][3] = {{"buckets there", "buckets", "buckets, 4"},
                                              {"compact there", "compact", "compact, 4"}};
    static const struct rabin_way ways[] = {{.backend = "cuda-packet", .stays = true},
                                            {.backend = "cuda-packet", .n_streams = 1},
                                            {.backend = "cuda-packet", .n_streams = 4}};
    static const struct rabin_way ours = {.backend = "cuda", .n_streams = 4};
    double rate;

    for (int compact = 0; compact < 2; compact++) {
        for (int way = 0; way < 3; way++) {
            if (!rabin_measure(buffers->rabin, &ways[way],
                               way == 0 ? &buffers->there[compact] : &buffers->pinned[compact],
                               way == 0 ? &buffers->judge : &buffers->pinned_judge, row, &rate))
                return false;
            study_number(row, columns[compact][way], rate, 2);
        }
    }
    if (!rabin_measure(buffers->rabin, &ours, &buffers->pinned[1], &buffers->pinned_judge, row,
                       &rate))
        return false;
    study_number(row, "ranges, compact, 4", rate, 2);
    study_print(&buffers->rabin->study->table, row);
    return true;
}

bool study_buffers(struct study *study)
{
    static const uint32_t lens[] = {100, 300, 500, 700, 900, 1100, 1300, RABIN_LEN_MAX};
    struct rabin_study rabin;
    bool good = rabin_study_open(&rabin, study);

    study_print_note(&study->table,
                     "Figure 5, a GTX 780, 16 K packets, Gbit/s from 100 to 1,460 bytes: buckets "
                     "on the device 42 to 107, from memory 2.7 to 30, with four streams 2.9 to 40; "
                     "compact 11.7 to 30.3, with four streams 16.2 to 40.7.\n"
                     "Here: 16 K packets a batch, GB/s of payload on the device, from pinned "
                     "memory one batch at a time, and four.");
    for (size_t i = 0; i < sizeof lens / sizeof *lens && good; i++) {
        struct buffers buffers = {.rabin = &rabin};
        struct study_row row = {.note = ""};

        study_number(&row, "bytes", lens[i], 0);
        good = fill_buffers(&buffers, lens[i]) && print_buffers(&buffers, &row);
        for (int compact = 0; compact < 2; compact++) {
            bench_unload(&buffers.there[compact]);
            bench_unload(&buffers.pinned[compact]);
        }
    }
    rabin_study_close(&rabin);
    return good;
}

/* ---- figure 10 ------------------------------------------------------------------------------- */

static bool print_streams(const struct rabin_study *rabin, const char *backend, uint32_t n_packets)
{
    static const char *const columns[] = {"1 stream", "2", "3", "4", "5", "6", "7", "8"};
    struct rabin_packets packets = {
        .random = 1, .min_len = RABIN_LEN_MIN, .max_len = RABIN_LEN_MAX};
    const struct bench_items items = {.n_batches = 8,
                                      .n = n_packets,
                                      .max_len = RABIN_LEN_MAX,
                                      .pinned = true,
                                      .fill = rabin_packet_fill,
                                      .user = &packets};
    struct study_row row = {.note = ""};
    struct mpm_judge judge = {0};
    struct bench_data data = {0};
    bool good = bench_fill(&data, &items);

    study_text(&row, "as", backend);
    study_number(&row, "packets a batch", n_packets, 0);
    for (unsigned n = 1; n <= 8 && good; n++) {
        const struct rabin_way way = {.backend = backend, .n_streams = n};
        double rate;

        good = rabin_measure(rabin, &way, &data, &judge, &row, &rate);
        study_number(&row, columns[n - 1], rate, 2);
    }
    if (good)
        study_print(&rabin->study->table, &row);
    bench_unload(&data);
    return good;
}

bool study_streams(struct study *study)
{
    static const uint32_t packets[] = {4096, 8192, RABIN_PAPER_PACKETS, 32768};
    static const char *const backends[] = {"cuda-packet", "cuda"};
    struct rabin_study rabin;
    bool good = rabin_study_open(&rabin, study);

    study_print_note(&study->table,
                     "Figure 10, a GTX 780: four streams are best, and give 32 %.\n"
                     "Here: payloads of 100 to 1,460 bytes from pinned memory, each batch with its "
                     "columns in one copy, GB/s of payload with so many batches under way.");
    for (size_t b = 0; b < 2 && good; b++)
        for (size_t i = 0; i < sizeof packets / sizeof *packets && good; i++)
            good = print_streams(&rabin, backends[b], packets[i]);
    rabin_study_close(&rabin);
    return good;
}
