/* SPDX-License-Identifier: MIT */
/* Protocols whose messages over TCP are those of datagrams, one behind the other: DNS and SIP.
 * app_parser.h has the interface. Each message is a transaction; its news are APP_HEAD and
 * APP_DONE. A flow holds one message a side, of at most 64 KiB. Behind a gap, or what is no
 * message, a side is given up. */
#ifndef APP_WHOLE_MESSAGES_H
#define APP_WHOLE_MESSAGES_H

#include "app_parser.h"

/* The message that a side's next bytes begin with. Zeros at first. */
struct whole_message {
    uint32_t need; /* bytes that the next probe takes; of a message: all of it */
    uint32_t skip; /* bytes before the message */
    uint32_t seen; /* bytes of the last probe */
};

/* APP_LIKE: `need` bytes are there, and the message lies behind `skip`; an empty one is not
 * reported. APP_TOO_SHORT: more has to come. APP_UNLIKE: it is none. */
typedef enum app_likeness whole_probe(struct whole_message *message, const uint8_t *bytes,
                                      uint32_t len);

/* The functions that the parsers have in common. `value` is what a message is shown as; `of` is the
 * flow or, where it is shown and described, the transaction. */
void *whole_open(const struct app_parser *parser, whole_probe *probe, enum sl_app_value_id value);
enum app_verdict whole_give(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                            uint32_t *taken, const struct app_listener *listener);
enum app_verdict whole_gap(void *of, enum app_side side, uint64_t len,
                           const struct app_listener *listener);
void whole_end(void *of, enum app_side side, const struct app_listener *listener);
void whole_close(void *of, const struct app_listener *listener);
uint64_t whole_held(const void *of);
void whole_show(struct app_show *show, const void *of, enum app_side side);
void whole_describe(struct sl_app_message *to, const void *of);

/* The parser of such a protocol. */
#define WHOLE_PARSER(of, opened)                                                                 \
    {                                                                                            \
        .app = (of), .open = (opened), .give = whole_give, .gap = whole_gap, .end = whole_end,   \
        .close = whole_close, .held = whole_held, .show = whole_show, .describe = whole_describe \
    }

extern const struct app_parser dns_tcp_parser, sip_tcp_parser;

enum app_likeness dns_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len);
enum app_likeness sip_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

#endif
