/* SPDX-License-Identifier: MIT */
#include "dns_tcp.h"

#include "app_stream.h"
#include "base/bytes.h"
#include "dns.h"

enum { LENGTH_LEN = 2 };

struct dns_flow {
    struct app_text text[2]; /* of the sides: what came of the next message, with its length */
    bool is_bad[2];
    uint64_t n_messages;
};

/* A transaction. */
struct message {
    struct app_span bytes;
    enum app_side side;
    void *note;
};

static void *open_flow(void)
{
    return calloc(1, sizeof(struct dns_flow));
}

static void tell_message(struct dns_flow *flow, enum app_side side, struct app_span bytes,
                         const struct app_listener *listener)
{
    struct message message = {.bytes = bytes, .side = side};
    struct app_news news = {.parser = &dns_tcp_parser,
                            .transaction = &message,
                            .note = &message.note,
                            .number = flow->n_messages++,
                            .side = (uint8_t)side};

    news.kind = APP_HEAD;
    app_tell(listener, &news);
    news.kind = APP_DONE;
    app_tell(listener, &news);
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct dns_flow *const flow = of;
    struct app_text *const text = &flow->text[side];
    uint32_t at = 0;

    *taken = len;
    app_text_add(text, bytes, len);
    if (text->no_memory)
        return APP_NO_MEMORY;
    while (!flow->is_bad[side] && text->len - at >= LENGTH_LEN) {
        const uint32_t message_len = load_be16(text->bytes + at);

        flow->is_bad[side] = message_len < DNS_HEADER_LEN;
        if (flow->is_bad[side] || text->len - at < LENGTH_LEN + message_len)
            break;
        tell_message(flow, side, (struct app_span){text->bytes + at + LENGTH_LEN, message_len},
                     listener);
        at += LENGTH_LEN + message_len;
    }
    if (at != 0)
        memmove(text->bytes, text->bytes + at, text->len - at);
    text->len -= at;
    return flow->is_bad[side] ? APP_GIVEN_UP : APP_GOES_ON;
}

static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct dns_flow *const flow = of;

    (void)len;
    (void)listener;
    flow->is_bad[side] = true;
    app_text_free(&flow->text[side]);
    return APP_GIVEN_UP;
}

static void end_flow(void *of, enum app_side side, const struct app_listener *listener)
{
    struct dns_flow *const flow = of;

    (void)listener;
    app_text_free(&flow->text[side]);
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct dns_flow *const flow = of;

    (void)listener;
    app_text_free(&flow->text[0]);
    app_text_free(&flow->text[1]);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct dns_flow *const flow = of;

    return sizeof *flow + flow->text[0].max + flow->text[1].max;
}

static void show_message(struct app_show *show, const void *of, enum app_side side)
{
    const struct message *const message = of;

    if (side == message->side)
        app_show_add(show, SL_DNS_MESSAGE, message->bytes);
}

static void describe_message(struct sl_app_message *to, const void *of)
{
    const struct message *const message = of;

    to->half[message->side].has_head = to->half[message->side].has_ended = true;
}

const struct app_parser dns_tcp_parser = {.app = SL_APP_DNS,
                                          .open = open_flow,
                                          .give = give_flow,
                                          .gap = gap_flow,
                                          .end = end_flow,
                                          .close = close_flow,
                                          .held = held_by,
                                          .show = show_message,
                                          .describe = describe_message};

/* Of a message that is longer than what is kept, what came has to look like one. */
enum app_likeness dns_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    const uint32_t sent_len = len >= LENGTH_LEN ? load_be16(bytes) : DNS_HEADER_LEN;
    const bool is_whole = len >= LENGTH_LEN + sent_len;

    (void)side;
    if (sent_len < DNS_HEADER_LEN)
        return APP_UNLIKE;
    if (len < LENGTH_LEN + DNS_HEADER_LEN || (!is_whole && len < APP_PROBE_MAX))
        return APP_TOO_SHORT;
    const enum dns_verdict verdict =
        dns_probe(bytes + LENGTH_LEN, is_whole ? sent_len : len - LENGTH_LEN, sent_len);

    return verdict == DNS_YES || (verdict == DNS_MAYBE && !is_whole) ? APP_LIKE : APP_UNLIKE;
}
