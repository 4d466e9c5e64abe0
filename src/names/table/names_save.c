/* SPDX-License-Identifier: MIT */
/* Writing a table to its file: names_store.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/new_file.h"
#include "names_store.h"

enum { GATHER_LEN = 1 << 16 /* bytes that are written at once */ };

struct writer {
    struct new_file *file;
    XXH3_state_t *hash;
    uint64_t len; /* bytes so far */
    size_t n_gathered;
    uint8_t gathered[GATHER_LEN];
};

static void flush(struct writer *writer)
{
    if (XXH3_64bits_update(writer->hash, writer->gathered, writer->n_gathered) == XXH_ERROR)
        writer->file->error = EIO;
    new_file_write(writer->file, writer->gathered, writer->n_gathered);
    writer->n_gathered = 0;
}

static void put(struct writer *writer, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;

    writer->len += len;
    while (len > 0) {
        const size_t room = GATHER_LEN - writer->n_gathered;
        const size_t now = len < room ? len : room;

        memcpy(writer->gathered + writer->n_gathered, at, now);
        writer->n_gathered += now;
        at += now;
        len -= now;
        if (writer->n_gathered == GATHER_LEN)
            flush(writer);
    }
}

static void align(struct writer *writer, uint64_t to)
{
    static const char zeros[NAMES_STORE_ALIGN];

    put(writer, zeros, -writer->len & (to - 1));
}

static void put_rules(struct writer *writer, struct sl_names *names, uint64_t *n)
{
    const struct names_rule end = {.last = 1}; /* so that no walk leaves the file */
    const struct names_rule never = {0};

    for (uint64_t i = 0; i < names->rules.n; i += POOL_CHUNK) {
        const uint64_t run = pool_run(&names->rules, i);

        put(writer, pool_at(&names->rules, (uint32_t)i), run * sizeof end);
        for (uint64_t k = run; k < POOL_CHUNK && i + k < names->rules.n; k++)
            put(writer, &never, sizeof never);
    }
    put(writer, &end, sizeof end);
    *n = names->rules.n + 1;
    align(writer, 8);
}

static uint64_t put_values(struct writer *writer, struct sl_names *names)
{
    uint64_t text = 0;

    for (uint64_t i = 0; i < names->values.n; i++) {
        const struct names_values *values = pool_at(&names->values, (uint32_t)i);
        const struct names_store_values stored = {text, values->len, values->action};
        put(writer, &stored, sizeof stored);
        text += values->len;
    }
    for (uint32_t i = 0; i < names->n_lists; i++) {
        const struct names_list *list = pool_at(&names->lists, i);
        struct names_store_list stored = {.label = text, .len = (uint32_t)strlen(list->label)};
        snprintf(stored.format, sizeof stored.format, "%s", list->format);
        put(writer, &stored, sizeof stored);
        text += stored.len;
    }
    for (uint64_t i = 0; i < names->values.n; i++) {
        const struct names_values *values = pool_at(&names->values, (uint32_t)i);
        put(writer, values->text, values->len);
    }
    for (uint32_t i = 0; i < names->n_lists; i++) {
        const struct names_list *list = pool_at(&names->lists, i);
        put(writer, list->label, strlen(list->label));
    }
    align(writer, 8);
    return text;
}

static bool put_name(void *user, const struct sl_fib_entry *entry, uint32_t n_holders)
{
    struct writer *writer = user;
    const uint32_t lead[2] = {entry->next_hop, entry->name_len};

    (void)n_holders;
    put(writer, lead, sizeof lead);
    put(writer, entry->name, entry->name_len);
    return writer->file->error == 0;
}

static void write_body(struct writer *writer, struct sl_names *names, struct names_store_head *head)
{
    const struct names_store_head room = {0};

    /* The head is written last, when all of it is known; the body's hash seeds its own. */
    new_file_write(writer->file, &room, sizeof room);
    if (XXH3_64bits_reset(writer->hash) == XXH_ERROR)
        writer->file->error = EIO;
    writer->len = sizeof room;
    put_rules(writer, names, &head->n_rules);
    head->text_len = put_values(writer, names);
    const uint64_t begin = writer->len;
    names_fib_each(names, put_name, writer);
    head->names_len = writer->len - begin;
    align(writer, NAMES_STORE_ALIGN);
    flush(writer);
    head->index = writer->len;
    head->len = head->index + names_fib_write(names, writer->file);
}

static void fill_head(struct names_store_head *head, const struct sl_names *names)
{
    struct sl_names_count count;

    sl_names_count(names, &count);
    memcpy(head->magic, NAMES_STORE_MAGIC, sizeof head->magic);
    head->version = NAMES_STORE_VERSION;
    head->order = NAMES_STORE_ORDER;
    head->n_values = names->values.n;
    head->n_lists = names->n_lists;
    head->n_names = count.names;
    head->n_lines = count.lines;
    head->n_understood = count.rules;
    head->n_skipped = count.skipped;
    head->n_ignored = count.ignored;
    head->n_repeated = count.repeated;
    for (uint32_t i = 0; i < SL_N_NAMES_RANKS; i++)
        head->n_ranks[i] = atomic_load(&names->n_ranks[i]);
    snprintf(head->plane, sizeof head->plane, "%s", count.plane);
}

/* False: no memory. */
static bool write_file(struct new_file *file, struct sl_names *names, struct names_store_head *head)
{
    struct writer *writer = calloc(1, sizeof *writer);
    XXH3_state_t *hash = XXH3_createState();
    const bool good = writer != NULL && hash != NULL;

    if (good) {
        writer->file = file;
        writer->hash = hash;
        write_body(writer, names, head);
        head->checksum = names_store_checksum(head, XXH3_64bits_digest(hash));
        new_file_write_first(file, head, sizeof *head);
    }
    XXH3_freeState(hash);
    free(writer);
    return good;
}

static enum sl_status write_names(struct sl_names *names, struct new_file *file,
                                  struct names_store_head *head, struct sl_diag *diag)
{
    const bool good = write_file(file, names, head);

    if (!good) /* so that nothing takes the path */
        file->error = ENOMEM;
    const enum sl_status status = new_file_end(file, diag);
    return good ? status : SL_ENOMEM;
}

enum sl_status sl_names_save(struct sl_names *names, const char *path, struct sl_diag *diag)
{
    struct names_store_head head = {0};
    struct new_file file;

    if (names->fib == NULL)
        return diag_set(diag, SL_EINVAL, path, 0, "a table that takes no updates cannot be saved");
    const enum sl_status status = new_file_create(&file, path, diag);
    if (status != SL_OK)
        return status;
    fill_head(&head, names);
    return write_names(names, &file, &head, diag);
}
