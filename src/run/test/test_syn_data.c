/* SPDX-License-Identifier: MIT */
/* Bytes beside a SYN (RFC 7413): they are of the stream where the server acknowledges them. */
#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { SYN = 2, ACK = 16 };

static const char text[] = "alert tcp any any -> any any (content:\"needle\"; sid:1;)\n"
                           "alert tcp-pkt any any -> any any (content:\"needle\"; sid:2;)\n"
                           "alert tcp-stream any any -> any any (content:\"needle\"; sid:3;)\n";
static const char payload[] = "a needle";

struct scene {
    bool acknowledges; /* the flags beside the SYN */
    bool opens_fast;
    bool one_by_one; /* each packet is a batch */
    bool alone;      /* no packet follows the SYN */
    uint32_t sent;
    uint32_t n_alerts[3];
};

static void put(struct sl_batch *batch, bool opens_fast, uint8_t flags, uint32_t seq, uint32_t ack,
                const char *bytes)
{
    static struct frame f;
    const bool answers = flags == (SYN | ACK);

    f.len = 0;
    frame_ethernet(&f, 0x0800);
    const uint32_t ip = frame_ipv4(&f, 6, 0);
    store_be32(f.byte + ip + 12, answers ? 0xC0A80001 : 0x0A000001);
    store_be32(f.byte + ip + 16, answers ? 0x0A000001 : 0xC0A80001);
    uint8_t *tcp = frame_tcp(&f, answers ? 80 : 20000, answers ? 20000 : 80, flags, 0);
    store_be32(tcp + 4, seq);
    store_be32(tcp + 8, ack);
    store_be16(tcp + 14, 65535);
    if (opens_fast) { /* an option that asks for a cookie, and two bytes of padding */
        tcp[12] += 1 << 4;
        frame_bytes(&f, "\x22\x02\x01\x01", 4);
    }
    frame_bytes(&f, bytes, (uint32_t)strlen(bytes));
    frame_end_ipv4(&f, ip);
    assert_true(sl_run_add_packet(batch, f.byte, f.len, INT64_C(1700000000000000000), 1));
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct scene *scene = user;
    const uint32_t end = 1001 + (scene->acknowledges ? (uint32_t)strlen(payload) : 0);

    (void)diag;
    do {
        switch (scene->sent++) {
        case 0:
            put(batch, scene->opens_fast, SYN, 1000, 0, payload);
            if (scene->alone)
                return SL_END;
            break;
        case 1:
            put(batch, false, SYN | ACK, 5000, end, "");
            break;
        default:
            put(batch, false, ACK, end, 5001, "");
            return SL_END;
        }
    } while (!scene->one_by_one);
    return SL_OK;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct scene *scene = user;

    (void)diag;
    scene->n_alerts[event->signature->sid - 1]++;
    return SL_OK;
}

static void run(struct scene *scene)
{
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "syn", text, strlen(text), &diag), SL_OK);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.devices = "cpu";
    config.event = on_event;
    config.user = scene;
    config.flow_memory = 1 << 20;
    config.events = 1u << SL_EVENT_ALERT;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static void test_each_rule_sees_them_once(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct scene scene = {
            .acknowledges = i % 2 != 0, .one_by_one = i / 2 % 2 != 0, .opens_fast = i / 4 != 0};

        run(&scene);
        /* Of an ordinary SYN the packet is looked at, too. */
        assert_int_equal(scene.n_alerts[0], scene.acknowledges + !scene.opens_fast);
        assert_int_equal(scene.n_alerts[1], 1);
        assert_int_equal(scene.n_alerts[2], scene.acknowledges);
    }
}

/* The end of the flow brings the bytes to no rule once more. */
static void test_no_rule_sees_them_again_at_the_end(void **state)
{
    struct scene scene = {.alone = true};

    (void)state;
    run(&scene);
    assert_int_equal(scene.n_alerts[0], 1);
    assert_int_equal(scene.n_alerts[1], 1);
    assert_int_equal(scene.n_alerts[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_rule_sees_them_once),
        cmocka_unit_test(test_no_rule_sees_them_again_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
