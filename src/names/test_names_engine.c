/* SPDX-License-Identifier: MIT */
/* The engine of names: its hits are what looking up each packet's names gives, whatever the
 * backend, the batch and the room for hits. */
#include "dissect/test_frame.h"
#include "name_fixture.h"
#include "sluice/dissect.h"
#include "test.h"

enum { N_ITEMS = 6000, MAX_HITS = 200000, FRAME_MAX = 60000 };

static const char domains[] = "parc.com\n*.com\nads\n*.www\n.x1\n192.0.2.1\n.local\na.b\n";
static const char filters[] = "||www^\n@@||parc.com^\n||b.a^\n@@||a.b^$important\n||0^\n";
static const char urls[] = "b.c/a/b\tnews\nproxied.test\tgames,news\nparc.com/a\tsearch\n";
static const char routes[] = "/\t1\n/com\t2\n/v=0\t3,4\n";

static struct sl_names *make_table(bool all)
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
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    return names;
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
    struct sl_dissect_stats stats = {.packets = {0}};
    static struct frame f;
    struct sl_batch *batch;

    assert_int_equal(sl_batch_create(&batch, 16 << 20, N_ITEMS, false, NULL), SL_OK);
    for (int i = 0; i < N_ITEMS; i++) {
        make_message(made, &seed);
        if (i % 8 == 0)
            damage_message(made, &seed);
        add_message(batch, &f, made);
    }
    sl_dissect(batch, &stats);
    free(made);
    return batch;
}

/* What the answer to a name is when a person asks for the same name. */
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
                   struct sl_names_watch_count *count)
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
        const uint32_t n = sl_packet_names(batch, item, found, bytes, &misses);

        count->packets += n != 0;
        for (int m = 0; m < SL_N_NAMES_MISSES; m++)
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

static const struct sl_backend *backend(const char *name)
{
    for (size_t i = 0; sl_names_engine.backends[i] != NULL; i++)
        if (strcmp(sl_names_engine.backends[i]->name, name) == 0)
            return sl_names_engine.backends[i];
    fail_msg("no backend %s", name);
    return NULL;
}

static void check_backend(const char *name, const struct sl_batch *batch, struct sl_names *names,
                          const struct sl_hits *expected, const struct sl_names_watch_count *counts)
{
    const struct sl_limits limits = {
        .max_items = N_ITEMS, .max_bytes = 17 << 20, .max_hits = MAX_HITS};
    const struct sl_backend *const run = backend(name);
    struct sl_hits hits = {.hit = malloc(MAX_HITS * sizeof *hits.hit), .cap = expected->n / 2};
    struct sl_names_watch_count count;
    struct sl_names_watch *watch;
    void *context;

    assert_int_equal(sl_names_watch_create(&watch, names, NULL), SL_OK);
    assert_int_equal(run->open(&context, watch, &limits, NULL), SL_OK);
    assert_int_equal(run->submit(context, batch, &hits), SL_OK);
    assert_int_equal(run->wait(context), SL_EOVERFLOW);
    assert_int_equal(hits.n, expected->n);
    sl_names_watch_count(watch, &count);
    assert_int_equal(count.packets, 0); /* it is to be run again */
    hits.cap = MAX_HITS;
    assert_int_equal(run->submit(context, batch, &hits), SL_OK);
    assert_int_equal(run->wait(context), SL_OK);
    sl_hits_sort(&hits);
    assert_int_equal(hits.n, expected->n);
    assert_memory_equal(hits.hit, expected->hit, hits.n * sizeof *hits.hit);
    sl_names_watch_count(watch, &count);
    assert_memory_equal(&count, counts, sizeof count);
    run->close(context);
    sl_names_watch_free(watch);
    free(hits.hit);
}

static void test_hits_are_what_look_ups_give(void **state)
{
    struct sl_hits expected = {.hit = malloc(MAX_HITS * sizeof *expected.hit), .cap = MAX_HITS};
    struct sl_names_watch_count count;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sl_names *names = make_table(seed % 2 == 0);
        struct sl_batch *batch = make_batch(seed);

        expect(batch, names, &expected, &count);
        assert_true(expected.n > 1000);
        check_backend("batched", batch, names, &expected, &count);
        check_backend("scalar", batch, names, &expected, &count);
        sl_batch_free(batch);
        sl_names_free(names);
    }
    free(expected.hit);
}

static void test_hits_tell_their_rules(void **state)
{
    struct sl_names *names = make_table(true);
    struct sl_names_answer answer, told;
    struct sl_names_reader *reader;
    uint8_t bytes[64];
    struct sl_name name;

    (void)state;
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", NULL), SL_OK);
    assert_null(sl_name_read(&name, SL_NAME_URL, bytes, sizeof bytes, "b.c/a/b/c", 9));
    assert_int_equal(sl_names_lookup(reader, &name, 1, &answer), SL_OK);
    assert_int_equal(answer.action, SL_NAMES_CATEGORY);
    sl_names_hit(names, answer.rule | (uint64_t)answer.prefix_len << 32, &told);
    assert_memory_equal(&told, &answer, sizeof told);
    assert_string_equal(sl_names_list(names, told.list, NULL), "urls");
    assert_int_equal(told.line, 1);
    sl_names_reader_close(reader);
    sl_names_free(names);
}

static void test_what_is_refused(void **state)
{
    const struct sl_limits limits = {.max_items = 1, .max_bytes = 4096, .max_hits = 16};
    struct sl_hit hit[16];
    struct sl_hits hits = {hit, 16, 0};
    struct sl_names_watch *watch;
    struct sl_names *names;
    struct sl_batch *batch;
    struct sl_diag diag;
    uint64_t other[8] = {0};
    void *context;

    (void)state;
    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_watch_create(&watch, names, &diag), SL_EINVAL);
    assert_null(watch);
    assert_int_equal(backend("scalar")->open(&context, other, &limits, &diag), SL_EINVAL);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    assert_int_equal(sl_names_watch_create(&watch, names, &diag), SL_OK);
    assert_int_equal(backend("batched")->open(&context, watch, &limits, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&batch, 4096, 4, false, NULL), SL_OK);
    sl_batch_add(batch, "x", 1, 0);
    struct sl_batch view = *batch;
    view.packet = NULL;
    assert_int_equal(backend("batched")->submit(context, &view, &hits), SL_EINVAL);
    sl_batch_add(batch, "y", 1, 0); /* one more than the limit */
    assert_int_equal(backend("batched")->submit(context, batch, &hits), SL_EINVAL);
    sl_batch_free(batch);
    backend("batched")->close(context);
    backend("batched")->close(NULL);
    sl_names_watch_free(watch);
    sl_names_watch_free(NULL);
    sl_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_are_what_look_ups_give),
        cmocka_unit_test(test_hits_tell_their_rules),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
