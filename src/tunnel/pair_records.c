/* SPDX-License-Identifier: MIT */
/* Records to datagrams. */
#include <string.h>

#include "pair_state.h"

static void write_header(struct pair *p, uint8_t *out, uint32_t to)
{
    const struct datagram_header header = {
        .sequence = ++p->session.sequence, .from = p->session.own, .to = to};

    datagram_write_header(out, &header);
}

static void count_sent(struct pair *p, uint32_t len)
{
    p->stats.datagrams_sent++;
    p->stats.bytes_sent += len;
}

/* Fills a datagram, but for less than a record's header. */
static void pad(struct pair *p)
{
    if (p->datagram_len + RECORD_HEADER > p->path.known)
        return;

    const uint32_t len = p->path.known - p->datagram_len - RECORD_HEADER;
    record_write_header(p->datagram + p->datagram_len, RECORD_PADDING, len);
    memset(p->datagram + p->datagram_len + RECORD_HEADER, 0, len);
    p->datagram_len = p->path.known;
}

void pair_send(struct pair *pair)
{
    if (pair->datagram_len == 0)
        return;
    if (pair->config.pads)
        pad(pair);
    write_header(pair, pair->datagram, pair->session.peer);
    count_sent(pair, pair->datagram_len);
    pair->path.used |= pair->datagram_len > pair->path.base;

    const uint32_t len = pair->datagram_len;
    pair->datagram_len = 0;
    pair->world.send(pair->world.user, pair->datagram, len, pair->traffic_class, &pair->endpoint);
}

void pair_send_alone(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len,
                     uint32_t to, const struct sockaddr_storage *endpoint)
{
    uint8_t datagram[DATAGRAM_MAX];

    write_header(pair, datagram, to);
    record_write_header(datagram + DATAGRAM_HEADER, kind, len);
    memcpy(datagram + DATAGRAM_HEADER + RECORD_HEADER, bytes, len);
    count_sent(pair, DATAGRAM_HEADER + RECORD_HEADER + len);
    pair->world.send(pair->world.user, datagram, DATAGRAM_HEADER + RECORD_HEADER + len, 0,
                     endpoint);
}

static void put_whole(struct pair *p, enum record_kind kind, const uint8_t *head, uint32_t head_len,
                      const uint8_t *bytes, uint32_t len, uint8_t traffic_class)
{
    const uint32_t record_len = RECORD_HEADER + head_len + len;

    if (p->datagram_len > 0 &&
        (p->traffic_class != traffic_class || p->datagram_len + record_len > p->path.known))
        pair_send(p);
    if (p->datagram_len == 0) {
        p->datagram_len = DATAGRAM_HEADER;
        p->traffic_class = traffic_class;
    }

    uint8_t *const at = p->datagram + p->datagram_len;
    record_write_header(at, kind, head_len + len);
    if (head_len > 0)
        memcpy(at + RECORD_HEADER, head, head_len);
    memcpy(at + RECORD_HEADER + head_len, bytes, len);
    p->datagram_len += record_len;
}

static void put_halves(struct pair *p, enum record_kind kind, const uint8_t *bytes, uint32_t len,
                       uint8_t traffic_class)
{
    const uint32_t first = len - len / 2;
    uint8_t head[HALF_HEADER];

    if (DATAGRAM_HEADER + RECORD_HEADER + HALF_HEADER + first > p->path.known) {
        p->stats.dropped[PAIR_TOO_LONG]++;
        return;
    }
    datagram_put(head, p->half_number++, 4);
    head[4] = (uint8_t)kind;
    head[5] = 0;
    put_whole(p, RECORD_HALF, head, sizeof head, bytes, first, traffic_class);
    head[5] = 1;
    put_whole(p, RECORD_HALF, head, sizeof head, bytes + first, len - first, traffic_class);
    p->stats.halved++;
}

void pair_put(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len,
              uint8_t traffic_class)
{
    if (DATAGRAM_HEADER + RECORD_HEADER + len > pair->path.known)
        put_halves(pair, kind, bytes, len, traffic_class);
    else
        put_whole(pair, kind, NULL, 0, bytes, len, traffic_class);
}
