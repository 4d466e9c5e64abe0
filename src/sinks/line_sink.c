/* SPDX-License-Identifier: MIT */
#include "line_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/fd.h"

/* Ends the last line of a file that a kill or a full disk has cut. Files that are not regular have
 * no last line. */
static enum sl_status end_torn_line(int fd, const char *path, struct sl_diag *diag)
{
    struct stat file;
    char last = '\n';

    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size == 0)
        return SL_OK;
    const int reader = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_read = reader >= 0 && pread(reader, &last, 1, file.st_size - 1) == 1;
    const int error = errno;
    if (reader >= 0)
        close(reader);
    if (!is_read)
        return diag_set(diag, SL_EIO, path, 0,
                        "cannot be read, to see whether its last line is whole: %s",
                        strerror(error));
    if (last == '\n' || write(fd, "\n", 1) == 1)
        return SL_OK;
    return diag_set(diag, SL_EIO, path, 0, "cannot be written: %s", strerror(errno));
}

/* Opens the file. Writes go behind its contents. */
static enum sl_status open_file(struct line_sink *out, const char *path, struct sl_diag *diag)
{
    out->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out->fd < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be opened for writing: %s", strerror(errno));
    const enum sl_status status = end_torn_line(out->fd, path, diag);
    if (status != SL_OK)
        close(out->fd);
    return status;
}

enum sl_status line_sink_open(struct line_sink *out, const char *path, struct sl_diag *diag)
{
    *out = (struct line_sink){
        .fd = STDOUT_FILENO, .is_stdout = strcmp(path, "-") == 0, .cap = LINE_SINK_CAP};
    out->name = strdup(out->is_stdout ? "standard output" : path);
    out->bytes = malloc(LINE_SINK_CAP);
    if (out->name == NULL || out->bytes == NULL) {
        free(out->name);
        free(out->bytes);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a sink");
    }
    if (out->is_stdout)
        return SL_OK;

    const enum sl_status status = open_file(out, path, diag);
    if (status != SL_OK) {
        free(out->name);
        free(out->bytes);
    }
    return status;
}

enum sl_status line_sink_hold(struct line_sink *out, size_t hold_len, struct sl_diag *diag)
{
    *out = (struct line_sink){
        .fd = -1, .holds = true, .hold_len = hold_len, .cap = hold_len + LINE_SINK_CAP};
    out->bytes = malloc(out->cap);
    if (out->bytes != NULL)
        return SL_OK;
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to hold %zu bytes of events", hold_len);
}

static uint64_t count_lines(const char *at, size_t len)
{
    const char *const end = at + len;
    uint64_t n = 0;

    for (; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    return n;
}

/* Returns the bytes that the system took. */
static size_t write_all(struct line_sink *out, const char *bytes, size_t len)
{
    size_t done = 0;

    while (done < len && out->error == 0) {
        const int64_t n = fd_write_some(out->fd, bytes + done, len - done);

        if (n < 0)
            out->error = errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

void line_sink_drain(struct line_sink *out)
{
    out->lines += count_lines(out->bytes, write_all(out, out->bytes, out->len));
    out->len = 0;
}

void line_sink_make_room(struct line_sink *out)
{
    if (out->holds) {
        out->full = true;
        out->len = out->hold_len;
    } else {
        line_sink_drain(out);
    }
}

static enum sl_status status_of(const struct line_sink *out, struct sl_diag *diag)
{
    if (out->error == 0)
        return SL_OK;
    return diag_set(diag, SL_EIO, out->name, 0, "cannot be written: %s", strerror(out->error));
}

enum sl_status line_end(struct line_sink *out, struct sl_diag *diag)
{
    if (!out->holds)
        return status_of(out, diag);
    if (out->full || out->len > out->hold_len) {
        out->full = false;
        out->len = out->begin;
        return diag_set(diag, SL_EOVERFLOW, NULL, 0, "no room to hold more events");
    }
    out->lines++;
    return SL_OK;
}

enum sl_status line_sink_flush(struct sl_sink *sink, struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;

    if (!out->holds)
        line_sink_drain(out);
    return status_of(out, diag);
}

/* More bytes than half a buffer are written without a copy. */
enum sl_status line_sink_pass(struct sl_sink *held, struct sl_sink *sink, struct sl_diag *diag)
{
    struct line_sink *from = (struct line_sink *)held, *out = (struct line_sink *)sink;

    if (from->len > LINE_SINK_CAP / 2) {
        line_sink_drain(out);
        const size_t done = write_all(out, from->bytes, from->len);
        out->lines += done == from->len ? from->lines : count_lines(from->bytes, done);
    } else {
        line_begin(out);
        line_bytes(out, from->bytes, from->len);
    }
    from->len = 0;
    from->lines = 0;
    return status_of(out, diag);
}

uint64_t line_sink_written(const struct sl_sink *sink)
{
    return ((const struct line_sink *)sink)->lines;
}

enum sl_status line_sink_close(struct sl_sink *sink, struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;
    enum sl_status status = SL_OK;

    /* Linux has closed the descriptor also where close says EINTR. */
    if (!out->is_stdout && !out->holds && close(out->fd) != 0 && errno != EINTR)
        status = diag_set(diag, SL_EIO, out->name, 0, "cannot be closed: %s", strerror(errno));
    free(out->name);
    free(out->bytes);
    free(out);
    return status;
}
