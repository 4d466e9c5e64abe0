/* SPDX-License-Identifier: MIT */
#include "capture/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/mapped_file.h"

enum {
    /* Pages are read and dropped in steps of this length, so that a run's resident memory does not
     * grow with the file. 256 KiB to 8 MiB measure alike. */
    WINDOW_LEN = 2 << 20,
    BUFFER_LEN = 512 << 10, /* holds the longest packet record with room to spare */
    RAW_LEN = 128 << 10,
    PAGE_LEN = 64 << 10,  /* a multiple of every page size in use */
    XZ_MEMORY = 256 << 20 /* bytes that an xz file may make its decoder take; xz -9 takes 65 MiB */
};

static const char *const form_names[] = {
    [INPUT_GZIP] = "gzip", [INPUT_XZ] = "xz", [INPUT_ZSTD] = "zstd"};

static const char *input_whose(const struct input *input)
{
    return input->raw != NULL ? " of the decompressed data" : "";
}

enum sl_status input_short(const struct input *input, enum input_state state, const char *what,
                           uint64_t start, struct sl_diag *diag)
{
    switch (state) {
    case INPUT_READY:
    case INPUT_LATER:
        return SL_OK;
    case INPUT_STOPPED:
        return SL_END;
    case INPUT_FAILED:
        return input->failure;
    case INPUT_ENDED:
        break;
    }
    if (start == input_offset(input) + input_have(input))
        return SL_END;
    if (start == 0)
        return diag_set(diag, SL_ETRUNCATED, input->label, 0, "ends inside the %s, after %s bytes",
                        what, grouped(input_have(input)).text);
    return diag_set(diag, SL_ETRUNCATED, input->label, 0,
                    "ends inside the %s at byte %s%s; what came before was processed", what,
                    grouped(start).text, input_whose(input));
}

enum sl_status input_bad(const struct input *input, const char *what, uint64_t offset,
                         struct sl_diag *diag, const char *problem, ...)
{
    char text[256];
    va_list args;

    va_start(args, problem);
    vsnprintf(text, sizeof text, problem, args);
    va_end(args);
    return diag_set(diag, SL_EFORMAT, input->label, 0, "%s at byte %s%s %s", what,
                    grouped(offset).text, input_whose(input), text);
}

/* --- Streams --- */

static enum input_state fail(struct input *input, enum sl_status failure)
{
    input->failure = failure;
    return INPUT_FAILED;
}

static enum input_state fail_errno(struct input *input, struct sl_diag *diag)
{
    return fail(input,
                diag_set(diag, SL_EIO, input->label, 0, "cannot be read: %s", strerror(errno)));
}

/* How long this read may still wait. */
static struct timespec time_left(struct input *input, uint64_t now)
{
    if (input->deadline_ns == 0)
        input->deadline_ns = now + INPUT_WAIT_MS * UINT64_C(1000000);

    const uint64_t close = *input->close_ns;
    const uint64_t end = close != 0 && close < input->deadline_ns ? close : input->deadline_ns;
    const uint64_t left = now < end ? end - now : 0;
    return (struct timespec){.tv_sec = (time_t)(left / 1000000000),
                             .tv_nsec = (long)(left % 1000000000)};
}

static enum input_state wait_readable(struct input *input, struct sl_diag *diag)
{
    struct pollfd ready = {.fd = input->fd, .events = POLLIN};

    for (;;) {
        if (atomic_load(input->stopped))
            return INPUT_STOPPED;

        const uint64_t now = clock_ns();
        if (*input->close_ns != 0 && now >= *input->close_ns)
            return INPUT_LATER; /* even where more is at hand */
        const struct timespec left = time_left(input, now);
        const int n_ready = ppoll(&ready, 1, &left, NULL);
        if (n_ready > 0)
            return INPUT_READY;
        if (n_ready == 0)
            return INPUT_LATER;
        if (errno != EINTR)
            return fail_errno(input, diag);
    }
}

static enum input_state read_some(struct input *input, uint8_t *to, size_t len, size_t *got,
                                  struct sl_diag *diag)
{
    for (;;) {
        const enum input_state state = wait_readable(input, diag);
        if (state != INPUT_READY)
            return state;

        const ssize_t n = read(input->fd, to, len);
        if (n == 0)
            return INPUT_ENDED;
        if (n > 0) {
            *got = (size_t)n;
            input->read_ns = clock_ns();
            return INPUT_READY;
        }
        if (errno != EINTR && errno != EAGAIN)
            return fail_errno(input, diag);
    }
}

static enum input_state bad_compression(struct input *input, const char *why, struct sl_diag *diag)
{
    const uint64_t offset = input->raw_offset - (input->raw_end - input->raw_at);

    return fail(input, diag_set(diag, SL_EFORMAT, input->label, 0,
                                "corrupt %s data near byte %s (%s); what came before was processed",
                                form_names[input->form], grouped(offset).text, why));
}

/* gzip(1) pads with zeros on some media, and `cat a.gz b.gz` is a gzip file. */
static enum input_state next_member(struct input *input, struct sl_diag *diag)
{
    while (input->raw_at != input->raw_end && input->raw[input->raw_at] == 0)
        input->raw_at++;
    if (input->raw_at == input->raw_end)
        return INPUT_READY;
    if (input->raw[input->raw_at] != 0x1F)
        return bad_compression(input, "something else follows", diag);
    inflateReset(&input->gzip);
    input->frame_open = true;
    return INPUT_READY;
}

static enum input_state decode_gzip(struct input *input, uint8_t *to, size_t len, size_t *got,
                                    struct sl_diag *diag)
{
    z_stream *const gzip = &input->gzip;

    *got = 0;
    if (!input->frame_open) {
        const enum input_state state = next_member(input, diag);
        if (state != INPUT_READY || !input->frame_open)
            return state;
    }
    gzip->next_in = input->raw + input->raw_at;
    gzip->avail_in = (uInt)(input->raw_end - input->raw_at);
    gzip->next_out = to;
    gzip->avail_out = (uInt)len;

    const int result = inflate(gzip, Z_NO_FLUSH);
    input->raw_at = input->raw_end - gzip->avail_in;
    *got = len - gzip->avail_out;
    if (result == Z_STREAM_END)
        input->frame_open = false;
    /* Bytes that were decoded before a fault count; zlib repeats the fault on the next call. */
    else if (result == Z_MEM_ERROR)
        return fail(input, diag_set(diag, SL_ENOMEM, input->label, 0, "no memory to decompress"));
    else if (result != Z_OK && result != Z_BUF_ERROR && *got == 0)
        return bad_compression(input, gzip->msg != NULL ? gzip->msg : "zlib gives no reason", diag);
    return INPUT_READY;
}

/* xz pads with zeros, and `cat a.xz b.xz` is an xz file. */
static enum input_state next_xz_stream(struct input *input, struct sl_diag *diag)
{
    while (input->raw_at != input->raw_end && input->raw[input->raw_at] == 0)
        input->raw_at++;
    if (input->raw_at == input->raw_end)
        return INPUT_READY;
    if (input->raw[input->raw_at] != 0xFD)
        return bad_compression(input, "something else follows", diag);
    if (lzma_stream_decoder(&input->xz, XZ_MEMORY, 0) != LZMA_OK)
        return fail(input, diag_set(diag, SL_ENOMEM, input->label, 0, "no memory to decompress"));
    input->frame_open = true;
    return INPUT_READY;
}

static const char *xz_fault(lzma_ret result)
{
    switch (result) {
    case LZMA_OK:
    case LZMA_STREAM_END:
    case LZMA_BUF_ERROR: /* nothing was at hand */
        return NULL;
    case LZMA_MEMLIMIT_ERROR:
        return "its decoder needs more than 256 MiB";
    case LZMA_OPTIONS_ERROR:
        return "its options are not supported";
    case LZMA_MEM_ERROR:
        return "no memory to decompress";
    default:
        return "liblzma gives no reason";
    }
}

static enum input_state decode_xz(struct input *input, uint8_t *to, size_t len, size_t *got,
                                  struct sl_diag *diag)
{
    lzma_stream *const xz = &input->xz;

    *got = 0;
    if (input->xz_fault != NULL)
        return bad_compression(input, input->xz_fault, diag);
    if (!input->frame_open) {
        const enum input_state state = next_xz_stream(input, diag);
        if (state != INPUT_READY || !input->frame_open)
            return state;
    }
    xz->next_in = input->raw + input->raw_at;
    xz->avail_in = input->raw_end - input->raw_at;
    xz->next_out = to;
    xz->avail_out = len;

    const lzma_ret result = lzma_code(xz, LZMA_RUN);
    input->raw_at = input->raw_end - xz->avail_in;
    *got = len - xz->avail_out;
    if (result == LZMA_STREAM_END)
        input->frame_open = false;
    /* Bytes that were decoded before a fault count. */
    input->xz_fault = xz_fault(result);
    if (input->xz_fault != NULL && *got == 0)
        return bad_compression(input, input->xz_fault, diag);
    return INPUT_READY;
}

static enum input_state decode_zstd(struct input *input, uint8_t *to, size_t len, size_t *got,
                                    struct sl_diag *diag)
{
    ZSTD_inBuffer in = {input->raw, input->raw_end, input->raw_at};
    ZSTD_outBuffer out = {to, len, 0};
    const size_t result = ZSTD_decompressStream(input->zstd, &out, &in);

    if (ZSTD_isError(result))
        return bad_compression(input, ZSTD_getErrorName(result), diag);
    input->raw_at = in.pos;
    input->frame_open = result != 0;
    *got = out.pos;
    return INPUT_READY;
}

static enum input_state read_raw(struct input *input, struct sl_diag *diag)
{
    size_t got = 0;
    const enum input_state state = read_some(input, input->raw, RAW_LEN, &got, diag);

    if (state == INPUT_ENDED && input->frame_open)
        return fail(input, diag_set(diag, SL_ETRUNCATED, input->label, 0,
                                    "the %s data ends early, at byte %s; what came before was "
                                    "processed",
                                    form_names[input->form], grouped(input->raw_offset).text));
    input->raw_at = 0;
    input->raw_end = got;
    input->raw_offset += got;
    return state;
}

static enum input_state decode_some(struct input *input, uint8_t *to, size_t len, size_t *got,
                                    struct sl_diag *diag)
{
    for (;;) {
        enum input_state state;

        /* zstd takes repeated calls without progress for an error: call it only where there is
         * some. */
        if (input->raw_at == input->raw_end && !input->flushing) {
            state = read_raw(input, diag);
            if (state != INPUT_READY)
                return state;
        }
        state = input->form == INPUT_GZIP ? decode_gzip(input, to, len, got, diag)
                : input->form == INPUT_XZ ? decode_xz(input, to, len, got, diag)
                                          : decode_zstd(input, to, len, got, diag);
        if (state != INPUT_READY)
            return state;
        input->flushing = *got == len && input->frame_open;
        if (*got != 0)
            return INPUT_READY;
    }
}

/* Appends what the file gives next behind input->end. */
static enum input_state stream_append(struct input *input, struct sl_diag *diag)
{
    uint8_t *const to = input->buffer + (input->end - input->buffer);
    const size_t room = input->buffer_cap - (size_t)(to - input->buffer);
    size_t got = 0;
    const enum input_state state = input->form == INPUT_STREAM
                                       ? read_some(input, to, room, &got, diag)
                                       : decode_some(input, to, room, &got, diag);

    if (state == INPUT_READY)
        input->end += got;
    return state;
}

/* Moves what is at hand to the buffer's beginning. */
static void stream_compact(struct input *input)
{
    const size_t have = input_have(input);

    input->first_offset = input_offset(input);
    memmove(input->buffer, input->at, have);
    input->first = input->at = input->buffer;
    input->end = input->buffer + have;
}

static enum input_state stream_grow(struct input *input, size_t need, struct sl_diag *diag)
{
    uint8_t *const buffer = (uint8_t *)realloc(input->buffer, need);

    if (buffer == NULL)
        return fail(input, diag_set(diag, SL_ENOMEM, input->label, 0, "no memory for %s bytes",
                                    grouped(need).text));
    input->end = buffer + input_have(input);
    input->first = input->at = input->buffer = buffer;
    input->buffer_cap = need;
    return INPUT_READY;
}

static enum input_state stream_fill(struct input *input, size_t need, struct sl_diag *diag)
{
    enum input_state state = INPUT_READY;

    while (input->skip != 0 && state == INPUT_READY) {
        stream_compact(input);
        state = stream_append(input, diag);
        input_skip(input, input->skip);
    }
    if (state != INPUT_READY)
        return state;
    stream_compact(input);
    if (need > input->buffer_cap)
        state = stream_grow(input, need, diag);
    while (input_have(input) < need && state == INPUT_READY)
        state = stream_append(input, diag);
    return state;
}

/* --- Maps --- */

/* Reads the pages in one call. Where the kernel can do that (Linux 5.14), a read error is a status,
 * and so is a file that was cut meanwhile. Without the call both would be a SIGBUS. */
static enum input_state map_populate(struct input *input, size_t from, size_t to,
                                     struct sl_diag *diag)
{
    struct stat stat;

    from &= ~(size_t)(PAGE_LEN - 1);
    if (from >= to || madvise(input->map + from, to - from, MADV_POPULATE_READ) == 0 ||
        (errno != EFAULT && errno != EHWPOISON))
        return INPUT_READY;
    if (fstat(input->fd, &stat) == 0 && (uint64_t)stat.st_size < input->map_len)
        return fail(input,
                    diag_set(diag, SL_EIO, input->label, 0,
                             "shrank from %s to %s bytes while it was read",
                             grouped(input->map_len).text, grouped((uint64_t)stat.st_size).text));
    errno = EIO;
    return fail_errno(input, diag);
}

static void map_drop(struct input *input, size_t at)
{
    const size_t len = at & ~(size_t)(PAGE_LEN - 1);

    if (len > input->dropped_len) {
        madvise(input->map + input->dropped_len, len - input->dropped_len, MADV_DONTNEED);
        input->dropped_len = len;
    }
}

static enum input_state map_fill(struct input *input, size_t need, struct sl_diag *diag)
{
    if (atomic_load(input->stopped))
        return INPUT_STOPPED;

    size_t at = (size_t)(input->at - input->map);
    const size_t ready = (size_t)(input->end - input->map);
    const size_t jump =
        input->skip < input->map_len - at ? (size_t)input->skip : input->map_len - at;
    at += jump;
    input->skip -= jump;

    const size_t window = need > WINDOW_LEN ? need : WINDOW_LEN;
    const size_t end = window < input->map_len - at ? at + window : input->map_len;
    const enum input_state state = map_populate(input, at > ready ? at : ready, end, diag);

    map_drop(input, at);
    input->read_ns = clock_ns();
    input->at = input->map + at;
    input->end = input->map + (state == INPUT_READY ? end : at);
    if (state != INPUT_READY)
        return state;
    return input->skip == 0 && input_have(input) >= need ? INPUT_READY : INPUT_ENDED;
}

enum input_state input_fill(struct input *input, size_t need, struct sl_diag *diag)
{
    return input->form == INPUT_MAPPED ? map_fill(input, need, diag)
                                       : stream_fill(input, need, diag);
}

/* --- Opening and closing --- */

/* False: the file cannot be mapped, and is streamed. */
static bool map_open(struct input *input, const struct stat *stat)
{
    if (!S_ISREG(stat->st_mode) || stat->st_size <= 0 || lseek(input->fd, 0, SEEK_CUR) != 0)
        return false;

    const size_t len = (size_t)stat->st_size;
    void *const map = mapped_file_map(input->fd, len, false, input->label);
    if (map == NULL)
        return false;
    madvise(map, len, MADV_SEQUENTIAL);
    input->form = INPUT_MAPPED;
    input->map = (uint8_t *)map;
    input->map_len = len;
    input->first = input->at = input->end = input->map;
    return true;
}

static enum sl_status stream_open(struct input *input, struct sl_diag *diag)
{
    input->buffer = (uint8_t *)malloc(BUFFER_LEN);
    if (input->buffer == NULL)
        return diag_set(diag, SL_ENOMEM, input->label, 0, "no memory to read it");
    input->form = INPUT_STREAM;
    input->buffer_cap = BUFFER_LEN;
    input->first = input->at = input->end = input->buffer;
    return SL_OK;
}

/* Opens without blocking: the wait for the writer of a named pipe obeys a stop, and open does not.
 * Only a file under a lease is opened with blocking, because the system requires it. */
static int open_path(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    return fd < 0 && errno == EWOULDBLOCK ? open(path, O_RDONLY | O_CLOEXEC) : fd;
}

enum sl_status input_open(struct input *input, const char *path, const char *label,
                          const atomic_bool *stopped, const uint64_t *close_ns,
                          struct sl_diag *diag)
{
    static const uint64_t whenever = 0;
    struct stat stat;

    *input = (struct input){.label = label, .stopped = stopped, .close_ns = close_ns, .fd = -1};
    input->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open_path(path);
    if (input->fd < 0 || fstat(input->fd, &stat) != 0)
        return diag_set(diag, SL_EIO, label, 0, "cannot be opened: %s", strerror(errno));
    if (S_ISDIR(stat.st_mode))
        return diag_set(diag, SL_EIO, label, 0, "cannot be read: it is a directory");
    input->waits = !S_ISREG(stat.st_mode);
    if (!input->waits)
        input->close_ns = &whenever;
    return map_open(input, &stat) ? SL_OK : stream_open(input, diag);
}

enum sl_status input_decompress(struct input *input, enum input_form form, struct sl_diag *diag)
{
    const enum sl_status status = input->form == INPUT_MAPPED ? stream_open(input, diag) : SL_OK;

    if (status != SL_OK)
        return status;
    if (input->map != NULL)
        mapped_file_unmap(input->map);
    input->map = NULL;
    /* The bytes of a pipe that were read to find out its form are in the buffer. */
    input->raw_end = input_have(input);
    input->raw_offset = input->raw_end;
    input->raw = (uint8_t *)malloc(RAW_LEN > input->raw_end ? RAW_LEN : input->raw_end);
    if (form == INPUT_ZSTD)
        input->zstd = ZSTD_createDStream();
    input->form = form;
    if (input->raw == NULL || (form == INPUT_ZSTD && input->zstd == NULL) ||
        (form == INPUT_GZIP && inflateInit2(&input->gzip, 15 + 16) != Z_OK))
        return diag_set(diag, SL_ENOMEM, input->label, 0, "no memory to decompress");
    memcpy(input->raw, input->at, input->raw_end);
    input->end = input->at;
    return SL_OK;
}

void input_close(struct input *input)
{
    if (input->map != NULL)
        mapped_file_unmap(input->map);
    if (input->fd >= 0)
        close(input->fd);
    inflateEnd(&input->gzip); /* does nothing where there is none */
    lzma_end(&input->xz);
    ZSTD_freeDStream(input->zstd);
    free(input->raw);
    free(input->buffer);
}
