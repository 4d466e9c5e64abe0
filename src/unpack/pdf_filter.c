/* SPDX-License-Identifier: MIT */
#include "unpack/pdf_filter.h"

#include <ctype.h>
#include <string.h>

#include "base/hex.h"
#include "unpack/pdf_name.h"
#include "unpack/streams.h"

enum pdf_filter pdf_filter_of(const uint8_t *name, size_t len)
{
    static const struct {
        const char *name;
        enum pdf_filter filter;
    } names[] = {{"FlateDecode", PDF_FLATE},
                 {"Fl", PDF_FLATE},
                 {"LZWDecode", PDF_LZW},
                 {"LZW", PDF_LZW},
                 {"ASCIIHexDecode", PDF_HEX},
                 {"AHx", PDF_HEX},
                 {"ASCII85Decode", PDF_85},
                 {"A85", PDF_85},
                 {"RunLengthDecode", PDF_RUNS},
                 {"RL", PDF_RUNS},
                 {"DCTDecode", PDF_IMAGE},
                 {"DCT", PDF_IMAGE},
                 {"JPXDecode", PDF_IMAGE},
                 {"CCITTFaxDecode", PDF_IMAGE},
                 {"CCF", PDF_IMAGE},
                 {"JBIG2Decode", PDF_IMAGE}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pdf_is_name(name, len, names[i].name))
            return names[i].filter;
    return PDF_OTHER;
}

/* The head and the checksum of a stream may be wrong, as readers have it. */
static bool run_flate(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    const size_t before = buffer->len;
    size_t used;

    while (len > 0 && (in[0] == '\r' || in[0] == '\n')) {
        in++;
        len--;
    }
    if (stream_inflate(in, len, INFLATE_ZLIB, buffer, &used))
        return true;
    buffer->len = before;
    return len > 2 && stream_inflate(in + 2, len - 2, INFLATE_BARE, buffer, &used);
}

static bool run_hex(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    int high = -1;

    for (size_t i = 0; i < len && in[i] != '>'; i++) {
        const int digit = hex_digit((char)in[i]);
        uint8_t byte;

        if (digit < 0)
            continue;
        if (high < 0) {
            high = digit;
            continue;
        }
        byte = (uint8_t)(high << 4 | digit);
        high = -1;
        if (!unpack_buffer_add(buffer, &byte, 1))
            return true;
    }
    if (high >= 0) {
        const uint8_t byte = (uint8_t)(high << 4);

        (void)unpack_buffer_add(buffer, &byte, 1);
    }
    return true;
}

/* Five digits are four bytes; of n digits at the end n - 1 bytes are meant. */
static void add_85(struct unpack_buffer *buffer, uint32_t digits[5], unsigned n)
{
    uint64_t value = 0;
    uint8_t bytes[4];

    for (unsigned i = 0; i < 5; i++)
        value = value * 85 + (i < n ? digits[i] : 84);
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
    (void)unpack_buffer_add(buffer, bytes, n - 1);
}

static bool run_85(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    uint32_t digits[5];
    unsigned n = 0;
    size_t i = len > 1 && in[0] == '<' && in[1] == '~' ? 2 : 0;

    for (; i < len && in[i] != '~' && !buffer->cut; i++) {
        if (in[i] == 'z' && n == 0) {
            (void)unpack_buffer_add(buffer, "\0\0\0", 4);
        } else if (in[i] >= '!' && in[i] <= 'u') {
            digits[n++] = in[i] - (uint32_t)'!';
            if (n == 5) {
                add_85(buffer, digits, 5);
                n = 0;
            }
        }
    }
    if (n > 1)
        add_85(buffer, digits, n);
    return true;
}

static bool run_runs(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    size_t i = 0;

    while (i < len && in[i] != 128 && !buffer->cut) {
        const size_t n = in[i] < 128 ? (size_t)in[i] + 1 : 257 - (size_t)in[i];

        if (in[i] < 128) {
            if (len - i - 1 < n)
                return false;
            (void)unpack_buffer_add(buffer, in + i + 1, n);
            i += n + 1;
        } else {
            if (i + 1 == len)
                return false;
            for (size_t k = 0; k < n; k++)
                (void)unpack_buffer_add(buffer, in + i + 1, 1);
            i += 2;
        }
    }
    return true;
}

/* ---- LZW ------------------------------------------------------------------------------------- */

enum { CLEAR = 256, LAST = 257, FIRST = 258, CODES = 4096 };

/* A code stands for bytes of the output: where they begin there, and how many they are. */
struct lzw {
    uint32_t at[CODES], len[CODES];
    unsigned n, bits;
};

static bool add_code(const struct lzw *lzw, unsigned code, struct unpack_buffer *buffer)
{
    const uint8_t byte = (uint8_t)code;

    if (code < CLEAR)
        return unpack_buffer_add(buffer, &byte, 1);
    for (uint32_t i = 0; i < lzw->len[code]; i++) { /* it may grow into itself */
        const uint8_t copied = buffer->bytes[lzw->at[code] + i];

        if (!unpack_buffer_add(buffer, &copied, 1))
            return false;
    }
    return true;
}

static bool run_lzw(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    struct lzw lzw = {.n = FIRST, .bits = 9};
    uint32_t held = 0, before_at = 0, before_len = 0;
    unsigned n_held = 0;

    for (size_t i = 0; !buffer->cut && buffer->len < UINT32_MAX;) {
        while (n_held < lzw.bits && i < len) {
            held = held << 8 | in[i++];
            n_held += 8;
        }
        if (n_held < lzw.bits)
            return true;
        n_held -= lzw.bits;
        const unsigned code = held >> n_held & ((1u << lzw.bits) - 1);
        if (code == LAST)
            return true;
        if (code == CLEAR) {
            lzw.n = FIRST;
            lzw.bits = 9;
            before_len = 0;
            continue;
        }
        const uint32_t at = (uint32_t)buffer->len;
        if (before_len > 0 && lzw.n < CODES) { /* the code before, and the byte behind it */
            lzw.at[lzw.n] = before_at;
            lzw.len[lzw.n++] = before_len + 1;
        }
        if (code >= lzw.n)
            return false;
        if (!add_code(&lzw, code, buffer))
            return true;
        before_at = at;
        before_len = (uint32_t)buffer->len - at;
        /* The code length grows one code early. */
        while (lzw.bits < 12 && lzw.n + 1 >= 1u << lzw.bits)
            lzw.bits++;
    }
    return true;
}

bool pdf_filter_run(enum pdf_filter filter, const uint8_t *in, size_t len,
                    struct unpack_buffer *buffer)
{
    switch (filter) {
    case PDF_FLATE:
        return run_flate(in, len, buffer);
    case PDF_LZW:
        return run_lzw(in, len, buffer);
    case PDF_HEX:
        return run_hex(in, len, buffer);
    case PDF_85:
        return run_85(in, len, buffer);
    case PDF_RUNS:
        return run_runs(in, len, buffer);
    default:
        return unpack_buffer_add(buffer, in, len) && filter == PDF_IMAGE;
    }
}
