/* SPDX-License-Identifier: MIT */
#include "fd.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"

/* After a call that failed: waits where the descriptor is not ready. False: errno. */
static bool may_repeat(int fd, short events)
{
    struct pollfd ready = {.fd = fd, .events = events};

    if (errno == EAGAIN)
        return poll(&ready, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

int64_t fd_read_some(int fd, void *bytes, size_t len)
{
    ssize_t n;

    do
        n = read(fd, bytes, len);
    while (n < 0 && may_repeat(fd, POLLIN));
    return n;
}

int64_t fd_read(int fd, void *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        const int64_t n = fd_read_some(fd, (uint8_t *)bytes + done, len - done);

        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

int64_t fd_read_at(int fd, void *bytes, size_t len, uint64_t at)
{
    size_t done = 0;

    while (done < len) {
        const ssize_t n = pread(fd, (uint8_t *)bytes + done, len - done, (off_t)(at + done));

        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return (int64_t)done;
}

int64_t fd_write_some(int fd, const void *bytes, size_t len)
{
    const ssize_t n = write(fd, bytes, len);

    if (n > 0 || len == 0)
        return n;
    if (n == 0)
        errno = EIO; /* not in POSIX for len > 0; another try could go on forever */
    return may_repeat(fd, POLLOUT) ? 0 : -1;
}

bool fd_write(int fd, const void *bytes, size_t len)
{
    const uint8_t *at = (const uint8_t *)bytes;

    while (len > 0) {
        const int64_t n = fd_write_some(fd, at, len);

        if (n < 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

enum sl_status fd_failed(const char *what, struct sl_diag *diag)
{
    return diag_set(diag, SL_EIO, NULL, 0, "%s: %s", what, strerror(errno));
}
