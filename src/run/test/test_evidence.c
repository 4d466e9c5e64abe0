/* SPDX-License-Identifier: MIT */
/* Captures of flows with alerts, from batches made here: whole files, whatever the cuts, and their
 * bounds. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/run_evidence.h"
#include "test.h"

enum { PACKET_LEN = 1000, BATCH = 4000, FLOWS = 7, FILE_MAX = 1 << 20, FILES = 100 };

/* Bytes; a sanitizer keeps freed memory. */
#ifdef SLUICE_SANITIZED
enum { GROWTH_MAX = 128 << 20 };
#else
enum { GROWTH_MAX = 1 << 20 };
#endif

struct scene {
    char folder[32];
    struct run_evidence *evidence;
    struct sl_batch *batch;
    struct sl_alert alerts[BATCH];
    struct run_digest digest;
    uint64_t n; /* packets so far */
};

static struct scene *open_scene(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct sl_diag diag;

    assert_non_null(scene);
    strcpy(scene->folder, "/tmp/test_evidence_XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
    assert_int_equal(run_evidence_open(&scene->evidence, scene->folder, FILES, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&scene->batch, BATCH * 1024, BATCH, &diag), SL_OK);
    scene->digest.alerts = scene->alerts;
    return scene;
}

static void close_scene(struct scene *scene)
{
    char command[64];

    run_evidence_close(scene->evidence);
    sl_batch_free(scene->batch);
    snprintf(command, sizeof command, "rm -r %s", scene->folder);
    assert_int_equal(system(command), 0);
    free(scene);
}

static void end_batch(struct scene *scene)
{
    struct sl_diag diag;

    assert_int_equal(run_evidence_take(scene->evidence, scene->batch, &scene->digest, &diag),
                     SL_OK);
    sl_batch_reset(scene->batch);
    scene->digest.n_alerts = 0;
}

/* A packet of a flow that has its number in each byte. */
static void add_packet(struct scene *scene, uint64_t flow, uint32_t len, bool begins, bool alerts)
{
    uint8_t bytes[PACKET_LEN];

    memset(bytes, (int)scene->n, len);
    const uint32_t item = sl_batch_add(scene->batch, bytes, len, 0);
    struct sl_origin *origin = &scene->batch->origin[item];

    scene->batch->packet[item] =
        (struct sl_packet){.offset = scene->batch->payload[item].offset, .len = len};
    *origin = (struct sl_origin){.time_ns = (int64_t)(1000000000 + scene->n++),
                                 .flow = flow,
                                 .wire_len = len + 5,
                                 .link_type = 101,
                                 .flow_flags = begins ? SL_FLOW_NEW : 0};
    if (alerts)
        scene->alerts[scene->digest.n_alerts++] = (struct sl_alert){.item = item};
}

/* Bytes of a flow's file; 0: there is none. */
static size_t read_file(const struct scene *scene, uint64_t flow, uint8_t *bytes)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%llu.pcap", scene->folder, (unsigned long long)flow);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    const size_t len = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    return len;
}

static struct sl_run_evidence stats_of(const struct scene *scene)
{
    struct sl_run_evidence stats;

    run_evidence_stats(scene->evidence, &stats);
    return stats;
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* The content that a file of the flow must have: its packets n with n % FLOWS == flow - 1, from the
 * first on. */
static size_t expect_file(uint64_t flow, uint64_t n, const uint32_t *lens, uint8_t *bytes)
{
    const uint32_t head[6] = {0xa1b23c4d, 0x00040002, 0, 0, SL_CAPTURE_PACKET_MAX, 101};
    uint8_t *at = bytes;

    memcpy(at, head, sizeof head);
    at += sizeof head;
    for (uint64_t i = flow - 1; i < n; i += FLOWS) {
        const uint32_t record[4] = {1, (uint32_t)i, lens[i], lens[i] + 5};

        memcpy(at, record, sizeof record);
        memset(at + sizeof record, (int)i, lens[i]);
        at += sizeof record + lens[i];
    }
    return (size_t)(at - bytes);
}

static void test_files_have_the_flow(void **state)
{
    enum { N = 1000 };
    uint8_t *bytes = malloc(FILE_MAX), *expected = malloc(FILE_MAX);
    uint32_t lens[N];
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        lens[i] = test_below(&seed, PACKET_LEN);
    for (uint32_t cut = 1; cut <= BATCH; cut *= 3) {
        struct scene *scene = open_scene();

        for (uint32_t i = 0; i < N; i++) {
            const uint64_t flow = i % FLOWS + 1;

            /* Alerts in flows 1 to 3, at any place and several times. */
            add_packet(scene, flow, lens[i], i < FLOWS, flow <= 3 && i % 11 == 10 - flow);
            if (i % cut == 0)
                end_batch(scene);
        }
        end_batch(scene);
        for (uint64_t flow = 1; flow <= FLOWS; flow++) {
            const size_t len = flow <= 3 ? expect_file(flow, N, lens, expected) : 0;

            assert_int_equal(read_file(scene, flow, bytes), len);
            assert_memory_equal(bytes, expected, len);
        }
        assert_int_equal(stats_of(scene).flows, 3);
        assert_int_equal(stats_of(scene).flows_without_begin, 0);
        assert_int_equal(stats_of(scene).packets_left_out, 0);
        close_scene(scene);
    }
    free(bytes);
    free(expected);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A flow's first packet gives way to 64 MiB of others; the rest of the flow is written. */
static void test_the_oldest_gives_way(void **state)
{
    struct scene *scene = open_scene();
    uint8_t *bytes = malloc(FILE_MAX);

    (void)state;
    add_packet(scene, 1, 10, true, false);
    for (uint32_t i = 0; i < 3 * EVIDENCE_MEMORY / PACKET_LEN; i++) {
        add_packet(scene, 2 + i % 5000, 300 + i % 700, i < 5000, false);
        if (scene->batch->n_items == BATCH)
            end_batch(scene);
    }
    end_batch(scene);
    add_packet(scene, 1, 20, false, false);
    add_packet(scene, 1, 30, false, true);
    add_packet(scene, 0, 30, false, true);
    end_batch(scene);
    assert_int_equal(read_file(scene, 1, bytes), 24 + 16 + 20 + 16 + 30);
    assert_int_equal(stats_of(scene).flows_without_begin, 1);
    assert_int_equal(stats_of(scene).packets_without_flow, 1);
    assert_int_equal(stats_of(scene).packets, 2);
    free(bytes);
    close_scene(scene);
}

static void test_a_file_is_bounded(void **state)
{
    struct scene *scene = open_scene();
    const uint32_t n = (uint32_t)(EVIDENCE_FILE_LEN / (PACKET_LEN + 16)) + 100;
    char path[64];
    struct stat found;

    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        add_packet(scene, 1, PACKET_LEN, i == 0, i == 0);
        if (scene->batch->n_items == BATCH)
            end_batch(scene);
    }
    end_batch(scene);
    snprintf(path, sizeof path, "%s/1.pcap", scene->folder);
    assert_int_equal(stat(path, &found), 0);
    assert_true((uint64_t)found.st_size <= EVIDENCE_FILE_LEN);
    assert_true((uint64_t)found.st_size > EVIDENCE_FILE_LEN - PACKET_LEN - 16);
    assert_int_equal(stats_of(scene).bytes, found.st_size);
    assert_int_equal(stats_of(scene).packets + stats_of(scene).packets_left_out, n);
    close_scene(scene);
}

/* Behind the last file each flow with an alert is counted, and nothing of it stays. */
static void test_files_are_bounded(void **state)
{
    enum { MORE = 100000 };
    struct scene *scene = open_scene();
    uint64_t before = 0;

    (void)state;
    for (uint32_t i = 0; i < FILES + MORE; i++) {
        if (i == FILES)
            before = test_memory_of("VmRSS:");
        add_packet(scene, i + 1, 4, false, true);
        if (scene->batch->n_items == BATCH)
            end_batch(scene);
    }
    end_batch(scene);
    assert_true(test_memory_of("VmRSS:") - before < GROWTH_MAX);
    assert_int_equal(stats_of(scene).flows, FILES);
    assert_int_equal(stats_of(scene).flows_without_begin, FILES);
    assert_int_equal(stats_of(scene).packets_left_out, MORE);
    close_scene(scene);
}

/* The same of flows that have ended: no packet of theirs will come. */
static void test_late_alerts_are_bounded(void **state)
{
    enum { MORE = 25 };
    struct scene *scene = open_scene();
    struct app_batch apps = {.n = 0};
    uint64_t before = 0;
    struct sl_diag diag;

    (void)state;
    for (uint64_t flow = 1; flow <= FILES; flow++)
        add_packet(scene, flow, 4, true, true);
    end_batch(scene);
    scene->digest.apps = &apps;
    for (uint32_t i = 0; i < MORE; i++) {
        if (i == 1)
            before = test_memory_of("VmRSS:");
        for (uint32_t k = 0; k < BATCH; k++)
            add_packet(scene, FILES + 1 + (uint64_t)i * BATCH + k, 4, true, true);
        assert_int_equal(
            run_evidence_take_late(scene->evidence, scene->batch, &scene->digest, &diag), SL_OK);
        sl_batch_reset(scene->batch);
        scene->digest.n_alerts = 0;
    }
    assert_true(test_memory_of("VmRSS:") - before < GROWTH_MAX);
    assert_int_equal(stats_of(scene).flows, FILES);
    close_scene(scene);
}

static void test_what_cannot_be_written(void **state)
{
    struct run_evidence *evidence;
    struct sl_diag diag = {0};
    struct scene *scene = open_scene();
    char path[64];

    (void)state;
    assert_int_equal(run_evidence_open(&evidence, "/dev/null/x", FILES, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, "cannot be made"));
    run_evidence_close(evidence);
    snprintf(path, sizeof path, "%s/1.pcap", scene->folder);
    assert_int_equal(symlink("/tmp/elsewhere", path), 0);
    add_packet(scene, 1, 10, true, true);
    assert_int_equal(run_evidence_take(scene->evidence, scene->batch, &scene->digest, &diag),
                     SL_EIO);
    assert_non_null(strstr(diag.text, "1.pcap cannot be written"));
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_have_the_flow),
        cmocka_unit_test(test_the_oldest_gives_way),
        cmocka_unit_test(test_a_file_is_bounded),
        cmocka_unit_test(test_files_are_bounded),
        cmocka_unit_test(test_late_alerts_are_bounded),
        cmocka_unit_test(test_what_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
