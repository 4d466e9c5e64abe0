/* SPDX-License-Identifier: MIT */
#include "request_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"

enum { ANSWER_MAX = 16 << 20, WAITING = 16 };

void request_server_init(struct request_server *server)
{
    *server = (struct request_server){.file = -1};
    for (int i = 0; i < REQUEST_CLIENTS; i++)
        server->client[i].file = -1;
}

static void close_client(struct request_client *client)
{
    if (client->file >= 0)
        close(client->file);
    free(client->answer);
    client->answer = NULL;
    client->file = -1;
}

void request_server_close(struct request_server *server)
{
    for (int i = 0; i < REQUEST_CLIENTS; i++)
        close_client(&server->client[i]);
    if (server->file >= 0)
        close(server->file);
    if (server->path[0] != '\0')
        (void)unlink(server->path);
    server->file = -1;
    server->path[0] = '\0';
}

/* ---- listening ------------------------------------------------------------------------------- */

static enum sl_status failed(const char *where, struct sl_diag *diag)
{
    return diag_set(diag, SL_EIO, where, 0, "cannot listen there: %s", strerror(errno));
}

static bool unix_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(address->sun_path, path, strlen(path) + 1);
    return true;
}

/* Whether a socket of that name is left of a process that has ended. */
static bool is_left(const struct sockaddr_un *address)
{
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool refused = made >= 0 &&
                         connect(made, (const struct sockaddr *)address, sizeof *address) != 0 &&
                         errno == ECONNREFUSED;

    if (made >= 0)
        close(made);
    return refused;
}

static void make_folder(const char *path)
{
    char folder[108];
    const char *const slash = strrchr(path, '/');

    if (slash == NULL || slash == path || (size_t)(slash - path) >= sizeof folder)
        return;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    (void)mkdir(folder, 0755);
}

enum sl_status request_listen_unix(struct request_server *server, const char *path,
                                   struct sl_diag *diag)
{
    struct sockaddr_un address;

    if (!unix_address(&address, path))
        return failed(path, diag);
    make_folder(path);
    server->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->file < 0)
        return failed(path, diag);

    const mode_t mask = umask(0177);
    int bound = bind(server->file, (const struct sockaddr *)&address, sizeof address);
    if (bound != 0 && errno == EADDRINUSE && is_left(&address)) {
        (void)unlink(path);
        bound = bind(server->file, (const struct sockaddr *)&address, sizeof address);
    }
    const int error = errno;
    umask(mask);
    errno = error;
    if (bound != 0 || listen(server->file, WAITING) != 0)
        return failed(path, diag);
    memcpy(server->path, path, strlen(path) + 1);
    return SL_OK;
}

enum sl_status request_listen_http(struct request_server *server, const struct sockaddr *address,
                                   socklen_t len, struct sl_diag *diag)
{
    const int on = 1;

    server->is_http = true;
    server->file = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->file < 0 ||
        setsockopt(server->file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(server->file, address, len) != 0 || listen(server->file, WAITING) != 0)
        return failed("the metrics' address", diag);
    return SL_OK;
}

/* ---- clients --------------------------------------------------------------------------------- */

static void accept_client(struct request_server *server, uint64_t now_ns)
{
    for (int i = 0; i < REQUEST_CLIENTS; i++) {
        struct request_client *const client = &server->client[i];

        if (client->file >= 0)
            continue;
        client->file = accept4(server->file, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        client->end_ns = now_ns + REQUEST_WAIT * UINT64_C(1000000000);
        client->n_read = client->n_written = 0;
        return;
    }
}

/* The request without its line's end, or the path of a GET; NULL: it is not whole. */
static char *whole_request(const struct request_server *server, struct request_client *client)
{
    char *const text = client->request;

    text[client->n_read] = '\0';
    if (!server->is_http) {
        char *const end = strchr(text, '\n');

        if (end != NULL)
            *end = '\0';
        return end != NULL ? text : NULL;
    }
    if (strstr(text, "\r\n\r\n") == NULL && strstr(text, "\n\n") == NULL)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    if (strncmp(text, "GET ", 4) != 0)
        return text + strlen(text);
    text[4 + strcspn(text + 4, " ")] = '\0';
    return text + 4;
}

/* Puts HTTP's head before an answer. */
static void wrap_http(struct request_client *client, bool found)
{
    char head[160];
    const int n = snprintf(head, sizeof head,
                           "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4\r\n"
                           "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                           found ? "200 OK" : "404 Not Found", client->n_answer);
    char *const whole = malloc((size_t)n + client->n_answer + 1);

    if (whole != NULL) {
        memcpy(whole, head, (size_t)n);
        if (client->n_answer > 0)
            memcpy(whole + n, client->answer, client->n_answer);
    }
    free(client->answer);
    client->answer = whole;
    client->n_answer += (size_t)n;
}

static void read_request(struct request_server *server, struct request_client *client)
{
    const ssize_t n =
        read(client->file, client->request + client->n_read, REQUEST_LEN - 1 - client->n_read);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            close_client(client);
        return;
    }
    client->n_read += (size_t)n;

    const char *const request = whole_request(server, client);
    if (request == NULL) {
        if (client->n_read == REQUEST_LEN - 1)
            close_client(client);
        return;
    }
    client->n_answer = 0;
    const bool found = server->answer(server->user, request, &client->answer, &client->n_answer);
    if (server->is_http)
        wrap_http(client, found);
    if (client->answer == NULL)
        close_client(client);
}

static void write_answer(struct request_client *client)
{
    const ssize_t n = send(client->file, client->answer + client->n_written,
                           client->n_answer - client->n_written, MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    client->n_written += n > 0 ? (size_t)n : 0;
    if (n <= 0 || client->n_written == client->n_answer)
        close_client(client);
}

size_t request_fds(const struct request_server *server, struct pollfd fds[REQUEST_FDS])
{
    size_t n = 0;

    if (server->file >= 0)
        fds[n++] = (struct pollfd){server->file, POLLIN, 0};
    for (int i = 0; i < REQUEST_CLIENTS; i++) {
        const struct request_client *const client = &server->client[i];

        if (client->file >= 0)
            fds[n++] = (struct pollfd){client->file, client->answer != NULL ? POLLOUT : POLLIN, 0};
    }
    return n;
}

void request_step(struct request_server *server, uint64_t now_ns)
{
    if (server->file < 0)
        return;
    accept_client(server, now_ns);
    for (int i = 0; i < REQUEST_CLIENTS; i++) {
        struct request_client *const client = &server->client[i];

        if (client->file >= 0 && client->answer == NULL)
            read_request(server, client);
        if (client->file >= 0 && client->answer != NULL)
            write_answer(client);
        if (client->file >= 0 && now_ns >= client->end_ns)
            close_client(client);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

static enum sl_status read_answer(int file, const char *path, char **answer, size_t *len,
                                  struct sl_diag *diag)
{
    size_t cap = 1 << 16;
    char *text = malloc(cap);

    *len = 0;
    while (text != NULL) {
        const ssize_t n = read(file, text + *len, cap - 1 - *len);

        if (n == 0) {
            text[*len] = '\0';
            *answer = text;
            return SL_OK;
        }
        if (n < 0 || (*len += (size_t)n) > ANSWER_MAX) {
            free(text);
            return diag_set(diag, SL_EIO, path, 0, "no answer: %s", strerror(errno));
        }
        if (*len == cap - 1) {
            char *const more = realloc(text, cap *= 2);

            if (more == NULL)
                free(text);
            text = more;
        }
    }
    return diag_set(diag, SL_ENOMEM, path, 0, "no memory for the answer");
}

enum sl_status request_ask(const char *path, const char *line, char **answer, size_t *len,
                           struct sl_diag *diag)
{
    const struct timeval wait = {.tv_sec = REQUEST_WAIT};
    struct sockaddr_un address;
    enum sl_status status;

    if (!unix_address(&address, path))
        return diag_set(diag, SL_EIO, path, 0, "%s", strerror(errno));

    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        connect(file, (const struct sockaddr *)&address, sizeof address) != 0 ||
        send(file, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line) ||
        send(file, "\n", 1, MSG_NOSIGNAL) != 1)
        status = diag_set(diag, SL_EIO, path, 0, "nobody answers there: %s", strerror(errno));
    else
        status = read_answer(file, path, answer, len, diag);
    if (file >= 0)
        close(file);
    return status;
}
