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
};

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

bool eve_metadata_sort(struct eve_metadata *metadata, const char *const *texts)
{
    size_t n_texts = 0;

    while (texts[n_texts] != NULL)
        n_texts++;
    if (!reserve(metadata, n_texts))
        return false;
    metadata->n = 0;
    for (size_t i = 0; i < n_texts; i++) {
        const char *key = texts[i] + strspn(texts[i], " \t");
        const size_t key_len = strcspn(key, " \t");
        const char *value = key + key_len + strspn(key + key_len, " \t");

        if (*value != '\0')
            metadata->entries[metadata->n++] = (struct eve_entry){key, key_len, value, i};
    }
    if (metadata->n != 0)
        qsort(metadata->entries, metadata->n, sizeof *metadata->entries, compare_entries);
    return true;
}

void eve_metadata_free(struct eve_metadata *metadata)
{
    free(metadata->entries);
}

static void put_key(struct line_sink *out, const struct eve_entry *entry)
{
    for (size_t i = 0; i < entry->key_len; i++) {
        const uint8_t byte = key_byte(entry->key[i]);

        line_bytes(out, &byte, 1);
    }
}

void eve_put_metadata(struct line_sink *out, const struct eve_metadata *metadata)
{
    const struct eve_entry *const first = metadata->entries, *const end = first + metadata->n;

    line_text(out, "{");
    for (const struct eve_entry *at = first; at < end; at++) {
        const bool opens = at == first || compare_keys(at - 1, at) != 0;
        const bool closes = at + 1 == end || compare_keys(at, at + 1) != 0;

        if (opens) {
            line_text(out, at == first ? "\"" : ",\"");
            put_key(out, at);
        }
        line_text(out, opens ? "\":[" : ",");
        eve_put_string(out, at->value, strlen(at->value));
        if (closes)
            line_text(out, "]");
    }
    line_text(out, "}");
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
