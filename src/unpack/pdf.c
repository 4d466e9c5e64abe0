/* SPDX-License-Identifier: MIT */
/* PDF: each stream, decoded. Objects are found by their own marks, not by the table of the file,
 * which may be damaged on purpose. */
#include <ctype.h>
#include <string.h>

#include "unpack/pdf_crypt.h"
#include "unpack/pdf_filter.h"
#include "unpack/unpack.h"

enum { FILTERS_MAX = 8, DICTIONARY_MAX = 1 << 16 };

struct pdf {
    struct unpack *unpack;
    const struct unpack_object *object;
    const uint8_t *end;
    bool encrypted, has_key;
    struct pdf_crypt crypt;
    uint32_t number, generation; /* of the object that is read */
};

/* ---- a stream -------------------------------------------------------------------------------- */

/* The names of its filters: one, or a list. "#41" in them is an "A". */
static size_t read_filters(const uint8_t *at, const uint8_t *end,
                           enum pdf_filter filters[FILTERS_MAX])
{
    const uint8_t *value = pdf_find_key(at, end, "Filter");
    size_t n = 0;

    if (value == NULL)
        value = pdf_find_key(at, end, "F");
    if (value == NULL)
        return 0;
    const bool is_list = value < end && *value == '[';
    value += is_list;
    for (value = pdf_skip_blanks(value, end); value < end && *value == '/' && n < FILTERS_MAX;
         value = pdf_skip_blanks(value, end)) {
        const size_t len = pdf_name_len(++value, end);

        filters[n++] = pdf_filter_of(value, len);
        value += len;
        if (!is_list)
            break;
    }
    return n;
}

/* Whether a value is another object ("8 0 R"). */
static bool is_reference(const uint8_t *value, const uint8_t *end)
{
    for (int i = 0; i < 2; i++) {
        while (value < end && isdigit(*value))
            value++;
        value = pdf_skip_blanks(value, end);
    }
    return value < end && *value == 'R';
}

/* The end of a stream: by its length where "endstream" stands there, else by the next one, before
 * which lies the end of a line. */
static const uint8_t *stream_end(const struct pdf *pdf, const uint8_t *dictionary,
                                 const uint8_t *begin)
{
    const uint8_t *value = pdf_find_key(dictionary, begin, "Length");
    const bool elsewhere = value != NULL && is_reference(value, begin);
    const int64_t len = elsewhere ? 0 : pdf_number(value, begin, 0);

    if (len > 0 && len < pdf->end - begin) {
        const uint8_t *behind = pdf_skip_blanks(begin + len, pdf->end);

        if (pdf->end - behind >= 9 && memcmp(behind, "endstream", 9) == 0)
            return begin + len;
    }
    const uint8_t *found = pdf_find(begin, pdf->end, "endstream");
    if (found == NULL) {
        unpack_incomplete(pdf->unpack, pdf->object, "a stream has no end");
        return pdf->end;
    }
    if (elsewhere && found > begin && found[-1] == '\n')
        found--;
    return elsewhere && found > begin && found[-1] == '\r' ? found - 1 : found;
}

/* Whether a stream is one of those that an encrypted file leaves open. */
static bool is_open(const struct pdf *pdf, const uint8_t *dictionary, const uint8_t *begin)
{
    const uint8_t *type = pdf_find_key(dictionary, begin, "Type");
    const size_t len = type != NULL && type < begin ? pdf_name_len(type + 1, begin) : 0;

    return len > 0 && (pdf_is_name(type + 1, len, "XRef") ||
                       (pdf->crypt.clears_metadata && pdf_is_name(type + 1, len, "Metadata")));
}

/* Scripts are texts in dictionaries. */
static void give_scripts(struct pdf *pdf, const uint8_t *at, const uint8_t *end, bool decrypts)
{
    struct unpack_buffer buffer = {0}, clear = {0};

    while ((at = pdf_find_key(at, end, "JS")) != NULL && !unpack_is_over(pdf->unpack)) {
        unpack_buffer_init(pdf->unpack, &buffer);
        unpack_buffer_init(pdf->unpack, &clear);
        at = pdf_text(at, end, &buffer);
        if (decrypts)
            pdf_crypt_run(&pdf->crypt, pdf->number, pdf->generation, buffer.bytes, buffer.len,
                          &clear);
        const struct unpack_buffer *script = decrypts ? &clear : &buffer;
        (void)unpack_child(pdf->unpack, pdf->object, script->bytes, script->len, KINDS);
    }
    unpack_buffer_free(&buffer);
    unpack_buffer_free(&clear);
}

static void give_stream(struct pdf *pdf, const uint8_t *dictionary, const uint8_t *begin,
                        const uint8_t *end)
{
    const bool locked = pdf->encrypted && !is_open(pdf, dictionary, begin);
    enum pdf_filter filters[FILTERS_MAX];
    const size_t n = locked && !pdf->has_key ? 0 : read_filters(dictionary, begin, filters);
    struct unpack_buffer buffers[2] = {{0}, {0}};
    const uint8_t *bytes = begin;

    if (n == 0 && !locked) /* as ClamAV gives it */
        end = pdf_skip_blanks(end, pdf->end);
    size_t len = (size_t)(end - begin);
    if (locked && pdf->has_key) {
        unpack_buffer_init(pdf->unpack, &buffers[1]);
        pdf_crypt_run(&pdf->crypt, pdf->number, pdf->generation, bytes, len, &buffers[1]);
        bytes = buffers[1].bytes;
        len = buffers[1].len;
    }
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
    if (len > 0 && pdf_find_key(dictionary, begin, "First") != NULL) /* objects are in it */
        give_scripts(pdf, bytes, bytes + len, false);
    (void)unpack_child(pdf->unpack, pdf->object, bytes, len, KINDS);
    unpack_buffer_free(&buffers[0]);
    unpack_buffer_free(&buffers[1]);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The place where the data of a stream begins, if the object has one. */
static const uint8_t *find_stream(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *mark = pdf_find(at, end, "stream");

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
    const uint8_t *end = pdf_find(at, limit, "endobj");
    const uint8_t *data = find_stream(at, end != NULL ? end : limit);

    if (data == NULL) {
        if (end == NULL)
            end = pdf_find(at, pdf->end, "endobj");
        if (end == NULL)
            end = pdf->end;
        give_scripts(pdf, at, end, pdf->has_key);
        if (pdf_find_key(at, end, "Contents") != NULL) /* texts of notes; ClamAV gives them, too */
            (void)unpack_child(pdf->unpack, pdf->object, at, (size_t)(end - at), KINDS);
        return end;
    }
    give_scripts(pdf, at, data, pdf->has_key);
    end = stream_end(pdf, at, data);
    give_stream(pdf, at, data, end);
    return end;
}

void unpack_pdf(struct unpack *unpack, const struct unpack_object *object)
{
    struct pdf pdf = {.unpack = unpack, .object = object, .end = object->bytes + object->len};
    const uint8_t *at = object->bytes;

    pdf.encrypted = pdf_find_key(at, pdf.end, "Encrypt") != NULL;
    pdf.has_key = pdf.encrypted && pdf_crypt_open(&pdf.crypt, at, pdf.end);
    if (pdf.encrypted && !pdf.has_key)
        unpack_incomplete(unpack, object, "encrypted");
    if (pdf.encrypted && !(pdf.has_key && pdf.crypt.has_id)) { /* ClamAV needs one */
        unpack_alert(unpack, UNPACK_ENCRYPTED_DOC, "Heuristics.Encrypted.PDF");
    }
    while ((at = pdf_find(at, pdf.end, "obj")) != NULL && !unpack_is_over(unpack)) {
        const bool found = pdf_object_number(object->bytes, at, &pdf.number, &pdf.generation);

        at += 3;
        if (found)
            at = read_object(&pdf, at);
    }
}
