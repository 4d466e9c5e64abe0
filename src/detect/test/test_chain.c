/* SPDX-License-Identifier: MIT */
/* The walk over a payload against its definition: all combinations of occurrences are tried. Rules
 * and payloads are random, over an alphabet so small that contents occur in many places. */
#include "detect_fixture.h"

enum { STEPS_MAX = 5, PAYLOAD_MAX = 14, ROUNDS = 4000, PAYLOADS = 8 };

/* An option of the rule's text. */
struct step {
    bool is_content, negated, nocase, relative, has_begin, has_end, at_end;
    int begin; /* offset, distance, or isdataat's number */
    int reach; /* depth or within */
    char text[4];
};

struct chain {
    struct step step[STEPS_MAX];
    size_t n;
    bool snort3;
};

static bool same_byte(char a, char b, bool nocase)
{
    if (nocase) {
        a = (char)(a >= 'A' && a <= 'Z' ? a + 32 : a);
        b = (char)(b >= 'A' && b <= 'Z' ? b + 32 : b);
    }
    return a == b;
}

/* Whether the content occurs at `at`, for this cursor. */
static bool occurs(const struct step *step, const char *payload, int len, int cursor, int at)
{
    const int n = (int)strlen(step->text);
    const int base = step->relative ? cursor : 0;
    const int begin = base + (step->has_begin ? step->begin : 0);

    if (at + n > len || at < begin || (step->has_end && at + n > begin + step->reach) ||
        (step->at_end && at + n != len))
        return false;
    for (int i = 0; i < n; i++)
        if (!same_byte(payload[at + i], step->text[i], step->nocase))
            return false;
    return true;
}

static bool data_is_at(const struct chain *chain, const struct step *step, int len, int cursor)
{
    if (!step->relative)
        return step->begin < len;
    if (chain->snort3 || step->begin == 0)
        return cursor + step->begin < len;
    return cursor + step->begin <= len;
}

static bool holds(const struct chain *chain, size_t i, const char *payload, int len, int cursor)
{
    if (i == chain->n)
        return true;

    const struct step *step = &chain->step[i];
    bool found = false;

    if (!step->is_content)
        return data_is_at(chain, step, len, cursor) != step->negated &&
               holds(chain, i + 1, payload, len, cursor);
    for (int at = 0; at < len; at++) {
        if (!occurs(step, payload, len, cursor, at))
            continue;
        found = true;
        if (!step->negated && holds(chain, i + 1, payload, len, at + (int)strlen(step->text)))
            return true;
    }
    return step->negated && !found && holds(chain, i + 1, payload, len, cursor);
}

static void random_text(uint64_t *seed, char *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        text[i] = "aaabbA"[test_below(seed, 6)];
    text[len] = '\0';
}

static void random_step(uint64_t *seed, struct step *step)
{
    *step = (struct step){.is_content = test_below(seed, 6) != 0,
                          .negated = test_below(seed, 3) == 0,
                          .nocase = test_below(seed, 3) == 0,
                          .relative = test_below(seed, 4) != 0};
    if (!step->is_content) {
        step->begin = (int)test_below(seed, 5);
        return;
    }
    random_text(seed, step->text, 1 + test_below(seed, 3));
    step->has_begin = step->relative || test_below(seed, 2) == 0;
    step->has_end = test_below(seed, 2) == 0;
    step->at_end = test_below(seed, 6) == 0;
    step->begin = (int)test_below(seed, 5) - (step->relative ? 3 : 0);
    step->reach = (int)strlen(step->text) + (int)test_below(seed, 4);
    if (step->relative && step->has_end && test_below(seed, 2) == 0) {
        step->has_begin = false;
        step->begin = 0;
    }
}

/* An option's text, of Suricata or of Snort 3. */
static char *put_step(char *at, const struct step *step, bool snort3)
{
    const char *open = snort3 ? "," : "; ", *colon = snort3 ? " " : ":";

    if (!step->is_content)
        return at + sprintf(at, "isdataat:%s%d%s; ", step->negated ? "!" : "", step->begin,
                            step->relative ? ",relative" : "");
    at += sprintf(at, "content:%s\"%s\"", step->negated ? "!" : "", step->text);
    if (step->nocase)
        at += sprintf(at, "%snocase", open);
    if (step->has_begin)
        at += sprintf(at, "%s%s%s%d", open, step->relative ? "distance" : "offset", colon,
                      step->begin);
    if (step->has_end)
        at +=
            sprintf(at, "%s%s%s%d", open, step->relative ? "within" : "depth", colon, step->reach);
    if (step->at_end)
        at += sprintf(at, "; endswith");
    return at + sprintf(at, "; ");
}

static void put_rule(char *at, const struct chain *chain)
{
    at += sprintf(at, "alert tcp any any -> any any (");
    if (chain->snort3)
        at += sprintf(at, "service:x; ");
    for (size_t i = 0; i < chain->n; i++)
        at = put_step(at, &chain->step[i], chain->snort3);
    sprintf(at, "sid:1;)");
}

static void test_random_chains(void **state)
{
    uint64_t seed = 20240501;
    size_t n_matches = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct chain chain = {.n = 1 + test_below(&seed, STEPS_MAX),
                              .snort3 = test_below(&seed, 2) == 0};
        struct sl_batch *batch = fixture_batch(PAYLOADS);
        char rule[1024], payload[PAYLOADS][PAYLOAD_MAX + 1];
        size_t n, at = 0;

        for (size_t i = 0; i < chain.n; i++)
            random_step(&seed, &chain.step[i]);
        put_rule(rule, &chain);
        for (uint32_t i = 0; i < PAYLOADS; i++) {
            random_text(&seed, payload[i], test_below(&seed, PAYLOAD_MAX + 1));
            add_packet(batch, &(struct packet){.payload = payload[i]});
        }
        dissect_batch(batch);

        struct sl_rules *rules = load_rules(rule);
        struct sl_alert *alerts = alerts_of(rules, batch, &n);

        for (uint32_t i = 0; i < PAYLOADS; i++) {
            const bool expected = holds(&chain, 0, payload[i], (int)strlen(payload[i]), 0);
            const bool found = at < n && alerts[at].item == i;

            if (found != expected)
                fail_msg("%s on \"%s\": %s", rule, payload[i],
                         expected ? "does not match" : "matches");
            at += found;
            n_matches += found;
        }
        free(alerts);
        sl_batch_free(batch);
        sl_rules_free(rules);
    }
    /* Random rules that never or always match would prove nothing. */
    assert_in_range(n_matches, ROUNDS * PAYLOADS / 10, ROUNDS * PAYLOADS * 9 / 10);
}

/* Each of these costs time beyond any patience if combinations are tried one after the other. */
static void test_many_occurrences_cost_little(void **state)
{
    static const char *const steps[] = {
        "content:\"a\"; within:3; ", "content:\"aa\"; distance:0; ", "content:!\"b\"; within:9; ",
        "content:\"aaaaaaaaaaaa\"; within:40; ", "content:\"A\"; nocase; distance:-5; within:9; "};
    struct packet packet = {.payload_len = 65000};
    char *payload = malloc(packet.payload_len);

    (void)state;
    memset(payload, 'a', packet.payload_len);
    packet.payload = payload;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char rule[4096], *at = rule;

        at += sprintf(at, "alert tcp any any -> any any (content:\"a\"; ");
        for (int k = 0; k < 40; k++)
            at += sprintf(at, "%s", steps[i]);
        sprintf(at, "content:\"b\"; within:1; sid:1;)");
        payload[packet.payload_len - 1] = 'a';
        assert_false(rule_matches(rule, &packet));
        payload[packet.payload_len - 1] = 'b';
        assert_int_equal(rule_matches(rule, &packet), strchr(steps[i], '!') == NULL);
    }
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_chains),
        cmocka_unit_test(test_many_occurrences_cost_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
