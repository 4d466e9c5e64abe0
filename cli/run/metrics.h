/* SPDX-License-Identifier: MIT */
/* Prometheus' side of a run: GET /metrics over HTTP. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include <stdbool.h>

#include "metrics_clients.h"
#include "sluice/stats.h"

struct MHD_Daemon;

struct metrics {
    bool listens;
    int socket; /* listens; the server closes it */
    struct MHD_Daemon *server;
    struct metrics_clients clients;                       /* of the server */
    void (*snapshot)(void *user, struct sl_stats *stats); /* on the server's thread */
    void *user;
};

/* Listens on "ADDR:PORT", "[ADDR]:PORT", or with ":PORT", "localhost:PORT" or "PORT" on 127.0.0.1;
 * a client waits until serving begins. With port 0 the system chooses one, and stderr names it.
 * False: the reason is on stderr. */
bool metrics_listen(struct metrics *metrics, const char *address);

/* Answers from now on with the counters of `snapshot`. False: the reason is on stderr. */
bool metrics_serve(struct metrics *metrics, void (*snapshot)(void *user, struct sl_stats *stats),
                   void *user);

/* Ends the answers and closes. Accepts a zeroed struct. */
void metrics_close(struct metrics *metrics);

#endif
