/* SPDX-License-Identifier: MIT */
/* The interface of parsers of TCP streams.
 *
 * A parser gets the bytes of both sides of a flow in their order, in pieces of any size. It reports
 * to its listener what it has read. The reports do not depend on the cuts between pieces, but for
 * the pieces of bodies, whose bytes joined are the same. Sides may come in any order.
 *
 * A transaction is a request with its response, or what the protocol has for it. The memory of a
 * flow is bounded: each protocol's header has its bounds. A flow belongs to one thread at a time. A
 * report is valid during the call. */
#ifndef APP_PARSER_H
#define APP_PARSER_H

#include "app_show.h"

/* The senders of bytes: half 0 and half 1 of a TCP stream. */
enum app_side { APP_CLIENT, APP_SERVER };

enum app_news_kind {
    APP_HEAD,  /* the side's head is whole: its buffers can be read */
    APP_FILE,  /* SMTP: an attachment begins, whose name is in `bytes`; APP_END ends it */
    APP_BODY,  /* the next bytes of the side's body, without transfer and content codings */
    APP_END,   /* the side has sent its part; `cut`: not all of it came */
    APP_EVENT, /* an anomaly of the side */
    APP_DONE   /* the transaction is over, and freed behind the call */
};

struct app_parser;

struct app_news {
    const struct app_parser *parser;
    const void *transaction; /* of the protocol: struct http_transaction, for example */
    void **note;             /* in the transaction, for the listener: NULL at first */
    uint64_t number;         /* transactions of the flow count from 0 */
    const uint8_t *bytes;    /* BODY, FILE */
    uint32_t len;
    uint64_t offset;   /* BODY: of the first byte in the body */
    const char *event; /* EVENT: its name in Suricata's rules */
    uint8_t kind;      /* enum app_news_kind */
    uint8_t side;      /* enum app_side */
    bool cut;
};

struct app_listener {
    void (*report)(void *to, const struct app_news *news);
    void *to;
};

static inline void app_report(const struct app_listener *listener, const struct app_news *news)
{
    if (listener != NULL)
        listener->report(listener->to, news);
}

/* A parser's verdict on the bytes that it was given. */
enum app_verdict {
    APP_GOES_ON,
    APP_TUNNEL,    /* from byte *taken on the side speaks another protocol */
    APP_GIVEN_UP,  /* the side cannot be read any further */
    APP_NO_MEMORY, /* nor can this one; the caller fails with SL_ENOMEM */
};

/* Whether the first bytes of a side are of a protocol. */
enum app_likeness { APP_UNLIKE, APP_LIKE, APP_TOO_SHORT };

struct app_parser {
    enum sl_app app;
    bool says_more;      /* values change also between reports, not with those of heads alone */
    void *(*open)(void); /* NULL: there is no memory */
    enum app_verdict (*give)(void *flow, enum app_side side, const uint8_t *bytes, uint32_t len,
                             uint32_t *taken, const struct app_listener *listener);
    /* len bytes of the side never come. */
    enum app_verdict (*gap)(void *flow, enum app_side side, uint64_t len,
                            const struct app_listener *listener);
    /* The side sends nothing more. NULL: that says nothing. */
    void (*end)(void *flow, enum app_side side, const struct app_listener *listener);
    /* Reports the end of open transactions, and frees the flow. */
    void (*close)(void *flow, const struct app_listener *listener);
    uint64_t (*held)(const void *flow); /* bytes of memory */

    /* The contents of a transaction: a side's values, and a message's fields beside them. */
    void (*show)(struct app_show *show, const void *transaction, enum app_side side);
    void (*describe)(struct sl_app_message *message, const void *transaction);
};

#endif
