/* SPDX-License-Identifier: MIT */
/* Bytes with holes between them: disjoint pieces in order, in a list and in a treap (Seidel and
 * Aragon, Randomized Search Trees, 1996). No sender can make the tree deep: priorities are hashes
 * of places in memory. */
#ifndef STREAM_STREAM_PIECES_H
#define STREAM_STREAM_PIECES_H

#include "sluice/stream.h"
#include "stream_arena.h"

/* Where pieces overlap, the higher one wins. Those in doubt are either what no receiver takes, or
 * what some take: bytes on a SYN, behind a FIN, after a RST. */
enum stream_rank { STREAM_UNLIKELY, STREAM_DOUBTFUL, STREAM_MISSING, STREAM_SURE };

/* The head of a piece's chain. */
struct stream_piece {
    uint32_t next_block;
    uint32_t after;       /* the next piece; 0: none */
    uint32_t left, right; /* in the tree */
    uint32_t begin, len;  /* sequence number; bytes */
    uint32_t skip;        /* bytes of its blocks that it has lost at its begin */
    uint16_t n_blocks;
    uint8_t rank;  /* enum stream_rank */
    uint8_t doubt; /* enum sl_stream_doubt, of those in doubt */
};

_Static_assert(sizeof(struct stream_piece) == STREAM_HEAD_LEN, "the head of a chain");

struct stream_pieces {
    uint32_t first, last, root;
    uint32_t n_breaks; /* neighbours that are not adjacent */
    uint32_t n_blocks;
};

/* New bytes. */
struct stream_part {
    uint32_t begin, end; /* sequence numbers */
    uint32_t at;         /* bytes from the batch's first */
    enum stream_rank rank;
    enum sl_stream_doubt doubt; /* of those in doubt */
};

/* Whether new bytes replace those of a piece of the same rank. */
typedef bool stream_new_wins(enum sl_host_policy policy, const struct stream_part *part,
                             uint32_t old_begin, uint32_t old_end);

stream_new_wins stream_policy_new_wins, defrag_policy_new_wins;

/* A part to be laid among pieces. */
struct stream_laying {
    struct stream_arena *arena;
    struct stream_pieces *pieces;
    struct stream_part part;
    const uint8_t *bytes; /* of the part; NULL: STREAM_MISSING */
    enum sl_host_policy policy;
    stream_new_wins *new_wins;

    bool overlaps, conflicts; /* found: it overlaps pieces; bytes differ */
    uint32_t dropped;         /* bytes for which there was no memory */
};

void stream_pieces_lay(struct stream_laying *laying);

/* Whether a piece has bytes from `begin` to `end`. */
bool stream_pieces_overlap(const struct stream_arena *arena, struct stream_pieces *pieces,
                           uint32_t begin, uint32_t end);

/* Gives all back: there are no pieces from then on. */
void stream_pieces_clear(struct stream_arena *arena, struct stream_pieces *pieces);

void stream_pieces_remove_first(struct stream_arena *arena, struct stream_pieces *pieces);

/* The first piece loses its first n bytes, and keeps some. */
void stream_pieces_trim_first(struct stream_arena *arena, struct stream_pieces *pieces, uint32_t n);

static inline struct stream_piece *stream_piece_at(const struct stream_arena *arena, uint32_t index)
{
    return (struct stream_piece *)stream_block_at(arena, index);
}

static inline uint32_t stream_piece_end(const struct stream_piece *piece)
{
    return piece->begin + piece->len;
}

/* Signed distance of sequence numbers. */
static inline int32_t stream_behind(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

#endif
