/* SPDX-License-Identifier: MIT */
/* The steps on one core, in the tiling of the GPU: a proof where no GPU is. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "batch_encode.h"
#include "batch_frame_core.h"
#include "batch_match_core.h"
#include "batch_sample_core.h"
#include "batch_scan_core.h"

struct tiled {
    struct packet_log log;
    uint64_t *index;
    uint64_t index_len, ring_memory;
    struct encode_layout layout;
    uint8_t *blocks[SL_BATCH_ENCODER_IN_FLIGHT];
};

static void tiled_close(void *machine)
{
    struct tiled *const tiled = machine;

    if (tiled == NULL)
        return;
    memory_unmap(tiled->log.bytes, tiled->ring_memory);
    memory_unmap(tiled->index, tiled->index_len);
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        memory_unmap(tiled->blocks[i], tiled->layout.len);
    free(tiled);
}

static enum sl_status take_memory(struct tiled *tiled, const struct encode_sizes *sizes,
                                  struct encode_job *jobs, struct sl_diag *diag)
{
    tiled->ring_memory = encode_ring_memory(sizes);
    tiled->log.len = sizes->ring_len;
    tiled->log.bytes = memory_map(tiled->ring_memory, "a packet cache", diag);
    tiled->index_len = sizes->n_index * sizeof *tiled->index;
    tiled->index = memory_map(tiled->index_len, "an index", diag);
    if (tiled->log.bytes == NULL || tiled->index == NULL)
        return SL_ENOMEM;
    tiled->layout = encode_lay_out(&jobs[0], sizes, NULL);
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++) {
        tiled->blocks[i] = memory_map(tiled->layout.len, "a batch under way", diag);
        if (tiled->blocks[i] == NULL)
            return SL_ENOMEM;
        encode_lay_out(&jobs[i], sizes, tiled->blocks[i]);
        jobs[i].log = &tiled->log;
        jobs[i].index = tiled->index;
        jobs[i].n_index = sizes->n_index;
    }
    return SL_OK;
}

static enum sl_status tiled_open(void **machine, const struct encode_sizes *sizes,
                                 struct encode_job jobs[SL_BATCH_ENCODER_IN_FLIGHT],
                                 struct sl_diag *diag)
{
    struct tiled *const tiled = calloc(1, sizeof *tiled);

    if (tiled == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an encoder");
    const enum sl_status status = take_memory(tiled, sizes, jobs, diag);
    if (status != SL_OK) {
        tiled_close(tiled);
        return status;
    }
    *machine = tiled;
    return SL_OK;
}

static void scan(const struct encode_job *job, enum encode_step step)
{
    uint64_t sums[ENCODE_SCAN_PARTS], total = 0;

    for (uint32_t part = 0; part < ENCODE_SCAN_PARTS; part++) {
        const uint64_t sum = encode_scan_sum(job, step, part);

        sums[part] = total;
        total += sum;
    }
    encode_scan_total(job, step, total);
    for (uint32_t part = 0; part < ENCODE_SCAN_PARTS; part++)
        encode_scan_spread(job, step, part, (uint32_t)sums[part]);
}

static void each_hit(const struct encode_job *job,
                     void (*step)(const struct encode_job *job, uint32_t i))
{
    for (uint32_t i = 0; i < encode_n_found(job); i++)
        step(job, i);
}

static void each_sample(const struct encode_job *job,
                        void (*step)(const struct encode_job *job, uint32_t rank))
{
    for (uint32_t rank = 0; rank < job->totals->n_samples; rank++)
        step(job, rank);
}

static void each_packet(const struct encode_job *job,
                        void (*step)(const struct encode_job *job, uint32_t item))
{
    for (uint32_t item = 0; item < job->n_items; item++)
        step(job, item);
}

static void run_step(const struct encode_job *job, enum encode_step step)
{
    switch (step) {
    case ENCODE_MARK:
        each_hit(job, encode_mark);
        break;
    case ENCODE_ORDER:
        each_hit(job, encode_order);
        break;
    case ENCODE_REPEAT:
        each_sample(job, encode_repeat);
        break;
    case ENCODE_BEGIN:
        encode_begin(job);
        break;
    case ENCODE_COPY:
        each_packet(job, encode_copy);
        break;
    case ENCODE_LOOK_UP:
        each_sample(job, encode_lookup);
        break;
    case ENCODE_REMEMBER:
        each_sample(job, encode_remember);
        break;
    case ENCODE_MATCH:
        each_packet(job, encode_match);
        break;
    case ENCODE_WRITE:
        each_packet(job, encode_write);
        break;
    default:
        scan(job, step);
    }
}

static enum sl_status tiled_submit(void *machine, uint32_t slot, const struct encode_job *job,
                                   bool restart, void *stream)
{
    struct tiled *const tiled = machine;

    (void)stream;
    if (restart) {
        tiled->log.end = 0;
        memset(tiled->index, 0, tiled->index_len);
    }
    memset(tiled->blocks[slot], 0, tiled->layout.zero_len);
    for (enum encode_step step = 0; step < ENCODE_STEPS && job->totals->refused == 0; step++)
        run_step(job, step);
    return SL_OK;
}

static enum sl_status tiled_wait(void *machine, uint32_t slot, const struct encode_job *job,
                                 struct encode_totals *totals, struct sl_frames *frames)
{
    (void)machine;
    (void)slot;
    *totals = *job->totals;
    frames->begin = job->frame_begin;
    frames->bytes = job->frames;
    return SL_OK;
}

const struct encode_backend batch_encode_tiled = {tiled_open, tiled_submit, tiled_wait,
                                                  tiled_close};
