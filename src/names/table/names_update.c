/* SPDX-License-Identifier: MIT */
/* Updates while look-ups go on: changed nodes go to the index in groups, old nodes are retired. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"
#include "names_internal.h"

enum {
    PENDING_MAX = 512, /* updates given to the engine at once */
    PENDING_BYTES = 64 * 1024,
    PENDING_SLOTS = 2048
};

struct pending {
    struct sl_fib_update updates[PENDING_MAX];
    uint32_t old[PENDING_MAX];
    uint32_t n;
    uint8_t bytes[PENDING_BYTES];
    uint32_t bytes_len;
    uint32_t hash[PENDING_SLOTS]; /* of the names that updates were asked for, | 1; 0: free */
    uint32_t n_hashes;
};

/* Frees what readers can no longer hold. */
static void reclaim(struct sl_names *names)
{
    const uint64_t oldest = names_oldest_epoch(names);
    size_t n = 0;

    while (n < names->n_retired && names->retired[n].epoch <= oldest &&
           names->retired[n].epoch != NAMES_UNPUBLISHED)
        names_node_free(names, names->retired[n++].node);
    if (n == 0) /* nor is there an array before the first update */
        return;
    names->n_retired -= n;
    memmove(names->retired, names->retired + n, names->n_retired * sizeof *names->retired);
}

static bool make_room(struct sl_names *names, size_t more)
{
    if (names->n_retired + more <= names->max_retired)
        return true;
    const size_t max = (names->n_retired + more) * 2;
    struct names_retired *retired = realloc(names->retired, max * sizeof *retired);
    if (retired == NULL)
        return false;
    names->retired = retired;
    names->max_retired = max;
    return true;
}

/* Gives the engine what is pending, and retires the nodes that went. */
static enum sl_status flush(struct sl_names *names, struct pending *pending, struct sl_diag *diag)
{
    size_t n_applied = 0;

    pending->n_hashes = 0;
    memset(pending->hash, 0, sizeof pending->hash);
    if (pending->n == 0)
        return SL_OK;
    if (!make_room(names, pending->n))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    const enum sl_status status =
        sl_fib_apply(names->fib, pending->updates, pending->n, &n_applied, diag);
    uint64_t epoch = atomic_fetch_add(&names->epoch, 1) + 1;
    /* A reader that is counted from now on takes its copy behind what was applied. */
    if (atomic_load(&names->n_gpu_readers) != 0)
        epoch = NAMES_UNPUBLISHED;
    for (size_t i = 0; i < n_applied; i++)
        if (pending->old[i] != NODE_NONE)
            names->retired[names->n_retired++] = (struct names_retired){pending->old[i], epoch};
    reclaim(names);
    pending->n = 0;
    pending->bytes_len = 0;
    return status;
}

/* GPU copies follow where there are any: readers there then see what is retired no more. */
static enum sl_status publish(struct sl_names *names, struct sl_diag *diag)
{
    const enum sl_status status = sl_fib_publish(names->fib, diag);
    uint64_t epoch = NAMES_UNPUBLISHED;

    for (size_t i = 0; i < names->n_retired && status == SL_OK; i++) {
        if (names->retired[i].epoch != NAMES_UNPUBLISHED)
            continue;
        if (epoch == NAMES_UNPUBLISHED)
            epoch = atomic_fetch_add(&names->epoch, 1) + 1;
        names->retired[i].epoch = epoch;
    }
    reclaim(names);
    return status;
}

/* Whether an update of this name may be pending; if not, it is from now on. */
static bool is_pending(struct pending *pending, const struct sl_name *name)
{
    const uint32_t hash = (uint32_t)XXH3_64bits(name->bytes, name->len) | 1;
    uint32_t at = (hash >> 1) & (PENDING_SLOTS - 1);

    for (; pending->hash[at] != 0; at = (at + 1) & (PENDING_SLOTS - 1))
        if (pending->hash[at] == hash)
            return true;
    pending->hash[at] = hash;
    pending->n_hashes++;
    return false;
}

static void add_pending(struct pending *pending, const struct sl_name *name, uint32_t old,
                        uint32_t node)
{
    uint8_t *bytes = pending->bytes + pending->bytes_len;

    if (name->len != 0)
        memcpy(bytes, name->bytes, name->len);
    pending->bytes_len += name->len;
    pending->old[pending->n] = old;
    pending->updates[pending->n++] =
        (struct sl_fib_update){.entry = {.name = bytes, .name_len = name->len, .next_hop = node},
                               .verb = old == NODE_NONE    ? SL_FIB_INSERT
                                       : node == NODE_NONE ? SL_FIB_DELETE
                                                           : SL_FIB_CHANGE};
}

/* One rule of an update: its name's node is as the engine has it, for nothing of that name is
 * pending. */
static enum sl_status update_rule(struct sl_names *names, struct pending *pending,
                                  const struct list_rule *rule, bool add, uint32_t list,
                                  uint32_t line, struct sl_names_updated *updated,
                                  struct sl_diag *diag)
{
    if (pending->n_hashes == PENDING_MAX ||
        sizeof pending->bytes - pending->bytes_len < rule->name.len ||
        is_pending(pending, &rule->name)) {
        const enum sl_status status = flush(names, pending, diag);
        if (status != SL_OK)
            return status;
        (void)is_pending(pending, &rule->name);
    }
    const uint32_t old = sl_fib_find(names->fib, rule->name.bytes, rule->name.len).next_hop;
    uint32_t node = old;
    switch (add ? names_node_add(names, &node, list, line, rule)
                : names_node_remove(names, &node, rule)) {
    case NAMES_CHANGED:
        add_pending(pending, &rule->name, old, node);
        ++*(add ? &updated->added : &updated->removed);
        return SL_OK;
    case NAMES_SAME:
        ++*(add ? &names->n_repeated : &updated->absent);
        return SL_OK;
    case NAMES_FULL:
        updated->skipped++;
        if (names_ignore(names, list, line, names_too_many_rules, true))
            return SL_OK;
        break;
    case NAMES_NO_MEMORY:
        break;
    }
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
}

static enum sl_status update_line(struct sl_names *names, struct pending *pending,
                                  struct list_parse *parse, const char *text, size_t len,
                                  uint32_t list, uint32_t number, struct sl_names_updated *updated,
                                  struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    const char *why = "neither '+' nor '-' at the beginning";
    const bool add = text[0] == '+';
    bool skipped = false;

    names->n_lines++;
    if (add || text[0] == '-') {
        parse->removing = !add;
        why = list_parse_line(parse, text + 1, len - 1);
        if (why == NULL && parse->n_rules == 0)
            why = "no rule behind the sign";
        skipped = parse->skipped;
    }
    if (why != NULL) {
        ++*(skipped ? &updated->skipped : &updated->ignored);
        return names_ignore(names, list, number, why, skipped)
                   ? SL_OK
                   : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    }
    names->n_rules++;
    updated->rules++;
    for (uint32_t i = 0; status == SL_OK && i < parse->n_rules; i++)
        status = update_rule(names, pending, &parse->rules[i], add, list, number, updated, diag);
    return status;
}

/* The list of this label, made where there is none of it. */
static enum sl_status update_list(struct sl_names *names, const char *label, const char *format,
                                  uint32_t *index, struct sl_diag *diag)
{
    const struct list_format *found = list_format_find(format, diag);

    if (found == NULL)
        return SL_EINVAL;
    for (*index = names->n_lists; (*index)-- > 0;) {
        const struct names_list *entry = pool_at(&names->lists, *index);
        if (entry->parse != NULL && entry->format == found->name &&
            strcmp(entry->label, label) == 0)
            return SL_OK;
    }

    struct list_parse *parse = calloc(1, sizeof *parse);
    if (parse == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    const enum sl_status status = names_list_add(names, label, found->name, index, diag);
    if (status != SL_OK) {
        free(parse);
        return status;
    }
    parse->format = found;
    ((struct names_list *)pool_at(&names->lists, *index))->parse = parse;
    return SL_OK;
}

static enum sl_status update(struct sl_names *names, const char *label, const char *format,
                             const char *text, size_t text_len, uint32_t line,
                             struct sl_names_updated *updated, struct sl_diag *diag)
{
    const struct names_list *list;
    struct pending *pending;
    const char *at_line;
    size_t at = 0, len;
    uint32_t index;

    if (names->fib == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table takes no updates");
    enum sl_status status = update_list(names, label, format, &index, diag);
    if (status != SL_OK)
        return status;
    list = pool_at(&names->lists, index);
    pending = calloc(1, sizeof *pending);
    if (pending == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");

    for (; status == SL_OK && list_next_line(text, text_len, &at, &at_line, &len); line++)
        if (len != 0 && at_line[0] != '#')
            status =
                update_line(names, pending, list->parse, at_line, len, index, line, updated, diag);
    const enum sl_status flushed = flush(names, pending, diag);
    if (status == SL_OK)
        status = flushed;
    if (status == SL_OK)
        status = publish(names, diag);
    free(pending);
    return status;
}

enum sl_status sl_names_update(struct sl_names *names, const char *label, const char *format,
                               const char *text, size_t text_len, uint32_t line,
                               struct sl_names_updated *updated, struct sl_diag *diag)
{
    pthread_mutex_lock(&names->update_lock);
    const enum sl_status status = update(names, label, format, text, text_len, line, updated, diag);
    pthread_mutex_unlock(&names->update_lock);
    return status;
}
