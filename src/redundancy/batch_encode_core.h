/* SPDX-License-Identifier: MIT */
/* A batch to frames, all packets at once: what each step does with one hit, sample or packet.
 * Backends run a step over all of them, in any order and at the same time, and one step after the
 * other (enum encode_step). What the steps do together does not depend on the order within any of
 * them: the same batches give the same frames, on every backend.
 *
 * The packets are in the ring before anything is compared, so that all comparisons read the ring
 * alone. */
#ifndef REDUNDANCY_BATCH_ENCODE_CORE_H
#define REDUNDANCY_BATCH_ENCODE_CORE_H

#include "frame_check_core.h"
#include "frame_core.h"
#include "packet_log.h"
#include "sluice/engine.h"

enum encode_step {
    ENCODE_PLACE,    /* a scan: where packets lie in the log, which then has room for them */
    ENCODE_COPY,     /* each packet: into the ring */
    ENCODE_MARK,     /* each hit: a bit of the arena */
    ENCODE_RANK,     /* a scan: how many hits lie before each tile of the arena */
    ENCODE_LOOK_UP,  /* each hit: takes its rank; looked up among the batches before; announced to
                        the others of its batch */
    ENCODE_REMEMBER, /* each sample: looked up among those of its batch; put into the index */
    ENCODE_MATCH,    /* each packet: what of it is in the log */
    ENCODE_LAY,      /* a scan: where frames lie */
    ENCODE_WRITE,    /* each packet: its frame */
    ENCODE_STEPS
};

enum {
    ENCODE_TILE = 256,        /* bytes of the arena whose hits are counted together */
    ENCODE_SCAN_PARTS = 1024, /* of a scan, each added up by itself */
    ENCODE_NEAR = 16,         /* samples of the same packet before a sample that it may repeat */
    ENCODE_LOOK_BACK = 64     /* bytes of the last match that the next may always look into */
};

#define ENCODE_NOWHERE UINT64_MAX

/* What a batch adds up to. */
struct encode_totals {
    uint64_t begin;      /* log offset of its first packet, */
    uint64_t begin_at;   /* and where in the ring that is */
    uint64_t bytes;      /* of packets */
    uint64_t frames_len; /* bytes */
    uint64_t matches, matched_bytes;
    uint32_t n_samples;
    uint32_t refused; /* not 0: a packet is too long or not in the arena, or all are too much */
};

struct encode_packet {
    uint32_t n_matches, matched_bytes, frame_len;
};

/* A batch under way. Arrays lie where the backend works. */
struct encode_job {
    /* The batch and its hits, of which there are *n_found, and room for found_cap. */
    const uint8_t *arena;
    const struct sl_span *payload;
    uint32_t n_items, arena_len;
    const uint64_t *n_found;
    const struct sl_hit *found;
    uint32_t found_cap;

    /* What outlives it. */
    struct packet_log *log; /* as the next batch finds it, once the packets are placed */
    uint64_t *index;        /* log offset << 16 | tag: of two that meet, the newer stays */
    uint32_t n_index;
    uint64_t cache_len;
    uint32_t window, min_match, run_min, frame_max, batch_len, epoch;

    /* Zero at first. */
    struct encode_totals *totals;
    uint32_t *chosen; /* a bit for each byte of the arena at which a hit's window begins */
    uint32_t *tiles;  /* hits in each tile of the arena, then in those before it */
    uint32_t *first;  /* by fingerprint: ~rank of the batch's first sample with it */
    uint32_t n_first;

    uint32_t *place;        /* of packets, from the batch's begin on */
    struct sl_hit *sample;  /* the hits in order */
    uint64_t *source;       /* of samples: where in the log the same may be, or nowhere */
    struct sl_match *match; /* of a packet: from its place / LOG_GRANULE on */
    struct encode_packet *packet;
    uint32_t *frame_begin; /* n_items + 1 */
    uint8_t *frames;
};

REDUNDANCY_CORE struct ring encode_ring(const struct encode_job *job)
{
    struct ring ring;

    ring.words = (const uint64_t *)job->log->bytes;
    ring.len = job->log->len;
    return ring;
}

REDUNDANCY_CORE uint64_t encode_position(const struct encode_job *job, uint32_t item)
{
    return job->totals->begin + job->place[item];
}

/* Where in the ring. */
REDUNDANCY_CORE uint64_t encode_here(const struct encode_job *job, const struct ring *ring,
                                     uint32_t item)
{
    return ring_ahead(ring, job->totals->begin_at, job->place[item]);
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* A packet's room in the log; 0 and refused where it is none. */
REDUNDANCY_CORE uint32_t encode_room(const struct encode_job *job, uint32_t item)
{
    const struct sl_span span = job->payload[item];

    if (span.len > job->frame_max || span.len > job->arena_len ||
        span.offset > job->arena_len - span.len) {
        core_or(&job->totals->refused, 1);
        return 0;
    }
    return (uint32_t)log_round(span.len);
}

REDUNDANCY_CORE uint32_t encode_scan_len(const struct encode_job *job, enum encode_step step)
{
    return step == ENCODE_RANK ? job->arena_len / ENCODE_TILE + 1 : job->n_items;
}

REDUNDANCY_CORE uint32_t encode_scan_value(const struct encode_job *job, enum encode_step step,
                                           uint32_t i)
{
    if (step == ENCODE_RANK)
        return job->tiles[i];
    return step == ENCODE_PLACE ? encode_room(job, i) : job->packet[i].frame_len;
}

REDUNDANCY_CORE void encode_scan_store(const struct encode_job *job, enum encode_step step,
                                       uint32_t i, uint32_t before)
{
    uint32_t *const sums = step == ENCODE_RANK    ? job->tiles
                           : step == ENCODE_PLACE ? job->place
                                                  : job->frame_begin;
    sums[i] = before;
}

/* The places [*begin, *end) of a part. */
REDUNDANCY_CORE void encode_scan_part(const struct encode_job *job, enum encode_step step,
                                      uint32_t part, uint32_t *begin, uint32_t *end)
{
    const uint32_t n = encode_scan_len(job, step);
    const uint32_t each = (n + ENCODE_SCAN_PARTS - 1) / ENCODE_SCAN_PARTS;

    *begin = part * each < n ? part * each : n;
    *end = *begin + each < n ? *begin + each : n;
}

/* First: what a part adds up to. */
REDUNDANCY_CORE uint64_t encode_scan_sum(const struct encode_job *job, enum encode_step step,
                                         uint32_t part)
{
    uint64_t sum = 0, bytes = 0, matches = 0, matched = 0;
    uint32_t begin, end;

    encode_scan_part(job, step, part, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        sum += encode_scan_value(job, step, i);
        if (step == ENCODE_LAY) {
            bytes += job->payload[i].len;
            matches += job->packet[i].n_matches;
            matched += job->packet[i].matched_bytes;
        }
    }
    if (step == ENCODE_LAY && begin < end) {
        core_add_64(&job->totals->bytes, bytes);
        core_add_64(&job->totals->matches, matches);
        core_add_64(&job->totals->matched_bytes, matched);
    }
    return sum;
}

/* Then, where no part has failed: the sums before each of its places. */
REDUNDANCY_CORE void encode_scan_spread(const struct encode_job *job, enum encode_step step,
                                        uint32_t part, uint64_t before)
{
    uint32_t begin, end;

    encode_scan_part(job, step, part, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t value = encode_scan_value(job, step, i);

        encode_scan_store(job, step, i, (uint32_t)before);
        before += value;
    }
}

/* Between them, once: what all parts add up to. */
REDUNDANCY_CORE void encode_scan_total(const struct encode_job *job, enum encode_step step,
                                       uint64_t total)
{
    struct packet_log *const log = job->log;

    if (step == ENCODE_RANK) {
        job->totals->n_samples = (uint32_t)total;
        return;
    }
    if (step == ENCODE_LAY) {
        job->frame_begin[job->n_items] = (uint32_t)total;
        job->totals->frames_len = total;
        return;
    }
    job->totals->begin = log->end;
    job->totals->begin_at = log->end_at;
    if (total > job->batch_len)
        job->totals->refused = 1;
    if (job->totals->refused != 0)
        return;
    log->end += total;
    log->end_at += total < log->len - log->end_at ? total : total - log->len;
}

/* ---- packets into the ring ------------------------------------------------------------------- */

/* At most eight bytes of the arena, zeros behind them. Only words are read that hold one of them.
 */
REDUNDANCY_CORE uint64_t encode_arena_load(const struct encode_job *job, uint32_t at, uint32_t n)
{
    const uint64_t *const word = (const uint64_t *)job->arena + at / 8;
    const uint32_t in = at % 8, shift = 8 * in;
    uint64_t bytes = word[0] >> shift;

    if (in + n > 8)
        bytes |= word[1] << (64 - shift);
    return n < 8 ? bytes & ((UINT64_C(1) << 8 * n) - 1) : bytes;
}

/* A warp. */
REDUNDANCY_CORE void encode_copy(const struct encode_job *job, uint32_t item)
{
    const struct sl_span span = job->payload[item];
    const struct ring ring = encode_ring(job);
    const uint64_t begin = encode_here(job, &ring, item);
    const uint32_t room = (uint32_t)log_round(span.len);

    WARP_EACH_LANE (lane)
        for (uint32_t i = 8 * lane; i < room; i += RING_STEP) {
            const uint32_t left = span.len > i ? span.len - i : 0;
            const uint64_t bytes =
                left > 0 ? encode_arena_load(job, span.offset + i, left < 8 ? left : 8) : 0;

            ((uint64_t *)job->log->bytes)[ring_ahead(&ring, begin, i) / 8] = bytes;
        }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Hits that there are. */
REDUNDANCY_CORE uint32_t encode_n_found(const struct encode_job *job)
{
    return *job->n_found < job->found_cap ? (uint32_t)*job->n_found : job->found_cap;
}

/* Where in the arena a hit's window begins. False: it leaves the packet. */
REDUNDANCY_CORE bool encode_hit_at(const struct encode_job *job, uint32_t i, uint32_t *at)
{
    const struct sl_hit hit = job->found[i];

    if (hit.item >= job->n_items)
        return false;
    const struct sl_span span = job->payload[hit.item];
    *at = span.offset + hit.offset;
    return hit.offset <= span.len && span.len - hit.offset >= job->window;
}

REDUNDANCY_CORE void encode_mark(const struct encode_job *job, uint32_t i)
{
    uint32_t at;

    if (!encode_hit_at(job, i, &at))
        return;
    core_or(&job->chosen[at / 32], UINT32_C(1) << at % 32);
    core_add(&job->tiles[at / ENCODE_TILE], 1);
}

/* Samples whose windows begin before this byte of the arena. */
REDUNDANCY_CORE uint32_t encode_rank(const struct encode_job *job, uint32_t at)
{
    uint32_t rank = job->tiles[at / ENCODE_TILE];

    for (uint32_t word = at / ENCODE_TILE * (ENCODE_TILE / 32); word < at / 32; word++)
        rank += core_count_bits(job->chosen[word]);
    return rank + core_count_bits(job->chosen[at / 32] & ((UINT32_C(1) << at % 32) - 1));
}

/* Samplers choose fingerprints by some of their bits, which are then the same in all: multiplying
 * spreads the others over the high bits. */
REDUNDANCY_CORE uint64_t encode_hash(uint64_t fingerprint)
{
    return (fingerprint ^ fingerprint >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

REDUNDANCY_CORE uint32_t encode_slot(uint64_t hash, uint32_t n_slots)
{
    return (uint32_t)((hash >> 32) * n_slots >> 32);
}

REDUNDANCY_CORE void encode_look_up(const struct encode_job *job, uint32_t i)
{
    uint32_t at;

    if (!encode_hit_at(job, i, &at))
        return;
    const uint32_t rank = encode_rank(job, at);
    const uint64_t hash = encode_hash(job->found[i].id);
    const uint64_t entry = job->index[encode_slot(hash, job->n_index)];

    job->sample[rank] = job->found[i];
    job->source[rank] = (uint16_t)entry == (uint16_t)hash ? entry >> 16 : ENCODE_NOWHERE;
    core_max(&job->first[encode_slot(hash, job->n_first)], ~rank);
}

REDUNDANCY_CORE uint64_t encode_sample_position(const struct encode_job *job, uint32_t rank)
{
    return encode_position(job, job->sample[rank].item) + job->sample[rank].offset;
}

/* The sample of the same batch that this one repeats; its own rank where there is none. A near one
 * of its own packet is the best where bytes repeat at once; else the first. */
REDUNDANCY_CORE uint32_t encode_earlier(const struct encode_job *job, uint32_t rank)
{
    const uint64_t id = job->sample[rank].id;
    const uint32_t item = job->sample[rank].item;

    for (uint32_t i = rank; i > 0 && rank - i < ENCODE_NEAR && job->sample[i - 1].item == item; i--)
        if (job->sample[i - 1].id == id)
            return i - 1;
    const uint32_t first = ~job->first[encode_slot(encode_hash(id), job->n_first)];
    return first < rank && job->sample[first].id == id ? first : rank;
}

REDUNDANCY_CORE void encode_remember(const struct encode_job *job, uint32_t rank)
{
    const uint64_t hash = encode_hash(job->sample[rank].id);
    const uint32_t earlier = encode_earlier(job, rank);

    if (earlier != rank)
        job->source[rank] = encode_sample_position(job, earlier);
    core_max_64(&job->index[encode_slot(hash, job->n_index)],
                encode_sample_position(job, rank) << 16 | (uint16_t)hash);
}

/* ---- matching -------------------------------------------------------------------------------- */

/* A packet whose matches are being found. */
struct encode_matching {
    const struct encode_job *job;
    struct ring ring;
    uint64_t position, lowest; /* log offsets: the packet's, and what it may refer to */
    uint64_t here;             /* in the ring */
    uint32_t item, len;
    bool has_left, has_last;
    struct sl_match left; /* the match before the last: it is given already */
    struct sl_match last; /* the next one may still replace it */
    struct sl_match *given;
    struct frame_progress progress;
    struct encode_packet packet;
};

REDUNDANCY_CORE uint64_t encode_at(const struct encode_matching *m, uint64_t source)
{
    return source >= m->position ? ring_ahead(&m->ring, m->here, (uint32_t)(source - m->position))
                                 : log_at(m->job->log, source);
}

REDUNDANCY_CORE uint32_t encode_match_end(const struct sl_match *match)
{
    return match->offset + match->len;
}

/* Bytes from `offset` on that may be compared with those from `source` on: from outside, a
 * reference ends where its packet begins. */
REDUNDANCY_CORE uint32_t encode_most_ahead(const struct encode_matching *m, uint32_t offset,
                                           uint64_t source)
{
    const uint32_t most = m->len - offset;

    return source < m->position && m->position - source < most ? (uint32_t)(m->position - source)
                                                               : most;
}

/* The same before them. */
REDUNDANCY_CORE uint32_t encode_most_before(const struct encode_matching *m, uint32_t offset,
                                            uint64_t source)
{
    const uint64_t most = source - (source >= m->position ? m->position : m->lowest);

    return most < offset ? (uint32_t)most : offset;
}

REDUNDANCY_CORE void encode_give(struct encode_matching *m, uint32_t offset, uint32_t len,
                                 uint64_t source)
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
REDUNDANCY_CORE uint32_t encode_give_runs(struct encode_matching *m, uint32_t begin, uint32_t end,
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

/* Content that was changed at places goes on at the distance where it was: [begin, end) lies
 * between the last match given and `right`, or the end, and is compared with what follows the one's
 * source and precedes the other's. */
REDUNDANCY_CORE void encode_give_gap(struct encode_matching *m, uint32_t begin, uint32_t end,
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
REDUNDANCY_CORE void encode_give_last(struct encode_matching *m)
{
    if (!m->has_last)
        return;
    encode_give_gap(m, m->has_left ? encode_match_end(&m->left) : 0, m->last.offset, &m->last);
    encode_give(m, m->last.offset, m->last.len, m->last.source);
    m->left = m->last;
    m->has_left = true;
    m->has_last = false;
}

/* The end of what matches give. */
REDUNDANCY_CORE uint32_t encode_taken(const struct encode_matching *m)
{
    if (m->has_last)
        return encode_match_end(&m->last);
    return m->has_left ? encode_match_end(&m->left) : 0;
}

/* Bytes before the sample that are equal too. Where they reach back to the last match's beginning,
 * the new one replaces it, and may go on. How far it looks into the last one is bounded by the
 * bytes that it adds, so that all of this is linear in the bytes covered. */
REDUNDANCY_CORE uint32_t encode_expand_back(struct encode_matching *m, uint32_t offset,
                                            uint32_t end, uint64_t source)
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

/* A sample, not wholly in the last match, whose fingerprint was seen at `source`. */
REDUNDANCY_CORE void encode_consider(struct encode_matching *m, uint32_t offset, uint64_t source)
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
 * behind `taken`; `end` where there is none. */
REDUNDANCY_CORE uint32_t encode_next_seen(const struct encode_job *job, uint32_t rank, uint32_t end,
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
REDUNDANCY_CORE void encode_match(const struct encode_job *job, uint32_t item)
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

/* ---- frames ---------------------------------------------------------------------------------- */

/* A warp: copies bytes of the ring, by words where there are some. Returns the end. */
REDUNDANCY_CORE uint8_t *encode_write_bytes(uint8_t *to, const struct ring *ring, uint64_t from,
                                            uint32_t len)
{
    const uint8_t *const bytes = (const uint8_t *)ring->words;
    const uint32_t to_word = (uint32_t)(-(uintptr_t)to % 8);
    const uint32_t head = to_word < len ? to_word : len;
    const uint32_t n_words = (len - head) / 8, tail = head + 8 * n_words;

    WARP_EACH_LANE (lane) {
        if (lane < head)
            to[lane] = bytes[ring_ahead(ring, from, lane)];
        for (uint32_t i = lane; i < n_words; i += WARP_LANES)
            ((uint64_t *)(to + head))[i] = ring_load(ring, ring_ahead(ring, from, head + 8 * i));
        if (tail + lane < len)
            to[tail + lane] = bytes[ring_ahead(ring, from, tail + lane)];
    }
    return to + len;
}

/* A warp: the header, whose first two words are checked. */
REDUNDANCY_CORE uint8_t *encode_write_header(uint8_t *to, const struct encode_job *job,
                                             uint32_t item, const struct ring *ring, uint64_t here)
{
    const uint32_t len = job->payload[item].len;
    uint64_t words[3];

    words[0] = FRAME_KIND | (uint64_t)len << 8 | (uint64_t)job->epoch << 32;
    words[1] = encode_position(job, item) | (uint64_t)job->packet[item].n_matches << 48;
    words[2] = check_of_16(words[0], words[1], 16, check_packet(ring, here, len));
    WARP_EACH_LANE (lane)
        if (lane < SL_FRAME_HEADER_LEN) {
            const uint64_t word = lane < 8 ? words[0] : lane < 16 ? words[1] : words[2];

            to[lane] = (uint8_t)(word >> 8 * (lane % 8));
        }
    return to + SL_FRAME_HEADER_LEN;
}

/* A warp: the references, a lane one at a time. Returns the end. */
REDUNDANCY_CORE uint8_t *encode_write_references(uint8_t *to, uint64_t position,
                                                 const struct sl_match *match, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += WARP_LANES) {
        uint32_t len = 0;

        WARP_EACH_LANE (lane) {
            const bool active = i + lane < n;
            const struct frame_progress progress = i + lane == 0 || !active
                                                       ? frame_begin(position)
                                                       : frame_behind(&match[i + lane - 1]);
#ifdef __CUDA_ARCH__
            const uint32_t own = active ? frame_reference_len(&progress, &match[i + lane]) : 0;
            uint32_t up_to = own;

            for (uint32_t far = 1; far < WARP_LANES; far *= 2) {
                const uint32_t before = __shfl_up_sync(~0u, up_to, far);

                up_to += lane >= far ? before : 0;
            }
            if (active)
                frame_write_reference(to + up_to - own, &progress, &match[i + lane]);
            len = __shfl_sync(~0u, up_to, WARP_LANES - 1);
#else
            if (active)
                len = (uint32_t)(frame_write_reference(to + len, &progress, &match[i + lane]) - to);
#endif
        }
        to += len;
    }
    return to;
}

/* A warp. */
REDUNDANCY_CORE void encode_write(const struct encode_job *job, uint32_t item)
{
    const uint32_t len = job->payload[item].len, n = job->packet[item].n_matches;
    const struct sl_match *const match = job->match + job->place[item] / LOG_GRANULE;
    const struct ring ring = encode_ring(job);
    const uint64_t here = encode_here(job, &ring, item);
    uint8_t *to = job->frames + job->frame_begin[item];
    uint32_t done = 0;

    to = encode_write_header(to, job, item, &ring, here);
    to = encode_write_references(to, encode_position(job, item), match, n);
    for (uint32_t i = 0; i < n; i++) {
        to = encode_write_bytes(to, &ring, ring_ahead(&ring, here, done), match[i].offset - done);
        done = encode_match_end(&match[i]);
    }
    encode_write_bytes(to, &ring, ring_ahead(&ring, here, done), len - done);
}

#endif
