/* SPDX-License-Identifier: MIT */
/* Sinks: where alerts, anomalies and matches of names go. */
#ifndef SLUICE_SINK_H
#define SLUICE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/event.h"
#include "sluice/stats.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_sink;

/* Opens "console" (one line an event on standard output), "eve:FILE" or "eve:-" (EVE JSON lines,
 * field names as Suricata's), or "sqlite:FILE" (tables `alerts`, `anomalies` and `names`). An
 * existing EVE file is overwritten; into an existing database rows are added. SL_EINVAL: no such
 * kind of sink (the known ones are named); SL_EIO: cannot be opened, or the database's tables are
 * of another program. */
SL_CHECK SL_API enum sl_status sl_sink_open(struct sl_sink **sink, const char *spec,
                                            struct sl_diag *diag);

/* Opens a sink that hands each event to the caller's function. `take` is called by sl_sink_write,
 * on its thread: one event at a time, in the order of writing. The event and all that it points to
 * is borrowed for the call. Any status but SL_OK is the sink's failure, with what the function
 * wrote to diag: it is not called again. Such a sink takes no counters and is not held. SL_ENOMEM.
 */
SL_CHECK SL_API enum sl_status sl_sink_open_function(
    struct sl_sink **sink,
    enum sl_status (*take)(void *user, const struct sl_event *event, struct sl_diag *diag),
    void *user, struct sl_diag *diag);

/* Writes an event; sinks buffer. SL_EIO: the sink cannot take more (disk full, pipe closed): diag
 * holds the system's reason; write nothing further and close. One thread at a time. */
SL_CHECK SL_API enum sl_status sl_sink_write(struct sl_sink *sink, const struct sl_event *event,
                                             struct sl_diag *diag);

/* Makes a sink of the same kind that has no file but holds what is written to it: up to hold_len
 * bytes (1 to SIZE_MAX / 2; memory that is not used is not touched), then sl_sink_write says
 * SL_EOVERFLOW, for that event and all that follow until it is passed. So events are made on one
 * thread for a sink of another; `sink` is not touched, and lends nothing. The caller closes it.
 * SL_EUNSUPPORTED: this kind of sink takes events one by one alone (SQLite); SL_EINVAL; SL_ENOMEM.
 */
SL_CHECK SL_API enum sl_status sl_sink_hold(struct sl_sink **held, const struct sl_sink *sink,
                                            size_t hold_len, struct sl_diag *diag);

/* Writes all events that `held` holds to a sink of its kind, as if they were written one by one;
 * `held` is empty then. As sl_sink_write. */
SL_CHECK SL_API enum sl_status sl_sink_pass(struct sl_sink *held, struct sl_sink *sink,
                                            struct sl_diag *diag);

/* Whether the kind takes counters: "console" (one line) and "eve" (an event of type stats; totals,
 * named as Suricata's where it has them, and sluice's own in an object of that name) do. */
SL_API bool sl_sink_takes_stats(const struct sl_sink *sink);

/* Writes the counters of a run, as sl_sink_write does an event. SL_EUNSUPPORTED, and the sink is as
 * it was: it takes none. */
SL_CHECK SL_API enum sl_status
sl_sink_write_stats(struct sl_sink *sink, const struct sl_stats *stats, struct sl_diag *diag);

/* Hands what is buffered to the system; SQLite commits. */
SL_CHECK SL_API enum sl_status sl_sink_flush(struct sl_sink *sink, struct sl_diag *diag);

/* Events that certainly reached the system: all before the last successful flush. Of a sink that
 * holds: the events in it. */
SL_API uint64_t sl_sink_written(const struct sl_sink *sink);

/* Flushes and closes; the sink is gone whatever the status. *written, if not NULL, is the final
 * count. Accepts NULL. */
SL_CHECK SL_API enum sl_status sl_sink_close(struct sl_sink *sink, uint64_t *written,
                                             struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
