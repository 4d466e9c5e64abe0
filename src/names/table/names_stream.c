/* SPDX-License-Identifier: MIT */
/* Texts read as names and looked up in batches, in order. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "names_input.h"
#include "names_internal.h"

enum { NAMES_BYTES = 4 << 20 }; /* of the names of a batch */

static const char too_long[] = "the line is longer than a line may be";

struct sl_names_stream {
    struct sl_names_reader *reader;
    struct sl_names_stream_config config;

    struct sl_names_result result[SL_NAMES_BATCH_MAX];
    uint32_t n_results;
    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    uint32_t n_names;
    uint32_t bytes_len;
    uint8_t bytes[NAMES_BYTES];
};

void sl_names_stream_config_init(struct sl_names_stream_config *config)
{
    *config = (struct sl_names_stream_config){.device = "cpu", .syntax = SL_NAME_AUTO};
}

enum sl_status sl_names_stream_open(struct sl_names_stream **out,
                                    const struct sl_names_stream_config *config,
                                    struct sl_diag *diag)
{
    struct sl_names_stream *stream;
    enum sl_status status = reserved_check(config->reserved, diag);

    *out = NULL;
    if (status != SL_OK)
        return status;
    if (config->names == NULL || config->take == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a stream needs a table and a taker");
    stream = malloc(sizeof *stream);
    if (stream == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    stream->config = *config;
    stream->n_results = stream->n_names = stream->bytes_len = 0;
    status = sl_names_reader_open(&stream->reader, config->names, config->device, diag);
    if (status != SL_OK) {
        free(stream);
        return status;
    }
    *out = stream;
    return SL_OK;
}

void sl_names_stream_close(struct sl_names_stream *stream)
{
    if (stream != NULL)
        sl_names_reader_close(stream->reader);
    free(stream);
}

/* ---- texts ----------------------------------------------------------------------------------- */

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

static bool is_full(const struct sl_names_stream *stream)
{
    return stream->n_results == SL_NAMES_BATCH_MAX ||
           sizeof stream->bytes - stream->bytes_len < SL_NAME_LEN_MAX;
}

/* Reads a result's text as a name of the batch, which has room. */
static void read_name(struct sl_names_stream *stream, struct sl_names_result *result)
{
    struct sl_name *name = &stream->name[stream->n_names];

    result->why = sl_name_read(name, stream->config.syntax, stream->bytes + stream->bytes_len,
                               (uint32_t)(sizeof stream->bytes) - stream->bytes_len, result->text,
                               result->text_len);
    if (result->why != NULL)
        return;
    result->name = name;
    result->answer = &stream->answer[stream->n_names++];
    stream->bytes_len += name->len;
}

/* Adds a text. `why` says that it is no name, whatever it holds; NULL: it is to be read. */
static enum sl_status add(struct sl_names_stream *stream, const char *text, size_t len,
                          const char *why, struct sl_diag *diag)
{
    if (is_full(stream)) {
        const enum sl_status status = sl_names_stream_flush(stream, diag);
        if (status != SL_OK)
            return status;
    }
    struct sl_names_result *result = &stream->result[stream->n_results++];

    *result = (struct sl_names_result){.why = why};
    result->text = trim(text, &len);
    result->text_len = len;
    if (why == NULL)
        read_name(stream, result);
    return SL_OK;
}

enum sl_status sl_names_stream_add(struct sl_names_stream *stream, const char *text,
                                   size_t text_len, struct sl_diag *diag)
{
    return add(stream, text, text_len, NULL, diag);
}

enum sl_status sl_names_stream_flush(struct sl_names_stream *stream, struct sl_diag *diag)
{
    const uint32_t n = stream->n_results;
    enum sl_status status =
        sl_names_lookup(stream->reader, stream->name, stream->n_names, stream->answer);

    stream->n_results = stream->n_names = stream->bytes_len = 0;
    if (status != SL_OK)
        return diag_set(diag, status, NULL, 0, "look-ups failed: %s", sl_status_text(status));
    if (n == 0)
        return SL_OK;
    return stream->config.take(stream->config.user, stream->result, n);
}

/* ---- a file descriptor ----------------------------------------------------------------------- */

/* Adds the whole lines that wait. *used is where they begin, and becomes where the rest begins. */
static enum sl_status add_lines(struct sl_names_stream *stream, const struct names_input *input,
                                size_t *used, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    while (status == SL_OK && *used < input->len) {
        const char *line = input->text + *used, *end = memchr(line, '\n', input->len - *used);
        if (end == NULL)
            break;
        status = add(stream, line, (size_t)(end - line), NULL, diag);
        *used = (size_t)(end + 1 - input->text);
    }
    return status;
}

/* Adds the line without an end that waits, where the file ends or the line is over-long. */
static enum sl_status add_rest(struct sl_names_stream *stream, struct names_input *input,
                               size_t *used, struct sl_diag *diag)
{
    const char *line = input->text + *used;
    const size_t len = input->len - *used;

    input->in_tail = len > SL_NAMES_LINE_MAX;
    if (len == 0 || !(input->ended || input->in_tail))
        return SL_OK;
    *used = input->len;
    return input->in_tail ? add(stream, line, SL_NAMES_LINE_MAX, too_long, diag)
                          : add(stream, line, len, NULL, diag);
}

/* Looks up what one read gave. */
static enum sl_status lookup(struct sl_names_stream *stream, struct names_input *input,
                             struct sl_diag *diag)
{
    size_t used = names_input_tail_len(input);
    enum sl_status status = SL_OK;

    if (!input->in_tail) {
        status = add_lines(stream, input, &used, diag);
        if (status == SL_OK)
            status = add_rest(stream, input, &used, diag);
        if (status == SL_OK)
            status = sl_names_stream_flush(stream, diag);
    }
    names_input_drop(input, used);
    return status;
}

enum sl_status sl_names_stream_read(struct sl_names_stream *stream, int fd, int stop_fd,
                                    struct sl_diag *diag)
{
    struct names_input *input = malloc(sizeof *input);
    enum sl_status status = SL_OK;

    if (input == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for reading names");
    input->fd = fd;
    input->stop_fd = stop_fd;
    input->name = fd == STDIN_FILENO ? "standard input" : NULL;
    input->ended = input->stopped = input->in_tail = false;
    input->len = 0;
    (void)fcntl(fd, F_SETPIPE_SZ, (int)sizeof input->text); /* fewer, larger reads; a pipe or not */
    while (status == SL_OK && !input->ended) {
        status = names_input_read(input, diag);
        if (input->stopped)
            break;
        if (status == SL_OK)
            status = lookup(stream, input, diag);
    }
    free(input);
    return status;
}
