/* SPDX-License-Identifier: MIT */
#include "sink_kind.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

static const size_t HOLD_MAX = SIZE_MAX / 2;

static const struct sink_kind *const kinds[] = {&sink_console, &sink_eve, &sink_sqlite};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static enum sl_status unknown_kind(const char *spec, struct sl_diag *diag)
{
    char known[128] = "";

    for (size_t i = 0; i < N_KINDS; i++) {
        const size_t len = strlen(known);

        snprintf(known + len, sizeof known - len, "%s%s", i == 0 ? "" : ", ", kinds[i]->usage);
    }
    return diag_set(diag, SL_EINVAL, NULL, 0, "no sink \"%.200s\" (expected one of: %s)", spec,
                    known);
}

/* The kind that the spec names and the path in it, or NULL. */
static const struct sink_kind *find_kind(const char *spec, const char **path)
{
    const size_t name_len = strcspn(spec, ":");

    for (size_t i = 0; i < N_KINDS; i++) {
        const struct sink_kind *kind = kinds[i];

        if (strlen(kind->name) != name_len || memcmp(kind->name, spec, name_len) != 0)
            continue;
        *path = spec + name_len;
        if (**path == '\0')
            return kind;
        *path += 1;
        return kind->has_path ? kind : NULL;
    }
    return NULL;
}

enum sl_status sl_sink_open(struct sl_sink **sink, const char *spec, struct sl_diag *diag)
{
    const char *path = NULL;
    const struct sink_kind *kind = find_kind(spec, &path);

    *sink = NULL;
    if (kind == NULL)
        return unknown_kind(spec, diag);
    if (kind->has_path && *path == '\0')
        return diag_set(diag, SL_EINVAL, NULL, 0, "the sink \"%s\" names no file (expected %s)",
                        spec, kind->usage);

    const enum sl_status status = kind->open(sink, path, diag);
    if (status != SL_OK)
        return status;
    **sink = (struct sl_sink){.kind = kind, .failure = SL_OK};
    return SL_OK;
}

enum sl_status sl_sink_hold(struct sl_sink **held, const struct sl_sink *sink, size_t hold_len,
                            struct sl_diag *diag)
{
    const struct sink_kind *kind = sink->kind;

    *held = NULL;
    if (kind->hold == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "events of %s cannot be made ahead",
                        kind->usage);
    if (hold_len == 0 || hold_len > HOLD_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%zu bytes of events to hold (expected 1 to %zu)",
                        hold_len, HOLD_MAX);

    const enum sl_status status = kind->hold(held, hold_len, diag);
    if (status != SL_OK)
        return status;
    **held = (struct sl_sink){.kind = kind, .failure = SL_OK};
    return SL_OK;
}

/* Returns the first failure, in all later calls too. */
static enum sl_status outcome(const struct sl_sink *sink, struct sl_diag *diag)
{
    if (sink->failure != SL_OK && diag != NULL)
        *diag = sink->reason;
    return sink->failure;
}

enum sl_status sl_sink_write(struct sl_sink *sink, const struct sl_event *event,
                             struct sl_diag *diag)
{
    if (sink->failure == SL_OK)
        sink->failure = sink->kind->write(sink, event, &sink->reason);
    return outcome(sink, diag);
}

enum sl_status sl_sink_pass(struct sl_sink *held, struct sl_sink *sink, struct sl_diag *diag)
{
    if (held->failure == SL_OK || held->failure == SL_EOVERFLOW) {
        held->failure = SL_OK;
        if (sink->failure == SL_OK)
            sink->failure = sink->kind->pass(held, sink, &sink->reason);
        return outcome(sink, diag);
    }
    return outcome(held, diag);
}

bool sl_sink_shows_community_id(const struct sl_sink *sink)
{
    return sink->kind->shows_community_id;
}

bool sl_sink_takes_stats(const struct sl_sink *sink)
{
    return sink->kind->write_stats != NULL;
}

enum sl_status sl_sink_write_stats(struct sl_sink *sink, const struct sl_stats_event *stats,
                                   struct sl_diag *diag)
{
    if (!sl_sink_takes_stats(sink))
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "a sink of the kind %s takes no counters",
                        sink->kind->name);
    if (sink->failure == SL_OK)
        sink->failure = sink->kind->write_stats(sink, stats, &sink->reason);
    return outcome(sink, diag);
}

enum sl_status sl_sink_flush(struct sl_sink *sink, struct sl_diag *diag)
{
    if (sink->failure == SL_OK)
        sink->failure = sink->kind->flush(sink, &sink->reason);
    return outcome(sink, diag);
}

uint64_t sl_sink_written(const struct sl_sink *sink)
{
    return sink->kind->written(sink);
}

enum sl_status sl_sink_close(struct sl_sink *sink, uint64_t *written, struct sl_diag *diag)
{
    if (written != NULL)
        *written = 0;
    if (sink == NULL)
        return SL_OK;

    const enum sl_status flushed = sl_sink_flush(sink, diag);
    if (written != NULL)
        *written = sl_sink_written(sink);

    const enum sl_status closed = sink->kind->close(sink, flushed == SL_OK ? diag : NULL);
    return flushed != SL_OK ? flushed : closed;
}
