/* SPDX-License-Identifier: MIT */
/* Tables of names that change under look-ups, are saved and damaged, and hold real names. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "device/device.h"
#include "fib_planes.h"
#include "names/fib/fib_internal.h"

enum { ITEMS = 512, ARENA = 64 << 10, LOOKERS = 2 };

static const uint8_t key[SL_FIB_KEY_LEN] = "0123456789abcde";

/* ---- names ----------------------------------------------------------------------------------- */

/* Name i of a set in which some are prefixes of others: /s/<i>, and under every fourth /s/<i>/x/y.
 */
static uint32_t make_name(uint8_t name[64], uint32_t i)
{
    char text[16];
    size_t len = 0;
    bool good = sl_name_append(name, 64, &len, 8, "s", 1);

    snprintf(text, sizeof text, "%u", i % 4 == 3 ? i - 1 : i);
    good &= sl_name_append(name, 64, &len, 8, text, strlen(text));
    if (i % 4 == 3)
        good &=
            sl_name_append(name, 64, &len, 8, "x", 1) && sl_name_append(name, 64, &len, 8, "y", 1);
    assert_true(good);
    return (uint32_t)len;
}

/* ---- look-ups and updates at once ------------------------------------------------------------ */

/* Even names stay with their own number as next hop. Odd ones come, change and go. A look-up of an
 * odd one gets 1000 + i, 2000 + i, or the answer above it: nothing, or for every fourth i - 1. */
struct stage_of {
    struct sl_fib *fib;
    atomic_bool stop;
    atomic_uint n_wrong;
};

static bool is_right(uint32_t i, uint32_t next_hop)
{
    if (i % 2 == 0)
        return next_hop == i;
    return next_hop == 1000 + i || next_hop == 2000 + i ||
           next_hop == (i % 4 == 3 ? i - 1 : SL_FIB_NONE);
}

static void lookup_with(struct stage_of *all, const struct sl_fib_backend *backend,
                        struct sl_batch *batch)
{
    const struct sl_limits limits = {.max_items = ITEMS, .max_bytes = ARENA};
    uint32_t next_hop[ITEMS], len[ITEMS];
    const struct sl_fib_answers answers = {next_hop, len, ITEMS, SL_MEMORY_HOST};
    void *context;

    if (backend->open(&context, sl_fib_table(all->fib), &limits, NULL) != SL_OK) {
        atomic_fetch_add(&all->n_wrong, 1);
        return;
    }
    for (int round = 0; round < 20; round++) {
        if (backend->submit(context, batch, &answers) != SL_OK || backend->wait(context) != SL_OK)
            atomic_fetch_add(&all->n_wrong, 1);
        for (uint32_t i = 0; i < ITEMS; i++)
            if (!is_right(i, next_hop[i]))
                atomic_fetch_add(&all->n_wrong, 1);
    }
    backend->close(context);
}

static bool is_tested(const struct sl_fib_backend *backend)
{
    char why[SL_WHY_LEN];

    if (backend->device != SL_DEVICE_CPU || strstr(backend->name, "interwoven") != NULL)
        return false;
    return backend->usable(why);
}

static void *lookup_thread(void *user)
{
    struct stage_of *all = user;
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(all->fib));
    struct sl_batch *batch;
    uint8_t name[64];

    if (sl_batch_create(&batch, ARENA, ITEMS, NULL) != SL_OK) {
        atomic_fetch_add(&all->n_wrong, 1);
        return NULL;
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        sl_batch_add(batch, name, make_name(name, i), 0);
    while (!atomic_load(&all->stop))
        for (size_t b = 0; engine->backends[b] != NULL; b++)
            if (is_tested(engine->backends[b]))
                lookup_with(all, engine->backends[b], batch);
    sl_batch_free(batch);
    return NULL;
}

static void update(struct stage_of *all, enum sl_fib_verb verb, uint32_t add)
{
    static uint8_t names[ITEMS][64];
    struct sl_fib_update updates[ITEMS / 2];
    size_t n;

    for (uint32_t i = 0; i < ITEMS / 2; i++)
        updates[i] = (struct sl_fib_update){
            .entry = {names[i], make_name(names[i], 2 * i + 1), add + 2 * i + 1}, .verb = verb};
    assert_int_equal(sl_fib_apply(all->fib, updates, ITEMS / 2, &n, NULL), SL_OK);
    for (uint32_t i = 0; i < ITEMS / 2; i++)
        assert_int_equal(updates[i].outcome, SL_FIB_DONE);
}

/* Names that only fill, so that arrays grow and move. */
static void fill(struct stage_of *all, uint32_t round, enum sl_fib_verb verb)
{
    struct sl_fib_update updates[64];
    uint8_t names[64][64];
    size_t n;

    for (uint32_t i = 0; i < 64; i++)
        updates[i] = (struct sl_fib_update){
            .entry = {names[i], make_name(names[i], 1000 + 256 * round + 4 * i), i}, .verb = verb};
    assert_int_equal(sl_fib_apply(all->fib, updates, 64, &n, NULL), SL_OK);
}

static void change_under_lookups(const char *plane, bool aggregate)
{
    struct sl_fib_config config = {.plane = plane, .aggregate = aggregate, .key = key};
    struct stage_of all = {0};
    uint8_t names[ITEMS / 2][64];
    struct sl_fib_entry entries[ITEMS / 2];
    pthread_t threads[LOOKERS];

    for (uint32_t i = 0; i < ITEMS / 2; i++)
        entries[i] = (struct sl_fib_entry){names[i], make_name(names[i], 2 * i), 2 * i};
    assert_int_equal(sl_fib_build(&all.fib, &config, entries, ITEMS / 2, NULL), SL_OK);
    for (int t = 0; t < LOOKERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, lookup_thread, &all), 0);
    for (uint32_t round = 0; round < test_fewer(40, 18); round++) {
        update(&all, SL_FIB_INSERT, 1000);
        fill(&all, round, SL_FIB_INSERT);
        update(&all, SL_FIB_CHANGE, 2000);
        if (round % 16 == 15)
            assert_int_equal(sl_fib_rebuild(all.fib, NULL), SL_OK);
        if (round >= 8)
            fill(&all, round - 8, SL_FIB_DELETE);
        update(&all, SL_FIB_DELETE, 0);
    }
    atomic_store(&all.stop, true);
    for (int t = 0; t < LOOKERS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(atomic_load(&all.n_wrong), 0);
    sl_fib_free(all.fib);
}

static void updates_under_lookups(void **state)
{
    (void)state;
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++) {
        change_under_lookups(sl_fib_planes()[p], false);
        change_under_lookups(sl_fib_planes()[p], true);
    }
}

/* ---- swaps ----------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SWAPPED = 8000 };
#else
enum { SWAPPED = 300000 }; /* names: much more than the rest of the process */
#define MEMORY_IS_THE_TABLE
#endif

static struct sl_fib *large_table(const char *plane)
{
    struct sl_fib_config config = {.plane = plane, .key = key};
    uint8_t(*names)[64] = malloc(SWAPPED * sizeof *names);
    struct sl_fib_entry *entries = malloc(SWAPPED * sizeof *entries);
    struct sl_fib *fib;

    assert_non_null(names);
    assert_non_null(entries);
    for (uint32_t i = 0; i < SWAPPED; i++)
        entries[i] = (struct sl_fib_entry){names[i], make_name(names[i], i), i + i % 2 * 1000};
    assert_int_equal(sl_fib_build(&fib, &config, entries, SWAPPED, NULL), SL_OK);
    free(entries);
    free(names);
    return fib;
}

/* A new plane takes the place of another while look-ups go on. None fails or is wrong; there is
 * never more than twice the table, and the old plane goes when no look-up reads it any more. */
static void swap_under_lookups(const char *plane)
{
    struct stage_of all = {.fib = large_table(plane)};
    pthread_t threads[LOOKERS];
    struct sl_fib_info info;

    sl_fib_info(all.fib, &info);
    for (int t = 0; t < LOOKERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, lookup_thread, &all), 0);
    const size_t before = test_memory_of("VmRSS:");
    test_forget_peak();
    assert_int_equal(sl_fib_rebuild(all.fib, NULL), SL_OK);
    const size_t peak = test_memory_of("VmHWM:");
    for (int round = 0; round < 3; round++)
        assert_int_equal(sl_fib_rebuild(all.fib, NULL), SL_OK);
    atomic_store(&all.stop, true);
    for (int t = 0; t < LOOKERS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(atomic_load(&all.n_wrong), 0);
    assert_int_equal(sl_fib_rebuild(all.fib, NULL), SL_OK);
    assert_int_equal(all.fib->old.n, 0);
#ifdef MEMORY_IS_THE_TABLE
    const size_t table_len = info.plane_len + info.control_len;

    assert_in_range(peak - before, info.plane_len / 2, table_len);
#else
    (void)before;
    (void)peak;
#endif
    sl_fib_free(all.fib);
}

static void swaps_under_lookups(void **state)
{
    (void)state;
    swap_under_lookups("hash");
    swap_under_lookups("mata");
}

static void swaps_under_lookups_of_ata(void **state)
{
    (void)state;
    if (!fib_planes_has("ata"))
        test_skip("this build leaves the papers out");
    swap_under_lookups("ata");
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct sl_fib *some_table(const char *plane)
{
    struct sl_fib_config config = {.plane = plane, .key = key};
    uint8_t names[64][64];
    struct sl_fib_entry entries[64];
    struct sl_fib *fib;

    for (uint32_t i = 0; i < 64; i++)
        entries[i] = (struct sl_fib_entry){names[i], make_name(names[i], i), i};
    assert_int_equal(sl_fib_build(&fib, &config, entries, 64, NULL), SL_OK);
    return fib;
}

static void check_loaded(struct sl_fib_table *table)
{
    const struct sl_fib_engine *engine = sl_fib_engine(table);
    const struct sl_limits limits = {.max_items = ITEMS, .max_bytes = ARENA};
    const struct sl_fib_backend *backend = sl_fib_choose(engine, SL_DEVICE_CPU, NULL);
    uint32_t next_hop[ITEMS];
    const struct sl_fib_answers answers = {next_hop, NULL, ITEMS, SL_MEMORY_HOST};
    struct sl_batch *batch;
    uint8_t name[64];
    void *context;

    assert_int_equal(sl_batch_create(&batch, ARENA, ITEMS, NULL), SL_OK);
    for (uint32_t i = 0; i < 80; i++)
        sl_batch_add(batch, name, make_name(name, i), 0);
    assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
    assert_int_equal(backend->submit(context, batch, &answers), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    for (uint32_t i = 0; i < 80; i++)
        assert_int_equal(next_hop[i], i < 64 ? i : SL_FIB_NONE);
    backend->close(context);
    sl_batch_free(batch);
}

static void write_file(const char *path, const uint8_t *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* Any byte that is changed, and any cut, is found. */
static void damage(const char *path)
{
    static uint8_t bytes[1 << 20], good[1 << 20];
    struct sl_fib_table *table;
    struct sl_diag diag;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    const size_t len = fread(good, 1, sizeof good, file);
    fclose(file);
    for (size_t at = 0; at < len && len < sizeof good; at += at < 400 ? 1 : len / 20) {
        memcpy(bytes, good, len);
        bytes[at] ^= 0x10;
        write_file(path, bytes, len);
        if (sl_fib_load(&table, path, &diag) == SL_OK) /* only the room between parts is unread */
            sl_fib_unload(table);
        else
            assert_true(diag.text[0] != '\0');
        write_file(path, good, at);
        assert_int_equal(sl_fib_load(&table, path, &diag), SL_EFORMAT);
    }
}

static void files(void **state)
{
    char path[] = "/tmp/fib-XXXXXX";
    const int fd = mkstemp(path);
    struct sl_diag diag;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++) {
        struct sl_fib *fib = some_table(sl_fib_planes()[p]);
        struct sl_fib_table_info info;
        struct sl_fib_table *table;

        assert_int_equal(sl_fib_save(fib, path, NULL), SL_OK);
        assert_int_equal(sl_fib_load(&table, path, &diag), SL_OK);
        sl_fib_table_info(table, &info);
        assert_string_equal(info.plane, sl_fib_planes()[p]);
        assert_int_equal(info.n_entries, 64);
        check_loaded(table);
        sl_fib_unload(table);
        sl_fib_free(fib);
        assert_int_equal(fib_table_load(&table, path, 64, &diag), SL_OK);
        sl_fib_unload(table);
        assert_int_equal(fib_table_load(&table, path, 63, &diag), SL_EFORMAT);
        assert_non_null(strstr(diag.text, "next hop that there is none of"));
        if (p == 0)
            damage(path);
    }
    write_file(path, (const uint8_t *)"no table", 8);
    struct sl_fib_table *table;
    assert_int_equal(sl_fib_load(&table, path, &diag), SL_EFORMAT);
    assert_int_equal(sl_fib_load(&table, "/no/such/file", &diag), SL_EIO);
    sl_fib_unload(NULL);
    unlink(path);
}

/* ---- real names ------------------------------------------------------------------------------ */

enum { MAX_REAL = 3100000, TRACE = 1 << 16 };

/* All names and 5 million look-ups where SLUICE_TEST_OPERATIONS is set, else some. */
struct extent {
    size_t n_names;
    int rounds;
};

static struct extent extent_asked(void)
{
    return getenv("SLUICE_TEST_OPERATIONS") != NULL ? (struct extent){MAX_REAL, 80}
                                                    : (struct extent){300000, 9};
}

struct real {
    struct sl_fib_entry *entries;
    uint8_t *bytes;
    size_t n;
};

static bool read_real(struct real *real, size_t max)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    char command[512], line[4096];
    size_t used = 0;

    if (data == NULL || snprintf(command, sizeof command, "xz -dc '%s/names/names-3m.txt.xz'",
                                 data) >= (int)sizeof command)
        return false;
    FILE *pipe = popen(command, "r");
    real->entries = malloc(MAX_REAL * sizeof *real->entries);
    real->bytes = malloc((size_t)MAX_REAL * 64);
    assert_true(pipe != NULL && real->entries != NULL && real->bytes != NULL);
    while (real->n < max && fgets(line, sizeof line, pipe) != NULL) {
        uint8_t *name = real->bytes + used;
        size_t len = 0;

        line[strcspn(line, "\n")] = '\0';
        for (char *at = line; (at = strchr(at, '/')) != NULL;) {
            at++;
            assert_true(
                sl_name_append(name, (size_t)MAX_REAL * 64 - used, &len, 8, at, strcspn(at, "/")));
        }
        real->entries[real->n] =
            (struct sl_fib_entry){name, (uint32_t)len, (uint32_t)(real->n % 7)};
        real->n++;
        used += len;
    }
    (void)pclose(pipe);
    return real->n > max / 2;
}

static void make_trace(struct sl_batch *batch, const struct real *real, uint64_t *seed)
{
    uint8_t name[SL_NAME_LEN_MAX];

    sl_batch_reset(batch);
    for (uint32_t i = 0; i < TRACE; i++) {
        const struct sl_fib_entry *entry = &real->entries[test_random(seed) % real->n];
        size_t len = entry->name_len;

        memcpy(name, entry->name, len);
        switch (test_below(seed, 4)) {
        case 0: /* a part of it */
            len -= test_below(seed, (uint32_t)len);
            break;
        case 1: /* and more */
            assert_true(sl_name_append(name, sizeof name, &len, 8, "x", 1));
            break;
        case 2: /* another one */
            name[test_below(seed, (uint32_t)len)] ^= 1;
            break;
        default:
            break;
        }
        sl_batch_add(batch, name, (uint32_t)len, 0);
    }
}

/* The best backend of each device looks all names up, the others those of every eighth round. */
static bool is_compared(const struct sl_fib_engine *engine, size_t b, int round)
{
    const struct sl_fib_backend *backend = engine->backends[b];
    char why[SL_WHY_LEN];

    if (strstr(backend->name, "interwoven") != NULL || !backend->usable(why))
        return false;
#ifdef __SANITIZE_THREAD__ /* see is_tested */
    if (strncmp(backend->name, "avx", 3) == 0)
        return false;
#endif
    return round % 8 == 0 || backend == sl_fib_choose(engine, backend->device, NULL);
}

/* The kernel that stays takes pinned memory alone, as the batch and next_hop are where there is a
 * GPU. */
static void compare(const struct sl_fib_backend *backend, struct sl_fib_table *table,
                    const struct sl_batch *batch, struct sl_stage *stage, const uint32_t *wanted,
                    uint32_t *next_hop)
{
    const struct sl_limits limits = {.max_items = TRACE, .max_bytes = TRACE * 512};
    const bool stays = strcmp(backend->name, "cuda-persistent") == 0;
    const struct sl_fib_answers answers = {next_hop, NULL, TRACE,
                                           stays ? SL_MEMORY_PINNED : SL_MEMORY_HOST};
    struct sl_batch there;
    void *context;

    if (backend->device == SL_DEVICE_CUDA && !stays) {
        assert_int_equal(sl_stage_upload(stage, batch, &there), SL_OK);
        batch = &there;
    }
    memset(next_hop, 0x55, TRACE * sizeof *next_hop);
    assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
    assert_int_equal(backend->submit(context, batch, &answers), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    backend->close(context);
    for (uint32_t i = 0; i < TRACE; i++)
        if (next_hop[i] != wanted[i])
            fail_msg("%s: item %u: %u (expected %u)", backend->name, i, next_hop[i], wanted[i]);
}

static void compare_planes(struct sl_fib *const fibs[], uint32_t n_fibs, struct sl_batch *batch,
                           struct sl_stage *stage, uint32_t *next_hop, int round)
{
    static uint32_t wanted[TRACE];

    for (uint32_t i = 0; i < TRACE; i++) {
        const struct sl_span span = batch->payload[i];

        wanted[i] = sl_fib_match(fibs[0], batch->bytes + span.offset, span.len).next_hop;
    }
    for (uint32_t f = 0; f < n_fibs; f++) {
        struct sl_fib_table *table = sl_fib_table(fibs[f]);
        const struct sl_fib_engine *engine = sl_fib_engine(table);

        for (size_t b = 0; engine->backends[b] != NULL; b++)
            if (is_compared(engine, b, round))
                compare(engine->backends[b], table, batch, stage, wanted, next_hop);
    }
}

static void real_names(void **state)
{
    static const char *const planes[] = {"hash", "mata", "ata"};
    struct sl_fib *fibs[3];
    const uint32_t n_fibs = fib_planes_has("ata") ? 3 : 2;
    const struct sl_limits limits = {.max_items = TRACE, .max_bytes = TRACE * 512};
    struct sl_stage *stage = NULL;
    const struct extent extent = extent_asked();
    struct real real = {0};
    struct sl_batch *batch;
    char why[SL_WHY_LEN];
    const bool pinned = device_cuda_usable(why);
    uint64_t seed = 3;

    (void)state;
#ifdef __SANITIZE_THREAD__
    test_skip("one thread, and minutes under the thread sanitizer");
#endif
    if (!read_real(&real, extent.n_names)) {
        free(real.entries);
        free(real.bytes);
        test_skip("SLUICE_TEST_DATA has no folder names");
    }
    uint32_t *next_hop = (uint32_t *)(pinned ? device_pinned_alloc(TRACE * sizeof *next_hop)
                                             : malloc(TRACE * sizeof *next_hop));
    assert_non_null(next_hop);
    assert_int_equal(sl_device_batch_create(&batch, pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                                            TRACE * 512, TRACE, NULL),
                     SL_OK);
    if (pinned)
        assert_int_equal(sl_stage_open(&stage, &limits, NULL), SL_OK);
    for (uint32_t p = 0; p < n_fibs; p++) {
        struct sl_fib_config config = {.plane = planes[p], .aggregate = p != 0, .key = key};

        assert_int_equal(sl_fib_build(&fibs[p], &config, real.entries, real.n, NULL), SL_OK);
    }
    for (int round = 0; round < extent.rounds; round++) {
        make_trace(batch, &real, &seed);
        compare_planes(fibs, n_fibs, batch, stage, next_hop, round);
    }
    for (uint32_t p = 0; p < n_fibs; p++)
        sl_fib_free(fibs[p]);
    sl_stage_close(stage);
    sl_batch_free(batch);
    if (pinned)
        device_pinned_free(next_hop);
    else
        free(next_hop);
    free(real.entries);
    free(real.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_under_lookups),
        cmocka_unit_test(swaps_under_lookups),
        cmocka_unit_test(swaps_under_lookups_of_ata),
        cmocka_unit_test(files),
        cmocka_unit_test(real_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
