/* SPDX-License-Identifier: MIT */
/* Look-ups of the same names over and over, timed. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "lookup.h"

enum {
    INPUT_LEN = 1 << 20, /* bytes of the first read */
    NAMES_LEN = 4 << 20, /* bytes of the names of a batch */
    BENCH_NS = 1000000000,
    N_RUNS_MAX = 100
};

/* Names that are looked up together. */
struct batch {
    struct sl_names_reader *reader;
    enum sl_name_syntax syntax;
    uint32_t n;
    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    uint32_t bytes_len;
    uint8_t bytes[NAMES_LEN];
};

/* ---- names ----------------------------------------------------------------------------------- */

/* Waits for standard input. False: stop_fd can be read. */
static bool wait_for_input(int stop_fd)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = stop_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[1].revents == 0;
}

/* All of standard input, until it ends or stop_fd can be read. NULL: the reason is on stderr. */
static char *read_input(int stop_fd, size_t *len)
{
    size_t room = INPUT_LEN;
    char *text = malloc(room);

    *len = 0;
    while (text != NULL) {
        const bool goes_on = wait_for_input(stop_fd);
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

/* The texts as lines. NULL: the reason is on stderr. */
static char *join(const char *const *texts, int n_texts, size_t *len)
{
    *len = 0;
    for (int i = 0; i < n_texts; i++)
        *len += strlen(texts[i]) + 1;
    char *const lines = malloc(*len + 1), *to = lines;
    if (lines == NULL) {
        cli_error("no memory for names");
        return NULL;
    }
    for (int i = 0; i < n_texts; i++) {
        to = stpcpy(to, texts[i]);
        *to++ = '\n';
    }
    return lines;
}

/* ---- timing ---------------------------------------------------------------------------------- */

struct timing {
    double read_seconds, lookup_seconds;
    uint64_t n_names, n_found;
};

static bool is_full(const struct batch *batch)
{
    return batch->n == SL_NAMES_BATCH_MAX ||
           sizeof batch->bytes - batch->bytes_len < SL_NAME_LEN_MAX;
}

/* Reads a line as a name of the batch, which has room. A line that is no name is left out. */
static void add_line(struct batch *batch, const char *line, size_t len)
{
    struct sl_name *name = &batch->name[batch->n];
    const char *end = line + len;

    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (line == end || sl_name_read(name, batch->syntax, batch->bytes + batch->bytes_len,
                                    (uint32_t)sizeof batch->bytes - batch->bytes_len, line,
                                    (size_t)(end - line)) != NULL)
        return;
    batch->bytes_len += name->len;
    batch->n++;
}

/* Fills the batch from text + at. Returns where the rest begins. */
static size_t fill(struct batch *batch, const char *text, size_t len, size_t at)
{
    batch->n = batch->bytes_len = 0;
    while (at < len && !is_full(batch)) {
        const char *newline = memchr(text + at, '\n', len - at);
        const size_t end = newline != NULL ? (size_t)(newline - text) : len;

        add_line(batch, text + at, end - at);
        at = end + 1;
    }
    return at;
}

/* Looks all names up once. Reading and looking up are timed apart. */
static enum sl_status time_once(struct batch *batch, const char *text, size_t len,
                                struct timing *timing)
{
    *timing = (struct timing){0};
    for (size_t at = 0; at < len;) {
        const uint64_t begin = clock_ns();
        at = fill(batch, text, len, at);
        const uint64_t read = clock_ns();
        const enum sl_status status =
            sl_names_lookup(batch->reader, batch->name, batch->n, batch->answer);
        if (status != SL_OK)
            return status;
        timing->lookup_seconds += (double)(clock_ns() - read) / 1e9;
        timing->read_seconds += (double)(read - begin) / 1e9;
        timing->n_names += batch->n;
        for (uint32_t i = 0; i < batch->n; i++)
            timing->n_found += batch->answer[i].action != SL_NAMES_NONE;
    }
    return SL_OK;
}

static int by_lookup_seconds(const void *a, const void *b)
{
    const struct timing *left = a, *right = b;

    return (left->lookup_seconds > right->lookup_seconds) -
           (left->lookup_seconds < right->lookup_seconds);
}

/* Repeats the look-ups, for a second and three times at least, and prints the median. */
static bool time_names(struct batch *batch, const char *text, size_t text_len, bool json)
{
    struct timing runs[N_RUNS_MAX];
    int n = 0;

    for (const uint64_t end = clock_ns() + BENCH_NS; n < N_RUNS_MAX && (n < 3 || clock_ns() < end);
         n++) {
        const enum sl_status status = time_once(batch, text, text_len, &runs[n]);
        if (status != SL_OK) {
            cli_error("look-ups failed: %s", sl_status_text(status));
            return false;
        }
    }
    if (runs[0].n_names == 0) {
        cli_error("--bench: there is no name to look up");
        return false;
    }
    qsort(runs, (size_t)n, sizeof *runs, by_lookup_seconds);
    const struct timing *median = &runs[n / 2];
    const double names = (double)median->n_names;
    printf(json
               ? "{\"names\":%.0f,\"found\":%.0f,\"runs\":%d,\"lookups_per_second\":%.0f,"
                 "\"with_reading_per_second\":%.0f}\n"
               : "%.0f names, %.0f found, median of %d runs on one thread: %.0f look-ups a second, "
                 "%.0f with reading the names\n",
           names, (double)median->n_found, n, names / median->lookup_seconds,
           names / (median->lookup_seconds + median->read_seconds));
    return true;
}

bool lookup_bench(const struct lookup_bench *bench)
{
    struct batch *batch = malloc(sizeof *batch);
    struct sl_diag diag = {0};
    char *text = NULL;
    size_t len;
    bool ok = false;

    if (batch == NULL) {
        cli_error("no memory for look-ups");
        return false;
    }
    batch->syntax = bench->syntax;
    if (sl_names_reader_open(&batch->reader, bench->names, bench->device, &diag) != SL_OK) {
        cli_diag(&diag);
        free(batch);
        return false;
    }
    text = bench->texts != NULL ? join(bench->texts, bench->n_texts, &len)
                                : read_input(bench->stop_fd, &len);
    if (text != NULL)
        ok = time_names(batch, text, len, bench->json);
    free(text);
    sl_names_reader_close(batch->reader);
    free(batch);
    return ok;
}
