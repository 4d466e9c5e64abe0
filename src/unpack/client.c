/* SPDX-License-Identifier: MIT */
#include "unpack/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

struct unpack_client {
    char program[4096];
    const uint8_t *passwords;
    size_t passwords_len;
    pid_t pid; /* 0: not running */
    int socket, arena_fd;
    uint8_t *arena;
};

/* ---- the process ----------------------------------------------------------------------------- */

/* The program beside the running one is of the same build. */
static void find_program(struct unpack_client *client)
{
    static const char name[] = "sluice-unpack";
    char *const path = client->program;
    const ssize_t len = readlink("/proc/self/exe", path, sizeof client->program - sizeof name - 1);
    char *slash = len > 0 ? memrchr(path, '/', (size_t)len) : NULL;

    if (slash != NULL)
        memcpy(slash + 1, name, sizeof name);
    if (slash == NULL || access(path, X_OK) != 0)
        snprintf(path, sizeof client->program, "%s/%s", SLUICE_LIBEXEC, name);
}

struct unpack_client *unpack_client_create(const char *program, const uint8_t *passwords,
                                           size_t passwords_len)
{
    struct unpack_client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->socket = client->arena_fd = -1;
    client->passwords = passwords;
    client->passwords_len = passwords_len;
    if (program != NULL)
        snprintf(client->program, sizeof client->program, "%s", program);
    else
        find_program(client);
    return client;
}

/* Returns the status that waitpid gives. */
static int end_process(struct unpack_client *client)
{
    int status = 0;

    if (client->pid > 0) {
        (void)kill(client->pid, SIGKILL);
        while (waitpid(client->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    client->pid = 0;
    if (client->socket >= 0)
        (void)close(client->socket);
    if (client->arena_fd >= 0)
        (void)close(client->arena_fd);
    if (client->arena != NULL)
        (void)munmap(client->arena, UNPACK_ARENA_LEN);
    client->socket = client->arena_fd = -1;
    client->arena = NULL;
    return status;
}

void unpack_client_free(struct unpack_client *client)
{
    if (client == NULL)
        return;
    (void)end_process(client);
    free(client);
}

static void write_passwords(struct unpack_client *client)
{
    struct unpack_passwords *const to = (void *)(client->arena + UNPACK_ARENA_HEAD);

    to->len = (uint32_t)client->passwords_len;
    if (to->len > 0)
        memcpy(to->bytes, client->passwords, to->len);
}

static bool make_arena(struct unpack_client *client)
{
    client->arena_fd = memfd_create("sluice-unpack", MFD_CLOEXEC);
    if (client->arena_fd < 0 || ftruncate(client->arena_fd, UNPACK_ARENA_LEN) != 0)
        return false;
    void *arena =
        mmap(NULL, UNPACK_ARENA_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, client->arena_fd, 0);
    client->arena = arena != MAP_FAILED ? arena : NULL;
    if (client->arena != NULL)
        write_passwords(client);
    return client->arena != NULL;
}

/* The process has its socket, its arena and the standard descriptors, and an empty environment. */
static int spawn(struct unpack_client *client, int socket)
{
    char *const arguments[] = {client->program, NULL}, *const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    (void)sigemptyset(&none);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0); /* the terminal's signals end the scan alone */
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, socket, UNPACK_SOCKET);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, client->arena_fd, UNPACK_ARENA);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, UNPACK_ARENA + 1);
    if (error == 0)
        error = posix_spawn(&client->pid, client->program, &actions, &attributes, arguments,
                            environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The descriptors lie above those that they become in the process. */
static bool lift(int *fd)
{
    const int above = fcntl(*fd, F_DUPFD_CLOEXEC, UNPACK_ARENA + 1);

    if (above < 0)
        return false;
    (void)close(*fd);
    *fd = above;
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Whether there is something to read before the deadline. */
static bool wait_for(const struct unpack_client *client, uint64_t deadline_ns)
{
    struct pollfd input = {.fd = client->socket, .events = POLLIN};

    for (;;) {
        const uint64_t now = deadline_ns > 0 ? clock_ns() : 0;
        const int ms = deadline_ns == 0     ? -1
                       : now >= deadline_ns ? 0
                                            : (int)((deadline_ns - now) / 1000000 + 1);
        const int n = poll(&input, 1, ms);

        if (n > 0)
            return true;
        if (n == 0)
            return false;
        if (errno != EINTR)
            return true; /* the read says what is wrong */
    }
}

/* Receives a message, and the descriptor that may come with it. */
static bool receive(const struct unpack_client *client, struct unpack_event *event, int *fd)
{
    char control[CMSG_SPACE(sizeof *fd)] = {0};
    struct iovec part = {event, sizeof *event};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};

    *fd = -1;
    if (recvmsg(client->socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *event)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return true;
}

/* Waits until a new process has given up its privileges. */
static bool is_ready(const struct unpack_client *client)
{
    const uint64_t patience_ns = UINT64_C(20000000000);
    struct unpack_event event;
    int fd = -1;

    return wait_for(client, clock_ns() + patience_ns) && receive(client, &event, &fd) && fd < 0 &&
           event.type == UNPACK_ROOM && send(client->socket, "", 1, MSG_NOSIGNAL) == 1;
}

static const char *start(struct unpack_client *client)
{
    int pair[2] = {-1, -1};
    int error = 0;

    if (!make_arena(client) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return "no room for the unpacker";
    client->socket = pair[0];
    if (!lift(&pair[1]) || !lift(&client->arena_fd))
        error = errno;
    if (error == 0)
        error = spawn(client, pair[1]);
    (void)close(pair[1]);
    if (error != 0)
        client->pid = 0;
    else if (!is_ready(client))
        return "the program sluice-unpack does not begin";
    return error == ENOENT ? "the program sluice-unpack is not there"
           : error != 0    ? "the program sluice-unpack cannot be started"
                           : NULL;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static bool send_request(struct unpack_client *client, int fd, const struct unpack_request *request)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {(void *)(uintptr_t)request, sizeof *request};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(client->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *request;
}

bool unpack_client_begin(struct unpack_client *client, int fd, const struct unpack_request *request,
                         const char **why)
{
    *why = NULL;
    for (int attempt = 0; attempt < 2; attempt++) { /* a process that ended is started again */
        if (client->pid == 0)
            *why = start(client);
        if (*why != NULL)
            break;
        atomic_store((atomic_bool *)client->arena, false);
        if (send_request(client, fd, request))
            return true;
        (void)end_process(client);
    }
    (void)end_process(client);
    if (*why == NULL)
        *why = "the unpacker ended";
    return false;
}

void unpack_client_cancel(struct unpack_client *client)
{
    if (client->arena != NULL)
        atomic_store((atomic_bool *)client->arena, true);
}

static void end_early(struct unpack_client *client, bool late, struct unpack_event *event)
{
    const int status = end_process(client);

    *event = (struct unpack_event){.type = UNPACK_END, .limited = late, .died = !late};
    if (late)
        snprintf(event->text, sizeof event->text, "Heuristics.Limits.Exceeded.MaxScanTime");
    else if (WIFSIGNALED(status))
        snprintf(event->text, sizeof event->text, "the unpacker crashed (signal %d)",
                 WTERMSIG(status));
    else
        snprintf(event->text, sizeof event->text, "the unpacker ended (status %d)",
                 WEXITSTATUS(status));
}

/* Whether an event is one that an honest unpacker sends. */
static bool is_sound(const struct unpack_event *event, int fd)
{
    if (event->type >= UNPACK_EVENTS || event->died || event->kind >= KINDS ||
        event->alert >= UNPACK_ALERTS || event->n_containers > UNPACK_CONTAINERS_MAX ||
        memchr(event->text, '\0', sizeof event->text) == NULL)
        return false;
    for (unsigned i = 0; i < event->n_containers; i++)
        if (event->containers[i] >= KINDS)
            return false;
    if (event->type != UNPACK_OBJECT && event->type != UNPACK_LINKS)
        return true;
    if (!event->in_arena)
        return event->type == UNPACK_OBJECT && fd >= 0;
    return event->at >= UNPACK_ARENA_HEAD && event->at <= UNPACK_ARENA_LEN &&
           event->len <= UNPACK_ARENA_LEN - event->at;
}

void unpack_client_next(struct unpack_client *client, uint64_t deadline_ns,
                        struct unpack_event *event, const uint8_t **bytes, int *fd)
{
    *bytes = NULL;
    do {
        if (!wait_for(client, deadline_ns)) {
            end_early(client, true, event);
            return;
        }
        if (!receive(client, event, fd) || !is_sound(event, *fd)) {
            if (*fd >= 0)
                (void)close(*fd);
            *fd = -1;
            end_early(client, false, event);
            return;
        }
        if (event->type == UNPACK_ROOM)
            (void)send(client->socket, "", 1, MSG_NOSIGNAL);
    } while (event->type == UNPACK_ROOM);
    if ((event->type == UNPACK_OBJECT || event->type == UNPACK_LINKS) && event->in_arena)
        *bytes = client->arena + event->at;
}
