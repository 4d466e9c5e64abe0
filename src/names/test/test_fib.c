/* SPDX-License-Identifier: MIT */
/* The table of names: every plane and every usable backend against the oracle. */
#include "test.h"

#include <unistd.h>

#include "device/device.h"
#include "fib_ref.h"
#include "names/fib/mata/fib_mata_core.h"

enum { MAX_ITEMS = 4096, ARENA = 1 << 20 };

static const uint8_t key[SL_FIB_KEY_LEN] = "0123456789abcde";

/* ---- helpers --------------------------------------------------------------------------------- */

struct name {
    uint8_t bytes[SL_NAME_LEN_MAX + 64];
    size_t len;
};

static void put_typed(struct name *name, uint32_t type, const void *bytes, size_t len)
{
    assert_true(sl_name_append(name->bytes, sizeof name->bytes, &name->len, type, bytes, len));
}

/* "com/parc": generic components between '/'; "" is the root. */
static struct name *put(struct name *name, const char *text)
{
    name->len = 0;
    while (*text != '\0') {
        const size_t len = strcspn(text, "/");

        put_typed(name, SL_NAME_GENERIC, text, len);
        text += len + (text[len] == '/');
    }
    return name;
}

static struct sl_fib *build(const char *plane, bool aggregate)
{
    struct sl_fib_config config;
    struct sl_diag diag = {0};
    struct sl_fib *fib;

    sl_fib_config_init(&config);
    config.plane = plane;
    config.aggregate = aggregate;
    config.key = key;
    if (sl_fib_build(&fib, &config, NULL, 0, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    return fib;
}

static enum sl_fib_outcome apply(struct sl_fib *fib, enum sl_fib_verb verb, const struct name *name,
                                 uint32_t next_hop)
{
    struct sl_fib_update update = {.entry = {name->bytes, (uint32_t)name->len, next_hop},
                                   .verb = verb};
    size_t n;

    assert_int_equal(sl_fib_apply(fib, &update, 1, &n, NULL), SL_OK);
    assert_int_equal(n, 1);
    return update.outcome;
}

/* A batch, its interwoven twin, and the answers: all pinned where there is a GPU. */
struct batch {
    struct sl_batch *batch, *woven;
    bool pinned;
    bool spares_gpu; /* its backends are not asked */
    struct sl_stage *stage;
    uint32_t *next_hop, *prefix_len;
    struct sl_fib_match wanted[MAX_ITEMS]; /* of the unaggregated table, */
    uint32_t wanted_len[MAX_ITEMS];        /* and the prefix that the plane answers */
};

static uint32_t *take_answers(const struct batch *batch)
{
    uint32_t *answers = batch->pinned ? device_pinned_alloc(MAX_ITEMS * sizeof *answers)
                                      : malloc(MAX_ITEMS * sizeof *answers);

    assert_non_null(answers);
    return answers;
}

static void give_answers(const struct batch *batch, uint32_t *answers)
{
    if (batch->pinned)
        device_pinned_free(answers);
    else
        free(answers);
}

static const struct sl_limits limits = {.max_items = MAX_ITEMS, .max_bytes = 33 * ARENA};

static struct batch *open_batch(void)
{
    struct batch *batch = calloc(1, sizeof *batch);
    char why[SL_WHY_LEN];

    assert_non_null(batch);
    batch->pinned = device_cuda_usable(why);
    assert_int_equal(sl_device_batch_create(&batch->batch,
                                            batch->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU, ARENA,
                                            MAX_ITEMS, NULL),
                     SL_OK);
    assert_int_equal(sl_device_batch_create(&batch->woven,
                                            batch->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                                            32 * ARENA, MAX_ITEMS, NULL),
                     SL_OK);
    batch->next_hop = take_answers(batch);
    batch->prefix_len = take_answers(batch);
    if (batch->pinned)
        assert_int_equal(sl_stage_open(&batch->stage, &limits, NULL), SL_OK);
    return batch;
}

static void close_batch(struct batch *batch)
{
    sl_stage_close(batch->stage);
    sl_batch_free(batch->batch);
    sl_batch_free(batch->woven);
    give_answers(batch, batch->next_hop);
    give_answers(batch, batch->prefix_len);
    free(batch);
}

/* It takes pinned memory alone. */
static bool is_persistent(const struct sl_fib_backend *backend)
{
    return strcmp(backend->name, "cuda-persistent") == 0;
}

/* On a GPU through a stage, or where `answers_in` is pinned memory as the batch lies there. */
static void lookup_with(const struct sl_fib_backend *backend, struct sl_fib_table *table,
                        struct batch *batch, enum sl_memory answers_in)
{
    const struct sl_fib_answers answers = {batch->next_hop, batch->prefix_len, MAX_ITEMS,
                                           answers_in};
    const bool woven = strstr(backend->name, "interwoven") != NULL;
    const struct sl_batch *given = woven ? batch->woven : batch->batch;
    struct sl_batch view;
    void *context;

    memset(batch->next_hop, 0x55, MAX_ITEMS * sizeof *batch->next_hop);
    memset(batch->prefix_len, 0x55, MAX_ITEMS * sizeof *batch->prefix_len);
    assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
    if (backend->device == SL_DEVICE_CUDA && answers_in == SL_MEMORY_HOST) {
        assert_int_equal(sl_stage_upload(batch->stage, given, &view), SL_OK);
        given = &view;
    }
    assert_int_equal(backend->submit(context, given, &answers), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    backend->close(context);
}

static void weave(struct batch *batch)
{
    assert_int_equal(sl_fib_interweave(batch->woven, batch->batch), SL_OK);
}

static void find_wanted(struct ref *ref, struct batch *batch, bool aggregate)
{
    if (aggregate)
        ref_fold(ref);
    for (uint32_t i = 0; i < batch->batch->n_items; i++) {
        const struct sl_span span = batch->batch->payload[i];
        const uint8_t *name = batch->batch->bytes + span.offset;

        batch->wanted[i] = ref_match(ref, name, span.len);
        batch->wanted_len[i] =
            aggregate ? ref_folded_len(ref, name, span.len) : batch->wanted[i].prefix_len;
    }
}

static void check_batch(const struct batch *batch, const char *plane, const char *backend)
{
    for (uint32_t i = 0; i < batch->batch->n_items; i++)
        if (batch->next_hop[i] != batch->wanted[i].next_hop ||
            batch->prefix_len[i] != batch->wanted_len[i])
            fail_msg("%s.%s: item %u: next hop %u, %u bytes (expected %u, %u)", plane, backend, i,
                     batch->next_hop[i], batch->prefix_len[i], batch->wanted[i].next_hop,
                     batch->wanted_len[i]);
}

/* All usable backends over a table against the oracle, and the table's own answers too. */
static void check_all(struct sl_fib *fib, struct ref *ref, struct batch *batch, bool aggregate)
{
    struct sl_fib_table *table = sl_fib_table(fib);
    const struct sl_fib_engine *engine = sl_fib_engine(table);
    char why[SL_WHY_LEN];

    find_wanted(ref, batch, aggregate);
    weave(batch);
    assert_int_equal(sl_fib_publish(fib, NULL), SL_OK);
    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        if (!engine->backends[i]->usable(why) ||
            (batch->spares_gpu && engine->backends[i]->device == SL_DEVICE_CUDA))
            continue;
        if (!is_persistent(engine->backends[i])) {
            lookup_with(engine->backends[i], table, batch, SL_MEMORY_HOST);
            check_batch(batch, engine->name, engine->backends[i]->name);
        }
        if (engine->backends[i]->device != SL_DEVICE_CUDA)
            continue;
        lookup_with(engine->backends[i], table, batch, SL_MEMORY_PINNED);
        check_batch(batch, engine->name, engine->backends[i]->name);
    }
    for (uint32_t i = 0; i < batch->batch->n_items; i++) {
        const struct sl_span span = batch->batch->payload[i];
        const uint8_t *name = batch->batch->bytes + span.offset;
        const struct sl_fib_match match = sl_fib_match(fib, name, span.len);

        assert_memory_equal(&match, &batch->wanted[i], sizeof match);
    }
}

static void check_counts(struct sl_fib *fib, const struct ref *ref, bool aggregate)
{
    struct sl_fib_info info;
    size_t n_folded = 0;

    for (size_t i = 0; i < ref->n && aggregate; i++)
        n_folded += ref_is_folded(ref, &ref->entries[i]);
    sl_fib_info(fib, &info);
    assert_int_equal(info.n_entries, ref->n);
    assert_int_equal(info.n_folded, n_folded);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names_are_components(void **state)
{
    struct sl_name_component component;
    uint8_t name[600];
    size_t len = 0, at = 0;
    uint8_t big[300];

    (void)state;
    memset(big, 'x', sizeof big);
    assert_true(sl_name_append(name, sizeof name, &len, 8, "com", 3));
    assert_int_equal(len, 5);
    assert_true(sl_name_append(name, sizeof name, &len, 8, NULL, 0));
    assert_true(sl_name_append(name, sizeof name, &len, 65535, big, 252));
    assert_true(sl_name_append(name, sizeof name, &len, 253, big, 253));
    assert_int_equal(len, 5 + 2 + 3 + 1 + 252 + 3 + 3 + 253);
    assert_memory_equal(name,
                        "\x08\x03"
                        "com\x08\x00\xFD\xFF\xFF\xFC",
                        11);

    static const uint32_t types[] = {8, 8, 65535, 253}, lens[] = {3, 0, 252, 253};
    for (int i = 0; i < 4; i++) {
        assert_true(sl_name_next(name, len, &at, &component));
        assert_int_equal(component.type, types[i]);
        assert_int_equal(component.len, lens[i]);
    }
    assert_false(sl_name_next(name, len, &at, &component));
    assert_int_equal(at, len);
    assert_int_equal(sl_name_well_formed(name, len - 1), len - 259);

    const size_t before = len;
    assert_false(sl_name_append(name, sizeof name, &len, 0, "", 0));
    assert_false(sl_name_append(name, sizeof name, &len, 65536, "", 0));
    assert_false(sl_name_append(name, len + 4, &len, 8, "com", 3));
    assert_true(sl_name_append(name, len + 5, &len, 8, "com", 3));
    assert_int_equal(len, before + 5);
}

/* Numbers that are not in their shortest form, of type 0 or too large, or cut. */
static void malformed_names_end(void **state)
{
    static const struct {
        const char *bytes;
        size_t len, good;
    } cases[] = {{"\x08\x01"
                  "a\x08",
                  4, 3},
                 {"\x08\x01"
                  "a\x08\x02"
                  "b",
                  6, 3},
                 {"\x00\x01"
                  "a",
                  3, 0},
                 {"\xFD\x00\x08\x01"
                  "a",
                  5, 0},
                 {"\x08\xFD\x00\x01"
                  "a",
                  5, 0},
                 {"\xFE\x00\x01\x00\x00\x00", 6, 0},
                 {"\xFF\x00\x00\x00\x00\x00\x00\x00\x08\x00", 10, 0},
                 {"\x08\xFE\x00\x00\x00\x01"
                  "a",
                  7, 0},
                 {"\xFD\x01\x00\x00", 4, 4},
                 {"\xFD\x01", 2, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sl_name_well_formed((const uint8_t *)cases[i].bytes, cases[i].len),
                         cases[i].good);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

static void add_item(struct batch *batch, const struct name *name)
{
    sl_batch_add(batch->batch, name->bytes, (uint32_t)name->len, 0);
}

static void both(struct sl_fib *fib, struct ref *ref, enum sl_fib_verb verb,
                 const struct name *name, uint32_t next_hop)
{
    const struct sl_fib_update update = {.entry = {name->bytes, (uint32_t)name->len, next_hop},
                                         .verb = verb};

    assert_int_equal(apply(fib, verb, name, next_hop), ref_apply(ref, &update));
}

static void deep_name(struct name *name, uint32_t depth)
{
    name->len = 0;
    for (uint32_t i = 0; i < depth; i++)
        put_typed(name, SL_NAME_GENERIC, i % 7 == 3 ? "" : "d", i % 7 != 3);
}

static void long_name(struct name *name, char byte)
{
    static uint8_t bytes[8192];

    memset(bytes, byte, sizeof bytes);
    put(name, "com");
    put_typed(name, SL_NAME_GENERIC, bytes, sizeof bytes);
}

/* Names with edges in them: bytes and lengths alone distinguish them. */
static void edge_name(struct name *name, uint32_t which)
{
    static const char *const texts[] = {"",          "com",  "com/par",  "com/parc", "com/parc/www",
                                        "com/parcx", "co/m", "com/pa/rc"};

    if (which < 8) {
        put(name, texts[which]);
        return;
    }
    name->len = 0;
    switch (which) {
    case 8:
        put_typed(name, 8, "a/b", 3);
        break;
    case 9:
        put(name, "a/b");
        break;
    case 10:
        put_typed(name, 8, "a\0b", 3);
        break;
    case 11:
        put_typed(name, 8, "a\0", 2);
        break;
    case 12:
        put_typed(name, 8, "a%00b", 5);
        break;
    case 13:
        put_typed(name, 8, "", 0);
        break;
    case 14:
        put(put(name, "com"), "com");
        put_typed(name, 8, "", 0);
        break;
    case 15:
        put_typed(name, 1, "com", 3);
        break;
    case 16:
        put_typed(name, 300, "com", 3);
        break;
    case 17:
        deep_name(name, 200);
        break;
    case 18:
        deep_name(name, 199);
        break;
    case 19:
        deep_name(name, 17);
        break;
    case 20:
        deep_name(name, 400);
        break;
    case 21:
        long_name(name, 'y');
        break;
    case 22:
        long_name(name, 'z');
        break;
    case 23:
        long_name(name, 'y');
        put_typed(name, 8, "x", 1);
        break;
    case 24:
        put_typed(name, 8, "\0\0\0\0\0\0\0\0", 8);
        break;
    case 25:
        put_typed(name, 8, "\0\0\0\0\0\0\0\0\0", 9);
        break;
    case 26:
        put_typed(name, 8, "sixteen bytes no", 14);
        break;
    default:
        put_typed(name, 8, "sixteen bytes no", 15);
        put_typed(name, 8, "ww", 2);
    }
}

enum { N_EDGES = 28 };

/* All edges in, each looked up; each out again, one after another. */
static void edges_on(const char *plane, bool aggregate)
{
    struct sl_fib *fib = build(plane, aggregate);
    struct batch *batch = open_batch();
    struct ref ref = {0};
    struct name *name = malloc(sizeof *name);

    assert_non_null(name);
    for (uint32_t i = 0; i < N_EDGES; i++) {
        edge_name(name, i);
        add_item(batch, name);
        put_typed(name, 8, "behind", 6);
        add_item(batch, name);
        name->len -= 3; /* malformed */
        add_item(batch, name);
    }
    check_all(fib, &ref, batch, aggregate);
    for (uint32_t i = N_EDGES; i-- > 0;) {
        edge_name(name, i);
        both(fib, &ref, SL_FIB_INSERT, name, i / 3);
        if (i % 4 == 0)
            check_all(fib, &ref, batch, aggregate);
    }
    check_counts(fib, &ref, aggregate);
    assert_int_equal(sl_fib_rebuild(fib, NULL), SL_OK);
    check_all(fib, &ref, batch, aggregate);
    for (uint32_t i = 0; i < N_EDGES; i++) {
        edge_name(name, i);
        both(fib, &ref, SL_FIB_DELETE, name, 0);
        if (i % 4 == 0)
            check_all(fib, &ref, batch, aggregate);
    }
    check_counts(fib, &ref, aggregate);
    check_all(fib, &ref, batch, aggregate);
    free(name);
    ref_free(&ref);
    close_batch(batch);
    sl_fib_free(fib);
}

static void edges(void **state)
{
    (void)state;
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++) {
        edges_on(sl_fib_planes()[p], false);
        edges_on(sl_fib_planes()[p], true);
    }
}

/* Nothing but a root, or not even that, goes through a file as it goes to a GPU: part by part. */
static void small_tables_are_saved(void **state)
{
    static const struct sl_fib_entry root = {(const uint8_t *)"", 0, 5};
    char path[] = "/tmp/test-fib-XXXXXX";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++)
        for (size_t n = 0; n < 2; n++) {
            struct sl_fib_config config = {.plane = sl_fib_planes()[p], .key = key};
            struct batch *batch = open_batch();
            struct sl_fib_table *loaded;
            struct sl_fib *fib;
            struct name name;

            add_item(batch, put(&name, "com"));
            assert_int_equal(sl_fib_build(&fib, &config, &root, n, NULL), SL_OK);
            assert_int_equal(sl_fib_save(fib, path, NULL), SL_OK);
            assert_int_equal(sl_fib_load(&loaded, path, NULL), SL_OK);
            for (size_t i = 0; sl_fib_engine(loaded)->backends[i] != NULL; i++) {
                const struct sl_fib_backend *backend = sl_fib_engine(loaded)->backends[i];
                char why[SL_WHY_LEN];

                weave(batch);
                if (!backend->usable(why))
                    continue;
                lookup_with(backend, loaded, batch,
                            is_persistent(backend) ? SL_MEMORY_PINNED : SL_MEMORY_HOST);
                assert_int_equal(batch->next_hop[0], n == 1 ? 5 : SL_FIB_NONE);
            }
            sl_fib_unload(loaded);
            sl_fib_free(fib);
            close_batch(batch);
        }
    unlink(path);
}

/* ---- exhaustive ------------------------------------------------------------------------------ */

/* Every table over the seven names of at most two components of two letters. Each name is absent,
 * or has one of two next hops. All names of at most three components are looked up. */
static void tiny_name(struct name *name, uint32_t which)
{
    static const char *const texts[] = {"",      "a",     "b",     "a/a",   "a/b",
                                        "b/a",   "b/b",   "a/a/a", "a/a/b", "a/b/a",
                                        "a/b/b", "b/a/a", "b/a/b", "b/b/a", "b/b/b"};

    put(name, texts[which]);
}

static void tiny_table(const char *plane, bool aggregate, uint32_t code, struct batch *batch)
{
    static struct name names[7];
    struct sl_fib_config config = {.plane = plane, .aggregate = aggregate, .key = key};
    struct sl_fib_entry entries[7];
    struct ref ref = {0};
    struct sl_fib *fib;
    uint32_t n = 0;

    for (uint32_t i = 0; i < 7; i++, code /= 3) {
        if (code % 3 == 0)
            continue;
        tiny_name(&names[i], i);
        entries[n] = (struct sl_fib_entry){names[i].bytes, (uint32_t)names[i].len, code % 3};
        const struct sl_fib_update update = {.entry = entries[n], .verb = SL_FIB_INSERT};
        (void)ref_apply(&ref, &update);
        n++;
    }
    assert_int_equal(sl_fib_build(&fib, &config, entries, n, NULL), SL_OK);
    check_all(fib, &ref, batch, aggregate);
    check_counts(fib, &ref, aggregate);
    sl_fib_free(fib);
    ref_free(&ref);
}

static void all_tiny_tables(void **state)
{
    struct batch *batch = open_batch();
    struct name name;

    (void)state;
    for (uint32_t i = 0; i < 15; i++) {
        tiny_name(&name, i);
        add_item(batch, &name);
    }
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++)
        for (uint32_t code = 0; code < 2187; code++) {
            batch->spares_gpu = code % 32 != 0; /* it takes and gives back memory for each */
            tiny_table(sl_fib_planes()[p], code % 2 == 0, code, batch);
        }
    close_batch(batch);
}

/* ---- random ---------------------------------------------------------------------------------- */

/* Few components, so that names meet; some long ones, so that every plane's strides end. */
static void random_name(struct name *name, uint64_t *seed)
{
    static const char *const parts[] = {
        "a",       "b",   "",     "abcdefg",
        "abcdefh", "com", "comx", "a-component-of-more-than-sixteen-bytes"};
    const uint32_t depth = test_below(seed, 6);

    name->len = 0;
    for (uint32_t i = 0; i < depth; i++) {
        const char *text = parts[test_below(seed, test_below(seed, 2) == 0 ? 2 : 8)];

        put_typed(name, test_below(seed, 20) == 0 ? 9 : 8, text, strlen(text));
    }
}

/* The name of one that is there. */
static void an_entry(struct name *name, const struct ref *ref, uint64_t *seed)
{
    const struct ref_entry *entry = &ref->entries[test_below(seed, (uint32_t)ref->n)];

    name->len = entry->len;
    memcpy(name->bytes, entry->name, entry->len);
}

static void random_operations(const char *plane, bool aggregate, uint32_t n_operations,
                              uint64_t seed)
{
    struct sl_fib *fib = build(plane, aggregate);
    struct batch *batch = open_batch();
    struct ref ref = {0};
    struct name *name = malloc(sizeof *name);

    assert_non_null(name);
    for (uint32_t i = 0; i < n_operations; i++) {
        const uint32_t dice = test_below(&seed, 100);
        const uint32_t inserts = ref.n < 150 ? 60 : 30; /* about 150 entries */
        const enum sl_fib_verb verb = dice < inserts ? SL_FIB_INSERT
                                      : dice < 80    ? SL_FIB_DELETE
                                                     : SL_FIB_CHANGE;

        if (verb != SL_FIB_INSERT && ref.n != 0 && test_below(&seed, 8) != 0)
            an_entry(name, &ref, &seed);
        else
            random_name(name, &seed);
        both(fib, &ref, verb, name, test_below(&seed, 3));
        random_name(name, &seed);
        add_item(batch, name);
        if (i % 1024 == 1023) {
            batch->spares_gpu = i / 1024 % 16 != 15;
            check_all(fib, &ref, batch, aggregate);
            sl_batch_reset(batch->batch);
        }
        if (i % 4096 == 4095) {
            check_counts(fib, &ref, aggregate);
            if (i % 16384 == 16383)
                assert_int_equal(sl_fib_rebuild(fib, NULL), SL_OK);
        }
    }
    free(name);
    ref_free(&ref);
    close_batch(batch);
    sl_fib_free(fib);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { OPERATIONS = 20000 };
#else
enum { OPERATIONS = 500000 };
#endif

/* Of each plane; a tenth where there is a GPU, which takes a copy of the table for each comparison.
 * SLUICE_TEST_OPERATIONS is another number of them. */
static void random_updates(void **state)
{
    const char *text = getenv("SLUICE_TEST_OPERATIONS");
    char why[SL_WHY_LEN];
    const uint32_t n = text != NULL              ? (uint32_t)strtoul(text, NULL, 10)
                       : device_cuda_usable(why) ? OPERATIONS / 10
                                                 : OPERATIONS;

    (void)state;
    for (size_t p = 0; sl_fib_planes()[p] != NULL; p++)
        random_operations(sl_fib_planes()[p], true, n, 11 + p);
}

static void bad_calls(void **state)
{
    struct sl_fib_config config;
    struct sl_diag diag = {0};
    struct sl_fib *fib;
    const struct sl_fib_entry bad = {(const uint8_t *)"\x08\x05x", 3, 1};
    const struct sl_fib_entry none = {(const uint8_t *)"\x08\x01x", 3, SL_FIB_NONE};

    (void)state;
    sl_fib_config_init(&config);
    config.plane = "trie";
    assert_int_equal(sl_fib_build(&fib, &config, NULL, 0, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "mata"));
    config.plane = "auto";
    assert_int_equal(sl_fib_build(&fib, &config, &bad, 1, &diag), SL_EINVAL);
    assert_int_equal(diag.line, 1);
    assert_int_equal(sl_fib_build(&fib, &config, &none, 1, &diag), SL_EINVAL);
    assert_int_equal(sl_fib_build(&fib, &config, NULL, 0, &diag), SL_OK);
    sl_fib_free(fib);
    sl_fib_free(NULL);
}

/* ---- builds ---------------------------------------------------------------------------------- */

enum { BUILT = 60000, BUILT_MAX = 32 /* bytes of each of those names */ };

/* /n/n/n, one to three numbers: names that are others' prefixes, and some equal ones. */
static uint32_t numbered_name(uint8_t *bytes, uint64_t *seed)
{
    const uint32_t depth = 1 + test_below(seed, 3);
    size_t len = 0;

    for (uint32_t d = 0; d < depth; d++) {
        char text[8];
        const int n = snprintf(text, sizeof text, "%u", test_below(seed, 30 << 2 * d));

        assert_true(sl_name_append(bytes, BUILT_MAX, &len, SL_NAME_GENERIC, text, (size_t)n));
    }
    return (uint32_t)len;
}

/* A build sorts its names; its result is that of inserting them one after another. */
static void builds_are_inserts(void **state)
{
    uint8_t(*names)[BUILT_MAX] = malloc(BUILT * sizeof *names);
    struct sl_fib_entry *entries = malloc(BUILT * sizeof *entries);
    struct sl_fib_config config = {.plane = "hash", .key = key};
    struct sl_fib *built, *inserted = build("hash", false);
    struct sl_diag diag = {0};
    struct sl_fib_info a, b;
    uint64_t seed = 17;

    (void)state;
    assert_non_null(names);
    assert_non_null(entries);
    for (uint32_t i = 0; i < BUILT; i++) {
        entries[i] = (struct sl_fib_entry){names[i], numbered_name(names[i], &seed), i};
        struct sl_fib_update update = {.entry = entries[i], .verb = SL_FIB_INSERT};
        size_t n;

        assert_int_equal(sl_fib_apply(inserted, &update, 1, &n, NULL), SL_OK);
    }
    assert_int_equal(sl_fib_build(&built, &config, entries, BUILT, NULL), SL_OK);
    sl_fib_info(built, &a);
    sl_fib_info(inserted, &b);
    assert_int_equal(a.n_entries, b.n_entries);
    assert_in_range(a.n_entries, 1000, BUILT - 1000);
    for (uint32_t i = 0; i < BUILT; i++) {
        const struct sl_fib_match x = sl_fib_find(built, names[i], entries[i].name_len);
        const struct sl_fib_match y = sl_fib_find(inserted, names[i], entries[i].name_len);

        assert_int_equal(x.next_hop, y.next_hop);
        assert_int_equal(x.n_holders, y.n_holders);
    }
    sl_fib_free(built);
    sl_fib_free(inserted);

    entries[BUILT - 1].name_len--;
    entries[40001].name_len--;
    assert_int_equal(sl_fib_build(&built, &config, entries, BUILT, &diag), SL_EINVAL);
    assert_int_equal(diag.line, 40002);
    free(entries);
    free(names);
}

/* Search in mata's last array comes to each slot once, whatever the state and the word. */
static void steps_come_to_all_slots(void **state)
{
    static const uint32_t primes[] = {2, 3, 509, 65537};
    static bool seen[65537];
    uint64_t seed = 3;

    (void)state;
    for (size_t p = 0; p < sizeof primes / sizeof *primes; p++)
        for (int i = 0; i < 20; i++) {
            const struct fib_view view = {.n_places = {0, 0, primes[p]}};
            const uint32_t of = test_random(&seed), word = i == 0 ? 0 : test_random(&seed);
            uint32_t place = test_below(&seed, primes[p]);

            memset(seen, 0, sizeof seen);
            for (uint32_t n = 0; n < primes[p]; n++) {
                assert_true(place < primes[p]);
                assert_false(seen[place]);
                seen[place] = true;
                place = mata_next(&view, place, of, word);
            }
        }
}

/* More next hops than a small table has room for, and more names than its first memory. */
static void small_tables_grow(void **state)
{
    enum { NAMES = 20000, HOPS = 200000 };
    static const char *const planes[] = {"hash", "mata"};
    struct batch *batch = open_batch();

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct sl_fib *fib = build(planes[p], false);
        const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(fib));
        char text[32], why[SL_WHY_LEN];
        struct name name;

        for (uint32_t i = 0; i < NAMES; i++) {
            snprintf(text, sizeof text, "a/long-enough-%u", i);
            assert_int_equal(apply(fib, SL_FIB_INSERT, put(&name, text), i), SL_FIB_DONE);
        }
        for (uint32_t i = NAMES; i < HOPS; i++) /* of the last name */
            assert_int_equal(apply(fib, SL_FIB_CHANGE, &name, i), SL_FIB_DONE);
        sl_batch_reset(batch->batch);
        (void)sl_batch_add(batch->batch, name.bytes, (uint32_t)name.len, 0);
        put(&name, "a/long-enough-7/below");
        (void)sl_batch_add(batch->batch, name.bytes, (uint32_t)name.len, 0);
        lookup_with(sl_fib_choose(engine, SL_DEVICE_CPU, why), sl_fib_table(fib), batch,
                    SL_MEMORY_HOST);
        assert_int_equal(batch->next_hop[0], HOPS - 1);
        assert_int_equal(batch->next_hop[1], 7);
        sl_fib_free(fib);
    }
    close_batch(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_components),
        cmocka_unit_test(malformed_names_end),
        cmocka_unit_test(bad_calls),
        cmocka_unit_test(builds_are_inserts),
        cmocka_unit_test(edges),
        cmocka_unit_test(small_tables_are_saved),
        cmocka_unit_test(all_tiny_tables),
        cmocka_unit_test(random_updates),
        cmocka_unit_test(steps_come_to_all_slots),
        cmocka_unit_test(small_tables_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
