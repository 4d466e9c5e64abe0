/* SPDX-License-Identifier: MIT */
/* Files in parts give what files read in order give, whatever they hold and however loads guess. */
#include "test.h"

#include <unistd.h>

#include "capture_fixture.h"

enum {
    HEADER = 24,
    TAIL = HEADER + SL_CAPTURE_PACKET_MAX,
    ROOM = 300000, /* bytes of a part */
    ARENA = ROOM + TAIL,
    MAX_PARTS = 128
};

/* A little-endian pcap file of microseconds, growing. */
struct file {
    uint8_t *bytes;
    size_t len, cap;
};

static void put(struct file *file, const void *bytes, size_t len)
{
    if (file->len + len > file->cap) {
        file->cap = 2 * (file->len + len);
        file->bytes = realloc(file->bytes, file->cap);
        assert_non_null(file->bytes);
    }
    memcpy(file->bytes + file->len, bytes, len);
    file->len += len;
}

static void put_record(struct file *file, uint32_t seconds, uint32_t fraction, uint32_t len,
                       uint32_t wire_len, const uint8_t *bytes)
{
    const uint32_t header[] = {seconds, fraction, len, wire_len};

    put(file, header, sizeof header);
    put(file, bytes, len);
}

static void begin(struct file *file)
{
    const uint32_t header[] = {IMAGE_PCAP_US, 4u << 16 | 2, 0, 0, SL_CAPTURE_PACKET_MAX, 1};

    *file = (struct file){0};
    put(file, header, sizeof header);
}

static struct sl_batch *new_batch(void)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, ARENA, ARENA / SL_BATCH_ALIGN + 1, &diag), SL_OK);
    return batch;
}

/* Checks that batches, in order, hold the packets of a reading from *at on. */
static void check_batch(const struct sl_batch *batch, const struct reading *reading, uint64_t *at,
                        uint64_t *byte)
{
    for (uint32_t i = 0; i < batch->n_items; i++, (*at)++) {
        struct sl_origin origin = batch->origin[i];

        assert_true(*at < reading->n_packets);
        assert_true(origin.arrival_ns != 0);
        origin.arrival_ns = 0;
        assert_int_equal(batch->packet[i].offset % SL_BATCH_ALIGN, 0);
        assert_int_equal(batch->packet[i].len, reading->lens[*at]);
        assert_memory_equal(batch->bytes + batch->packet[i].offset, reading->bytes + *byte,
                            reading->lens[*at]);
        assert_memory_equal(&origin, &reading->origins[*at], sizeof origin);
        *byte += reading->lens[*at];
    }
}

/* Reads the file in order and in parts, the parts loaded in another order than claimed. Returns how
 * many loads were corrected. */
static unsigned check_file(const struct file *file)
{
    static struct sl_capture_part parts[MAX_PARTS];
    static struct sl_batch *batches[MAX_PARTS];
    struct reading reading;
    struct sl_capture *capture;
    struct sl_capture_stats stats;
    struct sl_diag diag = {0};
    enum sl_status status = SL_OK;
    unsigned n = 0, corrected = 0;
    uint64_t at = 0, byte = 0;
    char path[32];
    const int fd = memory_file(file->bytes, file->len, path);

    reading_of_path(&reading, path, ARENA, 4096);
    assert_int_equal(sl_capture_open_file(&capture, path, READING_SOURCE, &diag), SL_OK);
    do {
        assert_true(n < MAX_PARTS);
        batches[n] = new_batch();
        status = sl_capture_claim(capture, batches[n], &parts[n]);
        if (status == SL_OK)
            assert_int_equal(parts[n].from, n == 0 ? HEADER : parts[n - 1].to);
        n++;
    } while (status == SL_OK);
    assert_int_equal(status, SL_END);
    sl_batch_free(batches[--n]);
    assert_true(n > 2 && parts[n - 1].last && parts[n - 1].to == file->len);

    for (unsigned i = n; i-- > 0;)
        sl_capture_load(&parts[i], batches[i]);
    status = SL_OK;
    for (unsigned i = 0; i < n; i++) {
        bool changed;
        const enum sl_status joined = sl_capture_join(&parts[i], batches[i], &changed, &diag);

        sl_capture_number(&parts[i], batches[i]);
        assert_true(status == SL_OK || (joined == SL_OK && batches[i]->n_items == 0));
        status = status == SL_OK ? joined : status;
        corrected += changed && batches[i]->n_items != 0;
        check_batch(batches[i], &reading, &at, &byte);
        sl_batch_free(batches[i]);
    }
    assert_int_equal(at, reading.n_packets);
    assert_int_equal(status, reading.status);
    assert_string_equal(diag.text, reading.diag.text);
    sl_capture_stats(capture, &stats);
    assert_int_equal(stats.packets, reading.stats.packets);
    assert_int_equal(stats.bytes, reading.stats.bytes);
    assert_int_equal(stats.file_bytes, reading.stats.file_bytes);
    sl_capture_close(capture);
    reading_free(&reading);
    close(fd);
    return corrected;
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint8_t noise[SL_CAPTURE_PACKET_MAX];

static void fill_noise(void)
{
    uint64_t random = 1;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)test_below(&random, 256);
}

/* Ordinary packets, up to len_max bytes. */
static void put_packets(struct file *file, size_t until, uint32_t len_max, uint64_t seed)
{
    for (uint32_t second = 1700000000; file->len < until; second++) {
        const uint32_t len = 1 + test_below(&seed, len_max);

        put_record(file, second, test_below(&seed, 1000000), len, len + test_below(&seed, 2),
                   noise + test_below(&seed, (uint32_t)sizeof noise - len + 1));
    }
}

static void test_ordinary_files(void **state)
{
    static const uint32_t lens[] = {60, 1500, 9000, 65000};

    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct file file;

        begin(&file);
        put_packets(&file, 3000000, lens[i], i + 1);
        /* A part that ends amid a chain of records may miss its guess, most do not. */
        assert_true(check_file(&file) <= 1 + lens[i] / 20000);
        free(file.bytes);
    }
}

/* Where times jump by years and packets are empty, nothing is plausible, and all is right. */
static void test_files_that_look_wrong(void **state)
{
    struct file file;
    uint64_t seed = 3;

    (void)state;
    begin(&file);
    while (file.len < 2000000) {
        const uint32_t len = test_below(&seed, 3) == 0 ? 0 : test_below(&seed, 300);

        put_record(&file, test_below(&seed, 2000000000), test_below(&seed, 2000000000), len,
                   test_below(&seed, 100), noise);
    }
    assert_true(check_file(&file) > 2);
    free(file.bytes);
}

/* Packets that carry pcap records, of other lengths than those around them. */
static void test_captures_in_packets(void **state)
{
    struct file inner, file;

    (void)state;
    begin(&inner);
    put_packets(&inner, 60000, 90, 5);
    begin(&file);
    for (uint32_t second = 1700000000; file.len < 2500000; second++)
        put_record(&file, second, 0, 60000, 60000, inner.bytes);
    assert_true(check_file(&file) > 2);
    free(file.bytes);
    free(inner.bytes);
}

/* Records as long as a part. */
static void test_longest_packets(void **state)
{
    struct file file;

    (void)state;
    begin(&file);
    for (uint32_t second = 1700000000; file.len < 5000000; second++)
        put_record(&file, second, 0, SL_CAPTURE_PACKET_MAX, SL_CAPTURE_PACKET_MAX, noise);
    check_file(&file);
    free(file.bytes);
}

static void test_files_that_end_early(void **state)
{
    (void)state;
    for (uint32_t cut = 1; cut < 1600; cut += 97) {
        struct file file;

        begin(&file);
        put_packets(&file, 2000000, 1500, cut);
        file.len -= cut;
        check_file(&file);
        free(file.bytes);
    }
}

/* A record that claims more than any may, in the first part, in others, and in the last. */
static void test_files_that_go_bad(void **state)
{
    (void)state;
    for (size_t at = 100000; at < 2000000; at += 400000) {
        const uint32_t bad[] = {1700000000, 0, SL_CAPTURE_PACKET_MAX + 1, 0};
        struct file file;

        begin(&file);
        put_packets(&file, at, 1500, at);
        put(&file, bad, sizeof bad);
        put_packets(&file, 2000000, 1500, at + 1);
        check_file(&file);
        free(file.bytes);
    }
}

/* The system calls that read, of this process so far. 0: the kernel does not count them. */
static uint64_t read_calls(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    char line[256];
    uint64_t n = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "syscr:", 6) == 0)
            n = strtoull(line + 6, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return n;
}

/* A file that is cut after its parts were claimed: each part meets the end, and asks once. */
static void test_a_file_that_is_cut(void **state)
{
    struct sl_batch *batch = new_batch();
    struct sl_capture_part parts[3];
    struct sl_capture *capture;
    struct sl_diag diag;
    struct file file;
    char path[32];

    (void)state;
    begin(&file);
    put_packets(&file, 4 * ROOM, 1500, 1);
    const int fd = memory_file(file.bytes, file.len, path);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, &diag), SL_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sl_capture_claim(capture, batch, &parts[i]), SL_OK);
    /* Half of the second part is left, and no record begins in it. */
    assert_int_equal(ftruncate(fd, (off_t)parts[1].from), 0);
    assert_int_equal(ftruncate(fd, (off_t)(parts[1].from + ROOM / 2)), 0);
    const uint64_t before = read_calls();
    for (int i = 1; i < 3; i++) {
        sl_capture_load(&parts[i], batch);
        assert_int_equal(batch->n_items, 0);
    }
    assert_true(read_calls() - before < 100);
    sl_capture_close(capture);
    close(fd);
    sl_batch_free(batch);
    free(file.bytes);
}

static void test_what_is_not_read_in_parts(void **state)
{
    struct image *image = image_pcapng(false);
    struct sl_batch *batch = new_batch(), *few;
    struct sl_capture_part part;
    struct sl_capture *capture;
    struct sl_diag diag;
    struct file file;
    char path[32];
    int fd = memory_file(image->bytes, image->len, path);

    (void)state;
    assert_int_equal(sl_capture_open_file(&capture, path, 0, &diag), SL_OK);
    assert_int_equal(sl_capture_claim(capture, batch, &part), SL_EUNSUPPORTED);
    sl_capture_close(capture);
    close(fd);
    image_free(image);

    begin(&file);
    put_packets(&file, 3 * ROOM, 1500, 1);
    fd = memory_file(file.bytes, file.len, path);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&few, ARENA, 1000, &diag), SL_OK);
    assert_int_equal(sl_capture_claim(capture, few, &part), SL_EUNSUPPORTED);
    sl_batch_add(batch, noise, 10, 0);
    assert_int_equal(sl_capture_claim(capture, batch, &part), SL_EUNSUPPORTED);
    sl_batch_reset(batch);
    assert_int_equal(sl_capture_claim(capture, batch, &part), SL_OK);
    sl_capture_stop(capture);
    assert_int_equal(sl_capture_claim(capture, batch, &part), SL_END);
    sl_capture_close(capture);
    close(fd);
    sl_batch_free(few);
    sl_batch_free(batch);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_files),
        cmocka_unit_test(test_files_that_look_wrong),
        cmocka_unit_test(test_captures_in_packets),
        cmocka_unit_test(test_longest_packets),
        cmocka_unit_test(test_files_that_end_early),
        cmocka_unit_test(test_files_that_go_bad),
        cmocka_unit_test(test_a_file_that_is_cut),
        cmocka_unit_test(test_what_is_not_read_in_parts),
    };

    fill_noise();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
