/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

#include "base/base64_groups.h"
#include "base/cpu.h"
#include "base/decimal.h"
#include "base/diag.h"
#include "base/fd.h"
#include "base/histogram.h"
#include "base/least.h"
#include "base/pages.h"
#include "base/spread.h"
#include "sluice/status.h"

static void test_status_texts_are_distinct(void **state)
{
    (void)state;
    for (int a = SL_OK; a <= SL_EDEVICE; a++)
        for (int b = SL_OK; b < a; b++)
            assert_string_not_equal(sl_status_text((enum sl_status)a),
                                    sl_status_text((enum sl_status)b));
}

static void test_diag_names_file_line_and_reason(void **state)
{
    struct sl_diag diag;
    char text[64];

    (void)state;
    assert_int_equal(diag_set(&diag, SL_EIO, "a.rules", 7, "bad %s", "thing"), SL_EIO);
    sl_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "a.rules:7: bad thing");
    diag.column = 12;
    sl_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "a.rules:7:12: bad thing");
    diag_set(&diag, SL_EIO, "a.rules", 0, "gone");
    sl_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "a.rules: gone");
    diag_set(&diag, SL_EIO, NULL, 0, "alone");
    sl_diag_format(&diag, text, 4);
    assert_string_equal(text, "alo");
    assert_int_equal(diag_set(NULL, SL_EIO, NULL, 0, "nobody listens"), SL_EIO);
}

static void expect_decimal(uint64_t value)
{
    char text[DECIMAL_LEN], expected[DECIMAL_LEN + 1];
    const int len = snprintf(expected, sizeof expected, "%" PRIu64, value);

    assert_int_equal(decimal_write(text, value) - text, len);
    assert_memory_equal(text, expected, (size_t)len);
    if (value > UINT8_MAX)
        return;
    assert_int_equal(decimal_octet(text, (uint8_t)value) - text, len);
    assert_memory_equal(text, expected, (size_t)len);
}

static void test_numbers_become_decimal_digits(void **state)
{
    char text[DECIMAL_LEN];
    uint64_t power = 1, value = UINT64_C(0x9E3779B97F4A7C15);

    (void)state;
    for (uint64_t small = 0; small <= 100000; small++)
        expect_decimal(small);
    for (int n_digits = 1; n_digits <= DECIMAL_LEN; n_digits++, power *= 10)
        for (uint64_t around = 0; around <= 2; around++)
            expect_decimal(power - 1 + around);
    expect_decimal(UINT64_MAX);
    for (int shift = 0; shift < 64; shift++)
        for (int i = 0; i < 1000; i++, value = value * UINT64_C(6364136223846793005) + 1)
            expect_decimal(value >> shift);
    assert_int_equal(decimal_fixed(text, 42, 6) - text, 6);
    assert_memory_equal(text, "000042", 6);
}

/* All values of a group; then the group holds a byte that is no letter, or padding. */
static void test_groups_of_base64(void **state)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t text[8], bytes[6];
    uint32_t n_letters = 0;

    (void)state;
    for (uint32_t value = 0; value < 1u << 24; value += 61) {
        const uint8_t expected[] = {(uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

        for (uint32_t i = 0; i < 8; i++)
            text[i] = (uint8_t)letters[value >> (18 - 6 * (i % 4)) & 63];
        assert_int_equal(base64_groups(text, 8, NULL), 2);
        assert_int_equal(base64_groups(text, 8, bytes), 2);
        assert_memory_equal(bytes, expected, 3);
        assert_memory_equal(bytes + 3, expected, 3);
        assert_int_equal(base64_groups(text, 7, bytes), 1);
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        const char *const letter = byte != 0 ? strchr(letters, (int)byte) : NULL;

        assert_int_equal(base64_values[byte], letter != NULL ? letter - letters
                                              : byte == '='  ? BASE64_PAD
                                                             : BASE64_NONE);
        n_letters += letter != NULL;
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(text, "ABCDABCD", 8);
            text[4 + i] = (uint8_t)byte;
            assert_int_equal(base64_groups(text, 8, bytes), letter != NULL ? 2 : 1);
        }
    }
    assert_int_equal(n_letters, 64);
}

static void test_cpu_level_is_consistent(void **state)
{
    char why[160];

    (void)state;
    assert_true(cpu_cores() >= 1);
    assert_true(cpu_usable(CPU_SCALAR, why));
    if (cpu_level() < CPU_AVX512) {
        assert_false(cpu_usable(CPU_AVX512, why));
        assert_non_null(strstr(why, "AVX-512"));
    }
}

static void test_cpu_limits_are_checked(void **state)
{
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(cpu_limit_check("", CPU_SCALAR, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("scalar", CPU_SCALAR, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx2", CPU_AVX512, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx512", CPU_AVX512, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx512", CPU_AVX2, &diag), SL_EUNSUPPORTED);
    assert_string_equal(diag.text, "SLUICE_CPU is 'avx512', and this CPU has no AVX-512: AVX2 is "
                                   "the best that runs");
    assert_int_equal(cpu_limit_check("AVX2", CPU_AVX512, &diag), SL_EINVAL);
    assert_string_equal(diag.text, "SLUICE_CPU is 'AVX2' (expected scalar, avx2 or avx512)");
}

/* The kernel's list of the CPU's features is the judge. */
static void test_cpu_features_are_those_of_the_machine(void **state)
{
    static const struct {
        unsigned feature;
        const char *flag, *name;
    } features[] = {{CPU_PCLMUL, " pclmulqdq ", "PCLMULQDQ"},
                    {CPU_VPCLMULQDQ, " vpclmulqdq ", "VPCLMULQDQ"},
                    {CPU_GFNI, " gfni ", "GFNI"}};
    char flags[8192] = "", why[160] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");

    (void)state;
    if (file == NULL)
        test_skip("there is no /proc/cpuinfo");
    while (fgets(flags, sizeof flags, file) != NULL && strncmp(flags, "flags", 5) != 0)
        ;
    fclose(file);
    assert_true(cpu_usable_with(CPU_SCALAR, 0, why));
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const bool there = cpu_usable_with(CPU_SCALAR, features[i].feature, why);

        assert_int_equal(there, strstr(flags, features[i].flag) != NULL);
        if (!there)
            assert_non_null(strstr(why, features[i].name));
    }
    if (cpu_level() < CPU_AVX512)
        assert_false(cpu_usable_with(CPU_AVX512, 0, why));
}

/* Each value lies in its place's range, and the places divide the line. */
static void test_histogram_places_divide_the_line(void **state)
{
    uint64_t begin = 0;

    (void)state;
    for (uint32_t place = 0; place < HISTOGRAM_LEN; place++) {
        const uint64_t top = histogram_top(place);

        assert_true(top >= begin);
        assert_true((top - begin) * 32 <= begin); /* the error that the header states */
        assert_int_equal(histogram_place(begin), place);
        assert_int_equal(histogram_place(top), place);
        begin = top + 1;
    }
    assert_int_equal(begin, UINT64_C(1) << HISTOGRAM_MAX_LOG);
    assert_int_equal(histogram_place(begin), HISTOGRAM_LEN);
    assert_int_equal(histogram_place(UINT64_MAX), HISTOGRAM_LEN);
}

static void test_histogram_quantiles_are_near(void **state)
{
    static struct histogram histogram;
    uint64_t seed = 1;

    (void)state;
    assert_int_equal(histogram_quantile(&histogram, 990), 0);
    for (uint64_t value = 1; value <= 100000; value++)
        histogram_add(&histogram, value * 1000, 1);
    for (uint32_t per_mille = 1; per_mille <= 1000; per_mille++) {
        const uint64_t exact = UINT64_C(100000) * per_mille;

        assert_in_range(histogram_quantile(&histogram, per_mille), exact, exact + exact / 32);
    }
    histogram_add(&histogram, UINT64_MAX, 1000000);
    assert_int_equal(histogram_quantile(&histogram, 999), UINT64_MAX);

    memset(&histogram, 0, sizeof histogram);
    for (int i = 0; i < 1000; i++)
        histogram_add(&histogram, test_below(&seed, 32), 1);
    histogram_add(&histogram, 31, 1000000000);
    assert_int_equal(histogram_quantile(&histogram, 500), 31);
    assert_int_equal(histogram_quantile(&histogram, 999), 31);
}

struct taken {
    int fd;
    uint8_t bytes[1 << 20];
    int64_t len;
};

static void *take(void *user)
{
    struct taken *taken = user;

    taken->len = fd_read(taken->fd, taken->bytes, sizeof taken->bytes);
    return NULL;
}

/* The pipe is shorter than the bytes, and neither end blocks. */
static void test_descriptors_that_do_not_block(void **state)
{
    struct taken *taken = calloc(1, sizeof *taken);
    uint8_t *sent = malloc(sizeof taken->bytes);
    pthread_t thread;
    uint8_t byte;
    int ends[2];

    (void)state;
    assert_true(taken != NULL && sent != NULL);
    for (size_t i = 0; i < sizeof taken->bytes; i++)
        sent[i] = (uint8_t)(i * i >> 7);
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    taken->fd = ends[0];
    assert_int_equal(pthread_create(&thread, NULL, take, taken), 0);
    assert_true(fd_write(ends[1], sent, sizeof taken->bytes));
    pthread_join(thread, NULL);
    assert_int_equal(taken->len, sizeof taken->bytes);
    assert_memory_equal(taken->bytes, sent, sizeof taken->bytes);
    close(ends[1]);
    assert_int_equal(fd_read(ends[0], &byte, 1), 0);
    assert_false(fd_write(ends[0], &byte, 1));
    close(ends[0]);
    free(taken);
    free(sent);
}

enum { THINGS = 1000 };

struct done {
    atomic_uint times[THINGS]; /* that the work on each was done */
    atomic_uint highest;       /* number of a thread */
};

static void do_thing(void *context, unsigned thread, size_t i)
{
    struct done *const done = context;
    unsigned highest = atomic_load(&done->highest);

    atomic_fetch_add(&done->times[i], 1);
    while (thread > highest && !atomic_compare_exchange_weak(&done->highest, &highest, thread))
        ;
}

static void test_work_is_done_once(void **state)
{
    static const unsigned threads[] = {0, 1, 2, 7, SPREAD_THREADS_MAX, 10 * SPREAD_THREADS_MAX};
    static const size_t shares[] = {1, 5, 16, 17, 600, THINGS, THINGS + 1};

    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
            for (size_t n = 0; n <= THINGS; n += THINGS / 4) {
                static struct done done;
                const uint64_t most = least(least(threads[t], SPREAD_THREADS_MAX), n / shares[s]);

                memset(&done, 0, sizeof done);
                spread(threads[t], n, shares[s], do_thing, &done);
                for (size_t i = 0; i < THINGS; i++)
                    assert_int_equal(done.times[i], i < n ? 1 : 0);
                assert_true(done.highest < (most > 1 ? most : 1));
            }
}

/* ---- pages ------------------------------------------------------------------------------------
 */

/* Bytes on pages that lie in the range in part alone stay, and whole pages come back as zeros. */
static void test_whole_pages_are_given_back(void **state)
{
    enum { PAGES = 300, BEFORE = 10, BEHIND = 20 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), len = PAGES * page;
    uint8_t *from = NULL, *to = malloc(len);

    (void)state;
    assert_int_equal(posix_memalign((void **)&from, page, len), 0);
    assert_non_null(to);
    for (size_t i = 0; i < len; i++)
        from[i] = (uint8_t)(i % 251 + 1);
    pages_move(to, from + BEFORE, len - BEFORE - BEHIND);
    for (size_t i = 0; i < len - BEFORE - BEHIND; i++)
        assert_int_equal(to[i], (i + BEFORE) % 251 + 1);
    for (size_t i = 0; i < BEFORE; i++)
        assert_int_equal(from[i], i % 251 + 1);
    for (size_t i = len - BEHIND; i < len; i++)
        assert_int_equal(from[i], i % 251 + 1);
    for (size_t i = page; i < 60 * page; i++)
        assert_int_equal(from[i], 0);
    free(from);
    free(to);
}

/* Memory of both kinds, on either side of the least that is mapped, is zeroed, aligned and whole.
 */
static void test_memory_of_pages_is_zeroed(void **state)
{
    static const size_t lens[] = {1, 100, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20};

    (void)state;
    for (size_t l = 0; l < sizeof lens / sizeof *lens; l++) {
        uint8_t *memory = pages_alloc(lens[l]);

        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        for (size_t i = 0; i < lens[l]; i++)
            if (memory[i] != 0)
                fail_msg("byte %zu of %zu", i, lens[l]);
        memset(memory, 0xff, lens[l]);
        pages_free(memory, lens[l]);
    }
    pages_free(NULL, 1);
    pages_free(NULL, 1 << 20);
    assert_null(pages_alloc(SIZE_MAX / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_texts_are_distinct),
        cmocka_unit_test(test_diag_names_file_line_and_reason),
        cmocka_unit_test(test_numbers_become_decimal_digits),
        cmocka_unit_test(test_groups_of_base64),
        cmocka_unit_test(test_cpu_level_is_consistent),
        cmocka_unit_test(test_cpu_limits_are_checked),
        cmocka_unit_test(test_cpu_features_are_those_of_the_machine),
        cmocka_unit_test(test_histogram_places_divide_the_line),
        cmocka_unit_test(test_histogram_quantiles_are_near),
        cmocka_unit_test(test_descriptors_that_do_not_block),
        cmocka_unit_test(test_work_is_done_once),
        cmocka_unit_test(test_whole_pages_are_given_back),
        cmocka_unit_test(test_memory_of_pages_is_zeroed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
