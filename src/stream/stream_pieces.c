/* SPDX-License-Identifier: MIT */
#include "stream_pieces.h"

#include "base/core.h"

/* ---- the tree ---- */

static uint64_t priority_of(const struct stream_arena *arena, uint32_t index)
{
    return core_fold((uintptr_t)&arena->block[index], UINT64_C(0x9E3779B97F4A7C15));
}

static bool is_before(const struct stream_arena *arena, uint32_t a, uint32_t b)
{
    return stream_behind(stream_piece_at(arena, a)->begin, stream_piece_at(arena, b)->begin) < 0;
}

static void tree_insert(const struct stream_arena *arena, uint32_t *link, uint32_t index)
{
    struct stream_piece *piece = stream_piece_at(arena, index);
    uint32_t *left = &piece->left, *right = &piece->right;
    uint32_t rest;

    while (*link != 0 && priority_of(arena, *link) >= priority_of(arena, index)) {
        struct stream_piece *at = stream_piece_at(arena, *link);

        link = is_before(arena, *link, index) ? &at->right : &at->left;
    }
    rest = *link;
    *link = index;
    while (rest != 0) { /* what was here is split by the piece's begin */
        struct stream_piece *at = stream_piece_at(arena, rest);

        if (is_before(arena, rest, index)) {
            *left = rest;
            left = &at->right;
            rest = *left;
        } else {
            *right = rest;
            right = &at->left;
            rest = *right;
        }
    }
    *left = *right = 0;
}

static void tree_remove(const struct stream_arena *arena, uint32_t *link, uint32_t index)
{
    const struct stream_piece *piece = stream_piece_at(arena, index);
    uint32_t left = piece->left, right = piece->right;

    while (*link != index) {
        struct stream_piece *at = stream_piece_at(arena, *link);

        link = is_before(arena, *link, index) ? &at->right : &at->left;
    }
    while (left != 0 && right != 0)
        if (priority_of(arena, left) >= priority_of(arena, right)) {
            *link = left;
            link = &stream_piece_at(arena, left)->right;
            left = *link;
        } else {
            *link = right;
            link = &stream_piece_at(arena, right)->left;
            right = *link;
        }
    *link = left != 0 ? left : right;
}

/* The last piece that ends at `begin` or before it. */
static uint32_t piece_before(const struct stream_arena *arena, const struct stream_pieces *pieces,
                             uint32_t begin)
{
    uint32_t found = 0;

    if (pieces->last != 0 &&
        stream_behind(stream_piece_end(stream_piece_at(arena, pieces->last)), begin) <= 0)
        return pieces->last;
    for (uint32_t index = pieces->root; index != 0;) {
        const struct stream_piece *piece = stream_piece_at(arena, index);

        if (stream_behind(stream_piece_end(piece), begin) <= 0) {
            found = index;
            index = piece->right;
        } else {
            index = piece->left;
        }
    }
    return found;
}

/* ---- links ---- */

/* 1 where there is a hole between two pieces; 0 is none. */
static uint32_t count_break(const struct stream_arena *arena, uint32_t a, uint32_t b)
{
    return a != 0 && b != 0 &&
           stream_piece_end(stream_piece_at(arena, a)) != stream_piece_at(arena, b)->begin;
}

static uint32_t *link_behind(const struct stream_arena *arena, struct stream_pieces *pieces,
                             uint32_t before)
{
    return before != 0 ? &stream_piece_at(arena, before)->after : &pieces->first;
}

static void link_piece(const struct stream_arena *arena, struct stream_pieces *pieces,
                       uint32_t index, uint32_t before)
{
    uint32_t *link = link_behind(arena, pieces, before);
    const uint32_t after = *link;

    stream_piece_at(arena, index)->after = after;
    *link = index;
    if (after == 0)
        pieces->last = index;
    pieces->n_breaks += count_break(arena, before, index) + count_break(arena, index, after) -
                        count_break(arena, before, after);
    tree_insert(arena, &pieces->root, index);
}

/* Takes a piece out, and gives its blocks back. */
static void remove_piece(struct stream_arena *arena, struct stream_pieces *pieces, uint32_t index,
                         uint32_t before)
{
    const struct stream_piece *piece = stream_piece_at(arena, index);
    const uint32_t after = piece->after;

    tree_remove(arena, &pieces->root, index);
    *link_behind(arena, pieces, before) = after;
    if (after == 0)
        pieces->last = before;
    pieces->n_breaks += count_break(arena, before, after) - count_break(arena, before, index) -
                        count_break(arena, index, after);
    pieces->n_blocks -= piece->n_blocks;
    stream_blocks_give(arena, index);
}

/* A piece keeps `len` of its bytes, behind the first `skip`. */
static void trim_piece(const struct stream_arena *arena, struct stream_pieces *pieces,
                       uint32_t index, uint32_t before, uint32_t skip, uint32_t len)
{
    struct stream_piece *piece = stream_piece_at(arena, index);

    pieces->n_breaks -= count_break(arena, before, index) + count_break(arena, index, piece->after);
    piece->begin += skip;
    piece->skip += skip;
    piece->len = len;
    pieces->n_breaks += count_break(arena, before, index) + count_break(arena, index, piece->after);
}

void stream_pieces_clear(struct stream_arena *arena, struct stream_pieces *pieces)
{
    for (uint32_t index = pieces->first, after; index != 0; index = after) {
        after = stream_piece_at(arena, index)->after;
        stream_blocks_give(arena, index);
    }
    *pieces = (struct stream_pieces){0};
}

void stream_pieces_remove_first(struct stream_arena *arena, struct stream_pieces *pieces)
{
    remove_piece(arena, pieces, pieces->first, 0);
}

void stream_pieces_trim_first(struct stream_arena *arena, struct stream_pieces *pieces, uint32_t n)
{
    trim_piece(arena, pieces, pieces->first, 0, n, stream_piece_at(arena, pieces->first)->len - n);
}

/* ---- pieces ---- */

/* Makes a piece whose bytes are to be written; 0: there is no memory. */
static uint32_t make_piece(struct stream_laying *laying, uint32_t begin, uint32_t len,
                           enum stream_rank rank, enum sl_stream_doubt doubt)
{
    const uint32_t n = rank == STREAM_MISSING ? 1 : stream_blocks_of(len);
    const uint32_t index = stream_blocks_take(laying->arena, n);
    struct stream_piece *piece = stream_piece_at(laying->arena, index);

    if (index == 0) {
        laying->dropped += len;
        return 0;
    }
    piece->begin = begin;
    piece->len = len;
    piece->skip = 0;
    piece->n_blocks = (uint16_t)n;
    piece->rank = (uint8_t)rank;
    piece->doubt = (uint8_t)doubt;
    laying->pieces->n_blocks += n;
    return index;
}

/* Makes a piece of a range of the part, behind the piece `before`. */
static void add_piece(struct stream_laying *laying, uint32_t before, uint32_t begin, uint32_t end)
{
    const struct stream_part *part = &laying->part;
    const uint32_t index = make_piece(laying, begin, end - begin, part->rank, part->doubt);

    if (index == 0)
        return;
    if (part->rank != STREAM_MISSING)
        stream_blocks_write(laying->arena, index, 0, laying->bytes + (begin - part->begin),
                            end - begin);
    link_piece(laying->arena, laying->pieces, index, before);
}

/* Copies the end of a piece, from `begin` on, to a piece of its own. */
static void split_piece(struct stream_laying *laying, uint32_t index, uint32_t begin)
{
    const struct stream_piece *piece = stream_piece_at(laying->arena, index);
    const uint32_t skip = begin - piece->begin, len = piece->len - skip;
    const uint32_t more = make_piece(laying, begin, len, piece->rank, piece->doubt);

    if (more == 0)
        return;
    if (piece->rank != STREAM_MISSING) {
        struct stream_cursor from = stream_cursor_at(laying->arena, index, piece->skip + skip);

        for (uint32_t done = 0, n; done < len; done += n) {
            const uint8_t *bytes = stream_cursor_next(laying->arena, &from, len - done, &n);

            stream_blocks_write(laying->arena, more, done, bytes, n);
        }
    }
    link_piece(laying->arena, laying->pieces, more, index);
}

/* ---- overlaps ---- */

static bool part_wins(const struct stream_laying *laying, const struct stream_piece *piece)
{
    const struct stream_part *part = &laying->part;

    if (part->rank != piece->rank)
        return part->rank > piece->rank;
    return part->rank != STREAM_MISSING &&
           laying->new_wins(laying->policy, part, piece->begin, stream_piece_end(piece));
}

/* Whether the bytes of both differ where they overlap. */
static bool differs(const struct stream_laying *laying, uint32_t index)
{
    const struct stream_piece *piece = stream_piece_at(laying->arena, index);
    const struct stream_part *part = &laying->part;
    const uint32_t piece_end = stream_piece_end(piece);
    const uint32_t begin =
        stream_behind(piece->begin, part->begin) > 0 ? piece->begin : part->begin;
    const uint32_t end = stream_behind(piece_end, part->end) < 0 ? piece_end : part->end;

    if (part->rank == STREAM_MISSING || piece->rank == STREAM_MISSING)
        return false;
    return !stream_blocks_equal(laying->arena, index, piece->skip + (begin - piece->begin),
                                laying->bytes + (begin - part->begin), end - begin);
}

/* A piece behind `before` loses to the part. Returns the piece behind which the part belongs. */
static uint32_t yield_piece(struct stream_laying *laying, uint32_t index, uint32_t before)
{
    const struct stream_part *part = &laying->part;
    const struct stream_piece *piece = stream_piece_at(laying->arena, index);
    const int32_t head = stream_behind(part->begin, piece->begin);
    const int32_t tail = stream_behind(stream_piece_end(piece), part->end);

    if (head > 0) {
        if (tail > 0)
            split_piece(laying, index, part->end);
        trim_piece(laying->arena, laying->pieces, index, before, 0, (uint32_t)head);
        return index;
    }
    if (tail > 0)
        trim_piece(laying->arena, laying->pieces, index, before, piece->len - (uint32_t)tail,
                   (uint32_t)tail);
    else
        remove_piece(laying->arena, laying->pieces, index, before);
    return before;
}

bool stream_pieces_overlap(const struct stream_arena *arena, struct stream_pieces *pieces,
                           uint32_t begin, uint32_t end)
{
    const uint32_t index = *link_behind(arena, pieces, piece_before(arena, pieces, begin));

    return index != 0 && stream_behind(stream_piece_at(arena, index)->begin, end) < 0;
}

void stream_pieces_lay(struct stream_laying *laying)
{
    const struct stream_part *part = &laying->part;
    uint32_t before = piece_before(laying->arena, laying->pieces, part->begin);
    uint32_t at = part->begin; /* the part is laid out up to here */

    for (;;) {
        const uint32_t index = *link_behind(laying->arena, laying->pieces, before);
        const struct stream_piece *piece = stream_piece_at(laying->arena, index);

        if (index == 0 || stream_behind(piece->begin, part->end) >= 0)
            break;
        laying->overlaps = true;
        laying->conflicts |= differs(laying, index);
        if (part_wins(laying, piece)) {
            before = yield_piece(laying, index, before);
            continue;
        }
        if (stream_behind(piece->begin, at) > 0)
            add_piece(laying, before, at, piece->begin);
        at = stream_piece_end(piece);
        before = index;
    }
    if (stream_behind(part->end, at) > 0)
        add_piece(laying, before, at, part->end);
}
