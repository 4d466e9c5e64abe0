/* SPDX-License-Identifier: MIT */
/* Bodies of HTTP/1: of known length, in chunks, or up to the end, and the end of their messages. */
#include "base/hex.h"
#include "base/least.h"
#include "http_flow.h"

/* ---- the bytes of a body --------------------------------------------------------------------- */

struct body {
    struct http_flow *flow;
    enum app_side side;
};

static void report_body(void *to, const uint8_t *bytes, uint32_t len)
{
    const struct body *body = to;
    struct http_transaction *const transaction = body->flow->side[body->side].transaction;
    struct http_message *const message = &transaction->message[body->side];

    http_report(body->flow,
                (struct app_news){
                    .kind = APP_BODY, .bytes = bytes, .len = len, .offset = message->decoded_len},
                body->side, transaction);
    message->decoded_len += len;
}

void http_body_begin(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];
    struct app_text text = {0};
    struct app_span field;
    bool none = true;

    mine->skips_body = false;
    if (http_field_get(&field, mine->transaction, side, HTTP_CONTENT_ENCODING, &text))
        mine->coding = http_coding_open(field, &none);
    flow->no_memory |= !none && mine->coding == NULL;
    flow->no_memory |= text.no_memory;
    app_text_free(&text);
}

void http_body_give(struct http_flow *flow, enum app_side side, const uint8_t *bytes, uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    struct body body = {flow, side};

    mine->transaction->message[side].body_len += len;
    if (mine->skips_body || len == 0)
        return;
    if (mine->coding == NULL) {
        report_body(&body, bytes, len);
        return;
    }
    const enum http_coding_end end = http_coding_give(mine->coding, bytes, len, report_body, &body);

    mine->skips_body = end != HTTP_CODING_GOES_ON;
    mine->transaction->message[side].is_cut |= mine->skips_body;
    if (end == HTTP_CODING_BOMB)
        http_report_event(flow, side, "compression_bomb");
    else if (end == HTTP_CODING_DAMAGED)
        http_report_event(flow, side, "gzip_decompression_failed");
}

static void end_coding(struct http_flow *flow, enum app_side side)
{
    struct http_side *const mine = &flow->side[side];
    struct body body = {flow, side};

    if (mine->coding != NULL && !mine->skips_body)
        http_coding_end(mine->coding, report_body, &body);
    http_coding_close(mine->coding);
    mine->coding = NULL;
}

void http_message_end(struct http_flow *flow, enum app_side side, bool is_cut)
{
    struct http_side *const mine = &flow->side[side];
    struct http_transaction *const transaction = mine->transaction;

    mine->state = HTTP_IN_HEAD;
    mine->line.len = 0;
    mine->line_at = 0;
    mine->left = 0;
    mine->is_open = mine->is_vague = mine->lacks_protocol = false;
    end_coding(flow, side);
    if (transaction == NULL)
        return;
    transaction->message[side].has_ended = true;
    transaction->message[side].is_cut |= is_cut;
    http_report(flow, (struct app_news){.kind = APP_END, .cut = transaction->message[side].is_cut},
                side, transaction);
    mine->transaction = NULL;
    if (transaction->message[!side].has_ended || (transaction->flags & HTTP_NO_REQUEST) != 0)
        http_transaction_done(flow, transaction);
}

void http_body_go_on(struct http_side *mine)
{
    mine->state = mine->left != 0 ? HTTP_IN_BODY : HTTP_IN_REST;
    mine->reads_again = true;
}

static void end_body(struct http_flow *flow, enum app_side side)
{
    http_message_end(flow, side, false);
}

uint32_t http_step_body(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    const uint32_t n = least(mine->left, len);

    http_body_give(flow, side, bytes, n);
    mine->left -= n;
    if (mine->left == 0 && mine->is_vague)
        mine->state = HTTP_IN_DOUBT;
    else if (mine->left == 0)
        end_body(flow, side);
    return n;
}

/* A message follows, or the body goes on, as libhtp has it. The bytes are read again and again, so
 * they are few. */
uint32_t http_step_doubt(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                         uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    enum app_likeness likeness = APP_TOO_SHORT;
    uint32_t n = 0;

    while (n < len && likeness == APP_TOO_SHORT && !mine->line.no_memory) {
        app_text_add_byte(&mine->line, bytes[n++]);
        likeness = mine->line.len < HTTP_DOUBT_MAX
                       ? http_probe(side, mine->line.bytes, mine->line.len)
                       : APP_UNLIKE;
    }
    if (likeness == APP_UNLIKE)
        http_body_go_on(mine);
    if (likeness != APP_LIKE)
        return n;
    const struct app_text line = mine->line;

    mine->line = (struct app_text){0};
    end_body(flow, side);
    mine->line = line;
    return n;
}

uint32_t http_step_rest(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    http_body_give(flow, side, bytes, len);
    return len;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* The length that a chunk's line states: blanks, then digits. -1: it states none. */
static int64_t chunk_len_of(struct app_span line)
{
    int64_t len = -1;

    line = http_trim(line);
    for (uint32_t i = 0; i < line.len && hex_digit((char)line.bytes[i]) >= 0; i++) {
        len = (len < 0 ? 0 : len) * 16 + hex_digit((char)line.bytes[i]);
        if (len > INT32_MAX)
            return -1;
    }
    return len;
}

/* Whether a chunk's line has more than the length, be it blanks. */
static bool has_extension(struct app_span line)
{
    uint32_t at = 0;

    while (at < line.len && hex_digit((char)line.bytes[at]) >= 0)
        at++;
    return at != 0 && at < line.len && !(at == line.len - 1 && line.bytes[at] == '\r');
}

static void begin_chunk(struct http_side *mine, int64_t len)
{
    mine->line.len = 0;
    mine->left = (uint64_t)len;
    mine->state = len != 0 ? HTTP_IN_CHUNK : HTTP_IN_TRAILER;
}

/* As libhtp has it: a line that states no length is the body, with all behind it. */
static void begin_rest(struct http_flow *flow, enum app_side side)
{
    http_report_event(flow, side,
                      side == APP_CLIENT ? "invalid_request_chunk_len"
                                         : "invalid_response_chunk_len");
    http_body_go_on(&flow->side[side]);
}

/* Gathers a line's first HTTP_CHUNK_LINE_MAX bytes, and passes over the others. True: it is whole.
 */
static bool gather_line(struct app_text *line, const uint8_t *bytes, uint32_t len, uint32_t *taken)
{
    const uint8_t *end = memchr(bytes, '\n', len);
    const uint32_t n = end != NULL ? (uint32_t)(end - bytes) : len;
    const uint32_t room = HTTP_CHUNK_LINE_MAX - line->len;

    *taken = room != 0 && room < n ? room : n;
    if (room != 0)
        app_text_add(line, bytes, *taken);
    if (end == NULL || *taken != n)
        return false;
    ++*taken;
    return true;
}

uint32_t http_step_chunk_line(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                              uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    uint32_t taken;
    const bool is_whole = gather_line(&mine->line, bytes, len, &taken);
    const struct app_span line = http_trim(app_text_span(&mine->line));

    if (line.len != 0 && chunk_len_of(line) < 0) {
        begin_rest(flow, side);
        return taken - is_whole; /* the end of the line is of the body */
    }
    if (is_whole && has_extension(app_text_span(&mine->line)))
        http_report_event(flow, side,
                          side == APP_CLIENT ? "request_chunk_extension"
                                             : "response_chunk_extension");
    if (is_whole && line.len != 0) /* empty lines before it are passed over */
        begin_chunk(mine, chunk_len_of(line));
    if (is_whole)
        mine->line.len = 0;
    return taken;
}

uint32_t http_step_chunk(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                         uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    const uint32_t n = least(mine->left, len);

    http_body_give(flow, side, bytes, n);
    mine->left -= n;
    if (mine->left == 0)
        mine->state = HTTP_BEHIND_CHUNK;
    return n;
}

/* Bytes between a chunk and the end of its line are passed over. */
uint32_t http_step_behind_chunk(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                                uint32_t len)
{
    const uint8_t *end = memchr(bytes, '\n', len);

    if (end == NULL)
        return len;
    flow->side[side].state = HTTP_IN_CHUNK_LINE;
    return (uint32_t)(end - bytes) + 1;
}

/* Fields behind the last chunk are passed over, up to the empty line. */
uint32_t http_step_trailer(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                           uint32_t len)
{
    struct http_side *const mine = &flow->side[side];
    uint32_t taken;

    if (gather_line(&mine->line, bytes, len, &taken)) {
        const bool is_empty = http_trim(app_text_span(&mine->line)).len == 0;

        mine->line.len = 0;
        if (is_empty)
            end_body(flow, side);
    }
    return taken;
}
