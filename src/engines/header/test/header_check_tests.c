/* SPDX-License-Identifier: MIT */
/* Each check: a packet that trips it alone, and one that just does not. */
#include "test.h"

#include "header_rig.h"
#include "sluice/dissect.h"

static void add_trials(struct sl_batch *batch)
{
    static struct frame frame;

    for (uint32_t i = 0; i < n_header_trials; i++) {
        trial_build(&header_trials[i], &frame);
        rig_add_packet(batch, frame.byte, frame.len, frame.len + header_trials[i].unseen, ETHERNET);
    }
    rig_dissect(batch);
}

static void check_trials(uint64_t checks)
{
    struct sl_header_config config = {.checks = checks};
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;
    size_t h = 0;

    add_trials(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    for (uint32_t i = 0; i < n_header_trials; i++) {
        uint64_t tripped = 0;

        for (; h < hits.n && hits.hit[h].item == i; h++) {
            tripped |= UINT64_C(1) << hits.hit[h].id;
            if (hits.hit[h].offset != header_trials[i].offset)
                fail_msg("%s: offset %u, not %u", header_trials[i].name, hits.hit[h].offset,
                         header_trials[i].offset);
        }
        if (tripped != (header_trials[i].tripped & checks))
            fail_msg("%s: tripped %#llx, not %#llx", header_trials[i].name,
                     (unsigned long long)tripped,
                     (unsigned long long)(header_trials[i].tripped & checks));
    }
    assert_int_equal(h, hits.n);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_trials(void **state)
{
    (void)state;
    check_trials(SL_HEADER_ALL);
    check_trials(0);
}

static void test_each_check_alone_and_off(void **state)
{
    (void)state;
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++) {
        check_trials(UINT64_C(1) << c);
        check_trials(SL_HEADER_ALL & ~(UINT64_C(1) << c));
    }
}

/* A check without a trial would be a check without a test. */
static void test_trials_are_complete(void **state)
{
    uint64_t tripped = 0;

    (void)state;
    for (uint32_t i = 0; i < n_header_trials; i++)
        tripped |= header_trials[i].tripped;
    assert_int_equal(tripped, SL_HEADER_ALL);
}

/* ---- home networks --------------------------------------------------------------------------- */

struct journey {
    const char *src, *dst;
    uint64_t tripped; /* with the home networks below */
};

static void put_addresses(struct frame *f, const struct journey *journey)
{
    struct sl_net src, dst;

    assert_int_equal(sl_net_parse(&src, journey->src, strlen(journey->src)), SL_OK);
    assert_int_equal(sl_net_parse(&dst, journey->dst, strlen(journey->dst)), SL_OK);
    f->len = 0;

    const bool is_ipv4 = sl_addr_is_ipv4(&src.addr);
    frame_ethernet(f, is_ipv4 ? 0x0800 : 0x86DD);
    const uint32_t ip = is_ipv4 ? frame_ipv4(f, SL_IP_TCP, 0) : frame_ipv6(f, SL_IP_TCP);
    frame_tcp(f, 1, 2, 2, 0);
    if (is_ipv4) {
        frame_end_ipv4(f, ip);
        memcpy(f->byte + ip + 12, src.addr.byte + 12, 4);
        memcpy(f->byte + ip + 16, dst.addr.byte + 12, 4);
    } else {
        frame_end_ipv6(f, ip);
        memcpy(f->byte + ip + 8, src.addr.byte, 16);
        memcpy(f->byte + ip + 24, dst.addr.byte, 16);
    }
    header_seal(f->byte, f->len, f->len, ETHERNET);
}

static void test_home_networks(void **state)
{
    static const char *const home_text[] = {"192.0.2.64/26",    "198.51.100.0/31", "203.0.113.4/30",
                                            "2001:db8:1::/48",  "9.9.9.9/32",      "10.1.0.0/16",
                                            "2001:db8:2::5/128"};
    enum { N_HOME = sizeof home_text / sizeof *home_text };
    static const uint64_t to_private = UINT64_C(1) << SL_HEADER_PRIVATE_DESTINATION;
    static const uint64_t from_private = UINT64_C(1) << SL_HEADER_PRIVATE_SOURCE;
    static const uint64_t broadcast = UINT64_C(1) << SL_HEADER_TCP_BROADCAST;
    static const struct journey journeys[] = {
        {"10.0.0.1", "192.0.2.63", from_private},
        {"10.0.0.1", "192.0.2.64", 0},
        {"10.0.0.1", "192.0.2.126", 0},
        {"10.0.0.1", "192.0.2.128", from_private},
        {"10.0.0.1", "9.9.9.9", 0},
        {"10.0.0.1", "9.9.9.8", from_private},
        {"192.0.2.64", "172.16.0.1", 0},
        {"192.0.2.63", "172.16.0.1", to_private},
        {"fd00::1", "2001:db8:1:ffff::1", 0},
        {"fd00::1", "2001:db8:2::1", from_private},
        {"fd00::1", "2001:db8:2::5", 0},
        {"2001:db8:1::", "fd00::1", 0},
        {"2001:db8:0:ffff::", "fd00::1", to_private},
        {"8.8.8.8", "192.0.2.127", broadcast}, /* the last of a /26 */
        {"8.8.8.8", "192.0.2.63", 0},
        {"8.8.8.8", "198.51.100.1", 0},        /* a /31 has no broadcast address (RFC 3021) */
        {"8.8.8.8", "203.0.113.7", broadcast}, /* of a /30 */
        {"8.8.8.8", "203.0.113.6", 0},
        {"8.8.8.8", "9.9.9.9", 0},
        {"10.1.2.3", "10.1.255.255", broadcast},
        {"10.1.2.3", "8.8.8.8", 0}, /* the user's own private network */
        {"10.2.2.3", "8.8.8.8", from_private},
        {"8.8.8.8", "10.1.2.3", 0},
        {"8.8.8.8", "10.2.2.3", to_private},
        {"2001:db8::1", "2001:db8:1:ffff:ffff:ffff:ffff:ffff", 0}, /* no broadcast in IPv6 */
    };
    static struct frame frame;
    struct sl_net home[N_HOME];
    struct sl_header_config config = {.checks = SL_HEADER_ALL, .home = home, .n_home = N_HOME};
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;
    size_t h = 0;

    (void)state;
    for (int i = 0; i < N_HOME; i++)
        assert_int_equal(sl_net_parse(&home[i], home_text[i], strlen(home_text[i])), SL_OK);
    for (size_t i = 0; i < sizeof journeys / sizeof *journeys; i++) {
        put_addresses(&frame, &journeys[i]);
        rig_add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
    }
    rig_dissect(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    for (size_t i = 0; i < sizeof journeys / sizeof *journeys; i++) {
        uint64_t tripped = 0;

        for (; h < hits.n && hits.hit[h].item == i; h++)
            tripped |= UINT64_C(1) << hits.hit[h].id;
        if (tripped != journeys[i].tripped)
            fail_msg("%s to %s: %#llx", journeys[i].src, journeys[i].dst,
                     (unsigned long long)tripped);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

/* Each of the 64 home networks counts. */
static void test_many_home_networks(void **state)
{
    enum { N_HOME = 64 };
    static struct frame frame;
    struct sl_net home[N_HOME];
    struct sl_header_config config = {.checks = UINT64_C(1) << SL_HEADER_PRIVATE_SOURCE |
                                                UINT64_C(1) << SL_HEADER_TCP_BROADCAST,
                                      .home = home,
                                      .n_home = N_HOME};
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;
    char text[64];

    (void)state;
    for (unsigned i = 0; i < 2 * N_HOME; i++) {
        struct journey journey = {.src = "10.0.0.1", .dst = text};

        snprintf(text, sizeof text, "1.2.%u.255", i);
        put_addresses(&frame, &journey);
        rig_add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
        snprintf(text, sizeof text, "1.2.%u.0/24", i);
        if (i < N_HOME)
            assert_int_equal(sl_net_parse(&home[i], text, strlen(text)), SL_OK);
    }
    rig_dissect(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    assert_int_equal(hits.n, 2 * N_HOME);
    for (unsigned i = 0; i < 2 * N_HOME; i++) {
        assert_int_equal(hits.hit[i].item, i);
        assert_int_equal(hits.hit[i].id,
                         i < N_HOME ? SL_HEADER_TCP_BROADCAST : SL_HEADER_PRIVATE_SOURCE);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

int header_check_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_trials_are_complete),
        cmocka_unit_test(test_each_check_alone_and_off),
        cmocka_unit_test(test_home_networks),
        cmocka_unit_test(test_many_home_networks),
    };

    return cmocka_run_group_tests_name("checks", tests, NULL, NULL);
}
