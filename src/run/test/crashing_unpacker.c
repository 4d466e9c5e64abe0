/* SPDX-License-Identifier: MIT */
/* An unpacker that opens nothing, and crashes where a file begins with "crash". */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unpack/message.h"

static bool send_event(const struct unpack_event *event)
{
    return send(UNPACK_SOCKET, event, sizeof *event, MSG_NOSIGNAL) == (ssize_t)sizeof *event;
}

/* The file of the next request; -1: none comes. */
static int take_request(void)
{
    struct unpack_request request;
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&request, sizeof request};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    int fd = -1;

    if (recvmsg(UNPACK_SOCKET, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof request)
        return -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

int main(void)
{
    const struct unpack_event room = {.type = UNPACK_ROOM}, end = {.type = UNPACK_END};
    char begin[5];
    int fd;

    if (!send_event(&room) || read(UNPACK_SOCKET, begin, 1) != 1)
        return 1;
    while ((fd = take_request()) >= 0) {
        const ssize_t n = pread(fd, begin, sizeof begin, 0);

        (void)close(fd);
        if (n == sizeof begin && memcmp(begin, "crash", sizeof begin) == 0) {
            (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would exit */
            (void)kill(getpid(), SIGSEGV);
        }
        if (!send_event(&end))
            return 1;
    }
    return 0;
}
