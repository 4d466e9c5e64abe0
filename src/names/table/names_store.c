/* SPDX-License-Identifier: MIT */
/* Tables in files. PATH holds rules, values, lists and the names themselves, PATH.fib what the
 * engine looks names up in; both are mapped. Behind the head of PATH, each at a multiple of 8:
 * rules, values, lists, their texts, and the names, each behind its node and length. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/new_file.h"
#include "names_internal.h"

enum {
    VERSION = 1,
    FIB_CHECK_LEN =
        1 << 16,         /* bytes of PATH.fib that tell it from others: its head has a checksum */
    GATHER_LEN = 1 << 16 /* bytes that are written at once */
};

static const char magic[8] = "SLNAMES";

struct head {
    char magic[8];
    uint32_t version;
    uint32_t order;    /* 0x01020304 in the order of whoever wrote it */
    uint64_t checksum; /* XXH3 of all behind it */
    uint64_t len;      /* bytes of the file */
    uint64_t fib_check, fib_len;
    uint64_t n_rules, n_values, n_lists, n_names;
    uint64_t text_len, names_len; /* bytes */
    uint64_t n_lines, n_understood, n_ignored, n_repeated;
    uint64_t n_ranks[SL_N_NAMES_RANKS];
    char plane[16];
};

struct stored_values {
    uint64_t text;
    uint32_t len, action;
};

struct stored_list {
    uint64_t label;
    uint32_t len;
    char format[20];
};

/* ---- writing --------------------------------------------------------------------------------- */

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

static void align(struct writer *writer)
{
    static const char zeros[8];

    put(writer, zeros, -writer->len & 7);
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
    align(writer);
}

static uint64_t put_values(struct writer *writer, struct sl_names *names)
{
    uint64_t text = 0;

    for (uint64_t i = 0; i < names->values.n; i++) {
        const struct names_values *values = pool_at(&names->values, (uint32_t)i);
        const struct stored_values stored = {text, values->len, values->action};
        put(writer, &stored, sizeof stored);
        text += values->len;
    }
    for (uint32_t i = 0; i < names->n_lists; i++) {
        const struct names_list *list = pool_at(&names->lists, i);
        struct stored_list stored = {.label = text, .len = (uint32_t)strlen(list->label)};
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
    align(writer);
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

/* The file's first bytes and its length tell whether it is the one that belongs here. */
static enum sl_status check_fib(const char *path, uint64_t *check, uint64_t *len,
                                struct sl_diag *diag)
{
    char *bytes = malloc(FIB_CHECK_LEN);
    FILE *file = fopen(path, "re");
    struct stat stat;

    if (bytes == NULL || file == NULL || fstat(fileno(file), &stat) != 0) {
        const int error = bytes == NULL ? ENOMEM : errno;
        free(bytes);
        if (file != NULL)
            fclose(file);
        return diag_set(diag, error == ENOMEM ? SL_ENOMEM : SL_EIO, path, 0, "cannot be opened: %s",
                        strerror(error));
    }
    *len = (uint64_t)stat.st_size;
    *check = XXH3_64bits(bytes, fread(bytes, 1, FIB_CHECK_LEN, file));
    fclose(file);
    free(bytes);
    return SL_OK;
}

static enum sl_status write_body(struct writer *writer, struct sl_names *names, struct head *head)
{
    const struct head room = {0};

    /* The head is written last, when all of it is known; the body's hash seeds its own. */
    new_file_write(writer->file, &room, sizeof room);
    if (XXH3_64bits_reset(writer->hash) == XXH_ERROR)
        writer->file->error = EIO;
    writer->len = sizeof room;
    put_rules(writer, names, &head->n_rules);
    head->text_len = put_values(writer, names);
    const uint64_t begin = writer->len;
    const enum sl_status status = names_fib_each(names, put_name, writer);
    head->names_len = writer->len - begin;
    head->len = writer->len;
    flush(writer);
    return status;
}

/* The body's hash and the head's fields behind its own. */
static uint64_t head_checksum(const struct head *head, uint64_t body)
{
    const size_t begin = offsetof(struct head, checksum) + sizeof head->checksum;

    return XXH3_64bits_withSeed((const char *)head + begin, sizeof *head - begin, body);
}

static void fill_head(struct head *head, const struct sl_names *names)
{
    struct sl_names_count count;

    sl_names_count(names, &count);
    memcpy(head->magic, magic, sizeof magic);
    head->version = VERSION;
    head->order = 0x01020304;
    head->n_values = names->values.n;
    head->n_lists = names->n_lists;
    head->n_names = count.names;
    head->n_lines = count.lines;
    head->n_understood = count.rules;
    head->n_ignored = count.ignored;
    head->n_repeated = count.repeated;
    for (uint32_t i = 0; i < SL_N_NAMES_RANKS; i++)
        head->n_ranks[i] = atomic_load(&names->n_ranks[i]);
    snprintf(head->plane, sizeof head->plane, "%s", count.plane);
}

static enum sl_status write_file(struct new_file *file, struct sl_names *names, struct head *head)
{
    struct writer *writer = calloc(1, sizeof *writer);
    XXH3_state_t *hash = XXH3_createState();
    enum sl_status status = SL_ENOMEM;

    if (writer != NULL && hash != NULL) {
        writer->file = file;
        writer->hash = hash;
        status = write_body(writer, names, head);
        head->checksum = head_checksum(head, XXH3_64bits_digest(hash));
        new_file_write_first(file, head, sizeof *head);
    }
    XXH3_freeState(hash);
    free(writer);
    return status;
}

static enum sl_status write_names(struct sl_names *names, struct new_file *file, struct head *head,
                                  struct sl_diag *diag)
{
    const enum sl_status status = write_file(file, names, head);

    if (status != SL_OK && file->error == 0) /* so that nothing takes the path */
        file->error = status == SL_ENOMEM ? ENOMEM : EIO;
    const enum sl_status ended = new_file_end(file, diag);
    return status == SL_OK ? ended : status;
}

enum sl_status sl_names_save(struct sl_names *names, const char *path, struct sl_diag *diag)
{
    struct head head = {0};
    char fib_path[PATH_MAX];

    if (names->fib == NULL)
        return diag_set(diag, SL_EINVAL, path, 0, "a table that takes no updates cannot be saved");
    if (snprintf(fib_path, sizeof fib_path, "%s.fib", path) >= (int)sizeof fib_path)
        return diag_set(diag, SL_EIO, path, 0, "cannot be created: %s", strerror(ENAMETOOLONG));

    struct new_file file; /* first: where it cannot be, neither is written */
    enum sl_status status = new_file_create(&file, path, diag);
    if (status != SL_OK)
        return status;
    status = names_fib_save(names, fib_path, diag);
    if (status == SL_OK)
        status = check_fib(fib_path, &head.fib_check, &head.fib_len, diag);
    if (status != SL_OK) {
        new_file_drop(&file);
        return status;
    }
    fill_head(&head, names);
    return write_names(names, &file, &head, diag);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool sl_names_is_saved(const char *path)
{
    char bytes[sizeof magic];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat stat;
    bool saved = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        saved = read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
                memcmp(bytes, magic, sizeof magic) == 0;
    close(fd);
    return saved;
}

static uint64_t aligned(uint64_t len)
{
    return (len + 7) & ~UINT64_C(7);
}

struct parts {
    char *rules, *values, *lists, *text, *names;
};

/* Where the parts lie; false: they do not fill the file exactly. */
static bool find_parts(const struct head *head, char *file, struct parts *parts)
{
    uint64_t at = sizeof *head;

    if (head->n_rules == 0 || head->n_rules > UINT32_MAX || head->n_values > UINT32_MAX ||
        head->n_lists > LISTS_MAX || head->text_len > head->len || head->names_len > head->len)
        return false;
    parts->rules = file + at;
    at = aligned(at + head->n_rules * sizeof(struct names_rule));
    parts->values = file + at;
    at += head->n_values * sizeof(struct stored_values);
    parts->lists = file + at;
    at += head->n_lists * sizeof(struct stored_list);
    parts->text = file + at;
    at = aligned(at + head->text_len);
    parts->names = file + at;
    return at + head->names_len == head->len;
}

static const char *check_head(const struct head *head, uint64_t len)
{
    if (len < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return "is no table of names";
    if (head->order != 0x01020304)
        return "was written on a machine of another byte order";
    if (head->version != VERSION)
        return "is of another version (make it anew with --build)";
    if (head->len != len)
        return "is cut or longer than it should be";
    if (head->checksum != head_checksum(head, XXH3_64bits(head + 1, len - sizeof *head)))
        return "is damaged (wrong checksum)";
    return NULL;
}

/* Every rule leads to values and a list that there are, and every walk over a node ends. */
static bool check_rules(const struct head *head, const struct parts *parts)
{
    const struct names_rule *rules = (const struct names_rule *)parts->rules;

    if (head->n_values == 0) /* an empty table has the end alone, and no name leads there */
        return head->n_rules == 1 && head->n_names == 0 && rules->last;
    for (uint64_t i = 0; i < head->n_rules; i++)
        if (rules[i].values >= head->n_values || rules[i].list >= head->n_lists)
            return false;
    return rules[head->n_rules - 1].last;
}

static enum sl_status take_values(struct sl_names *names, const struct head *head,
                                  const struct parts *parts)
{
    const struct stored_values *stored = (const struct stored_values *)parts->values;

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

static enum sl_status take_lists(struct sl_names *names, const struct head *head,
                                 const struct parts *parts)
{
    enum sl_status status = SL_OK;

    for (uint64_t i = 0; i < head->n_lists && status == SL_OK; i++) {
        struct stored_list list;
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
static enum sl_status make_fib(struct sl_names *names, const struct head *head,
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

static enum sl_status open_fib(struct sl_names *names, const struct head *head, const char *path,
                               struct sl_diag *diag)
{
    uint64_t check = 0, len = 0;
    char fib_path[PATH_MAX];

    if (snprintf(fib_path, sizeof fib_path, "%s.fib", path) >= (int)sizeof fib_path)
        return diag_set(diag, SL_EIO, path, 0, "%s", strerror(ENAMETOOLONG));
    enum sl_status status = check_fib(fib_path, &check, &len, diag);
    if (status != SL_OK)
        return status;
    if (check == head->fib_check && len == head->fib_len)
        return names_fib_load(names, fib_path, head->n_rules, diag);
    /* One that is damaged says so itself. */
    status = names_fib_load(names, fib_path, UINT64_MAX, diag);
    return status == SL_OK ? diag_set(diag, SL_EFORMAT, fib_path, 0, "does not belong to %s", path)
                           : status;
}

static enum sl_status map_names(struct sl_names *names, const char *path, struct sl_diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;

    if (fd < 0 || fstat(fd, &stat) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return diag_set(diag, SL_EIO, path, 0, "%s", strerror(error));
    }
    if (!S_ISREG(stat.st_mode) || stat.st_size < (off_t)sizeof(struct head)) {
        close(fd);
        return diag_set(diag, SL_EFORMAT, path, 0, "is no table of names");
    }
    /* Written to where rules are freed: a copy of the page, not the file. */
    void *file = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    const int error = errno;
    close(fd);
    if (file == MAP_FAILED)
        return diag_set(diag, error == ENOMEM ? SL_ENOMEM : SL_EIO, path, 0, "%s", strerror(error));
    names->file = file;
    names->file_len = (size_t)stat.st_size;
    return SL_OK;
}

static enum sl_status open_parts(struct sl_names *names, const char *path, bool updates,
                                 struct sl_diag *diag)
{
    const struct head *head = names->file;
    struct parts parts;

    const char *why = check_head(head, names->file_len);
    if (why != NULL)
        return diag_set(diag, SL_EFORMAT, path, 0, "%s", why);
    if (!find_parts(head, names->file, &parts) || !check_rules(head, &parts) ||
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
    names->n_ignored_all = head->n_ignored;
    names->n_repeated = head->n_repeated;
    for (uint32_t i = 0; i < SL_N_NAMES_RANKS; i++)
        atomic_store(&names->n_ranks[i], head->n_ranks[i]);
    names_map_free(names->map);
    names->map = NULL;
    return updates ? make_fib(names, head, &parts, path, diag) : open_fib(names, head, path, diag);
}

enum sl_status sl_names_open(struct sl_names **out, const char *path, bool updates,
                             struct sl_diag *diag)
{
    struct sl_names *names;
    enum sl_status status = sl_names_create(&names, diag);

    *out = NULL;
    if (status != SL_OK)
        return status;
    status = map_names(names, path, diag);
    if (status == SL_OK)
        status = open_parts(names, path, updates, diag);
    if (status != SL_OK) {
        sl_names_free(names);
        return status;
    }
    *out = names;
    return SL_OK;
}
