/* SPDX-License-Identifier: MIT */
/* DYNABYTE's controller: rates on traffic that changes, and states that hang on traffic alone. */
#include "test.h"

#include <dirent.h>
#include <math.h>

#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/sampling.h"

enum {
    MAX_BYTES = 4 << 20, /* of a batch */
    MAX_ITEMS = 1 << 14,
    INTERVAL = 1 << 15, /* eligible bytes */
    ITEM = 1400
};

static const double tolerance = 0.02; /* of the rate, */
static const double noise = 0.35;     /* of one interval's: markers may have changed for it */

static struct sl_hits hits;

/* A controller, the sampler it steers, and the results. */
struct run {
    struct sl_dynabyte_config config;
    struct sl_dynabyte *dynabyte;
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_batch *batch;
    uint64_t eligible; /* of the batch being filled */
    uint64_t now[2];   /* eligible bytes and hits of the interval under way, */
    uint64_t n_intervals;
    double worst;     /* the largest error of an ended one since it was set to 0, */
    uint64_t late[2]; /* and both from the fourth interval on */
};

static struct sl_dynabyte_config default_config(void)
{
    struct sl_dynabyte_config config;

    sl_dynabyte_config_init(&config);
    config.interval = INTERVAL;
    return config;
}

static void open_run(struct run *run, const struct sl_dynabyte_config *config)
{
    const struct sl_limits limits = {
        .max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_BYTES};
    struct sl_sampling_config sampling;

    *run = (struct run){.config = *config};
    sl_sampling_config_init(&sampling);
    sampling.sampler = "dynabyte";
    sampling.window = config->window;
    sampling.period = config->period;
    assert_int_equal(sl_sampling_build(&run->table, &sampling, NULL), SL_OK);
    run->backend = sl_engine_choose(sl_sampling_engine(run->table), SL_DEVICE_CPU, NULL);
    assert_int_equal(run->backend->open(&run->context, run->table, &limits, NULL), SL_OK);
    assert_int_equal(sl_dynabyte_create(&run->dynabyte, config, NULL), SL_OK);
    assert_int_equal(sl_batch_create(&run->batch, MAX_BYTES, MAX_ITEMS, NULL), SL_OK);
}

static void close_run(struct run *run)
{
    run->backend->close(run->context);
    sl_sampling_free(run->table);
    sl_dynabyte_free(run->dynabyte);
    sl_batch_free(run->batch);
}

static uint64_t sample(struct run *run, const struct sl_dynabyte_state *state)
{
    assert_int_equal(sl_dynabyte_use(run->context, state), SL_OK);
    assert_int_equal(run->backend->submit(run->context, run->batch, &hits), SL_OK);
    assert_int_equal(run->backend->wait(run->context), SL_OK);
    return hits.n;
}

static double error_of(uint64_t eligible, uint64_t n_hits, uint32_t period)
{
    return fabs((double)n_hits * period / (double)eligible - 1);
}

static void end_interval(struct run *run)
{
    const double error = error_of(run->now[0], run->now[1], run->config.period);

    if (error > run->worst)
        run->worst = error;
    if (run->n_intervals >= 3) {
        run->late[0] += run->now[0];
        run->late[1] += run->now[1];
    }
    run->now[0] = run->now[1] = 0;
    run->n_intervals++;
}

/* The batch is sampled, and emptied. */
static void send(struct run *run)
{
    struct sl_dynabyte_state state;
    uint64_t ticket;

    assert_int_equal(sl_dynabyte_begin(run->dynabyte, run->batch, &state, &ticket), SL_OK);
    if (ticket / 2 != run->n_intervals)
        end_interval(run);

    const uint64_t n = sample(run, &state);
    sl_dynabyte_end(run->dynabyte, ticket, n);
    run->now[0] += run->eligible;
    run->now[1] += n;
    run->eligible = 0;
    sl_batch_reset(run->batch);
}

/* An item more; batches end where halves of intervals do. */
static void add(struct run *run, const void *bytes, uint32_t len)
{
    if (!sl_batch_fits(run->batch, len) ||
        (run->eligible != 0 && run->eligible >= sl_dynabyte_room(run->dynabyte)))
        send(run);
    sl_batch_add(run->batch, bytes, len, 0);
    if (len >= run->config.window)
        run->eligible += len - run->config.window + 1;
}

/* ---- traffic --------------------------------------------------------------------------------- */

typedef void make_item(uint64_t *random, uint8_t *item);

static void make_random(uint64_t *random, uint8_t *item)
{
    for (uint32_t i = 0; i < ITEM; i++)
        item[i] = (uint8_t)(test_random(random) >> 56);
}

/* Words of letters, the earlier ones of the alphabet more often. */
static void make_text(uint64_t *random, uint8_t *item)
{
    for (uint32_t i = 0; i < ITEM; i++) {
        const uint32_t drawn = test_below(random, 26);

        item[i] =
            test_below(random, 6) == 0 ? ' ' : (uint8_t)('a' + test_below(random, drawn + 1) % 26);
    }
}

/* Runs of zeros between random bytes. */
static void make_binary(uint64_t *random, uint8_t *item)
{
    for (uint32_t i = 0; i < ITEM;) {
        uint32_t len = 1 + test_below(random, 40);
        const bool zeros = test_below(random, 2) == 0;

        for (; len > 0 && i < ITEM; len--, i++)
            item[i] = zeros ? 0 : (uint8_t)(test_random(random) >> 56);
    }
}

static void make_zeros(uint64_t *random, uint8_t *item)
{
    (void)random;
    memset(item, 0, ITEM);
}

/* None of the generic markers. */
static void make_foreign(uint64_t *random, uint8_t *item)
{
    for (uint32_t i = 0; i < ITEM; i++)
        item[i] = (uint8_t)(0x80 + test_below(random, 100));
}

/* Records of numbered fields. Most values lie side by side or at a fixed distance, so their
 * frequency says little of how often they are chosen. */
static void make_records(uint64_t *random, uint8_t *item)
{
    for (uint32_t i = 0; i < ITEM; i++)
        item[i] = (uint8_t)(i % 56 < 32 ? 0x80 + i % 56 / 4 : test_random(random) >> 56);
}

static void feed(struct run *run, make_item *make, uint64_t *random, uint32_t n_intervals)
{
    const uint64_t end = run->n_intervals + n_intervals;
    uint8_t item[ITEM];

    while (run->n_intervals < end) {
        make(random, item);
        add(run, item, ITEM);
    }
}

/* From the fourth interval on all traffic together is within the tolerance, whatever came; and when
 * what a change made too many or too few is made up for, which takes some intervals, so is each
 * kind, and no interval of it is off by far. */
static void test_changing_traffic(void **state)
{
    static make_item *const kinds[] = {make_random, make_text,    make_binary, make_random,
                                       make_zeros,  make_foreign, make_text};
    static const uint32_t periods[] = {12, 16, 32, 48, 64, 128};
    uint64_t random = 1;

    (void)state;
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        struct sl_dynabyte_config config = default_config();
        struct run run;

        config.period = periods[p];
        config.interval = INTERVAL * (uint64_t)periods[p] / 8;
        open_run(&run, &config);
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            feed(&run, kinds[kind], &random, 10);
            run.worst = 0;
            const uint64_t before[] = {run.late[0], run.late[1]};
            feed(&run, kinds[kind], &random, 8);
            const double error =
                error_of(run.late[0] - before[0], run.late[1] - before[1], config.period);
            if (error > tolerance || run.worst > noise)
                fail_msg("period %u, kind %zu: off by %.3f, an interval by %.3f", config.period,
                         kind, error, run.worst);
        }
        assert_true(error_of(run.late[0], run.late[1], config.period) < tolerance);
        close_run(&run);
    }
}

/* Traffic that soon ends: three intervals behind the first three. */
static void test_short_traffic(void **state)
{
    static make_item *const kinds[] = {make_random, make_text,    make_binary,
                                       make_zeros,  make_foreign, make_records};
    uint64_t random = 6;

    (void)state;
    for (size_t before = 0; before < sizeof kinds / sizeof *kinds; before++) {
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            const struct sl_dynabyte_config config = default_config();
            struct run run;

            open_run(&run, &config);
            feed(&run, kinds[before], &random, 3);
            feed(&run, kinds[kind], &random, 3);
            const double error = error_of(run.late[0], run.late[1], config.period);
            if (error > tolerance)
                fail_msg("kind %zu behind %zu: off by %.3f", kind, before, error);
            close_run(&run);
        }
    }
}

/* The paper's fig. 10: the period changes twice while it runs. */
static void test_changing_period(void **state)
{
    static const uint32_t periods[] = {32, 64, 48, 16};
    struct sl_dynabyte_config config = default_config();
    struct run run;
    uint64_t random = 2;

    (void)state;
    config.interval = 1 << 17;
    open_run(&run, &config);
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        assert_int_equal(sl_dynabyte_set_period(run.dynabyte, periods[p]), SL_OK);
        feed(&run, make_text, &random, 3);
        run.config.period = periods[p];
        feed(&run, make_text, &random, 1);
        run.worst = 0;
        run.late[0] = run.late[1] = 0;
        feed(&run, make_text, &random, 6);
        assert_true(error_of(run.late[0], run.late[1], periods[p]) < tolerance);
        assert_true(run.worst < noise);
    }
    assert_int_equal(sl_dynabyte_set_period(run.dynabyte, 0), SL_EINVAL);
    assert_int_equal(sl_dynabyte_set_period(run.dynabyte, SL_SAMPLING_PERIOD_MAX + 1), SL_EINVAL);
    close_run(&run);
}

/* Where under-sampling is not corrected, random bytes are under-sampled by eight markers at half a
 * period, and over-sampling is corrected all the same. */
static void test_without_raise(void **state)
{
    struct sl_dynabyte_config config = default_config();
    struct sl_dynabyte_info info;
    struct run run;
    uint64_t random = 3;

    (void)state;
    config.raise = false;
    config.interval = 1 << 17;
    open_run(&run, &config);
    feed(&run, make_random, &random, 10);
    sl_dynabyte_info(run.dynabyte, &info);
    assert_int_equal(info.n_markers, 8);
    assert_int_equal(info.skip, 256 * config.period / 2);
    assert_true((double)run.late[1] * config.period / (double)run.late[0] < 0.75);
    feed(&run, make_zeros, &random, 3);
    run.worst = 0;
    feed(&run, make_zeros, &random, 5);
    assert_true(run.worst < tolerance);
    close_run(&run);
}

/* ---- what states hang on --------------------------------------------------------------------- */

enum { N_ITEMS = 3000, MAX_FLIGHT = 4 };

static uint8_t traffic[N_ITEMS][ITEM];

static void make_traffic(void)
{
    static make_item *const kinds[] = {make_text, make_binary, make_random};
    uint64_t random = 4;

    for (uint32_t i = 0; i < N_ITEMS; i++)
        kinds[i / 500 % 3](&random, traffic[i]);
}

struct flight {
    uint64_t ticket;
    uint64_t n_hits;
};

/* Lets one of some batches in flight end: any, and often the latest. */
static void land(struct run *run, struct flight *flights, uint32_t *n, uint64_t *random)
{
    const uint32_t i = test_below(random, 2) == 0 ? *n - 1 : test_below(random, *n);

    sl_dynabyte_end(run->dynabyte, flights[i].ticket, flights[i].n_hits);
    flights[i] = flights[--*n];
}

/* The state of each item, with batches of at most so many items, as many in flight as wanted and
 * possible. Returns how often it was not possible. */
static uint32_t collect_states(struct sl_dynabyte_state *states, uint32_t batch_items,
                               uint32_t in_flight)
{
    const struct sl_dynabyte_config config = default_config();
    struct flight flights[MAX_FLIGHT] = {{0}};
    uint32_t n_flights = 0, n_refused = 0;
    uint64_t random = 5;
    struct run run;

    open_run(&run, &config);
    for (uint32_t i = 0; i < N_ITEMS;) {
        const uint32_t begin = i;
        struct sl_dynabyte_state state;
        struct flight flight;

        sl_batch_reset(run.batch);
        for (uint64_t eligible = 0;
             i < N_ITEMS && i - begin < batch_items && eligible < sl_dynabyte_room(run.dynabyte);
             eligible += ITEM - config.window + 1)
            sl_batch_add(run.batch, traffic[i++], ITEM, 0);
        while (sl_dynabyte_begin(run.dynabyte, run.batch, &state, &flight.ticket) != SL_OK) {
            assert_true(n_flights > 0);
            land(&run, flights, &n_flights, &random);
            n_refused++;
        }
        for (uint32_t k = begin; k < i; k++)
            states[k] = state;
        flight.n_hits = sample(&run, &state);
        flights[n_flights++] = flight;
        if (n_flights == in_flight)
            land(&run, flights, &n_flights, &random);
    }
    close_run(&run);
    return n_refused;
}

static void test_states_hang_on_traffic_alone(void **state)
{
    static struct sl_dynabyte_state alone[N_ITEMS], states[N_ITEMS];
    uint32_t n_changes = 0, n_refused = 0;

    (void)state;
    make_traffic();
    collect_states(alone, N_ITEMS, 1);
    for (uint32_t i = 1; i < N_ITEMS; i++)
        n_changes += memcmp(&alone[i], &alone[i - 1], sizeof *alone) != 0;
    assert_true(n_changes > 50);
    for (uint32_t in_flight = 1; in_flight <= MAX_FLIGHT; in_flight++) {
        for (uint32_t batch_items = 1; batch_items < 40; batch_items = batch_items * 3 + 1) {
            n_refused += collect_states(states, batch_items, in_flight);
            for (uint32_t i = 0; i < N_ITEMS; i++)
                assert_memory_equal(&states[i], &alone[i], sizeof states[i]);
        }
    }
    assert_true(n_refused > 0);
}

/* Positions before the piece's own are not eligible, and items without a window neither. */
static void test_eligible_bytes(void **state)
{
    const struct sl_dynabyte_config config = default_config();
    struct sl_dynabyte_info info;
    struct sl_dynabyte_state next;
    struct run run;
    uint64_t ticket;

    (void)state;
    open_run(&run, &config);
    sl_batch_add(run.batch, traffic, 100, 0);
    sl_batch_add(run.batch, traffic, 31, 0);
    sl_batch_add(run.batch, traffic, 32, 0);
    sl_batch_add(run.batch, traffic, 100, 31);
    sl_batch_add(run.batch, traffic, 100, 40);
    sl_batch_add(run.batch, traffic, 100, 100);
    sl_batch_add(run.batch, traffic, 0, 0);
    assert_int_equal(sl_dynabyte_begin(run.dynabyte, run.batch, &next, &ticket), SL_OK);
    sl_dynabyte_end(run.dynabyte, ticket, 5);
    sl_dynabyte_info(run.dynabyte, &info);
    assert_int_equal(info.eligible, 69 + 0 + 1 + 69 + 60 + 0 + 0);
    assert_int_equal(info.n_hits, 5);
    assert_int_equal(info.n_intervals, 0);
    assert_int_equal(sl_dynabyte_room(run.dynabyte), INTERVAL / 2 - info.eligible);

    run.batch->memory = SL_MEMORY_DEVICE;
    assert_int_equal(sl_dynabyte_begin(run.dynabyte, run.batch, &next, &ticket), SL_EINVAL);
    run.batch->memory = SL_MEMORY_HOST;
    close_run(&run);
}

static void assert_refused(const struct sl_dynabyte_config *config, const char *text)
{
    struct sl_dynabyte *dynabyte = NULL;
    struct sl_diag diag;

    assert_int_equal(sl_dynabyte_create(&dynabyte, config, &diag), SL_EINVAL);
    assert_null(dynabyte);
    assert_non_null(strstr(diag.text, text));
}

static void test_bad_configurations_are_refused(void **state)
{
    struct sl_dynabyte_config config = default_config();

    (void)state;
    config.window = SL_SAMPLING_WINDOW_MIN - 1;
    assert_refused(&config, "11 bytes");
    config = default_config();
    config.period = 0;
    assert_refused(&config, "0 bytes");
    config = default_config();
    config.interval = 16 * config.period - 1;
    assert_refused(&config, "511 bytes");
    config = default_config();
    memset(config.marker, 0, sizeof config.marker);
    assert_refused(&config, "no marker");
    sl_dynabyte_free(NULL);
}

/* ---- real captures --------------------------------------------------------------------------- */

/* The payloads of a capture; false where it cannot be opened. */
static bool feed_capture(struct run *run, const char *path, struct sl_batch *packets)
{
    static struct sl_dissect_stats stats;
    struct sl_capture *capture;
    enum sl_status status;

    if (sl_capture_open_file(&capture, path, 0, NULL) != SL_OK)
        return false;
    do {
        sl_batch_reset(packets);
        status = sl_capture_read(capture, packets, NULL);
        sl_dissect(packets, &stats);
        for (uint32_t item = 0; item < packets->n_items; item++)
            add(run, packets->bytes + packets->payload[item].offset, packets->payload[item].len);
    } while (status == SL_OK);
    sl_capture_close(capture);
    return true;
}

/* Every capture of 20 intervals and more, and nine of ten of the shorter ones. In four intervals
 * the traffic can change more often than the state. */
static void test_captures(void **state)
{
    const char *data = test_data();
    const struct sl_dynabyte_config config = default_config();
    struct sl_batch *packets;
    struct dirent *entry;
    char folder[1024];
    uint32_t n_long = 0, n_long_off = 0, n_short = 0, n_short_off = 0;

    (void)state;
    snprintf(folder, sizeof folder, "%s/pcap", data);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    assert_int_equal(sl_batch_create(&packets, MAX_BYTES, MAX_ITEMS, NULL), SL_OK);
    while ((entry = readdir(dir)) != NULL) {
        char path[2048];
        struct run run;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        open_run(&run, &config);
        if (entry->d_name[0] != '.' && feed_capture(&run, path, packets) && run.n_intervals > 3) {
            const double error = error_of(run.late[0], run.late[1], config.period);
            const bool is_off = error > tolerance, is_long = run.n_intervals >= 20;

            printf("%4u intervals, off by %5.2f %%  %s\n", (unsigned)run.n_intervals, 100 * error,
                   entry->d_name);
            n_long += is_long;
            n_long_off += is_long && is_off;
            n_short += !is_long;
            n_short_off += !is_long && is_off;
        }
        close_run(&run);
    }
    closedir(dir);
    sl_batch_free(packets);
    printf("%u captures of 20 intervals and more, %u off; %u of fewer, %u off\n", n_long,
           n_long_off, n_short, n_short_off);
    assert_true(n_long > 0);
    assert_int_equal(n_long_off, 0);
    assert_true(n_short_off * 10 <= n_short);
}

/* A context of another sampler has no state. */
static void test_other_contexts_are_refused(void **state)
{
    const struct sl_limits limits = {.max_items = 1, .max_bytes = 64, .max_hits = 1};
    struct sl_dynabyte_state marks = {.skip = 1};
    struct sl_sampling_config config;

    (void)state;
    sl_sampling_config_init(&config);
    for (const char *const *name = sl_samplers(); *name != NULL; name++) {
        struct sl_sampling_table *table;
        void *context;

        config.sampler = *name;
        assert_int_equal(sl_sampling_build(&table, &config, NULL), SL_OK);
        const struct sl_backend *backend =
            sl_engine_choose(sl_sampling_engine(table), SL_DEVICE_CPU, NULL);
        assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
        assert_int_equal(sl_dynabyte_use(context, &marks),
                         strcmp(*name, "dynabyte") == 0 ? SL_OK : SL_EINVAL);
        backend->close(context);
        sl_sampling_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changing_traffic),
        cmocka_unit_test(test_short_traffic),
        cmocka_unit_test(test_changing_period),
        cmocka_unit_test(test_without_raise),
        cmocka_unit_test(test_states_hang_on_traffic_alone),
        cmocka_unit_test(test_eligible_bytes),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_other_contexts_are_refused),
        cmocka_unit_test(test_captures),
    };

    hits.cap = MAX_BYTES;
    hits.hit = (struct sl_hit *)malloc(hits.cap * sizeof *hits.hit);
    if (hits.hit == NULL)
        return 1;

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(hits.hit);
    return failed;
}
