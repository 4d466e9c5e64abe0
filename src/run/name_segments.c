/* SPDX-License-Identifier: MIT */
#include "name_segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum {
    ROOM = NAME_JOINED_MAX + LATE_PACKET_LEN,
    SHORT = 16, /* bytes that show whether a message begins there */
    CUT = 1 << SL_PACKET_NAMES_MISS_DNS_CUT | 1 << SL_PACKET_NAMES_MISS_HTTP_CUT |
          1 << SL_PACKET_NAMES_MISS_TLS_CUT | 1 << SL_PACKET_NAMES_MISS_NDN_CUT
};

struct name_block {
    uint32_t next; /* 0: none */
    uint8_t bytes[NAME_BLOCK_LEN];
};

/* The bytes that a side of a flow has sent since a name was cut off, in blocks. */
struct name_carry {
    uint32_t last; /* block */
    uint32_t len, from, n_segments;
    bool is_sure; /* it began as messages with names do */
};

struct name_shard {
    struct name_block block[NAME_BLOCKS];
    struct name_carry carry[NAME_BLOCKS]; /* by its first block */
    uint32_t free, n_free;  /* blocks; block 0 is none. Those behind n_used are free, too, and */
    uint32_t n_used;        /* were not touched so far */
    struct sl_batch *trial; /* of one packet */
    struct sl_packet_name name[SL_PACKET_NAMES_MAX];
    uint8_t bytes[SL_PACKET_NAMES_LEN];
};

/* ---- the streams of all flows ---------------------------------------------------------------- */

/* Pages that no flow uses are not touched. */
enum sl_status run_names_create(struct run_names **out, const struct sl_flow_table *flows,
                                struct sl_diag *diag)
{
    const uint32_t n = sl_flow_n_shards(flows);
    struct run_names *names = calloc(1, sizeof *names);
    bool done = names != NULL;

    *out = names;
    if (done)
        names->shard = calloc(n, sizeof *names->shard);
    done = done && names->shard != NULL;
    while (done && names->n_shards < n) {
        struct name_shard *const shard = &names->shard[names->n_shards++];

        shard->n_free = NAME_BLOCKS - 1;
        done = sl_batch_create(&shard->trial, ROOM, 1, NULL) == SL_OK;
    }
    return done ? SL_OK : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of flows");
}

void run_names_free(struct run_names *names)
{
    if (names == NULL)
        return;
    for (uint32_t i = 0; i < names->n_shards; i++)
        sl_batch_free(names->shard[i].trial);
    free(names->shard);
    free(names);
}

/* ---- kept bytes ------------------------------------------------------------------------------ */

static void drop(struct name_shard *shard, uint16_t *first)
{
    for (uint32_t at = *first, next; at != 0; at = next) {
        next = shard->block[at].next;
        shard->block[at].next = shard->free;
        shard->free = at;
        shard->n_free++;
    }
    *first = 0;
}

/* A block of zeros behind the last. There is a free one. */
static void add_block(struct name_shard *shard, uint16_t *first)
{
    const uint32_t at = shard->free != 0 ? shard->free : ++shard->n_used;

    if (shard->free != 0)
        shard->free = shard->block[at].next;
    shard->n_free--;
    shard->block[at].next = 0;
    if (*first == 0) {
        *first = (uint16_t)at;
        shard->carry[at] = (struct name_carry){.len = 0};
    } else {
        shard->block[shard->carry[*first].last].next = at;
    }
    shard->carry[*first].last = at;
}

/* Keeps bytes behind those that are kept. False: there is no room for them. */
static bool keep(struct name_shard *shard, uint16_t *first, const uint8_t *bytes, uint32_t len)
{
    const uint32_t old = *first != 0 ? shard->carry[*first].len : 0;
    const uint32_t has = (old + NAME_BLOCK_LEN - 1) / NAME_BLOCK_LEN;

    if (len > NAME_JOINED_MAX - old ||
        (old + len + NAME_BLOCK_LEN - 1) / NAME_BLOCK_LEN - has > shard->n_free ||
        (old != 0 && shard->carry[*first].n_segments == NAME_SEGMENTS_MAX))
        return false;
    for (uint32_t at = old, n; at < old + len; at += n) {
        if (at % NAME_BLOCK_LEN == 0)
            add_block(shard, first);
        n = NAME_BLOCK_LEN - at % NAME_BLOCK_LEN;
        n = n < old + len - at ? n : old + len - at;
        memcpy(shard->block[shard->carry[*first].last].bytes + at % NAME_BLOCK_LEN,
               bytes + (at - old), n);
    }
    shard->carry[*first].len = old + len;
    shard->carry[*first].n_segments++;
    return true;
}

static void copy_kept(const struct name_shard *shard, uint32_t first, uint8_t *to)
{
    uint32_t left = shard->carry[first].len;

    for (uint32_t at = first; at != 0; at = shard->block[at].next) {
        const uint32_t n = left < NAME_BLOCK_LEN ? left : (uint32_t)NAME_BLOCK_LEN;

        memcpy(to, shard->block[at].bytes, n);
        to += n;
        left -= n;
    }
}

void name_batch_end(const struct name_collecting *mine, uint32_t entry)
{
    struct name_side *const side = &mine->of_flow[entry].names;

    drop(mine->shard, &side->carry[0]);
    drop(mine->shard, &side->carry[1]);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Adds a packet of the stream that the item is of. It must fit. Returns where its `len` bytes
 * belong. */
static uint8_t *add_packet(struct sl_batch *to, const struct sl_batch *batch, uint32_t item,
                           bool reversed, uint32_t len)
{
    uint8_t *const room = to->bytes + to->bytes_len;
    struct sl_tuple tuple = {0};
    struct sl_origin *origin;

    (void)sl_packet_tuple(batch, item, &tuple);
    if (reversed)
        tuple = late_packet_turn(&tuple);
    memset(room, 0, LATE_PACKET_LEN);
    const uint32_t head = late_packet_put(room, &tuple, len);
    origin = &to->origin[sl_batch_append(to, head + len, 0)];
    *origin = batch->origin[item];
    origin->link_type = LATE_PACKET_LINK;
    origin->wire_len = head + len;
    origin->flow_flags ^= reversed ? SL_FLOW_TO_SERVER : 0;
    return room + head;
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* Bytes that a stream gets. */
struct taking {
    struct name_shard *shard;
    struct name_output *output;
    const struct sl_batch *batch;
    const struct stream_record *record;
    const uint8_t *bytes;
    bool reversed;
};

/* Finds the names in the kept bytes, or else in those that the stream gets. Returns the offset
 * behind the last; 0: there is none. */
static uint32_t find(const struct taking *taking, uint32_t kept, uint32_t *misses)
{
    struct name_shard *const shard = taking->shard;
    const uint32_t item = taking->record->item;
    const struct sl_span payload = taking->batch->payload[item];
    const uint32_t len = kept != 0 ? shard->carry[kept].len : taking->record->len;
    struct sl_dissect_stats stats = {0};
    uint32_t n;

    if (kept == 0 && taking->bytes == taking->batch->bytes + payload.offset && len == payload.len) {
        n = sl_packet_names_find(taking->batch, item, shard->name, shard->bytes, misses);
    } else {
        sl_batch_reset(shard->trial);
        uint8_t *to = add_packet(shard->trial, taking->batch, item, taking->reversed, len);
        if (kept != 0)
            copy_kept(shard, kept, to);
        else
            memcpy(to, taking->bytes, len);
        sl_dissect(shard->trial, &stats);
        n = sl_packet_names_find(shard->trial, 0, shard->name, shard->bytes, misses);
    }
    return n != 0 ? shard->name[n - 1].offset + 1 : 0;
}

static void give(const struct taking *taking, uint32_t kept)
{
    const struct name_carry *const carry = &taking->shard->carry[kept];
    struct name_output *const output = taking->output;
    struct name_joined *joined = app_arena_take(&output->arena, sizeof *joined + carry->len);

    output->no_memory |= joined == NULL;
    if (joined == NULL)
        return;
    *joined = (struct name_joined){.item = taking->record->item,
                                   .from = carry->from,
                                   .len = carry->len,
                                   .nth = output->n,
                                   .reversed = taking->reversed};
    copy_kept(taking->shard, kept, joined->bytes);
    *output->last = joined;
    output->last = &joined->next;
    output->n++;
    output->len += LATE_PACKET_LEN + SL_BATCH_ALIGN + carry->len;
}

/* Whether more bytes may have a name: one is cut off, or nothing is known so far. */
static bool may_go_on(uint32_t len, uint32_t behind, uint32_t misses)
{
    return (misses & CUT) != 0 || (len < SHORT && behind == 0 && misses == 0);
}

/* A name may begin here. */
static void begin(const struct taking *taking, uint16_t *kept)
{
    const uint32_t len = taking->record->len;
    uint32_t misses = 0, behind;

    if (len > NAME_JOINED_MAX)
        return;
    behind = find(taking, 0, &misses);
    if (!may_go_on(len, behind, misses) || !keep(taking->shard, kept, taking->bytes, len))
        return;
    taking->shard->carry[*kept].from = behind;
    taking->shard->carry[*kept].is_sure = len >= SHORT;
}

static void take_bytes(const struct taking *taking, uint16_t *kept)
{
    struct name_shard *const shard = taking->shard;
    struct name_carry *const carry = &shard->carry[*kept];
    uint32_t misses = 0, behind;

    if (*kept == 0) {
        begin(taking, kept);
        return;
    }
    if (!keep(shard, kept, taking->bytes, taking->record->len)) {
        drop(shard, kept);
        return;
    }
    behind = find(taking, *kept, &misses);
    if (behind > carry->from) {
        give(taking, *kept);
        carry->from = behind;
    }
    carry->is_sure |= behind != 0 || (misses & CUT) != 0;
    if (may_go_on(carry->len, behind, misses))
        return;
    drop(shard, kept);
    if (!carry->is_sure)
        begin(taking, kept);
}

struct name_collecting name_batch_begin(struct name_batch *mine, const struct run_names *names,
                                        struct run_flow *of_flow, const struct sl_batch *batch,
                                        uint32_t shard)
{
    struct name_output *const output = &mine->shard[shard];

    app_arena_reset(&output->arena);
    output->first = NULL;
    output->last = &output->first;
    output->n = 0;
    output->len = 0;
    output->no_memory = false;
    return (struct name_collecting){&names->shard[shard], of_flow, output, batch};
}

/* Bytes of another flow are of one that gave way: the bytes that follow there are not adjacent. */
void name_batch_take(const struct name_collecting *mine, const struct stream_output *streams,
                     uint32_t from, const struct sl_flow_segment *seen)
{
    const uint8_t sender = (seen->flow_flags & SL_FLOW_TO_SERVER) != 0 ? 0 : 1;
    uint16_t *const kept = mine->of_flow[seen->entry].names.carry;
    struct taking taking = {.shard = mine->shard, .output = mine->output, .batch = mine->batch};

    for (uint32_t r = from; r < streams->n; r++) {
        const struct stream_record *const record = &streams->record[r];

        if (record->flow != seen->flow)
            continue;
        taking.record = record;
        taking.reversed = record->half != sender;
        if (record->kind == STREAM_GAP)
            drop(mine->shard, &kept[record->half]);
        if (record->kind == STREAM_PACKET)
            taking.bytes = mine->batch->bytes + record->at;
        else if (record->kind == STREAM_COPIED)
            taking.bytes = streams->copied + record->at;
        else
            continue;
        take_bytes(&taking, &kept[record->half]);
    }
}

/* ---- digesting ------------------------------------------------------------------------------- */

static const struct sl_backend *cpu_backend(void)
{
    return sl_engine_choose(sl_packet_names_engine(), SL_DEVICE_CPU, NULL);
}

static int compare(const void *a, const void *b)
{
    const struct name_joined *const *left = a, *const *right = b;

    if ((*left)->item != (*right)->item)
        return (*left)->item < (*right)->item ? -1 : 1;
    return (*left)->nth < (*right)->nth ? -1 : (*left)->nth > (*right)->nth;
}

static void release(struct name_batch *mine)
{
    cpu_backend()->close(mine->context);
    sl_batch_free(mine->batch);
    free(mine->joined);
    free(mine->hits.hit);
    mine->context = NULL;
    mine->batch = NULL;
    mine->joined = NULL;
    mine->hits.hit = NULL;
    mine->max = 0;
}

/* Makes room for n packets of so many bytes, and more of both. */
static bool reserve(struct name_batch *mine, const struct sl_packet_names_watch *watch, uint32_t n,
                    uint64_t len)
{
    struct sl_limits limits = {.max_bytes = (uint32_t)(2 * len)};

    if (mine->max >= n && mine->batch->bytes_cap >= len)
        return true;
    n = n > mine->max ? 2 * n : mine->max;
    release(mine);
    mine->joined = malloc(n * sizeof(const struct name_joined *));
    mine->hits.cap = (size_t)n * SL_PACKET_NAMES_MAX;
    mine->hits.hit = malloc(mine->hits.cap * sizeof *mine->hits.hit);
    limits.max_items = n;
    limits.max_hits = (uint32_t)mine->hits.cap;
    if (len > UINT32_MAX / 4 || mine->joined == NULL || mine->hits.hit == NULL ||
        sl_batch_create(&mine->batch, limits.max_bytes, n, NULL) != SL_OK ||
        sl_engine_open(&mine->context, sl_packet_names_engine(), cpu_backend(), watch, &limits,
                       NULL) != SL_OK)
        return false;
    mine->max = n;
    return true;
}

/* Lists all, in the order of packets, and makes packets of them. */
static void make_packets(struct name_batch *mine, const struct sl_batch *batch, uint32_t n_shards)
{
    struct sl_dissect_stats stats = {0};

    for (uint32_t s = 0; s < n_shards; s++)
        for (const struct name_joined *at = mine->shard[s].first; at != NULL; at = at->next)
            mine->joined[mine->n++] = at;
    qsort(mine->joined, mine->n, sizeof(const struct name_joined *), compare);
    sl_batch_reset(mine->batch);
    for (uint32_t i = 0; i < mine->n; i++) {
        const struct name_joined *const joined = mine->joined[i];

        memcpy(add_packet(mine->batch, batch, joined->item, joined->reversed, joined->len),
               joined->bytes, joined->len);
    }
    sl_dissect(mine->batch, &stats);
}

static enum sl_status run_engine(struct name_batch *mine)
{
    const enum sl_status status = cpu_backend()->submit(mine->context, mine->batch, &mine->hits);

    return status == SL_OK ? cpu_backend()->wait(mine->context) : status;
}

/* Leaves out the hits of packets that made names whole. False: no memory. */
static bool leave_others(struct name_batch *mine, const struct sl_hits *hits)
{
    struct sl_hits *const others = &mine->others;
    uint32_t j = 0;

    others->n = 0;
    if (others->cap < hits->n) {
        free(others->hit);
        others->cap = 2 * hits->n;
        others->hit = malloc(others->cap * sizeof *others->hit);
        others->cap = others->hit != NULL ? others->cap : 0;
    }
    if (others->cap < hits->n)
        return false;
    for (size_t i = 0; i < hits->n; i++) {
        while (j < mine->n &&
               (mine->joined[j]->item < hits->hit[i].item || mine->joined[j]->reversed))
            j++;
        if (j == mine->n || mine->joined[j]->item != hits->hit[i].item)
            others->hit[others->n++] = hits->hit[i];
    }
    return true;
}

/* Names that were found before are left out. */
static void leave_new(struct name_batch *mine)
{
    size_t kept = 0;

    sl_hits_sort(&mine->hits);
    for (size_t i = 0; i < mine->hits.n; i++)
        if (mine->hits.hit[i].offset >= mine->joined[mine->hits.hit[i].item]->from)
            mine->hits.hit[kept++] = mine->hits.hit[i];
    mine->hits.n = kept;
}

enum sl_status name_batch_look_up(struct name_batch *mine, const struct sl_batch *batch,
                                  const struct sl_hits *hits,
                                  const struct sl_packet_names_watch *watch, uint32_t n_shards,
                                  struct sl_diag *diag)
{
    uint32_t n = 0;
    uint64_t len = 0;
    bool done = true;

    mine->n = 0;
    mine->hits.n = 0;
    for (uint32_t s = 0; s < n_shards; s++) {
        n += mine->shard[s].n;
        len += mine->shard[s].len;
        done = done && !mine->shard[s].no_memory;
    }
    if (done && n == 0)
        return SL_OK;
    done = done && reserve(mine, watch, n, len);
    if (done) {
        make_packets(mine, batch, n_shards);
        done = leave_others(mine, hits) && run_engine(mine) == SL_OK;
    }
    if (!done)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for names across segments");
    leave_new(mine);
    return SL_OK;
}

void name_batch_clear(struct name_batch *mine)
{
    for (uint32_t i = 0; i < RUN_SHARDS_MAX; i++)
        app_arena_free(&mine->shard[i].arena);
    release(mine);
    free(mine->others.hit);
}
