/* SPDX-License-Identifier: MIT */
#include "run_apps.h"

#include <stdlib.h>
#include <string.h>

#include "app/dns_buffers.h"
#include "base/diag.h"
#include "detect/match/match_class.h"
#include "sluice/detect.h"

/* ---- the flows of all batches ---------------------------------------------------------------- */

enum sl_status run_apps_create(struct run_apps **out, const struct sl_flow_table *flows,
                               const struct app_config *config, struct sl_diag *diag)
{
    struct run_apps *apps = calloc(1, sizeof *apps);

    *out = apps;
    if (apps == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the protocols of flows");
    pthread_mutex_init(&apps->lock, NULL);
    apps->n_shards = sl_flow_n_shards(flows);
    apps->reads_quic = config->has_steps || (config->is_done >> SL_APP_QUIC & 1) != 0;
    return app_shards_create(&apps->shards, apps->n_shards, config, diag);
}

void run_apps_free(struct run_apps *apps)
{
    if (apps == NULL)
        return;
    app_shards_free(apps->shards, apps->n_shards);
    pthread_mutex_destroy(&apps->lock);
    free(apps);
}

/* ---- collecting ------------------------------------------------------------------------------ */

struct app_collecting app_batch_begin(struct app_batch *mine, const struct run_apps *apps,
                                      struct run_flow *of_flow, struct sl_batch *batch,
                                      uint32_t shard)
{
    const struct app_collecting collecting = {.shard = app_shard_at(apps->shards, shard),
                                              .of_flow = of_flow,
                                              .output = &mine->shard[shard],
                                              .batch = batch,
                                              .reads_quic = apps->reads_quic};

    app_shard_begin(collecting.shard, collecting.output);
    return collecting;
}

void app_batch_collected(const struct app_collecting *mine)
{
    app_shard_end(mine->shard);
}

void app_batch_take(const struct app_collecting *mine, const struct stream_output *streams,
                    uint32_t from, uint64_t flow, const struct late_flow *late)
{
    for (uint32_t r = from; r < streams->n; r++) {
        const struct stream_record *record = &streams->record[r];
        const enum app_side side = (enum app_side)record->half;
        const struct sl_batch *const batch = mine->batch;
        struct app_place place = {.slot = &run_flow_of(record->stream)->app,
                                  .flow = record->flow,
                                  .item = record->item,
                                  .late = late};

        if (record->kind == STREAM_PACKET) {
            place.source = record->source;
            place.payload = batch->bytes + batch->payload[record->source].offset;
            place.len = batch->payload[record->source].len;
        }

        if (record->flow != flow) /* no packet of it is at hand */
            app_give_up(mine->shard, &place);
        else if (record->kind == STREAM_PACKET)
            app_give(mine->shard, &place, side, batch->bytes + record->at, record->len);
        else if (record->kind == STREAM_COPIED)
            app_give(mine->shard, &place, side, streams->copied + record->at, record->len);
        else if (record->kind == STREAM_GAP)
            app_gap(mine->shard, &place, side, record->len);
    }
}

static void set_app(const struct app_collecting *mine, uint32_t item, uint8_t app)
{
    if (app != SL_APP_UNKNOWN)
        mine->batch->origin[item].app = app;
}

void app_batch_segment(const struct app_collecting *mine, const struct sl_flow_segment *seen,
                       const struct stream *stream)
{
    struct app_slot *const slot = &mine->of_flow[seen->entry].app;
    const struct app_place place = {.slot = slot, .flow = seen->flow, .item = seen->item};

    for (int side = 0; side < 2 && slot->flow != 0; side++)
        if (stream_is_over(stream, (uint32_t)side))
            app_end_side(mine->shard, &place, (enum app_side)side);
    set_app(mine, seen->item, slot->app);
}

static void tell_sides(const struct app_slot *slot, struct sl_stream_facts *facts)
{
    for (int side = 0; side < 2; side++)
        facts->app[side] = slot->sides.app[side];
    facts->app_before = slot->sides.before;
}

void app_batch_sides(const struct app_collecting *mine, const struct sl_flow_segment *seen,
                     struct sl_stream_facts *facts)
{
    struct app_slot *const slot = &mine->of_flow[seen->entry].app;
    const uint8_t bit = (seen->flow_flags & SL_FLOW_TO_SERVER) != 0 ? 1 : 2;

    tell_sides(slot, facts);
    facts->app_found = (slot->sides.found & bit) != 0;
    slot->sides.found &= (uint8_t)~bit;
}

void app_batch_datagram(const struct app_collecting *mine, const struct sl_flow_segment *seen)
{
    struct app_slot *const slot = &mine->of_flow[seen->entry].app;
    const struct app_place place = {.slot = slot, .flow = seen->flow, .item = seen->item};
    const struct sl_span payload = mine->batch->payload[seen->item];

    if (payload.len != 0)
        app_datagram(mine->shard, &place,
                     (seen->flow_flags & SL_FLOW_TO_SERVER) != 0 ? APP_CLIENT : APP_SERVER,
                     mine->batch->bytes + payload.offset, payload.len);
    set_app(mine, seen->item, slot->app);
}

bool app_batch_may_speak(const struct app_collecting *mine, const struct sl_flow_ended *ended)
{
    const struct app_slot *const slot = &mine->of_flow[ended->entry].app;

    return slot->flow != 0 && !slot->is_left;
}

void app_batch_end(const struct app_collecting *mine, const struct sl_flow_ended *ended,
                   struct late_flow *late)
{
    struct app_slot *const slot = &mine->of_flow[ended->entry].app;
    const struct app_place place = {
        .slot = slot, .flow = ended->flow, .item = ended->item, .late = late};

    if (late != NULL)
        late->app = slot->app;
    if (late != NULL)
        tell_sides(slot, &late->facts);
    app_end(mine->shard, &place);
}

/* ---- the messages of a batch ----------------------------------------------------------------- */

static bool reserve(struct app_batch *mine, const struct sl_batch *batch, uint32_t n)
{
    if (mine->max_items < batch->n_items) {
        free(mine->count);
        mine->count = malloc(((size_t)batch->max_items + 1) * sizeof *mine->count);
        mine->max_items = mine->count != NULL ? batch->max_items : 0;
    }
    if (mine->max < n) {
        free(mine->message);
        mine->max = n > 2 * mine->max ? n : 2 * mine->max;
        mine->message = malloc(mine->max * sizeof *mine->message);
        mine->max = mine->message != NULL ? mine->max : 0;
    }
    if (mine->max_late < mine->max) {
        free(mine->late);
        mine->late = malloc(mine->max * sizeof *mine->late);
        mine->max_late = mine->late != NULL ? mine->max : 0;
    }
    return mine->max_items >= batch->n_items && mine->max >= n && mine->max_late >= n;
}

/* Calls for each message: those of all shards, which have different items but for late ones. */
static void each(const struct app_batch *mine, uint32_t n_shards, bool late,
                 void (*call)(void *user, const struct sl_app_message *message,
                              const struct late_flow *flow),
                 void *user)
{
    for (uint32_t s = 0; s < n_shards; s++)
        for (uint32_t i = 0; i < mine->shard[s].n; i++)
            if ((mine->shard[s].late[i] != NULL) == late)
                call(user, &mine->shard[s].message[i], mine->shard[s].late[i]);
}

static void count(void *user, const struct sl_app_message *message, const struct late_flow *flow)
{
    struct app_batch *mine = user;

    (void)flow;
    mine->count[message->item + 1]++;
}

static void place(void *user, const struct sl_app_message *message, const struct late_flow *flow)
{
    struct app_batch *mine = user;

    (void)flow;
    mine->message[mine->count[message->item]++] = *message;
}

static void add_late(void *user, const struct sl_app_message *message, const struct late_flow *flow)
{
    struct app_batch *mine = user;

    mine->late[mine->n_late] = (struct late_message){*message, flow, mine->n_late};
    mine->n_late++;
}

static int compare_late(const void *a, const void *b)
{
    const struct late_message *left = a, *right = b;
    const int order = late_flow_compare(left->flow, right->flow);

    if (order != 0)
        return order;
    if (left->message.transaction != right->message.transaction)
        return left->message.transaction < right->message.transaction ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Messages are sorted by counting those of each item, which keeps the order within it. */
static void list(struct app_batch *mine, const struct sl_batch *batch, uint32_t n_shards)
{
    memset(mine->count, 0, ((size_t)batch->n_items + 1) * sizeof *mine->count);
    each(mine, n_shards, false, count, mine);
    for (uint32_t i = 0; i < batch->n_items; i++)
        mine->count[i + 1] += mine->count[i];
    mine->n = mine->count[batch->n_items];
    each(mine, n_shards, false, place, mine);
    each(mine, n_shards, true, add_late, mine);
    if (mine->n_late > 1)
        qsort(mine->late, mine->n_late, sizeof *mine->late, compare_late);
}

void app_batch_apply(struct app_batch *mine, const struct sl_batch *batch, uint32_t n_shards)
{
    uint32_t n = 0;

    mine->n = mine->n_late = 0;
    mine->no_memory = false;
    for (uint32_t s = 0; s < n_shards; s++) {
        n += mine->shard[s].n;
        mine->no_memory |= mine->shard[s].no_memory;
    }
    if (n == 0 || mine->no_memory)
        return;
    mine->no_memory = !reserve(mine, batch, n);
    if (!mine->no_memory)
        list(mine, batch, n_shards);
}

/* ---- packets of flows that ended ------------------------------------------------------------- */

/* An empty batch with room for n packets. False: no memory. */
static bool reserve_packets(struct late_rules *rules, uint32_t n, bool has_totals)
{
    if (rules->batch != NULL && rules->batch->max_items >= n) {
        sl_batch_reset(rules->batch);
        return true;
    }
    sl_batch_free(rules->batch);
    free(rules->before);
    rules->batch = NULL;
    rules->before = malloc(n * sizeof *rules->before);
    return rules->before != NULL &&
           sl_batch_create(&rules->batch, LATE_PACKET_LEN * n, n, NULL) == SL_OK &&
           (!has_totals || sl_batch_reserve_totals(rules->batch, NULL) == SL_OK);
}

void app_batch_stand_in(struct app_batch *mine, struct late_flow *const *flow, uint32_t n_flows,
                        bool has_totals)
{
    const struct late_said said = {flow, n_flows, mine->late, mine->n_late};
    struct late_rules *const rules = &mine->rules;
    const struct late_part *part;

    rules->late = (struct sl_late){.batch = NULL};
    if (mine->no_memory)
        return;
    late_packets_clear(&rules->packets);
    mine->no_memory = !late_packets_list(&rules->packets, &said, UINT32_MAX);
    if (mine->no_memory || rules->packets.n_parts == 0)
        return;
    part = rules->packets.part;
    mine->no_memory = !reserve_packets(rules, part->n_sides, has_totals);
    if (mine->no_memory)
        return;
    late_packets_fill(part, rules->batch);
    for (uint32_t i = 0; i < part->n_sides; i++)
        rules->before[i] = part->side[i].flow->item;
    rules->late = (struct sl_late){rules->batch, rules->before, part->message,
                                   part->n,      part->stream,  part->facts};
}

/* ---- made items ------------------------------------------------------------------------------ */

enum {
    OVERLAP = SL_RULE_LITERAL_MAX - 1,
    PIECE = 1024 - SL_BATCH_ALIGN - OVERLAP /* a made item of 1,024 bytes always fits */
};

/* Copies by a call: within a known bound, GCC makes it of string instructions, which start late. */
static void copy(uint8_t *to, const uint8_t *from, size_t len)
{
    __asm__("" : "+r"(len));
    memcpy(to, from, len);
}

/* Makes the items of a value of these buffers behind the first `from` bytes and the first `skip`
 * items. Returns how many were made before, with these, or UINT32_MAX: all were. */
static uint32_t make_value(struct sl_batch *to, struct sl_made made,
                           const struct sl_app_value *value, uint32_t from, uint32_t skip)
{
    for (uint32_t at = from + skip * PIECE; at < value->len; at += PIECE, skip++) {
        const uint32_t before = at < OVERLAP ? at : (uint32_t)OVERLAP;
        const uint32_t len = value->len - at < PIECE ? value->len - at : (uint32_t)PIECE;
        uint8_t *room = sl_batch_made_room(to);

        if (!sl_batch_made_fits(to, before + len))
            return skip;
        copy(room, value->bytes + at - before, before + len);
        sl_batch_append_made(to, before + len, made);
    }
    return UINT32_MAX;
}

/* The longest value of a head in whose class of literals others are searched, too. */
struct head_value {
    const struct sl_app_value *longest; /* NULL: there is none */
    uint32_t buffers;                   /* its own, and those of values that lie in it */
};

static uint32_t head_buffer(const struct sl_app_value *value, uint32_t buffers)
{
    return sl_app_buffer_of((enum sl_app_value_id)value->id) & buffers & MATCH_HEAD_BUFFERS;
}

static bool lies_in(const struct sl_app_value *value, const struct sl_app_value *longest)
{
    const uintptr_t at = (uintptr_t)value->bytes - (uintptr_t)longest->bytes;

    return at <= longest->len && value->len <= longest->len - at;
}

/* Of the values in these buffers that the message says first. */
static struct head_value head_of(const struct sl_app_message *message, uint32_t buffers)
{
    const struct sl_app_half *half = &message->half[message->side];
    const uint32_t n = message->step == SL_APP_HEAD ? half->n_values : 0;
    struct head_value head = {NULL, 0};

    for (uint32_t i = 0; i < n; i++)
        if (head_buffer(&half->value[i], buffers) != 0 &&
            (head.longest == NULL || half->value[i].len > head.longest->len))
            head.longest = &half->value[i];
    for (uint32_t i = 0; i < n && head.longest != NULL; i++)
        if (lies_in(&half->value[i], head.longest))
            head.buffers |= head_buffer(&half->value[i], buffers);
    return head;
}

/* Whether a value is searched with the longest. */
static bool is_in_head(const struct sl_app_value *value, const struct head_value *head)
{
    return head->longest != NULL && value != head->longest &&
           head_buffer(value, head->buffers) != 0 && lies_in(value, head->longest);
}

/* Makes an item of the bytes around the begin of each piece of a body: those within pieces are
 * searched in their packets. Returns as make_value. */
static uint32_t make_joins(struct sl_batch *to, const struct sl_app_message *message, uint32_t item,
                           const struct sl_app_value *body, uint32_t skip)
{
    uint32_t at = message->body_shown, i = 0;

    for (const struct sl_app_piece *piece = message->pieces; piece != NULL; piece = piece->next) {
        const uint32_t before = at < OVERLAP ? at : (uint32_t)OVERLAP;
        const uint32_t behind = body->len - at < OVERLAP ? body->len - at : (uint32_t)OVERLAP;

        if (i++ >= skip && before != 0) {
            if (!sl_batch_made_fits(to, before + behind))
                return i - 1;
            if (body->bytes != NULL)
                copy(sl_batch_made_room(to), body->bytes + at - before, before + behind);
            else
                app_parts_read(message->parts, at - before, before + behind,
                               sl_batch_made_room(to));
            sl_batch_append_made(to, before + behind,
                                 (struct sl_made){.item = item, .buffers = SL_BUFFER_BODY});
        }
        at += piece->len;
    }
    return UINT32_MAX;
}

/* Whether the message says the value first. *from: behind so many bytes of it. */
static bool is_new(const struct sl_app_message *message, const struct sl_app_value *value,
                   uint32_t *from)
{
    const bool is_body = value->id == SL_APP_BODY;

    *from = is_body ? message->body_shown : 0;
    return is_body ? message->step == SL_APP_MORE || message->step == SL_APP_END
                   : message->step == SL_APP_HEAD;
}

/* The first value that may be new: behind a head the body, which is the last. */
static uint32_t first_new(const struct sl_app_message *message)
{
    const uint32_t n = message->half[message->side].n_values;

    return message->step == SL_APP_HEAD || n == 0 ? 0 : n - 1;
}

/* The next messages: those of the batch, then late ones. */
static const struct sl_app_message *message_at(const struct app_batch *mine, uint32_t m)
{
    return m < mine->n ? &mine->message[m] : &mine->rules.late.messages[m - mine->n];
}

/* Made items are counted: a message's values have up to 2^16, and each up to 2^14 items. */
uint64_t app_batch_make(const struct app_batch *mine, struct sl_batch *to, uint32_t n_items,
                        uint32_t buffers, uint64_t from)
{
    const uint32_t n = mine->n + mine->rules.late.n_messages;
    uint32_t v = (uint32_t)from >> 14 & 0xFFFF, skip = (uint32_t)from & 0x3FFF, shown;

    for (uint32_t m = (uint32_t)(from >> 30); m < n; m++, v = 0) {
        const struct sl_app_message *message = message_at(mine, m);
        const struct sl_app_half *half = &message->half[message->side];
        const struct head_value head = head_of(message, buffers);
        struct sl_made made = {.item = message->item + (m < mine->n ? 0 : n_items)};

        v = v != 0 ? v : first_new(message);
        for (; v < half->n_values; v++, skip = 0) {
            const struct sl_app_value *value = &half->value[v];

            made.buffers = value == head.longest
                               ? head.buffers
                               : sl_app_buffer_of((enum sl_app_value_id)value->id) & buffers;
            if (made.buffers == 0 || is_in_head(value, &head) || !is_new(message, value, &shown))
                continue;
            if (value->id == SL_DNS_MESSAGE)
                skip = dns_make_names(to, made.item, value->bytes, value->len, buffers, skip);
            else if (value->id == SL_APP_BODY && message->pieces != NULL)
                skip = make_joins(to, message, made.item, value, skip);
            else
                skip = make_value(to, made, value, shown, skip);
            if (skip != UINT32_MAX)
                return (uint64_t)m << 30 | v << 14 | skip;
        }
    }
    return UINT64_MAX;
}

void app_batch_clear(struct app_batch *mine)
{
    for (uint32_t i = 0; i < RUN_SHARDS_MAX; i++)
        app_output_free(&mine->shard[i]);
    late_packets_clear(&mine->rules.packets);
    sl_batch_free(mine->rules.batch);
    free(mine->rules.before);
    free(mine->message);
    free(mine->late);
    free(mine->count);
}

void app_batch_count(const struct app_batch *mine, struct run_apps *apps)
{
    struct sl_app_stats sum = {0};

    for (uint32_t i = 0; i < apps->n_shards; i++)
        app_stats_add(&sum, &mine->shard[i].stats);
    pthread_mutex_lock(&apps->lock);
    app_stats_add(&apps->stats, &sum);
    pthread_mutex_unlock(&apps->lock);
}

void run_apps_snapshot(struct run_apps *apps, struct sl_app_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (apps == NULL)
        return;
    pthread_mutex_lock(&apps->lock);
    *stats = apps->stats;
    pthread_mutex_unlock(&apps->lock);
}
