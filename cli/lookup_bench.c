/* SPDX-License-Identifier: MIT */
/* Names in batches: from standard input, from arguments, and over and over to be timed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "lookup.h"

enum { INPUT_LEN = 1 << 20 }; /* bytes a read */

static const char *trim(const char *text, size_t *len)
{
    const char *end = text + *len;

    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    *len = (size_t)(end - text);
    return text;
}

static bool is_full(const struct lookup *lookup)
{
    return lookup->n_asked == SL_NAMES_BATCH_MAX ||
           sizeof lookup->bytes - lookup->bytes_len < SL_NAME_LEN_MAX;
}

/* A name into the batch, which has room. */
static void take(struct lookup *lookup, const char *text, size_t len)
{
    const uint32_t i = lookup->n_asked++;
    struct sl_name *name = &lookup->name[lookup->n_names];

    lookup->asked[i].text = text;
    lookup->asked[i].len = len;
    lookup->asked[i].answered = lookup->n_names;
    lookup->asked[i].why =
        sl_name_read(name, lookup->syntax, lookup->bytes + lookup->bytes_len,
                     (uint32_t)(sizeof lookup->bytes) - lookup->bytes_len, text, len);
    if (lookup->asked[i].why != NULL) {
        lookup->asked[i].answered = 0;
        return;
    }
    lookup->bytes_len += name->len;
    lookup->n_names++;
}

enum sl_status lookup_add(struct lookup *lookup, const char *text, size_t len)
{
    if (is_full(lookup)) {
        const enum sl_status status = lookup_flush(lookup);
        if (status != SL_OK)
            return status;
    }
    text = trim(text, &len);
    if (len != 0)
        take(lookup, text, len);
    return SL_OK;
}

static void forget(struct lookup *lookup)
{
    lookup->n_asked = lookup->n_names = lookup->bytes_len = 0;
}

enum sl_status lookup_flush(struct lookup *lookup)
{
    const enum sl_status status =
        sl_names_lookup(lookup->reader, lookup->name, lookup->n_names, lookup->answer);

    if (status != SL_OK) {
        cli_error("look-ups failed: %s", sl_status_text(status));
        return status;
    }
    lookup_write(lookup);
    forget(lookup);
    return lookup->out->error == 0 ? SL_OK : SL_EIO;
}

/* The whole lines of text[len]; *used is where the rest begins. */
static enum sl_status add_lines(struct lookup *lookup, const char *text, size_t len, size_t *used)
{
    enum sl_status status = SL_OK;

    *used = 0;
    while (status == SL_OK && *used < len) {
        const char *line = text + *used, *end = memchr(line, '\n', len - *used);
        if (end == NULL)
            break;
        status = lookup_add(lookup, line, (size_t)(end - line));
        *used = (size_t)(end + 1 - text);
    }
    return status;
}

bool lookup_wait(int fd, int stop_fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[1].revents == 0;
}

/* What one read gave is answered before the next one, which may wait: who asks name by name through
 * a pipe gets answers at once. */
bool lookup_stream(struct lookup *lookup, int stop_fd)
{
    char *input = malloc(INPUT_LEN);
    size_t len = 0, used;
    bool ok = input != NULL;

    if (!ok)
        cli_error("no memory for standard input");
    (void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, INPUT_LEN); /* fewer, larger reads; a pipe or not */
    while (ok && lookup_wait(STDIN_FILENO, stop_fd)) {
        const ssize_t n = read(STDIN_FILENO, input + len, INPUT_LEN - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            cli_error("standard input: %s", strerror(errno));
            ok = false;
            break;
        }
        len += (size_t)n;
        enum sl_status status = add_lines(lookup, input, len, &used);
        /* The end, or a line that no name is as long as, ends the line. */
        if (status == SL_OK && (n == 0 || (used == 0 && len == INPUT_LEN))) {
            status = lookup_add(lookup, input + used, len - used);
            used = len;
        }
        if (status == SL_OK)
            status = lookup_flush(lookup);
        line_sink_drain(lookup->out);
        ok = status == SL_OK && lookup->out->error == 0;
        memmove(input, input + used, len - used);
        len -= used;
        if (n == 0)
            break;
    }
    free(input);
    return ok;
}

char *lookup_read_all(size_t *len, int stop_fd)
{
    size_t room = INPUT_LEN;
    char *text = malloc(room);

    *len = 0;
    while (text != NULL) {
        const bool goes_on = lookup_wait(STDIN_FILENO, stop_fd);
        const ssize_t n = goes_on ? read(STDIN_FILENO, text + *len, room - *len) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            cli_error("standard input: %s", strerror(errno));
            free(text);
            return NULL;
        }
        if (n == 0)
            return text;
        *len += (size_t)n;
        if (*len == room) {
            char *more = realloc(text, room *= 2);
            if (more == NULL)
                break;
            text = more;
        }
    }
    free(text);
    cli_error("no memory for standard input");
    return NULL;
}

/* ---- timing ---------------------------------------------------------------------------------- */

enum { BENCH_NS = 1000000000, N_RUNS_MAX = 100 };

struct timing {
    double read_seconds, look_seconds;
    uint64_t n_names, n_found;
};

/* All names once: reading and looking up are timed apart. */
static enum sl_status time_once(struct lookup *lookup, const char *text, size_t len,
                                struct timing *timing)
{
    size_t at = 0;

    *timing = (struct timing){0};
    while (at < len) {
        const uint64_t begin = clock_ns();
        while (at < len && !is_full(lookup)) {
            const char *end = memchr(text + at, '\n', len - at);
            size_t line_len = end != NULL ? (size_t)(end - text) - at : len - at;
            const size_t next = at + line_len + 1;
            const char *line = trim(text + at, &line_len);

            if (line_len != 0)
                take(lookup, line, line_len);
            at = next;
        }
        const uint64_t read = clock_ns();
        const enum sl_status status =
            sl_names_lookup(lookup->reader, lookup->name, lookup->n_names, lookup->answer);
        if (status != SL_OK)
            return status;
        timing->look_seconds += (double)(clock_ns() - read) / 1e9;
        timing->read_seconds += (double)(read - begin) / 1e9;
        timing->n_names += lookup->n_names;
        for (uint32_t i = 0; i < lookup->n_names; i++)
            timing->n_found += lookup->answer[i].action != SL_NAMES_NONE;
        forget(lookup);
    }
    return SL_OK;
}

static int by_look(const void *a, const void *b)
{
    const struct timing *left = a, *right = b;

    return (left->look_seconds > right->look_seconds) - (left->look_seconds < right->look_seconds);
}

bool lookup_bench(struct lookup *lookup, const char *text, size_t text_len)
{
    struct timing runs[N_RUNS_MAX];
    int n = 0;

    for (const uint64_t end = clock_ns() + BENCH_NS; n < N_RUNS_MAX && (n < 3 || clock_ns() < end);
         n++) {
        const enum sl_status status = time_once(lookup, text, text_len, &runs[n]);
        if (status != SL_OK) {
            cli_error("look-ups failed: %s", sl_status_text(status));
            return false;
        }
    }
    if (runs[0].n_names == 0) {
        cli_error("--bench: there is no name to look up");
        return false;
    }
    qsort(runs, (size_t)n, sizeof *runs, by_look);
    const struct timing *median = &runs[n / 2];
    const double names = (double)median->n_names;
    printf(lookup->json
               ? "{\"names\":%.0f,\"found\":%.0f,\"runs\":%d,\"lookups_per_second\":%.0f,"
                 "\"with_reading_per_second\":%.0f}\n"
               : "%.0f names, %.0f found, median of %d runs on one thread: %.0f look-ups a second, "
                 "%.0f with reading the names\n",
           names, (double)median->n_found, n, names / median->look_seconds,
           names / (median->look_seconds + median->read_seconds));
    return true;
}
