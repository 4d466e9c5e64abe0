/* SPDX-License-Identifier: MIT */
/* Filling a table from a file. The text is read piece by piece, and never mapped: a file that is
 * cut or overwritten meanwhile costs the load and not the process. A device that never ends, such
 * as /dev/zero, is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "names_load.h"

/* A file that is being read, and the text that waits. */
struct file {
    const char *path;
    int fd;
    struct stat begin; /* as it was before the first read */
    bool ended;
    uint64_t n_read;                  /* bytes of the file so far */
    size_t len;                       /* of the text */
    char text[SL_NAMES_LINE_MAX + 1]; /* the longest line and its end */
};

static enum sl_status file_open(struct file *file, const char *path, struct sl_diag *diag)
{
    file->path = path;
    file->ended = false;
    file->n_read = 0;
    file->len = 0;
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &file->begin) != 0)
        return diag_set(diag, SL_EIO, path, 0, "%s", strerror(errno));
    if (S_ISCHR(file->begin.st_mode))
        return diag_set(diag, SL_EIO, path, 0, "is a device (expected a file or a pipe)");
    return SL_OK;
}

/* Reads once, behind the text that waits. */
static enum sl_status read_some(struct file *file, struct sl_diag *diag)
{
    ssize_t n;

    do
        n = read(file->fd, file->text + file->len, sizeof file->text - file->len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return diag_set(diag, SL_EIO, file->path, 0, "%s", strerror(errno));
    file->ended = n == 0;
    file->len += (size_t)n;
    file->n_read += (uint64_t)n;
    return SL_OK;
}

static void drop(struct file *file, size_t used)
{
    file->len -= used;
    memmove(file->text, file->text + used, file->len);
}

/* Reads the lines that show the format, as far as the text has room. */
static enum sl_status read_first(struct file *file, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    uint32_t n_lines = 0;

    while (status == SL_OK && !file->ended && n_lines < LIST_DETECT_LINES &&
           file->len < sizeof file->text) {
        const size_t before = file->len;

        status = read_some(file, diag);
        for (size_t i = before; i < file->len; i++)
            n_lines += file->text[i] == '\n';
    }
    return status;
}

/* The bytes that wait of whole lines. */
static size_t whole_len(const struct file *file)
{
    const char *end = memrchr(file->text, '\n', file->len);

    return file->ended ? file->len : end != NULL ? (size_t)(end + 1 - file->text) : 0;
}

static enum sl_status read_lines(struct file *file, struct names_load *load, struct sl_diag *diag)
{
    for (;;) {
        const size_t used = whole_len(file);

        enum sl_status status = names_load_add(load, file->text, used, diag);
        if (status != SL_OK || file->ended)
            return status;
        drop(file, used);
        if (file->len == sizeof file->text)
            return diag_set(diag, SL_EFORMAT, file->path, load->line + 1,
                            "the line is longer than %d bytes", SL_NAMES_LINE_MAX);
        status = read_some(file, diag);
        if (status != SL_OK)
            return status;
    }
}

/* The file was not written to since it was opened. */
static enum sl_status check_same(const struct file *file, struct sl_diag *diag)
{
    const struct stat *begin = &file->begin;
    struct stat end;

    if (!S_ISREG(begin->st_mode))
        return SL_OK;
    if (fstat(file->fd, &end) != 0)
        return diag_set(diag, SL_EIO, file->path, 0, "%s", strerror(errno));
    if (end.st_size == begin->st_size && (uint64_t)end.st_size == file->n_read &&
        end.st_mtim.tv_sec == begin->st_mtim.tv_sec &&
        end.st_mtim.tv_nsec == begin->st_mtim.tv_nsec)
        return SL_OK;
    return diag_set(diag, SL_EIO, file->path, 0, "was changed while it was read");
}

static enum sl_status load_file(struct sl_names *names, struct file *file, const char *format,
                                struct sl_diag *diag)
{
    struct names_load load;

    enum sl_status status = read_first(file, diag);
    if (status != SL_OK)
        return status;
    drop(file, names_load_mark_len(file->text, file->len));
    status = names_load_begin(&load, names, file->path, format, file->text, whole_len(file), diag);
    if (status == SL_OK)
        status = read_lines(file, &load, diag);
    if (status == SL_OK)
        status = check_same(file, diag);
    return names_load_end(&load, status, diag);
}

enum sl_status sl_names_load(struct sl_names *names, const char *path, const char *format,
                             struct sl_diag *diag)
{
    struct file *file = malloc(sizeof *file);

    if (file == NULL)
        return diag_set(diag, SL_ENOMEM, path, 0, "%s", names_no_memory_reading);
    enum sl_status status = file_open(file, path, diag);
    if (status == SL_OK)
        status = load_file(names, file, format, diag);
    if (file->fd >= 0)
        (void)close(file->fd);
    free(file);
    return status;
}
