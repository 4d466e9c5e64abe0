/* SPDX-License-Identifier: MIT */
/* Where messages of HTTP/1 begin: at the head of a flow, and behind a gap or damage. */
#include "http_flow.h"

enum { SEEN_LEN = 24 }; /* bytes of a line that show whether it begins a message */

static enum app_likeness like_word(const char *word, const uint8_t *bytes, uint32_t len)
{
    const uint32_t word_len = (uint32_t)strlen(word);

    if (memcmp(word, bytes, len < word_len ? len : word_len) != 0)
        return APP_UNLIKE;
    return len < word_len ? APP_TOO_SHORT : APP_LIKE;
}

/* OPTIONS is of SIP and RTSP, too. */
static enum app_likeness like_options(const uint8_t *bytes, uint32_t len)
{
    const enum app_likeness sip = like_word("OPTIONS sip:", bytes, len);
    const enum app_likeness rtsp = like_word("OPTIONS rtsp:", bytes, len);

    if (sip == APP_LIKE || rtsp == APP_LIKE)
        return APP_UNLIKE;
    return sip == APP_TOO_SHORT || rtsp == APP_TOO_SHORT ? APP_TOO_SHORT : APP_LIKE;
}

static enum app_likeness like_request(const uint8_t *bytes, uint32_t len)
{
    static const char *const methods[] = {
        "GET ",      "POST ",    "HEAD ",   "PUT ",         "DELETE ",
        "CONNECT ",  "TRACE ",   "PATCH ",  "COPY ",        "MOVE ",
        "MKCOL ",    "LOCK ",    "UNLOCK ", "PROPFIND ",    "PROPPATCH ",
        "REPORT ",   "SEARCH ",  "MERGE ",  "LABEL ",       "UPDATE ",
        "CHECKOUT ", "CHECKIN ", "ACL ",    "MKWORKSPACE ", "BASELINE-CONTROL "};
    enum app_likeness likeness = like_word("OPTIONS ", bytes, len);

    if (likeness == APP_LIKE)
        return like_options(bytes, len);
    for (uint32_t i = 0; i < sizeof methods / sizeof *methods && likeness != APP_LIKE; i++) {
        const enum app_likeness other = like_word(methods[i], bytes, len);

        likeness = other == APP_UNLIKE ? likeness : other;
    }
    return likeness;
}

enum app_likeness http_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    while (len != 0 && (*bytes == '\r' || *bytes == '\n')) {
        bytes++;
        len--;
    }
    if (len == 0)
        return APP_TOO_SHORT;
    return side == APP_CLIENT ? like_request(bytes, len) : like_word("HTTP/1.", bytes, len);
}

/* Whether bytes begin "HTTP/1.1 200", or could. */
static enum app_likeness like_status(const uint8_t *bytes, uint32_t len)
{
    static const char form[] = "HTTP/1.d ddd";

    for (uint32_t i = 0; i < len && i < sizeof form - 1; i++)
        if (form[i] == 'd' ? bytes[i] < '0' || bytes[i] > '9' : bytes[i] != (uint8_t)form[i])
            return APP_UNLIKE;
    return len < sizeof form - 1 ? APP_TOO_SHORT : APP_LIKE;
}

/* The next response begins anywhere, as the body before it may end without a line's end. */
static uint32_t seek_status(struct http_side *mine, const uint8_t *bytes, uint32_t len)
{
    uint32_t n = 0;

    if (mine->line.len == 0) {
        const uint8_t *const first = memchr(bytes, 'H', len);

        n = first != NULL ? (uint32_t)(first - bytes) : len;
    }
    while (n < len && mine->state == HTTP_SEEKS && !mine->line.no_memory) {
        app_text_add_byte(&mine->line, bytes[n++]);
        enum app_likeness likeness = like_status(mine->line.bytes, mine->line.len);

        while (likeness == APP_UNLIKE) {
            memmove(mine->line.bytes, mine->line.bytes + 1, --mine->line.len);
            likeness = like_status(mine->line.bytes, mine->line.len);
        }
        mine->line_at = 0;
        if (likeness == APP_LIKE)
            mine->state = HTTP_IN_HEAD;
        else if (mine->line.len == 0)
            break;
    }
    return n;
}

/* The next request begins a line. */
static uint32_t seek_request(struct http_side *mine, const uint8_t *bytes, uint32_t len)
{
    uint32_t n = 0;

    while (n < len && bytes[n] != '\n' && mine->line.len < SEEN_LEN && !mine->line.no_memory)
        app_text_add_byte(&mine->line, bytes[n++]);
    if (n == len && mine->line.len < SEEN_LEN)
        return n;
    if (http_probe(APP_CLIENT, mine->line.bytes, mine->line.len) == APP_LIKE) {
        mine->state = HTTP_IN_HEAD;
        mine->line_at = 0;
    } else {
        mine->state = HTTP_SEEKS_LINE;
        mine->line.len = 0;
    }
    return n;
}

uint32_t http_step_seek(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    struct http_side *const mine = &flow->side[side];

    return side == APP_CLIENT ? seek_request(mine, bytes, len) : seek_status(mine, bytes, len);
}

uint32_t http_step_seek_line(struct http_flow *flow, enum app_side side, const uint8_t *bytes,
                             uint32_t len)
{
    const uint8_t *end = memchr(bytes, '\n', len);

    if (end == NULL)
        return len;
    flow->side[side].state = HTTP_SEEKS;
    return (uint32_t)(end - bytes) + 1;
}
