/* SPDX-License-Identifier: MIT */
/* Filling a table from a file. The text is read piece by piece, and never mapped: a file that is
 * cut or overwritten meanwhile costs the load and not the process. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "names_load.h"

enum { PIECE_LEN = 1 << 20 /* bytes of a read; a longer line takes more */ };

/* A file that is being read, and the text that waits. */
struct file {
    const char *path;
    int fd;
    struct stat begin; /* as it was before the first read */
    bool ended;
    char *text;
    size_t len, cap;
    uint64_t n_read; /* bytes of the file so far */
};

static enum sl_status file_open(struct file *file, const char *path, struct sl_diag *diag)
{
    *file = (struct file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->fd >= 0 && fstat(file->fd, &file->begin) == 0)
        return SL_OK;
    const int error = errno;
    if (file->fd >= 0)
        (void)close(file->fd);
    return diag_set(diag, SL_EIO, path, 0, "%s", strerror(error));
}

static void file_close(struct file *file)
{
    free(file->text);
    (void)close(file->fd);
}

static bool make_room(struct file *file)
{
    if (file->len < file->cap)
        return true;
    const size_t cap = file->cap == 0 ? PIECE_LEN : file->cap * 2;
    char *text = realloc(file->text, cap);
    if (text == NULL)
        return false;
    file->text = text;
    file->cap = cap;
    return true;
}

/* Reads once, behind the text that waits. */
static enum sl_status read_some(struct file *file, struct sl_diag *diag)
{
    ssize_t n;

    if (!make_room(file))
        return diag_set(diag, SL_ENOMEM, file->path, 0, "%s", names_no_memory_reading);
    do
        n = read(file->fd, file->text + file->len, file->cap - file->len);
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

/* Reads the lines that show the format. */
static enum sl_status read_first(struct file *file, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    uint32_t n_lines = 0;

    while (status == SL_OK && !file->ended && n_lines < LIST_DETECT_LINES) {
        const size_t before = file->len;

        status = read_some(file, diag);
        for (size_t i = before; i < file->len; i++)
            n_lines += file->text[i] == '\n';
    }
    return status;
}

static enum sl_status read_lines(struct file *file, struct names_load *load, struct sl_diag *diag)
{
    for (;;) {
        const char *end = memrchr(file->text, '\n', file->len);
        const size_t used = file->ended   ? file->len
                            : end != NULL ? (size_t)(end + 1 - file->text)
                                          : 0;

        enum sl_status status = names_load_add(load, file->text, used, diag);
        if (status != SL_OK || file->ended)
            return status;
        drop(file, used);
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
    status = names_load_begin(&load, names, file->path, format, file->text, file->len, diag);
    if (status == SL_OK)
        status = read_lines(file, &load, diag);
    if (status == SL_OK)
        status = check_same(file, diag);
    return names_load_end(&load, status, diag);
}

enum sl_status sl_names_load(struct sl_names *names, const char *path, const char *format,
                             struct sl_diag *diag)
{
    struct file file;
    enum sl_status status = file_open(&file, path, diag);

    if (status != SL_OK)
        return status;
    status = load_file(names, &file, format, diag);
    file_close(&file);
    return status;
}
