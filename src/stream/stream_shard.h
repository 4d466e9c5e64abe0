/* SPDX-License-Identifier: MIT */
/* A shard: an arena, lists of the halves that hold blocks of it, and the output of a batch. */
#ifndef STREAM_STREAM_SHARD_H
#define STREAM_STREAM_SHARD_H

#include "stream.h"
#include "stream_arena.h"
#include "stream_epochs.h"
#include "stream_pieces.h"

/* Flags of a half. */
enum {
    STREAM_STARTED = 1 << 0,       /* seq is known: its side was seen */
    STREAM_ESTABLISHED = 1 << 1,   /* a segment without SYN was taken */
    STREAM_SYN = 1 << 2,           /* its SYN was seen, */
    STREAM_WSCALED = 1 << 3,       /* with a window scale */
    STREAM_TIMESTAMPS = 1 << 4,    /* timestamp is valid */
    STREAM_WINDOW = 1 << 5,        /* window_end is valid */
    STREAM_FIN_NOTED = 1 << 6,     /* a FIN is to come */
    STREAM_FIN_DONE = 1 << 7,      /* its FIN came in sequence */
    STREAM_RST = 1 << 8,           /* a RST of either side */
    STREAM_QUEUED = 1 << 9,        /* it has a queue */
    STREAM_URGENT = 1 << 10,       /* an urgent byte is to come */
    STREAM_URGENT_CUT = 1 << 11,   /* one was taken out */
    STREAM_CONTEXT_HELD = 1 << 12, /* it holds all blocks for its last bytes */
    STREAM_FIN_FIRST = 1 << 13,    /* its FIN came before the other side's */
    STREAM_ANSWERS = 1 << 14,      /* its SYN had an ACK */
    STREAM_CONTEXT_FITS = 1 << 15  /* it holds the blocks for the bytes that it had last */
};

/* The head of a queue or a context: its half, in the list of the shard. */
struct stream_holder {
    uint32_t next_block;
    uint32_t older, newer; /* 0: none */
    uint32_t n_blocks;     /* of a context: that are counted */
    struct stream *stream;
    uint8_t half;
    bool has_numbers;  /* a context's: bytes lie in blocks of their own */
    uint32_t referred; /* the number of the last epoch that refers to the context, or of one that is
                          over */
};

_Static_assert(sizeof(struct stream_holder) == STREAM_HEAD_LEN, "the head of a block");

enum { STREAM_CONTEXT_SLOTS = 32 };

/* Byte o of a half is byte o + STREAM_HEAD_LEN of its context's blocks, which are counted from 0 on
 * and hold STREAM_BLOCK_LEN bytes each. Bytes are appended, and none is written twice before its
 * block is reused, so that others may read them meanwhile. A half that had few bytes has them in
 * block 0 behind the holder. When it has more, a block of its own gets the holder, and the numbers
 * of the blocks that have its last bytes. */
struct stream_context {
    struct stream_holder holder;
    uint64_t first, behind;                /* these blocks are there; */
    uint64_t referred_behind;              /* epochs refer to those before this one */
    uint32_t number[STREAM_CONTEXT_SLOTS]; /* of block i: at i modulo the slots */
};

_Static_assert(sizeof(struct stream_context) <= STREAM_BLOCK_LEN, "a context is a block");
_Static_assert((int)STREAM_BLOCK_LEN == (int)STREAM_PIECE_LEN, "records refer to blocks");
_Static_assert(STREAM_CONTEXT_MAX / STREAM_BLOCK_LEN + 2 <= STREAM_CONTEXT_SLOTS, "all have slots");

/* A block of its own. */
struct stream_queue {
    struct stream_holder holder;
    uint64_t flow;
    struct stream_pieces pieces;
};

_Static_assert(sizeof(struct stream_queue) <= STREAM_BLOCK_LEN, "a queue is a block");

struct stream_holders {
    uint32_t oldest, newest;
};

/* Most halves begin and end in one batch, in whose bytes their context lies. So the blocks of a
 * half that had none before are counted alone. They are taken when the batch ends. */
struct stream_claim {
    struct stream *stream; /* NULL: its half gave them up */
    uint32_t n_blocks;
    uint32_t half;
};

enum { STREAM_CLAIMS_MAX = 256 }; /* of a shard. Where there are more, blocks are taken earlier */

struct stream_shard {
    _Alignas(64) struct stream_output *output;
    const uint8_t *bytes; /* the batch's */
    uint32_t unacked_len;
    bool is_inline;
    bool omits_edges;
    bool keeps_urgent;
    uint8_t min_ttl;
    uint32_t context_len, overlap_len;
    uint32_t context_blocks; /* of context_len bytes, at most */

    struct stream_arena arena;
    struct stream_epochs epochs;
    struct stream_holders queues, contexts; /* the halves of claims are newer */
    uint32_t n_claims;
    struct stream_claim claim[STREAM_CLAIMS_MAX]; /* the oldest is first */
};

/* stream_holders.c: the halves that hold blocks, by age. */
void stream_holder_append(struct stream_shard *shard, struct stream_holders *list, uint32_t index);
void stream_holder_remove(struct stream_shard *shard, struct stream_holders *list, uint32_t index);

/* A copy of the holder takes its place. */
void stream_holder_replace(struct stream_shard *shard, struct stream_holders *list, uint32_t index,
                           uint32_t copy);

/* The next record, where there is no room for it. */
struct stream_record *stream_record_make(struct stream_output *output);

/* Appends a record of the half; the caller fills in the rest. Where there is no memory for it, it
 * is lost and the output says so. */
static inline struct stream_record *stream_record_add(struct stream_shard *shard,
                                                      enum stream_record_kind kind)
{
    struct stream_output *output = shard->output;
    struct stream_record *record =
        output->n < output->max ? &output->record[output->n++] : stream_record_make(output);

    *record = (struct stream_record){.kind = (uint8_t)kind};
    return record;
}

/* The newest record; 0 where records are missing, as it may be another half's. */
static inline uint32_t stream_newest(const struct stream_output *output)
{
    return output->no_memory ? 0 : output->n - 1;
}

/* Room for len more copied bytes, aligned to `align`; NULL: there is no memory. */
uint8_t *stream_output_copy(struct stream_shard *shard, uint32_t len, uint32_t align);

#endif
