/* SPDX-License-Identifier: MIT */
/* The application protocol of a TCP flow: found by the first bytes of either side, whatever the
 * ports, and read by its parser. The protocol in a tunnel of HTTP, or behind STARTTLS, is found
 * anew. */
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "app_parser.h"

enum {
    APP_PROBE_MAX = 64,   /* first bytes of a side that show its protocol */
    APP_BEGIN_MAX = 4096, /* bytes of a side that are kept until the protocol is known */
    APP_TUNNELS_MAX = 2   /* one inside another */
};

enum { APP_NONE = SL_N_APPS }; /* a side shows no protocol that is known here */

/* The protocols that the sides show. */
struct app_sides {
    uint8_t app[2]; /* enum sl_app; 0: not known so far; APP_NONE. A side that shows none has the
                       other one's */
    uint8_t before; /* what the flow spoke before the tunnel; 0: it has none */
    uint8_t found;  /* set of sides that have shown theirs, or that it is APP_NONE */
};

struct app_stream;

struct app_stream *app_stream_open(void); /* NULL: there is no memory */

/* The next bytes of a side. False: there is no memory, and the flow is read no further. */
bool app_stream_give(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                     uint32_t len, const struct app_listener *listener);

/* len bytes of the side never come. False as above. */
bool app_stream_gap(struct app_stream *stream, enum app_side side, uint64_t len,
                    const struct app_listener *listener);

/* The side sends nothing more. */
void app_stream_end(struct app_stream *stream, enum app_side side,
                    const struct app_listener *listener);

/* The flow is over: open transactions are reported as done. Accepts NULL. */
void app_stream_close(struct app_stream *stream, const struct app_listener *listener);

/* NULL: not known yet, or none that has a parser. */
const struct app_parser *app_stream_parser(const struct app_stream *stream);

/* The protocol, of the innermost tunnel where it is known. SL_APP_UNKNOWN: none is known. */
enum sl_app app_stream_app(const struct app_stream *stream);

/* The same of the sides. `found` gets those that were found since the last call. */
void app_stream_take_sides(struct app_stream *stream, struct app_sides *sides);

/* Whether later bytes of a side can bring any report. */
bool app_stream_listens(const struct app_stream *stream, enum app_side side);

uint64_t app_stream_held(const struct app_stream *stream); /* bytes of memory */

#endif
