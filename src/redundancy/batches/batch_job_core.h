/* SPDX-License-Identifier: MIT */
/* A batch to frames, all packets at once: the steps, and their data. The other batch_*_core.h
 * define each step for one hit, sample or packet. Backends run a step over all of them, in any
 * order and at the same time, and one step after the other. The result of a step does not depend on
 * the order within it. So the same batches give the same frames on every backend.
 *
 * The packets are in the ring before anything is compared, so all comparisons read the ring alone.
 */
#ifndef REDUNDANCY_BATCH_JOB_CORE_H
#define REDUNDANCY_BATCH_JOB_CORE_H

#include "redundancy/match/packet_log.h"
#include "redundancy/match/ring_core.h"
#include "sluice/redundancy.h"

enum encode_step {
    /* Nothing of these depends on the batches before. */
    ENCODE_PLACE,  /* a scan: where packets lie behind the batch's begin */
    ENCODE_MARK,   /* each hit: a bit of the arena */
    ENCODE_RANK,   /* a scan: how many hits lie before each tile of the arena */
    ENCODE_ORDER,  /* each hit: takes its rank, and announces it to the others of its batch */
    ENCODE_REPEAT, /* each sample: its look-up among those of its batch */

    /* These wait for the batch before. */
    ENCODE_BEGIN,    /* once: where in the log the batch begins; there is room for it then */
    ENCODE_COPY,     /* each packet: into the ring */
    ENCODE_LOOK_UP,  /* the index look-up of each sample that repeats none of its batch */
    ENCODE_REMEMBER, /* each sample: put into the index */
    ENCODE_MATCH,    /* each packet: the parts of it that are in the log */

    /* For these the next batch does not wait. */
    ENCODE_LAY,   /* a scan: where frames lie */
    ENCODE_WRITE, /* each packet: its frame */
    ENCODE_STEPS
};

enum {
    ENCODE_TILE = 256,      /* bytes of the arena whose hits are counted together */
    ENCODE_SCAN_PARTS = 32, /* of a scan, a warp each */
    ENCODE_SCAN_EACH = 4    /* places that a lane takes at a time */
};

#define ENCODE_NOWHERE UINT64_MAX

/* The totals of a batch. */
struct encode_totals {
    uint64_t room;                          /* of the log, bytes */
    uint64_t begin;                         /* log offset of its first packet, */
    uint64_t begin_at;                      /* and where in the ring that is */
    uint64_t frames_len;                    /* bytes */
    uint64_t bytes, matches, matched_bytes; /* of packets */
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

    /* The state that outlives a batch. */
    struct packet_log *log; /* as the next batch finds it, once the packets are placed */
    uint64_t *index;        /* log offset << 16 | tag: of two that meet, the newer stays */
    uint64_t cache_len;
    uint32_t n_index, n_first; /* places in the index, and in `first` */
    uint32_t window, min_match, run_min, frame_max, batch_len, epoch;

    /* Zero at first. */
    struct encode_totals *totals;
    uint32_t *chosen; /* a bit for each byte of the arena at which a hit's window begins */
    uint32_t *tiles;  /* hits in each tile of the arena, then in those before it */
    uint32_t *first;  /* by fingerprint: ~rank of the batch's first sample with it */

    uint32_t *place;        /* of packets, from the batch's begin on */
    struct sl_hit *sample;  /* the hits in order */
    uint64_t *source;       /* of samples: where in the log the same may be, or nowhere */
    struct sl_match *match; /* of a packet: from its place / LOG_GRANULE on */
    struct encode_packet *packet;
    uint32_t *frame_begin; /* n_items + 1 */
    uint8_t *frames;
};

CORE struct ring encode_ring(const struct encode_job *job)
{
    struct ring ring;

    ring.words = (const uint64_t *)job->log->bytes;
    ring.len = job->log->len;
    return ring;
}

CORE uint64_t encode_position(const struct encode_job *job, uint32_t item)
{
    return job->totals->begin + job->place[item];
}

/* Where in the ring. */
CORE uint64_t encode_here(const struct encode_job *job, const struct ring *ring, uint32_t item)
{
    return ring_ahead(ring, job->totals->begin_at, job->place[item]);
}

CORE uint32_t encode_match_end(const struct sl_match *match)
{
    return match->offset + match->len;
}

#endif
