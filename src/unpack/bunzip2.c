/* SPDX-License-Identifier: MIT */
/* A block of bzip2 is the Burrows-Wheeler transform of a text, and its inverse is a chain of rows,
 * where each step waits for memory. So several cursors walk along the chain at a time. They begin
 * at marked rows, and one ends where another began. */
#include "unpack/bunzip2.h"

#include <stdlib.h>
#include <string.h>

#include "unpack/bunzip2_code.h"

enum {
    LEVEL_LEN = 100000, /* bytes of a block, times 1 to 9 */
    CURSORS = 16,
    ROW_AT = 8, /* in a row of the chain: bits of its byte, and then the next row */
    MARK = 1 << 30,
    RUN = 4, /* equal bytes, behind which the number of more comes */
    PIECE = 1 << 12,
    PIECE_ROOM = (PIECE / (RUN + 1) + 1) * (RUN + 255) + RUN
};

struct cursor {
    uint32_t first, row; /* where it began, and is */
    uint32_t len;
    uint8_t *bytes;
};

struct bunzip2 {
    struct bzip2_code code;
    uint32_t len_max; /* of a block */
    uint32_t *rows;
    uint8_t *bytes; /* of cursors, len_max each */
    struct cursor cursors[CURSORS];
    struct unpack_buffer *to;
    uint32_t sums[4][256];
    uint8_t last[PIECE_ROOM]; /* a piece that may exceed the limit */
};

/* ---- sums ------------------------------------------------------------------------------------ */

/* CRC-32 by the highest bit first: of a byte, and of one with 1 to 3 zeros behind it. */
static void make_sums(uint32_t sums[4][256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte << 24;

        for (int bit = 0; bit < 8; bit++)
            sum = sum << 1 ^ ((sum >> 31) != 0 ? UINT32_C(0x04C11DB7) : 0);
        sums[0][byte] = sum;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int i = 1; i < 4; i++)
            sums[i][byte] = sums[i - 1][byte] << 8 ^ sums[0][sums[i - 1][byte] >> 24];
}

static uint32_t sum_of(uint32_t sums[4][256], const uint8_t *bytes, size_t len)
{
    uint32_t sum = UINT32_MAX;
    size_t i = 0;

    for (; len - i >= 4; i += 4) {
        sum ^= (uint32_t)bytes[i] << 24 | (uint32_t)bytes[i + 1] << 16 |
               (uint32_t)bytes[i + 2] << 8 | bytes[i + 3];
        sum = sums[3][sum >> 24] ^ sums[2][sum >> 16 & 255] ^ sums[1][sum >> 8 & 255] ^
              sums[0][sum & 255];
    }
    for (; i < len; i++)
        sum = sum << 8 ^ sums[0][sum >> 24 ^ bytes[i]];
    return ~sum;
}

/* ---- the chain ------------------------------------------------------------------------------- */

/* Rows have their bytes. The next one of each is where its byte has its turn among equal ones. */
static void link_rows(uint32_t *rows, uint32_t n)
{
    uint32_t at[256] = {0}, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        at[rows[i] & 255]++;
    for (unsigned byte = 0; byte < 256; byte++) {
        const uint32_t n_of = at[byte];

        at[byte] = sum;
        sum += n_of;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[at[rows[i] & 255]++] |= i << ROW_AT;
}

static uint32_t next_row(uint32_t row)
{
    return (row & (MARK - 1)) >> ROW_AT;
}

/* Returns the number of cursors, of which the first begins where the text does. */
static unsigned set_cursors(struct bunzip2 *bunzip2, uint32_t n, uint32_t origin)
{
    unsigned n_cursors = 0;

    for (uint32_t i = 0; i < CURSORS; i++) {
        const uint32_t first =
            i == 0 ? next_row(bunzip2->rows[origin]) : (uint32_t)((uint64_t)n * i / CURSORS);

        if ((bunzip2->rows[first] & MARK) != 0)
            continue;
        bunzip2->rows[first] |= MARK;
        bunzip2->cursors[n_cursors] =
            (struct cursor){first, first, 0, bunzip2->bytes + (size_t)bunzip2->len_max * n_cursors};
        n_cursors++;
    }
    return n_cursors;
}

static void walk(struct bunzip2 *bunzip2, unsigned n_cursors)
{
    struct cursor *active[CURSORS];
    unsigned n = n_cursors;

    for (unsigned i = 0; i < n; i++)
        active[i] = &bunzip2->cursors[i];
    while (n > 0)
        for (unsigned i = 0; i < n;) {
            struct cursor *cursor = active[i];
            const uint32_t row = bunzip2->rows[cursor->row];

            if ((row & MARK) != 0 && cursor->len > 0) {
                active[i] = active[--n];
                continue;
            }
            cursor->bytes[cursor->len++] = (uint8_t)row;
            cursor->row = next_row(row);
            i++;
        }
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct runs {
    uint8_t last;
    unsigned n; /* times, up to RUN */
};

/* Adds a piece of a block, with its runs. Returns the bytes that were written. */
static size_t add_piece(struct runs *runs, const uint8_t *bytes, size_t len, uint8_t *to)
{
    const uint8_t *const begin = to;

    for (size_t i = 0; i < len; i++) {
        const uint8_t byte = bytes[i];

        if (runs->n == RUN) {
            memset(to, runs->last, byte);
            to += byte;
            runs->n = 0;
            continue;
        }
        runs->n = runs->n > 0 && byte == runs->last ? runs->n + 1 : 1;
        runs->last = byte;
        *to++ = byte;
    }
    return (size_t)(to - begin);
}

static bool add_bytes(struct bunzip2 *bunzip2, struct runs *runs, const uint8_t *bytes, size_t len)
{
    struct unpack_buffer *to = bunzip2->to;

    for (size_t at = 0; at < len; at += PIECE) {
        const bool fits = to->max - to->len >= PIECE_ROOM;
        size_t room = PIECE_ROOM;
        uint8_t *const out = fits ? unpack_buffer_room(to, &room) : bunzip2->last;

        if (out == NULL)
            return false;
        const size_t n = add_piece(runs, bytes + at, len - at < PIECE ? len - at : PIECE, out);
        if (fits)
            to->len += n;
        else if (!unpack_buffer_add(to, out, n))
            return false;
    }
    return true;
}

/* The parts of cursors behind one another. A text that repeats itself is a shorter chain, which is
 * walked along again. */
static bool add_text(struct bunzip2 *bunzip2, unsigned n_cursors, uint32_t n)
{
    const struct cursor *cursor = &bunzip2->cursors[0];
    struct runs runs = {0};

    while (n > 0) {
        const uint32_t len = cursor->len < n ? cursor->len : n;
        unsigned next = 0;

        if (!add_bytes(bunzip2, &runs, cursor->bytes, len))
            return false;
        n -= len;
        while (next < n_cursors && bunzip2->cursors[next].first != cursor->row)
            next++;
        if (next == n_cursors)
            return false;
        cursor = &bunzip2->cursors[next];
    }
    return true;
}

/* ---- streams --------------------------------------------------------------------------------- */

static bool take_block(struct bunzip2 *bunzip2, uint32_t *sum)
{
    const size_t before = bunzip2->to->len;
    uint32_t n, origin, stated;

    if (!bzip2_code_block(&bunzip2->code, bunzip2->rows, bunzip2->len_max, &n, &origin, &stated))
        return false;
    link_rows(bunzip2->rows, n);
    const unsigned n_cursors = set_cursors(bunzip2, n, origin);
    walk(bunzip2, n_cursors);
    if (!add_text(bunzip2, n_cursors, n))
        return false;
    const uint32_t is =
        sum_of(bunzip2->sums, bunzip2->to->bytes + before, bunzip2->to->len - before);
    *sum = (*sum << 1 | *sum >> 31) ^ stated;
    return is == stated;
}

static bool take_stream(struct bunzip2 *bunzip2)
{
    static const uint64_t block = UINT64_C(0x314159265359), end = UINT64_C(0x177245385090);
    struct bzip2_bits *bits = &bunzip2->code.bits;
    uint32_t sum = 0;

    for (;;) {
        const uint64_t high = bzip2_take(bits, 24), mark = high << 24 | bzip2_take(bits, 24);

        if (mark == end) {
            const uint32_t stated = bzip2_take(bits, 16) << 16;

            return (stated | bzip2_take(bits, 16)) == sum && !bits->ended;
        }
        if (mark != block || !take_block(bunzip2, &sum))
            return false;
    }
}

bool bunzip2(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    enum { HEAD = 4 };

    if (len < HEAD || memcmp(in, "BZh", HEAD - 1) != 0 || in[3] < '1' || in[3] > '9')
        return false;
    struct bunzip2 *bunzip2 = malloc(sizeof *bunzip2);
    if (bunzip2 == NULL)
        return false;
    bunzip2->len_max = (uint32_t)(in[3] - '0') * LEVEL_LEN;
    bunzip2->rows = malloc(bunzip2->len_max * sizeof *bunzip2->rows);
    bunzip2->bytes = malloc((size_t)bunzip2->len_max * CURSORS);
    bunzip2->to = buffer;
    bunzip2->code.bits = (struct bzip2_bits){.at = in + HEAD, .end = in + len};
    make_sums(bunzip2->sums);
    const bool whole = bunzip2->rows != NULL && bunzip2->bytes != NULL && take_stream(bunzip2);
    *used = bzip2_used(&bunzip2->code.bits, in);
    free(bunzip2->rows);
    free(bunzip2->bytes);
    free(bunzip2);
    return whole;
}
