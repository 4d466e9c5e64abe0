/* SPDX-License-Identifier: MIT */
/* Whole batches: hits in order, and the earlier places of their content. */
#ifndef REDUNDANCY_BATCH_SAMPLE_CORE_H
#define REDUNDANCY_BATCH_SAMPLE_CORE_H

#include "batch_job_core.h"

enum { ENCODE_NEAR = 16 /* samples of the same packet before a sample that it may repeat */ };

/* Hits that there are. */
CORE uint32_t encode_n_found(const struct encode_job *job)
{
    return *job->n_found < job->found_cap ? (uint32_t)*job->n_found : job->found_cap;
}

/* The place in the arena where a hit's window begins. False: the window exceeds the packet. */
CORE bool encode_hit_at(const struct encode_job *job, uint32_t i, uint32_t *at)
{
    const struct sl_hit hit = job->found[i];

    if (hit.item >= job->n_items)
        return false;
    const struct sl_span span = job->payload[hit.item];
    *at = span.offset + hit.offset;
    return hit.offset <= span.len && span.len - hit.offset >= job->window;
}

CORE void encode_mark(const struct encode_job *job, uint32_t i)
{
    uint32_t at;

    if (!encode_hit_at(job, i, &at))
        return;
    core_or(&job->chosen[at / 32], UINT32_C(1) << at % 32);
    core_add(&job->tiles[at / ENCODE_TILE], 1);
}

/* Samples whose windows begin before this byte of the arena. */
CORE uint32_t encode_rank(const struct encode_job *job, uint32_t at)
{
    uint32_t rank = job->tiles[at / ENCODE_TILE];

    for (uint32_t word = at / ENCODE_TILE * (ENCODE_TILE / 32); word < at / 32; word++)
        rank += core_count_bits(job->chosen[word]);
    return rank + core_count_bits(job->chosen[at / 32] & ((UINT32_C(1) << at % 32) - 1));
}

/* Samplers choose fingerprints by some of their bits, which are then the same in all: multiplying
 * spreads the others over the high bits. */
CORE uint64_t encode_hash(uint64_t fingerprint)
{
    return (fingerprint ^ fingerprint >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

CORE uint32_t encode_slot(uint64_t hash, uint32_t n_slots)
{
    return (uint32_t)((hash >> 32) * n_slots >> 32);
}

CORE void encode_order(const struct encode_job *job, uint32_t i)
{
    uint32_t at;

    if (!encode_hit_at(job, i, &at))
        return;
    const uint32_t rank = encode_rank(job, at);

    job->sample[rank] = job->found[i];
    core_max(&job->first[encode_slot(encode_hash(job->found[i].id), job->n_first)], ~rank);
}

/* The sample of the same batch that this one repeats; its own rank where there is none. A near one
 * of its own packet is the best where bytes repeat at once; else the first. */
CORE uint32_t encode_earlier(const struct encode_job *job, uint32_t rank)
{
    const uint64_t id = job->sample[rank].id;
    const uint32_t item = job->sample[rank].item;

    for (uint32_t i = rank; i > 0 && rank - i < ENCODE_NEAR && job->sample[i - 1].item == item; i--)
        if (job->sample[i - 1].id == id)
            return i - 1;
    const uint32_t first = ~job->first[encode_slot(encode_hash(id), job->n_first)];
    return first < rank && job->sample[first].id == id ? first : rank;
}

/* Counts from the batch's begin, whose log offset is computed later. */
CORE uint64_t encode_sample_place(const struct encode_job *job, uint32_t rank)
{
    return (uint64_t)job->place[job->sample[rank].item] + job->sample[rank].offset;
}

CORE void encode_repeat(const struct encode_job *job, uint32_t rank)
{
    const uint32_t earlier = encode_earlier(job, rank);

    job->source[rank] = earlier != rank ? encode_sample_place(job, earlier) : ENCODE_NOWHERE;
}

CORE void encode_lookup(const struct encode_job *job, uint32_t rank)
{
    if (job->source[rank] != ENCODE_NOWHERE) {
        job->source[rank] += job->totals->begin;
        return;
    }
    const uint64_t hash = encode_hash(job->sample[rank].id);
    const uint64_t entry = job->index[encode_slot(hash, job->n_index)];

    if ((uint16_t)entry == (uint16_t)hash)
        job->source[rank] = entry >> 16;
}

/* Of equal ones in a row in a packet the last is the newest: the others would only be in its way.
 */
CORE void encode_remember(const struct encode_job *job, uint32_t rank)
{
    const struct sl_hit sample = job->sample[rank];
    const uint64_t hash = encode_hash(sample.id);
    const uint64_t position = job->totals->begin + encode_sample_place(job, rank);

    if (rank + 1 < job->totals->n_samples && job->sample[rank + 1].id == sample.id &&
        job->sample[rank + 1].item == sample.item)
        return;
    core_max_64(&job->index[encode_slot(hash, job->n_index)], position << 16 | (uint16_t)hash);
}

#endif
