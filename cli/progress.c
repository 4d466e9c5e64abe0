/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "console.h"

enum { INTERVAL_NS = 250000000 };

void progress_begin(struct progress *progress, bool quiet)
{
    progress->on = !quiet && isatty(STDERR_FILENO);
    progress->begin_ns = progress->last_ns = clock_ns();
}

static void show(struct progress *progress, uint64_t now)
{
    const double seconds = (double)(now - progress->begin_ns) / 1e9;
    char packets[32], bytes[32], rate[32];

    fprintf(stderr, "\r%s packets, %s, %s/s \033[K", cli_count(progress->packets, packets),
            cli_bytes((double)progress->bytes, bytes),
            cli_bytes((double)progress->bytes / seconds, rate));
    progress->shown = true;
    progress->last_ns = now;
}

void progress_add(struct progress *progress, const struct sl_batch *batch)
{
    if (!progress->on)
        return;
    progress->packets += batch->n_items;
    for (uint32_t i = 0; i < batch->n_items; i++)
        progress->bytes += batch->packet[i].len;

    const uint64_t now = clock_ns();
    if (now - progress->last_ns >= INTERVAL_NS)
        show(progress, now);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
}
