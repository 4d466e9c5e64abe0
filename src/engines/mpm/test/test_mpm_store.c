/* SPDX-License-Identifier: MIT */
/* Tables in files: a loaded table finds the same as the built one, and a file that was changed is
 * refused. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/mpm/gram/gram_core.h"
#include "engines/mpm/mpm_internal.h"
#include "sluice/batch.h"

enum { N_LITERALS = 60, TEXT_LEN = 20000, MAX_HITS = 1 << 20, SAMPLE = 400 };

static const struct sl_limits limits = {
    .max_items = 64, .max_bytes = 1 << 16, .max_hits = MAX_HITS};

static char folder[] = "/tmp/test_mpm_store.XXXXXX";
static char path[64];
static uint8_t text[TEXT_LEN];
static struct sl_literal literals[N_LITERALS];
static struct sl_batch *batch;
static struct sl_hits found;
static struct sl_hits expected;

/* ---- tables and files ------------------------------------------------------------------------ */

static struct sl_mpm_table *build(const char *algorithm, size_t n_literals)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = SL_DEVICE_CUDA; /* holds what is built for CPUs as well */
    if (sl_mpm_build(&table, &config, literals, n_literals, &diag) != SL_OK)
        fail_msg("%s: %s", algorithm, diag.text);
    return table;
}

static void save(const struct sl_mpm_table *table)
{
    struct sl_diag diag = {.text = ""};

    if (sl_mpm_save(table, path, &diag) != SL_OK)
        fail_msg("%s: %s", diag.file, diag.text);
}

static struct sl_mpm_table *load(void)
{
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    if (sl_mpm_load(&table, path, &diag) != SL_OK)
        fail_msg("%s: %s", diag.file, diag.text);
    return table;
}

/* The file is refused, and the reason holds this text. */
static void assert_refused(const char *reason)
{
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(sl_mpm_load(&table, path, &diag), SL_EFORMAT);
    assert_null(table);
    assert_string_equal(diag.file, path);
    if (strstr(diag.text, reason) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, reason);
}

static void write_file(const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static uint8_t *read_file(size_t *len)
{
    struct stat there;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &there), 0);
    *len = (size_t)there.st_size;
    uint8_t *bytes = (uint8_t *)malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    (void)fclose(file);
    return bytes;
}

/* A copy that may be changed and written with the right checksum again. */
static struct sl_mpm_table *copy_of(const struct sl_mpm_table *table)
{
    struct sl_mpm_table *copy = (struct sl_mpm_table *)malloc(table->head.len);

    assert_non_null(copy);
    memcpy(copy, table, table->head.len);
    return copy;
}

static void write_resealed(struct sl_mpm_table *copy)
{
    block_seal(&mpm_block_kind, copy);
    write_file(copy, copy->head.len);
}

static void scan(const struct sl_backend *backend, const struct sl_mpm_table *table,
                 struct sl_hits *hits)
{
    void *context = NULL;
    struct sl_diag diag = {.text = ""};

    if (backend->open(&context, table, &limits, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    assert_int_equal(backend->submit(context, batch, hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    backend->close(context);
    sl_hits_sort(hits);
}

/* Both tables give the same hits on every backend that this CPU runs. */
static void assert_same_hits(const struct sl_mpm_table *one, const struct sl_mpm_table *other)
{
    const struct sl_backend *const *backend = sl_mpm_engine(one)->backends;
    char why[SL_WHY_LEN];

    assert_ptr_equal(sl_mpm_engine(one), sl_mpm_engine(other));
    for (; *backend != NULL; backend++) {
        if ((*backend)->device != SL_DEVICE_CPU || !(*backend)->usable(why))
            continue;
        scan(*backend, one, &expected);
        scan(*backend, other, &found);
        assert_int_equal(found.n, expected.n);
        assert_memory_equal(found.hit, expected.hit, found.n * sizeof *found.hit);
    }
}

/* ---- the round trip -------------------------------------------------------------------------- */

static void assert_same_info(const struct sl_mpm_table *one, const struct sl_mpm_table *other)
{
    struct sl_mpm_info a, b;

    sl_mpm_info(one, &a);
    sl_mpm_info(other, &b);
    assert_string_equal(a.algorithm, b.algorithm);
    assert_int_equal(a.n_literals, b.n_literals);
    assert_int_equal(a.n_states, b.n_states);
    assert_int_equal(a.table_len, b.table_len);
    assert_int_equal(a.literals_check, b.literals_check);
}

static void test_a_loaded_table_is_the_one_saved(void **state)
{
    static const size_t counts[] = {0, 1, N_LITERALS};

    (void)state;
    for (size_t i = 0; i < 3 * sizeof counts / sizeof *counts; i++) {
        const char *name = sl_mpm_algorithms()[i / 3];
        if (name == NULL)
            break;
        struct sl_mpm_table *built = build(name, counts[i % 3]);
        size_t len, again_len;

        save(built);
        struct sl_mpm_table *loaded = load();
        assert_same_info(built, loaded);
        assert_same_hits(built, loaded);
        assert_int_equal(found.n > 0, counts[i % 3] > 0);

        /* Saved once more, over the file that it is mapped from. */
        uint8_t *bytes = read_file(&len);
        save(loaded);
        uint8_t *again = read_file(&again_len);
        assert_int_equal(len, again_len);
        assert_memory_equal(bytes, again, len);
        assert_same_hits(built, loaded);
        free(bytes);
        free(again);
        sl_mpm_free(built);
        sl_mpm_free(loaded);
    }
}

static void test_a_loaded_table_outlives_its_file(void **state)
{
    struct sl_mpm_table *built = build("ac", N_LITERALS);
    struct sl_mpm_table *other = build("gram", 1);

    (void)state;
    save(built);
    struct sl_mpm_table *loaded = load();
    save(other);
    assert_same_hits(built, loaded);
    assert_int_equal(unlink(path), 0);
    assert_same_hits(built, loaded);
    sl_mpm_free(built);
    sl_mpm_free(other);
    sl_mpm_free(loaded);
}

static uint64_t check_of(const char *a, const char *b, uint32_t flags)
{
    const struct sl_literal two[] = {
        {.bytes = (const uint8_t *)a, .len = (uint32_t)strlen(a), .flags = flags},
        {.bytes = (const uint8_t *)b, .len = (uint32_t)strlen(b)}};

    return sl_mpm_literals_check(two, 2);
}

/* A table does not depend on the sets that were built before it. */
static void test_what_is_learned_changes_no_table(void **state)
{
    struct sl_mpm_config config;
    struct mpm_learned learned = {0};

    (void)state;
    sl_mpm_config_init(&config);
    config.algorithm = "gram";
    config.sample = batch;
    for (size_t n = N_LITERALS; n > N_LITERALS / 2; n -= 7) {
        struct sl_mpm_table *alone, *after;

        assert_int_equal(sl_mpm_build(&alone, &config, literals, n, NULL), SL_OK);
        assert_int_equal(mpm_build_one(&after, &config, literals, n, &learned, NULL), SL_OK);
        assert_non_null(learned.kept);
        assert_int_equal(alone->head.len, after->head.len);
        assert_memory_equal(alone, after, alone->head.len);
        sl_mpm_free(alone);
        sl_mpm_free(after);
    }
    mpm_learned_clear(&learned);
    assert_null(learned.kept);
}

static void test_the_check_differs_by_literals(void **state)
{
    struct sl_mpm_table *table = build("ac", N_LITERALS);
    struct sl_mpm_info info;

    (void)state;
    sl_mpm_info(table, &info);
    assert_true(info.literals_check == sl_mpm_literals_check(literals, N_LITERALS));
    assert_true(info.literals_check != sl_mpm_literals_check(literals, N_LITERALS - 1));
    sl_mpm_free(table);

    const uint64_t check = check_of("ab", "c", 0);
    assert_true(check == check_of("ab", "c", 0));
    assert_true(check != check_of("ab", "c", SL_LITERAL_NOCASE));
    assert_true(check != check_of("aB", "c", 0));
    assert_true(check != check_of("a", "bc", 0));
    assert_true(check != check_of("c", "ab", 0));
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void flip(int fd, const uint8_t *bytes, size_t at, uint8_t mask)
{
    const uint8_t flipped = bytes[at] ^ mask;

    assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
    assert_refused("");
    assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
}

/* Every bit of the header, a sample of all else. */
static void test_flips_are_refused(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++) {
        struct sl_mpm_table *table = build(*name, N_LITERALS);
        size_t len;

        save(table);
        uint8_t *bytes = read_file(&len);
        const int fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        for (size_t bit = 0; bit < 8 * sizeof *table; bit++)
            flip(fd, bytes, bit / 8, (uint8_t)(1 << bit % 8));
        for (int i = 0; i < SAMPLE; i++)
            flip(fd, bytes, test_below(&random, (uint32_t)len),
                 (uint8_t)(1 + test_below(&random, 255)));
        (void)close(fd);
        sl_mpm_free(load());
        sl_mpm_free(table);
        free(bytes);
    }
}

/* Each length of the table's head and of the last bytes, and a part of those between. */
static void test_cuts_are_refused(void **state)
{
    enum { EACH = 1024, STEP = 251 };

    (void)state;
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++) {
        struct sl_mpm_table *table = build(*name, 1);

        save(table);
        assert_int_equal(truncate(path, (off_t)table->head.len + 1), 0);
        assert_refused("bytes (expected");
        for (off_t len = (off_t)table->head.len - 1; len >= 0; len--) {
            if (len > EACH && len + 64 < (off_t)table->head.len && len % STEP != 0)
                continue;
            assert_int_equal(truncate(path, len), 0);
            assert_refused(len < (off_t)sizeof *table ? "no compiled table" : "bytes (expected");
        }
        sl_mpm_free(table);
    }
}

/* ---- whole files that cannot be used --------------------------------------------------------- */

static void test_other_files_are_refused(void **state)
{
    struct sl_mpm_table *table = build("ac", 2);
    struct sl_mpm_table *copy = copy_of(table);
    char line[512];

    (void)state;
    memset(line, 'x', sizeof line);
    write_file(line, sizeof line);
    assert_refused("no compiled table");

    copy->head.magic = __builtin_bswap64(copy->head.magic);
    write_file(copy, table->head.len);
    assert_refused("byte order");
    copy->head.magic = table->head.magic;

    copy->head.version = mpm_block_kind.version + 1;
    write_resealed(copy);
    assert_refused("version 7 (expected 6)");
    copy->head.version = table->head.version;

    copy->head.pointer_len = 4;
    write_resealed(copy);
    assert_refused("pointers of 4 bytes (expected 8)");
    copy->head.pointer_len = table->head.pointer_len;

    snprintf(copy->algorithm, sizeof copy->algorithm, "bogus");
    write_resealed(copy);
    assert_refused("'bogus'");
    memset(copy->algorithm, 'a', sizeof copy->algorithm);
    write_resealed(copy);
    assert_refused("'aaaaaaaaaaaaaaaa'");
    memcpy(copy->algorithm, table->algorithm, sizeof copy->algorithm);

    write_resealed(copy);
    sl_mpm_free(load());
    free(copy);
    sl_mpm_free(table);
}

/* A body under another algorithm's name. */
static void test_names_and_bodies_belong_together(void **state)
{
    static const char *const names[] = {"ac", "pfac"};

    (void)state;
    if (mpm_find_algorithm("pfac") == NULL)
        test_skip("this build leaves the papers out");
    for (int i = 0; i < 2; i++) {
        struct sl_mpm_table *table = build(names[i], N_LITERALS);
        struct sl_mpm_table *copy = copy_of(table);

        memset(copy->algorithm, 0, sizeof copy->algorithm);
        snprintf(copy->algorithm, sizeof copy->algorithm, "%s", names[1 - i]);
        write_resealed(copy);
        assert_refused("automaton");
        free(copy);
        sl_mpm_free(table);
    }
}

/* Each offset and count of the header, set to a value that leads out of the block. */
static void test_parts_outside_are_refused(void **state)
{
    struct sl_mpm_table *table = build("ac", N_LITERALS);
    struct sl_mpm_table *copy = copy_of(table);
    uint64_t *const offsets[] = {&copy->literals, &copy->groups, &copy->bytes, &copy->body};
    uint32_t *const counts[] = {&copy->n_literals, &copy->n_groups, &copy->n_states};
    const uint64_t bad_offsets[] = {table->head.len - MPM_ALIGN, table->head.len,
                                    table->head.len + MPM_ALIGN, UINT64_MAX - (MPM_ALIGN - 1),
                                    UINT64_MAX};
    const uint32_t bad_counts[] = {1u << 24, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        const uint64_t kept = *offsets[i];

        for (size_t k = 0; k < sizeof bad_offsets / sizeof *bad_offsets; k++) {
            *offsets[i] = bad_offsets[k];
            write_resealed(copy);
            assert_refused("cannot be used");
        }
        *offsets[i] = kept;
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t kept = *counts[i];

        for (size_t k = 0; k < sizeof bad_counts / sizeof *bad_counts; k++) {
            *counts[i] = bad_counts[k];
            write_resealed(copy);
            assert_refused("cannot be used");
        }
        *counts[i] = kept;
    }
    write_resealed(copy);
    sl_mpm_free(load());
    free(copy);
    sl_mpm_free(table);
}

/* Callers take the literals of hits for indices. */
static void test_literals_that_are_not_there_are_refused(void **state)
{
    struct sl_mpm_table *table = build("gram", N_LITERALS);
    struct sl_mpm_table *copy = copy_of(table);
    uint8_t *const body = (uint8_t *)copy + copy->body;
    const struct gram_table *gram = (const struct gram_table *)(const void *)body;
    struct gram_entry *entries = (struct gram_entry *)(void *)(body + gram->entries);
    uint32_t n_forged = 0;

    (void)state;
    for (uint32_t i = 0; i < gram->n_entries && n_forged < 8; i++) {
        const uint32_t kept = entries[i].match;

        if ((entries[i].flags & GRAM_ENTRY_GROUP) != 0)
            continue;
        entries[i].match = copy->n_literals;
        write_resealed(copy);
        assert_refused("cannot be used");
        entries[i].match = kept;
        n_forged++;
    }
    assert_int_not_equal(n_forged, 0);
    free(copy);
    sl_mpm_free(table);
}

enum { FORGED_LEN = 64 };

/* Two literals of one byte that say they are the first FORGED_LEN bytes of a longer one. */
static struct sl_mpm_table *build_forged(const char *algorithm)
{
    uint8_t longer[FORGED_LEN + 1];
    const struct sl_literal three[] = {{.bytes = (const uint8_t *)"A", .len = 1},
                                       {.bytes = (const uint8_t *)"a", .len = 1},
                                       {.bytes = longer, .len = sizeof longer}};
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;

    memset(longer, 'A', FORGED_LEN);
    longer[FORGED_LEN] = 'B';
    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = SL_DEVICE_CUDA; /* holds what is built for CPUs as well */
    assert_int_equal(sl_mpm_build(&table, &config, three, 3, NULL), SL_OK);

    struct sl_mpm_table *copy = copy_of(table);
    struct mpm_literal *literal = (struct mpm_literal *)((uint8_t *)copy + copy->literals);
    for (int i = 0; i < 2; i++) {
        literal[i].bytes = literal[2].bytes;
        literal[i].len = FORGED_LEN;
    }
    sl_mpm_free(table);
    return copy;
}

/* Automata read no lengths to find a literal. Bytes before an item are not compared with a literal
 * that claims to be longer than the item, even where they would match. */
static void test_lengths_lead_to_nothing_before_an_item(void **state)
{
    enum { ITEM_LEN = 3 };
    static const char *const names[] = {"ac", "pfac"};
    static _Alignas(64) uint8_t arena[FORGED_LEN + SL_BATCH_SLACK];
    struct sl_span span = {.offset = FORGED_LEN - ITEM_LEN, .len = ITEM_LEN};
    struct sl_batch item = {
        .bytes = arena, .bytes_len = FORGED_LEN, .n_items = 1, .payload = &span};
    struct sl_batch *const usual = batch;

    (void)state;
    memset(arena, 'A', FORGED_LEN);
    batch = &item;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mpm_find_algorithm(names[i]) == NULL)
            continue;
        struct sl_mpm_table *forged = build_forged(names[i]);
        char why[SL_WHY_LEN];

        write_resealed(forged);
        free(forged);
        struct sl_mpm_table *table = load();
        const struct sl_backend *const *backend = sl_mpm_engine(table)->backends;
        for (; *backend != NULL; backend++) {
            if ((*backend)->device != SL_DEVICE_CPU || !(*backend)->usable(why))
                continue;
            scan(*backend, table, &found);
            assert_int_equal(found.n, 0);
        }
        sl_mpm_free(table);
    }
    batch = usual;
}

/* gram's entries have lengths of their own, which those of their literals must be. */
static void test_lengths_that_differ_are_refused(void **state)
{
    struct sl_mpm_table *forged = build_forged("gram");

    (void)state;
    write_resealed(forged);
    assert_refused("dictionary");
    free(forged);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int count_files(void)
{
    DIR *dir = opendir(folder);
    int n = 0;

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void assert_not_saved(const struct sl_mpm_table *table, const char *to, const char *reason)
{
    struct sl_diag diag = {.text = ""};

    assert_int_equal(sl_mpm_save(table, to, &diag), SL_EIO);
    assert_string_equal(diag.file, to);
    if (strstr(diag.text, reason) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, reason);
}

static void test_saving_leaves_one_file(void **state)
{
    struct sl_mpm_table *table = build("ac", 1);
    char missing[96], long_name[5000];
    struct stat there;

    (void)state;
    (void)unlink(path);
    const mode_t old = umask(027);
    save(table);
    save(table);
    (void)umask(old);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_mode & 07777, 0640);
    assert_int_equal(there.st_size, table->head.len);

    snprintf(missing, sizeof missing, "%s/none/table", folder);
    assert_not_saved(table, missing, strerror(ENOENT));
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    struct sl_diag diag = {.text = ""};
    assert_int_equal(sl_mpm_save(table, long_name, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, strerror(ENAMETOOLONG)));
    assert_not_saved(table, folder, "no regular file");
    assert_not_saved(table, "/dev/null", "no regular file");
    assert_int_equal(count_files(), 1);
    sl_mpm_free(table);
}

static void test_what_cannot_be_read_is_said(void **state)
{
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    (void)state;
    (void)unlink(path);
    assert_int_equal(sl_mpm_load(&table, path, &diag), SL_EIO);
    assert_string_equal(diag.file, path);
    assert_non_null(strstr(diag.text, strerror(ENOENT)));
    assert_int_equal(sl_mpm_load(&table, folder, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, strerror(EISDIR)));
    assert_int_equal(sl_mpm_load(&table, "/dev/null", &diag), SL_EIO);
    assert_null(table);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Literals of all lengths that occur, some without case, some twice. */
static void make_data(void)
{
    uint64_t random = 2;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t) "abcdABCD"[test_below(&random, 8)];
    for (uint32_t i = 0; i < N_LITERALS; i++) {
        const uint32_t len = 1 + test_below(&random, i < 40 ? 6 : 60);

        literals[i] = (struct sl_literal){
            .bytes = text + test_below(&random, TEXT_LEN - len), .len = len, .flags = i % 2};
    }
    literals[N_LITERALS - 1] = literals[0];
    sl_batch_add(batch, text, TEXT_LEN, 0);
    for (uint32_t i = 0; i < 20; i++)
        sl_batch_add(batch, text + (size_t)i * 700, 700, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loaded_table_is_the_one_saved),
        cmocka_unit_test(test_a_loaded_table_outlives_its_file),
        cmocka_unit_test(test_what_is_learned_changes_no_table),
        cmocka_unit_test(test_the_check_differs_by_literals),
        cmocka_unit_test(test_flips_are_refused),
        cmocka_unit_test(test_cuts_are_refused),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_names_and_bodies_belong_together),
        cmocka_unit_test(test_parts_outside_are_refused),
        cmocka_unit_test(test_literals_that_are_not_there_are_refused),
        cmocka_unit_test(test_lengths_lead_to_nothing_before_an_item),
        cmocka_unit_test(test_lengths_that_differ_are_refused),
        cmocka_unit_test(test_saving_leaves_one_file),
        cmocka_unit_test(test_what_cannot_be_read_is_said),
    };

    found.cap = expected.cap = MAX_HITS;
    found.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *found.hit);
    expected.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *expected.hit);
    if (found.hit == NULL || expected.hit == NULL || mkdtemp(folder) == NULL ||
        sl_batch_create(&batch, limits.max_bytes, limits.max_items, NULL) != SL_OK)
        return 1;
    snprintf(path, sizeof path, "%s/table", folder);
    make_data();

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    (void)rmdir(folder);
    sl_batch_free(batch);
    free(found.hit);
    free(expected.hit);
    return failed;
}
