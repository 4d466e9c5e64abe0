/* SPDX-License-Identifier: MIT */
#include "whole_messages.h"

struct whole_flow {
    const struct app_parser *parser;
    whole_probe *probe;
    struct app_text text[2]; /* of the sides: what came of the next message */
    struct whole_message next[2];
    enum sl_app_value_id value;
    uint64_t n_messages;
};

/* A transaction. */
struct message {
    struct app_span bytes;
    enum app_side side;
    enum sl_app_value_id value;
    void *note;
};

void *whole_open(const struct app_parser *parser, whole_probe *probe, enum sl_app_value_id value)
{
    struct whole_flow *flow = calloc(1, sizeof *flow);

    if (flow != NULL)
        *flow = (struct whole_flow){.parser = parser, .probe = probe, .value = value};
    return flow;
}

static void report_message(struct whole_flow *flow, enum app_side side, struct app_span bytes,
                           const struct app_listener *listener)
{
    struct message message = {.bytes = bytes, .side = side, .value = flow->value};
    struct app_news news = {.parser = flow->parser,
                            .transaction = &message,
                            .note = &message.note,
                            .number = flow->n_messages++,
                            .side = (uint8_t)side};

    news.kind = APP_HEAD;
    app_report(listener, &news);
    news.kind = APP_DONE;
    app_report(listener, &news);
}

enum app_verdict whole_give(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                            uint32_t *taken, const struct app_listener *listener)
{
    struct whole_flow *const flow = of;
    struct app_text *const text = &flow->text[side];
    struct whole_message *const next = &flow->next[side];
    enum app_likeness likeness = APP_LIKE;
    uint32_t at = 0;

    *taken = len;
    app_text_add(text, bytes, len);
    if (text->no_memory)
        return APP_NO_MEMORY;
    while (likeness == APP_LIKE && text->len != at && text->len - at >= next->need) {
        likeness = flow->probe(next, text->bytes + at, text->len - at);
        if (likeness != APP_LIKE)
            break;
        if (next->need != next->skip)
            report_message(
                flow, side,
                (struct app_span){text->bytes + at + next->skip, next->need - next->skip},
                listener);
        at += next->need;
        *next = (struct whole_message){0};
    }
    if (at != 0)
        memmove(text->bytes, text->bytes + at, text->len - at);
    text->len -= at;
    if (likeness != APP_UNLIKE)
        return APP_GOES_ON;
    app_text_free(text);
    return APP_GIVEN_UP;
}

enum app_verdict whole_gap(void *of, enum app_side side, uint64_t len,
                           const struct app_listener *listener)
{
    struct whole_flow *const flow = of;

    (void)len;
    (void)listener;
    app_text_free(&flow->text[side]);
    return APP_GIVEN_UP;
}

void whole_end(void *of, enum app_side side, const struct app_listener *listener)
{
    struct whole_flow *const flow = of;

    (void)listener;
    app_text_free(&flow->text[side]);
}

void whole_close(void *of, const struct app_listener *listener)
{
    struct whole_flow *const flow = of;

    (void)listener;
    app_text_free(&flow->text[0]);
    app_text_free(&flow->text[1]);
    free(flow);
}

uint64_t whole_held(const void *of)
{
    const struct whole_flow *const flow = of;

    return sizeof *flow + flow->text[0].max + flow->text[1].max;
}

void whole_show(struct app_show *show, const void *of, enum app_side side)
{
    const struct message *const message = of;

    if (side == message->side)
        app_show_add(show, message->value, message->bytes);
}

void whole_describe(struct sl_app_message *to, const void *of)
{
    const struct message *const message = of;

    to->half[message->side].has_head = to->half[message->side].has_ended = true;
}
