/* SPDX-License-Identifier: MIT */
/* The common parts of the studies of Rabin's fingerprints on GPUs (TPDS 2016, section 4). */
#ifndef BENCH_STUDY_RABIN_H
#define BENCH_STUDY_RABIN_H

#include "sluice/sampling.h"
#include "studies.h"

enum {
    RABIN_PAPER_PACKETS = 16384, /* of a batch */
    RABIN_LEN_MIN = 100,         /* bytes of a payload */
    RABIN_LEN_MAX = 1460
};

struct rabin_study {
    struct study *study;
    struct sl_sampling_table *table; /* of the defaults: window 32, period 256 */
};

/* False: an error was printed. The caller closes it in any case. */
bool rabin_study_open(struct rabin_study *rabin, struct study *study);
void rabin_study_close(struct rabin_study *rabin);

/* Packets of random bytes. */
struct rabin_packets {
    uint64_t random;
    uint32_t n;
    uint32_t min_len, max_len; /* bytes, uniformly between them; */
    bool skewed; /* but where it is set 200 each, and the last of 128, a block of threads, 1,300 */
};

uint32_t rabin_packet_fill(void *user, uint8_t *bytes);

/* How a backend runs: */
struct rabin_way {
    const char *backend;
    bool stays;         /* over a batch on the GPU, by its clock; */
    unsigned n_streams; /* or from pinned memory with so many batches under way; */
    unsigned n_threads; /* or on so many cores */
};

/* GB/s of payload, or -1 with the row's note where it could not be run. The hits must be the
 * judge's. False: an error was printed. */
bool rabin_measure(const struct rabin_study *rabin, const struct rabin_way *way,
                   const struct bench_data *data, struct mpm_judge *judge, struct study_row *row,
                   double *gb_a_second);

#endif
