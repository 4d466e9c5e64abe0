/* SPDX-License-Identifier: MIT */
/* Streams of names. Of a file descriptor each thread takes a block of lines, looks it up and writes
 * its answers down beside the others. Blocks are read, and results passed, one after another. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/fd.h"
#include "base/reserved.h"
#include "names_input.h"
#include "names_lines.h"
#include "names_texts.h"

static const char too_long[] = "the line is longer than a line may be";

/* A thread's part of a stream. */
struct member {
    struct sl_names_stream *stream;
    struct names_texts *texts;
    struct names_lines *lines; /* NULL: there is a taker */
    struct names_block block;
    struct name_marks *marks; /* of its text */
    uint64_t number;          /* of the block: its results pass behind those of as many
                                 blocks */
    pthread_t thread;
};

struct sl_names_stream {
    struct sl_names_stream_config config;
    uint64_t n_missing; /* of members that have left */

    pthread_mutex_t input_lock;                   /* of these */
    struct member *members[SL_NAMES_THREADS_MAX]; /* the first is the caller's */
    uint32_t n_members;
    struct names_input input;
    bool over; /* no more blocks are taken, and no member comes */
    uint64_t n_taken;
    enum sl_status input_status;
    struct sl_diag input_diag;

    pthread_mutex_t lock; /* of n_passed */
    uint64_t n_passed;
    pthread_cond_t turn[SL_NAMES_THREADS_MAX]; /* that block i is next: [i % of them] */
    enum sl_status status;                     /* the first failure; of whose turn it is */
    struct sl_diag diag;
    atomic_bool failed; /* the same, for all */
    int failed_fd;      /* can be read from then on; -1: there is one member */
};

void sl_names_stream_config_init(struct sl_names_stream_config *config)
{
    *config = (struct sl_names_stream_config){.device = "cpu", .syntax = SL_NAME_AUTO, .out = -1};
}

/* ---- results in order ------------------------------------------------------------------------ */

static void await_turn(const struct member *member)
{
    struct sl_names_stream *const stream = member->stream;

    pthread_mutex_lock(&stream->lock);
    while (stream->n_passed != member->number)
        pthread_cond_wait(&stream->turn[member->number % SL_NAMES_THREADS_MAX], &stream->lock);
    pthread_mutex_unlock(&stream->lock);
}

static void fail(struct sl_names_stream *stream, enum sl_status status, const struct sl_diag *diag)
{
    if (stream->status != SL_OK)
        return;
    stream->status = status;
    stream->diag = *diag;
    atomic_store(&stream->failed, true);
}

static void pass_turn(struct member *member)
{
    struct sl_names_stream *const stream = member->stream;

    pthread_mutex_lock(&stream->lock);
    stream->n_passed++;
    pthread_cond_signal(&stream->turn[stream->n_passed % SL_NAMES_THREADS_MAX]);
    pthread_mutex_unlock(&stream->lock);
}

/* Lines behind a failure are dropped. */
static void write_lines(void *user, const char *bytes, size_t len)
{
    const struct member *const member = user;
    struct sl_names_stream *const stream = member->stream;
    struct sl_diag diag = {0};

    await_turn(member);
    while (len > 0 && stream->status == SL_OK) {
        const int64_t n = fd_write_some(stream->config.out, bytes, len);

        if (n < 0)
            fail(stream,
                 diag_set(&diag, SL_EIO,
                          stream->config.out == STDOUT_FILENO ? "standard output" : NULL, 0,
                          "cannot be written: %s", strerror(errno)),
                 &diag);
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static enum sl_status take(void *user, const struct sl_names_result *results, uint32_t n)
{
    const struct member *const member = user;
    const struct sl_names_stream *const stream = member->stream;

    if (member->lines != NULL) {
        names_lines_put(member->lines, results, names_texts_heads(member->texts), n);
        return SL_OK;
    }
    await_turn(member);
    return stream->status != SL_OK ? stream->status
                                   : stream->config.take(stream->config.user, results, n);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_member(struct member *member)
{
    names_texts_close(member->texts);
    free(member->lines);
    free(member->block.text);
    free(member->marks);
    free(member);
}

static enum sl_status open_member(struct sl_names_stream *stream, struct sl_diag *diag)
{
    struct member *const member = calloc(1, sizeof *member);

    if (member == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    member->stream = stream;
    enum sl_status status = names_texts_open(&member->texts, &stream->config, take, member, diag);
    member->block.text = malloc(NAMES_INPUT_ROOM);
    member->marks = malloc(NAME_N_MARKS(NAMES_INPUT_LEN) * sizeof *member->marks);
    if (stream->config.take == NULL)
        member->lines = calloc(1, sizeof *member->lines);
    if (status == SL_OK && (member->block.text == NULL || member->marks == NULL ||
                            (stream->config.take == NULL && member->lines == NULL)))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    if (status != SL_OK) {
        close_member(member);
        return status;
    }
    if (member->lines != NULL) {
        member->lines->names = stream->config.names;
        member->lines->json = stream->config.json;
        member->lines->explain = stream->config.explain;
        member->lines->drain = write_lines;
        member->lines->user = member;
    }
    stream->members[stream->n_members++] = member;
    return SL_OK;
}

static enum sl_status check_config(const struct sl_names_stream_config *config,
                                   struct sl_diag *diag)
{
    if (config->names == NULL || (config->take == NULL && config->out < 0))
        return diag_set(diag, SL_EINVAL, NULL, 0, "a stream needs a table, and a taker or a file");
    if (config->n_threads > SL_NAMES_THREADS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u threads (expected at most %d)",
                        config->n_threads, SL_NAMES_THREADS_MAX);
    return reserved_check(config->reserved, diag);
}

enum sl_status sl_names_stream_open(struct sl_names_stream **out,
                                    const struct sl_names_stream_config *config,
                                    struct sl_diag *diag)
{
    struct sl_names_stream *stream;
    enum sl_status status = check_config(config, diag);

    *out = NULL;
    if (status != SL_OK)
        return status;
    stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    stream->config = *config;
    if (config->n_threads == 0) {
        const uint32_t n_cores = cpu_cores();

        stream->config.n_threads = n_cores < SL_NAMES_THREADS_MAX ? n_cores : SL_NAMES_THREADS_MAX;
    }
    stream->failed_fd = -1;
    pthread_mutex_init(&stream->input_lock, NULL);
    pthread_mutex_init(&stream->lock, NULL);
    for (int i = 0; i < SL_NAMES_THREADS_MAX; i++)
        pthread_cond_init(&stream->turn[i], NULL);
    status = open_member(stream, diag);
    if (status == SL_OK)
        *out = stream;
    else
        sl_names_stream_close(stream);
    return status;
}

void sl_names_stream_close(struct sl_names_stream *stream)
{
    if (stream == NULL)
        return;
    for (uint32_t i = 0; i < stream->n_members; i++)
        close_member(stream->members[i]);
    for (int i = 0; i < SL_NAMES_THREADS_MAX; i++)
        pthread_cond_destroy(&stream->turn[i]);
    pthread_mutex_destroy(&stream->lock);
    pthread_mutex_destroy(&stream->input_lock);
    free(stream);
}

uint64_t sl_names_stream_missing(const struct sl_names_stream *stream)
{
    const struct names_lines *const lines = stream->members[0]->lines;

    return stream->n_missing + (lines != NULL ? lines->n_missing : 0);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The status that a call returns: the failure of passing results, or else its own status. */
static enum sl_status ended(struct sl_names_stream *stream, enum sl_status status,
                            struct sl_diag *diag)
{
    if (stream->status != SL_OK) {
        status = stream->status;
        if (diag != NULL)
            *diag = stream->diag;
    }
    stream->status = SL_OK;
    atomic_store(&stream->failed, false);
    return status;
}

enum sl_status sl_names_stream_add(struct sl_names_stream *stream, const char *text,
                                   size_t text_len, struct sl_diag *diag)
{
    return ended(stream, names_texts_add(stream->members[0]->texts, text, text_len, NULL, diag),
                 diag);
}

static enum sl_status flush(struct member *member, struct sl_diag *diag)
{
    const enum sl_status status = names_texts_flush(member->texts, diag);

    if (member->lines != NULL)
        names_lines_end(member->lines);
    return status;
}

enum sl_status sl_names_stream_flush(struct sl_names_stream *stream, struct sl_diag *diag)
{
    return ended(stream, flush(stream->members[0], diag), diag);
}

/* ---- a file descriptor ----------------------------------------------------------------------- */

static void *work(void *user);

static bool start_member(struct sl_names_stream *stream)
{
    if (stream->failed_fd < 0)
        stream->failed_fd = eventfd(0, EFD_CLOEXEC);
    stream->input.other_fd = stream->failed_fd;
    if (stream->failed_fd < 0 || open_member(stream, NULL) != SL_OK)
        return false;
    struct member *const member = stream->members[stream->n_members - 1];
    if (pthread_create(&member->thread, NULL, work, member) == 0)
        return true;
    stream->n_members--;
    close_member(member);
    return false;
}

/* Another thread, where there can be one: results do not depend on it. One that cannot start is not
 * tried again. */
static void add_member(struct sl_names_stream *stream)
{
    if (stream->n_members < stream->config.n_threads && !start_member(stream))
        stream->config.n_threads = stream->n_members;
}

/* Waits for lines. False: no more come. */
static bool take_block(struct member *member)
{
    struct sl_names_stream *const stream = member->stream;
    struct names_input *const input = &stream->input;
    bool taken = false;

    pthread_mutex_lock(&stream->input_lock);
    while (!taken && !stream->over && !atomic_load(&stream->failed)) {
        stream->input_status = names_input_read(input, &stream->input_diag);
        stream->over = stream->input_status != SL_OK || input->stopped || input->ended;
        if (stream->input_status == SL_OK && !input->stopped)
            taken = names_input_take(input, &member->block);
    }
    stream->over = stream->over || atomic_load(&stream->failed);
    if (taken) {
        member->number = stream->n_taken++;
        /* The input is faster than the threads that are there. */
        if (member->block.len > NAMES_READ_LEN / 2 && !stream->over)
            add_member(stream);
    }
    pthread_mutex_unlock(&stream->input_lock);
    return taken;
}

/* Adds the line that begins at *at, which advances to the next one. */
static enum sl_status add_line(struct member *member, size_t *at, struct sl_diag *diag)
{
    const struct names_block *const block = &member->block;
    const char *const line = block->text + *at;
    const char *const newline = memchr(line, '\n', block->len - *at);
    const size_t len = newline != NULL ? (size_t)(newline - line) : block->len - *at;

    *at += len + (newline != NULL);
    return newline == NULL && block->too_long
               ? names_texts_add(member->texts, line, SL_NAMES_LINE_MAX, too_long, diag)
               : names_texts_add(member->texts, line, len, NULL, diag);
}

static enum sl_status answer_block(struct member *member, struct sl_diag *diag)
{
    const struct names_block *const block = &member->block;
    const enum sl_name_syntax syntax = member->stream->config.syntax;
    const bool has_plain = syntax == SL_NAME_AUTO || syntax == SL_NAME_NDN;
    enum sl_status status = SL_OK;

    if (has_plain)
        name_mark(block->text, block->len, member->marks);
    for (size_t at = 0; status == SL_OK && at < block->len;) {
        struct name_plain plain;

        if (has_plain && name_plain_at(member->marks, at, &plain) && plain.len < block->len - at) {
            status = names_texts_add_plain(member->texts, block->text + at, &plain, diag);
            at += plain.len + 1;
        } else {
            status = add_line(member, &at, diag);
        }
    }
    return status == SL_OK ? flush(member, diag) : status;
}

/* Block by block, until no more come or a call failed. */
static void *work(void *user)
{
    static const uint64_t one = 1;
    struct member *const member = user;
    struct sl_names_stream *const stream = member->stream;

    while (take_block(member)) {
        struct sl_diag diag = {0};
        const enum sl_status status = answer_block(member, &diag);

        await_turn(member);
        if (status != SL_OK)
            fail(stream, status, &diag);
        if (stream->status != SL_OK && stream->failed_fd >= 0)
            (void)!write(stream->failed_fd, &one, sizeof one);
        pass_turn(member);
    }
    return NULL;
}

static void end_members(struct sl_names_stream *stream)
{
    for (; stream->n_members > 1; stream->n_members--) {
        struct member *const member = stream->members[stream->n_members - 1];

        pthread_join(member->thread, NULL);
        if (member->lines != NULL)
            stream->n_missing += member->lines->n_missing;
        close_member(member);
    }
}

enum sl_status sl_names_stream_read(struct sl_names_stream *stream, int fd, int stop_fd,
                                    struct sl_diag *diag)
{
    enum sl_status status = sl_names_stream_flush(stream, diag);

    if (status != SL_OK)
        return status;
    if (!names_input_open(&stream->input, fd))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for reading names");
    stream->input.stop_fd = stop_fd;
    stream->input.name = fd == STDIN_FILENO ? "standard input" : NULL;
    stream->input_status = SL_OK;
    stream->over = false;
    (void)fcntl(fd, F_SETPIPE_SZ, NAMES_INPUT_LEN); /* fewer, larger reads; a pipe or not */
    work(stream->members[0]);
    end_members(stream);
    stream->members[0]->number = stream->n_passed;
    names_input_close(&stream->input);
    if (stream->failed_fd >= 0)
        close(stream->failed_fd);
    stream->failed_fd = -1;
    if (stream->input_status != SL_OK && diag != NULL)
        *diag = stream->input_diag;
    return ended(stream, stream->input_status, diag);
}
