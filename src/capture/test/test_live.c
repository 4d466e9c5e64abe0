/* SPDX-License-Identifier: MIT */
/* Live capture on the loopback interface: datagrams sent to ourselves. Needs the right to capture.
 */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sluice/capture.h"

enum { HEADERS_LEN = 14 + 20 + 8 };

struct fixture {
    struct sl_capture *capture;
    struct sl_batch *batch;
    int wanted, unwanted; /* sockets, each connected to itself */
    uint32_t n_sent, n_seen;
};

static int self_socket(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* A batch of three or four packets, so that many do not fit and wait. */
static int setup(void **state)
{
    struct fixture *const fixture = calloc(1, sizeof *fixture);
    struct sl_diag diag;
    uint16_t port, other;
    char filter[64];

    fixture->wanted = self_socket(&port);
    fixture->unwanted = self_socket(&other);
    snprintf(filter, sizeof filter, "udp and dst port %u", port);
    assert_int_equal(sl_batch_create(&fixture->batch, 320, 8, NULL), SL_OK);
    assert_int_equal(sl_capture_open_live(&fixture->capture, "lo", filter, 3, &diag), SL_OK);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *const fixture = *state;

    sl_capture_close(fixture->capture);
    sl_batch_free(fixture->batch);
    close(fixture->wanted);
    close(fixture->unwanted);
    free(fixture);
    return 0;
}

static uint32_t payload_len(uint32_t i)
{
    return 4 + i % 60;
}

static void send_packets(struct fixture *fixture, uint32_t n)
{
    uint8_t payload[64] = {0};

    while (n-- != 0) {
        memcpy(payload, &fixture->n_sent, 4);
        send(fixture->unwanted, payload, 4, 0);
        assert_true(send(fixture->wanted, payload, payload_len(fixture->n_sent), 0) > 0);
        fixture->n_sent++;
    }
}

static void check_batch(struct fixture *fixture)
{
    const struct sl_batch *const batch = fixture->batch;
    const int64_t now = (int64_t)time(NULL) * 1000000000;

    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_origin *const origin = &batch->origin[i];
        const uint32_t len = HEADERS_LEN + payload_len(fixture->n_seen);

        assert_int_equal(batch->packet[i].len, len);
        assert_memory_equal(batch->bytes + batch->packet[i].offset + HEADERS_LEN, &fixture->n_seen,
                            4);
        assert_int_equal(origin->wire_len, len);
        assert_int_equal(origin->link_type, 1);
        assert_int_equal(origin->source, 3);
        assert_int_equal(origin->position, ++fixture->n_seen);
        assert_true(origin->time_ns > now - INT64_C(60000000000));
        assert_true(origin->time_ns < now + INT64_C(60000000000));
    }
}

/* Reads until n packets were seen or, with n = UINT32_MAX, to the end. */
static enum sl_status read_packets(struct fixture *fixture, uint32_t n)
{
    const uint64_t begin = clock_ns();
    enum sl_status status = SL_OK;
    struct sl_diag diag;

    while (status == SL_OK && fixture->n_seen < n) {
        sl_batch_reset(fixture->batch);
        status = sl_capture_read(fixture->capture, fixture->batch, &diag);
        check_batch(fixture);
        assert_true(clock_ns() - begin < 60 * UINT64_C(1000000000));
    }
    return status;
}

static void test_filtered_packets_arrive_once_in_order(void **state)
{
    struct fixture *const fixture = *state;
    struct sl_capture_stats stats;

    assert_string_equal(sl_capture_name(fixture->capture), "lo");
    send_packets(fixture, 500);
    assert_int_equal(read_packets(fixture, 500), SL_OK);
    send_packets(fixture, 100);
    assert_int_equal(read_packets(fixture, 600), SL_OK);
    sl_capture_stats(fixture->capture, &stats);
    assert_int_equal(stats.packets, 600);
    assert_int_equal(stats.kernel_packets, 600);
    assert_int_equal(stats.kernel_drops, 0);
    assert_int_equal(stats.interface_drops, 0);
    assert_int_equal(stats.file_bytes, 0);
}

/* On a quiet interface too, and without spinning until then. */
static void test_read_comes_back(void **state)
{
    struct fixture *const fixture = *state;

    for (int i = 0; i < 3; i++) {
        const uint64_t begin = clock_ns();
        const clock_t processor = clock();

        assert_int_equal(sl_capture_read(fixture->capture, fixture->batch, NULL), SL_OK);
        assert_in_range(clock() - processor, 0, CLOCKS_PER_SEC / 50);
        assert_int_equal(fixture->batch->n_items, 0);
        assert_in_range(clock_ns() - begin, 50000000, UINT64_C(60000000000));
    }
}

/* The kernel hands over each packet as it comes, and a read ends when the first has waited. */
static void test_latency_closes_batches(void **state)
{
    enum { LATENCY_NS = 3000000 };
    struct fixture *const fixture = *state;
    uint64_t shortest = UINT64_MAX;

    assert_int_equal(sl_capture_limit_latency(fixture->capture, LATENCY_NS, NULL), SL_OK);
    for (int i = 0; i < 20; i++) {
        const uint64_t begin = clock_ns();

        send_packets(fixture, 1);
        assert_int_equal(read_packets(fixture, fixture->n_sent), SL_OK);

        const uint64_t took = clock_ns() - begin;
        assert_true(took >= LATENCY_NS);
        shortest = took < shortest ? took : shortest;
    }
    assert_true(shortest < 30 * LATENCY_NS); /* without, 100 ms; the machine may be busy */
    assert_int_equal(sl_capture_limit_latency(fixture->capture, 0, NULL), SL_OK);
    send_packets(fixture, 100);
    assert_int_equal(read_packets(fixture, fixture->n_sent), SL_OK);
}

/* The packets lie in the kernel when the stop comes. */
static void test_stop_loses_nothing(void **state)
{
    struct fixture *const fixture = *state;
    struct sl_capture_stats stats;

    send_packets(fixture, 10);
    assert_int_equal(read_packets(fixture, 10), SL_OK);
    send_packets(fixture, 1000);
    sl_capture_stop(fixture->capture);
    assert_int_equal(read_packets(fixture, UINT32_MAX), SL_END);
    assert_int_equal(fixture->n_seen, 1010);

    /* Packets after the end are nobody's. */
    send_packets(fixture, 10);
    usleep(250000);
    sl_batch_reset(fixture->batch);
    assert_int_equal(sl_capture_read(fixture->capture, fixture->batch, NULL), SL_END);
    assert_int_equal(fixture->batch->n_items, 0);
    sl_capture_stats(fixture->capture, &stats);
    assert_int_equal(stats.packets, 1010);
}

static void test_packet_larger_than_the_batch(void **state)
{
    struct fixture *const fixture = *state;
    struct sl_batch *small;
    struct sl_diag diag;
    enum sl_status status;

    assert_int_equal(sl_batch_create(&small, 16, 8, NULL), SL_OK);
    send_packets(fixture, 2);
    do
        status = sl_capture_read(fixture->capture, small, &diag);
    while (status == SL_OK);
    assert_int_equal(status, SL_EINVAL);
    assert_int_equal(sl_capture_read(fixture->capture, small, &diag), SL_EINVAL);
    assert_int_equal(read_packets(fixture, 2), SL_OK);
    sl_batch_free(small);
}

static void test_what_cannot_be_opened(void **state)
{
    struct sl_capture *capture;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_capture_open_live(&capture, "no-such-if", NULL, 0, &diag), SL_EIO);
    assert_string_equal(diag.file, "no-such-if");
    assert_non_null(strstr(diag.text, "No such device exists"));
    assert_int_equal(sl_capture_open_live(&capture, "lo", "udp prot 5", 0, &diag), SL_EINVAL);
    assert_string_equal(diag.file, "lo");
    assert_non_null(strstr(diag.text, "filter \"udp prot 5\": "));
    assert_non_null(strstr(diag.text, "syntax error"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_filtered_packets_arrive_once_in_order, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_read_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_latency_closes_batches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_packet_larger_than_the_batch, setup, teardown),
        cmocka_unit_test(test_what_cannot_be_opened),
    };
    struct sl_capture *capture;
    struct sl_diag diag;

    if (sl_capture_open_live(&capture, "lo", NULL, 0, &diag) != SL_OK) {
        printf("skipped: %s: %s\n", diag.file, diag.text);
        return TEST_SKIPPED;
    }
    sl_capture_close(capture);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
