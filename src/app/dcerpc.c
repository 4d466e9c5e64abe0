/* SPDX-License-Identifier: MIT */
#include "dcerpc.h"

#include <stdio.h>

#include "base/bytes.h"

/* Types of fragments. */
enum {
    REQUEST = 0,
    RESPONSE = 2,
    FAULT = 3,
    BIND = 11,
    BIND_ACK = 12,
    ALTER = 14,
    ALTER_ACK = 15,
    LAST_TYPE = 19,
    TYPES = 0xFF80D /* of them, those over connections, as bits */
};

/* Flags of fragments. */
enum { FIRST = 1, LAST = 2, HAS_OBJECT = 0x80 };

enum { STUB_AT = 24, OBJECT_LEN = 16, VERIFIER_LEN = 8, CONTEXT_LEN = 24, SYNTAX_LEN = 20 };

/* An interface that the client offered, by the number of its context. */
struct offer {
    char uuid[DCERPC_UUID_LEN + 1];
    uint16_t context, major, minor;
    bool is_rejected;
};

struct call {
    struct call *next;
    struct offer interface; /* without a UUID: it is not known */
    uint64_t number;
    void *note; /* see struct app_news */
    uint32_t id;
    uint16_t opnum;
    uint16_t n_fragments[2]; /* of the sides */
    uint64_t stub_len[2];
    bool has_ended[2], is_little[2];
};

struct dcerpc_flow {
    struct app_text fragment[2]; /* of the sides: what came of the next one */
    struct offer *offer;         /* DCERPC_INTERFACES_MAX; NULL: there was none */
    uint32_t n_offers, n_calls;
    uint16_t asked[DCERPC_INTERFACES_MAX]; /* contexts of the last bind, in its order */
    uint32_t n_asked;
    struct call *call; /* that are open, the newest first */
    uint64_t n_numbered;
    bool is_over[2], no_memory;
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* A fragment, whose bytes are all there. */
struct fragment {
    const uint8_t *bytes;
    uint32_t len, id;
    uint8_t type, flags;
    bool is_little;
};

static uint16_t number_of(bool is_little, const uint8_t *bytes)
{
    return is_little ? (uint16_t)(bytes[0] | bytes[1] << 8) : load_be16(bytes);
}

static uint16_t number_at(const struct fragment *fragment, uint32_t at)
{
    return number_of(fragment->is_little, fragment->bytes + at);
}

static bool is_little(const uint8_t *head)
{
    return (head[4] & 0x10) != 0;
}

/* Bytes of the fragment that begins with a head. 0: it is none. */
static uint32_t len_of(const uint8_t *head)
{
    const uint32_t len = number_of(is_little(head), head + 8);
    const bool is_form =
        (head[4] == 0 || head[4] == 0x10) && head[5] <= 3 && head[6] == 0 && head[7] == 0;

    return head[0] == 5 && head[1] <= 1 && head[2] <= LAST_TYPE && (TYPES >> head[2] & 1) != 0 &&
                   is_form && len >= DCERPC_HEAD_LEN
               ? len
               : 0;
}

static void write_uuid(char *text, const struct fragment *fragment, uint32_t at)
{
    static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    static const char digits[] = "0123456789abcdef";

    for (uint32_t i = 0; i < 16; i++) {
        const uint8_t byte = fragment->bytes[at + (fragment->is_little ? little[i] : i)];

        if (i == 4 || i == 6 || i == 8 || i == 10)
            *text++ = '-';
        *text++ = digits[byte >> 4];
        *text++ = digits[byte & 15];
    }
    *text = '\0';
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* News of one call. */
struct teller {
    const struct app_listener *listener;
    struct call *call;
    enum app_side side;
};

static void tell(const struct teller *teller, enum app_news_kind kind, const uint8_t *bytes,
                 uint32_t len)
{
    const struct app_news news = {.parser = &dcerpc_parser,
                                  .transaction = teller->call,
                                  .note = &teller->call->note,
                                  .number = teller->call->number,
                                  .bytes = bytes,
                                  .len = len,
                                  .offset = teller->call->stub_len[teller->side],
                                  .kind = (uint8_t)kind,
                                  .side = (uint8_t)teller->side};

    app_report(teller->listener, &news);
}

/* Takes the call at *place out, and reports its end. */
static void end_call(struct dcerpc_flow *flow, struct call **place,
                     const struct app_listener *listener)
{
    struct call *const call = *place;

    tell(&(struct teller){listener, call, APP_CLIENT}, APP_DONE, NULL, 0);
    *place = call->next;
    flow->n_calls--;
    free(call);
}

static struct call **find_call(struct dcerpc_flow *flow, uint32_t id)
{
    struct call **place = &flow->call;

    while (*place != NULL && (*place)->id != id)
        place = &(*place)->next;
    return place;
}

static const struct offer *find_offer(const struct dcerpc_flow *flow, uint16_t context)
{
    for (uint32_t i = 0; i < flow->n_offers; i++)
        if (flow->offer[i].context == context)
            return &flow->offer[i];
    return NULL;
}

static struct call *open_call(struct dcerpc_flow *flow, const struct fragment *fragment,
                              const struct app_listener *listener)
{
    const struct offer *const offer = find_offer(flow, number_at(fragment, 20));
    struct call **place = find_call(flow, fragment->id);

    if (*place != NULL)
        end_call(flow, place, listener);
    if (flow->n_calls == DCERPC_CALLS_MAX) {
        for (place = &flow->call; (*place)->next != NULL;)
            place = &(*place)->next;
        end_call(flow, place, listener);
    }
    struct call *const call = calloc(1, sizeof *call);

    flow->no_memory |= call == NULL;
    if (call == NULL)
        return NULL;
    if (offer != NULL && !offer->is_rejected)
        call->interface = *offer;
    call->id = fragment->id;
    call->opnum = number_at(fragment, 22);
    call->number = flow->n_numbered++;
    call->next = flow->call;
    flow->call = call;
    flow->n_calls++;
    return call;
}

/* The data behind the head, without what authenticates it. */
static struct app_span stub_of(const struct fragment *fragment)
{
    const uint32_t verifier = number_at(fragment, 10);
    const bool has_object = fragment->type == REQUEST && (fragment->flags & HAS_OBJECT) != 0;
    const uint32_t begin = STUB_AT + (has_object ? OBJECT_LEN : 0),
                   behind = verifier != 0 ? verifier + VERIFIER_LEN : 0;

    if (begin + behind > fragment->len)
        return (struct app_span){0};
    return (struct app_span){fragment->bytes + begin, fragment->len - begin - behind};
}

static void read_stub(const struct teller *teller, const struct fragment *fragment)
{
    struct call *const call = teller->call;
    const enum app_side side = teller->side;
    const struct app_span stub = stub_of(fragment);
    const bool is_first = call->n_fragments[side] == 0;

    call->n_fragments[side] += call->n_fragments[side] != UINT16_MAX;
    call->is_little[side] = fragment->is_little;
    if (is_first)
        tell(teller, APP_HEAD, NULL, 0);
    if (stub.len != 0)
        tell(teller, APP_BODY, stub.bytes, stub.len);
    call->stub_len[side] += stub.len;
    if ((fragment->flags & LAST) == 0)
        return;
    call->has_ended[side] = true;
    tell(teller, APP_END, NULL, 0);
}

static void read_request(struct dcerpc_flow *flow, const struct fragment *fragment,
                         const struct app_listener *listener)
{
    struct call *call = *find_call(flow, fragment->id);

    if ((fragment->flags & FIRST) != 0)
        call = open_call(flow, fragment, listener);
    if (call != NULL && !call->has_ended[APP_CLIENT])
        read_stub(&(struct teller){listener, call, APP_CLIENT}, fragment);
}

/* Responses to calls that were not seen say nothing. */
static void read_response(struct dcerpc_flow *flow, const struct fragment *fragment,
                          const struct app_listener *listener)
{
    struct call **const place = find_call(flow, fragment->id);

    if (*place == NULL)
        return;
    if (fragment->type == RESPONSE)
        read_stub(&(struct teller){listener, *place, APP_SERVER}, fragment);
    if (fragment->type == FAULT || (*place)->has_ended[APP_SERVER])
        end_call(flow, place, listener);
}

/* ---- interfaces ------------------------------------------------------------------------------ */

/* The place of a context's interface, which a later bind may change. NULL: there is none. */
static struct offer *place_offer(struct dcerpc_flow *flow, uint16_t context)
{
    for (uint32_t i = 0; i < flow->n_offers; i++)
        if (flow->offer[i].context == context)
            return &flow->offer[i];
    if (flow->offer == NULL)
        flow->offer = calloc(DCERPC_INTERFACES_MAX, sizeof *flow->offer);
    flow->no_memory |= flow->offer == NULL;
    return flow->offer != NULL && flow->n_offers < DCERPC_INTERFACES_MAX
               ? &flow->offer[flow->n_offers++]
               : NULL;
}

/* A list of contexts: an interface each, and the syntaxes for its data. */
static void read_bind(struct dcerpc_flow *flow, const struct fragment *fragment)
{
    enum { COUNT_AT = 24, LIST_AT = 28 };
    uint32_t at = LIST_AT;

    flow->n_asked = 0;
    if (fragment->len < LIST_AT)
        return;
    for (uint32_t n = fragment->bytes[COUNT_AT]; n != 0 && fragment->len - at >= CONTEXT_LEN; n--) {
        const uint16_t context = number_at(fragment, at);
        const uint32_t len = CONTEXT_LEN + SYNTAX_LEN * fragment->bytes[at + 2];
        struct offer *const offer = place_offer(flow, context);

        if (offer != NULL) {
            *offer = (struct offer){.context = context,
                                    .major = number_at(fragment, at + 20),
                                    .minor = number_at(fragment, at + 22)};
            write_uuid(offer->uuid, fragment, at + 4);
        }
        if (flow->n_asked < DCERPC_INTERFACES_MAX)
            flow->asked[flow->n_asked++] = context;
        if (len > fragment->len - at)
            return;
        at += len;
    }
}

/* A result for each context that was asked for, behind an address of any length. */
static void read_bind_ack(struct dcerpc_flow *flow, const struct fragment *fragment)
{
    enum { ADDRESS_AT = 24, RESULT_LEN = 24 };

    if (fragment->len < ADDRESS_AT + 2)
        return;
    uint32_t at = ADDRESS_AT + 2 + number_at(fragment, ADDRESS_AT);

    at = (at + 3) / 4 * 4;
    if (at + 4 > fragment->len)
        return;
    const uint32_t n = fragment->bytes[at];

    at += 4;
    for (uint32_t i = 0; i < n && i < flow->n_asked && fragment->len - at >= RESULT_LEN; i++) {
        for (uint32_t o = 0; o < flow->n_offers; o++)
            if (flow->offer[o].context == flow->asked[i])
                flow->offer[o].is_rejected = number_at(fragment, at) != 0;
        at += RESULT_LEN;
    }
}

/* ---- fragments ------------------------------------------------------------------------------- */

static void read_fragment(struct dcerpc_flow *flow, enum app_side side,
                          const struct app_listener *listener)
{
    const struct app_text *const text = &flow->fragment[side];
    struct fragment fragment = {.bytes = text->bytes,
                                .len = text->len,
                                .type = text->bytes[2],
                                .flags = text->bytes[3],
                                .is_little = is_little(text->bytes)};

    fragment.id = fragment.is_little
                      ? (uint32_t)number_at(&fragment, 14) << 16 | number_at(&fragment, 12)
                      : load_be32(text->bytes + 12);
    if (side == APP_CLIENT && (fragment.type == BIND || fragment.type == ALTER))
        read_bind(flow, &fragment);
    else if (side == APP_SERVER && (fragment.type == BIND_ACK || fragment.type == ALTER_ACK))
        read_bind_ack(flow, &fragment);
    else if (side == APP_CLIENT && fragment.type == REQUEST && fragment.len >= STUB_AT)
        read_request(flow, &fragment, listener);
    else if (side == APP_SERVER && (fragment.type == RESPONSE || fragment.type == FAULT) &&
             fragment.len >= STUB_AT)
        read_response(flow, &fragment, listener);
}

static enum app_verdict give_up(struct dcerpc_flow *flow, enum app_side side)
{
    flow->is_over[side] = true;
    app_text_free(&flow->fragment[side]);
    return APP_GIVEN_UP;
}

/* Takes bytes up to the end of the head, or of the fragment. */
static uint32_t take(struct dcerpc_flow *flow, enum app_side side, const uint8_t *bytes,
                     uint32_t len, const struct app_listener *listener)
{
    struct app_text *const text = &flow->fragment[side];
    const bool has_head = text->len >= DCERPC_HEAD_LEN;
    const uint32_t whole = has_head ? len_of(text->bytes) : DCERPC_HEAD_LEN,
                   need = whole - text->len, taken = len < need ? len : need;

    app_text_add(text, bytes, taken);
    flow->no_memory |= text->no_memory;
    if (flow->no_memory || text->len < DCERPC_HEAD_LEN)
        return taken;
    if (len_of(text->bytes) == 0) {
        (void)give_up(flow, side);
    } else if (len_of(text->bytes) == text->len) {
        read_fragment(flow, side, listener);
        text->len = 0;
    }
    return taken;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void *open_flow(void)
{
    return calloc(1, sizeof(struct dcerpc_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct dcerpc_flow *const flow = of;

    for (*taken = 0; *taken < len && !flow->is_over[side] && !flow->no_memory;)
        *taken += take(flow, side, bytes + *taken, len - *taken, listener);
    if (flow->no_memory)
        return APP_NO_MEMORY;
    return flow->is_over[side] ? APP_GIVEN_UP : APP_GOES_ON;
}

static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    (void)len;
    (void)listener;
    return give_up(of, side);
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct dcerpc_flow *const flow = of;

    while (flow->call != NULL)
        end_call(flow, &flow->call, listener);
    app_text_free(&flow->fragment[0]);
    app_text_free(&flow->fragment[1]);
    free(flow->offer);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct dcerpc_flow *const flow = of;

    return sizeof *flow + flow->fragment[0].max + flow->fragment[1].max +
           flow->n_calls * sizeof(struct call) +
           (flow->offer != NULL ? DCERPC_INTERFACES_MAX * sizeof(struct offer) : 0);
}

static void show(struct app_show *show, const void *of, enum app_side side)
{
    const struct call *const call = of;

    if (call->n_fragments[side] != 0 && call->interface.uuid[0] != 0 &&
        app_show_wants(show, SL_DCERPC_INTERFACE))
        app_show_add(show, SL_DCERPC_INTERFACE,
                     (struct app_span){(const uint8_t *)call->interface.uuid, DCERPC_UUID_LEN});
}

static void describe(struct sl_app_message *message, const void *of)
{
    const struct call *const call = of;

    for (int side = 0; side < 2; side++) {
        struct sl_app_half *const half = &message->half[side];

        half->has_head = call->n_fragments[side] != 0;
        half->has_ended = call->has_ended[side];
        half->body_len = half->wire_len = call->stub_len[side];
        message->call.n_fragments[side] = call->n_fragments[side];
        message->call.is_little[side] = call->is_little[side];
    }
    message->call.id = call->id;
    message->call.opnum = call->opnum;
    message->call.major = call->interface.major;
    message->call.minor = call->interface.minor;
}

const struct app_parser dcerpc_parser = {.app = SL_APP_DCERPC,
                                         .open = open_flow,
                                         .give = give_flow,
                                         .gap = gap_flow,
                                         .close = close_flow,
                                         .held = held_by,
                                         .show = show,
                                         .describe = describe};

enum app_likeness dcerpc_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    (void)side;
    if (len == 0 || bytes[0] != 5 || (len > 1 && bytes[1] != 0))
        return len == 0 ? APP_TOO_SHORT : APP_UNLIKE;
    if (len < DCERPC_HEAD_LEN)
        return APP_TOO_SHORT;
    return len_of(bytes) != 0 ? APP_LIKE : APP_UNLIKE;
}
