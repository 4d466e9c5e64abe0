/* SPDX-License-Identifier: MIT */
/* Mail and mailboxes: each part is decoded and given. A mail in a mail is a child of its own. */
#include <string.h>
#include <strings.h>

#include "unpack/mail_head.h"
#include "unpack/transfer.h"
#include "unpack/unpack.h"

enum { NESTING_MAX = 16 /* multiparts inside one mail */ };

struct mail {
    struct unpack *unpack;
    const struct unpack_object *object;
    bool is_box;
    const uint8_t *shown; /* the text that a multipart/related shows; NULL: none */
};

static void read_entity(const struct mail *mail, const uint8_t *at, const uint8_t *end,
                        unsigned nesting);

/* ---- leaves ---------------------------------------------------------------------------------- */

static bool report(const struct mail *mail, const char *name, size_t len)
{
    return unpack_report_member(mail->unpack, mail->object,
                                &(struct unpack_member){name, len, len, 0, false});
}

static void give(const struct mail *mail, const struct unpack_buffer *buffer, const char *name,
                 enum kind kind)
{
    if (buffer->cut)
        unpack_cut(mail->unpack, buffer);
    if (buffer->len > 0 && report(mail, name, buffer->len))
        (void)unpack_child(mail->unpack, mail->object, buffer->bytes, buffer->len, kind);
}

/* Files in the midst of a text. */
static void give_encoded(const struct mail *mail, const uint8_t *at, const uint8_t *end)
{
    struct unpack_buffer buffer = {0};

    for (size_t n; at < end && !unpack_is_over(mail->unpack); at += n) {
        bool whole = true;

        n = transfer_line(at, end);
        const bool is_yenc = transfer_begins_yenc(at, n);
        if (!is_yenc && !transfer_begins_uuencode(at, n))
            continue;
        unpack_buffer_init(mail->unpack, &buffer);
        n = is_yenc ? transfer_yenc(at, (size_t)(end - at), &buffer, &whole)
                    : transfer_uuencode(at, (size_t)(end - at), &buffer, &whole);
        if (!whole)
            unpack_incomplete(mail->unpack, mail->object, "an encoded file has no end");
        give(mail, &buffer, "attachment", KINDS);
    }
    unpack_buffer_free(&buffer);
}

/* ClamAV's name of a part. */
static const char *name_of(const struct mail_head *head, unsigned nesting)
{
    const bool is_text = head->type[0] == '\0' || strncmp(head->type, "text/", 5) == 0;

    if (head->name[0] != '\0')
        return head->name;
    if (head->has_disposition)
        return "unknown";
    if (is_text && nesting == 0)
        return "textportion";
    return (is_text && head->encoding > MAIL_7BIT) || strcmp(head->type, "text/html") == 0
               ? "mixedtextportion"
               : "attachment";
}

/* A file in base64 may come without the word for it. ClamAV decodes each part with a name so. */
static void give_misstated(const struct mail *mail, const char *name, const uint8_t *at,
                           const uint8_t *end)
{
    struct unpack_buffer *buffer = unpack_buffer(mail->unpack, mail->object);

    transfer_base64(at, (size_t)(end - at), true, buffer);
    give(mail, buffer, name, KINDS);
}

/* ClamAV looks for links in texts alone that are shown with the mail. It does not in those parts of
 * a multipart that are plain texts without a transfer encoding, nor in files that state 7bit. */
static void give_links(const struct mail *mail, const struct mail_head *head,
                       const struct unpack_buffer *text, bool is_part)
{
    enum { LEN_MAX = 100 << 10 };
    const struct unpack_object object = {.bytes = text->bytes, .len = text->len};
    const bool is_text = strncmp(head->type, "text/", 5) == 0;
    const bool is_plain = strcmp(head->type, "text/plain") == 0 &&
                          (head->encoding == MAIL_UNSTATED || head->encoding == MAIL_7BIT);
    const bool is_file = head->encoding == MAIL_7BIT && head->has_disposition;

    if (!unpack_wishes(mail->unpack)->wants_links || text->len == 0 || text->len > LEN_MAX)
        return;
    if (!is_file &&
        (is_part ? is_text && !head->is_attached && !is_plain : is_text || head->type[0] == '\0'))
        html_read_links(mail->unpack, &object);
}

static void read_leaf(const struct mail *mail, const struct mail_head *head, const uint8_t *at,
                      const uint8_t *end, unsigned nesting)
{
    struct unpack_buffer *buffer = unpack_buffer(mail->unpack, mail->object);
    const bool is_mail = strncmp(head->type, "message/rfc822", 14) == 0;
    const struct transfer_joins joins = {
        nesting > 0 || mail->is_box || strncmp(head->type, "text/", 5) != 0, !mail->is_box};
    /* A link of an HTML is a mail of one part. */
    const char *const name =
        mail->object->seen == KIND_HTML ? "textportion" : name_of(head, nesting);

    switch (head->encoding) {
    case MAIL_BASE64:
        transfer_base64(at, (size_t)(end - at), false, buffer);
        break;
    case MAIL_QUOTED:
        transfer_quoted(at, (size_t)(end - at), joins.empty, buffer);
        break;
    default:
        transfer_plain(at, (size_t)(end - at), joins, buffer);
        break;
    }
    give_links(mail, head, buffer, nesting > 0 && at != mail->shown);
    /* A mail that is its own part is a text, or it would be opened again and again. */
    const bool is_whole = !is_mail && buffer->len == mail->object->len &&
                          memcmp(buffer->bytes, mail->object->bytes, buffer->len) == 0;
    give(mail, buffer, name,
         is_mail    ? KIND_MAIL
         : is_whole ? kind_of_raw_text(buffer->bytes, buffer->len)
                    : KINDS);
    /* A text that begins with an encoded file is one itself. */
    const enum kind kind = buffer->len > 0 ? kind_of(buffer->bytes, buffer->len) : KIND_BINARY;
    if (!is_mail && (head->encoding <= MAIL_7BIT || head->encoding >= MAIL_UUENCODE) &&
        kind != KIND_UUENCODE && kind != KIND_YENC)
        give_encoded(mail, at, end);
    if (!is_mail &&
        (head->encoding == MAIL_7BIT ? strcmp(name, "attachment") != 0
                                     : head->encoding == MAIL_UNSTATED && head->named_by_type))
        give_misstated(mail, name, at, end);
}

/* ---- multiparts ------------------------------------------------------------------------------ */

/* Whether a line is the boundary; *last: the one behind the last part. */
static bool is_boundary(const char *boundary, const uint8_t *line, size_t len, bool *last)
{
    const size_t n = strlen(boundary);

    while (len > 0 && strchr(" \t\r\n", line[len - 1]) != NULL && line[len - 1] != '\0')
        len--;
    if (len < n + 2 || memcmp(line, "--", 2) != 0 || memcmp(line + 2, boundary, n) != 0)
        return false;
    *last = len >= n + 4 && memcmp(line + n + 2, "--", 2) == 0;
    return len == n + 2 || (*last && len == n + 4);
}

/* The next boundary from `at` on, or `end`. */
static const uint8_t *find_boundary(const char *boundary, const uint8_t *at, const uint8_t *end,
                                    bool *last)
{
    for (size_t n; at < end; at += n) {
        n = transfer_line(at, end);
        if (*at == '-' && is_boundary(boundary, at, n, last))
            return at;
    }
    *last = true;
    return end;
}

/* Text behind the last boundary is scanned, too: readers may show it. ClamAV leaves out an empty
 * line before it. */
static void give_rest(const struct mail *mail, const uint8_t *at, const uint8_t *end)
{
    struct unpack_buffer *buffer = unpack_buffer(mail->unpack, mail->object);

    at += end - at > 1 && at[0] == '\r' && at[1] == '\n' ? 2 : end > at && at[0] == '\n';
    for (const uint8_t *byte = at; byte < end; byte++)
        if (strchr("\r\n\t ", *byte) == NULL || *byte == '\0') {
            transfer_plain(at, (size_t)(end - at), (struct transfer_joins){true, !mail->is_box},
                           buffer);
            give(mail, buffer, "attachment", KINDS);
            give_encoded(mail, at, end);
            return;
        }
}

static void read_parts(const struct mail *mail, const char *boundary, const uint8_t *at,
                       const uint8_t *end, unsigned nesting)
{
    bool last = false;
    const uint8_t *found = find_boundary(boundary, at, end, &last);

    if (found == end) { /* no part: the body is one */
        give_rest(mail, at, end);
        return;
    }
    give_encoded(mail, at, found);
    while (!last && !unpack_is_over(mail->unpack)) {
        const uint8_t *begin = found + transfer_line(found, end);

        found = find_boundary(boundary, begin, end, &last);
        read_entity(mail, begin, found, nesting + 1);
    }
    if (found < end)
        give_rest(mail, found + transfer_line(found, end), end);
}

/* The text that a multipart/related shows: the first HTML, or else its last text. */
static const uint8_t *find_shown(const char *boundary, const uint8_t *at, const uint8_t *end)
{
    bool last = false;
    const uint8_t *found = find_boundary(boundary, at, end, &last), *shown = NULL;
    struct mail_head head;

    while (!last) {
        const uint8_t *const begin = found + transfer_line(found, end);

        found = find_boundary(boundary, begin, end, &last);
        const uint8_t *const body = mail_head_read(begin, found, &head);
        if (strncmp(head.type, "text/", 5) == 0)
            shown = body;
        if (strcmp(head.type, "text/html") == 0)
            break;
    }
    return shown;
}

/* ClamAV takes the first lines of a part that begins with an empty one for its head. What follows
 * is given, too. */
static void give_later_text(const struct mail *mail, const struct mail_head *head,
                            const uint8_t *body, const uint8_t *end, unsigned nesting)
{
    for (size_t n; body < end; body += n) {
        n = transfer_line(body, end);
        if (n == 1 || (n == 2 && *body == '\r')) {
            read_leaf(mail, head, body + n, end, nesting);
            return;
        }
    }
}

static void read_multipart(const struct mail *mail, const struct mail_head *head, const uint8_t *at,
                           const uint8_t *end, unsigned nesting)
{
    struct mail inner = *mail;

    inner.shown = NULL;
    if (unpack_wishes(mail->unpack)->wants_links && strcmp(head->type, "multipart/related") == 0)
        inner.shown = find_shown(head->boundary, at, end);
    read_parts(&inner, head->boundary, at, end, nesting);
}

static void read_entity(const struct mail *mail, const uint8_t *at, const uint8_t *end,
                        unsigned nesting)
{
    struct mail_head head;
    const uint8_t *body = mail_head_read(at, end, &head);

    if (nesting > NESTING_MAX)
        unpack_limited(mail->unpack, "MaxRecursion");
    else if (strncmp(head.type, "multipart/", 10) == 0 && head.has_boundary)
        read_multipart(mail, &head, body, end, nesting);
    else
        read_leaf(mail, &head, body, end, nesting);
    if (nesting > 0 && !head.any && body > at)
        give_later_text(mail, &head, body, end, nesting);
}

/* ---- mailboxes ------------------------------------------------------------------------------- */

/* A line "From " behind an empty one begins the next mail. */
static const uint8_t *next_mail(const uint8_t *at, const uint8_t *end)
{
    bool after_empty = false;

    for (size_t n; at < end; at += n) {
        n = transfer_line(at, end);
        if (after_empty && n > 5 && memcmp(at, "From ", 5) == 0)
            return at;
        after_empty = n == 1 || (n == 2 && at[0] == '\r');
    }
    return end;
}

void unpack_mail(struct unpack *unpack, const struct unpack_object *object)
{
    const uint8_t *at = object->bytes, *end = at + object->len;
    const bool is_box = object->len > 5 && memcmp(at, "From ", 5) == 0;
    const struct mail mail = {unpack, object, is_box, NULL};

    while (at < end && !unpack_is_over(unpack)) {
        const uint8_t *next = is_box ? next_mail(at, end) : end;

        read_entity(&mail, at, next, 0);
        at = next;
    }
}

void unpack_encoded(struct unpack *unpack, const struct unpack_object *object)
{
    const struct mail mail = {unpack, object, false, NULL};

    give_encoded(&mail, object->bytes, object->bytes + object->len);
}
