/* SPDX-License-Identifier: MIT */
/* What a run counts of its streams. */
#include <string.h>

#include "run_streams.h"

static void add(struct run_streams *streams, const struct sl_stream_stats *stats)
{
    pthread_mutex_lock(&streams->lock);
    stream_stats_add(&streams->stats, stats);
    pthread_mutex_unlock(&streams->lock);
}

void stream_batch_count(const struct stream_batch *mine, struct run_streams *streams)
{
    struct sl_stream_stats sum = {0};

    for (uint32_t i = 0; i < streams->n_shards; i++) {
        stream_stats_add(&sum, &mine->shard[i].output.stats);
        sum.unevaluated += mine->shard[i].unevaluated;
    }
    add(streams, &sum);
}

/* No packet comes any more that the bytes of these streams could be evaluated with. */
static bool finish_shard(struct run_streams *streams, uint32_t shard, struct stream_output *output)
{
    struct stream_shard *const held = stream_shard_at(streams->shards, shard);
    struct sl_stream_stats sum = {0};

    for (uint32_t e = 0; e < streams->n_entries[shard] && !output->no_memory; e++) {
        struct stream *stream = &streams->of_flow[shard][e];

        if (stream->rest[0].queue == 0 && stream->rest[1].queue == 0)
            continue;
        stream_shard_begin(held, output, NULL);
        stream_end(held, stream, 0, 0);
        stream_shard_end(held);
        stream_stats_add(&sum, &output->stats);
    }
    sum.unevaluated = sum.bytes;
    add(streams, &sum);
    return !output->no_memory;
}

bool run_streams_finish(struct run_streams *streams)
{
    struct stream_output output = {0};
    bool done = true;

    for (uint32_t i = 0; i < streams->n_shards && done; i++)
        done = finish_shard(streams, i, &output);
    stream_output_free(&output);
    return done;
}

void run_streams_snapshot(struct run_streams *streams, struct sl_stream_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (streams == NULL)
        return;
    pthread_mutex_lock(&streams->lock);
    *stats = streams->stats;
    pthread_mutex_unlock(&streams->lock);
}
