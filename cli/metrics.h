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
    int socket; /* that listens; the server takes it over */
    struct MHD_Daemon *server;
    struct metrics_clients clients;                   /* of the server */
    void (*look)(void *user, struct sl_stats *stats); /* on the server's thread */
    void *user;
};

/* Listens on "ADDR:PORT", "[ADDR]:PORT", or with ":PORT", "localhost:PORT" or "PORT" on 127.0.0.1;
 * who connects waits until serving begins. With port 0 the system picks one, which is said on
 * stderr. False: said on stderr. */
bool metrics_listen(struct metrics *metrics, const char *address);

/* Answers from now on, with what `look` fills in. False: said on stderr. */
bool metrics_serve(struct metrics *metrics, void (*look)(void *user, struct sl_stats *stats),
                   void *user);

/* Ends answers under way and closes; of what never listened (zeroed) too. */
void metrics_close(struct metrics *metrics);

#endif
