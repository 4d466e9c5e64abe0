/* SPDX-License-Identifier: MIT */
/* The connections of a server: few are held, and those that take long give way. */
#ifndef CLI_METRICS_CLIENTS_H
#define CLI_METRICS_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Connections at once, of all clients and of one address; the rest are on their way out. */
enum { CLIENTS_HELD = 32, CLIENTS_OF_ADDRESS = 16, CLIENTS_MAX = 2 * CLIENTS_HELD };

struct metrics_client {
    bool used;
    bool ended; /* its socket is shut down */
    int socket;
    uint8_t address[16]; /* IPv4 addresses lie in ::ffff:0:0/96 */
    uint64_t begin_ns;   /* CLOCK_MONOTONIC */
};

struct metrics_clients {
    struct metrics_client client[CLIENTS_MAX];
    pthread_mutex_t lock; /* guards all of it */
    pthread_cond_t ends;
    bool ending;
    pthread_t clock; /* it ends connections that take too long */
};

/* Starts the clock. False: the system has no thread. */
bool metrics_clients_start(struct metrics_clients *clients);

/* Adds a connection. Where too many are held, the oldest of the address that has the most of them
 * is shut down. NULL: there is no room, and the connection is shut down. */
struct metrics_client *metrics_clients_add(struct metrics_clients *clients, int socket,
                                           const struct sockaddr *address);

/* Forgets a connection, whose socket is about to be closed. Accepts a NULL client. */
void metrics_clients_remove(struct metrics_clients *clients, struct metrics_client *client);

/* Ends the clock. */
void metrics_clients_end(struct metrics_clients *clients);

#endif
