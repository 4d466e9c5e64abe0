/* SPDX-License-Identifier: MIT */
#include "flow_events.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/diag.h"

enum { PART_FLOWS = 4096, PARTS_MAX = 64 };

/* Some of the flows, whose text a thread makes ahead. */
struct part {
    const struct run_sinks *sinks;
    struct run_digest *digest; /* for sinks that hold, and community ids alone */
    struct batch_events events;
    pthread_t thread;
    bool started;
    enum sl_status status;
    struct sl_diag diag;
};

/* The flows at the end, as the ends of a batch without packets. */
struct finish {
    const struct run_source *source;
    struct run_sinks *sinks;
    struct run_policy *policy; /* without engines */
    struct sl_flow_keys *keys;
    struct part part[PARTS_MAX];
    uint32_t n_parts;
};

static void *write_ahead(void *argument)
{
    struct part *part = argument;

    part->status =
        run_sinks_write_ahead(part->sinks, part->digest->held, &part->events, &part->diag);
    return NULL;
}

static void start_part(struct finish *finish, struct part *part, size_t from, size_t to)
{
    static const struct sl_batch empty = {.n_items = 1};

    part->events = batch_events_of(finish->source, &empty, NULL, part->digest, finish->keys, NULL);
    part->events.first_flow = from;
    part->events.end_flow = to;
    part->started = pthread_create(&part->thread, NULL, write_ahead, part) == 0;
    if (!part->started)
        (void)write_ahead(part);
}

/* Writes the flows from `from` on, each part on a thread. Returns behind the last. */
static enum sl_status write_round(struct finish *finish, size_t *from, struct sl_diag *diag)
{
    const size_t n = sl_flow_keys_n_ends(finish->keys);
    enum sl_status status = SL_OK;
    uint32_t n_parts = 0;

    for (; n_parts < finish->n_parts && *from < n; n_parts++) {
        const size_t to = n - *from < PART_FLOWS ? n : *from + PART_FLOWS;

        start_part(finish, &finish->part[n_parts], *from, to);
        *from = to;
    }
    for (uint32_t i = 0; i < n_parts; i++) {
        struct part *part = &finish->part[i];

        if (part->started)
            pthread_join(part->thread, NULL);
        if (status == SL_OK && part->status != SL_OK) {
            status = part->status;
            *diag = part->diag;
        }
        if (status == SL_OK)
            status = run_sinks_write(finish->sinks, part->digest->held, &part->events, diag);
    }
    return status;
}

/* Makes as many parts as there are cores and flows for. */
static enum sl_status open_parts(struct finish *finish, struct sl_diag *diag)
{
    const size_t n = sl_flow_keys_n_ends(finish->keys);
    enum sl_status status = SL_OK;

    finish->policy = run_policy_create();
    if (finish->policy == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the flows at the end");
    while (status == SL_OK && finish->n_parts < cpu_cores() && finish->n_parts < PARTS_MAX &&
           (size_t)finish->n_parts * PART_FLOWS < n) {
        struct part *part = &finish->part[finish->n_parts++];

        part->sinks = finish->sinks;
        status = run_digest_create(&part->digest, finish->policy, finish->sinks, diag);
    }
    return status;
}

static bool is_alerted(void *user, uint64_t flow)
{
    return sl_state_alerted(user, flow);
}

static enum sl_status list_flows(struct finish *finish, struct sl_state *state,
                                 struct sl_diag *diag)
{
    const struct sl_flow_table *table = finish->source->flows;
    enum sl_status status = sl_flow_keys_create(&finish->keys, 1, diag);

    if (status != SL_OK)
        return status;
    sl_flow_table_finish(table, finish->keys);
    if (state != NULL)
        sl_flow_keys_amend(finish->keys, table, is_alerted, state);
    status = sl_flow_keys_sort_ends(finish->keys, table);
    return status == SL_OK ? SL_OK
                           : diag_set(diag, status, NULL, 0, "no memory for the flows at the end");
}

enum sl_status flow_events_finish(const struct run_source *source, struct sl_state *state,
                                  struct run_sinks *sinks, struct sl_diag *diag)
{
    struct finish *finish = calloc(1, sizeof *finish);
    size_t from = 0;

    if (finish == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the flows at the end");
    finish->source = source;
    finish->sinks = sinks;
    enum sl_status status = list_flows(finish, state, diag);
    if (status == SL_OK)
        status = open_parts(finish, diag);
    while (status == SL_OK && from < sl_flow_keys_n_ends(finish->keys))
        status = write_round(finish, &from, diag);
    for (uint32_t i = 0; i < finish->n_parts; i++)
        run_digest_free(finish->part[i].digest);
    run_policy_release(finish->policy);
    sl_flow_keys_free(finish->keys);
    free(finish);
    return status;
}
