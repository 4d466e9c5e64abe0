/* SPDX-License-Identifier: MIT */
/* Opening a table's file: names_store.h. */
#include "names_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/diag.h"

/* ---- what writing and loading share ---------------------------------------------------------- */

uint64_t names_store_checksum(const struct names_store_head *head, uint64_t body)
{
    const size_t begin = offsetof(struct names_store_head, checksum) + sizeof head->checksum;

    return XXH3_64bits_withSeed((const char *)head + begin, sizeof *head - begin, body);
}

/* ---- loading --------------------------------------------------------------------------------- */

bool sl_names_is_saved(const char *path)
{
    char bytes[sizeof NAMES_STORE_MAGIC];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat stat;
    bool saved = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        saved = read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
                memcmp(bytes, NAMES_STORE_MAGIC, sizeof bytes) == 0;
    close(fd);
    return saved;
}

static uint64_t aligned(uint64_t len, uint64_t to)
{
    return (len + to - 1) / to * to;
}

struct parts {
    char *rules, *values, *lists, *text, *names;
};

/* Where the parts lie; false: they do not fill the file up to the index exactly. */
static bool find_parts(const struct names_store_head *head, char *file, struct parts *parts)
{
    uint64_t at = sizeof *head;

    if (head->n_rules == 0 || head->n_rules > UINT32_MAX || head->n_values > UINT32_MAX ||
        head->n_lists > LISTS_MAX || head->text_len > head->len || head->names_len > head->len)
        return false;
    parts->rules = file + at;
    at = aligned(at + head->n_rules * sizeof(struct names_rule), 8);
    parts->values = file + at;
    at += head->n_values * sizeof(struct names_store_values);
    parts->lists = file + at;
    at += head->n_lists * sizeof(struct names_store_list);
    parts->text = file + at;
    at = aligned(at + head->text_len, 8);
    parts->names = file + at;
    return aligned(at + head->names_len, NAMES_STORE_ALIGN) == head->index;
}

static const char *check_head(const struct names_store_head *head, uint64_t len)
{
    if (len < sizeof *head || memcmp(head->magic, NAMES_STORE_MAGIC, sizeof head->magic) != 0)
        return "is no table of names";
    if (head->order != NAMES_STORE_ORDER)
        return "was written on a machine of another byte order";
    if (head->version != NAMES_STORE_VERSION)
        return "is of another version (make it anew with --build)";
    if (head->len != len)
        return "is cut or longer than it should be";
    if (head->index < sizeof *head || head->index > len ||
        head->checksum !=
            names_store_checksum(head, XXH3_64bits(head + 1, head->index - sizeof *head)))
        return "is damaged (wrong checksum)";
    return NULL;
}

/* Every rule leads to values and a list that there are, and every walk over a node ends. */
static bool check_rules(const struct names_store_head *head, const struct parts *parts)
{
    const struct names_rule *rules = (const struct names_rule *)parts->rules;

    if (head->n_values == 0) /* an empty table has the end alone, and no name leads there */
        return head->n_rules == 1 && head->n_names == 0 && rules->last;
    for (uint64_t i = 0; i < head->n_rules; i++)
        if (rules[i].values >= head->n_values || rules[i].list >= head->n_lists)
            return false;
    return rules[head->n_rules - 1].last;
}

static enum sl_status take_values(struct sl_names *names, const struct names_store_head *head,
                                  const struct parts *parts)
{
    const struct names_store_values *stored = (const struct names_store_values *)parts->values;

    for (uint64_t i = 0; i < head->n_values; i++) {
        if (stored[i].text > head->text_len || stored[i].len > head->text_len - stored[i].text ||
            stored[i].action >= SL_N_NAMES_ACTIONS ||
            (stored[i].len > 0 && parts->text[stored[i].text + stored[i].len - 1] != '\n'))
            return SL_EFORMAT;
        const uint32_t index = names_intern(names, (enum sl_names_action)stored[i].action,
                                            parts->text + stored[i].text, stored[i].len);
        if (index != i)
            return index == UINT32_MAX ? SL_ENOMEM : SL_EFORMAT;
    }
    return SL_OK;
}

static enum sl_status take_lists(struct sl_names *names, const struct names_store_head *head,
                                 const struct parts *parts)
{
    enum sl_status status = SL_OK;

    for (uint64_t i = 0; i < head->n_lists && status == SL_OK; i++) {
        struct names_store_list list;
        uint32_t index;

        memcpy(&list, parts->lists + i * sizeof list, sizeof list);
        list.format[sizeof list.format - 1] = '\0';
        const struct list_format *format = list_format_find(list.format, NULL);
        if (format == NULL || list.label > head->text_len || list.len > head->text_len - list.label)
            return SL_EFORMAT;
        char *label = strndup(parts->text + list.label, list.len);
        status =
            label != NULL ? names_list_add(names, label, format->name, &index, NULL) : SL_ENOMEM;
        free(label);
    }
    return status;
}

/* The names as entries for the engine, which copies them. */
static enum sl_status make_fib(struct sl_names *names, const struct names_store_head *head,
                               const struct parts *parts, const char *path, struct sl_diag *diag)
{
    struct sl_fib_entry *entries = NULL;
    uint64_t at = 0;

    if (head->n_names > head->names_len / 8)
        return diag_set(diag, SL_EFORMAT, path, 0, "is damaged (names)");
    entries = malloc((head->n_names + 1) * sizeof *entries);
    if (entries == NULL)
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory for %zu names", (size_t)head->n_names);
    for (uint64_t i = 0; i < head->n_names; i++) {
        uint32_t lead[2];

        if (head->names_len - at < sizeof lead)
            goto damaged;
        memcpy(lead, parts->names + at, sizeof lead);
        at += sizeof lead;
        if (lead[0] >= head->n_rules || lead[1] > head->names_len - at)
            goto damaged;
        entries[i] = (struct sl_fib_entry){
            .name = (const uint8_t *)parts->names + at, .name_len = lead[1], .next_hop = lead[0]};
        at += lead[1];
    }
    const enum sl_status status = names_fib_make(names, head->plane, entries, head->n_names, diag);
    free(entries);
    return status;

damaged:
    free(entries);
    return diag_set(diag, SL_EFORMAT, path, 0, "is damaged (names)");
}

/* Frees the whole pages of bytes that nobody reads any more. */
static void discard(char *from, uint64_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)from + len) / page * page;

    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

static enum sl_status open_parts(struct sl_names *names, const char *path, bool updates,
                                 struct sl_diag *diag)
{
    const struct names_store_head *head = names->file.at;
    struct parts parts;

    const char *why = check_head(head, names->file.len);
    if (why != NULL)
        return diag_set(diag, SL_EFORMAT, path, 0, "%s", why);
    if (!find_parts(head, names->file.at, &parts) || !check_rules(head, &parts) ||
        head->plane[sizeof head->plane - 1] != '\0')
        return diag_set(diag, SL_EFORMAT, path, 0, "is damaged (parts)");
    enum sl_status status = take_values(names, head, &parts);
    if (status == SL_OK)
        status = take_lists(names, head, &parts);
    if (status != SL_OK)
        return diag_set(diag, status, path, 0, "%s",
                        status == SL_ENOMEM ? "no memory to open it" : "is damaged (values)");
    pool_lend(&names->rules, parts.rules, head->n_rules);
    names->n_lines = head->n_lines;
    names->n_rules = head->n_understood;
    names->n_skipped_all = head->n_skipped;
    names->n_ignored_all = head->n_ignored;
    names->n_repeated = head->n_repeated;
    for (uint32_t i = 0; i < SL_N_NAMES_RANKS; i++)
        atomic_store(&names->n_ranks[i], head->n_ranks[i]);
    names_map_free(names->map);
    names->map = NULL;
    if (updates)
        return make_fib(names, head, &parts, path, diag);
    discard(parts.names, head->names_len);
    return names_fib_lend(names, (const char *)head + head->index, head->len - head->index, path,
                          head->n_rules, diag);
}

enum sl_status sl_names_open(struct sl_names **out, const char *path, bool updates,
                             struct sl_diag *diag)
{
    struct sl_names *names;
    enum sl_status status = sl_names_create(&names, diag);

    *out = NULL;
    if (status != SL_OK)
        return status;
    /* Written to where rules are freed. */
    status = file_bytes_open(&names->file, path, FILE_BYTES_READ_MAX, true, diag);
    if (status == SL_OK)
        status = open_parts(names, path, updates, diag);
    if (status != SL_OK) {
        sl_names_free(names);
        return status;
    }
    *out = names;
    return SL_OK;
}
