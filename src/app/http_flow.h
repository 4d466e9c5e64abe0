/* SPDX-License-Identifier: MIT */
/* A flow of HTTP/1 inside: what its parts share. */
#ifndef APP_HTTP_FLOW_H
#define APP_HTTP_FLOW_H

#include "http.h"
#include "http_coding.h"

enum http_state {
    HTTP_IN_HEAD,       /* between messages, or in a head */
    HTTP_IN_BODY,       /* of known length */
    HTTP_IN_REST,       /* a body up to the end of the side */
    HTTP_IN_DOUBT,      /* a message may follow, or more of the body */
    HTTP_IN_CHUNK_LINE, /* the length of a chunk */
    HTTP_IN_CHUNK,      /* its bytes */
    HTTP_BEHIND_CHUNK,  /* the end of its line */
    HTTP_IN_TRAILER,    /* fields behind the last chunk */
    HTTP_SEEKS,         /* behind a gap or damage: seeks a line that begins a message */
    HTTP_SEEKS_LINE,    /* and the end of one that does not */
    HTTP_WAITS,         /* behind CONNECT, for the response */
    HTTP_IN_TUNNEL,     /* another protocol */
    HTTP_DEAD
};

struct http_side {
    struct app_text line; /* the head so far, or the line of a chunk */
    uint32_t line_at;     /* where the last line of the head begins */
    uint8_t state;
    bool is_open;                         /* the next byte says what the last line was */
    bool lacks_protocol;                  /* the request's head, whose first line has come */
    bool is_vague;                        /* the body's length is no number alone: "34 68" */
    bool skips_body;                      /* the bytes to come cannot be decoded any more */
    bool reads_again;                     /* `line` is no line: the next step reads it first */
    uint64_t left;                        /* bytes of the body or chunk to come */
    struct http_coding *coding;           /* of the body; NULL: none */
    struct http_transaction *transaction; /* whose message goes on; NULL: none */
};

struct http_flow {
    struct http_side side[2];
    struct http_transaction *first, *last; /* open ones, oldest first */
    const struct app_listener *listener;
    uint64_t count; /* transactions so far */
    uint32_t n_open;
    uint32_t n_forgotten; /* requests reported as done whose responses are still to come */
    bool no_memory;
};

/* The number of its bytes that a step takes. It may be 0 where the state changes. Files of steps
 * stand in the order of their calls: each calls files above it alone. */
typedef uint32_t http_step(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                           uint32_t len);

/* http_transaction.c */
void http_report(struct http_flow *flow, struct app_news news, enum app_side side,
                 struct http_transaction *transaction);
void http_report_event(struct http_flow *flow, enum app_side side, const char *event);
struct http_transaction *http_transaction_open(struct http_flow *flow);
void http_transaction_done(struct http_flow *flow, struct http_transaction *transaction);

/* http_events.c: the rules that a reported head breaks. */
void http_report_head_events(struct http_flow *flow, enum app_side side,
                             const struct http_transaction *transaction);

/* http_seek.c, with http_probe */
http_step http_step_seek, http_step_seek_line;

/* http_body.c */
http_step http_step_body, http_step_rest, http_step_chunk_line, http_step_chunk,
    http_step_behind_chunk, http_step_trailer, http_step_doubt;
void http_body_give(struct http_flow *flow, enum app_side side, const uint8_t *bytes, uint32_t len);
/* The body begins: its coding, by the head's fields. */
void http_body_begin(struct http_flow *flow, enum app_side side);
/* The gathered line is of the body, as what follows. */
void http_body_go_on(struct http_side *mine);
/* The message is over: the bytes that its decoder holds back come, and the decoder goes. */
void http_message_end(struct http_flow *flow, enum app_side side, bool is_cut);

/* http_message.c */
http_step http_step_head, http_step_wait;
/* The side ends: the part of a head that has come is all of it. */
void http_head_end(struct http_flow *flow, enum app_side side);

#endif
