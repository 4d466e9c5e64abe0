/* SPDX-License-Identifier: MIT */
/* Rules with state against a slow reference: random rules on random packets, the same alerts for
 * any number of threads and any cut into batches. */
#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"
#include "sluice/sluice.h"
#include "state_ref.h"

enum { N_PACKETS = 600, N_RULES = 24, TEXT_MAX = 512 * N_RULES };

struct scene {
    uint64_t seed;
    struct ref_rule rule[N_RULES];
    char text[TEXT_MAX];
    struct ref_packet packet[N_PACKETS];
    char payload[N_PACKETS][8];
    bool expected[N_PACKETS][N_RULES];
};

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
    put(scene->text, ";");
    if (option->n == 1 && option->act == REF_ALL_SET)
        option->act = REF_ANY_SET;
}

static void draw_rule(struct scene *scene, uint32_t i)
{
    static const char *const actions[] = {"pass", "drop", "reject", "alert"};
    struct ref_rule *rule = &scene->rule[i];

    rule->action = below(scene, 12) == 0  ? REF_PASS
                   : below(scene, 4) == 0 ? (enum ref_action)(1 + below(scene, 2))
                                          : REF_ALERT;
    rule->priority = 1 + below(scene, 3);
    rule->letter = (char)('a' + below(scene, 8));
    rule->n_options = below(scene, REF_OPTIONS_MAX);
    rule->noalert = below(scene, 6) == 0;
    put(scene->text, "%s udp any any -> any any (content:\"%c\"; priority:%u;",
        actions[rule->action], rule->letter, rule->priority);
    for (uint32_t k = 0; k < rule->n_options; k++)
        draw_flowbits(scene, &rule->option[k]);
    if (rule->noalert)
        put(scene->text, " %s;", below(scene, 2) == 0 ? "noalert" : "flowbits:noalert");
    put(scene->text, " sid:%u;)\n", i + 1);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void draw_packet(struct scene *scene, uint32_t i, int64_t time)
{
    char *payload = scene->payload[i];

    for (uint32_t k = 0; k < 3; k++)
        payload[k] = (char)('a' + below(scene, 12));
    scene->packet[i] = (struct ref_packet){.time = time,
                                           .client = 1 + below(scene, 3),
                                           .server = 1 + below(scene, 2),
                                           .to_server = below(scene, 3) != 0,
                                           .payload = payload};
}

static void build_frame(struct frame *f, const struct ref_packet *packet)
{
    const uint32_t client = 0x0A000000 + packet->client, server = 0x0B000000 + packet->server;

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
    for (uint32_t i = 0; i < N_RULES; i++)
        draw_rule(scene, i);
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        time += below(scene, 100) * INT64_C(10000000) +
                (below(scene, 40) == 0 ? INT64_C(40000000000) : 0);
        draw_packet(scene, i, time);
    }

    struct state_ref *ref = state_ref_create(scene->rule, N_RULES);

    for (uint32_t i = 0; i < N_PACKETS; i++)
        state_ref_packet(ref, &scene->packet[i], scene->expected[i]);
    state_ref_free(ref);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct sensor {
    const struct scene *scene;
    uint64_t seed;
    uint32_t next, max_items;
    bool found[N_PACKETS][N_RULES];
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
    assert_int_equal(event->kind, SL_EVENT_ALERT);

    bool *found = &sensor->found[event->origin.position - 1][event->signature->sid - 1];

    assert_false(*found);
    *found = true;
    return SL_OK;
}

static void run(struct sensor *sensor, uint32_t n_workers)
{
    static const uint64_t seed[2] = {1, 2};
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_rules_count count;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(
        sl_rules_load_text(rules, "drawn", sensor->scene->text, strlen(sensor->scene->text), &diag),
        SL_OK);
    sl_rules_count(rules, &count);
    assert_int_equal(count.loaded, N_RULES);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.devices = "cpu";
    config.event = on_event;
    config.user = sensor;
    config.flow_seed = seed;
    config.events = 1u << SL_EVENT_ALERT;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static void compare(const struct scene *scene, uint64_t seed, uint32_t max_items,
                    uint32_t n_workers)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);

    sensor->scene = scene;
    sensor->seed = seed + max_items;
    sensor->max_items = max_items;
    run(sensor, n_workers);
    for (uint32_t i = 0; i < N_PACKETS; i++)
        for (uint32_t r = 0; r < N_RULES; r++)
            if (sensor->found[i][r] != scene->expected[i][r])
                fail_msg("seed %llu, packet %u, sid %u: %s alert\n%s", (unsigned long long)seed, i,
                         r + 1, scene->expected[i][r] ? "no" : "an", scene->text);
    free(sensor);
}

static void test_alerts_are_those_of_the_reference(void **state)
{
    static const uint32_t max_items[] = {1, 7, 100, N_PACKETS};
    struct scene *scene = calloc(1, sizeof *scene);
    uint64_t n_alerts = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        draw(scene, seed);
        compare(scene, seed, max_items[seed % 4], 1 + seed % 8);
        for (uint32_t i = 0; i < N_PACKETS; i++)
            for (uint32_t r = 0; r < N_RULES; r++)
                n_alerts += scene->expected[i][r];
    }
    assert_true(n_alerts > 24 * N_PACKETS / 2);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alerts_are_those_of_the_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
