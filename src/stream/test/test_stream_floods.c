/* SPDX-License-Identifier: MIT */
/* What a segment of a flood costs beside an ordinary one, in counted work: how many basic blocks of
 * the module's code run. The compiler calls the counter in each of them. */
#include "test.h"

#include "stream/stream.h"
#include "stream/stream_tcp.h"

enum {
    FLOWS = 512,
    LEN_MAX = 1448,
    ORDINARY = 512,
    OVER_LEN = 1000,
    MEMORY = 1 << 22,
    MEMORY_MIN = 128 << 10,
    CONTEXT_MAX = 4096
};

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

struct flood {
    struct stream_shard *shard;
    struct stream_output output;
    struct stream stream[FLOWS];
    uint8_t bytes[LEN_MAX];
    uint64_t n; /* segments */
};

static struct flood *begin_with(enum sl_host_policy policy, uint64_t memory, uint32_t context_len)
{
    struct flood *flood = aligned_alloc(64, (sizeof *flood + 63) / 64 * 64);
    struct stream_config config;

    assert_non_null(flood);
    memset(flood, 0, sizeof *flood);
    stream_config_init(&config);
    config.memory = memory;
    config.context_len = context_len != 0 ? context_len : config.context_len;
    assert_int_equal(stream_shards_create(&flood->shard, 1, &config, NULL), SL_OK);
    for (uint32_t i = 0; i < FLOWS; i++)
        flood->stream[i].half[0].policy = (uint8_t)policy;
    stream_shard_begin(flood->shard, &flood->output, flood->bytes);
    work = 0;
    return flood;
}

static struct flood *begin(enum sl_host_policy policy, uint64_t memory)
{
    return begin_with(policy, memory, 0);
}

static void send(struct flood *flood, uint32_t flow, uint32_t half, uint8_t flags, uint32_t seq,
                 uint32_t ack, uint32_t len)
{
    const struct stream_segment segment = {.item = (uint32_t)flood->n,
                                           .len = len,
                                           .seq = seq,
                                           .ack = ack,
                                           .window = 65535,
                                           .flags = flags,
                                           .ttl = 64,
                                           .wscale = STREAM_NO_WSCALE,
                                           .half = (uint8_t)half};

    stream_take(flood->shard, &flood->stream[flow], 1 + flow, &segment);
    if (++flood->n % 4096 != 0)
        return;
    stream_shard_end(flood->shard);
    stream_shard_begin(flood->shard, &flood->output, flood->bytes);
}

static void shake(struct flood *flood, uint32_t flow)
{
    send(flood, flow, 0, TCP_SYN, 0, 0, 0);
    send(flood, flow, 1, TCP_SYN | TCP_ACK, 0, 1, 0);
    send(flood, flow, 0, TCP_ACK, 1, 1, 0);
}

/* The work of a segment. */
static double end(struct flood *flood)
{
    const double each = (double)work / (double)flood->n;

    for (uint32_t flow = 0; flow < FLOWS; flow++)
        stream_end(flood->shard, &flood->stream[flow], 1 + flow, 0);
    assert_int_equal(stream_shard_held(flood->shard), 0);
    stream_shard_end(flood->shard);
    stream_output_free(&flood->output);
    stream_shards_free(flood->shard, 1);
    free(flood);
    return each;
}

static double ordinary(void)
{
    struct flood *flood = begin(SL_HOST_BSD, MEMORY);

    for (uint32_t flow = 0; flow < FLOWS; flow++)
        shake(flood, flow);
    assert_int_equal(stream_shard_held(flood->shard), 0); /* an idle flow is struct stream alone */
    for (uint32_t i = 0; i < 64 * FLOWS; i++) {
        const uint32_t seq = 1 + i / FLOWS * ORDINARY;

        send(flood, i % FLOWS, 0, TCP_ACK, seq, 1, ORDINARY);
        if (i / FLOWS % 2 != 0)
            send(flood, i % FLOWS, 1, TCP_ACK, 1, seq + ORDINARY, 0);
    }
    return end(flood);
}

static double half_open(void)
{
    struct flood *flood = begin(SL_HOST_BSD, MEMORY);

    for (uint32_t i = 0; i < 64 * FLOWS; i++) {
        stream_end(flood->shard, &flood->stream[i % FLOWS], 1 + i % FLOWS, i);
        send(flood, i % FLOWS, 0, TCP_SYN, i, 0, 0);
    }
    return end(flood);
}

static double tiny(void)
{
    struct flood *flood = begin(SL_HOST_BSD, MEMORY);

    shake(flood, 0);
    for (uint32_t i = 0; i < 20000; i++)
        send(flood, 0, 0, TCP_ACK, 1 + i, 1, 1);
    return end(flood);
}

/* In no order, behind a hole that is never filled. */
static double tiny_disorder(void)
{
    struct flood *flood = begin(SL_HOST_BSD, MEMORY);

    shake(flood, 0);
    for (uint32_t i = 0; i < 20000; i++)
        send(flood, 0, 0, TCP_ACK, 2 + i / 1021 * 1021 + i * 577 % 1021, 1, 1);
    return end(flood);
}

static double holes(uint64_t memory, uint32_t flows, uint32_t len)
{
    struct flood *flood = begin(SL_HOST_BSD, memory);

    for (uint32_t flow = 0; flow < flows; flow++)
        shake(flood, flow);
    for (uint32_t i = 0; i < 20000; i++)
        send(flood, i % flows, 0, TCP_ACK, 2 + i / flows * (len + 1), 1, len);
    return end(flood);
}

/* Long segments over many short ones. */
static double over(enum sl_host_policy policy, uint8_t flags)
{
    struct flood *flood = begin(policy, MEMORY);

    shake(flood, 0);
    for (uint32_t i = 0; i < OVER_LEN; i++)
        send(flood, 0, 0, TCP_ACK, 2 + i, 1, 1);
    work = 0;
    flood->n = 0;
    for (uint32_t i = 0; i < OVER_LEN; i++)
        send(flood, 0, 0, flags, 2 + i % 3, 1, OVER_LEN);
    return end(flood);
}

/* Ordinary flows with long contexts, while pieces behind holes hold nearly all memory. */
static double crowded(void)
{
    enum { PIECES = 60, CROWD = 8 };
    struct flood *flood = begin_with(SL_HOST_BSD, MEMORY_MIN, CONTEXT_MAX);

    for (uint32_t i = 0; i < CROWD * PIECES; i++) {
        const uint32_t number = i % PIECES;

        send(flood, i / PIECES, 0, TCP_ACK, 1 + 200 * number, 1, number == 0 ? 1 : 100);
    }
    work = 0;
    flood->n = 0;
    for (uint32_t i = 0; i < 64 * FLOWS; i++)
        send(flood, CROWD + i % (FLOWS - CROWD), 0, TCP_ACK, 1 + i / (FLOWS - CROWD) * ORDINARY, 1,
             ORDINARY);
    return end(flood);
}

/* README.md states these. */
static void test_factors(void **state)
{
    const double one = ordinary();

    (void)state;
    assert_true(one > 10); /* it is counted */
    assert_true(half_open() < 2 * one);
    assert_true(tiny() < 2 * one);
    assert_true(tiny_disorder() < 6 * one);
    for (uint32_t len = 1; len <= LEN_MAX; len += LEN_MAX - 1) {
        assert_true(holes(MEMORY, 1, len) < 10 * one);
        assert_true(holes(MEMORY_MIN, FLOWS, len) < 10 * one);
    }
    fprintf(stderr, "crowded %.1f one %.1f ratio %.2f\n", crowded(), one, crowded() / one);
    assert_true(crowded() < 6 * one);
    for (enum sl_host_policy policy = SL_HOST_BSD; policy < SL_N_HOST_POLICIES; policy++)
        assert_true(policy == SL_HOST_FIRST || over(policy, TCP_ACK) < 12 * one);
    /* The old stay. */
    assert_true(over(SL_HOST_FIRST, TCP_ACK) < OVER_LEN * one);
    assert_true(over(SL_HOST_BSD, 0) < OVER_LEN * one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
