/* SPDX-License-Identifier: MIT */
/* sluice-unpack: the program that opens files for a scan. It is started by the scan with a socket
 * and an arena, gives up its privileges, and serves one file after another until the socket ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "unpack/sandbox.h"
#include "unpack/unpack.h"

enum {
    READ_MAX = 1 << 20 /* bytes of a file that is read: tables of pages cost more than a copy */
};

struct worker {
    uint8_t *arena; /* a flag, "nothing more is wanted", and bytes from UNPACK_ARENA_HEAD on */
    size_t used;
    uint8_t *file; /* one that is read; NULL before the first */
};

static bool send_event(const struct unpack_event *event, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {(void *)(uintptr_t)event, sizeof *event};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return sendmsg(UNPACK_SOCKET, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *event;
}

/* Waits until the scan has read all that lies in the arena. */
static bool empty_arena(struct worker *worker)
{
    const struct unpack_event event = {.type = UNPACK_ROOM};
    char answer;

    worker->used = 0;
    return send_event(&event, -1) && read(UNPACK_SOCKET, &answer, 1) == 1;
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool send_large(const struct unpack_event *event, const uint8_t *bytes)
{
    const int fd = memfd_create("object", MFD_CLOEXEC);
    const bool sent = fd >= 0 && write_all(fd, bytes, event->len) && send_event(event, fd);

    if (fd >= 0)
        (void)close(fd);
    return sent;
}

static bool emit(void *user, struct unpack_event *event, const uint8_t *bytes)
{
    struct worker *worker = user;
    const size_t room = UNPACK_ARENA_LEN - UNPACK_ARENA_HEAD;

    if (event->type != UNPACK_OBJECT && event->type != UNPACK_LINKS)
        return send_event(event, -1) && !atomic_load((atomic_bool *)worker->arena);
    if (event->len > room)
        return send_large(event, bytes);
    if (event->len > room - worker->used && !empty_arena(worker))
        return false;
    event->in_arena = true;
    event->at = UNPACK_ARENA_HEAD + worker->used;
    memcpy(worker->arena + event->at, bytes, event->len);
    worker->used += event->len;
    return send_event(event, -1) && !atomic_load((atomic_bool *)worker->arena);
}

/* A request and its file. False: the scan is over. */
static bool take_request(struct unpack_request *request, int *fd)
{
    char control[CMSG_SPACE(sizeof *fd)] = {0};
    struct iovec part = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};

    if (recvmsg(UNPACK_SOCKET, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *request)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof *fd))
        return false;
    memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return true;
}

/* A mapped file that shrinks meanwhile ends the program: the scan reports it. */
static bool serve(struct worker *worker, struct unpack *unpack)
{
    struct unpack_request request;
    struct unpack_event failed = {.type = UNPACK_END};
    struct stat file;
    int fd;

    if (!take_request(&request, &fd))
        return false;
    worker->used = 0;
    size_t len = fstat(fd, &file) == 0 ? (size_t)file.st_size : 0;
    if (worker->file == NULL)
        worker->file = malloc(READ_MAX);
    const bool is_read = len <= READ_MAX && worker->file != NULL;
    void *const mapped = is_read ? NULL : mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    const int64_t n = is_read ? fd_read_at(fd, worker->file, len, 0) : (int64_t)len;
    len = n < 0 ? 0 : (size_t)n;
    (void)close(fd);
    if (len == 0 || mapped == MAP_FAILED) {
        snprintf(failed.text, sizeof failed.text, "the unpacker cannot read it");
        return send_event(&failed, -1);
    }
    unpack_file(unpack, &request, is_read ? worker->file : mapped, len);
    if (!is_read)
        (void)munmap(mapped, len);
    return true;
}

/* The arena is used for objects afterwards. NULL: no memory. */
static uint8_t *take_passwords(const struct worker *worker, struct unpack *unpack)
{
    const struct unpack_passwords *from = (const void *)(worker->arena + UNPACK_ARENA_HEAD);
    uint8_t *const passwords = malloc((size_t)from->len + 1);

    if (passwords != NULL) {
        memcpy(passwords, from->bytes, from->len);
        unpack_set_passwords(unpack, passwords, from->len);
    }
    return passwords;
}

int main(void)
{
    struct worker worker = {
        mmap(NULL, UNPACK_ARENA_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, UNPACK_ARENA, 0), 0, NULL};
    struct unpack *unpack = unpack_create(emit, &worker);

    if (worker.arena == MAP_FAILED) {
        fputs("sluice-unpack: sluice scan starts this program\n", stderr);
        return EXIT_FAILURE;
    }
    (void)close(UNPACK_ARENA);
    if (unpack == NULL || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || !sandbox_enter())
        return EXIT_FAILURE;
    uint8_t *const passwords = empty_arena(&worker) ? take_passwords(&worker, unpack) : NULL;
    while (passwords != NULL && serve(&worker, unpack))
        ;
    /* What a usual exit does, a sanitizer's search for leaks for one, needs calls that the sandbox
     * refuses. */
    _exit(passwords != NULL ? EXIT_SUCCESS : EXIT_FAILURE);
}
