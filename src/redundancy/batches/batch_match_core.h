/* SPDX-License-Identifier: MIT */
/* Whole batches: the part of a packet that is in the log. A warp goes through the packet's samples
 * as matcher.c does, and all its lanes compare. */
#ifndef REDUNDANCY_BATCH_MATCH_CORE_H
#define REDUNDANCY_BATCH_MATCH_CORE_H

#include "batch_sample_core.h"
#include "redundancy/frames/frame_core.h"

enum { ENCODE_LOOK_BACK = 64 /* bytes of the last match that the next may always compare */ };

/* The state of the search for a packet's matches. */
struct encode_matching {
    const struct encode_job *job;
    struct ring ring;
    uint64_t position, lowest; /* log offsets: the packet's, and the first it may refer to */
    uint64_t here;             /* in the ring */
    uint32_t item, len;
    bool has_left, has_last;
    struct sl_match left; /* the match before the last: it is given already */
    struct sl_match last; /* the next one may still replace it */
    struct sl_match *given;
    struct frame_progress progress;
    struct encode_packet packet;
};

CORE uint64_t encode_at(const struct encode_matching *m, uint64_t source)
{
    return source >= m->position ? ring_ahead(&m->ring, m->here, (uint32_t)(source - m->position))
                                 : log_at(m->job->log, source);
}

/* Bytes from `offset` on that may be compared with those from `source` on: from outside, a
 * reference ends where its packet begins. */
CORE uint32_t encode_most_ahead(const struct encode_matching *m, uint32_t offset, uint64_t source)
{
    const uint32_t most = m->len - offset;

    return source < m->position && m->position - source < most ? (uint32_t)(m->position - source)
                                                               : most;
}

/* The same before them. */
CORE uint32_t encode_most_before(const struct encode_matching *m, uint32_t offset, uint64_t source)
{
    const uint64_t most = source - (source >= m->position ? m->position : m->lowest);

    return most < offset ? (uint32_t)most : offset;
}

CORE void encode_give(struct encode_matching *m, uint32_t offset, uint32_t len, uint64_t source)
{
    struct sl_match match;

    if (m->packet.n_matches == SL_REFERENCES_MAX)
        return;
    match.source = source;
    match.item = m->item;
    match.offset = offset;
    match.len = len;
    m->packet.frame_len += frame_reference_len(&m->progress, &match) - len;
    m->packet.matched_bytes += len;
    m->progress = frame_behind(&match);
    /* All lanes write the same. */
    m->given[m->packet.n_matches++] = match;
}

/* Runs of bytes in [begin, end) that equal those from `source` on, place by place. Returns the end
 * of the last one. */
CORE uint32_t encode_give_runs(struct encode_matching *m, uint32_t begin, uint32_t end,
                               uint64_t source)
{
    const uint64_t here = ring_ahead(&m->ring, m->here, begin), there = encode_at(m, source);
    const uint32_t len = end - begin;
    uint32_t done = 0, i = 0;

    while ((i += ring_first_equal(&m->ring, ring_ahead(&m->ring, here, i),
                                  ring_ahead(&m->ring, there, i), len - i)) < len) {
        const uint64_t a = ring_ahead(&m->ring, here, i), b = ring_ahead(&m->ring, there, i);
        const uint32_t before = ring_extent_before(&m->ring, a, b, i - done);
        const uint32_t ahead = ring_extent_ahead(&m->ring, a, b, len - i);

        if (before + ahead >= m->job->run_min) {
            encode_give(m, begin + i - before, before + ahead, source + i - before);
            done = i + ahead;
        }
        i += ahead;
    }
    return begin + done;
}

/* Behind a change content goes on at the same distance. [begin, end) lies between the last match
 * and `right`, or the packet's end. It is compared with the bytes behind the last match's source
 * and with those before `right`'s source. */
CORE void encode_give_gap(struct encode_matching *m, uint32_t begin, uint32_t end,
                          const struct sl_match *right)
{
    if (m->has_left && end - begin >= m->job->run_min) {
        const uint64_t source = m->left.source + m->left.len;
        const uint32_t most = source != m->position ? encode_most_ahead(m, begin, source) : 0;

        begin = encode_give_runs(m, begin, most < end - begin ? begin + most : end, source);
    }
    if (right != NULL && end - begin >= m->job->run_min) {
        const uint32_t most = encode_most_before(m, right->offset, right->source);
        const uint32_t n = most < end - begin ? most : end - begin;

        encode_give_runs(m, end - n, end, right->source - n);
    }
}

/* The last match is final. */
CORE void encode_give_last(struct encode_matching *m)
{
    if (!m->has_last)
        return;
    encode_give_gap(m, m->has_left ? encode_match_end(&m->left) : 0, m->last.offset, &m->last);
    encode_give(m, m->last.offset, m->last.len, m->last.source);
    m->left = m->last;
    m->has_left = true;
    m->has_last = false;
}

/* The end of the matches' content. */
CORE uint32_t encode_taken(const struct encode_matching *m)
{
    if (m->has_last)
        return encode_match_end(&m->last);
    return m->has_left ? encode_match_end(&m->left) : 0;
}

/* Compares the bytes before the sample. Where they reach back to the last match's beginning, the
 * new match replaces it, and the search may go on. The bytes that the match adds bound the search
 * in the last match. So all searches together are linear in the bytes covered. */
CORE uint32_t encode_expand_back(struct encode_matching *m, uint32_t offset, uint32_t end,
                                 uint64_t source)
{
    const uint64_t a = ring_ahead(&m->ring, m->here, offset), b = encode_at(m, source);
    const uint32_t most = encode_most_before(m, offset, source);
    const uint32_t taken = encode_taken(m);
    const uint32_t look = ENCODE_LOOK_BACK + 2 * (end - taken);
    const uint32_t into = !m->has_last ? 0 : m->last.len < look ? m->last.len : look;
    const uint32_t lowest = taken - into;
    uint32_t limit = offset > lowest ? offset - lowest : 0;
    const uint32_t n = ring_extent_before(&m->ring, a, b, most < limit ? most : limit);

    if (!m->has_last || offset - n > m->last.offset)
        return n;
    m->has_last = false;
    limit = offset - n - encode_taken(m);
    if (limit > most - n)
        limit = most - n;
    return n + ring_extent_before(&m->ring, ring_before(&m->ring, a, n),
                                  ring_before(&m->ring, b, n), limit);
}

/* Extends a sample that is not wholly in the last match. Its fingerprint was seen at `source`. */
CORE void encode_consider(struct encode_matching *m, uint32_t offset, uint64_t source)
{
    if (source < m->lowest || source >= m->position + offset)
        return;

    const uint64_t a = ring_ahead(&m->ring, m->here, offset);
    const uint32_t ahead =
        ring_extent_ahead(&m->ring, a, encode_at(m, source), encode_most_ahead(m, offset, source));
    if (ahead < m->job->window)
        return;

    const uint32_t end = offset + ahead;
    uint32_t begin = offset - encode_expand_back(m, offset, end, source);
    source -= offset - begin;
    const uint32_t taken = encode_taken(m);
    if (begin < taken) {
        source += taken - begin;
        begin = taken;
    }
    if (end < begin + m->job->min_match)
        return;
    encode_give_last(m);
    m->last.source = source;
    m->last.item = m->item;
    m->last.offset = begin;
    m->last.len = end - begin;
    m->has_last = true;
}

/* A warp: the first of the samples [rank, end) whose fingerprint was seen and whose window ends
 * behind `taken`. `end`: there is none. */
CORE uint32_t encode_next_seen(const struct encode_job *job, uint32_t rank, uint32_t end,
                               uint32_t taken)
{
    for (; rank < end; rank += WARP_LANES)
        WARP_EACH_LANE (lane) {
            const uint32_t i = rank + lane;
            const bool seen = i < end && job->source[i] != ENCODE_NOWHERE &&
                              job->sample[i].offset + job->window > taken;
#ifdef __CUDA_ARCH__
            const uint32_t all = __ballot_sync(~0u, seen);

            if (all != 0)
                return rank + (uint32_t)__ffs((int)all) - 1;
#else
            if (seen)
                return i;
#endif
        }
    return end;
}

/* A warp. */
CORE void encode_match(const struct encode_job *job, uint32_t item)
{
    const struct sl_span span = job->payload[item];
    const uint32_t end = encode_rank(job, span.offset + span.len);
    struct encode_matching m;

    m.job = job;
    m.ring = encode_ring(job);
    m.position = encode_position(job, item);
    m.here = encode_here(job, &m.ring, item);
    m.lowest = m.position > job->cache_len ? m.position - job->cache_len : 0;
    if (m.lowest < job->log->floor)
        m.lowest = job->log->floor;
    m.item = item;
    m.len = span.len;
    m.has_left = m.has_last = false;
    m.given = job->match + job->place[item] / LOG_GRANULE;
    m.progress = frame_begin(m.position);
    m.packet.n_matches = m.packet.matched_bytes = 0;
    m.packet.frame_len = SL_FRAME_HEADER_LEN + span.len;
    for (uint32_t i = encode_rank(job, span.offset);
         (i = encode_next_seen(job, i, end, encode_taken(&m))) < end; i++)
        encode_consider(&m, job->sample[i].offset, job->source[i]);
    encode_give_last(&m);
    encode_give_gap(&m, encode_taken(&m), m.len, NULL);
    job->packet[item] = m.packet;
}

#endif
