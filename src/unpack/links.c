/* SPDX-License-Identifier: MIT */
#include "unpack/links.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "unpack/html_entity.h"

enum { HREF, SRC, DYNSRC, TITLE, ACTION };

enum { GIVEN_LEN = 32 << 10 /* bytes of records that are given at once */ };

static const char *const attributes[LINK_ATTRIBUTES] = {"href", "src", "dynsrc", "title", "action"};

/* ---- texts ----------------------------------------------------------------------------------- */

static void put(struct link_text *text, uint32_t byte)
{
    if (text->len < LINK_LEN_MAX)
        text->bytes[text->len++] = (char)byte;
    text->bytes[text->len] = '\0';
}

/* The full stops of East Asia are dots in names of hosts. False: `next` is a part of one. */
static bool put_high(struct link_text *text, uint8_t next)
{
    const uint32_t high = text->high;
    const bool is_pair = high == 0xA1 && (next == 'C' || next == 'D' || next == 'O');

    text->high = 0;
    if (is_pair || high == 0xE38082 || high == 0xEFBC8E || high == 0xEFB992) {
        put(text, '.');
        return !is_pair;
    }
    if (high > 0xFFFF)
        put(text, high >> 16);
    if (high > 0xFF)
        put(text, high >> 8 & 0xFF);
    put(text, high & 0xFF);
    return true;
}

static void put_byte(struct link_text *text, uint8_t byte)
{
    if (text->high != 0 && (byte < 0x80 || text->high > 0xFFFF) && !put_high(text, byte))
        return;
    if (byte >= 0x80)
        text->high = text->high << 8 | byte;
    else
        put(text, byte);
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* An entity, or "&" and what looks like a name, in lower case. Returns its length. */
static size_t put_entity(struct link_text *text, const uint8_t *at, size_t len)
{
    uint32_t value;
    size_t n = html_entity(at, len, &value);
    char code[16];

    if (n > 0 && (value < 0xFF || at[1] == '#')) {
        put(text, value & 0xFF);
    } else if (n > 0 && (value == 0x3002 || value == 0xFF0E || value == 0xFE52)) {
        put(text, '.');
    } else if (n > 0) {
        snprintf(code, sizeof code, "&#x%04x;", (unsigned)(value & 0xFFFF));
        for (const char *c = code; *c != '\0'; c++)
            put(text, (uint8_t)*c);
    } else {
        put(text, '&');
        for (n = 1; n < len && (isalnum(at[n]) || strchr("_:-", at[n]) != NULL) && at[n] != 0; n++)
            put(text, (uint8_t)tolower(at[n]));
    }
    return n;
}

void links_attribute(struct links *links, const char *name, const uint8_t *value, size_t len,
                     bool quoted)
{
    enum { GAPS_MAX = 2 }; /* at the second one, the value ends for ClamAV */
    const uint8_t *const end = value + len;
    int i = 0, n_gaps = 0;

    while (i < LINK_ATTRIBUTES && strcmp(name, attributes[i]) != 0)
        i++;
    if (i == LINK_ATTRIBUTES || links->values[i].there)
        return;
    struct link_text *const text = &links->values[i];
    *text = (struct link_text){.high = links->high, .there = true};
    while (value < end && n_gaps < GAPS_MAX) {
        if (*value == '&') {
            value += put_entity(text, value, (size_t)(end - value));
        } else if (is_blank(*value) || *value == '>') {
            if (++n_gaps < GAPS_MAX)
                put(text, *value == '>' ? '>' : ' ');
            for (value++; value < end && is_blank(*value);)
                value++;
        } else {
            put_byte(text, *value++);
        }
    }
    links->high = text->high;
    /* ClamAV counts the quotes, and takes the last byte for one. */
    size_t len_max = quoted ? LINK_LEN_MAX - 2 : LINK_LEN_MAX;
    if (quoted && n_gaps == GAPS_MAX && text->len > 0 && text->len <= len_max)
        len_max = text->len - 1;
    if (text->len > len_max)
        text->len = len_max;
    text->bytes[text->len] = '\0';
}

/* ---- records --------------------------------------------------------------------------------- */

static void give(struct links *links)
{
    unpack_links(links->unpack, links->found.bytes, links->found.len);
    links->found.len = 0;
}

/* The texts end at their first NUL. */
static void add(struct links *links, enum unpack_link kind, const char *real, const char *shown)
{
    const uint8_t byte = (uint8_t)kind;
    struct unpack_buffer *const to =
        links->link.there && kind != UNPACK_LINK_TEXT ? &links->held : &links->found;

    (void)unpack_buffer_add(to, &byte, 1);
    (void)unpack_buffer_add(to, real, strlen(real) + 1);
    (void)unpack_buffer_add(to, shown, strlen(shown) + 1);
    if (links->found.len >= GIVEN_LEN)
        give(links);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static void end_link(struct links *links)
{
    if (!links->link.there)
        return;
    add(links, UNPACK_LINK_TEXT, links->link.bytes, links->shown.bytes);
    links->link.there = false;
    (void)unpack_buffer_add(&links->found, links->held.bytes, links->held.len);
    links->held.len = 0;
    links->shown = (struct link_text){.len = 0};
}

/* A picture, or a frame, is what is shown of the link around it. Where a form is around, it is what
 * is shown of the form's, and the text of the link begins anew. */
static void add_shown(struct links *links, int attribute, enum unpack_link kind)
{
    const struct link_text *const value = &links->values[attribute];

    if (!value->there || value->bytes[0] == '\0')
        return;
    links->n++;
    if (links->link.there)
        add(links, kind, links->link.bytes, value->bytes);
    if (links->form.there) {
        add(links, UNPACK_LINK_OTHER, links->form.bytes, value->bytes);
        links->shown = (struct link_text){.len = 0};
    }
}

static void begin_link(struct links *links, const uint8_t *behind)
{
    const struct link_text *const href = &links->values[HREF];

    if (!href->there || href->bytes[0] == '\0')
        return;
    end_link(links);
    if (links->values[TITLE].there)
        add(links, UNPACK_LINK_OTHER, href->bytes, links->values[TITLE].bytes);
    if (links->form.there)
        add(links, UNPACK_LINK_OTHER, links->form.bytes, href->bytes);
    links->n++;
    links->link = *href;
    links->shown = (struct link_text){.len = 0};
    links->text = behind;
}

void links_text_ends(struct links *links, const uint8_t *at)
{
    if (links->link.there && links->text != NULL) {
        while (links->text < at)
            put_byte(&links->shown, *links->text++);
        links->shown.high = 0;
    }
    links->text = NULL;
}

static void take_tag(struct links *links, const char *name, const uint8_t *behind)
{
    if (strcmp(name, "/a") == 0) {
        end_link(links);
    } else if (strcmp(name, "/form") == 0) {
        links->form.there = false;
    } else if (strcmp(name, "a") == 0) {
        begin_link(links, behind);
    } else if (strcmp(name, "form") == 0 && links->values[ACTION].there) {
        links->form = links->values[ACTION];
    } else if (strcmp(name, "img") == 0) {
        add_shown(links, SRC, UNPACK_LINK_IMAGE);
        add_shown(links, DYNSRC, UNPACK_LINK_OTHER);
    } else if (strcmp(name, "iframe") == 0) {
        add_shown(links, SRC, UNPACK_LINK_OTHER);
    } else if (strcmp(name, "area") == 0) {
        add_shown(links, HREF, UNPACK_LINK_OTHER);
    }
}

void links_tag(struct links *links, const char *name, const uint8_t *behind)
{
    const bool is_script = strcmp(name, "script") == 0 || strcmp(name, "style") == 0;

    if (!is_script && links->link.there)
        links->text = behind;
    take_tag(links, name, behind);
    for (int i = 0; i < LINK_ATTRIBUTES; i++)
        links->values[i].there = false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void links_begin(struct links *links, struct unpack *unpack, const struct unpack_object *object)
{
    memset(links, 0, sizeof *links);
    links->unpack = unpack;
    links->object = object;
    unpack_buffer_init(unpack, &links->found);
    unpack_buffer_init(unpack, &links->held);
}

/* Whether an address begins here for ClamAV, which misses "https:". */
static bool begins_address(const uint8_t *at)
{
    const char *const text = (const char *)at;

    return strncasecmp(text, "ftp:", 4) == 0 ||
           (strncasecmp(text, "http", 4) == 0 && (at[4] == ':' || (at[5] == 's' && at[6] == ':')));
}

/* Addresses in a text. Nothing is shown for them. */
static void read_text(struct links *links, const uint8_t *at, const uint8_t *end)
{
    enum { BEHIND_LEN = 10 /* bytes behind an address's first one */ };

    for (; end - at > BEHIND_LEN && !unpack_is_over(links->unpack); at++) {
        struct link_text address = {.len = 0};

        if (!begins_address(at))
            continue;
        while (at < end && address.len < LINK_LEN_MAX - 1 && *at != ' ' && *at != '\n' &&
               *at != '\t')
            put(&address, *at++);
        add(links, UNPACK_LINK_OTHER, address.bytes, "");
    }
}

void links_end(struct links *links, const uint8_t *end)
{
    links_text_ends(links, end);
    end_link(links);
    if (links->n == 0)
        read_text(links, links->object->bytes, end);
    if (links->found.len > 0)
        give(links);
    unpack_buffer_free(&links->found);
    unpack_buffer_free(&links->held);
}
