/* SPDX-License-Identifier: MIT */
/* The queue before the encoder, with a clock of its own: a link of a rate takes packets of several
 * flows. Each packet comes out once or is counted, those of a flow in their order. */
#include "test.h"
#include "tunnel/fair_queue.h"
#include "tunnel/inner_packet.h"

#define MS UINT64_C(1000000)

enum { FLOWS_TRIED = 8, LEN = 1000, LIMIT = 400 * LEN };

struct packet_text {
    uint8_t ip[20];
    uint32_t flow, number;
    uint64_t sent;
};

static void put(struct fair_queue *queue, uint32_t flow, uint32_t number, uint8_t ecn, uint64_t now)
{
    uint8_t bytes[LEN] = {0x45, ecn, LEN >> 8, LEN & 255};
    struct packet_text text;

    bytes[8] = 64;
    bytes[9] = 17;
    memcpy(text.ip, bytes, sizeof text.ip);
    text.flow = flow;
    text.number = number;
    text.sent = now;
    memcpy(bytes, &text, sizeof text);
    fair_put(queue, bytes, LEN, flow, now);
}

struct outcome {
    uint64_t sent[FLOWS_TRIED], came[FLOWS_TRIED], marked;
    uint64_t waited[FLOWS_TRIED]; /* the longest of the second half */
};

/* Flow i sends each `every[i]` us for a second, and the link takes a packet each ms. */
static void run(struct outcome *o, const uint32_t every[FLOWS_TRIED], uint8_t ecn)
{
    struct fair_queue *const queue = fair_create(LIMIT);
    uint32_t number[FLOWS_TRIED] = {0}, last[FLOWS_TRIED] = {0};
    struct fair_stats stats;
    uint64_t came = 0, sent = 0;

    *o = (struct outcome){0};
    for (uint64_t us = 1; us <= 2000000; us += 10) {
        const uint64_t now = us * 1000;

        for (uint32_t i = 0; i < FLOWS_TRIED; i++)
            if (every[i] > 0 && us / every[i] > o->sent[i]) {
                put(queue, i, ++number[i], ecn, now);
                o->sent[i]++;
            }
        const uint8_t *packet;
        uint32_t len;
        if (us % 1000 == 1 && fair_take(queue, &packet, &len, now)) {
            struct packet_text text;

            memcpy(&text, packet, sizeof text);
            assert_int_equal(len, LEN);
            assert_true(text.number > last[text.flow]);
            last[text.flow] = text.number;
            o->came[text.flow]++;
            o->marked += (text.ip[1] & ECN_MASK) == ECN_CE ? 1 : 0;
            if (us > 1000000 && now - text.sent > o->waited[text.flow])
                o->waited[text.flow] = now - text.sent;
        }
    }
    fair_stats(queue, &stats);
    for (int i = 0; i < FLOWS_TRIED; i++) {
        came += o->came[i];
        sent += o->sent[i];
    }
    assert_int_equal(came + stats.packets + stats.dropped + stats.overflow, sent);
    assert_true(stats.bytes <= LIMIT);
    assert_int_equal(o->marked, stats.marked);
    fair_free(queue);
}

static void test_flows_take_turns(void **state)
{
    /* One floods the link at ten times its rate, three send twice their share, one a trickle. */
    static const uint32_t every[FLOWS_TRIED] = {100, 2500, 2500, 2500, 20000};
    struct outcome o;

    (void)state;
    run(&o, every, 0);
    for (int i = 1; i < 4; i++)
        assert_true(o.came[i] * 10 > 2000 / 4 * 9);
    assert_int_equal(o.came[4], o.sent[4]);
    assert_true(o.waited[4] < 10 * MS);
}

static void test_waiting_is_reported(void **state)
{
    static const uint32_t every[FLOWS_TRIED] = {900}, slow[FLOWS_TRIED] = {1100};
    struct outcome o;

    (void)state;
    run(&o, every, 2);
    assert_true(o.marked > 5);
    run(&o, every, 0);
    assert_int_equal(o.marked, 0);
    assert_true(o.sent[0] > o.came[0] + 5);
    run(&o, slow, 2);
    assert_int_equal(o.marked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flows_take_turns),
                                       cmocka_unit_test(test_waiting_is_reported)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
