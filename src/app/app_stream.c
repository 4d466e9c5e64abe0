/* SPDX-License-Identifier: MIT */
#include "app_stream.h"

#include "dcerpc.h"
#include "http.h"
#include "known.h"
#include "ssh.h"
#include "starttls.h"
#include "tls.h"
#include "whole_messages.h"

enum side_state {
    PROBED, /* its protocol is sought, or waits for the other side */
    READ,   /* by the parser */
    INNER,  /* by the stream inside the tunnel */
    LEFT    /* nothing can be reported of it any more */
};

struct app_stream {
    const struct app_parser *parser; /* NULL: not known */
    void *flow;                      /* of the parser */
    struct app_stream *inner;        /* NULL: there is no tunnel */
    struct app_text begin[2];        /* of the sides, while they are probed */
    uint64_t lost[2];                /* bytes behind those that are not kept */
    uint8_t state[2];                /* enum side_state */
    bool unlike[2];                  /* the side's first bytes are of no protocol known here */
    struct app_sides sides;          /* without the tunnel */
    bool decided[2];                 /* no more bytes of the side are asked for its protocol */
    uint8_t depth;                   /* tunnels around it */
};

typedef enum app_likeness probe(enum app_side side, const uint8_t *bytes, uint32_t len);

static const struct {
    const struct app_parser *parser;
    probe *probe;
} protocols[] = {{&http_parser, http_probe},       {&tls_parser, tls_probe},
                 {&ssh_parser, ssh_probe},         {&dcerpc_parser, dcerpc_probe},
                 {&sip_tcp_parser, sip_tcp_probe}, {&dns_tcp_parser, dns_tcp_probe}};

struct app_stream *app_stream_open(void)
{
    return calloc(1, sizeof(struct app_stream));
}

/* ---- finding --------------------------------------------------------------------------------- */

/* As known_find: among the protocols above. */
static const struct app_parser *find_here(enum app_side side, const uint8_t *bytes, uint32_t len,
                                          bool *too_short)
{
    for (uint32_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        const enum app_likeness likeness = protocols[i].probe(side, bytes, len);

        if (likeness == APP_LIKE)
            return protocols[i].parser;
        *too_short |= likeness == APP_TOO_SHORT;
    }
    return NULL;
}

static const struct app_parser *find(struct app_stream *stream, enum app_side side)
{
    const struct app_text *begin = &stream->begin[side];
    const uint32_t len = begin->len < APP_PROBE_MAX ? begin->len : APP_PROBE_MAX;
    bool too_short = false;

    if (stream->unlike[side])
        return NULL;
    const struct app_parser *parser = find_here(side, begin->bytes, len, &too_short);

    if (parser == NULL)
        parser = starttls_find(side, begin->bytes, len, &too_short);
    if (parser == NULL)
        parser = known_find(side, begin->bytes, len, &too_short);
    if (parser != NULL)
        return parser;
    stream->unlike[side] = !too_short || len == APP_PROBE_MAX;
    return NULL;
}

static bool settle(struct app_stream *stream, enum app_side side, enum app_verdict verdict,
                   const uint8_t *bytes, uint32_t len, const struct app_listener *listener);

static bool read_side(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                      uint32_t len, const struct app_listener *listener)
{
    uint32_t taken;

    if (stream->parser == NULL)
        return true;
    const enum app_verdict verdict =
        stream->parser->give(stream->flow, side, bytes, len, &taken, listener);

    return settle(stream, side, verdict, bytes + taken, len - taken, listener);
}

/* The parser gets what came of a side so far. */
static bool give_begin(struct app_stream *stream, enum app_side side,
                       const struct app_listener *listener)
{
    struct app_text begin = stream->begin[side];
    bool done = true;

    stream->begin[side] = (struct app_text){0};
    if (begin.len != 0)
        done = read_side(stream, side, begin.bytes, begin.len, listener);
    app_text_free(&begin);
    return done &&
           (stream->lost[side] == 0 || app_stream_gap(stream, side, stream->lost[side], listener));
}

static void find_side(struct app_stream *stream, enum app_side side, uint8_t app)
{
    stream->sides.app[side] = app;
    stream->sides.found |= (uint8_t)(1 << side);
    stream->decided[side] = true;
}

/* The side has the protocol of the other one, as it shows none. */
static void follow_other(struct app_stream *stream, enum app_side side)
{
    if (!stream->decided[side])
        stream->sides.app[side] = (uint8_t)stream->parser->app;
    stream->decided[side] = true;
}

/* The side that shows the protocol comes behind what the other one has sent before. */
static bool begin_parser(struct app_stream *stream, const struct app_parser *parser,
                         enum app_side side, const struct app_listener *listener)
{
    const enum app_side other = side == APP_CLIENT ? APP_SERVER : APP_CLIENT;

    stream->parser = parser;
    find_side(stream, side, (uint8_t)parser->app);
    if (stream->begin[other].len != 0 || stream->lost[other] != 0)
        follow_other(stream, other);
    stream->flow = parser->open();
    if (stream->flow == NULL)
        return false;
    for (int i = 0; i < 2; i++)
        if (stream->state[i] == PROBED)
            stream->state[i] = READ;
    return give_begin(stream, other, listener) && give_begin(stream, side, listener);
}

/* The other side's protocol is known. Protocols that greet with a line have words in common, and
 * are not told apart. */
static void probe_other(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                        uint32_t len)
{
    struct app_text *const begin = &stream->begin[side];
    const uint32_t room = APP_PROBE_MAX - begin->len;
    bool too_short = false;

    app_text_add(begin, bytes, len < room ? len : room);
    if (!begin->no_memory) {
        const struct app_parser *parser = find_here(side, begin->bytes, begin->len, &too_short);

        if (parser == NULL)
            parser = known_find(side, begin->bytes, begin->len, &too_short);
        if (parser != NULL) {
            find_side(stream, side, (uint8_t)parser->app);
        } else if (too_short && begin->len < APP_PROBE_MAX) {
            stream->sides.app[side] = (uint8_t)stream->parser->app; /* so far */
            return;
        }
    }
    follow_other(stream, side);
    app_text_free(begin);
}

/* Keeps the begin of a side, and inspects it. */
static bool probe_side(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                       uint32_t len, const struct app_listener *listener)
{
    struct app_text *const begin = &stream->begin[side];
    const uint32_t room = stream->lost[side] == 0 ? APP_BEGIN_MAX - begin->len : 0;
    const uint32_t n = len < room ? len : room;

    app_text_add(begin, bytes, n);
    if (begin->no_memory)
        return false;
    const struct app_parser *parser = find(stream, side);
    if (parser != NULL)
        return begin_parser(stream, parser, side, listener) &&
               app_stream_give(stream, side, bytes + n, len - n, listener);
    stream->lost[side] += len - n;
    if (!stream->unlike[0] || !stream->unlike[1])
        return true;
    for (int i = 0; i < 2; i++) {
        find_side(stream, (enum app_side)i, APP_NONE);
        stream->state[i] = LEFT;
        app_text_free(&stream->begin[i]);
    }
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool give_inner(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                       uint32_t len, const struct app_listener *listener)
{
    if (stream->depth == APP_TUNNELS_MAX)
        return true;
    if (stream->inner == NULL) {
        stream->inner = app_stream_open();
        if (stream->inner == NULL)
            return false;
        stream->inner->depth = stream->depth + 1;
    }
    return app_stream_give(stream->inner, side, bytes, len, listener);
}

/* Applies the parser's verdict to the rest of the bytes. */
static bool settle(struct app_stream *stream, enum app_side side, enum app_verdict verdict,
                   const uint8_t *bytes, uint32_t len, const struct app_listener *listener)
{
    if (verdict == APP_GOES_ON)
        return true;
    stream->state[side] = verdict == APP_TUNNEL ? INNER : LEFT;
    if (verdict == APP_TUNNEL && len != 0)
        return give_inner(stream, side, bytes, len, listener);
    return verdict != APP_NO_MEMORY;
}

bool app_stream_give(struct app_stream *stream, enum app_side side, const uint8_t *bytes,
                     uint32_t len, const struct app_listener *listener)
{
    if (len == 0)
        return true;
    if (stream->parser != NULL && !stream->decided[side])
        probe_other(stream, side, bytes, len);
    switch (stream->state[side]) {
    case PROBED:
        return probe_side(stream, side, bytes, len, listener);
    case READ:
        return read_side(stream, side, bytes, len, listener);
    case INNER:
        return give_inner(stream, side, bytes, len, listener);
    default:
        return true;
    }
}

bool app_stream_gap(struct app_stream *stream, enum app_side side, uint64_t len,
                    const struct app_listener *listener)
{
    if (stream->state[side] == PROBED) {
        stream->lost[side] += len;
        stream->unlike[side] = true;
        return true;
    }
    if (stream->parser == NULL)
        return true;
    follow_other(stream, side);
    if (stream->state[side] == INNER && stream->inner != NULL)
        return app_stream_gap(stream->inner, side, len, listener);
    if (stream->state[side] != READ)
        return true;
    return settle(stream, side, stream->parser->gap(stream->flow, side, len, listener), NULL, 0,
                  listener);
}

void app_stream_end(struct app_stream *stream, enum app_side side,
                    const struct app_listener *listener)
{
    if (stream->state[side] == READ && stream->parser->end != NULL)
        stream->parser->end(stream->flow, side, listener);
    else if (stream->state[side] == INNER && stream->inner != NULL)
        app_stream_end(stream->inner, side, listener);
}

void app_stream_close(struct app_stream *stream, const struct app_listener *listener)
{
    if (stream == NULL)
        return;
    if (stream->flow != NULL)
        stream->parser->close(stream->flow, listener);
    stream->flow = NULL;
    app_stream_close(stream->inner, listener);
    app_text_free(&stream->begin[0]);
    app_text_free(&stream->begin[1]);
    free(stream);
}

const struct app_parser *app_stream_parser(const struct app_stream *stream)
{
    return stream->parser;
}

enum sl_app app_stream_app(const struct app_stream *stream)
{
    const enum sl_app inner =
        stream->inner != NULL ? app_stream_app(stream->inner) : SL_APP_UNKNOWN;

    return inner != SL_APP_UNKNOWN || stream->parser == NULL ? inner : stream->parser->app;
}

void app_stream_take_sides(struct app_stream *stream, struct app_sides *sides)
{
    const uint8_t found = sides->found | stream->sides.found;

    *sides = stream->sides;
    stream->sides.found = 0;
    sides->found = found;
    if (stream->inner != NULL && app_stream_app(stream->inner) != SL_APP_UNKNOWN) {
        app_stream_take_sides(stream->inner, sides);
        if (sides->before == SL_APP_UNKNOWN)
            sides->before = (uint8_t)stream->parser->app;
    }
}

bool app_stream_listens(const struct app_stream *stream, enum app_side side)
{
    return stream->state[side] == INNER
               ? stream->inner == NULL || app_stream_listens(stream->inner, side)
               : stream->state[side] != LEFT;
}

uint64_t app_stream_held(const struct app_stream *stream)
{
    return sizeof *stream + stream->begin[0].max + stream->begin[1].max +
           (stream->flow != NULL ? stream->parser->held(stream->flow) : 0) +
           (stream->inner != NULL ? app_stream_held(stream->inner) : 0);
}
