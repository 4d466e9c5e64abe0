/* SPDX-License-Identifier: MIT */
/* Standard input as a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "scan_job.h"

enum {
    FEED_LEN = 1 << 16,
    IN_MEMORY = 64 << 20, /* bytes; more are in a temporary file */
    FEED_WAIT_MS = 100    /* between two checks for a stop */
};

/* Waits for standard input. False: the scan was stopped before. */
static bool wait_for_stdin(struct sl_scan *scan)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!atomic_load(&scan->stopped))
        if (poll(&input, 1, FEED_WAIT_MS) != 0)
            return true; /* also after an error, which the read repeats */
    return false;
}

/* Moves the bytes in memory to a temporary file. -1: it has no room. */
static int move_to_disk(int fd)
{
    FILE *file = tmpfile();
    const int moved = file != NULL ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    uint8_t bytes[FEED_LEN];
    ssize_t n = lseek(fd, 0, SEEK_SET) == 0 ? 1 : -1;

    if (file != NULL)
        (void)fclose(file);
    while (moved >= 0 && n > 0) {
        n = read(fd, bytes, sizeof bytes);
        if (n > 0 && !fd_write(moved, bytes, (size_t)n))
            n = -1;
    }
    (void)close(fd);
    if (moved >= 0 && n < 0)
        (void)close(moved);
    return n < 0 ? -1 : moved;
}

int scan_read_stdin(struct scan_job *job, struct scan_entry *entry)
{
    uint8_t bytes[FEED_LEN];
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    uint64_t len = 0;
    ssize_t n = 1;

    while (n != 0 && fd >= 0) {
        if (!wait_for_stdin(job->scan)) {
            scan_entry_fail(entry, "not read to its end: the scan was stopped");
            return fd;
        }
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            scan_entry_fail(entry, strerror(errno));
            return fd;
        }
        if (len <= IN_MEMORY && len + (uint64_t)n > IN_MEMORY)
            fd = move_to_disk(fd);
        len += (uint64_t)n;
        if (fd >= 0 && !fd_write(fd, bytes, (size_t)n)) {
            (void)close(fd);
            fd = -1;
        }
    }
    if (fd < 0)
        scan_entry_fail(entry, "no room for its bytes");
    return fd;
}
