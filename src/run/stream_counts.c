/* SPDX-License-Identifier: MIT */
/* The counts of a run's streams. */
#include <string.h>

#include "run_streams.h"

void stream_batch_count(const struct stream_batch *mine, struct run_streams *streams)
{
    struct sl_stream_stats sum = {0};

    for (uint32_t i = 0; i < streams->n_shards; i++) {
        stream_stats_add(&sum, &mine->shard[i].output.stats);
        sum.unevaluated += mine->shard[i].unevaluated;
    }
    pthread_mutex_lock(&streams->lock);
    stream_stats_add(&streams->stats, &sum);
    pthread_mutex_unlock(&streams->lock);
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
