/* SPDX-License-Identifier: MIT */
/* Counters of streams: their names and sums. */
#include "stream.h"

void stream_stats_add(struct sl_stream_stats *sum, const struct sl_stream_stats *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void sl_stream_stats_each(const struct sl_stream_stats *stats,
                          void (*call)(void *user, const char *group, const char *name,
                                       uint64_t value),
                          void *user)
{
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {
        {"segments", stats->segments},
        {"bytes", stats->bytes},
        {"plain", stats->plain},
        {"queued", stats->queued},
        {"retransmitted_bytes", stats->retransmitted},
        {"conflicts", stats->conflicts},
        {"keep_alives", stats->keep_alives},
        {"urgent_bytes", stats->urgent},
        {"dropped_bytes", stats->dropped},
        {"unevaluated_bytes", stats->unevaluated},
        {"unacknowledged", stats->unacknowledged},
        {"contexts_lost", stats->contexts_lost},
    };

    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        call(user, NULL, counters[i].name, counters[i].value);
    for (int g = 0; g < SL_N_GAPS; g++)
        call(user, "gaps", sl_stream_gap_name((enum sl_stream_gap)g), stats->gaps[g]);
    for (int g = 0; g < SL_N_GAPS; g++)
        call(user, "gap_bytes", sl_stream_gap_name((enum sl_stream_gap)g), stats->gap_bytes[g]);
    for (int d = 0; d < SL_N_DOUBTS; d++)
        call(user, "doubts", sl_stream_doubt_name((enum sl_stream_doubt)d), stats->doubts[d]);
}

void sl_fragment_stats_each(const struct sl_fragment_stats *stats,
                            void (*call)(void *user, const char *group, const char *name,
                                         uint64_t value),
                            void *user)
{
    call(user, NULL, "fragments", stats->fragments);
    call(user, NULL, "joined", stats->joined);
    call(user, NULL, "overlaps", stats->overlaps);
    call(user, NULL, "conflicts", stats->conflicts);
    call(user, NULL, "tiny", stats->tiny);
    call(user, NULL, "timed_out", stats->timed_out);
    call(user, NULL, "evicted", stats->evicted);
    call(user, NULL, "waiting", stats->waiting);
    call(user, NULL, "dropped_bytes", stats->dropped);
    call(user, NULL, "left_out", stats->left_out);
    for (int f = 0; f < SL_N_FRAGMENT_FAULTS; f++)
        call(user, "faults", sl_fragment_fault_name((enum sl_fragment_fault)f), stats->faults[f]);
}
