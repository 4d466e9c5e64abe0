/* SPDX-License-Identifier: MIT */
/* The parts that the CPU backends share beyond batch/cpu_backend.h: opening, and the loop over a
 * batch. */
#ifndef ENGINES_HEADER_CPU_H
#define ENGINES_HEADER_CPU_H

#include "batch/cpu_backend.h"
#include "header_backend.h"
#include "header_core.h"

enum {
    HEADER_AHEAD = 16,      /* packets: how far ahead headers are fetched */
    HEADER_SUM_AHEAD = 4096 /* bytes: how far ahead a sum fetches, as packets lie back to back */
};

/* Sums the bytes [begin, end) of a packet as header_sum_core.h defines it. */
typedef uint64_t header_sum(const uint8_t *bytes, uint32_t begin, uint32_t end);

header_sum header_sum_scalar, header_sum_avx2;

/* All of a backend's work on a batch. */
typedef void header_run(const struct sl_header_table *table, const struct sl_batch *batch,
                        struct sl_hits *hits);

enum sl_status header_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                               header_run *run, struct sl_diag *diag);
enum sl_status header_cpu_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits);

/* Defines a backend of header_run `run`. is_usable is its `usable`. */
#define HEADER_CPU_BACKEND(symbol, label, is_usable, run)                                     \
    static enum sl_status symbol##_open(void **context, const void *table,                    \
                                        const struct sl_limits *limits, struct sl_diag *diag) \
    {                                                                                         \
        return header_cpu_open(context, table, limits, run, diag);                            \
    }                                                                                         \
    const struct sl_backend symbol = {.name = (label),                                        \
                                      .device = SL_DEVICE_CPU,                                \
                                      .usable = (is_usable),                                  \
                                      .open = symbol##_open,                                  \
                                      .submit = header_cpu_submit,                            \
                                      .wait = cpu_backend_wait,                               \
                                      .close = cpu_backend_close}

static inline void header_emit(const struct sl_header_table *table, const struct sl_batch *batch,
                               uint32_t item, uint64_t tripped, struct sl_hits *hits)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + packet->offset;

    for (; tripped != 0; tripped &= tripped - 1) {
        const enum sl_header_check check = (enum sl_header_check)__builtin_ctzll(tripped);

        cpu_hits_append(hits, item, header_offset(table, packet, bytes, check), check);
    }
}

/* The set of tripped checks. */
__attribute__((always_inline)) static inline uint64_t
header_packet(const struct sl_header_table *table, const struct sl_packet *packet,
              const uint8_t *bytes, header_sum *sum)
{
    const struct header_view view = header_inspect(table, packet, bytes);

    return view.checksum != 0 ? header_finish(&view, sum(bytes, view.begin, view.end))
                              : view.tripped;
}

/* Inlined into each backend, so that `sum` is no call. */
__attribute__((always_inline)) static inline void header_loop(const struct sl_header_table *table,
                                                              const struct sl_batch *batch,
                                                              struct sl_hits *hits, header_sum *sum)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_packet *packet = &batch->packet[i];
        const uint8_t *bytes = batch->bytes + packet->offset;

        if (batch->n_items - i > HEADER_AHEAD) {
            const uint8_t *ahead = batch->bytes + batch->packet[i + HEADER_AHEAD].offset;

            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
        }

        const uint64_t tripped = header_packet(table, packet, bytes, sum);

        if (__builtin_expect(tripped != 0, 0))
            header_emit(table, batch, i, tripped, hits);
    }
}

#endif
