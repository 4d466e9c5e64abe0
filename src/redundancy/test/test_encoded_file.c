/* SPDX-License-Identifier: MIT */
/* Encoded files: round trips of captures and of anything else, and damage of every kind found,
 * named by frame, with all before it recovered. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "redundancy/files/encoded_file.h"
#include "redundancy_fixture.h"

/* A file's bytes. */
struct content {
    uint8_t *bytes;
    size_t len;
};

static int file_of(const uint8_t *bytes, size_t len)
{
    const int fd = memfd_create("content", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(fd_write(fd, bytes, len));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static struct content content_of(int fd)
{
    const off_t len = lseek(fd, 0, SEEK_END);
    struct content content = {malloc((size_t)len + 1), (size_t)len};

    assert_int_equal(pread(fd, content.bytes, content.len, 0), len);
    close(fd);
    return content;
}

static struct sl_redundancy_file_config config_of(int level)
{
    struct sl_redundancy_file_config config;

    sl_redundancy_file_config_init(&config);
    config.level = level;
    config.cache_len = SL_REDUNDANCY_CACHE_MIN;
    return config;
}

static bool whole_batches; /* by the steps of a GPU, on the CPU */
static bool flush;         /* zstd never begins anew */

static struct content encode(const uint8_t *bytes, size_t len, int level)
{
    struct sl_redundancy_file_config config = config_of(level);
    struct sl_redundancy_file_stats stats;
    struct sl_diag diag;
    const int in = file_of(bytes, len), out = file_of(NULL, 0);

    config.whole_batches = whole_batches;
    config.flush = flush;
    assert_int_equal(sl_redundancy_encode_file(in, out, &config, &stats, &diag), SL_OK);
    assert_int_equal(stats.bytes_in, len);
    close(in);

    const struct content content = content_of(out);
    assert_int_equal(stats.bytes_out, content.len);
    return content;
}

static enum sl_status decode_by(const uint8_t *bytes, size_t len, uint32_t n_threads,
                                struct content *content, struct sl_redundancy_file_stats *stats,
                                struct sl_diag *diag)
{
    struct sl_redundancy_file_config config = config_of(0);
    const int in = file_of(bytes, len), out = file_of(NULL, 0);

    config.n_threads = n_threads;
    const enum sl_status status = sl_redundancy_decode_file(in, out, &config, stats, diag);
    if (status == SL_OK)
        assert_int_equal(lseek(in, 0, SEEK_CUR), len); /* as read leaves it */
    close(in);
    *content = content_of(out);
    assert_int_equal(stats->bytes_out, content->len);
    return status;
}

/* One thread and several come to the same. */
static enum sl_status decode(const uint8_t *bytes, size_t len, struct content *content,
                             struct sl_diag *diag)
{
    struct sl_redundancy_file_stats stats, others;
    struct sl_diag another = *diag = (struct sl_diag){0};
    struct content other;
    const enum sl_status status = decode_by(bytes, len, 1, content, &stats, diag);

    assert_int_equal(decode_by(bytes, len, 4, &other, &others, &another), status);
    assert_string_equal(another.text, diag->text);
    assert_memory_equal(&others, &stats, sizeof stats);
    assert_int_equal(other.len, content->len);
    assert_memory_equal(other.bytes, content->bytes, other.len);
    free(other.bytes);
    return status;
}

static void round_trip(const uint8_t *bytes, size_t len, int level)
{
    struct content encoded = encode(bytes, len, level), decoded;
    struct sl_diag diag;

    assert_int_equal(decode(encoded.bytes, encoded.len, &decoded, &diag), SL_OK);
    assert_int_equal(decoded.len, len);
    assert_memory_equal(decoded.bytes, bytes, len);
    free(encoded.bytes);
    free(decoded.bytes);
}

/* ---- round trips ----------------------------------------------------------------------------- */

/* Bytes that repeat what is up to some MB behind. */
static struct content make_content(uint64_t seed, size_t len)
{
    struct content content = {malloc(len + 1), len};
    struct traffic traffic;

    traffic_init(&traffic, seed, 3 << 20);
    for (size_t done = 0; done < len;) {
        const uint32_t part = len - done < 9000 ? (uint32_t)(len - done) : 9000;

        traffic_packet(&traffic, content.bytes + done, part);
        done += part;
    }
    traffic_free(&traffic);
    return content;
}

#ifdef __SANITIZE_THREAD__
enum { LENS_STEP = 5 }; /* to threads, few are as good as all */
#else
enum { LENS_STEP = 1 };
#endif

static void test_any_bytes(void **state)
{
    static const size_t lens[] = {0,
                                  1,
                                  15,
                                  16,
                                  17,
                                  5000,
                                  FILE_PACKET_LEN - 1,
                                  FILE_PACKET_LEN,
                                  FILE_PACKET_LEN + 1,
                                  3 * FILE_PACKET_LEN,
                                  3000001};

    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i += LENS_STEP) {
        struct content content = make_content(i, lens[i]);

        round_trip(content.bytes, content.len, 0);
        round_trip(content.bytes, content.len, 1);
        memset(content.bytes, 0, content.len);
        round_trip(content.bytes, content.len, 0);
        free(content.bytes);
    }
}

static void test_whole_batches(void **state)
{
    struct content content = make_content(3, (size_t)40 << 20); /* more than are under way */

    whole_batches = true;
    test_any_bytes(state);
    round_trip(content.bytes, content.len, 0);
    whole_batches = false;
    free(content.bytes);
}

/* Letters that repeat nothing: matching is faster than zstd, and leaves groups to all threads. */
static struct content make_letters(size_t len)
{
    const struct content content = {malloc(len), len};
    uint64_t random = 7;

    for (size_t i = 0; i < len; i++)
        content.bytes[i] = (uint8_t)('a' + test_below(&random, 16));
    return content;
}

/* Content three times, so that rounds of pieces go on as those before. */
static struct content make_repeats(void)
{
    struct content once = make_content(7, 9000001);
    struct content all = {malloc(3 * once.len), 3 * once.len};

    for (size_t i = 0; i < 3; i++)
        memcpy(all.bytes + i * once.len, once.bytes, once.len);
    free(once.bytes);
    return all;
}

static void *write_all(void *user)
{
    const struct content *const content = ((void **)user)[0];
    const int fd = *(int *)((void **)user)[1];

    assert_true(fd_write(fd, content->bytes, content->len));
    close(fd);
    return NULL;
}

/* From a file or through a pipe. */
static struct content encode_by(const struct content *content, bool piped, uint32_t n_threads,
                                struct sl_redundancy_file_stats *stats)
{
    struct sl_redundancy_file_config config = config_of(3);
    const int out = file_of(NULL, 0);
    struct sl_diag diag;
    int in[2] = {-1, -1};
    void *arguments[] = {(void *)(uintptr_t)content, &in[1]};
    pthread_t writer;

    config.cache_len = 32 << 20;
    config.n_threads = n_threads;
    if (piped) {
        assert_int_equal(pipe(in), 0);
        assert_int_equal(pthread_create(&writer, NULL, write_all, arguments), 0);
    } else {
        in[0] = file_of(content->bytes, content->len);
    }
    assert_int_equal(sl_redundancy_encode_file(in[0], out, &config, stats, &diag), SL_OK);
    if (piped)
        pthread_join(writer, NULL);
    else
        assert_int_equal(lseek(in[0], 0, SEEK_CUR), content->len); /* as read leaves it */
    close(in[0]);
    return content_of(out);
}

/* Returns what one thread counts, and others as well. */
static struct sl_redundancy_file_stats expect_the_same(const struct content *content)
{
    static const uint32_t n_threads[] = {2, 5};
    struct sl_redundancy_file_stats stats, others;
    const struct content one = encode_by(content, false, 1, &stats);
    struct content back;
    struct sl_diag diag;

    for (size_t i = 0; i < 2; i++) {
        const struct content other = encode_by(content, i == 0, n_threads[i], &others);

        assert_int_equal(one.len, other.len);
        assert_memory_equal(one.bytes, other.bytes, one.len);
        assert_memory_equal(&stats, &others, sizeof stats);
        free(other.bytes);
    }
    assert_int_equal(decode(one.bytes, one.len, &back, &diag), SL_OK);
    assert_int_equal(back.len, content->len);
    assert_memory_equal(back.bytes, content->bytes, content->len);
    free(one.bytes);
    free(back.bytes);
    return stats;
}

static void test_threads_write_the_same(void **state)
{
    const struct content letters = make_letters(6 << 20), repeats = make_repeats();

    (void)state;
    expect_the_same(&letters);
    const struct sl_redundancy_file_stats stats = expect_the_same(&repeats);
    assert_true(stats.match.samples < repeats.len / 32 / 2); /* the second time takes few */
    assert_true(stats.match.matched_bytes > repeats.len / 2);
    free(letters.bytes);
    free(repeats.bytes);
}

#ifdef __SANITIZE_THREAD__
enum { STRIDE = 100 }; /* of captures: each is slow */
#else
enum { STRIDE = 1 };
#endif

struct travel {
    uint64_t n_met, n_files, n_bytes;
};

static void round_trip_capture(void *user, const char *path)
{
    struct travel *const travel = user;

    if (travel->n_met++ % STRIDE != 0)
        return;
    struct content content = content_of(open(path, O_RDONLY | O_CLOEXEC));

    round_trip(content.bytes, content.len, travel->n_files++ % 2 == 0 ? 0 : 3);
    travel->n_bytes += content.len;
    free(content.bytes);
}

static void test_captures(void **state)
{
    struct travel travel = {0};

    (void)state;
    fixture_each_capture(round_trip_capture, &travel);
    print_message("%llu files, %llu bytes\n", (unsigned long long)travel.n_files,
                  (unsigned long long)travel.n_bytes);
    assert_true(travel.n_bytes > 0);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Where the records of an encoded file begin; the last entry is its end. */
static size_t find_records(const struct content *file, size_t *starts, size_t max)
{
    size_t n = 0, at = FILE_HEADER_LEN;

    for (; at < file->len; n++) {
        assert_true(n + 1 < max);
        starts[n] = at;
        at += RECORD_HEADER_LEN + (size_t)get_le(file->bytes + at, 4);
    }
    starts[n] = at;
    assert_int_equal(at, file->len);
    return n;
}

/* Decoding fails at frame `frame` (from 1), with all before it recovered. */
static void expect_failure(const struct content *original, const uint8_t *bytes, size_t len,
                           size_t frame, const char *reason)
{
    const size_t before = (frame - 1) * FILE_PACKET_LEN;
    struct content decoded;
    struct sl_diag diag = {0};
    char name[32];

    assert_int_not_equal(decode(bytes, len, &decoded, &diag), SL_OK);
    snprintf(name, sizeof name, "frame %zu at", frame);
    if (strstr(diag.text, name) == NULL || strstr(diag.text, reason) == NULL)
        fail_msg("'%s' does not hold '%s' and '%s'", diag.text, name, reason);
    assert_int_equal(decoded.len, before < original->len ? before : original->len);
    assert_memory_equal(decoded.bytes, original->bytes, decoded.len);
    free(decoded.bytes);
}

static void flip_bits(int level)
{
    struct content original = make_content(5, 4 * FILE_PACKET_LEN + 777);
    struct content file = encode(original.bytes, original.len, level);
    size_t starts[16];
    const size_t n = find_records(&file, starts, 16);
    uint64_t random = 77;

    assert_int_equal(n, 6); /* five frames and the end */
    for (uint32_t i = 0; i < test_fewer(120, 24); i++) {
        /* Half of them in the few bytes of headers. */
        const size_t record = test_below(&random, (uint32_t)n);
        const size_t at =
            i % 2 == 0
                ? FILE_HEADER_LEN + test_below(&random, (uint32_t)(file.len - FILE_HEADER_LEN))
                : starts[record] + test_below(&random, RECORD_HEADER_LEN);
        const uint8_t bit = (uint8_t)(1 << test_below(&random, 8));
        size_t frame = 1;

        while (at >= starts[frame])
            frame++;
        file.bytes[at] ^= bit;
        expect_failure(&original, file.bytes, file.len, frame, "");
        file.bytes[at] ^= bit;
    }
    free(original.bytes);
    free(file.bytes);
}

static void test_flipped_bits(void **state)
{
    (void)state;
    flip_bits(0);
    flip_bits(1);
}

static void test_cut_files(void **state)
{
    struct content original = make_content(6, 3 * FILE_PACKET_LEN + 5);
    struct content file = encode(original.bytes, original.len, 1);
    size_t starts[16];
    const size_t n = find_records(&file, starts, 16);
    uint64_t random = 78;

    (void)state;
    for (size_t record = 0; record < n; record++)
        for (uint32_t i = 0; i < test_fewer(20, 3); i++) {
            const size_t record_len = starts[record + 1] - starts[record];
            const size_t len = starts[record] + (i < 2 ? i * (record_len - 1)
                                                       : test_below(&random, (uint32_t)record_len));

            expect_failure(&original, file.bytes, len, record + 1, "the file ends");
        }
    free(original.bytes);
    free(file.bytes);
}

/* Behind what is read ahead at first, too. */
static void test_damage_far_behind(void **state)
{
    struct content original = make_letters(40 * FILE_PACKET_LEN - 9);
    struct content file = encode(original.bytes, original.len, 1);
    size_t starts[64];
    const size_t n = find_records(&file, starts, 64);
    uint64_t random = 79;

    (void)state;
    for (uint32_t i = 0; i < test_fewer(24, 4); i++) {
        const size_t record = test_below(&random, (uint32_t)n);
        const size_t at =
            starts[record] + test_below(&random, (uint32_t)(starts[record + 1] - starts[record]));

        file.bytes[at] ^= 16;
        expect_failure(&original, file.bytes, file.len, record + 1, "");
        file.bytes[at] ^= 16;
        if (at != starts[record])
            expect_failure(&original, file.bytes, at, record + 1, "the file ends");
    }
    free(original.bytes);
    free(file.bytes);
}

/* Frames of zstd that end and one that goes on through all of the file. A file of both breaks off
 * one where the other begins a frame anew. */
static void test_streams_that_break_off(void **state)
{
    struct content original = make_letters(20 * FILE_PACKET_LEN);
    struct content groups = encode(original.bytes, original.len, 1);
    struct content stream, both = {NULL, 0}, decoded;
    size_t starts[2][64], frame = 1;
    struct sl_diag diag;

    (void)state;
    flush = true;
    stream = encode(original.bytes, original.len, 1);
    flush = false;
    find_records(&groups, starts[0], 64);
    assert_int_equal(find_records(&stream, starts[1], 64), 21);
    while (get_le(groups.bytes + starts[0][frame] + RECORD_HEADER_LEN, 4) != ZSTD_MAGICNUMBER)
        frame++;
    both.len = starts[1][frame] + (groups.len - starts[0][frame]);
    both.bytes = malloc(both.len);
    memcpy(both.bytes, stream.bytes, starts[1][frame]);
    memcpy(both.bytes + starts[1][frame], groups.bytes + starts[0][frame],
           groups.len - starts[0][frame]);
    expect_failure(&original, both.bytes, both.len, frame + 1, "zstd expects more");
    assert_int_equal(decode(stream.bytes, stream.len, &decoded, &diag), SL_OK);
    assert_memory_equal(decoded.bytes, original.bytes, original.len);
    free(decoded.bytes);
    free(both.bytes);
    free(stream.bytes);
    free(groups.bytes);
    free(original.bytes);
}

/* Writing fails on a thread of its own. */
static void test_a_full_disk_ends_decoding(void **state)
{
    struct content original = make_letters(40 * FILE_PACKET_LEN);
    struct content file = encode(original.bytes, original.len, 0);
    struct sl_redundancy_file_config config = config_of(0);
    struct sl_redundancy_file_stats stats;

    (void)state;
    for (config.n_threads = 1; config.n_threads < 4; config.n_threads++) {
        const int in = file_of(file.bytes, file.len), out = open("/dev/full", O_WRONLY | O_CLOEXEC);
        struct sl_diag diag;

        assert_int_equal(sl_redundancy_decode_file(in, out, &config, &stats, &diag), SL_EIO);
        assert_non_null(strstr(diag.text, "cannot write"));
        assert_int_equal(stats.bytes_out, 0);
        close(in);
        close(out);
    }
    free(original.bytes);
    free(file.bytes);
}

/* Records of a file in another order; each is whole. */
static void expect_order_failure(const struct content *original, const struct content *file,
                                 const size_t *order, size_t n_order, size_t frame,
                                 const char *reason)
{
    uint8_t *const bytes = malloc(2 * file->len);
    size_t starts[16], len = FILE_HEADER_LEN;

    find_records(file, starts, 16);
    memcpy(bytes, file->bytes, FILE_HEADER_LEN);
    for (size_t i = 0; i < n_order; i++) {
        const size_t record_len = starts[order[i] + 1] - starts[order[i]];

        memcpy(bytes + len, file->bytes + starts[order[i]], record_len);
        len += record_len;
    }
    expect_failure(original, bytes, len, frame, reason);
    free(bytes);
}

static void lose_frames(int level)
{
    struct content original = make_content(7, 3 * FILE_PACKET_LEN + 5);
    struct content file = encode(original.bytes, original.len, level);

    expect_order_failure(&original, &file, (const size_t[]){0, 2, 3, 4}, 4, 2, "missing");
    expect_order_failure(&original, &file, (const size_t[]){1, 2, 3, 4}, 4, 1, "missing");
    expect_order_failure(&original, &file, (const size_t[]){0, 1, 1, 2, 3, 4}, 6, 3, "missing");
    expect_order_failure(&original, &file, (const size_t[]){0, 2, 1, 3, 4}, 5, 2, "missing");
    expect_order_failure(&original, &file, (const size_t[]){0, 1, 2, 4}, 4, 4, "missing");
    expect_order_failure(&original, &file, (const size_t[]){0, 1, 2, 3, 4, 4}, 6, 5,
                         "more follows");
    free(original.bytes);
    free(file.bytes);
}

static void test_missing_frames(void **state)
{
    (void)state;
    lose_frames(0);
    lose_frames(1);
}

static void expect_refusal(const struct content *file, enum sl_status status, const char *reason)
{
    struct content decoded;
    struct sl_diag diag = {0};

    assert_int_equal(decode(file->bytes, file->len, &decoded, &diag), status);
    assert_non_null(strstr(diag.text, reason));
    assert_int_equal(decoded.len, 0);
    free(decoded.bytes);
}

/* Changes a number of the header, with a check that fits. */
static void set_header(struct content *file, size_t at, uint64_t value, int n)
{
    put_le(file->bytes + at, value, n);
    put_le(file->bytes + FILE_HEADER_CHECKED, XXH3_64bits(file->bytes, FILE_HEADER_CHECKED), 8);
}

static void test_refused_files(void **state)
{
    struct content original = make_content(8, 1000);
    struct content file = encode(original.bytes, original.len, 1);
    const struct content empty = {original.bytes, 0};
    const size_t len = file.len;

    (void)state;
    expect_refusal(&original, SL_EFORMAT, "not an encoded file");
    expect_refusal(&empty, SL_EFORMAT, "not an encoded file");
    file.len = 39;
    expect_refusal(&file, SL_ETRUNCATED, "39 of 40 bytes");
    file.len = len;
    for (size_t at = 0; at < FILE_HEADER_LEN; at++) {
        file.bytes[at] ^= 4;
        expect_refusal(&file, SL_EFORMAT, at < 8 ? "not an encoded file" : "header is damaged");
        file.bytes[at] ^= 4;
    }
    set_header(&file, 8, 2, 2);
    expect_refusal(&file, SL_EUNSUPPORTED, "version 2");
    set_header(&file, 8, 1, 2);
    set_header(&file, 10, 5, 2);
    expect_refusal(&file, SL_EUNSUPPORTED, "flags 0x5");
    set_header(&file, 10, 3, 2);
    expect_refusal(&file, SL_EFORMAT, "after a cache, which is needed");
    set_header(&file, 10, 1, 2);
    set_header(&file, 12, SL_FRAME_MAX + 1, 4);
    expect_refusal(&file, SL_EFORMAT, "frames carry");
    set_header(&file, 12, FILE_PACKET_LEN, 4);
    set_header(&file, 16, UINT64_C(1) << 45, 8);
    expect_refusal(&file, SL_ENOMEM, "this machine has");
    set_header(&file, 16, 1, 8);
    expect_refusal(&file, SL_EINVAL, "a cache of 1 ");
    free(original.bytes);
    free(file.bytes);
}

/* ---- several files, and caches that are kept ------------------------------------------------- */

/* The cache that a run keeps is `*kept` from then on. */
static enum sl_status run_with_cache(bool encodes, const struct content *in, uint64_t cache_len,
                                     struct content *kept, struct content *out,
                                     struct sl_diag *diag)
{
    struct sl_redundancy_file_config config = config_of(1);
    struct sl_redundancy_file_stats stats;
    const int from = file_of(in->bytes, in->len), to = file_of(NULL, 0);

    config.cache_len = cache_len;
    config.cache_in = file_of(kept->bytes, kept->len);
    config.cache_out = file_of(NULL, 0);
    const enum sl_status status = encodes
                                      ? sl_redundancy_encode_file(from, to, &config, &stats, diag)
                                      : sl_redundancy_decode_file(from, to, &config, &stats, diag);
    close(from);
    close(config.cache_in);
    *out = content_of(to);
    if (status != SL_OK) {
        close(config.cache_out);
        return status;
    }
    free(kept->bytes);
    *kept = content_of(config.cache_out);
    return SL_OK;
}

static void append(struct content *to, const struct content *from)
{
    to->bytes = realloc(to->bytes, to->len + from->len + 1);
    assert_non_null(to->bytes);
    memcpy(to->bytes + to->len, from->bytes, from->len);
    to->len += from->len;
}

/* Four runs, the third with another length of cache, and the last with another order of content.
 * Each finds what the runs before have encoded. All runs as one file come back as well. */
static void test_kept_caches(void **state)
{
    static const uint64_t cache_lens[] = {4 << 20, 4 << 20, 2 << 20, 3 << 20};
    struct content kept[2] = {{NULL, 0}, {NULL, 0}}, all = {NULL, 0}, all_encoded = {NULL, 0};
    struct content original = make_content(9, 1500000), decoded;
    struct sl_diag diag = {0};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct content encoded;

        original.bytes[i * 1000] ^= 1;
        assert_int_equal(run_with_cache(true, &original, cache_lens[i], &kept[0], &encoded, &diag),
                         SL_OK);
        assert_int_equal(run_with_cache(false, &encoded, cache_lens[i], &kept[1], &decoded, &diag),
                         SL_OK);
        assert_int_equal(decoded.len, original.len);
        assert_memory_equal(decoded.bytes, original.bytes, original.len);
        if (i > 0)
            assert_true(encoded.len < original.len / 50);
        append(&all, &original);
        append(&all_encoded, &encoded);
        free(decoded.bytes);
        free(encoded.bytes);
    }
    assert_int_equal(decode(all_encoded.bytes, all_encoded.len, &decoded, &diag), SL_OK);
    assert_int_equal(decoded.len, all.len);
    assert_memory_equal(decoded.bytes, all.bytes, all.len);
    free(decoded.bytes);
    free(kept[0].bytes);
    free(kept[1].bytes);
    free(all.bytes);
    free(all_encoded.bytes);
    free(original.bytes);
}

/* A file after another cache, and a cache that was cut or changed anywhere, are refused. */
static void test_refused_caches(void **state)
{
    struct content kept = {NULL, 0}, other = {NULL, 0}, encoded, out;
    struct content original = make_content(10, 40000), another = make_content(11, 40000);
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(run_with_cache(true, &original, 1 << 20, &kept, &out, &diag), SL_OK);
    free(out.bytes);
    assert_int_equal(run_with_cache(true, &another, 1 << 20, &other, &out, &diag), SL_OK);
    free(out.bytes);
    struct content first = {malloc(kept.len + 1), kept.len};
    memcpy(first.bytes, kept.bytes, kept.len);
    assert_int_equal(run_with_cache(true, &original, 1 << 20, &kept, &encoded, &diag), SL_OK);
    assert_int_equal(run_with_cache(false, &encoded, 1 << 20, &other, &out, &diag), SL_EFORMAT);
    assert_non_null(strstr(diag.text, "after another cache"));
    assert_int_equal(out.len, 0);
    free(out.bytes);
    for (size_t at = 0; at < first.len;
         at += at < 64 || at + 32 > first.len ? 1 : test_fewer(997, 9973)) {
        first.bytes[at] ^= 0x10;
        assert_int_not_equal(run_with_cache(false, &encoded, 1 << 20, &first, &out, &diag), SL_OK);
        first.bytes[at] ^= 0x10;
        free(out.bytes);
    }
    for (size_t len = 1; len < first.len; len += len < 100 ? 1 : test_fewer(4999, 19997)) {
        struct content cut = {first.bytes, len};

        assert_int_not_equal(run_with_cache(false, &encoded, 1 << 20, &cut, &out, &diag), SL_OK);
        free(out.bytes);
    }
    assert_int_equal(run_with_cache(false, &encoded, 1 << 20, &first, &out, &diag), SL_OK);
    free(out.bytes);
    free(first.bytes);
    free(kept.bytes);
    free(other.bytes);
    free(encoded.bytes);
    free(original.bytes);
    free(another.bytes);
}

/* Each packet is a part of its own. The input stays open, and encoding ends. */
static void test_a_full_disk_ends_the_wait_for_input(void **state)
{
    struct sl_redundancy_file_config config = config_of(0);
    struct sl_redundancy_file_stats stats;
    const int out = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct sl_diag diag;
    int in[2];

    (void)state;
    config.flush = true;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, in), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(write(in[1], "packet", 6), 6);
    assert_int_equal(sl_redundancy_encode_file(in[0], out, &config, &stats, &diag), SL_EIO);
    close(in[0]);
    close(in[1]);
    close(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_whole_batches),
        cmocka_unit_test(test_threads_write_the_same),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_damage_far_behind),
        cmocka_unit_test(test_streams_that_break_off),
        cmocka_unit_test(test_a_full_disk_ends_decoding),
        cmocka_unit_test(test_missing_frames),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_kept_caches),
        cmocka_unit_test(test_refused_caches),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_a_full_disk_ends_the_wait_for_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
