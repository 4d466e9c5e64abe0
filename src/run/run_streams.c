/* SPDX-License-Identifier: MIT */
#include "run_streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/least.h"
#include "base/pages.h"
#include "sluice/app.h"

_Static_assert(STREAM_N_EVENTS <= 64, "a set of events is a number");

enum {
    PIECE = 1024 - SL_BATCH_ALIGN - RUN_SEAM_MAX, /* of a part: made items have 1,024 bytes */
    MAKES_AT_ONCE = 8,                            /* items that are looked at */
    TCP_SYN = 2,
    LINE = 64,
    RECORDS_NEAR = 1024 /* of a shard, which are collected in a core's cache */
};

/* A packet whose payload waits for bytes before it or, beside a SYN that opens fast, for the other
 * side. */
static const struct sl_stream_part nothing = {.whole = true};

/* ---- the streams of flows -------------------------------------------------------------------- */

/* Pages that no flow uses take no memory. calloc would clear those that were freed before. */
static bool open_flows(struct run_streams *streams, uint32_t n_shards)
{
    const size_t n = (size_t)sl_flow_shard_max(streams->flows) + SL_FLOW_ENTRIES_MORE;

    streams->memory_len = n_shards * n * sizeof(struct run_flow);
    streams->memory = mmap(NULL, streams->memory_len, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    streams->of_flow = calloc(n_shards, sizeof(struct run_flow *));
    if (streams->memory == MAP_FAILED || streams->of_flow == NULL)
        return false;
    for (uint32_t i = 0; i < n_shards; i++)
        streams->of_flow[i] = streams->memory + i * n;
    return true;
}

enum sl_status run_streams_create(struct run_streams **out, const struct run_source *source,
                                  bool has_names, struct sl_diag *diag)
{
    const uint32_t n = sl_flow_n_shards(source->flows);
    struct run_streams *streams = calloc(1, sizeof *streams);
    struct stream_config config;
    bool done = false;

    *out = streams;
    if (streams != NULL) {
        pthread_mutex_init(&streams->lock, NULL);
        streams->flows = source->flows;
        streams->hosts = source->hosts;
        streams->n_shards = n;
        done = open_flows(streams, n);
    }
    if (done && has_names)
        done = run_names_create(&streams->names, source->flows, diag) == SL_OK;
    if (!done)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the streams of flows");
    stream_config_init(&config);
    config.memory = source->config->stream_memory;
    config.min_ttl = source->config->min_ttl;
    config.omits_edges = true; /* nothing here waits for them */
    config.context_len = config.overlap_len = SL_STREAM_KNOWN;
    return stream_shards_create(&streams->shards, n, &config, diag);
}

void run_streams_free(struct run_streams *streams)
{
    if (streams == NULL)
        return;
    stream_shards_free(streams->shards, streams->n_shards);
    run_names_free(streams->names);
    if (streams->memory != MAP_FAILED)
        (void)munmap(streams->memory, streams->memory_len);
    free(streams->of_flow);
    pthread_mutex_destroy(&streams->lock);
    free(streams);
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* Facts of no packet so far. False: no memory. */
static bool begin_facts(struct stream_batch *mine, const struct sl_batch *batch)
{
    if (mine->max_facts < batch->n_items) {
        free(mine->facts_memory);
        mine->facts_memory = malloc(batch->max_items * sizeof *mine->facts_memory);
        mine->max_facts = mine->facts_memory != NULL ? batch->max_items : 0;
    }
    mine->facts = mine->facts_memory;
    if (mine->facts != NULL)
        memset(mine->facts, 0, batch->n_items * sizeof *mine->facts);
    return mine->max_facts >= batch->n_items;
}

/* ---- room ------------------------------------------------------------------------------------ */

enum {
    COPIED_LEN = 16 << 10, /* bytes, of a shard: enough for most */
    RECORDS_MORE = 4096    /* of a batch, beside one for each packet */
};

static bool open_rooms(struct stream_batch *mine, const struct sl_batch *batch, uint32_t n_shards)
{
    const size_t n = (size_t)batch->max_items + RECORDS_MORE;

    mine->room.len = n * (sizeof(struct sl_stream_part) + sizeof(struct stream_record));
    mine->copied_len = (size_t)n_shards * COPIED_LEN;
    mine->room.bytes = pages_alloc(mine->room.len);
    mine->copied = pages_alloc(mine->copied_len);
    for (uint32_t i = 0; mine->copied != NULL && i < n_shards; i++)
        stream_output_lend_copied(&mine->shard[i].output, mine->copied + (size_t)i * COPIED_LEN,
                                  COPIED_LEN);
    return mine->room.bytes != NULL && mine->copied != NULL;
}

/* NULL: there is no more. */
static void *room_take(struct stream_room *room, size_t len)
{
    const size_t lines = (len + LINE - 1) / LINE * LINE;
    const size_t at = atomic_fetch_add(&room->used, lines);

    return at < room->len && room->len - at >= lines ? room->bytes + at : NULL;
}

enum sl_status stream_batch_begin(struct stream_batch *mine, const struct sl_batch *batch,
                                  const struct run_seams *seams, bool asks_facts,
                                  bool keeps_records, uint32_t n_shards, struct sl_diag *diag)
{
    mine->keeps_records = keeps_records;
    mine->room.used = 0;
    mine->seams = seams;
    mine->facts = NULL;
    if (mine->max_items < batch->n_items) {
        free(mine->of_item);
        free(mine->makes);
        mine->of_item = malloc(batch->max_items * sizeof(const struct sl_stream_part *));
        mine->makes = malloc((size_t)batch->max_items + MAKES_AT_ONCE);
        mine->max_items = mine->of_item != NULL && mine->makes != NULL ? batch->max_items : 0;
    }
    if (mine->max_items < batch->n_items || (asks_facts && !begin_facts(mine, batch)) ||
        (mine->room.bytes == NULL && !open_rooms(mine, batch, n_shards)))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the streams of a batch");
    if (batch->n_items == 0)
        return SL_OK;
    memset(mine->of_item, 0, batch->n_items * sizeof(const struct sl_stream_part *));
    memset(mine->makes, 0, (size_t)batch->n_items + MAKES_AT_ONCE);
    return SL_OK;
}

void stream_batch_clear(struct stream_batch *mine)
{
    for (uint32_t i = 0; i < RUN_SHARDS_MAX; i++) {
        stream_output_free(&mine->shard[i].output);
        app_arena_free(&mine->shard[i].arena);
        free(mine->shard[i].own);
    }
    pages_free(mine->room.bytes, mine->room.len);
    pages_free(mine->copied, mine->copied_len);
    name_batch_clear(&mine->names);
    free(mine->of_item);
    free(mine->makes);
    free(mine->ended);
    free(mine->facts_memory);
}

/* ---- collecting ------------------------------------------------------------------------------ */

struct collecting {
    const struct run_hosts *hosts;
    const struct sl_header_table *checks; /* NULL: no checksum is checked */
    struct stream_batch *mine;
    const struct sl_batch *batch;
    const struct sl_flow_keys *keys;
    struct stream_shard *shard;
    struct run_flow *of_flow;
    struct stream_output *output;
    const struct app_collecting *apps; /* NULL: nobody asks what flows say */
    struct name_collecting names;      /* without a shard: no names are looked up */
    uint32_t index;                    /* of the shard */
};

static bool has_bad_checksum(const struct collecting *collecting, uint32_t item)
{
    return collecting->checks != NULL &&
           (sl_header_tripped(collecting->checks, collecting->batch, item) &
            (UINT64_C(1) << SL_HEADER_TCP_CHECKSUM | UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM)) != 0;
}

/* A half is as its receiver has it. At its flow's first segment. */
static void set_policies(const struct collecting *collecting, struct stream *stream,
                         const struct sl_flow_segment *seen)
{
    const uint32_t half = (seen->flow_flags & SL_FLOW_TO_SERVER) != 0 ? 0 : 1;
    struct sl_tuple tuple;

    if (!sl_packet_tuple(collecting->batch, seen->item, &tuple))
        return;
    stream->half[half].policy = (uint8_t)run_hosts_policy(collecting->hosts, &tuple.dst);
    stream->half[half ^ 1].policy = (uint8_t)run_hosts_policy(collecting->hosts, &tuple.src);
}

static bool waits(const struct stream *stream, const struct stream_segment *segment, bool queued)
{
    if ((segment->flags & TCP_SYN) == 0)
        return queued;
    return segment->len != 0 && segment->opens_fast && stream_waits(stream, segment->half);
}

static void add_waiting(const struct collecting *collecting, const struct sl_flow_segment *seen,
                        uint8_t half)
{
    struct stream_parts *const parts = &collecting->mine->shard[collecting->index];
    struct stream_waiting *added = app_arena_take(&parts->arena, sizeof *added);

    collecting->mine->of_item[seen->item] = &nothing;
    parts->no_memory |= added == NULL;
    if (added == NULL)
        return;
    *added = (struct stream_waiting){.item = seen->item, .entry = seen->entry, .half = half};
    *parts->last_waiting = added;
    parts->last_waiting = &added->next;
}

static void take(void *user, const struct sl_flow_segment *seen)
{
    const struct collecting *collecting = user;
    struct stream *const stream = &collecting->of_flow[seen->entry].stream;
    const uint64_t n_queued = collecting->output->stats.queued;
    const uint32_t n_records = collecting->output->n;
    const uint8_t half = (seen->flow_flags & SL_FLOW_TO_SERVER) != 0 ? 0 : 1;
    struct stream_segment segment;

    if (!stream_segment_read(&segment, collecting->batch, seen->item, half))
        return;
    if (collecting->hosts != NULL && stream->half[0].flags == 0 && stream->half[1].flags == 0)
        set_policies(collecting, stream, seen);
    segment.bad_checksum = has_bad_checksum(collecting, seen->item);
    stream_take(collecting->shard, stream, seen->flow, &segment);
    for (uint32_t i = 0; collecting->mine->facts != NULL && i < 2; i++)
        collecting->mine->facts[seen->item].size[i] = stream_size(stream, i);
    if (waits(stream, &segment, collecting->output->stats.queued != n_queued))
        add_waiting(collecting, seen, half);
    if (collecting->names.shard != NULL)
        name_batch_take(&collecting->names, collecting->output, n_records, seen);
    if (collecting->apps == NULL)
        return;
    app_batch_take(collecting->apps, collecting->output, n_records, seen->flow, NULL);
    app_batch_segment(collecting->apps, seen, stream);
    if (collecting->mine->facts != NULL)
        app_batch_sides(collecting->apps, seen, &collecting->mine->facts[seen->item]);
}

/* Where nobody asks for more than parts. */
static uint32_t take_train(void *user, const struct sl_flow_train *train)
{
    const struct collecting *collecting = user;
    struct stream *const stream = &collecting->of_flow[train->entry].stream;

    return stream_take_train(collecting->shard, stream, collecting->batch, train);
}

static void take_datagram(void *user, const struct sl_flow_segment *seen)
{
    const struct collecting *collecting = user;

    app_batch_datagram(collecting->apps, seen);
}

/* Adds a flow that ends, and may have something to say; NULL: it has not, or there is no memory. */
static struct stream_ended *add_ended(const struct collecting *collecting,
                                      const struct sl_flow_ended *ended)
{
    struct stream_parts *const parts = &collecting->mine->shard[collecting->index];
    const struct stream *const stream = &collecting->of_flow[ended->entry].stream;
    struct stream_ended *added;

    if (stream->rest[0].queue == 0 && stream->rest[1].queue == 0 &&
        (collecting->apps == NULL || !app_batch_may_speak(collecting->apps, ended)))
        return NULL;
    added = app_arena_take(&parts->arena, sizeof *added);
    parts->no_memory |= added == NULL;
    if (added == NULL)
        return NULL;
    *added = (struct stream_ended){
        .begin = parts->output.n,
        .only_syn = {stream_waits_on_syn(collecting->shard, stream, 0),
                     stream_waits_on_syn(collecting->shard, stream, 1)},
        .flow = {.shard = collecting->index, .item = ended->item, .index = ended->index}};
    sl_flow_ended_record(collecting->keys, collecting->index, ended->index, &added->flow.record);
    *parts->last = added;
    parts->last = &added->next;
    parts->n_ended++;
    return added;
}

/* What the records of an end say of the stream, which is gone. */
static void add_facts(struct sl_stream_facts *facts, const struct stream_output *output,
                      uint32_t begin)
{
    for (uint32_t r = begin; r < output->n; r++) {
        const struct stream_record *const record = &output->record[r];

        if (record->kind == STREAM_END)
            facts->size[record->half] = record->offset + 1;
        else if (record->kind == STREAM_EVENT)
            facts->events |= UINT64_C(1) << record->cause;
    }
}

static void end(void *user, const struct sl_flow_ended *ended)
{
    const struct collecting *collecting = user;
    struct stream_ended *const added = add_ended(collecting, ended);
    struct late_flow *const late = added != NULL ? &added->flow : NULL;

    if (collecting->names.shard != NULL)
        name_batch_end(&collecting->names, ended->entry);
    stream_end(collecting->shard, &collecting->of_flow[ended->entry].stream, ended->flow,
               ended->item);
    if (late != NULL) {
        added->behind = collecting->output->n;
        add_facts(&late->facts, collecting->output, added->begin);
    }
    if (late != NULL && collecting->apps != NULL)
        app_batch_take(collecting->apps, collecting->output, added->begin, ended->flow, late);
    if (collecting->apps != NULL)
        app_batch_end(collecting->apps, ended, late);
}

static void begin_ended(struct stream_parts *parts)
{
    app_arena_reset(&parts->arena);
    parts->last = &parts->ended;
    parts->ended = NULL;
    parts->n_ended = 0;
    parts->last_waiting = &parts->waiting;
    parts->waiting = NULL;
    parts->no_memory = false;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A part for each record. */
static bool reserve(struct stream_room *room, struct stream_parts *parts)
{
    const uint32_t n = parts->output.n;

    parts->part = room_take(room, n * sizeof *parts->part);
    if (parts->part != NULL)
        return true;
    if (parts->max < n) {
        free(parts->own);
        parts->own = malloc(n * sizeof *parts->own);
        parts->max = parts->own != NULL ? n : 0;
    }
    parts->part = parts->own;
    return parts->part != NULL;
}

static bool adds_bytes(const struct stream_record *record)
{
    return record->kind <= STREAM_COPIED;
}

/* The part of record r, behind those of the records before it. Member by member: gcc clears a whole
 * part first. */
static void fill_part(const struct stream_parts *parts, const struct stream_record *record,
                      const uint8_t *bytes, uint32_t r)
{
    struct sl_stream_part *const part = &parts->part[r];
    const uint8_t *from = record->kind == STREAM_PACKET ? bytes : parts->output.copied;
    const struct sl_stream_part *before =
        record->previous != 0 ? &parts->part[record->previous] : NULL;
    /* A record's number is above that of the one before it: that part is filled.
     * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    const uint32_t known = before != NULL ? before->known + before->len : 0;

    part->bytes = record->len != 0 ? from + record->at : NULL;
    part->offset = record->offset;
    part->before = before;
    part->next = NULL;
    part->len = record->len;
    part->known = known < SL_STREAM_KNOWN ? known : SL_STREAM_KNOWN;
    part->whole = part->reversed = false;
}

/* ---- lists of parts -------------------------------------------------------------------------- */

/* The parts of a shard while they are listed. */
struct linking {
    struct stream_ended *ended;          /* the first whose records are not behind us */
    uint32_t item;                       /* the packet at hand, */
    struct sl_stream_part *first, *last; /* and its parts; NULL: there was none */
    struct sl_stream_part *last_of[2];   /* of the flow that ended, by half */
};

/* A part that the packet of its record adds. Bytes of another flow than the packet's are of flows
 * that gave way: no packet states how to evaluate them, so that they are counted. */
static void link_packet(struct linking *linking, struct stream_batch *mine,
                        const struct sl_batch *batch, const struct stream_record *record,
                        struct sl_stream_part *part)
{
    const uint32_t item = record->item;
    const bool is_here = record->kind == STREAM_PACKET && record->source == item;

    if (linking->last == NULL || linking->item != item) {
        linking->first = part;
        linking->item = item;
        mine->of_item[item] = part;
    } else {
        linking->last->next = part;
    }
    linking->last = part;
    if (!is_here)
        mine->makes[item] = 1;
    part->reversed = record->sender != 1 + record->half;
    if (is_here && record->len == batch->payload[item].len)
        linking->first->whole = true;
}

/* A part that a flow got when it ended. */
static void link_ended(struct linking *linking, uint8_t half, struct sl_stream_part *part)
{
    struct late_flow *const flow = &linking->ended->flow;

    if (linking->ended->only_syn[half])
        return;
    if (flow->part[half] == NULL)
        flow->part[half] = part;
    else
        linking->last_of[half]->next = part;
    linking->last_of[half] = part;
}

/* Fetches what a later part is written to, as other cores wrote there last. Inlined by force: gcc
 * drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void
fetch_places(const struct stream_batch *mine, const struct stream_parts *parts, uint32_t r)
{
    if (r >= parts->output.n || parts->output.record[r].kind != STREAM_PACKET)
        return;
    __builtin_prefetch(&mine->of_item[parts->output.record[r].item], 1);
    __builtin_prefetch(&parts->part[r], 1);
}

static void link_part(struct linking *linking, struct stream_batch *mine,
                      struct stream_parts *parts, const struct sl_batch *batch, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    struct sl_stream_part *const part = &parts->part[r];

    while (linking->ended != NULL && linking->ended->behind <= r)
        linking->ended = linking->ended->next;
    if (linking->ended != NULL && linking->ended->begin <= r)
        link_ended(linking, record->half, part);
    else if (record->sender != 0)
        link_packet(linking, mine, batch, record, part);
    else
        parts->unevaluated += record->len;
}

/* Packets whose parts of these records something may lie across. */
static void mark_crossed(struct stream_batch *mine, const struct stream_record *record,
                         uint32_t crossed)
{
    for (; crossed != 0; crossed &= crossed - 1) {
        const struct stream_record *const at = &record[__builtin_ctz(crossed)];

        if (at->sender != 0)
            mine->makes[at->item] = 1;
    }
}

/* Fills the parts of a shard, and lists those of each packet and each flow that ended. */
static void link_parts(struct stream_batch *mine, struct stream_parts *parts,
                       const struct sl_batch *batch)
{
    enum { AHEAD = 12 };
    const struct stream_record *const record = parts->output.record;
    struct linking linking = {.ended = parts->ended};
    uint32_t begin = 1;

    parts->unevaluated = 0;
    for (uint32_t r = 1; parts->part != NULL && r < parts->output.n; r++) {
        fetch_places(mine, parts, r + AHEAD);
        if (adds_bytes(&record[r]) || record[r].kind == STREAM_CONTEXT)
            fill_part(parts, &record[r], batch->bytes, r);
        if (adds_bytes(&record[r]) && record[r].len != 0)
            link_part(&linking, mine, parts, batch, r);
        if (r + 1 - begin < STREAM_SEAMS_MAX && r + 1 < parts->output.n)
            continue;
        mark_crossed(
            mine, &record[begin],
            stream_seams_find(mine->seams, &record[begin], &parts->part[begin], r + 1 - begin));
        begin = r + 1;
    }
}

static void note_events(const struct stream_batch *mine, const struct stream_output *output)
{
    for (uint32_t r = 1; r < output->n; r++) {
        const struct stream_record *record = &output->record[r];

        if (record->kind == STREAM_EVENT && record->sender != 0)
            mine->facts[record->item].events |= UINT64_C(1) << record->cause;
    }
}

static void list_parts(struct stream_batch *mine, const struct sl_batch *batch, uint32_t shard)
{
    struct stream_parts *const parts = &mine->shard[shard];

    parts->no_memory |= !reserve(&mine->room, parts);
    if (!parts->no_memory && !parts->output.no_memory)
        link_parts(mine, parts, batch);
    if (mine->facts != NULL)
        note_events(mine, &parts->output);
}

/* Records lie in this core's cache, but for those of a shard with many. Those that are read later
 * move to the batch's room. */
static void keep_records(struct stream_batch *mine, struct stream_parts *parts)
{
    struct stream_output *const output = &parts->output;
    const size_t len = output->n * sizeof *output->record;

    if (mine->keeps_records && output->record == output->lent_record) {
        struct stream_record *const room = room_take(&mine->room, len);

        parts->record = room != NULL ? room : malloc(len);
        parts->no_memory |= parts->record == NULL;
        if (parts->record != NULL)
            memcpy(parts->record, output->record, len);
        stream_output_return_records(output);
        if (room == NULL) { /* it is the output's */
            output->record = parts->record;
            output->max = parts->record != NULL ? output->n : 0;
        }
        return;
    }
    stream_output_return_records(output);
    parts->record = output->record;
}

/* ---- a shard --------------------------------------------------------------------------------- */

void stream_batch_collect(struct stream_batch *mine, struct run_streams *streams,
                          const struct sl_batch *batch, const struct sl_flow_keys *keys,
                          const struct sl_header_table *checks, const struct app_collecting *apps,
                          uint32_t shard)
{
    struct collecting collecting = {.hosts = streams->hosts,
                                    .checks = checks,
                                    .mine = mine,
                                    .batch = batch,
                                    .keys = keys,
                                    .shard = stream_shard_at(streams->shards, shard),
                                    .of_flow = streams->of_flow[shard],
                                    .output = &mine->shard[shard].output,
                                    .apps = apps,
                                    .index = shard};
    const bool datagrams = apps != NULL && apps->reads_quic;
    const bool parts_alone =
        apps == NULL && streams->names == NULL && checks == NULL && mine->facts == NULL;
    const struct sl_flow_visitor visitor = {.segment = take,
                                            .train = parts_alone ? take_train : NULL,
                                            .datagram = datagrams ? take_datagram : NULL,
                                            .ended = end,
                                            .user = &collecting,
                                            .memory = collecting.of_flow,
                                            .memory_len = sizeof(struct run_flow)};

    struct stream_record near[RECORDS_NEAR];

    if (streams->names != NULL)
        collecting.names =
            name_batch_begin(&mine->names, streams->names, streams->of_flow[shard], batch, shard);
    begin_ended(&mine->shard[shard]);
    stream_output_lend_records(&mine->shard[shard].output, near, RECORDS_NEAR);
    stream_shard_begin(collecting.shard, &mine->shard[shard].output, batch->bytes);
    sl_flow_visit_shard(streams->flows, batch, keys, shard, &visitor);
    stream_shard_end(collecting.shard);
    if (mine->seams != NULL)
        list_parts(mine, batch, shard);
    keep_records(mine, &mine->shard[shard]);
}

/* ---- the end of a run ------------------------------------------------------------------------ */

enum sl_status run_streams_finish(struct run_streams *streams, const struct run_apps *apps,
                                  const struct sl_flow_keys *keys, struct stream_batch *mine,
                                  struct app_batch *said, struct sl_diag *diag)
{
    static const struct run_seams any = {.len = RUN_SEAM_MAX};
    struct sl_batch empty = {.n_items = 1, .max_items = 1};

    mine->seams = &any;
    mine->keeps_records = true;
    for (uint32_t i = 0; i < streams->n_shards; i++) {
        struct app_collecting collecting = {0};

        if (apps != NULL)
            collecting = app_batch_begin(said, apps, streams->of_flow[i], &empty, i);
        stream_batch_collect(mine, streams, &empty, keys, NULL, apps != NULL ? &collecting : NULL,
                             i);
        if (apps != NULL)
            app_batch_collected(&collecting);
    }
    if (apps != NULL)
        app_batch_apply(said, &empty, streams->n_shards);
    stream_batch_apply(mine, streams->n_shards);
    stream_batch_list_ended(mine, streams->n_shards);
    stream_batch_count(mine, streams);
    return !mine->no_memory && !said->no_memory
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the ends of streams");
}

/* ---- all shards ------------------------------------------------------------------------------ */

void stream_batch_apply(struct stream_batch *mine, uint32_t n_shards)
{
    mine->no_memory = false;
    for (uint32_t i = 0; i < n_shards; i++)
        mine->no_memory |= mine->shard[i].output.no_memory || mine->shard[i].no_memory;
}

static int compare_ended(const void *a, const void *b)
{
    const struct late_flow *const *left = a, *const *right = b;

    return late_flow_compare(*left, *right);
}

void stream_batch_list_ended(struct stream_batch *mine, uint32_t n_shards)
{
    uint32_t n = 0;

    mine->n_ended = 0;
    for (uint32_t i = 0; i < n_shards; i++) {
        n += mine->shard[i].n_ended;
        mine->no_memory |= mine->shard[i].no_memory;
    }
    if (mine->max_ended < n) {
        free(mine->ended);
        mine->ended = malloc(n * sizeof *mine->ended);
        mine->max_ended = mine->ended != NULL ? n : 0;
        mine->no_memory |= mine->ended == NULL;
    }
    for (uint32_t i = 0; i < n_shards && !mine->no_memory; i++)
        for (struct stream_ended *at = mine->shard[i].ended; at != NULL; at = at->next)
            mine->ended[mine->n_ended++] = &at->flow;
    if (mine->n_ended > 1)
        qsort(mine->ended, mine->n_ended, sizeof(const struct late_flow *), compare_ended);
}

/* ---- made items ------------------------------------------------------------------------------ */

bool stream_part_in_packet(const struct sl_batch *batch, uint32_t item,
                           const struct sl_stream_part *part)
{
    const struct sl_span payload = batch->payload[item];
    const uint8_t *bytes = batch->bytes + payload.offset;

    return part->bytes >= bytes && part->bytes < bytes + payload.len;
}

/* Where made items of the part are. */
struct making {
    const struct sl_batch *batch;
    struct sl_batch *to;
    const struct run_seams *seams;
    uint32_t item, made_of;             /* in `batch`, in `to` */
    const struct sl_stream_part *first; /* of the item and the direction */
    const struct sl_stream_part *part;
};

/* Makes an item of `len` bytes of the part from `at` on, and those right before. */
static bool make_piece(const struct making *making, uint32_t at, uint32_t len)
{
    const struct sl_stream_part *part = making->part;
    const uint64_t has = (uint64_t)part->known + at;
    const uint32_t seam_len = making->seams->len;
    const uint32_t before = has < seam_len ? (uint32_t)has : seam_len;
    const uint32_t own = before < at ? before : at;
    uint8_t *room = sl_batch_made_room(making->to);

    if (!sl_batch_made_fits(making->to, before + len))
        return false;
    stream_part_copy_before(part, room, before - own);
    memcpy(room + before - own, part->bytes + at - own, own + len);
    sl_batch_append_made(
        making->to, before + len,
        (struct sl_made){.item = making->made_of,
                         .buffers = part->reversed ? SL_BUFFER_STREAM_BACK : SL_BUFFER_STREAM,
                         .base = (uint32_t)(SL_STREAM_HIT_BASE +
                                            (part->offset - making->first->offset) + at - before)});
    return true;
}

/* Makes the items of a part behind the first `skip`. Returns how many were made before, with these,
 * or UINT32_MAX: all were. */
static uint32_t make_part(const struct making *making, uint32_t skip)
{
    const struct sl_stream_part *part = making->part;

    if (stream_part_in_packet(making->batch, making->item, part)) {
        const uint32_t seam_len = making->seams->len;
        const uint32_t len = part->len < seam_len ? part->len : seam_len;

        /* Which side sent the bytes is not known here, and few parts come so far. */
        const bool makes = stream_seam_crosses(making->seams, part, 0) ||
                           stream_seam_crosses(making->seams, part, 1);

        return !makes || make_piece(making, 0, len) ? UINT32_MAX : 0;
    }
    for (; (uint64_t)skip * PIECE < part->len; skip++) {
        const uint32_t at = skip * PIECE;
        const uint32_t len = part->len - at < PIECE ? part->len - at : (uint32_t)PIECE;

        if (!make_piece(making, at, len))
            return skip;
    }
    return UINT32_MAX;
}

const struct sl_stream_part *stream_part_first(const struct sl_stream_part *part, bool reversed)
{
    while (part->reversed != reversed)
        part = part->next;
    return part;
}

/* Fetches the bytes on both sides of a seam that is looked at soon. Inlined by force: gcc drops
 * calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void fetch_seam(const struct sl_stream_part *part)
{
    if (part == NULL || part->len == 0 || part->known == 0)
        return;
    __builtin_prefetch(part->bytes);
    __builtin_prefetch(part->before->bytes + part->before->len - 1);
}

/* The first item from this one on that something may be made of; n_items: there is none. */
static uint32_t next_made(const uint8_t *makes, uint32_t item, uint32_t n_items)
{
    uint64_t some = 0;

    for (; makes != NULL && item < n_items; item += MAKES_AT_ONCE) {
        memcpy(&some, makes + item, sizeof some);
        if (some != 0)
            return item + (uint32_t)__builtin_ctzll(some) / 8;
    }
    return item < n_items ? item : n_items;
}

/* Makes the items of a packet's parts behind the first n_parts, and of the next one behind the
 * first `skip`. UINT64_MAX: all were made. */
static uint64_t make_packet(struct making *making, const struct sl_stream_part *head,
                            uint32_t n_parts, uint32_t skip)
{
    uint32_t i = 0;

    for (const struct sl_stream_part *part = head; part != NULL; part = part->next, i++) {
        if (i < n_parts)
            continue;
        making->first = stream_part_first(head, part->reversed);
        making->part = part;
        skip = make_part(making, skip);
        if (skip != UINT32_MAX)
            return (uint64_t)making->item << 32 | i << 16 | skip;
        skip = 0;
    }
    return UINT64_MAX;
}

/* Made items are counted: a packet's from 0 on. Each part of a packet may have up to 2^12. */
uint64_t run_streams_make(const struct sl_stream_part *const *of_item, const uint8_t *makes,
                          const struct sl_batch *batch, const struct run_seams *seams,
                          uint32_t first, struct sl_batch *to, uint64_t from)
{
    const uint32_t n = batch->n_items;
    uint32_t n_parts = (uint32_t)from >> 16, skip = (uint32_t)from & 0xFFFF;
    uint32_t item = next_made(makes, (uint32_t)(from >> 32), n);
    uint32_t next = next_made(makes, item + 1, n), behind;

    for (; item < n; item = next, next = behind, n_parts = skip = 0) {
        struct making making = {batch, to, seams, item, first + item, NULL, NULL};

        behind = next_made(makes, next + 1, n);
        if (behind < n)
            __builtin_prefetch(of_item[behind]);
        if (next < n)
            fetch_seam(of_item[next]);
        if (of_item[item] == NULL || of_item[item]->len == 0)
            continue;

        const uint64_t left = make_packet(&making, of_item[item], n_parts, skip);

        if (left != UINT64_MAX)
            return left;
    }
    return UINT64_MAX;
}
