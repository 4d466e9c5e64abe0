/* SPDX-License-Identifier: MIT */
/* HTML in ClamAV's normal forms: one with tags and without comments, one with the text alone, and
 * the scripts. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/letters.h"
#include "unpack/html_entity.h"
#include "unpack/links.h"
#include "unpack/script.h"
#include "unpack/unpack.h"

enum { NAME_MAX_LEN = 32, DOT_LEN = 3 };

struct html {
    struct unpack *unpack;
    const struct unpack_object *object;
    const uint8_t *at, *end;
    struct unpack_buffer tags, text, scripts;
    bool tags_blank, text_blank;  /* no blank is wanted just now */
    unsigned n_high;              /* bytes above 0x7F that were the last ones of the text, */
    uint8_t high;                 /* and the one before this */
    bool in_value;                /* of an attribute */
    const uint8_t *behind_blanks; /* the place behind the last value with a blank */
    char name[NAME_MAX_LEN];      /* of the tag that is read */
    struct links *links;          /* NULL: the forms are wanted */
};

static void put_tag_byte(struct html *html, uint8_t byte)
{
    (void)unpack_buffer_add(&html->tags, &byte, 1);
    html->tags_blank = false;
}

static void put_text_byte(struct html *html, uint8_t byte)
{
    (void)unpack_buffer_add(&html->text, &byte, 1);
    html->text_blank = false;
}

static void put_text_blank(struct html *html)
{
    if (!html->text_blank)
        put_text_byte(html, ' ');
    html->text_blank = true;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void skip_blanks(struct html *html)
{
    while (html->at < html->end && is_blank(*html->at))
        html->at++;
}

static bool begins(const struct html *html, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(html->end - html->at) >= n && strncasecmp((const char *)html->at, text, n) == 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* An entity, or the "&" alone. */
static void read_entity(struct html *html)
{
    uint32_t value = 0;
    char text[16];
    const size_t n = html_entity(html->at, (size_t)(html->end - html->at), &value);

    put_text_blank(html);
    if (n == 0) {
        put_tag_byte(html, '&');
        html->at++;
        return;
    }
    html->at += n;
    if (value < 256) {
        put_tag_byte(html, letter_lower((uint8_t)value));
        return;
    }
    snprintf(text, sizeof text, "&#x%04x;", (unsigned)value);
    for (const char *c = text; *c != '\0'; c++)
        put_tag_byte(html, (uint8_t)*c);
}

/* Full stops of East Asia, which are dots in names of hosts. */
static bool is_dot(const uint8_t *at, const uint8_t *end)
{
    return end - at >= DOT_LEN &&
           (memcmp(at, "\xE3\x80\x82", DOT_LEN) == 0 || memcmp(at, "\xEF\xBC\x8E", DOT_LEN) == 0);
}

/* ClamAV's text has, for the last of up to three bytes above 0x7F, the one before it. */
static void put_text_high(struct html *html, uint8_t byte)
{
    const uint8_t *const next = html->at;
    const bool is_last = html->n_high == 2 || next == html->end || *next < 0x80;
    const uint8_t put = !is_last ? byte : html->n_high > 0 ? html->high : 0;

    (void)unpack_buffer_add(&html->text, &put, 1);
    html->high = byte;
    html->n_high = is_last ? 0 : html->n_high + 1;
}

static void read_text_byte(struct html *html)
{
    const uint8_t byte = *html->at;

    if (byte == '&') {
        read_entity(html);
        return;
    }
    if (html->n_high == 0 && is_dot(html->at, html->end)) {
        put_tag_byte(html, '.');
        put_text_byte(html, '.');
        html->at += DOT_LEN;
        return;
    }
    html->at++;
    if (is_blank(byte)) {
        if (!html->tags_blank)
            put_tag_byte(html, ' ');
        html->tags_blank = true;
        put_text_blank(html);
    } else if (byte >= 0x80) {
        put_tag_byte(html, byte);
        put_text_high(html, byte);
    } else if (byte != '\0') {
        put_tag_byte(html, html->in_value && byte == '\'' ? '"' : letter_lower(byte));
        if (byte > ' ' && byte < 0x7F)
            put_text_byte(html, letter_lower(byte));
        else
            put_text_blank(html);
    }
}

/* ---- tags ------------------------------------------------------------------------------------ */

/* A file in a link, "data:TYPE;base64,...": ClamAV makes a mail of it. */
static void give_data(struct html *html, const uint8_t *value, size_t len)
{
    static const char head[] = "From html-normalise\nContent-type: ";
    const uint8_t *comma = memchr(value, ',', len);
    struct unpack_buffer mail = {0};

    if (comma == NULL)
        return;
    unpack_buffer_init(html->unpack, &mail);
    (void)unpack_buffer_add(&mail, head, sizeof head - 1);
    (void)unpack_buffer_add(&mail, value + 5, (size_t)(comma - value) - 5);
    if (memmem(value, (size_t)(comma - value), ";base64", 7) != NULL)
        (void)unpack_buffer_add(&mail, "\nContent-transfer-encoding: base64", 34);
    (void)unpack_buffer_add(&mail, "\n\n", 2);
    (void)unpack_buffer_add(&mail, comma + 1, len - (size_t)(comma + 1 - value));
    (void)unpack_child_seen(html->unpack, html->object, mail.bytes, mail.len, KIND_MAIL, KIND_HTML);
    unpack_buffer_free(&mail);
}

/* Whether the text form has the value of this attribute: links and images. */
static bool is_link(const struct html *html, const char *attribute)
{
    return (strcmp(html->name, "a") == 0 && strcmp(attribute, "href") == 0) ||
           (strcmp(html->name, "img") == 0 && strcmp(attribute, "src") == 0);
}

static void put_value(struct html *html, const uint8_t *value, size_t len)
{
    enum { WORDS_MAX = 2 }; /* entities behind them are none, for ClamAV */
    unsigned n_words = 0;
    const uint8_t *const behind = html->at, *const end = html->end;
    const bool text_blank = html->text_blank;
    const size_t text_len = html->text.len;

    html->at = value;
    html->end = value + len;
    html->tags_blank = false;
    html->in_value = true;
    while (html->at < html->end) {
        n_words += is_blank(*html->at) && html->at > value && !is_blank(html->at[-1]);
        if (*html->at == '&' && n_words >= WORDS_MAX)
            put_tag_byte(html, *html->at++);
        else
            read_text_byte(html);
    }
    html->in_value = false;
    html->at = behind;
    html->end = end;
    html->text.len = text_len; /* that is the tags' form */
    html->text_blank = text_blank;
}

/* A link in the text form, whose letters and blanks stay. */
static void put_link(struct html *html, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint32_t value = *at;
        const size_t n = *at == '&' ? html_entity(at, (size_t)(end - at), &value) : 0;
        const bool dot = is_dot(at, end);

        put_text_byte(html, dot ? '.' : (uint8_t)value);
        at += n > 0 ? n : dot ? DOT_LEN : 1;
    }
}

static bool has_blank(const uint8_t *at, const uint8_t *end)
{
    while (at < end && !is_blank(*at))
        at++;
    return at < end;
}

static void read_value(struct html *html, const char *attribute)
{
    const uint8_t quote = html->at < html->end ? *html->at : 0;
    const bool quoted = quote == '"' || quote == '\'';
    const uint8_t *value = html->at + quoted, *end = value;

    while (end < html->end && (quoted ? *end != quote : !is_blank(*end) && *end != '>'))
        end++;
    html->at = end + (quoted && end < html->end);
    if (html->links != NULL) {
        links_attribute(html->links, attribute, value, (size_t)(end - value), quoted);
        return;
    }
    if (quoted)
        put_tag_byte(html, '"');
    if (end - value > 5 && strncasecmp((const char *)value, "data:", 5) == 0) {
        (void)unpack_buffer_add(&html->tags, "data", 4);
        give_data(html, value, (size_t)(end - value));
    } else {
        put_value(html, value, (size_t)(end - value));
        if (is_link(html, attribute)) {
            put_text_blank(html);
            put_link(html, value, end);
            put_text_blank(html);
        }
    }
    if (quoted && end < html->end)
        put_tag_byte(html, '"');
    html->behind_blanks = has_blank(value, end) ? html->at : NULL;
}

/* A name up to one of the stops. */
static void read_name(struct html *html, char name[NAME_MAX_LEN])
{
    size_t n = 0;

    while (html->at < html->end && !is_blank(*html->at) && *html->at != '>' && *html->at != '=') {
        const uint8_t byte = letter_lower(*html->at++);

        put_tag_byte(html, byte);
        if (n + 1 < NAME_MAX_LEN)
            name[n++] = (char)byte;
    }
    name[n] = '\0';
}

/* From behind "<" to behind ">". */
static void read_tag(struct html *html)
{
    char attribute[NAME_MAX_LEN] = "";

    put_tag_byte(html, '<');
    put_text_blank(html);
    skip_blanks(html);
    read_name(html, html->name);
    for (skip_blanks(html); html->at < html->end && *html->at != '>'; skip_blanks(html)) {
        /* ClamAV adds a blank behind values, but for those with a blank before "/>". */
        if (*html->at != '=' && !(*html->at == '/' && html->at == html->behind_blanks))
            put_tag_byte(html, ' ');
        read_name(html, attribute);
        skip_blanks(html);
        if (html->at < html->end && *html->at == '=') {
            html->at++;
            put_tag_byte(html, '=');
            skip_blanks(html);
            read_value(html, attribute);
        }
    }
    if (html->at < html->end) {
        html->at++;
        put_tag_byte(html, '>');
    }
    html->tags_blank = true;
    if (html->links != NULL)
        links_tag(html->links, html->name, html->at);
}

static void add_script(struct html *html, const uint8_t *from, const uint8_t *to)
{
    struct unpack_buffer *scripts = &html->scripts;

    if (scripts->len > 0)
        (void)unpack_buffer_add(scripts, "\n", 1);
    (void)unpack_buffer_add(scripts, "<script>", 8);
    if (!script_normalize(from, (size_t)(to - from), scripts))
        unpack_incomplete(html->unpack, html->object, "out of memory");
    (void)unpack_buffer_add(scripts, "</script>", 9);
}

/* A script or a style sheet, up to the tag that ends it: without blanks. */
static void read_script(struct html *html)
{
    char end_tag[NAME_MAX_LEN + 2];
    const uint8_t *const begin = html->at;

    snprintf(end_tag, sizeof end_tag, "</%.30s", html->name);
    while (html->at < html->end && !(*html->at == '<' && begins(html, end_tag))) {
        const uint8_t byte = *html->at++;

        if (!is_blank(byte) && byte != '\0')
            put_tag_byte(html, byte == '\'' ? '"' : letter_lower(byte));
    }
    html->tags_blank = true;
    if (html->links == NULL && strcmp(html->name, "script") == 0)
        add_script(html, begin, html->at);
}

static void skip_behind(struct html *html, const char *mark)
{
    const uint8_t *found = memmem(html->at, (size_t)(html->end - html->at), mark, strlen(mark));

    html->at = found != NULL ? found + strlen(mark) : html->end;
    html->tags_blank = true;
}

static void read_html(struct html *html)
{
    while (html->at < html->end && !unpack_is_over(html->unpack)) {
        if (*html->at == '<' && html->links != NULL)
            links_text_ends(html->links, html->at);
        if (*html->at != '<') {
            read_text_byte(html);
        } else if (begins(html, "<!")) { /* a comment, too, ends here for ClamAV */
            skip_behind(html, ">");
        } else {
            html->at++;
            read_tag(html);
            if (strcmp(html->name, "script") == 0 || strcmp(html->name, "style") == 0)
                read_script(html);
        }
    }
}

bool html_is_normalized(const struct unpack *unpack, const struct unpack_object *object)
{
    const struct unpack_request *wishes = unpack_wishes(unpack);

    return wishes->normalizes && (wishes->closed >> UNPACK_HTMLS & 1) == 0 &&
           unpack_is_allowed(object->len, wishes->limits.html_len_max);
}

static void init_forms(struct html *html)
{
    unpack_buffer_init(html->unpack, &html->tags);
    unpack_buffer_init(html->unpack, &html->text);
    unpack_buffer_init(html->unpack, &html->scripts);
}

static void free_forms(struct html *html)
{
    unpack_buffer_free(&html->scripts);
    unpack_buffer_free(&html->tags);
    unpack_buffer_free(&html->text);
}

void unpack_html(struct unpack *unpack, const struct unpack_object *object)
{
    struct html html = {.unpack = unpack,
                        .object = object,
                        .at = object->bytes,
                        .end = object->bytes + object->len,
                        .tags_blank = true};

    if (!html_is_normalized(unpack, object))
        return;
    init_forms(&html);
    read_html(&html);
    html.tags.len -= html.tags.len > 0 && html.tags.bytes[html.tags.len - 1] == ' ';
    (void)unpack_form(unpack, object, html.tags.bytes, html.tags.len, KIND_HTML);
    if (unpack_is_allowed(object->len, unpack_wishes(unpack)->limits.html_text_len_max))
        (void)unpack_form(unpack, object, html.text.bytes, html.text.len, KIND_HTML);
    (void)unpack_form(unpack, object, html.scripts.bytes, html.scripts.len, KIND_HTML);
    (void)unpack_form(unpack, object, html.scripts.bytes, html.scripts.len, KIND_TEXT_ASCII);
    free_forms(&html);
}

/* ---- links ----------------------------------------------------------------------------------- */

void html_read_links(struct unpack *unpack, const struct unpack_object *object)
{
    struct links links;
    struct html html = {.unpack = unpack,
                        .object = object,
                        .at = object->bytes,
                        .end = object->bytes + object->len,
                        .links = &links};

    links_begin(&links, unpack, object);
    init_forms(&html);
    read_html(&html);
    links_end(&links, html.at);
    free_forms(&html);
}
