/* SPDX-License-Identifier: MIT */
#include "fib_serve.h"

enum { POLLS_A_CHECK = 1 << 15 }; /* some milliseconds: a call of the driver, and a lock */

/* ---- generations ----------------------------------------------------------------------------- */

static uint32_t latest(const struct serve_server *server)
{
    return __atomic_load_n(&server->started, __ATOMIC_ACQUIRE);
}

bool serve_has_ended(const struct serve_server *server, uint32_t generation)
{
    return latest(server) != generation || serve_load(&server->host->ended) == generation;
}

bool serve_ended(void *awaited, enum sl_status *status)
{
    struct serve_awaited *crew = awaited;
    const struct serve_place *place = &crew->server->place;
    enum sl_status serving = SL_OK;
    const bool ended = serve_has_ended(crew->server, crew->generation);

    if (!ended && ++crew->n_polls % POLLS_A_CHECK == 0)
        serving = place->check(place->user);
    if (ended || serving != SL_OK)
        *status = serving;
    return ended || serving != SL_OK;
}

uint32_t serve_call_off(struct serve_server *server)
{
    for (uint32_t i = 0; i < server->n_slots; i++)
        serve_set_stop(&server->host->slot[i], true);
    return latest(server);
}

/* The next generation, if there is none: others may have seen the same. */
static enum sl_status start(struct serve_server *server)
{
    const uint32_t generation = latest(server) + 1;
    uint32_t n_slots = 0;

    if (!serve_has_ended(server, generation - 1))
        return SL_OK;
    for (uint32_t i = 0; i < SERVE_SLOTS; i++)
        if (server->taken[i])
            n_slots = i + 1;
    for (uint32_t i = 0; i < n_slots; i++)
        serve_set_stop(&server->host->slot[i], false);
    const enum sl_status status = server->place.start(server->place.user, n_slots, generation);
    if (status == SL_OK) {
        server->n_slots = n_slots;
        __atomic_store_n(&server->started, generation, __ATOMIC_RELEASE);
    }
    return status;
}

/* A thread that finds the lock taken tries again later: a thread that sleeps on it wakes late. */
static enum sl_status keep_serving(struct serve_server *server)
{
    enum sl_status status = SL_OK;

    if (serve_has_ended(server, latest(server)) && fib_table_try_lock(server->table)) {
        status = start(server);
        fib_table_unlock(server->table);
    }
    return status;
}

/* ---- clients --------------------------------------------------------------------------------- */

bool serve_join(struct serve_server *server, struct serve_client *client)
{
    for (uint32_t i = 0; i < SERVE_SLOTS; i++) {
        if (server->taken[i])
            continue;
        server->taken[i] = true;
        *client = (struct serve_client){.server = server, .slot = &server->host->slot[i]};
        client->number = (uint16_t)serve_load(&client->slot->done);
        if (i >= server->n_slots)
            (void)serve_call_off(server);
        return true;
    }
    return false;
}

void serve_part(struct serve_client *client)
{
    client->server->taken[client->slot - client->server->host->slot] = false;
    client->slot = NULL;
}

enum sl_status serve_submit(struct serve_client *client, const struct fib_items *job)
{
    serve_ring(client->slot, job, ++client->number);
    client->n_polls = 0;
    return keep_serving(client->server);
}

bool serve_answered(void *waiting, enum sl_status *status)
{
    struct serve_client *client = waiting;
    const struct serve_place *place = &client->server->place;
    enum sl_status serving = SL_OK;
    const bool done = serve_is_done(client->slot, client->number);

    if (!done && ++client->n_polls % POLLS_A_CHECK == 0)
        serving = place->check(place->user);
    if (!done && serving == SL_OK)
        serving = keep_serving(client->server);
    if (done || serving != SL_OK)
        *status = serving;
    return done || serving != SL_OK;
}
