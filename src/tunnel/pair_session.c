/* SPDX-License-Identifier: MIT */
/* Sessions. A side draws a number when it starts. The peer's number is believed when a hello from
 * there echoes a challenge of this side, which is drawn anew for each. So nothing that was recorded
 * begins a session, or moves the endpoint. */
#include <string.h>

#include "pair_state.h"
#include "redundancy/live/kept_cache.h"

enum {
    HELLO_LEN = 17,  /* bytes: flags, challenge, echo; feedback follows */
    HELLO_WANTS = 1, /* flag: the sender waits for a hello that echoes its challenge */
    HELLO_FIRST = 100,
    HELLO_LAST = 1000, /* milliseconds from one to the next */
    ANSWERS_MAX = 16,  /* hellos of a sort in an interval of 100 ms */
    ANSWERS_EACH = 100,
    SHORT_MAX = 1000 /* the same, of answers that are no longer than what they answer */
};

static uint64_t draw(struct pair *p)
{
    uint64_t number;

    do
        number = p->world.random(p->world.user);
    while (number == 0 || (uint32_t)number == 0);
    return number;
}

void session_begin(struct pair *pair, uint64_t now)
{
    pair->session.own = (uint32_t)draw(pair);
    pair->session.challenge = draw(pair);
    pair->session.hello_at = now;
    pair->session.hello_wait = HELLO_FIRST * PAIR_MS;
}

/* Feedback gives a peer that begins a session the epoch to begin. */
static void send_hello(struct pair *p, uint32_t to, uint64_t echo, bool wants, bool tells,
                       const struct sockaddr_storage *endpoint)
{
    uint8_t hello[HELLO_LEN + SL_FEEDBACK_MAX];
    uint32_t len = HELLO_LEN;

    hello[0] = wants ? HELLO_WANTS : 0;
    datagram_put(hello + 1, p->session.challenge, 8);
    datagram_put(hello + 9, echo, 8);
    if (tells)
        len += sl_decoder_feedback(p->decoder, hello + HELLO_LEN);
    pair_send_alone(p, RECORD_HELLO, hello, len, to, endpoint);
}

/* How many of this sort were answered in the present interval: forged datagrams cause few answers,
 * or short ones. */
static uint32_t count_answer(struct pair *p, const struct sockaddr_storage *from,
                             enum answer_to sort, uint64_t now)
{
    struct answers *const answers =
        &p->session.answers[endpoint_equal(from, &p->endpoint) ? sort : ANSWER_OTHER];

    if (now - answers->since >= ANSWERS_EACH * PAIR_MS)
        *answers = (struct answers){.since = now};
    return answers->n++;
}

void session_stranger(struct pair *pair, const struct datagram_header *header,
                      const struct sockaddr_storage *from, uint64_t now)
{
    if (count_answer(pair, from, ANSWER_PEER_STRANGER, now) < ANSWERS_MAX)
        send_hello(pair, header->from, pair->session.echo, true, false, from);
}

void session_moved(struct pair *pair, const struct sockaddr_storage *from, uint64_t now)
{
    if (count_answer(pair, from, ANSWER_PEER_STRANGER, now) < ANSWERS_MAX)
        send_hello(pair, pair->session.peer, pair->session.echo, true, false, from);
}

/* The peer has begun anew: nothing that it had is there any more, but for a cache that it kept. */
static void adopt(struct pair *p, const struct datagram_header *header, const uint8_t *feedback,
                  uint32_t len, uint64_t now)
{
    struct pair_session *const session = &p->session;

    p->stats.lost += pair_lost(session);
    replay_reset(&session->window);
    replay_take(&session->window, header->sequence);
    /* Datagrams sent before the session began are not lost. */
    session->n_came = header->sequence;
    session->peer = header->from;
    session->heard_at = session->probe_at = now;
    p->alive = true;
    p->stats.sessions++;
    memset(p->halves, 0, sizeof p->halves);
    p->n_gathered = p->raw_len = p->datagram_len = 0;
    sl_batch_reset(p->batch);
    if (!encoder_resume(p->encoder, feedback, len))
        sl_encoder_restart(p->encoder, feedback, len);
}

void session_hello(struct pair *pair, const struct datagram_header *header,
                   const struct record *record, const struct sockaddr_storage *from, uint64_t now)
{
    struct pair_session *const session = &pair->session;

    if (record->len < HELLO_LEN) {
        pair->stats.dropped[PAIR_MALFORMED]++;
        return;
    }

    const uint64_t challenge = datagram_get(record->bytes + 1, 8);
    const bool proves =
        header->to == session->own && datagram_get(record->bytes + 9, 8) == session->challenge;
    const bool wants = (record->bytes[0] & HELLO_WANTS) != 0;
    if (proves) {
        const bool moves = !endpoint_equal(from, &pair->endpoint);

        if (header->from != session->peer)
            adopt(pair, header, record->bytes + HELLO_LEN, record->len - HELLO_LEN, now);
        pair->stats.moves += moves && pair->endpoint.ss_family != AF_UNSPEC ? 1 : 0;
        if (moves || pair->path.known == pair->path.base)
            path_begin(&pair->path, pair->path.base, pair->path.max, now);
        pair->endpoint = *from;
        session->challenge = draw(pair);
        session->echo = challenge;
    } else if (!wants && header->from != session->peer) {
        pair->stats.dropped[PAIR_SESSION]++;
    }
    if (!wants)
        return;
    const uint32_t n = proves ? 0 : count_answer(pair, from, ANSWER_PEER_HELLO, now);
    if (n < SHORT_MAX)
        send_hello(pair, header->from, challenge, header->from != session->peer, n < ANSWERS_MAX,
                   from);
}

uint64_t session_tick(struct pair *pair, uint64_t now)
{
    struct pair_session *const session = &pair->session;

    if (session->peer != 0 || pair->endpoint.ss_family == AF_UNSPEC)
        return UINT64_MAX;
    if (now >= session->hello_at) {
        send_hello(pair, 0, 0, true, false, &pair->endpoint);
        session->hello_at = now + session->hello_wait;
        session->hello_wait *= session->hello_wait < HELLO_LAST * PAIR_MS ? 2 : 1;
    }
    return session->hello_at;
}
