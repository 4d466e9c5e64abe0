/* SPDX-License-Identifier: MIT */
/* Filling a table: files, their lines, and the rules of a line. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "names_internal.h"

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
