/* SPDX-License-Identifier: MIT */
/* Heads of HTTP/1, and what follows from them. */
#include "http_flow.h"

enum {
    STRAY_MAX = 512, /* bytes of a line before a response that may be passed over */
    STATUS_SWITCHING = 101,
    STATUS_NO_CONTENT = 204,
    STATUS_NOT_MODIFIED = 304
};

/* ---- what follows a head --------------------------------------------------------------------- */

/* The body by its fields; `rest`: without them it goes up to the end. */
static void begin_body(struct http_flow *flow, enum app_side side, bool rest)
{
    struct http_side *const mine = &flow->side[side];
    struct app_text text = {0};
    struct app_span value;

    mine->state = rest ? HTTP_IN_REST : HTTP_IN_HEAD;
    if (http_field_get(&value, mine->transaction, side, HTTP_TRANSFER_ENCODING, &text) &&
        http_span_has(value, "chunked")) {
        mine->state = HTTP_IN_CHUNK_LINE;
    } else if (http_field_get(&value, mine->transaction, side, HTTP_CONTENT_LENGTH, &text)) {
        const bool is_number = http_span_is_number(value);

        if (http_span_number(value, &mine->left)) {
            mine->state = mine->left != 0 ? HTTP_IN_BODY : HTTP_IN_HEAD;
            mine->is_vague = side == APP_SERVER && !is_number;
        } else {
            http_report_event(flow, side,
                              side == APP_CLIENT ? "invalid_content_length_field_in_request"
                                                 : "invalid_content_length_field_in_response");
        }
    }
    flow->no_memory |= text.no_memory;
    app_text_free(&text);
    if (mine->state == HTTP_IN_HEAD)
        http_message_end(flow, side, false);
    else
        http_body_begin(flow, side);
}

static bool is_method(const struct http_transaction *transaction, const char *method)
{
    const struct http_head *head = &transaction->message[APP_CLIENT].head;

    return transaction->message[APP_CLIENT].has_head &&
           http_span_is(http_head_span(head, head->first[0]), method);
}

static void follow_request(struct http_flow *flow, bool is_brief)
{
    struct http_side *const mine = &flow->side[APP_CLIENT];

    if (is_method(mine->transaction, "connect")) {
        http_message_end(flow, APP_CLIENT, false);
        mine->state = HTTP_WAITS;
    } else if (is_brief) {
        http_message_end(flow, APP_CLIENT, false);
    } else {
        begin_body(flow, APP_CLIENT, false);
    }
}

/* Both sides speak another protocol from here on. */
static void begin_tunnel(struct http_flow *flow)
{
    struct http_transaction *const transaction = flow->side[APP_SERVER].transaction;

    transaction->flags |= HTTP_UPGRADED;
    http_message_end(flow, APP_SERVER, false);
    if (flow->side[APP_CLIENT].transaction != NULL)
        http_message_end(flow, APP_CLIENT, false);
    flow->side[APP_CLIENT].state = flow->side[APP_SERVER].state = HTTP_IN_TUNNEL;
}

/* A response before the last, as 100 Continue: it is forgotten. */
static void pass_over(struct http_flow *flow)
{
    struct http_side *const mine = &flow->side[APP_SERVER];

    mine->transaction->flags |= HTTP_INTERIM;
    http_head_free(&mine->transaction->message[APP_SERVER].head);
    mine->transaction->message[APP_SERVER].has_head = false;
    mine->transaction->status = 0;
}

/* Whether a head says that a body follows. */
static bool has_body_field(const struct http_head *head)
{
    const struct http_field *field = http_field_find(head, HTTP_CONTENT_LENGTH);
    uint64_t len = 0;

    if (field != NULL)
        (void)http_span_number(http_head_span(head, field->value), &len);
    return len != 0 || http_field_find(head, HTTP_TRANSFER_ENCODING) != NULL;
}

/* The client asked whether it may send a body, and was refused: it may go on with the next request,
 * as libhtp has it. */
static void doubt_body(struct http_flow *flow, const struct http_transaction *transaction)
{
    struct http_side *const client = &flow->side[APP_CLIENT];

    if (client->transaction == transaction && client->state == HTTP_IN_BODY &&
        transaction->message[APP_CLIENT].body_len == 0 && transaction->status / 100 == 4 &&
        http_field_find(&transaction->message[APP_CLIENT].head, HTTP_EXPECT) != NULL)
        client->state = HTTP_IN_DOUBT;
}

static void follow_response(struct http_flow *flow)
{
    struct http_side *const mine = &flow->side[APP_SERVER];
    const struct http_transaction *const transaction = mine->transaction;
    const uint16_t status = transaction->status;
    const bool connects = is_method(transaction, "connect");
    const bool is_early =
        status / 100 == 1 && !has_body_field(&transaction->message[APP_SERVER].head);

    if ((connects && status / 100 == 2) || (status == STATUS_SWITCHING && is_early)) {
        begin_tunnel(flow);
        return;
    }
    doubt_body(flow, transaction);
    if (connects && flow->side[APP_CLIENT].state == HTTP_WAITS)
        flow->side[APP_CLIENT].state = HTTP_IN_HEAD;
    if (is_method(transaction, "head") || is_early || status == STATUS_NO_CONTENT ||
        status == STATUS_NOT_MODIFIED)
        http_message_end(flow, APP_SERVER, false);
    else
        begin_body(flow, APP_SERVER, true);
}

/* The client goes on behind CONNECT before the response is seen: with a request, if it looks so. */
uint32_t http_step_wait(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    (void)len;
    flow->side[side].state = bytes[0] >= 'A' && bytes[0] <= 'Z' ? HTTP_IN_HEAD : HTTP_IN_TUNNEL;
    return 0;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static uint16_t status_of(const struct http_head *head)
{
    const struct app_span span = http_head_span(head, head->first[1]);
    uint16_t status = 0;

    for (uint32_t i = 0; i < span.len; i++) {
        if (span.len != 3 || span.bytes[i] < '0' || span.bytes[i] > '9')
            return 0;
        status = (uint16_t)(status * 10 + (span.bytes[i] - '0'));
    }
    return status >= 100 ? status : 0;
}

/* The transaction that the next response belongs to. */
static struct http_transaction *transaction_of_response(struct http_flow *flow)
{
    struct http_transaction *transaction = flow->n_forgotten != 0 ? NULL : flow->first;

    while (transaction != NULL && (transaction->message[APP_SERVER].has_head ||
                                   transaction->message[APP_SERVER].has_ended))
        transaction = transaction->next;
    if (transaction != NULL)
        return transaction;
    transaction = http_transaction_open(flow);
    if (transaction != NULL)
        transaction->flags |= HTTP_NO_REQUEST;
    if (flow->n_forgotten != 0)
        flow->n_forgotten--;
    else
        http_report_event(flow, APP_SERVER, "unable_to_match_response_to_request");
    return transaction;
}

static bool begin_message(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];

    if (mine->transaction == NULL)
        mine->transaction =
            side == APP_CLIENT ? http_transaction_open(flow) : transaction_of_response(flow);
    flow->no_memory |= mine->transaction == NULL;
    return mine->transaction != NULL;
}

/* The gathered head becomes its message's. */
static bool take_head(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];
    struct http_message *const message = &mine->transaction->message[side];
    uint8_t *const bytes = malloc(mine->line.len);

    if (bytes != NULL) {
        memcpy(bytes, mine->line.bytes, mine->line.len);
        message->has_head =
            http_head_read(&message->head, bytes, mine->line.len, side == APP_CLIENT);
    }
    app_text_free(&mine->line); /* most flows have one message */
    mine->line_at = 0;
    mine->is_open = mine->lacks_protocol = false;
    if (message->has_head && side == APP_CLIENT)
        http_host_read(mine->transaction);
    flow->no_memory |= !message->has_head;
    return message->has_head;
}

/* The head is over, and reported. False: it is forgotten, or there is no memory. */
static bool end_head(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];

    if (!begin_message(flow, side) || !take_head(flow, side))
        return false;
    struct http_transaction *const transaction = mine->transaction;
    const struct http_head *const head = &transaction->message[side].head;

    if (side == APP_SERVER)
        transaction->status = status_of(head);
    if (side == APP_SERVER && transaction->status / 100 == 1 &&
        transaction->status != STATUS_SWITCHING && !has_body_field(head)) {
        pass_over(flow);
        return false;
    }
    http_report(flow, (struct app_news){.kind = APP_HEAD}, side, transaction);
    if (head->n_left_out != 0)
        http_report_event(flow, side,
                          side == APP_CLIENT ? "request_too_many_headers"
                                             : "response_too_many_headers");
    http_report_head_events(flow, side, transaction);
    return true;
}

static void end_whole_head(struct http_flow *flow, enum app_side side, bool is_brief)
{
    if (!end_head(flow, side))
        return;
    if (side == APP_CLIENT)
        follow_request(flow, is_brief);
    else
        follow_response(flow);
}

/* A response without a head, which is a body: an answer to HTTP/0.9. */
static void begin_bare_body(struct http_flow *flow)
{
    struct http_side *const mine = &flow->side[APP_SERVER];
    struct app_text line = mine->line;

    if (flow->first == NULL) { /* nothing was asked for */
        mine->state = HTTP_SEEKS;
        mine->line.len = 0;
        return;
    }
    mine->line = (struct app_text){0};
    if (begin_message(flow, APP_SERVER)) {
        mine->transaction->flags |= HTTP_NO_HEAD;
        mine->state = HTTP_IN_REST;
        mine->skips_body = false;
        http_body_give(flow, APP_SERVER, line.bytes, line.len);
    }
    app_text_free(&line);
}

/* Whether a request's first line is whole, and names no protocol. */
static bool is_brief(const struct http_side *mine, enum app_side side)
{
    return side == APP_CLIENT && mine->line_at == 0 &&
           http_line_is_brief(mine->line.bytes, mine->line.len);
}

/* Whether what came of a response's first line does not begin one. */
static bool is_stray(const struct http_side *mine, enum app_side side)
{
    return side == APP_SERVER && mine->line_at == 0 &&
           !http_line_is_status(mine->line.bytes, mine->line.len);
}

/* The byte behind a line says what it was. True: the head is over, or there is none. */
static bool judge_open_line(struct http_flow *flow, enum app_side side, uint8_t next)
{
    struct http_side *const mine = &flow->side[side];

    mine->is_open = false;
    if (side == APP_CLIENT) { /* a request without protocol: fields may follow */
        if (next == '\r' || next == '\n')
            end_whole_head(flow, side, true);
        return next == '\r' || next == '\n';
    }
    if (is_stray(mine, side)) { /* passed over where a response follows, else a body begins */
        if (next != 'H')
            begin_bare_body(flow);
        mine->line.len = 0;
        return next != 'H';
    }
    if (next == '\n') /* the empty line follows */
        return false;
    end_whole_head(flow, side, false);
    return true;
}

/* Whether the last line is empty. In a response a CR more may stand behind a LF without CR, as
 * libhtp has it. */
static bool is_empty(const struct http_side *mine, enum app_side side)
{
    const uint8_t *const line = mine->line.bytes + mine->line_at;
    const uint32_t len = mine->line.len - mine->line_at;

    if (len != 3 || side == APP_CLIENT || mine->line_at < 2)
        return len == 1 || (len == 2 && line[0] == '\r');
    return line[-2] != '\r' && line[0] == '\r' && line[1] == '\r';
}

/* A line of a head is whole. True: the head is, too, or there is none. In a response a line of one
 * blank ends the head where no LF follows, as libhtp has it. */
static bool judge_line(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];
    const struct app_span line = {mine->line.bytes + mine->line_at, mine->line.len - mine->line_at};
    const bool is_first = mine->line_at == 0, is_blank = http_trim(line).len == 0;

    if (is_first && (is_empty(mine, side) || (is_blank && side == APP_SERVER))) {
        mine->line.len = 0;
        return false;
    }
    if (is_empty(mine, side)) {
        end_whole_head(flow, side, false);
        return true;
    }
    if (is_brief(mine, side) && http_probe(side, mine->line.bytes, mine->line.len) != APP_LIKE) {
        mine->state = HTTP_SEEKS;
        mine->line.len = 0;
        return true;
    }
    mine->lacks_protocol |= is_brief(mine, side);
    mine->is_open =
        is_brief(mine, side) || is_stray(mine, side) ||
        (side == APP_SERVER && line.len == 2 && (*line.bytes == ' ' || *line.bytes == '\t'));
    mine->line_at = is_stray(mine, side) ? 0 : mine->line.len;
    return false;
}

/* The next bytes of a head: a line at most, and no more of one that may be stray than shows it. */
static uint32_t piece_of(const struct http_side *mine, enum app_side side, const uint8_t *bytes,
                         uint32_t len)
{
    const uint8_t *end = memchr(bytes, '\n', len);
    const uint32_t n = end != NULL ? (uint32_t)(end + 1 - bytes) : len;

    if (side == APP_CLIENT || mine->line_at != 0 || mine->line.len > STRAY_MAX ||
        n <= STRAY_MAX + 1 - mine->line.len)
        return n;
    return STRAY_MAX + 1 - mine->line.len;
}

/* Bytes of a head were gathered. True: it is whole, or there is none. */
static bool judge_piece(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];

    if (mine->line.len > STRAY_MAX && is_stray(mine, side)) {
        begin_bare_body(flow);
        return true;
    }
    return mine->line.bytes[mine->line.len - 1] == '\n' && judge_line(flow, side);
}

void http_head_end(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];

    if (mine->state != HTTP_IN_HEAD || mine->line.len == 0)
        return;
    if (is_stray(mine, side))
        begin_bare_body(flow);
    else if (mine->is_open)
        end_whole_head(flow, side, side == APP_CLIENT);
    else if (side == APP_SERVER || http_probe(side, mine->line.bytes, mine->line.len) != APP_UNLIKE)
        (void)end_head(flow, side);
}

/* The next n bytes of a line have come. */
static void judge_len(struct http_flow *flow, enum app_side side, uint32_t n)
{
    const uint32_t before = flow->side[side].line.len - flow->side[side].line_at;

    if (before <= HTTP_FIELD_MAX && n > HTTP_FIELD_MAX - before)
        http_report_event(
            flow, side, side == APP_CLIENT ? "request_field_too_long" : "response_field_too_long");
}

uint32_t http_step_head(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    uint32_t taken = 0;

    if (side == APP_SERVER && flow->side[APP_CLIENT].state == HTTP_IN_HEAD &&
        flow->side[APP_CLIENT].lacks_protocol) /* it needs no empty line */
        end_whole_head(flow, APP_CLIENT, true);
    while (taken < len) {
        if (mine->is_open && judge_open_line(flow, side, bytes[taken]))
            break;
        const uint32_t n = piece_of(mine, side, bytes + taken, len - taken);

        judge_len(flow, side, n);
        if (n > HTTP_HEAD_MAX - mine->line.len) {
            mine->state = HTTP_DEAD;
            app_text_free(&mine->line);
            return len;
        }
        app_text_add(&mine->line, bytes + taken, n);
        if (mine->line.no_memory)
            return len;
        taken += n;
        if (judge_piece(flow, side))
            break;
    }
    return taken;
}
