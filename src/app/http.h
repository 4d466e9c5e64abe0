/* SPDX-License-Identifier: MIT */
/* HTTP/1: requests and responses of a flow, as transactions. app_parser.h has the interface.
 *
 * Bounds of a flow: HTTP_OPEN_MAX transactions, each with two heads of HTTP_HEAD_MAX bytes, and a
 * decoder a side. Of more open requests the oldest is reported as done, without its response. */
#ifndef APP_HTTP_H
#define APP_HTTP_H

#include "app_parser.h"
#include "http_head.h"

enum {
    HTTP_OPEN_MAX = 128,       /* transactions */
    HTTP_CHUNK_LINE_MAX = 128, /* bytes of a chunk's length and extensions that are read */
    HTTP_DOUBT_MAX = 256       /* bytes behind a body of doubtful length that may begin a message */
};

enum http_flag {
    HTTP_NO_REQUEST = 1, /* a response whose request was not seen */
    HTTP_NO_HEAD = 2,    /* a response that is a body alone */
    HTTP_UPGRADED = 4,   /* behind it the flow speaks another protocol */
    HTTP_INTERIM = 8     /* responses before the last were passed over: 100 Continue */
};

/* The message of one side. */
struct http_message {
    struct http_head head;
    uint64_t body_len;    /* bytes of the body on the wire, without the lines of chunks */
    uint64_t decoded_len; /* and behind content codings */
    bool has_head, has_ended, is_cut;
};

/* Where a request goes. */
struct http_host {
    struct app_span name, port; /* bytes of the head */
    bool of_uri;                /* else of the field Host */
    bool is_absent;             /* there is neither */
};

struct http_transaction {
    struct http_message message[2]; /* by enum app_side */
    struct http_transaction *next;  /* the next request of the flow that has no whole response */
    void *note;                     /* see struct app_news */
    uint64_t number;
    struct http_host host; /* once the request's head has come */
    uint16_t port;         /* that it names; 0: none */
    uint16_t status;       /* 0: none, or no number of three digits */
    uint8_t flags;         /* enum http_flag */
};

extern const struct app_parser http_parser;

/* Whether bytes begin a message of this side. */
enum app_likeness http_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

/* ---- the contents of a transaction ----------------------------------------------------------- */

/* A value of the side's head, SL_HTTP_*. A value that has to be put together is appended to `text`,
 * and is valid until `text` changes. False: the side has none. */
bool http_value_get(struct app_span *value, const struct http_transaction *transaction,
                    enum app_side side, enum sl_app_value_id id, struct app_text *text);

/* The value of a field. */
bool http_field_get(struct app_span *value, const struct http_transaction *transaction,
                    enum app_side side, enum http_name name, struct app_text *text);

/* As struct app_parser has them. */
void http_show(struct app_show *show, const void *of, enum app_side side);
void http_describe(struct sl_app_message *message, const void *of);

/* Reads the host and the port of a request, whose head has come. */
void http_host_read(struct http_transaction *transaction);

#endif
