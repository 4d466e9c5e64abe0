/* SPDX-License-Identifier: MIT */
#include "clamav/set.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "clamav/md5.h"
#include "clamav/signature.h"

enum { CHAIN_HEADS = 1 << 16 };

const uint32_t clam_record_len[CLAM_ARRAYS] = {
    [CLAM_A_TEXT] = 1,
    [CLAM_A_BYTES] = 1,
    [CLAM_A_ALTS] = sizeof(struct clam_alt),
    [CLAM_A_ELEMS] = sizeof(struct clam_elem),
    [CLAM_A_SEGS] = sizeof(struct clam_seg),
    [CLAM_A_PATTERNS] = sizeof(struct clam_pattern),
    [CLAM_A_VARIANTS] = sizeof(uint32_t),
    [CLAM_A_SUBS] = sizeof(struct clam_sub),
    [CLAM_A_PCRES] = sizeof(struct clam_pcre),
    [CLAM_A_NODES] = sizeof(struct clam_node),
    [CLAM_A_DEMANDS] = sizeof(struct clam_demand),
    [CLAM_A_SIGS] = sizeof(struct clam_sig),
    [CLAM_A_MEMBERS] = sizeof(struct clam_member),
    [CLAM_A_PASSWORDS] = 1,
    [CLAM_A_CERTIFICATES] = sizeof(struct clam_certificate),
    [CLAM_A_PROTECTED] = sizeof(struct clam_domain),
    [CLAM_A_HARMLESS] = sizeof(struct clam_domain),
    [CLAM_A_ANCHORED] = sizeof(uint32_t),
    [CLAM_A_LITERALS] = sizeof(uint32_t),
    [CLAM_A_USES] = sizeof(struct clam_use),
    [CLAM_A_FIXED] = sizeof(uint32_t),
    [CLAM_A_SEARCHED] = sizeof(uint32_t),
    [CLAM_A_HASHES] = 1,
    [CLAM_A_MPM] = 1,
};

/* ---- memory ---------------------------------------------------------------------------------- */

void *clam_grow(struct clam_records *records, size_t record_len, size_t n)
{
    if (n > UINT32_MAX - 1 - records->n) /* indices are 32 bits */
        return NULL;
    if (records->n + n > records->cap) {
        size_t cap = records->cap < 64 ? 64 : records->cap * 2;

        if (cap < records->n + n)
            cap = records->n + n;
        void *at = realloc(records->at, cap * record_len);
        if (at == NULL)
            return NULL;
        records->at = at;
        records->cap = cap;
    }

    uint8_t *room = (uint8_t *)records->at + records->n * record_len;
    memset(room, 0, n * record_len);
    records->n += n;
    return room;
}

void *clam_push(struct sl_clamav_set *set, enum clam_array array, size_t n, uint32_t *index)
{
    *index = clam_count(set, array);
    return clam_grow(&set->records[array], clam_record_len[array], n);
}

static bool chains_open(struct clam_chains *chains)
{
    chains->heads = malloc(CHAIN_HEADS * sizeof *chains->heads);
    if (chains->heads != NULL)
        memset(chains->heads, 0xFF, CHAIN_HEADS * sizeof *chains->heads);
    return chains->heads != NULL;
}

static void chains_close(struct clam_chains *chains)
{
    free(chains->heads);
    free(chains->entries.at);
    *chains = (struct clam_chains){0};
}

void clam_set_end(struct sl_clamav_set *set)
{
    chains_close(&set->bodies);
    chains_close(&set->expressions);
    free(set->trees.at);
    set->trees = (struct clam_records){0};
}

enum sl_status sl_clamav_set_create(struct sl_clamav_set **set, struct sl_diag *diag)
{
    struct sl_clamav_set *made = calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    made->shown = calloc(1, sizeof *made->shown);
    if (!chains_open(&made->bodies) || !chains_open(&made->expressions) || made->shown == NULL) {
        sl_clamav_set_free(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    made->md5_is_refused = clam_md5_is_refused();
    made->header_key = &clam_header_key;
    made->list_key = &clam_list_key;
    *set = made;
    return SL_OK;
}

void sl_clamav_set_detect_pua(struct sl_clamav_set *set, const struct sl_clamav_pua *pua)
{
    set->pua = pua;
}

static void free_notes(struct clam_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->at[i].text);
    free(notes->at);
}

void sl_clamav_set_free(struct sl_clamav_set *set)
{
    if (set == NULL)
        return;
    for (int i = 0; i < CLAM_A_READ; i++)
        free(set->records[i].at);
    for (size_t i = 0; i < set->ignores.n; i++)
        free(((struct clam_ignore *)set->ignores.at)[i].name);
    for (size_t i = 0; i < set->n_reasons; i++)
        free(set->reasons[i].text);
    for (size_t i = 0; i < set->n_files; i++)
        free(set->files[i]);
    free_notes(&set->bad);
    free_notes(&set->skipped);
    free(set->reasons);
    free(set->files);
    free(set->ignores.at);
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        free(set->hashes[i / CLAM_HASHES][i % CLAM_HASHES].at);
    clam_set_end(set);
    free(set->shown);
    free(set);
}

/* ---- omitted lines --------------------------------------------------------------------------- */

enum clam_taken clam_bad(struct sl_clamav_set *set, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(set->why, sizeof set->why, format, args);
    va_end(args);
    return CLAM_BAD;
}

enum clam_taken clam_skip(struct sl_clamav_set *set, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(set->why, sizeof set->why, format, args);
    va_end(args);
    return CLAM_SKIPPED;
}

static bool note(struct sl_clamav_set *set, struct clam_notes *notes, const char *text)
{
    if (notes->n == notes->cap) {
        const size_t cap = notes->cap < 64 ? 64 : notes->cap * 2;
        struct clam_note *at = realloc(notes->at, cap * sizeof *at);

        if (at == NULL)
            return false;
        notes->at = at;
        notes->cap = cap;
    }

    char *copy = strdup(text);
    if (copy == NULL)
        return false;
    notes->at[notes->n++] = (struct clam_note){(uint32_t)set->n_files - 1, set->line, copy};
    return true;
}

static bool count_reason(struct sl_clamav_set *set)
{
    for (size_t i = 0; i < set->n_reasons; i++)
        if (strcmp(set->reasons[i].text, set->why) == 0) {
            set->reasons[i].n++;
            return true;
        }

    struct clam_reason *more = realloc(set->reasons, (set->n_reasons + 1) * sizeof *more);
    if (more == NULL)
        return false;
    set->reasons = more;
    more[set->n_reasons].text = strdup(set->why);
    more[set->n_reasons].n = 1;
    if (more[set->n_reasons].text == NULL)
        return false;
    set->n_reasons++;
    return true;
}

bool clam_note(struct sl_clamav_set *set, enum clam_taken taken, struct clam_text name)
{
    char text[512];

    if (taken == CLAM_BAD)
        return note(set, &set->bad, set->why);
    snprintf(text, sizeof text, "%.*s: %s", (int)name.len, name.at, set->why);
    return count_reason(set) && note(set, &set->skipped, text);
}

/* ---- lines and files ------------------------------------------------------------------------- */

void clam_mark_take(const struct sl_clamav_set *set, struct clam_mark *mark)
{
    for (int i = 0; i < CLAM_A_READ; i++)
        mark->n[i] = set->records[i].n;
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        mark->hashes[i / CLAM_HASHES][i % CLAM_HASHES] =
            set->hashes[i / CLAM_HASHES][i % CLAM_HASHES].n;
    mark->trees = set->trees.n;
}

struct clam_chain {
    uint64_t key[2];
    uint32_t next;
};

/* Drops all texts from number n on. */
static void chains_cut(struct clam_chains *chains, size_t n)
{
    const struct clam_chain *entries = (const struct clam_chain *)chains->entries.at;

    /* The last one of a chain is its head. */
    while (chains->entries.n > n) {
        const struct clam_chain *last = &entries[--chains->entries.n];

        chains->heads[last->key[0] % CHAIN_HEADS] = last->next;
    }
}

void clam_mark_restore(struct sl_clamav_set *set, const struct clam_mark *mark)
{
    chains_cut(&set->bodies, mark->n[CLAM_A_PATTERNS]);
    chains_cut(&set->expressions, mark->trees);
    set->trees.n = mark->trees;
    for (int i = 0; i < CLAM_A_READ; i++)
        set->records[i].n = mark->n[i];
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        set->hashes[i / CLAM_HASHES][i % CLAM_HASHES].n =
            mark->hashes[i / CLAM_HASHES][i % CLAM_HASHES];
}

uint32_t clam_chain_find(const struct clam_chains *chains, const uint64_t key[2])
{
    const struct clam_chain *entries = (const struct clam_chain *)chains->entries.at;
    uint32_t i = chains->heads[key[0] % CHAIN_HEADS];

    while (i != CLAM_NONE && (entries[i].key[0] != key[0] || entries[i].key[1] != key[1]))
        i = entries[i].next;
    return i;
}

bool clam_chain_add(struct clam_chains *chains, const uint64_t key[2])
{
    struct clam_chain *chain = clam_grow(&chains->entries, sizeof *chain, 1);
    uint32_t *head = &chains->heads[key[0] % CHAIN_HEADS];

    if (chain == NULL)
        return false;
    *chain = (struct clam_chain){{key[0], key[1]}, *head};
    *head = (uint32_t)chains->entries.n - 1;
    return true;
}

bool clam_set_add_file(struct sl_clamav_set *set, const char *name)
{
    char **more = realloc(set->files, (set->n_files + 1) * sizeof *more);

    if (more == NULL)
        return false;
    set->files = more;
    more[set->n_files] = strdup(name);
    if (more[set->n_files] == NULL)
        return false;
    set->n_files++;
    return true;
}

/* ---- the report ------------------------------------------------------------------------------ */

void sl_clamav_set_count(const struct sl_clamav_set *set, struct sl_clamav_count *count)
{
    memset(count, 0, sizeof *count);
    count->allowed = set->n_allowed;
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        count->hashes += set->hashes[i / CLAM_HASHES][i % CLAM_HASHES].n;
    count->hashes -= set->n_allowed;
    count->signatures = clam_count(set, CLAM_A_SIGS) + clam_count(set, CLAM_A_MEMBERS) +
                        clam_count(set, CLAM_A_PROTECTED) + count->hashes;
    count->bad = set->bad.n;
    count->skipped = set->skipped.n;
    count->files = set->n_files;
    count->unchecked = set->n_unchecked;
}

bool sl_clamav_skip_reason(const struct sl_clamav_set *set, size_t i, const char **reason,
                           size_t *n)
{
    if (i >= set->n_reasons)
        return false;
    *reason = set->reasons[i].text;
    *n = set->reasons[i].n;
    return true;
}

static const struct sl_diag *show(const struct sl_clamav_set *set, const struct clam_notes *notes,
                                  size_t i)
{
    if (i >= notes->n)
        return NULL;
    diag_set(set->shown, SL_EFORMAT, set->files[notes->at[i].file], notes->at[i].line, "%s",
             notes->at[i].text);
    return set->shown;
}

const struct sl_diag *sl_clamav_skipped(const struct sl_clamav_set *set, size_t i)
{
    return show(set, &set->skipped, i);
}

const struct sl_diag *sl_clamav_bad_line(const struct sl_clamav_set *set, size_t i)
{
    return show(set, &set->bad, i);
}

/* ---- text ------------------------------------------------------------------------------------ */

bool clam_text_is(struct clam_text text, const char *word)
{
    return strlen(word) == text.len && memcmp(text.at, word, text.len) == 0;
}

bool clam_text_number(struct clam_text text, uint64_t max, uint64_t *value)
{
    uint64_t number = 0;

    *value = 0;
    if (text.len == 0 || text.len > 19)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.at[i] - '0');
    }
    *value = number;
    return number <= max;
}

bool clam_text_cut(struct clam_text *rest, char end, struct clam_text *before)
{
    const char *found = rest->len > 0 ? memchr(rest->at, end, rest->len) : NULL;
    const struct clam_text all = *rest;

    if (found == NULL) {
        *before = all;
        rest->at += all.len;
        rest->len = 0;
        return false;
    }
    before->at = all.at;
    before->len = (size_t)(found - all.at);
    rest->at = found + 1;
    rest->len = all.len - before->len - 1;
    return true;
}

bool clam_text_u32(struct clam_text text, size_t from, uint32_t *value)
{
    uint64_t number;

    if (from > text.len)
        return false;
    text.at += from;
    text.len -= from;
    if (!clam_text_number(text, INT32_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}
