/* SPDX-License-Identifier: MIT */
#include "flow_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "tcp_header.h"

/* The memory is not cleared, so that unused pages are not touched. */
enum sl_status sl_flow_keys_create(struct sl_flow_keys **out, uint32_t max_items,
                                   struct sl_diag *diag)
{
    struct sl_flow_keys *keys = (struct sl_flow_keys *)calloc(1, sizeof *keys);
    void *run = NULL;

    if (keys != NULL) {
        const size_t n = (size_t)max_items + 1;

        keys->packet = (struct sl_flow_packet *)malloc(n * sizeof *keys->packet);
        keys->before = (struct flow_clock *)malloc(n * sizeof *keys->before);
        keys->shard = (uint8_t *)malloc(n);
        keys->by_shard = (uint32_t *)malloc(n * sizeof *keys->by_shard);
        keys->mark = (struct flow_mark *)malloc(n * sizeof *keys->mark);
        if (posix_memalign(&run, 64, n * sizeof *keys->run) == 0)
            keys->run = (struct flow_run *)run;
    }
    if (keys == NULL || keys->packet == NULL || keys->before == NULL || keys->shard == NULL ||
        keys->by_shard == NULL || keys->mark == NULL || keys->run == NULL) {
        sl_flow_keys_free(keys);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the flow keys of %u packets",
                        max_items);
    }
    *out = keys;
    return SL_OK;
}

void sl_flow_keys_free(struct sl_flow_keys *keys)
{
    if (keys == NULL)
        return;
    free(keys->run);
    free(keys->packet);
    free(keys->before);
    free(keys->shard);
    free(keys->by_shard);
    free(keys->mark);
    for (uint32_t i = 0; i < FLOW_SHARDS_MAX; i++)
        free(keys->ends[i].end);
    free(keys->sorted);
    free(keys);
}

static void read_tcp(struct sl_flow_packet *packet, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *headers = &batch->packet[item];
    const uint8_t *tcp = batch->bytes + headers->offset + headers->transport;
    const uint32_t len = (tcp[12] >> 4) * 4u;

    packet->sequence = load_be32(tcp + 4);
    packet->acknowledged = load_be32(tcp + 8);
    packet->tcp_flags = tcp[13];
    packet->window = load_be16(tcp + 14);
    packet->ttl = packet_ttl(batch, headers);
    if (headers->defect != 0 || (headers->flags & (SL_PACKET_FRAGMENT | SL_PACKET_SNAPPED)) != 0)
        return;
    packet->has_timestamp = tcp_has_timestamps(tcp, len);
    packet->is_usual = (tcp[13] & (FLOW_TCP_ENDS | FLOW_TCP_URG | FLOW_TCP_ACK)) == FLOW_TCP_ACK &&
                       (len == TCP_HEADER_LEN || packet->has_timestamp);
    if (packet->has_timestamp)
        packet->timestamp = load_be32(tcp + TCP_HEADER_LEN + 4);
}

static void read_icmp(struct sl_flow_packet *packet, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *headers = &batch->packet[item];

    packet->sequence = load_be16(batch->bytes + headers->offset + headers->transport);
}

/* Member by member: gcc clears a whole run by an instruction that is slow to begin. */
static struct flow_run *begin_run(struct sl_flow_keys *keys, uint32_t item)
{
    struct flow_run *run = &keys->run[keys->n_runs];

    keys->before[keys->n_runs] =
        (struct flow_clock){.now = keys->max_time != 0 ? keys->max_time : INT64_MIN};
    keys->shard[keys->n_runs++] = FLOW_SHARDS_MAX;
    run->first = item;
    run->protocol = run->senders = 0;
    run->plain = true;
    run->has_flow = run->is_new = run->one_by_one = false;
    run->new_senders = 0;
    run->tcp_flags[0] = run->tcp_flags[1] = 0;
    run->flags[0] = run->flags[1] = 0;
    run->n_of_end_1 = 0;
    run->bytes[0] = run->bytes[1] = 0;
    run->min_time = run->max_time = 0;
    run->flow = 0;
    return run;
}

/* The run that the packet belongs to: the last one, or the next. */
static struct flow_run *run_of(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                               const struct flow_key *key, bool has_flow, uint32_t item)
{
    const struct flow_run *last = keys->n_runs != 0 ? &keys->run[keys->n_runs - 1] : NULL;

    if (last != NULL && last->has_flow == has_flow &&
        (!has_flow || flow_key_equal(&last->key, key)))
        return &keys->run[keys->n_runs - 1];

    struct flow_run *run = begin_run(keys, item);

    if (has_flow) {
        run->has_flow = true;
        run->key = *key;
        run->hash = flow_hash(table, key);
        keys->shard[keys->n_runs - 1] = (uint8_t)flow_shard_index(table, run->hash);
    }
    return run;
}

static void add_time(int64_t *min, int64_t *max, int64_t time)
{
    if (time == 0)
        return;
    if (*max == 0 || time > *max)
        *max = time;
    if (*min == 0 || time < *min)
        *min = time;
}

/* Unsigned, as times may lie further apart than 2^63. */
static bool is_far_before(const struct sl_flow_table *table, int64_t time, int64_t max)
{
    return time != 0 && max != 0 && time < max &&
           (uint64_t)max - (uint64_t)time > table->longest_timeout_ns;
}

static void read_packet(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                        const struct sl_batch *batch, uint32_t item)
{
    struct sl_flow_packet *packet = &keys->packet[item - keys->first_item];
    struct flow_key key;

    *packet = (struct sl_flow_packet){0};

    const bool has_flow = flow_key_read(&key, &packet->sender, batch, item);
    struct flow_run *run = run_of(keys, table, &key, has_flow, item);

    run->end = item + 1;
    if (!has_flow)
        return;
    run->protocol = batch->packet[item].protocol;
    if (run->protocol == SL_IP_TCP)
        read_tcp(packet, batch, item);
    else if (run->protocol == SL_IP_ICMP || run->protocol == SL_IP_ICMPV6)
        read_icmp(packet, batch, item);
    run->plain = run->plain && (packet->tcp_flags & FLOW_TCP_ENDS) == 0;
    run->senders |= (uint8_t)(1 << packet->sender);
    run->n_of_end_1 += packet->sender;
    run->bytes[packet->sender] += batch->origin[item].wire_len;
    run->tcp_flags[packet->sender] |= packet->tcp_flags;
    add_time(&run->min_time, &run->max_time, batch->origin[item].time_ns);
    keys->goes_back |= is_far_before(table, batch->origin[item].time_ns, keys->max_time);
    add_time(&keys->min_time, &keys->max_time, batch->origin[item].time_ns);
}

/* Fetches the headers of a later block, which left the nearest cache since the batch was dissected.
 * Inlined by force: gcc drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void fetch_headers(const struct sl_batch *batch,
                                                                struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        const struct sl_packet *packet = &batch->packet[i];

        __builtin_prefetch(batch->bytes + packet->offset + packet->network);
        __builtin_prefetch(batch->bytes + packet->offset + packet->transport);
    }
}

void flow_keys_read_block(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                          const struct sl_batch *batch, struct flow_range range)
{
    fetch_headers(batch, flow_block_at(batch->n_items, range.end));
    for (uint32_t item = range.first; item < range.end; item++)
        read_packet(keys, table, batch, item);
}

/* A counting sort, which keeps the order of a shard's runs. */
static void sort_by_shard(struct sl_flow_keys *keys)
{
    uint32_t next[FLOW_SHARDS_MAX + 1] = {0}; /* the last takes the runs without a flow */
    uint32_t n = 0;

    for (uint32_t i = 0; i < keys->n_runs; i++)
        next[keys->shard[i]]++;
    for (uint32_t shard = 0; shard <= FLOW_SHARDS_MAX; shard++) {
        const uint32_t n_here = next[shard];

        keys->first_of[shard] = next[shard] = n;
        n += n_here;
    }
    for (uint32_t i = 0; i < keys->n_runs; i++)
        keys->by_shard[next[keys->shard[i]]++] = i;
}

void sl_flow_keys_read(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                       const struct sl_batch *batch)
{
    keys->n_runs = 0;
    keys->min_time = keys->max_time = 0;
    keys->goes_back = false;
    for (uint32_t first = 0; first < batch->n_items; first += FLOW_BLOCK)
        flow_keys_read_block(keys, table, batch, flow_block_at(batch->n_items, first));
    sort_by_shard(keys);
}
