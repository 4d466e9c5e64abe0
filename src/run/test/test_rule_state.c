/* SPDX-License-Identifier: MIT */
/* Rules with state against a slow reference: random rules on random packets, the same alerts for
 * any number of threads, any cut into batches, and on simulated GPUs. */
#include "test.h"

#include <unistd.h>

#include "device/test/simulated.h"
#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"
#include "sluice/sluice.h"
#include "state_ref.h"

enum { N_PACKETS = 600, N_RULES = 24, TEXT_MAX = 1024 * N_RULES };

struct scene {
    uint64_t seed;
    struct ref_rule rule[N_RULES];
    uint32_t order[4]; /* enum ref_action, as they take effect */
    char text[TEXT_MAX];
    struct ref_packet packet[N_PACKETS];
    char payload[N_PACKETS][8];
    bool expected[N_PACKETS][N_RULES];
    bool tagged[N_PACKETS];
    struct ref_set set[REF_SETS]; /* as they are at last */
};

static char folder[] = "/tmp/sluice-rule-state-XXXXXX"; /* of sets of data */

static uint32_t below(struct scene *scene, uint32_t n)
{
    return test_below(&scene->seed, n);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(char *text, const char *format, ...)
{
    const size_t len = strlen(text);
    va_list list;

    va_start(list, format);
    assert_in_range(vsnprintf(text + len, TEXT_MAX - len, format, list), 0, TEXT_MAX - len - 1);
    va_end(list);
}

static void draw_flowbits(struct scene *scene, struct ref_option *option)
{
    static const char *const words[] = {"isset", "isset", "isnotset", "set", "unset", "toggle"};

    option->act = (enum ref_act)below(scene, REF_TOGGLE + 1);
    option->n = 1 + below(scene, REF_NAMES_MAX);
    put(scene->text, " flowbits:%s,", words[option->act]);
    for (uint32_t i = 0; i < option->n; i++) {
        const char *separator = option->act == REF_ANY_SET ? "|" : " & ";

        option->bit[i] = below(scene, 6);
        put(scene->text, "%sb.%u", i != 0 ? separator : "", option->bit[i]);
    }
    put(scene->text, "%s;", below(scene, 8) == 0 ? ", group" : "");
    if (option->n == 1 && option->act == REF_ALL_SET)
        option->act = REF_ANY_SET;
}

static void draw_xbits(struct scene *scene, struct ref_option *option)
{
    static const char *const words[] = {[REF_ANY_SET] = "isset",
                                        [REF_SOME_UNSET] = "isnotset",
                                        [REF_SET] = "set",
                                        [REF_UNSET] = "unset",
                                        [REF_TOGGLE] = "toggle"};
    static const char *const tracks[] = {
        [REF_SRC] = "ip_src", [REF_DST] = "ip_dst", [REF_PAIR] = "ip_pair"};

    do
        option->act = (enum ref_act)below(scene, REF_TOGGLE + 1);
    while (option->act == REF_ALL_SET);
    option->owner = (enum ref_owner)(REF_SRC + below(scene, 3));
    option->bit[0] = below(scene, 4);
    option->n = 1;
    option->seconds = 1 + below(scene, 60);
    put(scene->text, " xbits:%s,x%u,track %s,expire %u;", words[option->act], option->bit[0],
        tracks[option->owner], option->seconds);
}

static void draw_flowint(struct scene *scene, struct ref_option *option)
{
    static const char *const words[] = {
        [REF_ANY_SET] = "isset", [REF_SOME_UNSET] = "notset", [REF_EQUAL] = "==",
        [REF_GREATER] = ">",     [REF_ASSIGN] = "=",          [REF_ADD] = "+",
        [REF_SUBTRACT] = "-"};

    do
        option->act = (enum ref_act)below(scene, REF_SUBTRACT + 1);
    while (words[option->act] == NULL);
    option->owner = REF_NUMBER;
    option->bit[0] = below(scene, 3);
    option->n = 1;
    option->value = below(scene, 4);
    if (option->act <= REF_SOME_UNSET)
        put(scene->text, " flowint:n%u, %s;", option->bit[0], words[option->act]);
    else
        put(scene->text, " flowint: n%u ,%s,%u;", option->bit[0], words[option->act],
            option->value);
}

static void draw_threshold(struct scene *scene, struct ref_rule *rule)
{
    static const char *const types[] = {"limit", "threshold", "both"};
    static const char *const tracks[] = {[REF_FLOW] = "by_flow",
                                         [REF_SRC] = "by_src",
                                         [REF_DST] = "by_dst",
                                         [REF_PAIR] = "by_both",
                                         [REF_ALL] = "by_rule"};
    struct ref_filter *filter = &rule->filter[rule->n_filters++];

    do
        filter->owner = (enum ref_owner)below(scene, REF_ALL + 1);
    while (filter->owner == REF_NUMBER);
    filter->kind = (enum ref_kind)below(scene, REF_BACKOFF + 1);
    filter->count = 1 + below(scene, 5);
    filter->seconds = 1 + below(scene, 60);
    if (filter->kind == REF_BACKOFF) {
        filter->owner = REF_FLOW;
        filter->multiplier = 1 + below(scene, 3);
    }
    if (filter->kind == REF_DETECTION && below(scene, 2) == 0) {
        filter->count = 1;
        filter->unique = (enum ref_unique)(1 + below(scene, 2));
    }
    if (filter->kind == REF_DETECTION)
        put(scene->text, " detection_filter:track %s, count %u, seconds %u%s;",
            tracks[filter->owner], filter->count, filter->seconds,
            filter->unique == REF_SRC_PORTS   ? ", unique_on src_port"
            : filter->unique == REF_DST_PORTS ? ",unique_on dst_port"
                                              : "");
    else if (filter->kind == REF_BACKOFF)
        put(scene->text, " threshold: type backoff, track by_flow, count %u, multiplier %u;",
            filter->count, filter->multiplier);
    else
        put(scene->text, " threshold: type %s, track %s, seconds %u, count %u;",
            types[filter->kind], tracks[filter->owner], filter->seconds, filter->count);
}

static void draw_suppress(struct scene *scene, uint32_t i)
{
    static const char *const tracks[] = {
        [REF_SRC] = "by_src", [REF_DST] = "by_dst", [REF_EITHER] = "by_either"};
    struct ref_rule *rule = &scene->rule[i];
    struct ref_filter *filter = &rule->filter[rule->n_filters++];
    struct ref_filter first;

    filter->kind = REF_SUPPRESS;
    filter->owner = below(scene, 2) == 0 ? REF_EITHER : (enum ref_owner)(REF_SRC + below(scene, 2));
    filter->host = 1 + below(scene, 3);
    put(scene->text, "suppress gen_id 1, sig_id %u, track %s, ip [10.0.0.%u/32, 12.0.0.1]\n", i + 1,
        tracks[filter->owner], filter->host);
    if (rule->n_filters == 2) { /* suppression comes first */
        first = *filter;
        rule->filter[1] = rule->filter[0];
        rule->filter[0] = first;
    }
}

/* ---- sets of data ---------------------------------------------------------------------------- */

/* The file of a set, in the folder. */
static const char *file_of(uint32_t set)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/d%u", folder, set);
    return path;
}

static uint32_t address_of(uint32_t host)
{
    return host < 100 ? 0x0A000000 + host : 0x0B000000 + host - 100;
}

/* The text of a set's file. */
static const char *text_of(const struct ref_set *set)
{
    static char text[REF_SET_MAX * 16];
    size_t len = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < set->n; i++) {
        const uint32_t address = address_of(set->host[i]);

        len += (size_t)snprintf(text + len, sizeof text - len, "%u.0.0.%u\n", address >> 24,
                                address & 255);
    }
    return text;
}

/* The first two sets begin with a host and end in their files. The third is full with three. No
 * rule changes the last. */
static void begin_sets(struct ref_set *sets)
{
    for (uint32_t i = 0; i < REF_SETS; i++) {
        FILE *file = fopen(file_of(i), "wb");

        sets[i] = (struct ref_set){.max = i == 2 ? 3 : REF_SET_MAX};
        if (i != 2)
            sets[i].host[sets[i].n++] = i == 1 ? 101 : 1;
        assert_non_null(file);
        assert_true(fputs(text_of(&sets[i]), file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
}

static void compare_files(const struct ref_set *sets)
{
    for (uint32_t i = 0; i < 2; i++) {
        char text[REF_SET_MAX * 16];
        FILE *file = fopen(file_of(i), "rb");

        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        assert_string_equal(text, text_of(&sets[i]));
    }
}

static void draw_asks(struct scene *scene, struct ref_rule *rule)
{
    static const char *const words[] = {"isset", "isnotset", "set", "unset"};
    static const char *const files[REF_SETS] = {"state d0", "state d1", "memcap 120", "load d3"};

    for (uint32_t n = below(scene, REF_ASKS_MAX + 1); rule->n_asks < n; rule->n_asks++) {
        const uint32_t i = rule->n_asks, set = below(scene, REF_SETS);

        rule->ask[i].set = set;
        rule->ask[i].ask = (enum ref_ask)below(scene, set == 3 ? REF_PUT : REF_TAKE + 1);
        rule->ask[i].owner = below(scene, 2) == 0 ? REF_SRC : REF_DST;
        put(scene->text, " ip.%s; dataset:%s,d%u,type ip,%s;",
            rule->ask[i].owner == REF_SRC ? "src" : "dst", words[rule->ask[i].ask], set,
            files[set]);
    }
}

/* A range of sums that some packets have. */
static void draw_sum(struct scene *scene, struct ref_rule *rule)
{
    static const char *const sums[] = {"age", "pkts", "bytes"};
    static const char *const sides[] = {"toserver", "toclient", "either", "both"};
    static const uint32_t most[] = {20, 30, 1500};

    rule->has_sum = true;
    rule->sum = (enum ref_sum)below(scene, REF_BYTES + 1);
    rule->side = (enum ref_side)below(scene, REF_BOTH_SIDES + 1);
    rule->above = below(scene, most[rule->sum]);
    rule->below = rule->above + 2 + below(scene, most[rule->sum]);
    put(scene->text, " flow.%s", sums[rule->sum]);
    if (rule->sum != REF_AGE && rule->side <= REF_TO_CLIENT && below(scene, 2) == 0)
        put(scene->text, "_%s:", sides[rule->side]);
    else if (rule->sum != REF_AGE)
        put(scene->text, ":%s,", sides[rule->side]);
    else
        put(scene->text, ":");
    put(scene->text, "%llu<>%llu;", (unsigned long long)rule->above,
        (unsigned long long)rule->below);
}

static void draw_tag(struct scene *scene, struct ref_tag *tag)
{
    static const char *const units[REF_N_UNITS] = {"packets", "bytes", "seconds"};
    static const uint32_t most[REF_N_UNITS] = {12, 500, 20};
    const uint32_t first = below(scene, REF_N_UNITS);

    tag->owner = below(scene, 2) == 0 ? REF_FLOW : (enum ref_owner)(REF_SRC + below(scene, 2));
    put(scene->text, " tag:%s", tag->owner == REF_FLOW ? "session" : "host");
    for (uint32_t i = 0; i < REF_N_UNITS; i++) {
        const uint32_t unit = (first + i) % REF_N_UNITS;

        if (i != 0 && below(scene, 3) != 0)
            continue;
        tag->limit[unit] = 1 + below(scene, most[unit]);
        put(scene->text, ",%u,%s", tag->limit[unit], units[unit]);
    }
    put(scene->text, "%s;", tag->owner == REF_FLOW ? "" : tag->owner == REF_SRC ? ",src" : ",dst");
}

static void draw_tags(struct scene *scene, struct ref_rule *rule)
{
    for (uint32_t n = below(scene, REF_TAGS_MAX + 1); rule->n_tags < n; rule->n_tags++)
        draw_tag(scene, &rule->tag[rule->n_tags]);
}

static void draw_option(struct scene *scene, struct ref_option *option)
{
    const uint32_t kind = below(scene, 5);

    if (kind == 0)
        draw_xbits(scene, option);
    else if (kind == 1)
        draw_flowint(scene, option);
    else
        draw_flowbits(scene, option);
}

static const char *const actions[] = {"pass", "drop", "reject", "alert"};

static uint32_t place_of(const struct scene *scene, enum ref_action action)
{
    uint32_t place = 0;

    while (scene->order[place] != action)
        place++;
    return place;
}

/* Half of the scenes have the usual order. */
static void draw_order(struct scene *scene)
{
    const bool usual = below(scene, 2) == 0;

    for (uint32_t i = 0; i < 4; i++)
        scene->order[i] = i;
    for (uint32_t i = 3; i > 0 && !usual; i--) {
        const uint32_t other = below(scene, i + 1), moved = scene->order[i];

        scene->order[i] = scene->order[other];
        scene->order[other] = moved;
    }
}

static void order_actions(const struct scene *scene, struct sl_rules *rules)
{
    char order[64];
    struct sl_diag diag;

    snprintf(order, sizeof order, "%s,%s,%s,%s", actions[scene->order[0]], actions[scene->order[1]],
             actions[scene->order[2]], actions[scene->order[3]]);
    assert_int_equal(sl_rules_order_actions(rules, order, &diag), SL_OK);
}

static void draw_rule(struct scene *scene, uint32_t i)
{
    struct ref_rule *rule = &scene->rule[i];

    rule->action = below(scene, 12) == 0  ? REF_PASS
                   : below(scene, 4) == 0 ? (enum ref_action)(1 + below(scene, 2))
                                          : REF_ALERT;
    rule->place = place_of(scene, rule->action);
    rule->priority = 1 + below(scene, 3);
    rule->letter = (char)('a' + below(scene, 8));
    rule->n_options = below(scene, REF_OPTIONS_MAX);
    rule->noalert = below(scene, 6) == 0;
    put(scene->text, "%s udp any any -> any any (content:\"%c\"; priority:%u;",
        actions[rule->action], rule->letter, rule->priority);
    for (uint32_t k = 0; k < rule->n_options; k++)
        draw_option(scene, &rule->option[k]);
    if (below(scene, 3) == 0)
        draw_threshold(scene, rule);
    if (rule->noalert)
        put(scene->text, " %s;", below(scene, 2) == 0 ? "noalert" : "flowbits:noalert");
    if (below(scene, 3) == 0)
        draw_sum(scene, rule);
    if (below(scene, 3) == 0)
        draw_asks(scene, rule);
    if (below(scene, 6) == 0)
        draw_tags(scene, rule);
    put(scene->text, " sid:%u;)\n", i + 1);
    if (below(scene, 8) == 0)
        draw_suppress(scene, i);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void draw_packet(struct scene *scene, uint32_t i, int64_t time)
{
    char *payload = scene->payload[i];

    for (uint32_t k = 0; k < 3; k++)
        payload[k] = (char)('a' + below(scene, 12));
    scene->packet[i] = (struct ref_packet){.time = time,
                                           .client = 1 + below(scene, 3),
                                           .server = 101 + below(scene, 2),
                                           .to_server = below(scene, 3) != 0,
                                           .len = 14 + 20 + 8 + 3,
                                           .payload = payload};
}

static void build_frame(struct frame *f, const struct ref_packet *packet)
{
    const uint32_t client = address_of(packet->client), server = address_of(packet->server);

    f->len = 0;
    frame_ethernet(f, 0x0800);
    const uint32_t ip = frame_ipv4(f, 17, 0);
    store_be32(f->byte + ip + 12, packet->to_server ? client : server);
    store_be32(f->byte + ip + 16, packet->to_server ? server : client);
    frame_udp(f, packet->to_server ? 4000 : 80, packet->to_server ? 80 : 4000,
              (uint32_t)strlen(packet->payload));
    frame_bytes(f, packet->payload, (uint32_t)strlen(packet->payload));
    frame_end_ipv4(f, ip);
}

static void draw(struct scene *scene, uint64_t seed)
{
    int64_t time = INT64_C(1700000000000000000);

    memset(scene, 0, sizeof *scene);
    scene->seed = seed;
    draw_order(scene);
    for (uint32_t i = 0; i < N_RULES; i++)
        draw_rule(scene, i);
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        time += below(scene, 100) * INT64_C(10000000) +
                (below(scene, 40) == 0 ? INT64_C(40000000000) : 0);
        draw_packet(scene, i, time);
    }

    begin_sets(scene->set);

    struct state_ref *ref = state_ref_create(scene->rule, N_RULES, scene->set);

    for (uint32_t i = 0; i < N_PACKETS; i++)
        scene->tagged[i] = state_ref_packet(ref, &scene->packet[i], scene->expected[i]);
    state_ref_free(ref);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct sensor {
    const struct scene *scene;
    uint64_t seed;
    uint32_t next, max_items;
    bool found[N_PACKETS][N_RULES];
    bool tagged[N_PACKETS];
};

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    uint32_t room = 1 + test_below(&sensor->seed, sensor->max_items);
    static struct frame f;

    (void)diag;
    for (; sensor->next < N_PACKETS && room != 0; sensor->next++, room--) {
        const struct ref_packet *packet = &sensor->scene->packet[sensor->next];

        build_frame(&f, packet);
        if (!sl_run_add_packet(batch, f.byte, f.len, packet->time, 1))
            return SL_OK;
    }
    return sensor->next < N_PACKETS ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct sensor *sensor = user;

    (void)diag;

    bool *found = event->kind == SL_EVENT_PACKET
                      ? &sensor->tagged[event->origin.position - 1]
                      : &sensor->found[event->origin.position - 1][event->signature->sid - 1];

    assert_false(*found);
    *found = true;
    return SL_OK;
}

static void run(struct sensor *sensor, const char *devices, uint32_t n_workers)
{
    static const uint64_t seed[2] = {1, 2};
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_rules_count count;
    struct sl_diag diag = {0};
    struct ref_set sets[REF_SETS];
    struct sl_run *sluice;
    char name[64];

    begin_sets(sets);
    snprintf(name, sizeof name, "%s/drawn", folder);
    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_keep_data(rules, folder, &diag), SL_OK);
    order_actions(sensor->scene, rules);
    assert_int_equal(
        sl_rules_load_text(rules, name, sensor->scene->text, strlen(sensor->scene->text), &diag),
        SL_OK);
    sl_rules_count(rules, &count);
    assert_int_equal(count.loaded, N_RULES);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.devices = devices;
    config.event = on_event;
    config.user = sensor;
    config.flow_seed = seed;
    config.events = 1u << SL_EVENT_ALERT | 1u << SL_EVENT_PACKET;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    if (strstr(sensor->scene->text, "state d0") != NULL)
        compare_files(sensor->scene->set);
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static void compare(const struct scene *scene, const char *devices, uint64_t seed,
                    uint32_t max_items, uint32_t n_workers)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);

    sensor->scene = scene;
    sensor->seed = seed + max_items;
    sensor->max_items = max_items;
    run(sensor, devices, n_workers);
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        if (sensor->tagged[i] != scene->tagged[i]) {
            fputs(scene->text, stderr);
            fail_msg("%s, seed %llu, packet %u is %stagged", devices, (unsigned long long)seed, i,
                     sensor->tagged[i] ? "" : "not ");
        }
        for (uint32_t r = 0; r < N_RULES; r++)
            if (sensor->found[i][r] != scene->expected[i][r]) {
                fputs(scene->text, stderr);
                fail_msg("%s, seed %llu, packet %u, sid %u: %s alert", devices,
                         (unsigned long long)seed, i, r + 1, scene->expected[i][r] ? "no" : "an");
            }
    }
    free(sensor);
}

static void test_alerts_are_those_of_the_reference(void **state)
{
    static const uint32_t max_items[] = {1, 7, 100, N_PACKETS};
    struct scene *scene = calloc(1, sizeof *scene);
    const char *longer = getenv("SLUICE_TEST_SCENES");
    const uint64_t n_scenes = longer != NULL ? strtoull(longer, NULL, 10) : test_fewer(24, 8);
    uint64_t n_alerts = 0, n_tagged = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= n_scenes; seed++) {
        draw(scene, seed);
        compare(scene, "cpu", seed, max_items[seed % 4], 1 + seed % 8);
        if (seed % 4 == 0)
            compare(scene, "cuda:0,1", seed, max_items[seed / 4 % 4], 0);
        for (uint32_t i = 0; i < N_PACKETS; i++) {
            n_tagged += scene->tagged[i];
            for (uint32_t r = 0; r < N_RULES; r++)
                n_alerts += scene->expected[i][r];
        }
    }
    assert_true(n_tagged > n_scenes * N_PACKETS / 20);
    assert_true(n_alerts > n_scenes * N_PACKETS / 2);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alerts_are_those_of_the_reference),
    };

    if (mkdtemp(folder) == NULL)
        return 1;
    simulated_reset(2, 50);

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    for (uint32_t i = 0; i < REF_SETS; i++)
        (void)unlink(file_of(i));
    (void)rmdir(folder);
    return failed;
}
