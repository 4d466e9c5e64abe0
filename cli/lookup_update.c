/* SPDX-License-Identifier: MIT */
/* Updates from a file or standard input, on a thread of their own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "lookup.h"

enum { INPUT_LEN = 1 << 20 }; /* bytes a read, and the longest line */

/* The whole lines of text[len], or all of it at the end; *used is where the rest begins. */
static bool apply(struct lookup_update *update, const char *text, size_t len, bool last,
                  uint32_t *line, size_t *used)
{
    struct sl_diag diag = {0};
    const char *end = last ? text + len : memrchr(text, '\n', len);

    *used = 0;
    if (end == NULL || len == 0)
        return true;
    *used = last ? len : (size_t)(end + 1 - text);
    const enum sl_status status = sl_names_update(
        update->names, strcmp(update->path, "-") == 0 ? "(standard input)" : update->path,
        update->format, text, *used, *line, &update->updated, &diag);
    for (size_t i = 0; i < *used; i++)
        *line += text[i] == '\n';
    if (status == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

static bool read_updates(struct lookup_update *update, int fd, char *input)
{
    size_t len = 0, used;
    uint32_t line = 1;

    while (lookup_wait(fd, update->stop_fd)) {
        const ssize_t n = read(fd, input + len, INPUT_LEN - len);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0) {
            cli_error("%s: %s", update->path, strerror(errno));
            return false;
        }
        len += (size_t)n;
        if (!apply(update, input, len, n == 0, &line, &used))
            return false;
        if (n == 0)
            break;
        if (used == 0 && len == INPUT_LEN) {
            cli_error("%s:%u: the line is longer than %d bytes", update->path, line, INPUT_LEN);
            return false;
        }
        memmove(input, input + used, len - used);
        len -= used;
    }
    return true;
}

static void *run_updates(void *user)
{
    struct lookup_update *update = user;
    const bool is_stdin = strcmp(update->path, "-") == 0;
    /* A named pipe is waited for where signals are heard, not in open. */
    const int fd = is_stdin ? STDIN_FILENO : open(update->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *input = malloc(INPUT_LEN);

    if (fd < 0)
        cli_error("%s: %s", update->path, strerror(errno));
    else if (input == NULL)
        cli_error("no memory for updates");
    update->failed = fd < 0 || input == NULL || !read_updates(update, fd, input);
    free(input);
    if (fd >= 0 && !is_stdin)
        close(fd);
    return NULL;
}

bool lookup_update_start(struct lookup_update *update)
{
    const int error = pthread_create(&update->thread, NULL, run_updates, update);

    update->running = error == 0;
    if (error != 0)
        cli_error("no thread for updates: %s", strerror(error));
    return update->running;
}

bool lookup_update_end(struct lookup_update *update)
{
    if (update->running)
        pthread_join(update->thread, NULL);
    update->running = false;
    return !update->failed;
}
