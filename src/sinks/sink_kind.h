/* SPDX-License-Identifier: MIT */
/* A kind of sink: the functions behind sluice/sink.h. One that no spec names has no open. */
#ifndef SINKS_SINK_KIND_H
#define SINKS_SINK_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/sink.h"

/* Each kind begins its own struct with this one. */
struct sl_sink {
    const struct sink_kind *kind;
    enum sl_status failure; /* of the first call that failed; after it the kind is only closed */
    struct sl_diag reason;  /* of that failure; all 0 before */
};

struct sink_kind {
    const char *name;  /* the text before the colon of a spec */
    const char *usage; /* how a spec is written, for diagnostics */
    bool has_path;     /* a spec is "NAME:PATH"; otherwise "NAME" */
    bool shows_community_id;

    /* path is "" where the kind has none. The base is filled by the caller. */
    enum sl_status (*open)(struct sl_sink **sink, const char *path, struct sl_diag *diag);

    /* Makes a sink of this kind that holds up to hold_len bytes. A write beyond returns
     * SL_EOVERFLOW. `pass` writes them to a sink of the kind. Both NULL: the kind cannot hold. */
    enum sl_status (*hold)(struct sl_sink **held, size_t hold_len, struct sl_diag *diag);
    enum sl_status (*pass)(struct sl_sink *held, struct sl_sink *sink, struct sl_diag *diag);

    enum sl_status (*write)(struct sl_sink *sink, const struct sl_event *event,
                            struct sl_diag *diag);
    /* NULL: the kind takes none. */
    enum sl_status (*write_stats)(struct sl_sink *sink, const struct sl_stats_event *stats,
                                  struct sl_diag *diag);
    enum sl_status (*flush)(struct sl_sink *sink, struct sl_diag *diag);
    uint64_t (*written)(const struct sl_sink *sink);

    /* Frees the sink; events that were not flushed are lost. */
    enum sl_status (*close)(struct sl_sink *sink, struct sl_diag *diag);
};

extern const struct sink_kind sink_console, sink_eve, sink_sqlite;

#endif
