/* SPDX-License-Identifier: MIT */
/* The host's side of a kernel that stays: slots for contexts, and generations one after another.
 * For C and CUDA sources. */
#ifndef FIB_SERVE_H
#define FIB_SERVE_H

#include "fib_serve_core.h"
#include "fib_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The time that a generation stays. Calls that wait for the whole GPU (as cudaFree) wait that long.
 * A leader makes fewer copies in it than 16 bits can count. Between two generations batches wait a
 * hundred microseconds more, so slices of 10 ms would show in their 99th percentile. */
enum { SERVE_SLICE_US = 100000 };

/* The side that serves. */
struct serve_place {
    void *user;

    /* Starts a generation over the table as it is published now. It serves the first n_slots of
     * `host`, and sets host->ended when it ends. SL_EDEVICE. Under the table's lock. */
    enum sl_status (*start)(void *user, uint32_t n_slots, uint32_t generation);

    /* SL_EDEVICE: it failed, and will serve nothing. */
    enum sl_status (*check)(void *user);
};

struct serve_server {
    struct sl_fib_table *table; /* its lock guards all members but the atomic ones */
    struct serve_host *host;    /* zero at first */
    struct serve_place place;
    uint32_t started; /* the latest generation; atomic */
    uint32_t n_slots; /* that it serves */
    bool taken[SERVE_SLOTS];
};

/* A context's part. */
struct serve_client {
    struct serve_server *server;
    struct serve_slot *slot; /* NULL: none */
    uint16_t number;         /* the latest job's */
    uint32_t n_polls;        /* since it was rung */
};

/* Takes a slot for a client that begins. False: all are taken. Under the lock. */
bool serve_join(struct serve_server *server, struct serve_client *client);

/* Returns the slot, which has no job under way. Under the lock. */
void serve_part(struct serve_client *client);

/* Ends the present generation, if there is one, soon, so that the next one sees a change. Returns
 * its number. Under the lock. */
uint32_t serve_call_off(struct serve_server *server);

/* Whether that one has ended. Any thread, without the lock. */
bool serve_has_ended(const struct serve_server *server, uint32_t generation);

/* A generation whose end is waited for. */
struct serve_awaited {
    const struct serve_server *server;
    uint32_t generation;
    uint32_t n_polls; /* 0 at first */
};

/* Whether it has ended, or failed and never will. For device_spin. */
bool serve_ended(void *awaited, enum sl_status *status);

/* Rings, and has a generation begin where there is none. SL_EDEVICE. */
enum sl_status serve_submit(struct serve_client *client, const struct fib_items *job);

/* Whether the job is done; where nobody serves it has a generation begin. For device_spin. */
bool serve_answered(void *waiting, enum sl_status *status);

#ifdef __cplusplus
}
#endif
#endif
