/* SPDX-License-Identifier: MIT */
/* A server of short requests and their answers, for the loop of a service: no thread, few clients,
 * and none that holds up the loop. A request is a line on a Unix socket, or an HTTP GET. */
#ifndef SERVICE_REQUEST_SERVER_H
#define SERVICE_REQUEST_SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sluice/status.h"

enum {
    REQUEST_CLIENTS = 16,
    REQUEST_LEN = 4096, /* bytes of a request */
    REQUEST_WAIT = 5,   /* seconds that a client has for request and answer */
    REQUEST_FDS = REQUEST_CLIENTS + 1
};

struct request_client {
    int file; /* -1: none */
    uint64_t end_ns;
    size_t n_read, n_answer, n_written;
    char *answer; /* NULL: the request is not whole */
    char request[REQUEST_LEN];
};

struct request_server {
    int file; /* -1: none */
    bool is_http;
    char path[108]; /* of the socket, to be removed; empty: none */
    struct request_client client[REQUEST_CLIENTS];
    /* Makes the answer to a line, or to the path of a GET: `*answer` of `*len` bytes, which the
     * server frees. False: there is nothing of this name. */
    bool (*answer)(void *user, const char *request, char **answer, size_t *len);
    void *user;
};

/* Listens on a Unix socket that its owner alone may use. One that nobody listens on gives way; so
 * does its folder's absence. SL_EIO: diag has the reason. The caller closes, also where it failed.
 */
SL_CHECK enum sl_status request_listen_unix(struct request_server *server, const char *path,
                                            struct sl_diag *diag);

/* Listens for HTTP. */
SL_CHECK enum sl_status request_listen_http(struct request_server *server,
                                            const struct sockaddr *address, socklen_t len,
                                            struct sl_diag *diag);

void request_server_init(struct request_server *server);
void request_server_close(struct request_server *server);

/* Writes what the loop is to poll. Returns how many. */
size_t request_fds(const struct request_server *server, struct pollfd fds[REQUEST_FDS]);

/* Does what can be done without waiting. */
void request_step(struct request_server *server, uint64_t now_ns);

/* Sends a line to a Unix socket and reads the whole answer, which the caller frees. SL_EIO: nobody
 * answers there. SL_ENOMEM. */
SL_CHECK enum sl_status request_ask(const char *path, const char *line, char **answer, size_t *len,
                                    struct sl_diag *diag);

#endif
