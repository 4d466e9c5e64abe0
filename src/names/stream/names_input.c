/* SPDX-License-Identifier: MIT */
#include "names_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

bool names_input_open(struct names_input *input, int fd)
{
    *input = (struct names_input){.fd = fd, .stop_fd = -1, .other_fd = -1};
    input->text = malloc(NAMES_INPUT_ROOM);
    return input->text != NULL;
}

void names_input_close(struct names_input *input)
{
    free(input->text);
}

/* False: the input is to stop. */
static bool wait_for_text(const struct names_input *input)
{
    struct pollfd fds[] = {{.fd = input->fd, .events = POLLIN},
                           {.fd = input->stop_fd, .events = POLLIN},
                           {.fd = input->other_fd, .events = POLLIN}};

    while (poll(fds, 3, -1) < 0 && errno == EINTR)
        ;
    return fds[1].revents == 0 && fds[2].revents == 0;
}

enum sl_status names_input_read(struct names_input *input, struct sl_diag *diag)
{
    const size_t room = NAMES_INPUT_LEN - input->len;

    for (;;) {
        input->stopped = !wait_for_text(input);
        if (input->stopped)
            return SL_OK;
        const ssize_t n = read(input->fd, input->text + input->len,
                               room < NAMES_READ_LEN ? room : NAMES_READ_LEN);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return diag_set(diag, SL_EIO, input->name, 0, "%s", strerror(errno));
        input->len += (size_t)n;
        input->ended = n == 0;
        return SL_OK;
    }
}

void names_input_drop(struct names_input *input, size_t used)
{
    input->len -= used;
    memmove(input->text, input->text + used, input->len);
}

/* Drops what waits of the over-long line, its end included. Where that waits too, in_tail becomes
 * false. */
static void drop_tail(struct names_input *input)
{
    const char *end = memchr(input->text, '\n', input->len);

    input->in_tail = end == NULL;
    names_input_drop(input, end != NULL ? (size_t)(end + 1 - input->text) : input->len);
}

/* The bytes of the lines that wait. */
static size_t lines_len(const struct names_input *input)
{
    const char *end = memrchr(input->text, '\n', input->len);

    return input->ended ? input->len : end != NULL ? (size_t)(end + 1 - input->text) : 0;
}

bool names_input_take(struct names_input *input, struct names_block *block)
{
    char *const memory = block->text;

    if (input->in_tail)
        drop_tail(input);
    size_t len = lines_len(input);
    input->in_tail = input->in_tail || input->len - len > SL_NAMES_LINE_MAX;
    if (input->in_tail)
        len = input->len;
    if (len == 0)
        return false;
    *block = (struct names_block){input->text, len, input->in_tail};
    input->len -= len;
    memcpy(memory, block->text + len, input->len);
    input->text = memory;
    return true;
}
