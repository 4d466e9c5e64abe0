/* SPDX-License-Identifier: MIT */
/* Sinks: where events go. */
#ifndef SLUICE_SINK_H
#define SLUICE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/event.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A taker of events. */
struct sl_sink;

/* Opens a sink. "console" is one line an event on standard output. "eve:FILE" or "eve:-" is EVE
 * JSON lines, with Suricata's names of fields. "sqlite:FILE" is tables `alerts`, `anomalies`,
 * `names`, `flows`, `dns`, `http`, `tls`, `files` and `packets`. An existing EVE file gets further
 * lines; a last line that was cut is ended first. An existing database gets further rows. The
 * caller closes the sink. SL_EINVAL: the kind is unknown (diag has the known ones), or lacks a
 * file. SL_EIO: the file cannot be opened, or the database's tables are of another program.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sink_open(struct sl_sink **sink, const char *spec,
                                            struct sl_diag *diag);

/* Opens a sink that passes each event to the caller's function. sl_sink_write calls `take` on its
 * own thread, with one event at a time, in the order of writing. The event and all that it points
 * to are borrowed for the call. Any status but SL_OK is the sink's failure, with the function's
 * diag, and `take` is not called again. Such a sink takes no counters and cannot be held. The
 * caller closes it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sink_open_function(
    struct sl_sink **sink,
    enum sl_status (*take)(void *user, const struct sl_event *event, struct sl_diag *diag),
    void *user, struct sl_diag *diag);

/* Writes an event; sinks buffer. SL_EIO: the sink cannot take more (disk full, pipe closed), and
 * diag has the system's reason. SL_ENOMEM. Other statuses are those of a sink's function. Each
 * failure is final: later calls return it, and the caller closes the sink. SL_EOVERFLOW: a sink of
 * sl_sink_hold is full. */
SL_CHECK SL_API enum sl_status sl_sink_write(struct sl_sink *sink, const struct sl_event *event,
                                             struct sl_diag *diag);

/* Whether the sink shows the community id of an event, or passes it on. "console" does not: its
 * events need none, which saves making it. */
SL_API bool sl_sink_shows_community_id(const struct sl_sink *sink);

/* Makes a sink of the same kind that has no file and holds what is written to it. So a thread
 * writes events for a sink of another thread. It holds up to hold_len bytes (1 to SIZE_MAX / 2;
 * unused memory is not touched). Beyond them sl_sink_write returns SL_EOVERFLOW for that event and
 * all that follow, until sl_sink_pass. `sink` is not changed and lends nothing. The caller closes
 * *held. SL_EUNSUPPORTED: this kind of sink (SQLite, a function) cannot hold events. SL_EINVAL:
 * hold_len is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sink_hold(struct sl_sink **held, const struct sl_sink *sink,
                                            size_t hold_len, struct sl_diag *diag);

/* Writes all events of `held` to a sink of its kind, as if they were written one by one, and
 * empties `held`. The statuses of sl_sink_write. */
SL_CHECK SL_API enum sl_status sl_sink_pass(struct sl_sink *held, struct sl_sink *sink,
                                            struct sl_diag *diag);

/* The counters of a run as texts (sl_stats_json, sl_stats_line of sluice/stats.h). */
struct sl_stats_event {
    int64_t time_ns; /* since 1970-01-01 UTC */
    const char *json, *line;
};

/* Whether the sink takes counters. "console" prints the line. "eve" writes the JSON object in an
 * event of type stats. */
SL_API bool sl_sink_takes_stats(const struct sl_sink *sink);

/* Writes counters, as sl_sink_write writes an event. The texts are borrowed for the call.
 * SL_EUNSUPPORTED: the sink takes no counters, and nothing changes. Other statuses are those of
 * sl_sink_write. */
SL_CHECK SL_API enum sl_status
sl_sink_write_stats(struct sl_sink *sink, const struct sl_stats_event *stats, struct sl_diag *diag);

/* Writes all buffered events to the system; SQLite commits. A run flushes its sinks each 100 ms.
 * Statuses are those of sl_sink_write. */
SL_CHECK SL_API enum sl_status sl_sink_flush(struct sl_sink *sink, struct sl_diag *diag);

/* Returns how many events certainly reached the system: all before the last successful flush. Of a
 * held sink it returns how many events it holds. */
SL_API uint64_t sl_sink_written(const struct sl_sink *sink);

/* Flushes and closes; the sink is closed whatever the status. *written is the final count of
 * events; `written` may be NULL. Accepts NULL as the sink, with SL_OK and 0 events. Statuses are
 * those of sl_sink_write. */
SL_CHECK SL_API enum sl_status sl_sink_close(struct sl_sink *sink, uint64_t *written,
                                             struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
