/* SPDX-License-Identifier: MIT */
/* Tables of names: filling them from lists, and what is told of that. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "names_internal.h"

const char *sl_names_action_text(enum sl_names_action action)
{
    static const char *const texts[] = {"none",     "forward", "block",   "allow",    "nxdomain",
                                        "nodata",   "refuse",  "drop",    "truncate", "address",
                                        "redirect", "server",  "category"};

    return (uint32_t)action < SL_N_NAMES_ACTIONS ? texts[action] : "?";
}

/* ---- making ---------------------------------------------------------------------------------- */

enum sl_status sl_names_create(struct sl_names **out, struct sl_diag *diag)
{
    struct sl_names *names = calloc(1, sizeof *names);

    *out = NULL;
    if (names == NULL)
        goto no_memory;
    pthread_mutex_init(&names->readers_lock, NULL);
    pthread_mutex_init(&names->update_lock, NULL);
    atomic_init(&names->epoch, 1);
    for (uint32_t i = 0; i <= NODE_RULES_MAX; i++)
        names->free_nodes[i] = NODE_NONE;
    names->map = names_map_create();
    if (!pool_init(&names->rules, sizeof(struct names_rule)) ||
        !pool_init(&names->values, sizeof(struct names_values)) ||
        !pool_init(&names->lists, sizeof(struct names_list)) || !names_values_init(names) ||
        names->map == NULL)
        goto no_memory;
    *out = names;
    return SL_OK;

no_memory:
    sl_names_free(names);
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table of names");
}

void sl_names_free(struct sl_names *names)
{
    if (names == NULL)
        return;
    names_fib_free(names);
    names_map_free(names->map);
    for (uint32_t i = 0; i < names->n_lists; i++) {
        struct names_list *list = pool_at(&names->lists, i);
        free(list->label);
        free(list->parse);
    }
    names_values_free(names);
    pool_free(&names->rules);
    pool_free(&names->values);
    pool_free(&names->lists);
    free(names->retired);
    free(names->ignored);
    free(names->reasons);
    if (names->file != NULL)
        munmap(names->file, names->file_len);
    pthread_mutex_destroy(&names->readers_lock);
    pthread_mutex_destroy(&names->update_lock);
    free(names);
}

enum sl_status names_list_add(struct sl_names *names, const char *label, const char *format,
                              uint32_t *index, struct sl_diag *diag)
{
    if (atomic_load(&names->n_lists) == LISTS_MAX)
        return diag_set(diag, SL_EINVAL, label, 0, "a table has %d lists at most", LISTS_MAX);

    char *copy = strdup(label);
    if (copy == NULL || !pool_take(&names->lists, 1, index)) {
        free(copy);
        return diag_set(diag, SL_ENOMEM, label, 0, "no memory for one more list");
    }
    *(struct names_list *)pool_at(&names->lists, *index) =
        (struct names_list){.label = copy, .format = format};
    atomic_store(&names->n_lists, *index + 1);
    return SL_OK;
}

/* ---- ignored lines --------------------------------------------------------------------------- */

static bool count_reason(struct sl_names *names, const char *why)
{
    for (size_t i = 0; i < names->n_reasons; i++) {
        if (names->reasons[i].why == why || strcmp(names->reasons[i].why, why) == 0) {
            names->reasons[i].n++;
            /* Kept by count: what is met often is found soon. */
            for (; i > 0 && names->reasons[i].n > names->reasons[i - 1].n; i--) {
                const struct names_reason swap = names->reasons[i];
                names->reasons[i] = names->reasons[i - 1];
                names->reasons[i - 1] = swap;
            }
            return true;
        }
    }
    if (names->n_reasons == names->max_reasons) {
        const size_t max = names->max_reasons + 32;
        struct names_reason *reasons = realloc(names->reasons, max * sizeof *reasons);
        if (reasons == NULL)
            return false;
        names->reasons = reasons;
        names->max_reasons = max;
    }
    names->reasons[names->n_reasons++] = (struct names_reason){why, 1};
    return true;
}

bool names_ignore(struct sl_names *names, uint32_t list, uint32_t line, const char *why)
{
    names->n_ignored_all++;
    if (!count_reason(names, why))
        return false;
    if (names->n_ignored == SL_NAMES_IGNORED_MAX)
        return true;
    if (names->n_ignored == names->max_ignored) {
        const size_t max = names->max_ignored == 0 ? 64 : names->max_ignored * 2;
        struct names_ignored *ignored = realloc(names->ignored, max * sizeof *ignored);
        if (ignored == NULL)
            return false;
        names->ignored = ignored;
        names->max_ignored = max;
    }
    names->ignored[names->n_ignored++] = (struct names_ignored){why, line, list};
    return true;
}

bool sl_names_ignore_reason(const struct sl_names *names, size_t i, const char **reason,
                            uint64_t *count)
{
    if (i >= names->n_reasons)
        return false;
    *reason = names->reasons[i].why;
    *count = names->reasons[i].n;
    return true;
}

bool sl_names_ignored(const struct sl_names *names, size_t i, struct sl_diag *diag)
{
    if (i >= names->n_ignored)
        return false;
    const struct names_ignored *ignored = &names->ignored[i];
    (void)diag_set(diag, SL_EFORMAT, sl_names_list(names, ignored->list, NULL), ignored->line, "%s",
                   ignored->why);
    return true;
}

const char *sl_names_list(const struct sl_names *names, uint32_t list, const char **format)
{
    if (list >= atomic_load(&names->n_lists))
        return NULL;
    const struct names_list *entry = pool_at(&names->lists, list);
    if (format != NULL)
        *format = entry->format;
    return entry->label;
}

const char *sl_names_value(const struct sl_names *names, const struct sl_names_answer *answer,
                           uint32_t i, size_t *len)
{
    if (answer->action == SL_NAMES_NONE)
        return NULL;
    const struct names_values *values = pool_at(&names->values, answer->values);
    const char *at = values->text, *end = at + values->len;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (i-- == 0) {
            *len = (size_t)(stop - at);
            return at;
        }
        at = stop + 1;
    }
    return NULL;
}

/* ---- filling --------------------------------------------------------------------------------- */

static const char no_memory_reading[] = "no memory left while reading";

static enum sl_status add_rules(struct sl_names *names, const struct list_parse *parse,
                                uint32_t list, uint32_t line)
{
    for (uint32_t i = 0; i < parse->n_rules; i++) {
        const struct list_rule *rule = &parse->rules[i];
        uint32_t *kept = names_map_node(names->map, rule->name.bytes, rule->name.len);
        if (kept == NULL)
            return SL_ENOMEM;
        const uint32_t old = *kept;

        switch (names_node_add(names, kept, list, line, rule)) {
        case NAMES_CHANGED:
            if (old != NODE_NONE)
                names_node_free(names, old);
            break;
        case NAMES_SAME:
            names->n_repeated++;
            break;
        case NAMES_FULL:
            if (!names_ignore(names, list, line, "more than 255 rules for one name"))
                return SL_ENOMEM;
            break;
        case NAMES_NO_MEMORY:
            return SL_ENOMEM;
        }
    }
    return SL_OK;
}

static enum sl_status read_lines(struct sl_names *names, struct list_parse *parse, uint32_t list,
                                 const char *text, size_t text_len)
{
    enum sl_status status = SL_OK;
    const char *line;
    size_t at = 0, len;
    uint32_t number = 0;

    while (status == SL_OK && list_next_line(text, text_len, &at, &line, &len)) {
        const char *why = list_parse_line(parse, line, len);

        number += number < UINT32_MAX;
        if (why == NULL && parse->n_rules == 0)
            continue;
        names->n_lines++;
        if (why != NULL) {
            status = names_ignore(names, list, number, why) ? SL_OK : SL_ENOMEM;
        } else {
            names->n_rules++;
            status = add_rules(names, parse, list, number);
        }
    }
    return status;
}

static const struct list_format *choose_format(const char *label, const char *format,
                                               const char *text, size_t text_len,
                                               enum sl_status *status, struct sl_diag *diag)
{
    const struct list_format *found =
        format != NULL ? list_format_find(format, diag) : list_format_detect(text, text_len);
    char known[LIST_KNOWN_MAX];

    *status = found != NULL ? SL_OK : SL_EINVAL;
    if (found != NULL || format != NULL)
        return found;
    *status =
        diag_set(diag, SL_EFORMAT, label, 0, "its first lines are of no format that is known (%s)",
                 list_known_formats(known));
    return NULL;
}

enum sl_status sl_names_load_text(struct sl_names *names, const char *label, const char *format,
                                  const char *text, size_t text_len, struct sl_diag *diag)
{
    enum sl_status status;
    uint32_t list = 0;

    if (names->map == NULL)
        return diag_set(diag, SL_EINVAL, label, 0, "the table is built already");
    if (text_len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
        text += 3;
        text_len -= 3;
    }
    const struct list_format *found = choose_format(label, format, text, text_len, &status, diag);
    if (found == NULL)
        return status;
    status = names_list_add(names, label, found->name, &list, diag);
    if (status != SL_OK)
        return status;
    struct list_parse *parse = calloc(1, sizeof *parse);
    status = SL_ENOMEM;
    if (parse != NULL) {
        parse->format = found;
        status = read_lines(names, parse, list, text, text_len);
        free(parse);
    }
    return status == SL_OK ? SL_OK : diag_set(diag, status, label, 0, "%s", no_memory_reading);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file's bytes, mapped or read. */
struct file {
    char *text;
    size_t len;
    bool mapped;
};

static void free_file(struct file *file)
{
    if (file->mapped)
        munmap(file->text, file->len);
    else
        free(file->text);
    *file = (struct file){0};
}

/* What is no regular file is read to its end. */
static enum sl_status read_stream(struct file *file, int fd)
{
    size_t room = 0;

    for (;;) {
        if (file->len == room) {
            const size_t more = room == 0 ? 1 << 16 : room * 2;
            char *text = realloc(file->text, more);
            if (text == NULL)
                return SL_ENOMEM;
            file->text = text;
            room = more;
        }
        const ssize_t n = read(fd, file->text + file->len, room - file->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? SL_OK : SL_EIO;
        file->len += (size_t)n;
    }
}

static enum sl_status read_file(struct file *file, const char *path, struct sl_diag *diag)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum sl_status status = SL_OK;
    struct stat stat;

    *file = (struct file){0};
    if (fd < 0 || fstat(fd, &stat) != 0) {
        status = SL_EIO;
    } else if (S_ISDIR(stat.st_mode)) {
        errno = EISDIR;
        status = SL_EIO;
    } else if (S_ISREG(stat.st_mode) && stat.st_size > 0) {
        file->len = (size_t)stat.st_size;
        file->text = mmap(NULL, file->len, PROT_READ, MAP_PRIVATE, fd, 0);
        file->mapped = file->text != MAP_FAILED;
        if (!file->mapped) {
            file->text = NULL;
            status = errno == ENOMEM ? SL_ENOMEM : SL_EIO;
        }
    } else {
        status = read_stream(file, fd);
    }
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (status == SL_OK)
        return SL_OK;
    free_file(file);
    return diag_set(diag, status, path, 0, "%s",
                    status == SL_ENOMEM ? no_memory_reading : strerror(error));
}

enum sl_status sl_names_load(struct sl_names *names, const char *path, const char *format,
                             struct sl_diag *diag)
{
    struct file file;
    enum sl_status status = read_file(&file, path, diag);

    if (status != SL_OK)
        return status;
    if (file.mapped)
        (void)madvise(file.text, file.len, MADV_SEQUENTIAL);
    status =
        sl_names_load_text(names, path, format, file.text == NULL ? "" : file.text, file.len, diag);
    free_file(&file);
    return status;
}
