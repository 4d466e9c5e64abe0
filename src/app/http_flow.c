/* SPDX-License-Identifier: MIT */
/* Flows of HTTP/1: the steps of their sides, and the interface of parsers. */
#include "http_flow.h"

static void *open_flow(void)
{
    return calloc(1, sizeof(struct http_flow));
}

static enum app_verdict verdict_of(const struct http_flow *flow, enum app_side side)
{
    if (flow->no_memory || flow->side[side].line.no_memory)
        return APP_NO_MEMORY;
    if (flow->side[side].state == HTTP_DEAD)
        return APP_GIVEN_UP;
    return flow->side[side].state == HTTP_IN_TUNNEL ? APP_TUNNEL : APP_GOES_ON;
}

/* The gathered line, as what its side's state says. */
static void read_again(struct http_flow *flow, enum app_side side);

/* Steps over bytes of a side, as long as it can be read. Returns how many were taken. */
static uint32_t take(struct http_flow *flow, enum app_side side, const uint8_t *bytes, uint32_t len)
{
    static http_step *const steps[] = {
        [HTTP_IN_HEAD] = http_step_head,
        [HTTP_IN_BODY] = http_step_body,
        [HTTP_IN_REST] = http_step_rest,
        [HTTP_IN_DOUBT] = http_step_doubt,
        [HTTP_IN_CHUNK_LINE] = http_step_chunk_line,
        [HTTP_IN_CHUNK] = http_step_chunk,
        [HTTP_BEHIND_CHUNK] = http_step_behind_chunk,
        [HTTP_IN_TRAILER] = http_step_trailer,
        [HTTP_SEEKS] = http_step_seek,
        [HTTP_SEEKS_LINE] = http_step_seek_line,
        [HTTP_WAITS] = http_step_wait,
    };
    uint32_t taken = 0;

    while (taken < len && verdict_of(flow, side) == APP_GOES_ON) {
        taken += steps[flow->side[side].state](flow, side, bytes + taken, len - taken);
        if (flow->side[side].reads_again)
            read_again(flow, side);
    }
    return taken;
}

static void read_again(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];
    struct app_text line = mine->line;

    mine->line = (struct app_text){0};
    mine->reads_again = false;
    (void)take(flow, side, line.bytes, line.len);
    app_text_free(&line);
}

/* No message can follow any more: the body goes on. */
static void end_doubt(struct http_flow *flow, enum app_side side)
{
    if (flow->side[side].state != HTTP_IN_DOUBT)
        return;
    http_body_go_on(&flow->side[side]);
    read_again(flow, side);
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct http_flow *const flow = of;

    flow->listener = listener;
    *taken = take(flow, side, bytes, len);
    return verdict_of(flow, side);
}

/* Whether a gap lies within a body, which goes on behind it. */
static bool spans_gap(struct http_side *mine, uint64_t len)
{
    if (mine->state == HTTP_IN_REST)
        return true;
    if ((mine->state != HTTP_IN_BODY && mine->state != HTTP_IN_CHUNK) || len >= mine->left)
        return false;
    mine->left -= len;
    return true;
}

static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct http_flow *const flow = of;
    struct http_side *const mine = &flow->side[side];

    flow->listener = listener;
    if (mine->is_open)
        http_head_end(flow, side);
    end_doubt(flow, side);
    if (verdict_of(flow, side) != APP_GOES_ON)
        return verdict_of(flow, side);
    if (spans_gap(mine, len)) {
        struct http_message *const message = &mine->transaction->message[side];

        message->body_len += len;
        message->decoded_len += mine->coding == NULL ? len : 0;
        mine->skips_body |= mine->coding != NULL;
        message->is_cut |= mine->skips_body;
    } else {
        http_message_end(flow, side, true);
        mine->state = HTTP_SEEKS;
    }
    return APP_GOES_ON;
}

static void end_flow(void *of, enum app_side side, const struct app_listener *listener)
{
    struct http_flow *const flow = of;
    struct http_side *const mine = &flow->side[side];

    flow->listener = listener;
    http_head_end(flow, side);
    end_doubt(flow, side);
    if (mine->transaction != NULL)
        http_message_end(flow, side, mine->state != HTTP_IN_REST);
    if (mine->state != HTTP_IN_TUNNEL)
        mine->state = HTTP_SEEKS;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct http_flow *const flow = of;

    end_flow(flow, APP_CLIENT, listener);
    end_flow(flow, APP_SERVER, listener);
    while (flow->first != NULL)
        http_transaction_done(flow, flow->first);
    for (int side = 0; side < 2; side++)
        app_text_free(&flow->side[side].line);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct http_flow *const flow = of;
    uint64_t held = sizeof *flow;

    for (int side = 0; side < 2; side++)
        held += flow->side[side].line.max + http_coding_held(flow->side[side].coding);
    for (const struct http_transaction *open = flow->first; open != NULL; open = open->next) {
        held += sizeof *open;
        for (int side = 0; side < 2; side++)
            held += open->message[side].head.len +
                    open->message[side].head.n_fields * sizeof(struct http_field);
    }
    return held;
}

const struct app_parser http_parser = {.app = SL_APP_HTTP,
                                       .open = open_flow,
                                       .give = give_flow,
                                       .gap = gap_flow,
                                       .end = end_flow,
                                       .close = close_flow,
                                       .held = held_by,
                                       .show = http_show,
                                       .describe = http_describe};
