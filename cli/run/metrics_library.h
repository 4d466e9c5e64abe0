/* SPDX-License-Identifier: MIT */
/* libmicrohttpd, which is loaded where counters are served: its libraries, GnuTLS among them, are
 * 2.4 MB of memory, and no other command needs them. */
#ifndef CLI_METRICS_LIBRARY_H
#define CLI_METRICS_LIBRARY_H

#include <microhttpd.h>

/* Its functions that metrics.c calls. */
#define METRICS_FUNCTIONS(X)           \
    X(MHD_start_daemon)                \
    X(MHD_stop_daemon)                 \
    X(MHD_get_connection_info)         \
    X(MHD_create_response_from_buffer) \
    X(MHD_add_response_header)         \
    X(MHD_queue_response)              \
    X(MHD_destroy_response)

#define METRICS_FUNCTION(name) __typeof__(name) *(name);
struct metrics_library {
    METRICS_FUNCTIONS(METRICS_FUNCTION)
};
#undef METRICS_FUNCTION

/* The library, loaded by the first call, for the rest of the process. NULL: it is not there, and
 * the reason is on stderr. One thread at a time. */
const struct metrics_library *metrics_library(void);

#endif
