/* SPDX-License-Identifier: MIT */
/* Rules that are found by their addresses, judged by the ranges that their text was made of. */
#include "detect_fixture.h"

#include <inttypes.h>

enum { N_RULES = 120, N_PACKETS = 400, RANGES_MAX = 6 };

struct range {
    uint32_t first, last;
};

struct side {
    struct range range[RANGES_MAX]; /* 0: any */
    size_t n;
};

struct known_rule {
    struct side from, to;
    bool both_ways;
};

static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

/* Near the bounds of blocks, or among few neighbours, so that ranges meet each other. 0 is no
 * address of the fixture. */
static uint32_t draw_address(void)
{
    static const uint32_t near[] = {1, 0x00010000, 0x0A000000, 0x0A00FFFF, 0x7FFFFFFF, 0xC0A80010};
    const uint32_t i = draw(7);
    const uint32_t address = i == 6 ? UINT32_MAX - draw(4) : near[i] + draw(8) - draw(4);

    return address != 0 ? address : 1;
}

static struct side draw_side(bool any)
{
    struct side side = {.n = any ? 0 : 1 + draw(RANGES_MAX)};

    for (size_t i = 0; i < side.n; i++) {
        const uint32_t first = draw_address(), more = draw(4) == 0 ? draw(1u << 20) : draw(5);

        side.range[i].first = first;
        side.range[i].last = first > UINT32_MAX - more ? UINT32_MAX : first + more;
    }
    return side;
}

static bool holds(const struct side *side, uint32_t address)
{
    for (size_t i = 0; i < side->n; i++)
        if (address >= side->range[i].first && address <= side->range[i].last)
            return true;
    return side->n == 0;
}

static bool matches(const struct known_rule *rule, uint32_t src, uint32_t dst)
{
    return (holds(&rule->from, src) && holds(&rule->to, dst)) ||
           (rule->both_ways && holds(&rule->from, dst) && holds(&rule->to, src));
}

static size_t put_address(char *text, size_t cap, uint32_t address)
{
    return (size_t)snprintf(text, cap, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                            address >> 8 & 255, address & 255);
}

static size_t put_side(char *text, size_t cap, const struct side *side)
{
    size_t n = 0;

    if (side->n == 0)
        return (size_t)snprintf(text, cap, "any");
    for (size_t i = 0; i < side->n; i++) {
        n += (size_t)snprintf(text + n, cap - n, "%s", i == 0 ? "[" : ",");
        n += put_address(text + n, cap - n, side->range[i].first);
        n += (size_t)snprintf(text + n, cap - n, "-");
        n += put_address(text + n, cap - n, side->range[i].last);
    }
    return n + (size_t)snprintf(text + n, cap - n, "]");
}

static size_t put_rule(char *text, size_t cap, const struct known_rule *rule, size_t sid)
{
    size_t n = (size_t)snprintf(text, cap, "alert ip ");

    n += put_side(text + n, cap - n, &rule->from);
    n += (size_t)snprintf(text + n, cap - n, " any %s ", rule->both_ways ? "<>" : "->");
    n += put_side(text + n, cap - n, &rule->to);
    return n + (size_t)snprintf(text + n, cap - n, " any (msg:\"%zu\"; sid:%zu;)\n", sid, sid);
}

/* Each packet has the alerts of the rules whose ranges it meets, and no others. */
static void check_batch(const struct known_rule *known, const char *text)
{
    static bool alerted[N_PACKETS][N_RULES];
    uint32_t src[N_PACKETS], dst[N_PACKETS];
    struct sl_rules *rules = load_rules(text);
    struct sl_batch *batch = fixture_batch(N_PACKETS);
    size_t n;

    for (uint32_t p = 0; p < N_PACKETS; p++) {
        src[p] = draw_address();
        dst[p] = draw_address();
        add_packet(batch, &(struct packet){.kind = UDP, .src = src[p], .dst = dst[p]});
    }
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    memset(alerted, 0, sizeof alerted);
    for (size_t i = 0; i < n; i++) {
        assert_false(alerted[alerts[i].item][alerts[i].signature]);
        alerted[alerts[i].item][alerts[i].signature] = true;
    }
    for (uint32_t p = 0; p < N_PACKETS; p++)
        for (uint32_t r = 0; r < N_RULES; r++)
            if (alerted[p][r] != matches(&known[r], src[p], dst[p]))
                fail_msg("rule %u on %08" PRIx32 " to %08" PRIx32, r, src[p], dst[p]);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

static void test_random_ranges(void **state)
{
    static char text[N_RULES * 1024];

    (void)state;
    for (size_t round = 0; round < 20; round++) {
        struct known_rule known[N_RULES];
        size_t n = 0;

        for (size_t i = 0; i < N_RULES; i++) {
            const uint32_t any = draw(3); /* 0: the source, 1: the destination */

            known[i].from = draw_side(any == 0);
            known[i].to = draw_side(any == 1);
            known[i].both_ways = draw(8) == 0;
            n += put_rule(text + n, sizeof text - n, &known[i], i + 1);
        }
        check_batch(known, text);
    }
}

/* One network over the addresses of all other rules is not put under each of them. */
static void test_wide_network(void **state)
{
    static char text[N_RULES * 1024];
    static struct known_rule known[N_RULES];
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < N_RULES; i++) {
        const uint32_t first = 0x0A000000 + 2 * (uint32_t)i;

        known[i] = (struct known_rule){.from = {{{first, first}}, 1}};
        if (i == 0)
            known[i].from.range[0].last = 0x0A00FFFF;
        n += put_rule(text + n, sizeof text - n, &known[i], i + 1);
    }
    check_batch(known, text);
}

static void test_ipv6(void **state)
{
    static const struct packet packet = {.kind = TCP6}; /* from 2001:db8::1 to 2001:db8::2 */

    (void)state;
    assert_true(rule_matches("alert ip 2001:db8::1 any -> any any (sid:1;)", &packet));
    assert_true(rule_matches("alert ip any any -> [::,2001:db8::2] any (sid:1;)", &packet));
    assert_true(rule_matches("alert ip 2001:db8::/32 any -> any any (sid:1;)", &packet));
    assert_false(rule_matches("alert ip 2001:db8::2 any -> any any (sid:1;)", &packet));
    assert_false(rule_matches("alert ip any any -> [::,2001:db8::1] any (sid:1;)", &packet));
    assert_false(rule_matches("alert ip ffff::/16 any -> any any (sid:1;)", &packet));
    assert_false(rule_matches("alert ip [::,10.0.0.1] any -> any any (sid:1;)",
                              &(struct packet){.kind = ARP}));
}

static void assert_found_with(const char *header, const char *options, const char *key)
{
    char rule[256], text[1024];

    snprintf(rule, sizeof rule, "alert %s (%s sid:1;)\n", header, options);

    struct sl_rules *rules = load_rules(rule);

    assert_true(sl_rules_explain(rules, 1, 1, text, sizeof text));
    if (strstr(text, key) == NULL)
        fail_msg("%s: not by %s: %s", header, key, text);
    sl_rules_free(rules);
}

static void assert_found_by(const char *header, const char *key)
{
    assert_found_with(header, "", key);
}

static void test_keys(void **state)
{
    (void)state;
    assert_found_by("ip [192.0.2.1,198.51.100.0/24] any -> $HOME_NET any", "the source address");
    assert_found_by("tcp $HOME_NET any -> 192.0.2.1 80", "the destination address");
    assert_found_by("tcp $HOME_NET any -> $EXTERNAL_NET 80", "the destination port");
    assert_found_by("ip !192.0.2.1 any -> any any", "the protocol");
    assert_found_by("ip 64.0.0.0/2 any -> any any", "the protocol");
    assert_found_by("ip 192.0.2.1 any <> any any", "the protocol");
    assert_found_by("udp any 19 <> any 7", "a port of either side");
    assert_found_by("tcp any [1,2] <> any any", "a port of either side");
    assert_found_with("tcp any any -> any any", "flags:S;", "the flags of TCP");
    assert_found_with("tcp any any <> any any", "flags:!A,12;", "the protocol");
    assert_found_with("tcp any any -> any 80", "flags:S;", "the destination port");
    assert_found_with("ip any any -> any any", "flags:S;", "the protocol");
}

/* A rule that is found by flags matches as one does that is found by a literal. */
static void test_flags(void **state)
{
    static const char *const flags[] = {"S", "S,12", "SF", "0", "SRFPU+", "CE+", "!UAPRSF", "A"};

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        unsigned n = 0;

        for (unsigned value = 0; value < 256; value += i % 2 + 1) {
            const struct packet packet = {
                .kind = TCP, .tcp_flags = (uint8_t)value, .payload = "literal"};
            char by_literal[128], by_flags[128];

            snprintf(by_literal, sizeof by_literal,
                     "alert tcp any any <> any any (flags:%s; content:\"literal\"; sid:1;)",
                     flags[i]);
            snprintf(by_flags, sizeof by_flags, "alert tcp any any <> any any (flags:%s; sid:1;)",
                     flags[i]);

            const bool matches = rule_matches(by_literal, &packet);

            assert_int_equal(rule_matches(by_flags, &packet), matches);
            n += matches;
        }
        assert_in_range(n, 1, 64);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_ranges), cmocka_unit_test(test_wide_network),
        cmocka_unit_test(test_ipv6),          cmocka_unit_test(test_keys),
        cmocka_unit_test(test_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
