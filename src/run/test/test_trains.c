/* SPDX-License-Identifier: MIT */
/* Segments of a train have right checksums where these count. They are looked at one by one where
 * somebody asks for more than bytes: for the state of the stream, for names. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { SYN = 2, ACK = 16, N_PACKETS = 7, ETHERNET = 14, IP_LEN = 20 };
enum { FILLERS = 9, FILLER_LEN = 1000 };

static const char rules_text[] =
    "alert tcp-stream any any -> any any (content:\"needle\"; sid:1;)\n";
static const char facts_text[] =
    "alert tcp any any -> any any (content:\"needle\"; stream_size:client,>,50; sid:1;)\n";

/* Ends of a payload, not of the stream. */
static const char payload_text[] =
    "alert tcp any any -> any any (content:\"needle\"; isdataat:!40; sid:1;)\n";

struct scene {
    const char *rules; /* NULL: none */
    const char *names; /* a table of names; NULL: none */
    bool checks;       /* checksums count, */
    bool is_wrong;     /* and the last segment's is wrong */
    bool alone;        /* packets are looked at alone */
    bool is_long;      /* both sides send more than is kept of them, */
    bool is_cut;       /* and what is looked for lies across two segments */
    uint32_t n_found;
};

/* RFC 1071. */
static uint16_t sum_of(const uint8_t *bytes, uint32_t len, uint32_t sum)
{
    for (uint32_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    while (sum > 0xFFFF)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static void seal(struct frame *f, bool is_wrong)
{
    uint8_t *const ip = f->byte + ETHERNET, *const tcp = ip + IP_LEN;
    const uint32_t len = f->len - ETHERNET - IP_LEN;
    uint32_t pseudo = 6 + len;

    for (uint32_t i = 12; i < 20; i += 2)
        pseudo += load_be16(ip + i);
    store_be16(ip + 10, sum_of(ip, IP_LEN, 0));
    store_be16(tcp + 16, sum_of(tcp, len, pseudo) ^ (is_wrong ? 1 : 0));
}

struct packet {
    bool answers;
    uint8_t flags;
    const char *text;
};

static void add(struct sl_batch *batch, const struct packet *packet, uint32_t seq[2], bool is_wrong)
{
    const uint32_t half = packet->answers ? 1 : 0;
    const uint32_t len = (uint32_t)strlen(packet->text);
    static struct frame f;

    frame_segment(&f, &(struct frame_segment){.src = half != 0 ? 0xC0A80001 : 0x0A000001,
                                              .dst = half != 0 ? 0x0A000001 : 0xC0A80001,
                                              .src_port = half != 0 ? 80 : 20000,
                                              .dst_port = half != 0 ? 20000 : 80,
                                              .flags = packet->flags,
                                              .seq = seq[half],
                                              .ack = packet->flags == SYN ? 0 : seq[half ^ 1],
                                              .bytes = packet->text,
                                              .len = len});
    seal(&f, is_wrong);
    seq[half] += (packet->flags & SYN) != 0 ? 1 : len;
    assert_true(sl_run_add_packet(batch, f.byte, f.len, INT64_C(1700000000000000000), 1));
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    static const struct packet packets[N_PACKETS] = {
        {false, SYN, ""},
        {true, SYN | ACK, ""},
        {false, ACK, "GET / HTTP/1.1\r\n"},
        {true, ACK, ""},
        {false, ACK, "A: a\r\n"},
        {false, ACK, "Host: a.ads.te"},
        {false, ACK, "st\r\nNeedle: a needle\r\n\r\n"}};
    static const struct packet rest = {false, ACK, "dle\r\n\r\n"};
    static char text[FILLER_LEN + 1];
    const struct packet filler = {false, ACK, memset(text, 'x', FILLER_LEN)};
    const struct packet answer = {true, ACK, text}, cut = {false, ACK, "st\r\nNeedle: a nee"};
    const struct scene *scene = user;
    uint32_t seq[2] = {1000, 5000};

    (void)diag;
    for (uint32_t i = 0; i < N_PACKETS - 1; i++)
        add(batch, &packets[i], seq, false);
    for (uint32_t n = 0; scene->is_long && n < FILLERS; n++) {
        add(batch, &filler, seq, false);
        add(batch, &answer, seq, false);
    }
    add(batch, scene->is_cut ? &cut : &packets[N_PACKETS - 1], seq, scene->is_wrong);
    if (scene->is_cut) {
        add(batch, &answer, seq, false);
        add(batch, &rest, seq, false);
    }
    return SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct scene *scene = user;

    (void)event;
    (void)diag;
    scene->n_found++;
    return SL_OK;
}

static uint32_t run(struct scene scene)
{
    const struct sl_names_file files[] = {{.path = scene.names}};
    struct sl_rules *rules = NULL;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    sl_run_config_init(&config);
    if (scene.rules != NULL) {
        assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
        assert_int_equal(
            sl_rules_load_text(rules, "trains", scene.rules, strlen(scene.rules), &diag), SL_OK);
        config.rules = rules;
        config.events = 1u << SL_EVENT_ALERT;
    }
    if (scene.names != NULL) {
        config.names.files = files;
        config.names.n_files = 1;
    }
    config.check_headers = scene.checks;
    config.fill = fill;
    config.devices = "cpu";
    config.event = on_event;
    config.user = &scene;
    config.flow_memory = 1 << 20;
    if (scene.alone)
        config.stream_memory = 0;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_close(sluice);
    sl_rules_free(rules);
    return scene.n_found;
}

static void test_checksums(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct scene scene = {.rules = rules_text, .is_long = way % 2 != 0, .is_cut = way / 2 != 0};

        assert_int_equal(run(scene), 1);
        scene.is_wrong = true;
        assert_int_equal(run(scene), 1);
        scene.checks = true;
        assert_int_equal(run(scene), 0);
        scene.is_wrong = false;
        assert_int_equal(run(scene), 1);
    }
}

/* All of a train's payloads are in the stream: no rule looks at them again. */
static void test_payloads(void **state)
{
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        struct scene scene = {.rules = payload_text, .is_long = is_long};

        assert_int_equal(run(scene), 0);
        scene.alone = true;
        assert_int_equal(run(scene), 1);
    }
}

/* Bytes of the other side lie between the two. */
static void test_seams(void **state)
{
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++)
        assert_int_equal(
            run((struct scene){.rules = rules_text, .is_long = is_long, .is_cut = true}), 1);
}

static void test_facts(void **state)
{
    (void)state;
    assert_int_equal(run((struct scene){.rules = facts_text}), 1);
}

static void test_names(void **state)
{
    char path[] = "/tmp/trains_XXXXXX";
    static const char list[] = "||ads.test^\n";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, list, sizeof list - 1), sizeof list - 1);
    close(fd);
    assert_int_equal(run((struct scene){.names = path}), 1);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksums), cmocka_unit_test(test_payloads),
        cmocka_unit_test(test_seams),     cmocka_unit_test(test_facts),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
