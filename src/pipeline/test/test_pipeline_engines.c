/* SPDX-License-Identifier: MIT */
/* All engines in one pipeline find what each finds alone on one thread of a CPU: on captures,
 * whatever the batches' sizes and number, on simulated GPUs that end out of order and that fail.
 *
 * usage: test_pipeline_engines FOLDER: of captures, on which everything is tried; on those of
 * $SLUICE_TEST_DATA/pcap each in one of the ways, in turn. */
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdatomic.h>
#include <unistd.h>

#include "device/test/simulated.h"
#include "sluice/capture.h"
#include "sluice/clamav.h"
#include "sluice/dissect.h"
#include "sluice/header.h"
#include "sluice/mpm.h"
#include "sluice/packet_names.h"
#include "sluice/pipeline.h"
#include "sluice/sampling.h"

/* Of the samples, and of shared captures: each is slow under a sanitizer. */
#if defined(__SANITIZE_THREAD__)
enum { STRIDE = 6, SHARED_STRIDE = 36 };
#elif defined(__SANITIZE_ADDRESS__)
enum { STRIDE = 6, SHARED_STRIDE = 12 };
#else
enum { STRIDE = 1, SHARED_STRIDE = 4 };
#endif

static const char *folder_of_all;

/* ---- engines --------------------------------------------------------------------------------- */

enum { N_ENGINES = 7, N_CUT = 500, N_VIRUSES = 1000, VIRUS_MAX = 24 };

static struct {
    const struct sl_engine *engine;
    const void *table;
} engines[N_ENGINES];

static struct sl_header_table *header;
static struct sl_mpm_table *matchers[2];
static struct sl_sampling_table *samplers[2];
static struct sl_names *names;
static struct sl_packet_names_watch *watch;
static struct sl_clamav_db *viruses;

static const char *const common[] = {
    "GET", "POST", "HTTP/1", "Host:", "www.", ".com", "SSH-", "USER",        "SIP/2.0", "\r\n\r\n",
    "MZ",  "PK",   "text/",  "login", "0000", "aaaa", "http", "\xFF\xFFSMB", "admin",   "Content",
    "tcp", "the ", "server", "name",  "get",  "data", "key=", "value",       "dns",     "mail"};

enum { N_WORDS = sizeof common / sizeof *common };

/* Text cut out of a sample capture, but no runs of one character, which match at every byte of
 * longer ones. Returns what it lies in, to be freed. */
static uint8_t *cut_literals(struct sl_literal *literals, size_t n)
{
    char path[4096];
    uint8_t *const bytes = malloc(1 << 20);
    uint64_t seed = 5;

    assert_non_null(bytes);
    snprintf(path, sizeof path, "%s/sample.pcap", folder_of_all);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    const size_t len = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    assert_true(len > 1000);
    for (size_t i = 0; i < n;) {
        const uint32_t literal_len = 4 + test_below(&seed, 12);
        const uint8_t *at = bytes + test_below(&seed, (uint32_t)len - literal_len);
        uint32_t n_text = 0;

        while (n_text < literal_len && isgraph(at[n_text]))
            n_text++;
        if (n_text == literal_len && at[0] != at[1]) {
            literals[i] = (struct sl_literal){at, literal_len, i % 3 == 0 ? SL_LITERAL_NOCASE : 0};
            i++;
        }
    }
    return bytes;
}

static void build_matcher(int at, const char *algorithm)
{
    struct sl_literal literals[N_WORDS + 1 + N_CUT];
    struct sl_mpm_config config;
    struct sl_diag diag = {0};
    size_t n = 0;

    for (; n < N_WORDS; n++)
        literals[n] = (struct sl_literal){(const uint8_t *)common[n], (uint32_t)strlen(common[n]),
                                          n % 3 == 0 ? SL_LITERAL_NOCASE : 0};
    literals[n++] = (struct sl_literal){(const uint8_t *)"\0\0\0\1", 4, 0};
    uint8_t *const bytes = cut_literals(literals + n, N_CUT);
    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = SL_DEVICE_CUDA; /* a table that CPUs use as well */
    if (sl_mpm_build(&matchers[at], &config, literals, n + N_CUT, &diag) != SL_OK)
        fail_msg("%s: %s", algorithm, diag.text);
    free(bytes);
}

/* The anchors of signatures: of words that captures hold, and of bytes that they do not. */
static void build_viruses(void)
{
    struct sl_clamav_set *set;
    struct sl_clamav_count count;
    struct sl_diag diag = {0};
    uint64_t seed = 7;
    char *text;
    size_t len;
    FILE *lines = open_memstream(&text, &len);

    assert_non_null(lines);
    for (uint32_t v = 0; v < N_VIRUSES; v++) {
        const bool is_word = v < N_WORDS;
        const size_t n = is_word ? strlen(common[v]) : 8 + test_below(&seed, VIRUS_MAX - 8);

        fprintf(lines, "Test.%u:0:*:", v);
        for (size_t i = 0; i < n; i++)
            fprintf(lines, "%02x", is_word ? (uint8_t)common[v][i] : test_below(&seed, 256));
        fputc('\n', lines);
    }
    assert_int_equal(fclose(lines), 0);
    assert_int_equal(sl_clamav_set_create(&set, NULL), SL_OK);
    assert_int_equal(sl_clamav_set_read_text(set, "test.ndb", text, len, NULL), SL_OK);
    sl_clamav_set_count(set, &count);
    assert_int_equal(count.signatures, N_VIRUSES);
    if (sl_clamav_compile(&viruses, set, SL_DEVICE_CUDA, &diag) != SL_OK)
        fail_msg("viruses: %s", diag.text);
    sl_clamav_set_free(set);
    free(text);
}

static void build_sampler(int at, const char *sampler, uint32_t period)
{
    struct sl_sampling_config config;
    struct sl_diag diag = {0};

    sl_sampling_config_init(&config);
    config.sampler = sampler;
    config.period = period;
    if (sl_sampling_build(&samplers[at], &config, &diag) != SL_OK)
        fail_msg("%s: %s", sampler, diag.text);
}

static void build_names(void)
{
    static const char routes[] = "/\t1\n/com\t2\n/net\t3\n";

    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_load_text(names, "r", "prefix", routes, sizeof routes - 1, NULL),
                     SL_OK);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    assert_int_equal(sl_packet_names_watch_create(&watch, names, NULL), SL_OK);
}

static int build_engines(void **state)
{
    struct sl_header_config config;
    struct sl_diag diag = {0};

    (void)state;
    sl_header_config_init(&config);
    if (sl_header_build(&header, &config, &diag) != SL_OK)
        fail_msg("header: %s", diag.text);
    build_matcher(0, "gram");
    build_matcher(1, "ac");
    build_sampler(0, "rabin", 8); /* many hits, so that room is made as well */
    build_sampler(1, "maxp", 32);
    build_names();
    engines[0].engine = sl_header_engine();
    engines[0].table = header;
    for (int i = 0; i < 2; i++) {
        engines[1 + i].engine = sl_mpm_engine(matchers[i]);
        engines[1 + i].table = matchers[i];
        engines[3 + i].engine = sl_sampling_engine(samplers[i]);
        engines[3 + i].table = samplers[i];
    }
    engines[5].engine = sl_packet_names_engine();
    engines[5].table = watch;
    build_viruses();
    sl_clamav_engine(viruses, &engines[6].engine, &engines[6].table);
    return 0;
}

static int free_engines(void **state)
{
    (void)state;
    sl_header_free(header);
    sl_packet_names_watch_free(watch);
    sl_names_free(names);
    sl_clamav_free(viruses);
    for (int i = 0; i < 2; i++) {
        sl_mpm_free(matchers[i]);
        sl_sampling_free(samplers[i]);
    }
    return 0;
}

/* ---- findings -------------------------------------------------------------------------------- */

/* All hits of a capture in their order, by packet: two findings with one hash are one. */
struct findings {
    uint64_t n_packets;
    uint64_t n[N_ENGINES];
    uint64_t hash[N_ENGINES];
};

static void note_hits(struct findings *findings, int e, const struct sl_batch *batch,
                      const struct sl_hits *hits)
{
    uint64_t hash = findings->hash[e];

    for (size_t h = 0; h < hits->n; h++) {
        const struct sl_hit hit = hits->hit[h];
        const uint64_t words[3] = {batch->origin[hit.item].position, hit.offset, hit.id};

        for (int w = 0; w < 3; w++) {
            hash = (hash ^ words[w]) * UINT64_C(0x9E3779B97F4A7C15);
            hash ^= hash >> 29;
        }
    }
    findings->hash[e] = hash;
    findings->n[e] += hits->n;
}

static void dissect(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};

    sl_dissect(batch, &stats);
}

/* ---- each engine alone ----------------------------------------------------------------------- */

enum { ALONE_LEN = 1 << 20, ALONE_HITS = 4 << 20 };

static void run_alone(int e, void *context, const struct sl_backend *backend,
                      struct sl_batch *batch, struct sl_hits *hits, struct findings *findings)
{
    assert_int_equal(backend->submit(context, batch, hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    sl_hits_sort(hits);
    note_hits(findings, e, batch, hits);
}

/* False: it is no capture. */
static bool find_alone(const char *path, struct findings *findings)
{
    static struct sl_hits hits;
    const struct sl_limits limits = {
        .max_items = 65536, .max_bytes = ALONE_LEN + SL_BATCH_ALIGN, .max_hits = ALONE_HITS};
    const struct sl_backend *backends[N_ENGINES];
    void *contexts[N_ENGINES];
    struct sl_capture *capture;
    struct sl_batch *batch;
    enum sl_status status;

    memset(findings, 0, sizeof *findings);
    if (sl_capture_open_file(&capture, path, 0, NULL) != SL_OK)
        return false;
    if (hits.hit == NULL) {
        hits.cap = ALONE_HITS;
        hits.hit = malloc(hits.cap * sizeof *hits.hit);
    }
    assert_int_equal(sl_batch_create(&batch, ALONE_LEN, 65536, NULL), SL_OK);
    for (int e = 0; e < N_ENGINES; e++) {
        backends[e] = sl_engine_choose(engines[e].engine, SL_DEVICE_CPU, NULL);
        assert_int_equal(backends[e]->open(&contexts[e], engines[e].table, &limits, NULL), SL_OK);
    }
    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, NULL);
        dissect(batch);
        findings->n_packets += batch->n_items;
        for (int e = 0; e < N_ENGINES; e++)
            run_alone(e, contexts[e], backends[e], batch, &hits, findings);
    } while (status == SL_OK);
    for (int e = 0; e < N_ENGINES; e++)
        backends[e]->close(contexts[e]);
    sl_batch_free(batch);
    sl_capture_close(capture);
    return true;
}

/* ---- all in one pipeline --------------------------------------------------------------------- */

struct way {
    uint32_t batch_len, batch_items;
    uint32_t n_batches, n_workers, n_devices;
    int fails; /* GPU 0 at this step, ... */
    uint32_t nth;
};

struct run {
    struct sl_capture *capture;
    struct findings findings;
    _Atomic uint64_t
        newest; /* the first packet of the newest batch that the engines are done with, */
    atomic_uint n_overtaken; /* and batches that were done after a newer one */
};

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = user;

    return sl_capture_read(run->capture, batch, diag) == SL_OK ? SL_OK : SL_END;
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)diag;
    dissect(batch);
    return SL_OK;
}

/* Batches end in any order: some take a while here, whatever they ran on. */
static enum sl_status digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct run *run = user;
    const uint64_t first = batch->n_items > 0 ? batch->origin[0].position : 0;
    uint64_t newest = atomic_load(&run->newest);

    (void)hits;
    (void)diag;
    if (first % 5 == 1)
        (void)usleep(20);
    while (first > newest && !atomic_compare_exchange_weak(&run->newest, &newest, first))
        ;
    if (first < newest)
        atomic_fetch_add(&run->n_overtaken, 1);
    return SL_OK;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct run *run = user;

    (void)diag;
    run->findings.n_packets += batch->n_items;
    for (int e = 0; e < N_ENGINES; e++)
        note_hits(&run->findings, e, batch, &hits[e]);
    return SL_OK;
}

static void configure(struct sl_pipeline_config *config, const struct way *way)
{
    sl_pipeline_config_init(config);
    config->batch_len = way->batch_len;
    config->batch_items = way->batch_items;
    config->n_batches = way->n_batches;
    config->n_workers = way->n_workers;
    config->max_wait_ms = 20;
    config->fill = fill;
    config->prepare = prepare;
    config->digest = digest;
    config->drain = drain;
    for (uint32_t d = 0; d < way->n_devices; d++) {
        config->devices[d].kind = SL_DEVICE_CUDA;
        config->devices[d].index = (int)d;
        config->n_devices = d + 1;
    }
    for (int e = 0; e < N_ENGINES; e++) {
        config->engines[e].engine = engines[e].engine;
        config->engines[e].table = engines[e].table;
    }
    config->n_engines = N_ENGINES;
}

/* Returns how many batches were done after a newer one. */
static unsigned check_way(const char *path, const struct findings *alone, const struct way *way)
{
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    struct run run = {0};

    simulated_reset(way->n_devices, way->batch_items > 1 ? 50 : 0);
    if (way->n_devices > 0 && way->nth != 0)
        simulated_fail(0, (enum simulated_step)way->fails, way->nth, SL_EDEVICE);
    configure(&config, way);
    config.user = &run;
    assert_int_equal(sl_capture_open_file(&run.capture, path, 0, NULL), SL_OK);
    const enum sl_status status = sl_pipeline_run(&config, &stats, &diag);
    sl_capture_close(run.capture);

    if (status != SL_OK || memcmp(&run.findings, alone, sizeof *alone) != 0)
        fail_msg("%s: batches of %u bytes and %u items, %u at once, %u workers, %u GPUs, step %d "
                 "fails at call %u: %s",
                 path, way->batch_len, way->batch_items, way->n_batches, way->n_workers,
                 way->n_devices, way->fails, way->nth,
                 status != SL_OK ? diag.text : "the hits are others than of each engine alone");
    assert_int_equal(simulated_n_open(), 0);
    return atomic_load(&run.n_overtaken);
}

/* ---- captures -------------------------------------------------------------------------------- */

static const struct {
    uint32_t len, items;
} sizes[] = {{SL_CAPTURE_PACKET_MAX, 1},
             {SL_CAPTURE_PACKET_MAX, 7},
             {SL_CAPTURE_PACKET_MAX, 4096},
             {4u << 20, 16384},
             {64u << 20, 65536}};

enum {
    N_SIZES = sizeof sizes / sizeof *sizes,
    SHARE = 3 /* each capture goes every third way, the next one those beside them */
};

typedef void check_capture(const char *path, uint32_t number);

static void each_capture(const char *folder, check_capture *check)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);

    if (n < 0)
        fail_msg("%s cannot be read", folder);
    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(entries[i]->d_name, "cap") != NULL)
            check(path, (uint32_t)i);
        free(entries[i]);
    }
    free(entries);
}

static const uint32_t flights[] = {1, 3, 16};

static void check_in_every_way(const char *path, uint32_t number)
{
    struct findings alone;

    if (!find_alone(path, &alone))
        return;
    assert_true(alone.n_packets > 0);
    for (uint32_t s = 0; s < N_SIZES; s++)
        for (uint32_t f = 0; f < 3; f++)
            for (uint32_t n_devices = 0; n_devices <= 2; n_devices++) {
                struct way way = {.batch_len = sizes[s].len,
                                  .batch_items = sizes[s].items,
                                  .n_batches = flights[f],
                                  .n_workers = 1 + f,
                                  .n_devices = n_devices};

                if ((sizes[s].len > 4u << 20 && f > 1) || number % STRIDE != 0 ||
                    (s + f + n_devices + number / STRIDE) % SHARE != 0)
                    continue;
                check_way(path, &alone, &way);
                if ((s + f) % 2 != 0)
                    continue;
                for (way.fails = SIMULATED_UPLOAD; n_devices > 0 && way.fails < SIMULATED_STEPS;
                     way.fails++) {
                    way.nth = 1 + (s + f + (uint32_t)way.fails) % 7;
                    check_way(path, &alone, &way);
                }
            }
}

static void test_captures_in_every_way(void **state)
{
    (void)state;
    if (folder_of_all == NULL)
        fail_msg("usage: test_pipeline_engines FOLDER");
    each_capture(folder_of_all, check_in_every_way);
}

/* The ways of shared captures: each goes through the next one, so all are met equally often. */
static const struct {
    uint32_t len, items;
} turn_sizes[] = {{SL_CAPTURE_PACKET_MAX, 1}, {1u << 20, 4096}, {64u << 20, 65536}};

enum { TURN_SIZES = 3, TURN_FLIGHTS = 3, TURN_DEVICES = 4 };

static uint64_t n_checked, n_packets, n_hits[N_ENGINES], n_overtaken;
static uint64_t n_turns[TURN_SIZES][TURN_FLIGHTS][TURN_DEVICES]; /* captures that went each way */

static void check_in_turn(const char *path, uint32_t number)
{
    const uint32_t s = n_checked % TURN_SIZES, f = n_checked / TURN_SIZES % TURN_FLIGHTS;
    const uint32_t d = n_checked / TURN_SIZES / TURN_FLIGHTS % TURN_DEVICES;
    const uint32_t stride = SHARED_STRIDE / test_times();
    uint64_t seed = number + 1;
    struct findings alone;
    struct way way;

    if ((stride != 0 && number % stride != 0) || !find_alone(path, &alone))
        return;
    way = (struct way){.batch_len = turn_sizes[s].len,
                       .batch_items = turn_sizes[s].items,
                       .n_batches = flights[f],
                       .n_workers = 1 + test_below(&seed, 3),
                       .n_devices = d};
    way.fails = SIMULATED_UPLOAD + (int)test_below(&seed, SIMULATED_STEPS - SIMULATED_UPLOAD);
    way.nth = test_below(&seed, 3) == 0 ? 0 : 1 + test_below(&seed, 9);
    n_overtaken += check_way(path, &alone, &way);
    n_turns[s][f][d]++;
    n_checked++;
    n_packets += alone.n_packets;
    for (int e = 0; e < N_ENGINES; e++)
        n_hits[e] += alone.n[e];
}

static void test_shared_captures(void **state)
{
    const char *data = test_data();
    char folder[1024];

    (void)state;
    snprintf(folder, sizeof folder, "%s/pcap", data);
    each_capture(folder, check_in_turn);
    print_message(
        "%llu captures, %llu packets, %llu batches overtaken; hits:", (unsigned long long)n_checked,
        (unsigned long long)n_packets, (unsigned long long)n_overtaken);
    for (int e = 0; e < N_ENGINES; e++) {
        print_message(" %s %llu", engines[e].engine->name, (unsigned long long)n_hits[e]);
        assert_true(n_hits[e] > 0);
    }
    print_message("\n");
    assert_true(n_overtaken > 0);
    for (int s = 0; s < TURN_SIZES; s++)
        for (int f = 0; f < TURN_FLIGHTS; f++)
            for (int d = 0; d < TURN_DEVICES; d++)
                assert_true(n_turns[s][f][d] >=
                            n_checked / (TURN_SIZES * TURN_FLIGHTS * TURN_DEVICES));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_in_every_way),
        cmocka_unit_test(test_shared_captures),
    };

    folder_of_all = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, build_engines, free_engines);
}
