/* SPDX-License-Identifier: MIT */
/* Fragments of IP in a run: datagrams go on as packets, whatever batches are. */
#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { FRAMES_MAX = 4000, PORT = 7000, N_SIDS = 4 };

static const char text[] = "alert udp any any -> any 7000 (content:\"wanted\"; sid:1;)\n"
                           "alert udp any any -> any any (content:\"unwanted\"; sid:2;)\n"
                           "alert ip any any -> any any (fragbits:M; sid:3;)\n"
                           "alert pkthdr any any -> any any (decode-event:ipv4.frag_overlap; "
                           "sid:4;)\n";

struct traffic {
    uint8_t *frame[FRAMES_MAX];
    uint32_t len[FRAMES_MAX];
    uint32_t n, next, batch_max;
    uint32_t alerts[N_SIDS + 1]; /* by sid */
    uint64_t position;           /* of the last alert of sid 1, as the next two */
    uint32_t packet_len;
    uint16_t link_type, link; /* of all frames; 0: Ethernet */
    struct sl_stats stats;
};

static void add(struct traffic *traffic, const void *bytes, uint32_t len)
{
    assert_true(traffic->n < FRAMES_MAX);
    traffic->frame[traffic->n] = malloc(len);
    assert_non_null(traffic->frame[traffic->n]);
    memcpy(traffic->frame[traffic->n], bytes, len);
    traffic->len[traffic->n++] = len;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* A datagram of UDP in Ethernet: `len` bytes, with a word in their middle. */
static void build(struct frame *f, const char *word, uint32_t len)
{
    f->len = 0;
    frame_ethernet(f, 0x0800);
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);
    uint8_t *const udp = frame_put(f, 8 + len);

    store_be16(udp, 5000);
    store_be16(udp + 2, PORT);
    store_be16(udp + 4, 8 + len);
    memset(udp + 8, '.', len);
    memcpy(udp + 8 + len / 2, word, strlen(word));
    frame_end_ipv4(f, ip);
}

/* The fragment from `begin` on, of n bytes, of the bytes behind the IPv4 header at `ip`. */
static void add_fragment(struct traffic *traffic, const struct frame *f, uint32_t ip, uint16_t id,
                         uint32_t begin, uint32_t n)
{
    static struct frame out;
    const uint32_t data = ip + 20, rest = f->len - data - begin;

    n = n < rest ? n : rest;
    out.len = 0;
    frame_bytes(&out, f->byte, data);
    frame_bytes(&out, f->byte + data + begin, n);
    store_be16(out.byte + ip + 4, id);
    store_be16(out.byte + ip + 6, begin / 8 | (n < rest ? 0x2000 : 0));
    frame_end_ipv4(&out, ip);
    add(traffic, out.byte, out.len);
}

static void add_fragments(struct traffic *traffic, const struct frame *f, uint32_t ip, uint16_t id,
                          uint32_t step)
{
    for (uint32_t begin = 0; begin < f->len - ip - 20; begin += step)
        add_fragment(traffic, f, ip, id, begin, step);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct traffic *traffic = user;

    (void)diag;
    for (uint32_t i = 0; i < traffic->batch_max && traffic->next < traffic->n; i++) {
        if (!sl_run_add_packet(batch, traffic->frame[traffic->next], traffic->len[traffic->next],
                               INT64_C(1700000000000000000) + traffic->next,
                               traffic->link != 0 ? traffic->link : 1))
            return SL_OK;
        traffic->next++;
    }
    return traffic->next < traffic->n ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct traffic *traffic = user;
    const uint32_t sid = event->signature->sid;

    (void)diag;
    traffic->alerts[sid]++;
    if (sid == 1) {
        traffic->position = event->origin.position;
        traffic->packet_len = event->packet.len;
        traffic->link_type = event->origin.link_type;
    }
    return SL_OK;
}

static void run(struct traffic *traffic, uint32_t batch_max, const char *policy)
{
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    traffic->next = 0;
    traffic->batch_max = batch_max;
    memset(traffic->alerts, 0, sizeof traffic->alerts);
    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "fragments", text, strlen(text), &diag), SL_OK);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.devices = "cpu";
    config.event = on_event;
    config.user = traffic;
    config.flow_memory = 1 << 20;
    config.events = 1u << SL_EVENT_ALERT;
    config.host_policies = &policy;
    config.n_host_policies = policy != NULL;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = 2;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_snapshot(sluice, &traffic->stats);
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static void release(struct traffic *traffic)
{
    for (uint32_t i = 0; i < traffic->n; i++)
        free(traffic->frame[i]);
    free(traffic);
}

static struct traffic *begin(void)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);

    assert_non_null(traffic);
    return traffic;
}

static const uint32_t batches[] = {1, 2, 7, FRAMES_MAX};

enum { N_BATCHES = sizeof batches / sizeof batches[0] };

/* ---- tests ----------------------------------------------------------------------------------- */

/* The alert is that of the fragment which came last. */
static void test_datagrams_are_packets(void **state)
{
    static struct frame f;

    (void)state;
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        struct traffic *traffic = begin();

        build(&f, "wanted", 4000);
        add_fragment(traffic, &f, 14, 1, 1600, 4000);
        add_fragment(traffic, &f, 14, 1, 0, 1600);
        add(traffic, f.byte, f.len);
        build(&f, "nothing", 100);
        add(traffic, f.byte, f.len);
        build(&f, "wanted", 3000);
        add_fragments(traffic, &f, 14, 2, 8);
        run(traffic, batches[b], NULL);
        assert_int_equal(traffic->alerts[1], 3);
        assert_int_equal(traffic->position, traffic->n);
        assert_int_equal(traffic->alerts[3], 1 + 3008 / 8 - 1);
        assert_int_equal(traffic->stats.packets, traffic->n);
        assert_int_equal(traffic->stats.fragments.fragments, 2 + 3008 / 8);
        assert_int_equal(traffic->stats.fragments.joined, 2);
        assert_int_equal(traffic->stats.flows.flows, 1);
        release(traffic);
    }
}

/* The bytes of the host's policy count. */
static void test_policies_decide(void **state)
{
    static const struct {
        const char *policy;
        uint32_t sid, other;
    } cases[] = {{NULL, 1, 2},
                 {"10.0.0.0/8=first", 1, 2},
                 {"10.0.0.2=last", 2, 1},
                 {"10.0.0.1=last", 1, 2},
                 {"0.0.0.0/0=linux", 2, 1}};
    static struct frame f, g;

    (void)state;
    build(&f, " wanted ", 1000);
    build(&g, "unwanted", 1000);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct traffic *traffic = begin();

        add_fragment(traffic, &f, 14, 1, 8, 800);
        add_fragment(traffic, &g, 14, 1, 8, 800);
        add_fragment(traffic, &f, 14, 1, 808, 1000);
        add_fragment(traffic, &f, 14, 1, 0, 8);
        run(traffic, 1 + i, cases[i].policy);
        /* "unwanted" has "wanted" in it. */
        assert_int_equal(traffic->alerts[1], 1);
        assert_int_equal(traffic->alerts[2], cases[i].sid == 2);
        assert_int_equal(traffic->alerts[4], 1);
        assert_int_equal(traffic->stats.fragments.conflicts, 1);
        release(traffic);
    }
}

/* A fragment in a tunnel in fragments. */
static void test_fragments_in_fragments(void **state)
{
    static struct frame inner, outer;

    (void)state;
    build(&inner, "wanted", 2000);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        struct traffic *traffic = begin(), *cut = begin();

        add_fragments(cut, &inner, 14, 9, 504);
        for (uint32_t i = 0; i < cut->n; i++) {
            outer.len = 0;
            frame_ethernet(&outer, 0x0800);
            frame_ipv4(&outer, SL_IP_IPIP, 0);
            frame_bytes(&outer, cut->frame[i] + 14, cut->len[i] - 14);
            frame_end_ipv4(&outer, 14);
            add_fragments(traffic, &outer, 14, (uint16_t)(20 + i), 200);
        }
        run(traffic, batches[b], NULL);
        assert_int_equal(traffic->alerts[1], 1);
        assert_int_equal(traffic->stats.fragments.joined, cut->n + 1);
        release(cut);
        release(traffic);
    }
}

/* A datagram of fragments that had no Ethernet has none. */
static void test_datagrams_have_the_link_of_their_fragments(void **state)
{
    enum { RAW = 101, IPV4 = 228 };
    static struct frame f;

    (void)state;
    for (int raw = 0; raw < 2; raw++) {
        struct traffic *traffic = begin();

        build(&f, "wanted", 1000);
        add_fragments(traffic, &f, 14, 1, 504);
        for (uint32_t i = 0; raw == 1 && i < traffic->n; i++)
            memmove(traffic->frame[i], traffic->frame[i] + 14, traffic->len[i] -= 14);
        traffic->link = raw == 1 ? RAW : 0;
        run(traffic, 4, NULL);
        assert_int_equal(traffic->alerts[1], 1);
        assert_int_equal(traffic->link_type, raw == 1 ? IPV4 : 1);
        assert_int_equal(traffic->packet_len, raw == 1 ? f.len - 14 : f.len);
        release(traffic);
    }
}

/* The datagrams that become whole at once, and do not find room, are the same in all batches. */
static void test_room_is_bounded(void **state)
{
    enum { N = 40, LEN = 60000 };
    static struct frame f;
    struct traffic *traffic = begin();
    uint64_t left_out = 0;

    (void)state;
    build(&f, "wanted", LEN);
    for (uint16_t id = 0; id < N; id++)
        add_fragment(traffic, &f, 14, id, 0, LEN - 8);
    for (uint16_t id = 0; id < N; id++)
        add_fragment(traffic, &f, 14, id, LEN - 8, 16);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        run(traffic, batches[b], NULL);
        assert_int_equal(traffic->stats.fragments.joined, N);
        assert_int_equal(traffic->alerts[1], N - traffic->stats.fragments.left_out);
        assert_in_range(traffic->alerts[1], RUN_FRAGMENTS_ROOM / (LEN + 64), N - 1);
        if (b != 0)
            assert_int_equal(traffic->stats.fragments.left_out, left_out);
        left_out = traffic->stats.fragments.left_out;
    }
    release(traffic);
}

static void test_policies_are_read(void **state)
{
    static const char *const bad[] = {"10.0.0.0/8", "10.0.0.0/8=beos", "x=linux", "10.0.0.0/8="};
    static const char *const twice[] = {"10.0.0.0/8=linux", "10.1.0.0/8=bsd"};
    static const char *const nested[] = {"0.0.0.0/0=first", "2001:db8::/32=last",
                                         "10.1.0.0/16=solaris", "10.0.0.0/8=windows"};
    static const struct {
        const char *addr;
        enum sl_host_policy policy;
    } cases[] = {{"10.1.2.3", SL_HOST_SOLARIS},
                 {"10.2.2.3", SL_HOST_WINDOWS},
                 {"11.2.2.3", SL_HOST_FIRST},
                 {"2001:db8::1", SL_HOST_LAST},
                 {"2001:db9::1", SL_HOST_BSD}};
    struct run_hosts *hosts;
    struct sl_diag diag;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(run_hosts_create(&hosts, &bad[i], 1, &diag), SL_EINVAL);
    assert_int_equal(run_hosts_create(&hosts, twice, 2, &diag), SL_EINVAL);
    assert_int_equal(run_hosts_create(&hosts, nested, 4, &diag), SL_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_net net;

        assert_int_equal(sl_net_parse(&net, cases[i].addr, strlen(cases[i].addr)), SL_OK);
        assert_int_equal(run_hosts_policy(hosts, &net.addr), cases[i].policy);
    }
    run_hosts_free(hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datagrams_are_packets),
        cmocka_unit_test(test_policies_decide),
        cmocka_unit_test(test_fragments_in_fragments),
        cmocka_unit_test(test_room_is_bounded),
        cmocka_unit_test(test_policies_are_read),
        cmocka_unit_test(test_datagrams_have_the_link_of_their_fragments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
