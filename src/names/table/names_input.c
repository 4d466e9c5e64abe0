/* SPDX-License-Identifier: MIT */
#include "names_input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

/* False: stop_fd can be read. */
static bool wait_for_text(const struct names_input *input)
{
    struct pollfd fds[] = {{.fd = input->fd, .events = POLLIN},
                           {.fd = input->stop_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[1].revents == 0;
}

enum sl_status names_input_read(struct names_input *input, struct sl_diag *diag)
{
    for (;;) {
        input->stopped = !wait_for_text(input);
        if (input->stopped)
            return SL_OK;
        const ssize_t n =
            read(input->fd, input->text + input->len, sizeof input->text - input->len);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return diag_set(diag, SL_EIO, input->name, 0, "%s", strerror(errno));
        input->len += (size_t)n;
        input->ended = n == 0;
        return SL_OK;
    }
}

size_t names_input_tail_len(struct names_input *input)
{
    if (!input->in_tail)
        return 0;
    const char *end = memchr(input->text, '\n', input->len);

    input->in_tail = end == NULL;
    return end != NULL ? (size_t)(end + 1 - input->text) : input->len;
}

void names_input_drop(struct names_input *input, size_t used)
{
    input->len -= used;
    memmove(input->text, input->text + used, input->len);
}
