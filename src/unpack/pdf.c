/* SPDX-License-Identifier: MIT */
/* PDF: each stream, decoded. Objects are found by their own marks, not by the table of the file,
 * which may be damaged on purpose. */
#include <ctype.h>
#include <string.h>

#include "unpack/pdf_filter.h"

enum { FILTERS_MAX = 8, DICTIONARY_MAX = 1 << 16 };

struct pdf {
    struct unpack *unpack;
    const struct unpack_object *object;
    const uint8_t *end;
    bool encrypted;
};

static const uint8_t *find(const uint8_t *at, const uint8_t *end, const char *text)
{
    return at < end ? memmem(at, (size_t)(end - at), text, strlen(text)) : NULL;
}

static const uint8_t *skip_blanks(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (isspace(*at) || *at == '\0'))
        at++;
    return at;
}

static bool is_of_name(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F && strchr("/[]<>(){}%", byte) == NULL;
}

/* The value behind a key of a dictionary. NULL: it has none. */
static const uint8_t *find_key(const uint8_t *at, const uint8_t *end, const char *key)
{
    const size_t n = strlen(key);

    while ((at = find(at, end, key)) != NULL) {
        at += n;
        if (at == end || !is_of_name(*at))
            return skip_blanks(at, end);
    }
    return NULL;
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* The names of its filters: one, or a list. "#41" in them is an "A". */
static size_t read_filters(const uint8_t *at, const uint8_t *end,
                           enum pdf_filter filters[FILTERS_MAX])
{
    const uint8_t *value = find_key(at, end, "/Filter");
    size_t n = 0;

    if (value == NULL)
        value = find_key(at, end, "/F");
    if (value == NULL)
        return 0;
    const bool is_list = value < end && *value == '[';
    value += is_list;
    for (value = skip_blanks(value, end); value < end && *value == '/' && n < FILTERS_MAX;
         value = skip_blanks(value, end)) {
        const uint8_t *name = ++value;

        while (value < end && is_of_name(*value))
            value++;
        filters[n++] = pdf_filter_of((const char *)name, (size_t)(value - name));
        if (!is_list)
            break;
    }
    return n;
}

/* The end of a stream: by its length where "endstream" stands there, else by the next one. */
static const uint8_t *stream_end(const struct pdf *pdf, const uint8_t *dictionary,
                                 const uint8_t *begin)
{
    const uint8_t *value = find_key(dictionary, begin, "/Length");
    size_t len = 0;

    while (value != NULL && value < begin && isdigit(*value) && len < pdf->object->len)
        len = 10 * len + (size_t)(*value++ - '0');
    if (len > 0 && len < (size_t)(pdf->end - begin)) {
        const uint8_t *behind = skip_blanks(begin + len, pdf->end);

        if (pdf->end - behind >= 9 && memcmp(behind, "endstream", 9) == 0)
            return begin + len;
    }
    const uint8_t *found = find(begin, pdf->end, "endstream");
    if (found == NULL)
        unpack_incomplete(pdf->unpack, pdf->object, "a stream has no end");
    return found != NULL ? found : pdf->end;
}

static void give_stream(struct pdf *pdf, const uint8_t *dictionary, const uint8_t *begin,
                        const uint8_t *end)
{
    enum pdf_filter filters[FILTERS_MAX];
    const size_t n = pdf->encrypted ? 0 : read_filters(dictionary, begin, filters);
    struct unpack_buffer buffers[2] = {{0}, {0}};
    const uint8_t *bytes = begin;
    size_t len = (size_t)(end - begin);

    for (size_t i = 0; i < n && filters[i] != PDF_IMAGE; i++) {
        struct unpack_buffer *to = &buffers[i % 2];

        unpack_buffer_init(pdf->unpack, to);
        if (!pdf_filter_run(filters[i], bytes, len, to))
            unpack_incomplete(pdf->unpack, pdf->object,
                              filters[i] == PDF_OTHER ? "a stream has an unknown filter"
                                                      : "a stream is damaged");
        if (to->cut)
            unpack_cut(pdf->unpack, to);
        bytes = to->bytes;
        len = to->len;
    }
    (void)unpack_child(pdf->unpack, pdf->object, bytes, len, KINDS);
    unpack_buffer_free(&buffers[0]);
    unpack_buffer_free(&buffers[1]);
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void add_byte(struct unpack_buffer *buffer, int byte)
{
    const uint8_t added = (uint8_t)byte;

    (void)unpack_buffer_add(buffer, &added, 1);
}

/* A text in parentheses, which may nest. Returns the place behind it. */
static const uint8_t *read_literal(const uint8_t *at, const uint8_t *end,
                                   struct unpack_buffer *buffer)
{
    static const char escaped[] = "nrtbf", meant[] = "\n\r\t\b\f";
    unsigned depth = 1;

    for (at++; at < end && !buffer->cut; at++) {
        const char *escape;

        if (*at == '\\' && at + 1 < end) {
            at++;
            if (*at >= '0' && *at <= '7') {
                int value = 0;

                for (int i = 0; i < 3 && at < end && *at >= '0' && *at <= '7'; i++)
                    value = value * 8 + (*at++ - '0');
                at--;
                add_byte(buffer, value);
            } else if ((escape = memchr(escaped, *at, sizeof escaped - 1)) != NULL) {
                add_byte(buffer, meant[escape - escaped]);
            } else if (*at != '\n' && *at != '\r') {
                add_byte(buffer, *at);
            }
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
        add_byte(buffer, *at);
    }
    return at;
}

static void give_scripts(struct pdf *pdf, const uint8_t *at, const uint8_t *end)
{
    struct unpack_buffer buffer = {0};

    while ((at = find_key(at, end, "/JS")) != NULL && !unpack_is_over(pdf->unpack)) {
        if (at == end || *at != '(')
            continue;
        unpack_buffer_init(pdf->unpack, &buffer);
        at = read_literal(at, end, &buffer);
        (void)unpack_child(pdf->unpack, pdf->object, buffer.bytes, buffer.len, KINDS);
    }
    unpack_buffer_free(&buffer);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The place where the data of a stream begins, if the object has one. */
static const uint8_t *find_stream(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *mark = find(at, end, "stream");

    if (mark == NULL || (mark - at >= 3 && memcmp(mark - 3, "end", 3) == 0))
        return NULL;
    mark += 6;
    if (end - mark >= 2 && mark[0] == '\r' && mark[1] == '\n')
        return mark + 2;
    return mark < end && (*mark == '\n' || *mark == '\r') ? mark + 1 : mark;
}

/* Reads an object from behind its "obj". Returns the place behind it. */
static const uint8_t *read_object(struct pdf *pdf, const uint8_t *at)
{
    const uint8_t *limit =
        (size_t)(pdf->end - at) < DICTIONARY_MAX ? pdf->end : at + DICTIONARY_MAX;
    const uint8_t *end = find(at, limit, "endobj");
    const uint8_t *data = find_stream(at, end != NULL ? end : limit);

    if (data == NULL) {
        if (end == NULL)
            end = find(at, pdf->end, "endobj");
        give_scripts(pdf, at, end != NULL ? end : pdf->end);
        return end != NULL ? end : pdf->end;
    }
    give_scripts(pdf, at, data);
    end = stream_end(pdf, at, data);
    give_stream(pdf, at, data, end);
    return end;
}

/* Whether "obj" is one behind a number and a generation. */
static bool is_object(const uint8_t *begin, const uint8_t *mark)
{
    const uint8_t *at = mark;

    while (at > begin && isspace(at[-1]))
        at--;
    return at > begin && isdigit(at[-1]);
}

void unpack_pdf(struct unpack *unpack, const struct unpack_object *object)
{
    struct pdf pdf = {unpack, object, object->bytes + object->len, false};
    const uint8_t *at = object->bytes;

    pdf.encrypted = find_key(at, pdf.end, "/Encrypt") != NULL;
    if (pdf.encrypted) {
        unpack_incomplete(unpack, object, "encrypted");
        unpack_alert(unpack, UNPACK_ENCRYPTED_DOC, "Heuristics.Encrypted.PDF");
    }
    while ((at = find(at, pdf.end, "obj")) != NULL && !unpack_is_over(unpack)) {
        const bool found = is_object(object->bytes, at);

        at += 3;
        if (found)
            at = read_object(&pdf, at);
    }
}
