/* SPDX-License-Identifier: MIT */
/* Texts in ClamAV's normal form: lower case, one space for all blanks, and printable ASCII alone.
 */
#include <emmintrin.h>
#include <string.h>

#include "unpack/unpack.h"

enum { BLOCK = 16 };

/* The form of a byte: 0: it is left out; ' ': a blank. */
static uint8_t normal_form(unsigned byte)
{
    if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
        return ' ';
    if (byte >= 'A' && byte <= 'Z')
        return (uint8_t)(byte + 'a' - 'A');
    return byte > ' ' && byte <= 0x7F ? (uint8_t)byte : 0;
}

struct normal {
    uint8_t *out;
    size_t n;
    uint8_t last; /* form of a byte that was not left out */
};

static void add_bytes(struct normal *normal, const uint8_t *in, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const uint8_t form = normal_form(in[i]);

        normal->out[normal->n] = form;
        normal->n += form != 0 && (form != ' ' || normal->last != ' ');
        normal->last = form != 0 ? form : normal->last;
    }
}

/* All ones where `from` <= byte < `from` + `n`. */
static __m128i is_among(__m128i bytes, int from, int n)
{
    const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8((char)from));

    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8((char)(n - 1))), above);
}

/* The bits of `kept` say which of a block's forms are wanted. Whole blocks are written: what comes
 * later lies over the rest. */
static void add_kept(struct normal *normal, __m128i forms, unsigned kept)
{
    uint8_t bytes[2 * BLOCK] = {0};

    _mm_storeu_si128((__m128i *)(void *)bytes, forms);
    while (kept != 0) {
        const int from = __builtin_ctz(kept), len = __builtin_ctz(~(kept >> from));

        memcpy(normal->out + normal->n, bytes + from, BLOCK);
        normal->n += (size_t)len;
        kept = kept >> (from + len) << (from + len);
    }
}

/* Blocks of blanks and of what is kept. Others are added byte for byte. */
static void add_block(struct normal *normal, const uint8_t *in)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)in);
    const __m128i space = _mm_set1_epi8(' '), upper = is_among(bytes, 'A', 26);
    const __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, space), is_among(bytes, '\t', 5));
    const __m128i other = is_among(bytes, ' ' + 1, 0x7F - ' ');
    const unsigned blanks = (unsigned)_mm_movemask_epi8(blank), all = (1u << BLOCK) - 1;

    if ((blanks | (unsigned)_mm_movemask_epi8(other)) != all) {
        add_bytes(normal, in, BLOCK);
        return;
    }
    const __m128i lower = _mm_or_si128(bytes, _mm_and_si128(upper, space));
    const __m128i forms = _mm_or_si128(_mm_and_si128(blank, space), _mm_andnot_si128(blank, lower));
    const unsigned again = blanks & (blanks << 1 | (normal->last == ' '));
    if (again == 0) {
        _mm_storeu_si128((__m128i *)(void *)(normal->out + normal->n), forms);
        normal->n += BLOCK;
    } else {
        add_kept(normal, forms, all & ~again);
    }
    normal->last = normal_form(in[BLOCK - 1]);
}

size_t text_normalize(const uint8_t *in, size_t len, uint8_t *out)
{
    struct normal normal = {out, 0, 0};
    size_t i = 0;

    for (; len - i >= (size_t)2 * BLOCK; i += BLOCK)
        add_block(&normal, in + i);
    add_bytes(&normal, in + i, len - i);
    return normal.n;
}

static bool is_wanted(const struct unpack *unpack, const struct unpack_object *object)
{
    const struct unpack_request *wishes = unpack_wishes(unpack);

    return wishes->normalizes && unpack_is_allowed(object->len, wishes->limits.text_len_max);
}

bool text_is_normalized(const struct unpack *unpack, const struct unpack_object *object)
{
    return object->kind == KIND_TEXT_ASCII && is_wanted(unpack, object);
}

void unpack_text(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer;
    size_t room = object->len;

    if (!is_wanted(unpack, object))
        return;
    if (kind_has_tag(object->bytes, object->len)) { /* behind the head, by which it is a text */
        unpack_html(unpack, object);
        return;
    }
    buffer = unpack_buffer(unpack, object);
    buffer->max = object->len;
    uint8_t *to = unpack_buffer_room(buffer, &room);
    if (to != NULL)
        (void)unpack_form(unpack, object, to, text_normalize(object->bytes, room, to),
                          object->kind);
}
