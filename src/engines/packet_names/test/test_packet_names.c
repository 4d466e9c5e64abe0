/* SPDX-License-Identifier: MIT */
/* The engine of names. Its hits are those of looking up each packet's names, whatever the backend,
 * the table's plane, the batch and the room for hits.
 *
 * usage: test_names_engine BACKEND FOLDER: of captures; those of $SLUICE_TEST_DATA/pcap too */
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "dissect/test/frame_fixture.h"
#include "engines/packet_names/packet_names_tile_core.h"
#include "names/test/fib_planes.h"
#include "packet_names_fixture.h"
#include "sluice/capture.h"
#include "sluice/device.h"
#include "sluice/dissect.h"

#ifdef __SANITIZE_THREAD__
enum { N_ITEMS = 1500 };
#else
enum { N_ITEMS = 6000 };
#endif

enum { MAX_HITS = 200000, FRAME_MAX = 60000, BATCH_LEN = 16 << 20 };

static const struct sl_backend *tested;
static const char *samples;

static const char domains[] = "parc.com\n*.com\nads\n*.www\n.x1\n192.0.2.1\n.local\na.b\n";
static const char filters[] = "||www^\n@@||parc.com^\n||b.a^\n@@||a.b^$important\n||0^\n";
static const char urls[] = "b.c/a/b\tnews\nproxied.test\tgames,news\nparc.com/a\tsearch\n";
static const char routes[] = "/\t1\n/com\t2\n/v=0\t3,4\n";

/* plane: NULL is the default. */
static struct sl_names *make_table(bool all, const char *plane)
{
    struct sl_names *names;

    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    if (all) {
        assert_int_equal(
            sl_names_load_text(names, "filters", "adblock", filters, sizeof filters - 1, NULL),
            SL_OK);
        assert_int_equal(sl_names_load_text(names, "urls", "urls", urls, sizeof urls - 1, NULL),
                         SL_OK);
        assert_int_equal(
            sl_names_load_text(names, "routes", "prefix", routes, sizeof routes - 1, NULL), SL_OK);
    }
    assert_int_equal(
        sl_names_load_text(names, "domains", "domains", domains, sizeof domains - 1, NULL), SL_OK);
    assert_int_equal(sl_names_build(names, plane, NULL), SL_OK);
    return names;
}

static struct sl_batch *new_batch(void)
{
    struct sl_batch *batch;

    assert_int_equal(sl_batch_create(&batch, BATCH_LEN, N_ITEMS, NULL), SL_OK);
    return batch;
}

static void dissect(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
}

static void add_message(struct sl_batch *batch, struct frame *f, const struct made_message *made)
{
    const uint32_t len = made->len < FRAME_MAX ? made->len : FRAME_MAX;

    f->len = 0;
    frame_ethernet(f, made->carrier == REF_FRAME ? 0x8624 : 0x0800);
    if (made->carrier == REF_FRAME) {
        frame_bytes(f, made->byte, len);
    } else {
        const uint32_t ip = frame_ipv4(f, made->carrier == REF_TCP ? SL_IP_TCP : SL_IP_UDP, 0);

        if (made->carrier == REF_TCP)
            frame_tcp(f, made->src_port, made->dst_port, 0x18, 0);
        else
            frame_udp(f, made->src_port, made->dst_port, len);
        frame_bytes(f, made->byte, len);
        frame_end_ipv4(f, ip);
    }
    if (!sl_batch_fits(batch, f->len))
        return;
    batch->origin[sl_batch_add(batch, f->byte, f->len, 0)].link_type = 1;
}

static struct sl_batch *make_batch(uint64_t seed)
{
    struct made_message *made = malloc(sizeof *made);
    struct sl_batch *batch = new_batch();
    static struct frame f;

    for (int i = 0; i < N_ITEMS; i++) {
        make_message(made, &seed);
        if (i % 8 == 0)
            damage_message(made, &seed);
        add_message(batch, &f, made);
    }
    dissect(batch);
    free(made);
    return batch;
}

/* The answer to a name when a person asks for the same name. */
static void check_as_text(struct sl_names_reader *reader, const struct sl_name *name,
                          const struct sl_names_answer *answer)
{
    static char text[4 * SL_NAME_LEN_MAX + 64];
    static uint8_t bytes[SL_NAME_LEN_MAX];
    struct sl_names_answer again;
    struct sl_name read;
    const size_t len = sl_name_write(name, text, sizeof text);

    /* Names of DNS may hold bytes that no host name has. */
    if (sl_name_read(&read, name->syntax, bytes, sizeof bytes, text, len) != NULL) {
        assert_int_equal(name->syntax, SL_NAME_DOMAIN);
        return;
    }
    assert_int_equal(sl_names_lookup(reader, &read, 1, &again), SL_OK);
    assert_memory_equal(&again, answer, sizeof again);
}

/* The hits that there must be, and what is to be counted. */
static void expect(const struct sl_batch *batch, struct sl_names *names, struct sl_hits *hits,
                   struct sl_packet_names_watch_count *count)
{
    static struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    static uint8_t bytes[SL_PACKET_NAMES_LEN];
    struct sl_names_reader *reader;
    struct sl_names_answer answer;
    uint32_t misses;

    memset(count, 0, sizeof *count);
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", NULL), SL_OK);
    hits->n = 0;
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint32_t n = sl_packet_names_find(batch, item, found, bytes, &misses);

        count->packets += n != 0;
        for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
            count->missed[m] += misses >> m & 1;
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(sl_names_lookup(reader, &found[i].name, 1, &answer), SL_OK);
            check_as_text(reader, &found[i].name, &answer);
            count->names[found[i].protocol]++;
            if (answer.action == SL_NAMES_NONE)
                continue;
            count->matched[found[i].protocol]++;
            assert_true(hits->n < hits->cap);
            hits->hit[hits->n++] = (struct sl_hit){item, found[i].offset,
                                                   answer.rule | (uint64_t)answer.prefix_len << 32};
        }
    }
    sl_names_reader_close(reader);
    sl_hits_sort(hits);
}

/* ---- the backend ----------------------------------------------------------------------------- */

/* A context, and a way there. */
struct runner {
    struct sl_packet_names_watch *watch;
    void *context;
    struct sl_stage *stage; /* of GPUs */
    struct sl_hits hits;
    bool alone;      /* the batch lies on the device alone */
    uint64_t n_left; /* to the CPU by a GPU, of the last batch */
};

static void open_runner(struct runner *runner, struct sl_names *names)
{
    const struct sl_limits limits = {
        .max_items = N_ITEMS, .max_bytes = BATCH_LEN + SL_BATCH_ALIGN, .max_hits = MAX_HITS};
    struct sl_diag diag = {0};

    memset(runner, 0, sizeof *runner);
    runner->hits.hit = malloc(MAX_HITS * sizeof *runner->hits.hit);
    runner->hits.cap = MAX_HITS;
    assert_int_equal(sl_packet_names_watch_create(&runner->watch, names, NULL), SL_OK);
    if (tested->open(&runner->context, runner->watch, &limits, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    if (tested->device == SL_DEVICE_CUDA)
        assert_int_equal(sl_stage_open(&runner->stage, &limits, &diag), SL_OK);
}

static void close_runner(struct runner *runner)
{
    tested->close(runner->context);
    sl_stage_close(runner->stage);
    sl_packet_names_watch_free(runner->watch);
    free(runner->hits.hit);
}

static enum sl_status run(struct runner *runner, const struct sl_batch *batch)
{
    struct sl_batch view = *batch;
    enum sl_status status;

    if (runner->stage != NULL)
        assert_int_equal(sl_stage_upload(runner->stage, batch, &view), SL_OK);
    if (runner->alone)
        view.host_bytes = NULL;
    status = tested->submit(runner->context, &view, &runner->hits);
    if (status == SL_OK)
        status = tested->wait(runner->context);
    if (status == SL_OK)
        sl_hits_sort(&runner->hits);
    return status;
}

static void check_hits(const struct runner *runner, const struct sl_hits *expected)
{
    assert_int_equal(runner->hits.n, expected->n);
    for (size_t i = 0; i < expected->n; i++)
        if (memcmp(&runner->hits.hit[i], &expected->hit[i], sizeof *expected->hit) != 0)
            fail_msg("hit %zu is of item %u at %u, expected of %u at %u", i,
                     runner->hits.hit[i].item, runner->hits.hit[i].offset, expected->hit[i].item,
                     expected->hit[i].offset);
}

/* A batch must add this to the counts. */
static void check_counted(struct runner *runner, const struct sl_batch *batch,
                          const struct sl_hits *expected,
                          const struct sl_packet_names_watch_count *counts)
{
    struct sl_packet_names_watch_count before, after;

    sl_packet_names_watch_count(runner->watch, &before);
    assert_int_equal(run(runner, batch), SL_OK);
    sl_packet_names_watch_count(runner->watch, &after);
    check_hits(runner, expected);
    assert_int_equal(after.packets - before.packets, counts->packets);
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++) {
        assert_int_equal(after.names[p] - before.names[p], counts->names[p]);
        assert_int_equal(after.matched[p] - before.matched[p], counts->matched[p]);
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        assert_int_equal(after.missed[m] - before.missed[m], counts->missed[m]);
    runner->n_left = after.left - before.left;
}

/* Returns how many packets are left to the CPU. */
static uint64_t check_batch(struct sl_names *names, const struct sl_batch *batch)
{
    struct sl_hits expected = {.hit = malloc(MAX_HITS * sizeof *expected.hit), .cap = MAX_HITS};
    struct sl_packet_names_watch_count counts, none;
    struct runner runner;

    expect(batch, names, &expected, &counts);
    assert_true(expected.n > 4);
    open_runner(&runner, names);
    runner.hits.cap = expected.n / 2;
    assert_int_equal(run(&runner, batch), SL_EOVERFLOW);
    assert_int_equal(runner.hits.n, expected.n);
    sl_packet_names_watch_count(runner.watch, &none);
    assert_int_equal(none.packets, 0); /* it is to be run again */
    runner.hits.cap = MAX_HITS;
    check_counted(&runner, batch, &expected, &counts);
    runner.alone = runner.stage != NULL;
    check_counted(&runner, batch, &expected, &counts);
    close_runner(&runner);
    free(expected.hit);
    return runner.n_left;
}

static bool is_gpu(void)
{
    return tested->device == SL_DEVICE_CUDA || strcmp(tested->name, "tiled") == 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_hits_are_what_lookups_give(void **state)
{
    static const char *const planes[] = {NULL, "mata", "ata", "stt"};

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const char *plane = planes[(seed - 1) / 2];

        if (plane != NULL && !fib_planes_has(plane))
            continue;
        struct sl_names *names = make_table(seed % 2 == 0, plane);
        struct sl_batch *batch = make_batch(seed);

        const uint64_t n_left = check_batch(names, batch);
        assert_true(is_gpu() ? n_left > 0 && n_left < N_ITEMS / 2 : n_left == 0);
        sl_batch_free(batch);
        sl_names_free(names);
    }
}

/* A message of one byte more each time, up to beyond the bounds of a GPU's thread. */
static void make_dns_of(struct made_message *made, uint32_t n)
{
    made->carrier = REF_UDP;
    made->dst_port = 53;
    made_number(made, 0x00070100, 4);
    made_number(made, n, 2);
    made_number(made, 0, 6);
    for (uint32_t i = 0; i < n; i++) {
        made_number(made, 3, 1);
        made_text(made, i % 2 == 0 ? "www" : "ads");
        for (uint32_t k = 0; k < 3 * n; k++)
            made_text(made, "\1x");
        made_number(made, 0, 1);
        made_number(made, 0x00010001, 4);
    }
}

static void make_http_of(struct made_message *made, uint32_t n)
{
    made->carrier = REF_TCP;
    made->dst_port = 80;
    made_text(made, "GET /a/");
    for (uint32_t i = 0; i < n; i++)
        made_text(made, "b");
    made_text(made, "/../b HTTP/1.1\r\nHost: b.c\r\nX: ");
    while (made->len < 4 * n - 200)
        made_text(made, "y");
    made_text(made, "\r\n\r\n");
}

static void make_ndn_of(struct made_message *made, uint32_t n)
{
    made->carrier = n % 3 == 0 ? REF_FRAME : n % 3 == 1 ? REF_UDP : REF_TCP;
    made->dst_port = 6363;
    made_number(made, 0x05FD, 2);
    made_number(made, n + 4, 2);
    made_number(made, 0x07FD, 2);
    made_number(made, n, 2);
    made_text(made, "\x8\3com");
    made_number(made, 0x08FD, 2);
    made_number(made, n - 9, 2);
    for (uint32_t i = 9; i < n; i++)
        made_text(made, "c");
}

static void test_bounds_of_threads(void **state)
{
    struct made_message *made = malloc(sizeof *made);
    struct sl_names *names = make_table(true, NULL);
    struct sl_batch *batch = new_batch();
    static struct frame f;

    (void)state;
    made->src_port = 40000;
    for (uint32_t n = 1; n <= 2 * NAMES_TILE_NAMES; n++) {
        made->len = 0;
        make_dns_of(made, n);
        add_message(batch, &f, made);
    }
    for (uint32_t n = NAMES_TILE_LEN - 40; n < NAMES_TILE_LEN + 40; n++) {
        made->len = 0;
        make_http_of(made, n);
        add_message(batch, &f, made);
        made->len = 0;
        make_ndn_of(made, n);
        add_message(batch, &f, made);
    }
    dissect(batch);
    assert_int_equal(batch->n_items, 2 * NAMES_TILE_NAMES + 160);
    const uint64_t n_left = check_batch(names, batch);
    assert_true(is_gpu() ? n_left > 80 && n_left < 140 : n_left == 0);
    sl_batch_free(batch);
    sl_names_free(names);
    free(made);
}

/* Without the origin column the link type is not known: no names of Ethernet's NDN. */
static void test_batches_without_origin(void **state)
{
    struct sl_names *names = make_table(true, NULL);
    struct sl_batch *batch = make_batch(11), view = *batch;

    (void)state;
    view.origin = NULL;
    check_batch(names, &view);
    sl_batch_free(batch);
    sl_names_free(names);
}

/* A batch after an update has its answers. */
static void test_updates_between_batches(void **state)
{
    static const char update[] = "+x1\n+c\n-ads\n";
    struct sl_hits expected = {.hit = malloc(MAX_HITS * sizeof *expected.hit), .cap = MAX_HITS};
    struct sl_names *names = make_table(false, NULL);
    struct sl_names_updated updated = {0};
    struct sl_packet_names_watch_count counts;
    struct sl_batch *batch = make_batch(12);
    struct runner runner, other;

    (void)state;
    open_runner(&runner, names);
    expect(batch, names, &expected, &counts);
    check_counted(&runner, batch, &expected, &counts);

    const size_t before = expected.n;
    assert_int_equal(
        sl_names_update(names, "u", "domains", update, sizeof update - 1, 1, &updated, NULL),
        SL_OK);
    assert_int_equal(updated.added + updated.removed, 3);
    expect(batch, names, &expected, &counts);
    assert_true(expected.n != before);
    open_runner(&other, names); /* one copy for the old, one for the new */
    check_counted(&other, batch, &expected, &counts);
    check_counted(&runner, batch, &expected, &counts);
    close_runner(&other);
    check_counted(&runner, batch, &expected, &counts);
    close_runner(&runner);
    sl_batch_free(batch);
    sl_names_free(names);
    free(expected.hit);
}

static void update(struct sl_names *names, const char *line)
{
    struct sl_names_updated updated = {0};

    assert_int_equal(sl_names_update(names, "u", "domains", line, strlen(line), 1, &updated, NULL),
                     SL_OK);
    assert_int_equal(updated.added + updated.removed, 1);
}

static atomic_bool is_over;

static void *update_again_and_again(void *names)
{
    while (!atomic_load(&is_over)) {
        update(names, "+.a\n");
        update(names, "-.a\n");
    }
    return NULL;
}

/* Each name has the answer of before or after an update: an added rule only adds hits. */
static void test_updates_beside_batches(void **state)
{
    struct sl_hits expected = {.hit = malloc(MAX_HITS * sizeof *expected.hit), .cap = MAX_HITS};
    struct sl_names *names = make_table(false, NULL);
    struct sl_batch *batch = make_batch(13);
    struct sl_packet_names_watch_count counts;
    struct runner runner;
    pthread_t updater;

    (void)state;
    expect(batch, names, &expected, &counts);
    const size_t least = expected.n;
    update(names, "+.a\n");
    expect(batch, names, &expected, &counts);
    update(names, "-.a\n");
    assert_true(expected.n > least);

    open_runner(&runner, names);
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&updater, NULL, update_again_and_again, names), 0);
    for (uint32_t i = 0; i < test_fewer(50, 15); i++) {
        assert_int_equal(run(&runner, batch), SL_OK);
        assert_in_range(runner.hits.n, least, expected.n);
    }
    atomic_store(&is_over, true);
    pthread_join(updater, NULL);
    close_runner(&runner);
    sl_batch_free(batch);
    sl_names_free(names);
    free(expected.hit);
}

/* ---- captures -------------------------------------------------------------------------------- */

static uint64_t n_captures, n_packets, n_left, n_hits;

static void check_capture(struct runner *runner, struct sl_names *names, const char *path,
                          struct sl_batch *batch, struct sl_hits *expected)
{
    struct sl_packet_names_watch_count counts;
    struct sl_capture *capture;
    enum sl_status status;

    if (sl_capture_open_file(&capture, path, 0, NULL) != SL_OK)
        return;
    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, NULL);
        dissect(batch);
        expect(batch, names, expected, &counts);
        check_counted(runner, batch, expected, &counts);
        n_packets += batch->n_items;
        n_left += runner->n_left;
        n_hits += expected->n;
    } while (status == SL_OK);
    sl_capture_close(capture);
    n_captures++;
}

static void check_folder(const char *folder)
{
    struct sl_hits expected = {.hit = malloc(MAX_HITS * sizeof *expected.hit), .cap = MAX_HITS};
    struct sl_names *names = make_table(true, NULL);
    struct sl_batch *batch = new_batch();
    DIR *entries = opendir(folder);
    struct runner runner;

    if (entries == NULL)
        fail_msg("%s cannot be read", folder);
    open_runner(&runner, names);
    n_captures = n_packets = n_left = n_hits = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strstr(entry->d_name, "cap") != NULL)
            check_capture(&runner, names, path, batch, &expected);
    }
    print_message("%llu captures, %llu packets, %llu left to the CPU, %llu hits\n",
                  (unsigned long long)n_captures, (unsigned long long)n_packets,
                  (unsigned long long)n_left, (unsigned long long)n_hits);
    assert_true(n_hits > 0);
    closedir(entries);
    close_runner(&runner);
    sl_batch_free(batch);
    sl_names_free(names);
    free(expected.hit);
}

static void test_sample_captures(void **state)
{
    (void)state;
    check_folder(samples);
}

static void test_shared_captures(void **state)
{
    const char *data = test_data();
    char folder[1024];

    (void)state;
    snprintf(folder, sizeof folder, "%s/pcap", data);
    check_folder(folder);
}

static void test_hits_lead_to_their_rules(void **state)
{
    struct sl_names *names = make_table(true, NULL);
    struct sl_names_answer answer, found;
    struct sl_names_reader *reader;
    uint8_t bytes[64];
    struct sl_name name;

    (void)state;
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", NULL), SL_OK);
    assert_null(sl_name_read(&name, SL_NAME_URL, bytes, sizeof bytes, "b.c/a/b/c", 9));
    assert_int_equal(sl_names_lookup(reader, &name, 1, &answer), SL_OK);
    assert_int_equal(answer.action, SL_NAMES_CATEGORY);
    sl_packet_names_hit(names, answer.rule | (uint64_t)answer.prefix_len << 32, &found);
    assert_memory_equal(&found, &answer, sizeof found);
    assert_string_equal(sl_names_list(names, found.list, NULL), "urls");
    assert_int_equal(found.line, 1);
    sl_names_reader_close(reader);
    sl_names_free(names);
}

static void test_what_is_refused(void **state)
{
    const struct sl_limits limits = {.max_items = 1, .max_bytes = 4096, .max_hits = 16};
    struct sl_hit hit[16];
    struct sl_hits hits = {hit, 16, 0, false};
    struct sl_packet_names_watch *watch;
    struct sl_names *names;
    struct sl_batch *batch;
    struct sl_diag diag;
    uint64_t other[8] = {0};
    void *context;

    (void)state;
    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_packet_names_watch_create(&watch, names, &diag), SL_EINVAL);
    assert_null(watch);
    assert_int_equal(
        sl_engine_open(&context, sl_packet_names_engine(), tested, other, &limits, &diag),
        SL_EINVAL);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    assert_int_equal(sl_packet_names_watch_create(&watch, names, &diag), SL_OK);
    assert_int_equal(tested->open(&context, watch, &limits, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&batch, 4096, 4, NULL), SL_OK);
    sl_batch_add(batch, "x", 1, 0);
    struct sl_batch view = *batch;
    view.packet = NULL;
    assert_int_equal(tested->submit(context, &view, &hits), SL_EINVAL);
    sl_batch_add(batch, "y", 1, 0); /* one more than the limit, and in memory that no GPU has */
    assert_int_equal(tested->submit(context, batch, &hits), SL_EINVAL);
    sl_batch_free(batch);
    tested->close(context);
    tested->close(NULL);
    if (tested->device == SL_DEVICE_CUDA) { /* the CPU has some of the hits */
        struct sl_limits staying = limits;

        staying.device_hits = hit;
        assert_int_equal(tested->open(&context, watch, &staying, &diag), SL_EUNSUPPORTED);
    }
    sl_packet_names_watch_free(watch);
    sl_packet_names_watch_free(NULL);
    sl_names_free(names);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_are_what_lookups_give),
        cmocka_unit_test(test_bounds_of_threads),
        cmocka_unit_test(test_batches_without_origin),
        cmocka_unit_test(test_updates_between_batches),
        cmocka_unit_test(test_updates_beside_batches),
        cmocka_unit_test(test_sample_captures),
        cmocka_unit_test(test_shared_captures),
        cmocka_unit_test(test_hits_lead_to_their_rules),
        cmocka_unit_test(test_what_is_refused),
    };
    char why[SL_WHY_LEN];

    for (size_t i = 0; argc == 3 && sl_packet_names_engine()->backends[i] != NULL; i++)
        if (strcmp(sl_packet_names_engine()->backends[i]->name, argv[1]) == 0)
            tested = sl_packet_names_engine()->backends[i];
    if (tested == NULL) {
        fprintf(stderr, "usage: test_names_engine BACKEND FOLDER\n");
        return 2;
    }
    if (!tested->usable(why)) {
        printf("%s: %s\n", argv[1], why);
        return 77;
    }
    samples = argv[2];
    test_threaded("test_updates_beside_batches");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
