/* SPDX-License-Identifier: MIT */
#include "run_streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/least.h"
#include "base/pages.h"
#include "sluice/app.h"
#include "stream_parts.h"

enum {
    TCP_SYN = 2,
    NEAR_RECORDS = 1024 /* of a shard, which a core's nearest cache holds while it collects them */
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
                                  bool has_names, bool has_parts, struct sl_diag *diag)
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
    config.context_len = SL_STREAM_KNOWN;
    config.overlap_len = has_parts ? SL_STREAM_KNOWN : 0;
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

enum sl_status stream_batch_begin(struct stream_batch *mine, struct sl_batch *batch,
                                  const struct run_seams *seams, bool asks_facts,
                                  bool keeps_records, uint32_t n_shards, struct sl_diag *diag)
{
    mine->keeps_records = keeps_records;
    mine->room.used = 0;
    mine->seams = seams;
    mine->before = seams != NULL && seams->table != NULL ? batch->before : NULL;
    mine->facts = NULL;
    if (mine->max_items < batch->n_items) {
        free(mine->of_item);
        free(mine->makes);
        mine->of_item = malloc(batch->max_items * sizeof(const struct sl_stream_part *));
        mine->makes = malloc((size_t)batch->max_items + STREAM_MAKES_AT_ONCE);
        mine->max_items = mine->of_item != NULL && mine->makes != NULL ? batch->max_items : 0;
    }
    if (mine->max_items < batch->n_items || (asks_facts && !begin_facts(mine, batch)) ||
        (mine->room.bytes == NULL && !open_rooms(mine, batch, n_shards)))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the streams of a batch");
    if (batch->n_items == 0)
        return SL_OK;
    memset(mine->of_item, 0, batch->n_items * sizeof(const struct sl_stream_part *));
    memset(mine->makes, 0, (size_t)batch->n_items + STREAM_MAKES_AT_ONCE);
    batch->has_before = mine->before != NULL;
    if (batch->has_before)
        memset(mine->before, 0, batch->n_items * sizeof *mine->before);
    return SL_OK;
}

void stream_batch_release(struct stream_batch *mine, uint32_t n_shards)
{
    for (uint32_t i = 0; i < n_shards; i++)
        stream_output_release(&mine->shard[i].output);
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
    uint32_t right_end; /* checksums of the packets before this one that are still to be taken are
                           right */
};

static bool has_bad_checksum(const struct collecting *collecting, uint32_t item)
{
    return collecting->checks != NULL && item >= collecting->right_end &&
           sl_header_tcp_is_damaged(collecting->checks, collecting->batch, item);
}

/* How many packets from `first` on have right checksums, at most n. Each is looked at once, as a
 * shard's packets are taken upwards. */
static uint32_t count_right(struct collecting *collecting, uint32_t first, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && !has_bad_checksum(collecting, first + i))
        i++;
    if (first + i > collecting->right_end)
        collecting->right_end = first + i;
    return i;
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
    struct collecting *collecting = user;
    struct stream *const stream = &collecting->of_flow[train->entry].stream;
    struct sl_flow_train right = *train;

    if (collecting->checks != NULL)
        right.n = count_right(collecting, train->first, train->n);
    return stream_take_train(collecting->shard, stream, collecting->batch, &right);
}

static void fetch_stream(void *user, uint32_t entry)
{
    const struct collecting *collecting = user;

    stream_fetch(collecting->shard, &collecting->of_flow[entry].stream);
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
    const bool parts_alone = apps == NULL && streams->names == NULL && mine->facts == NULL;
    const struct sl_flow_visitor visitor = {.segment = take,
                                            .train = parts_alone ? take_train : NULL,
                                            .datagram = datagrams ? take_datagram : NULL,
                                            .ended = end,
                                            .user = &collecting,
                                            .memory = collecting.of_flow,
                                            .memory_len = sizeof(struct run_flow),
                                            .ahead = fetch_stream};

    struct stream_record near[NEAR_RECORDS];

    if (streams->names != NULL)
        collecting.names =
            name_batch_begin(&mine->names, streams->names, streams->of_flow[shard], batch, shard);
    begin_ended(&mine->shard[shard]);
    stream_output_lend_records(&mine->shard[shard].output, near, NEAR_RECORDS);
    stream_shard_begin(collecting.shard, &mine->shard[shard].output, batch->bytes);
    sl_flow_visit_shard(streams->flows, batch, keys, shard, &visitor);
    stream_shard_end(collecting.shard);
    if (mine->seams != NULL)
        stream_parts_list(mine, batch, shard);
    stream_parts_keep(mine, shard);
}

/* ---- the end of a run ------------------------------------------------------------------------ */

enum sl_status run_streams_finish(struct run_streams *streams, const struct run_apps *apps,
                                  const struct sl_flow_keys *keys, struct stream_batch *mine,
                                  struct app_batch *said, struct sl_diag *diag)
{
    static const struct run_seams any = {.len = RUN_SEAM_MAX};
    struct sl_batch empty = {.n_items = 1, .max_items = 1};

    mine->seams = &any;
    mine->before = NULL;
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
