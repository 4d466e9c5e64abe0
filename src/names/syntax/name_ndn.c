/* SPDX-License-Identifier: MIT */
/* NDN URIs (NDN packet format specification, "Name", and naming conventions revision 3). */
#include <emmintrin.h>

#include "name_build.h"
#include "name_text.h"

const char name_too_long[] = "the name is longer than a name may be";

enum { DIGEST_LEN = 32, IMPLICIT_DIGEST = 1, PARAMETERS_DIGEST = 2 };

/* Types that URIs write by a word. Digests are hexadecimal, the others a number. */
static const struct {
    const char *word;
    uint32_t type;
} words[] = {{"sha256digest", IMPLICIT_DIGEST},
             {"params-sha256", PARAMETERS_DIGEST},
             {"seg", 50},
             {"off", 52},
             {"v", 54},
             {"t", 56},
             {"seq", 58}};

enum { N_WORDS = sizeof words / sizeof *words };

static bool is_digest(uint32_t type)
{
    return type == IMPLICIT_DIGEST || type == PARAMETERS_DIGEST;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A number as URIs write it: no sign, no leading zero. */
static bool read_decimal(uint64_t *number, const char *text, size_t len)
{
    *number = 0;
    if (len == 0 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        const uint32_t digit = (uint32_t)(uint8_t)text[i] - '0';

        if (digit > 9 || *number > (UINT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

static const char *read_digest(struct name_build *build, uint32_t type, const char *text,
                               size_t len)
{
    uint8_t digest[DIGEST_LEN];

    if (len != sizeof digest * 2)
        return "a digest is not 64 hexadecimal digits";
    for (size_t i = 0; i < sizeof digest; i++) {
        const int high = name_hex(text[2 * i]), low = name_hex(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return "a digest is not 64 hexadecimal digits";
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return name_add(build, type, digest, sizeof digest) ? NULL : name_too_long;
}

/* NonNegativeInteger: the shortest of 1, 2, 4 and 8 bytes, in network order. */
static uint32_t integer_len(uint64_t number)
{
    return number <= UINT8_MAX ? 1 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;
}

static const char *read_integer(struct name_build *build, uint32_t type, const char *text,
                                size_t len)
{
    uint64_t number;

    if (!read_decimal(&number, text, len))
        return "a component that should hold a number does not";

    const uint32_t n = integer_len(number);
    uint8_t *to = name_open_component(build, type, n);
    if (to == NULL)
        return name_too_long;
    for (uint32_t i = 0; i < n; i++)
        to[i] = (uint8_t)(number >> (8 * (n - 1 - i)));
    return NULL;
}

/* Whether the text is its value: no escapes, not only periods, as nearly all components are. */
static bool is_plain(const char *text, size_t len)
{
    size_t i = 0;

    if (len == 0 || text[0] == '.')
        return false;
    while (i + 4 <= len && name_is_plain4(name_load4(text + i)))
        i += 4;
    while (i < len && text[i] > 0x20 && text[i] < 0x7F && text[i] != '%')
        i++;
    return i == len;
}

static const char *read_escaped(struct name_build *build, uint32_t type, const char *text,
                                size_t len)
{
    size_t value_len = 0, periods = 0;

    if (!is_digest(type) && is_plain(text, len))
        return name_add(build, type, text, len) ? NULL : name_too_long;
    for (size_t i = 0; i < len; i++, value_len++) {
        periods += text[i] == '.';
        if ((uint8_t)text[i] <= 0x20 || text[i] == 0x7F)
            return "a blank or control byte is not percent-escaped";
        if (text[i] == '%') {
            if (len - i < 3 || name_hex(text[i + 1]) < 0 || name_hex(text[i + 2]) < 0)
                return "a '%' without two hexadecimal digits behind it";
            i += 2;
        }
    }
    /* Only periods: three more than the value has. */
    if (periods == len) {
        if (len < 3)
            return len == 0 ? "an empty component (it is written '...')"
                            : "'.' and '..' are no components";
        value_len = len -= 3;
    }
    if (is_digest(type) && value_len != DIGEST_LEN)
        return "a digest component is not 32 bytes";
    uint8_t *to = name_open_component(build, type, value_len);
    if (to == NULL)
        return name_too_long;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%') {
            *to++ = (uint8_t)(name_hex(text[i + 1]) << 4 | name_hex(text[i + 2]));
            i += 2;
        } else {
            *to++ = (uint8_t)text[i];
        }
    }
    return NULL;
}

static const char *read_component(struct name_build *build, const char *text, size_t len)
{
    const char *equals = memchr(text, '=', len);
    uint64_t type;

    if (equals == NULL)
        return read_escaped(build, SL_NAME_GENERIC, text, len);

    const size_t word_len = (size_t)(equals - text);
    const char *value = equals + 1;
    const size_t value_len = len - word_len - 1;
    for (int i = 0; i < N_WORDS; i++) {
        if (strlen(words[i].word) != word_len || memcmp(words[i].word, text, word_len) != 0)
            continue;
        return (is_digest(words[i].type) ? read_digest : read_integer)(build, words[i].type, value,
                                                                       value_len);
    }
    if (!read_decimal(&type, text, word_len) || type == 0 || type > SL_NAME_TYPE_MAX)
        return "what stands before '=' is no component type (1 to 65535, or a word like seg)";
    return read_escaped(build, (uint32_t)type, value, value_len);
}

/* ---- short names, all of their bytes at once ------------------------------------------------- */

enum { SHORT_MAX = 64, VECTOR = 16 };

/* A bit for each byte. */
struct short_text {
    uint64_t slashes, periods;
    uint64_t others; /* that do not stand for themselves: escapes, types, blanks, beyond ASCII */
    uint64_t unreserved; /* RFC 3986, section 2.3 */
};

static __m128i load(const void *bytes)
{
    return _mm_loadu_si128(bytes);
}

static __m128i equal_to(__m128i bytes, char byte)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

static __m128i between(__m128i bytes, char first, char last)
{
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8((char)(last + 1))));
}

static uint64_t bits(__m128i mask, size_t at)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(mask) << at;
}

static void add_vector(struct short_text *of, __m128i bytes, size_t at)
{
    const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21)); /* and from 0x80 on */
    const __m128i other = _mm_or_si128(_mm_or_si128(low, equal_to(bytes, 0x7F)),
                                       _mm_or_si128(equal_to(bytes, '%'), equal_to(bytes, '=')));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i alnum = _mm_or_si128(between(lower, 'a', 'z'), between(bytes, '0', '9'));
    const __m128i period = equal_to(bytes, '.');
    const __m128i mark = _mm_or_si128(_mm_or_si128(period, equal_to(bytes, '-')),
                                      _mm_or_si128(equal_to(bytes, '_'), equal_to(bytes, '~')));

    of->slashes |= bits(equal_to(bytes, '/'), at);
    of->periods |= bits(period, at);
    of->others |= bits(other, at);
    of->unreserved |= bits(_mm_or_si128(alnum, mark), at);
}

/* Bits from len on are 0. The last vector overlaps the one before, so nothing behind is read. */
static struct short_text classify(const void *text, size_t len)
{
    const char *const bytes = text;
    struct short_text of = {0};
    size_t at = 0;

    for (; at + VECTOR <= len; at += VECTOR)
        add_vector(&of, load(bytes + at), at);
    if (at < len && at > 0) {
        add_vector(&of, load(bytes + len - VECTOR), len - VECTOR);
    } else if (at < len) {
        char copy[VECTOR];

        memset(copy, '!', VECTOR);
        memcpy(copy, bytes, len);
        add_vector(&of, load(copy), 0);
    }
    return of;
}

/* Reads a name whose components are their text, as nearly all are. False: it is none of these, and
 * nothing was read. */
static bool read_short(struct name_build *build, const char *text, size_t len)
{
    char copy[SHORT_MAX + VECTOR];

    /* A component of a byte takes three, and the last copy may be a vector longer. */
    if (len > SHORT_MAX || build->cap < 2 * SHORT_MAX + VECTOR || text[0] != '/')
        return false;
    memcpy(copy, text, len);
    memset(copy + len, 'x', VECTOR);
    const struct short_text of = classify(text, len);
    const uint64_t begins = of.slashes << 1;
    if (of.others != 0 || (begins & (of.slashes | of.periods)) != 0)
        return false;

    uint8_t *to = build->bytes;
    for (size_t at = 1; at < len;) {
        const uint64_t ahead = of.slashes >> at;
        const size_t n = ahead != 0 ? (size_t)__builtin_ctzll(ahead) : len - at;

        *to++ = SL_NAME_GENERIC;
        *to++ = (uint8_t)n;
        for (size_t i = 0; i < n; i += VECTOR)
            _mm_storeu_si128((__m128i *)(to + i),
                             _mm_loadu_si128((const __m128i *)(copy + at + i)));
        to += n;
        at += n + 1;
    }
    build->len = (uint32_t)(to - build->bytes);
    return true;
}

/* ---- a whole name ---------------------------------------------------------------------------- */

const char *name_read_ndn(struct name_build *build, const char *text, size_t text_len)
{
    const char *at = text, *end = text + text_len;

    if (read_short(build, text, text_len))
        return NULL;
    if (text_len >= 4 && memcmp(text, "ndn:", 4) == 0) {
        at += 4;
        if (end - at >= 2 && at[0] == '/' && at[1] == '/') { /* the authority means nothing */
            at += 2;
            while (at < end && *at != '/')
                at++;
            if (at == end)
                return NULL;
        }
    }
    if (at == end || *at != '/')
        return "an NDN name begins with '/'";
    at++;
    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        const char *why = read_component(build, at, (size_t)(stop - at));

        if (why != NULL)
            return why;
        at = slash != NULL ? slash + 1 : end;
    }
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_escaped(struct text_out *out, const uint8_t *value, uint32_t len)
{
    uint32_t periods = 0;

    while (periods < len && value[periods] == '.')
        periods++;
    if (periods == len)
        text_put(out, "...", 3);
    for (uint32_t i = 0, run; i<len; i += run> 0 ? run : 1) {
        for (run = 0; i + run < len && name_is_unreserved(value[i + run]);)
            run++;
        if (run > 0)
            text_put(out, (const char *)value + i, run);
        else
            text_put_escaped(out, value[i]);
    }
}

static bool put_integer(struct text_out *out, const char *word, const uint8_t *value, uint32_t len)
{
    uint64_t number = 0;
    char text[40];

    if (len != 1 && len != 2 && len != 4 && len != 8)
        return false;
    for (uint32_t i = 0; i < len; i++)
        number = number << 8 | value[i];
    if (integer_len(number) != len)
        return false; /* not the canonical form: the number would be read back shorter */
    text_put(out, text,
             (size_t)snprintf(text, sizeof text, "%s=%llu", word, (unsigned long long)number));
    return true;
}

static bool put_word(struct text_out *out, const struct sl_name_component *component)
{
    for (int i = 0; i < N_WORDS; i++) {
        if (words[i].type != component->type)
            continue;
        if (!is_digest(component->type))
            return put_integer(out, words[i].word, component->bytes, component->len);
        text_put(out, words[i].word, strlen(words[i].word));
        text_put(out, "=", 1);
        for (uint32_t b = 0; b < component->len; b++)
            text_put_hex(out, component->bytes[b], "0123456789abcdef");
        return true;
    }
    return false;
}

/* As name_write_ndn writes them, the components of read_short are their text. */
size_t name_ndn_prefix_text(const struct sl_name *name, uint32_t prefix_len, const char *text,
                            size_t text_len)
{
    size_t n_components = 0;

    if (name->syntax != SL_NAME_NDN || prefix_len == 0 || text_len > SHORT_MAX || text[0] != '/')
        return 0;
    const struct short_text of = classify(text, text_len);
    const uint64_t all = UINT64_MAX >> (SHORT_MAX - text_len);
    if ((of.unreserved | of.slashes) != all || (of.slashes << 1 & (of.slashes | of.periods)) != 0)
        return 0;
    for (uint32_t at = 0; at < prefix_len; at += 2 + name->bytes[at + 1])
        n_components++;
    return prefix_len - n_components;
}

/* As read_short. A component that begins with a period may be written in another way. */
static bool write_short(struct text_out *out, const uint8_t *name, size_t len)
{
    uint8_t copy[SHORT_MAX + VECTOR];

    if (len > SHORT_MAX || len == 0 || out->cap < SHORT_MAX + VECTOR)
        return false;
    memcpy(copy, name, len);
    memset(copy + len, 0, VECTOR);
    const uint64_t plain = classify(name, len).unreserved;
    char *to = out->text;
    for (size_t at = 0; at < len;) {
        const size_t n = copy[at + 1];

        at += 2;
        if (copy[at - 2] != SL_NAME_GENERIC || n == 0 || n >= SHORT_MAX || at + n > len ||
            copy[at] == '.' || (~plain >> at << (SHORT_MAX - n)) != 0)
            return false;
        *to++ = '/';
        for (size_t i = 0; i < n; i += VECTOR)
            _mm_storeu_si128((__m128i *)(to + i), _mm_loadu_si128((__m128i *)(copy + at + i)));
        to += n;
        at += n;
    }
    out->len = (size_t)(to - out->text);
    return true;
}

void name_write_ndn(struct text_out *out, const struct sl_name *name)
{
    struct sl_name_component component;
    size_t at = 0;
    char type[16];

    if (write_short(out, name->bytes, name->len))
        return;
    if (name->len == 0)
        text_put(out, "/", 1);
    while (sl_name_next(name->bytes, name->len, &at, &component)) {
        text_put(out, "/", 1);
        if (component.type != SL_NAME_GENERIC) {
            if (put_word(out, &component))
                continue;
            text_put(out, type, (size_t)snprintf(type, sizeof type, "%u=", component.type));
        }
        put_escaped(out, component.bytes, component.len);
    }
}
