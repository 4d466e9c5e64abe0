/* SPDX-License-Identifier: MIT */
#include "eve_lists.h"

#include <ctype.h>
#include <stdlib.h>

#include "eve_text.h"

/* ---- metadata -------------------------------------------------------------------------------- */

struct eve_entry {
    const char *key;
    size_t key_len;
    const char *value;
    size_t order; /* in the rule */
    bool opens;   /* it is the first of its key */
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The character for a byte of a metadata key. Keys that become equal are one key, so that an object
 * has no key twice. */
static uint8_t key_byte(char byte)
{
    return eve_is_plain((uint8_t)byte) ? (uint8_t)byte : '_';
}

static int compare_keys(const struct eve_entry *a, const struct eve_entry *b)
{
    for (size_t i = 0; i < a->key_len && i < b->key_len; i++) {
        const int difference = tolower(key_byte(a->key[i])) - tolower(key_byte(b->key[i]));

        if (difference != 0)
            return difference;
    }
    return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int compare_entries(const void *a, const void *b)
{
    const struct eve_entry *left = a, *right = b;
    const int keys = compare_keys(left, right);

    return keys != 0 ? keys : (left->order > right->order) - (left->order < right->order);
}

/* Makes room for n entries. */
static bool reserve(struct eve_metadata *metadata, size_t n)
{
    if (n <= metadata->cap)
        return true;

    struct eve_entry *grown = reallocarray(metadata->entries, n, sizeof *grown);
    if (grown == NULL)
        return false;
    metadata->entries = grown;
    metadata->cap = n;
    return true;
}

/* "key value"; value "": there is none. */
static struct eve_entry split(const char *text, size_t order)
{
    struct eve_entry entry = {.order = order};

    while (is_blank(*text))
        text++;
    entry.key = text;
    while (*text != '\0' && !is_blank(*text))
        text++;
    entry.key_len = (size_t)(text - entry.key);
    while (is_blank(*text))
        text++;
    entry.value = text;
    return entry;
}

/* Notes where keys begin. Returns whether they ascend. */
static bool note_keys(struct eve_metadata *metadata)
{
    bool ascend = true;

    for (size_t i = 0; i < metadata->n; i++) {
        struct eve_entry *entry = &metadata->entries[i];
        const int order = i == 0 ? -1 : compare_keys(entry - 1, entry);

        entry->opens = order != 0;
        ascend = ascend && order <= 0;
    }
    return ascend;
}

bool eve_metadata_sort(struct eve_metadata *metadata, const char *const *texts)
{
    size_t n_texts = 0;

    while (texts[n_texts] != NULL)
        n_texts++;
    if (!reserve(metadata, n_texts))
        return false;
    metadata->n = 0;
    for (size_t i = 0; i < n_texts; i++) {
        metadata->entries[metadata->n] = split(texts[i], i);
        metadata->n += *metadata->entries[metadata->n].value != '\0';
    }
    if (!note_keys(metadata)) { /* in most rules they do */
        qsort(metadata->entries, metadata->n, sizeof *metadata->entries, compare_entries);
        (void)note_keys(metadata);
    }
    return true;
}

void eve_metadata_free(struct eve_metadata *metadata)
{
    free(metadata->entries);
}

static void put_key(struct line_sink *out, const struct eve_entry *entry)
{
    if (eve_are_plain(entry->key, entry->key_len)) {
        line_bytes(out, entry->key, entry->key_len);
        return;
    }
    for (size_t i = 0; i < entry->key_len; i++) {
        const uint8_t byte = key_byte(entry->key[i]);

        line_bytes(out, &byte, 1);
    }
}

void eve_put_metadata(struct line_sink *out, const struct eve_metadata *metadata)
{
    for (size_t i = 0; i < metadata->n; i++) {
        const struct eve_entry *const entry = &metadata->entries[i];

        if (entry->opens) {
            line_text(out, i == 0 ? "{\"" : "],\"");
            put_key(out, entry);
        }
        line_text(out, entry->opens ? "\":[" : ",");
        eve_put_string(out, entry->value, strlen(entry->value));
    }
    line_text(out, "]}");
}

/* ---- values of names ------------------------------------------------------------------------- */

static bool is_json_number(const char *text)
{
    const size_t len = strspn(text, "0123456789");

    return len != 0 && text[len] == '\0' && (len == 1 || text[0] != '0');
}

/* {"hop":"262","cost":10} of "262 10", or a port alone. */
static void put_hop(struct line_sink *out, const char *value)
{
    const char *blank = strchr(value, ' ');
    const bool cost = blank != NULL && is_json_number(blank + 1);

    line_text(out, "{\"hop\":");
    eve_put_string(out, value, cost ? (size_t)(blank - value) : strlen(value));
    if (cost) {
        line_text(out, ",\"cost\":");
        line_text(out, blank + 1);
    }
    line_text(out, "}");
}

void eve_put_hops(struct line_sink *out, const char *const *hops)
{
    for (const char *before = "["; *hops != NULL; hops++, before = ",") {
        line_text(out, before);
        put_hop(out, *hops);
    }
    line_text(out, "]");
}

void eve_put_texts(struct line_sink *out, const char *const *texts)
{
    for (const char *before = "["; *texts != NULL; texts++, before = ",") {
        line_text(out, before);
        eve_put_string(out, *texts, strlen(*texts));
    }
    line_text(out, "]");
}
