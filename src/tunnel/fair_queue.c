/* SPDX-License-Identifier: MIT */
#include "fair_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inner_packet.h"

#define MS UINT64_C(1000000)

struct waiting {
    struct waiting *next;
    uint64_t since;
    uint32_t len;
    uint8_t packet[];
};

struct fair_flow {
    struct waiting *first, **last;
    uint64_t bytes;
    int64_t deficit;
    struct fair_flow *next; /* in the round */
    bool in_round;

    /* CoDel */
    uint64_t above_until; /* time from which on waiting counts as too long; 0: it does not */
    uint64_t mark_at;     /* time of the next mark or drop */
    uint32_t n_marked;    /* since waiting is too long */
    bool tells;
};

struct fair_queue {
    struct fair_flow flows[FAIR_FLOWS];
    struct fair_flow *round, **round_last;
    struct waiting *taken; /* lent to the caller */
    uint64_t limit;
    struct fair_stats stats;
};

struct fair_queue *fair_create(uint64_t limit)
{
    struct fair_queue *const q = calloc(1, sizeof *q);

    if (q == NULL)
        return NULL;
    for (size_t i = 0; i < FAIR_FLOWS; i++)
        q->flows[i].last = &q->flows[i].first;
    q->round_last = &q->round;
    q->limit = limit;
    return q;
}

static struct waiting *pop(struct fair_queue *q, struct fair_flow *flow)
{
    struct waiting *const w = flow->first;

    if (w == NULL)
        return NULL;
    flow->first = w->next;
    if (flow->first == NULL)
        flow->last = &flow->first;
    flow->bytes -= w->len;
    q->stats.bytes -= w->len;
    q->stats.packets--;
    return w;
}

void fair_free(struct fair_queue *queue)
{
    if (queue == NULL)
        return;
    for (size_t i = 0; i < FAIR_FLOWS; i++)
        for (struct waiting *w; (w = pop(queue, &queue->flows[i])) != NULL;)
            free(w);
    free(queue->taken);
    free(queue);
}

static void make_room(struct fair_queue *q)
{
    struct fair_flow *longest = &q->flows[0];

    for (size_t i = 1; i < FAIR_FLOWS; i++)
        if (q->flows[i].bytes > longest->bytes)
            longest = &q->flows[i];
    free(pop(q, longest));
    q->stats.overflow++;
}

void fair_put(struct fair_queue *queue, const uint8_t *packet, uint32_t len, uint64_t hash,
              uint64_t now)
{
    struct fair_flow *const flow = &queue->flows[hash % FAIR_FLOWS];
    struct waiting *const w = malloc(sizeof *w + len);

    if (w == NULL || len > queue->limit) {
        free(w);
        queue->stats.overflow++;
        return;
    }
    while (queue->stats.bytes + len > queue->limit)
        make_room(queue);
    *w = (struct waiting){.since = now, .len = len};
    memcpy(w->packet, packet, len);
    *flow->last = w;
    flow->last = &w->next;
    flow->bytes += len;
    queue->stats.bytes += len;
    queue->stats.packets++;
    if (flow->in_round)
        return;
    flow->in_round = true;
    flow->deficit = FAIR_QUANTUM;
    flow->next = NULL;
    *queue->round_last = flow;
    queue->round_last = &flow->next;
}

/* ---- congestion ------------------------------------------------------------------------------ */

/* Whether packets of the flow have waited too long for a whole interval. */
static bool waits_too_long(struct fair_flow *flow, const struct waiting *w, uint64_t now)
{
    if (now - w->since < FAIR_TARGET * MS || flow->bytes <= FAIR_QUANTUM) {
        flow->above_until = 0;
        return false;
    }
    if (flow->above_until == 0)
        flow->above_until = now + FAIR_INTERVAL * MS;
    return now >= flow->above_until;
}

static uint64_t next_mark(const struct fair_flow *flow, uint64_t from)
{
    return from + (uint64_t)((double)(FAIR_INTERVAL * MS) / sqrt((double)flow->n_marked));
}

/* Whether this packet is to signal congestion to its sender. The rate of signals rises while they
 * do not help. */
static bool is_marked(struct fair_flow *flow, const struct waiting *w, uint64_t now)
{
    if (!waits_too_long(flow, w, now)) {
        flow->tells = false;
        return false;
    }
    if (!flow->tells) {
        const bool recent = flow->n_marked > 2 && now - flow->mark_at < 8 * FAIR_INTERVAL * MS;

        flow->tells = true;
        flow->n_marked = recent ? flow->n_marked - 2 : 1;
        flow->mark_at = next_mark(flow, now);
        return true;
    }
    if (now < flow->mark_at)
        return false;
    flow->n_marked++;
    flow->mark_at = next_mark(flow, flow->mark_at);
    return true;
}

static bool mark(struct waiting *w)
{
    struct inner_packet inner;

    if (!inner_read(&inner, w->packet, w->len) || (inner.traffic_class & ECN_MASK) == ECN_NONE)
        return false;
    inner_mark_ce(&inner, w->packet);
    return true;
}

/* The flow's next packet that is not dropped; NULL: it has none. */
static struct waiting *next_of(struct fair_queue *q, struct fair_flow *flow, uint64_t now)
{
    for (struct waiting *w; (w = pop(q, flow)) != NULL; free(w)) {
        if (!is_marked(flow, w, now))
            return w;
        if (mark(w)) {
            q->stats.marked++;
            return w;
        }
        q->stats.dropped++;
    }
    return NULL;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* The flow at the head of the round goes to its end, or out of it. */
static void end_turn(struct fair_queue *q, bool stays)
{
    struct fair_flow *const flow = q->round;

    q->round = flow->next;
    if (q->round == NULL)
        q->round_last = &q->round;
    flow->next = NULL;
    flow->in_round = stays;
    if (!stays)
        return;
    *q->round_last = flow;
    q->round_last = &flow->next;
}

bool fair_take(struct fair_queue *queue, const uint8_t **packet, uint32_t *len, uint64_t now)
{
    free(queue->taken);
    queue->taken = NULL;
    while (queue->round != NULL && queue->taken == NULL) {
        struct fair_flow *const flow = queue->round;

        if (flow->deficit <= 0) {
            flow->deficit += FAIR_QUANTUM;
            end_turn(queue, true);
            continue;
        }
        queue->taken = next_of(queue, flow, now);
        if (queue->taken == NULL)
            end_turn(queue, false);
        else
            flow->deficit -= queue->taken->len;
    }
    if (queue->taken == NULL)
        return false;
    *packet = queue->taken->packet;
    *len = queue->taken->len;
    return true;
}

void fair_stats(const struct fair_queue *queue, struct fair_stats *stats)
{
    *stats = queue->stats;
}
