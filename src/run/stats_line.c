/* SPDX-License-Identifier: MIT */
/* Counters on a line for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats_text.h"

static void put_count(FILE *out, uint64_t n, const char *what)
{
    fprintf(out, "  %" PRIu64 "%s", n, what);
}

static void put_line(FILE *out, const struct sl_stats *stats)
{
    fprintf(out, "%" PRIu64 " s", stats->uptime_ns / 1000000000);
    put_count(out, stats->packets, " packets");
    put_count(out, stats->bytes, " bytes");
    if (stats->live)
        put_count(out, stats->kernel_drops + stats->interface_drops, " dropped");
    put_count(out, stats->flows.active, " active flows");
    put_count(out, stats->flows.evicted, " evicted");
    if (stats->has_header_checks)
        put_count(out, stats_anomalies(stats), " anomalies");
    if (!stats->has_rules)
        return;
    put_count(out, stats->alerts, " alerts");
    put_count(out, stats->rules.loaded, " rules loaded");
    put_count(out, stats->rules.skipped, " skipped");
    put_count(out, stats->rules.bad, " bad");
}

enum sl_status sl_stats_line(const struct sl_stats *stats, char **text, size_t *len)
{
    FILE *out = open_memstream(text, len);

    if (out == NULL)
        return SL_ENOMEM;
    put_line(out, stats);

    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return SL_OK;
    free(*text);
    *text = NULL;
    return SL_ENOMEM;
}
