/* SPDX-License-Identifier: MIT */
/* A shard: blocks, lists of the halves that hold some, and the output of a batch. */
#ifndef STREAM_STREAM_SHARD_H
#define STREAM_STREAM_SHARD_H

#include "stream.h"

enum {
    STREAM_HEAD_LEN = 32, /* bytes of a first block that are no data */
    STREAM_NEXT_LEN = 8   /* of those behind it */
};

/* Flags of a half. */
enum {
    STREAM_STARTED = 1 << 0,      /* seq is known: its side was seen */
    STREAM_ESTABLISHED = 1 << 1,  /* a segment without SYN was taken */
    STREAM_SYN = 1 << 2,          /* its SYN was seen, */
    STREAM_WSCALED = 1 << 3,      /* with a window scale */
    STREAM_TIMESTAMPS = 1 << 4,   /* timestamp is valid */
    STREAM_WINDOW = 1 << 5,       /* window_end is valid */
    STREAM_FIN_NOTED = 1 << 6,    /* a FIN is to come */
    STREAM_FIN_DONE = 1 << 7,     /* its FIN came in sequence */
    STREAM_RST = 1 << 8,          /* a RST of either side */
    STREAM_QUEUED = 1 << 9,       /* it has a queue */
    STREAM_URGENT = 1 << 10,      /* an urgent byte is to come */
    STREAM_URGENT_CUT = 1 << 11,  /* one was taken out */
    STREAM_CONTEXT_HELD = 1 << 12 /* it holds all blocks for its last bytes */
};

/* The first block of a piece, of a context or of a queue begins with one of these. */
struct stream_piece {
    uint32_t next_block;    /* of its bytes */
    uint32_t before, after; /* pieces of the queue, in order; 0: none */
    uint32_t begin, len;    /* sequence number; bytes */
    uint32_t skip;          /* bytes of its blocks that it has lost at its begin */
    uint16_t n_blocks;
    uint8_t rank;  /* enum stream_rank */
    uint8_t doubt; /* enum sl_stream_doubt, of STREAM_DOUBTFUL */
    uint32_t pad;
};

enum stream_rank { STREAM_DOUBTFUL, STREAM_MISSING, STREAM_SURE };

struct stream_holder {
    uint32_t next_block;
    uint32_t older, newer; /* in the list of the shard; 0: none */
    uint32_t n_blocks;
    struct stream *stream;
    uint8_t half;
    uint8_t pad[7];
};

struct stream_queue {
    struct stream_holder holder; /* n_blocks: with those of the pieces */
    uint64_t flow;
    uint32_t first, last; /* pieces */
    uint32_t n_breaks;    /* neighbours that are not adjacent */
};

struct stream_block {
    union {
        struct {
            uint32_t next_block;
            uint32_t pad;
            uint8_t bytes[STREAM_BLOCK_LEN - STREAM_NEXT_LEN];
        } data;
        struct {
            struct stream_piece piece;
            uint8_t bytes[STREAM_BLOCK_LEN - STREAM_HEAD_LEN];
        } first;
        struct stream_holder holder;
        struct stream_queue queue;
        uint8_t all[STREAM_BLOCK_LEN];
    };
};

_Static_assert(sizeof(struct stream_block) == STREAM_BLOCK_LEN, "a block");
_Static_assert(sizeof(struct stream_piece) == STREAM_HEAD_LEN, "the head of a piece");
_Static_assert(sizeof(struct stream_holder) == STREAM_HEAD_LEN, "the head of a context");

struct stream_holders {
    uint32_t oldest, newest;
};

struct stream_shard {
    _Alignas(64) struct stream_output *output;
    const uint8_t *bytes; /* the batch's */
    uint32_t unacked_len;
    bool is_inline;
    bool keeps_urgent;
    uint8_t min_ttl;
    uint32_t context_len, overlap_len;

    struct stream_block *block; /* block 0 is none */
    uint32_t n_blocks;
    uint32_t n_used; /* that were ever used */
    uint32_t free;   /* list */
    uint32_t n_free; /* of all */
    struct stream_holders queues, contexts;
};

static inline struct stream_block *stream_block_at(const struct stream_shard *shard, uint32_t index)
{
    return &shard->block[index];
}

/* Blocks of n bytes. */
static inline uint32_t stream_blocks_of(uint32_t n)
{
    const uint32_t first = STREAM_BLOCK_LEN - STREAM_HEAD_LEN;
    const uint32_t more = STREAM_BLOCK_LEN - STREAM_NEXT_LEN;

    return n <= first ? 1 : 1 + (n - first + more - 1) / more;
}

/* Takes n blocks, linked and with a zeroed first head; 0: there are not so many. */
uint32_t stream_blocks_take(struct stream_shard *shard, uint32_t n);

/* Gives a chain back. */
void stream_blocks_give(struct stream_shard *shard, uint32_t first);

/* A place among the bytes of a chain. */
struct stream_cursor {
    uint32_t block;
    uint32_t at; /* bytes from the block's first */
};

struct stream_cursor stream_cursor_at(const struct stream_shard *shard, uint32_t first,
                                      uint32_t at);

/* The next bytes that lie together, at most max_len; *len is their number. Moves the cursor. */
uint8_t *stream_cursor_next(const struct stream_shard *shard, struct stream_cursor *cursor,
                            uint32_t max_len, uint32_t *len);

void stream_blocks_write(const struct stream_shard *shard, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len);
void stream_blocks_read(const struct stream_shard *shard, uint32_t first, uint32_t at,
                        uint8_t *bytes, uint32_t len);
bool stream_blocks_equal(const struct stream_shard *shard, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len);

void stream_holder_append(struct stream_shard *shard, struct stream_holders *list, uint32_t index);
void stream_holder_remove(struct stream_shard *shard, struct stream_holders *list, uint32_t index);

/* Appends a record of the half; the caller fills in the rest. Where there is no memory for it, it
 * is lost and the output says so. */
struct stream_record *stream_record_add(struct stream_shard *shard, enum stream_record_kind kind);

/* Room for len more copied bytes; NULL: there is no memory. */
uint8_t *stream_output_copy(struct stream_shard *shard, uint32_t len);

/* Signed distance of sequence numbers. */
static inline int32_t stream_behind(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

#endif
