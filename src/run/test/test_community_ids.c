/* SPDX-License-Identifier: MIT */
/* Community IDs: values that the specification publishes (corelight/community-id-spec,
 * baseline/baseline_deflt.json), and ids that are remembered. */
#include "run/community_ids.h"
#include "test.h"

static const struct {
    const char *src, *dst;
    uint16_t src_port, dst_port; /* of ICMP: type and code */
    uint8_t protocol;
    const char *id;
} published[] = {
    {"128.232.110.120", "66.35.250.204", 34855, 80, 6, "1:LQU9qZlK+B5F3KDmev6m5PMibrg="},
    {"2001:470:e5bf:dead:4957:2174:e82c:4887", "2607:f8b0:400c:c03::1a", 63943, 25, 6,
     "1:/qFaeAR+gFe1KYjMzVDsMv+wgU4="},
    {"192.168.1.52", "8.8.8.8", 54585, 53, 17, "1:d/FP5EW3wiY1vCndhwleRRKHowQ="},
    {"192.168.170.8", "192.168.170.56", 7, 7, 132, "1:MP2EtRCAUIZvTw6MxJHLV7N7JDs="},
    {"192.168.0.89", "192.168.0.1", 8, 0, 1, "1:X0snYXpgwiv9TZtqg64sgzUn6Dk="},
    {"fe80::200:86ff:fe05:80da", "fe80::260:97ff:fe07:69ea", 135, 0, 58,
     "1:dGHyGvjMfljg6Bppwm3bg0LO8TY="},
    {"3ffe:507:0:1:200:86ff:fe05:80da", "3ffe:501:0:1001::2", 128, 0, 58,
     "1:+TW+HtLHvV1xnGhV1lv7XoJrqQg="},
    {"fe80::200:86ff:fe05:80da", "ff02::2", 133, 0, 58, "1:hO+sN4H+MG5MY/8hIrXPqc4ZQz0="},
    {"fe80::260:97ff:fe07:69ea", "ff02::1", 134, 0, 58, "1:pkvHqCL88/tg1k4cPigmZXUtL00="},
    {"10.1.12.1", "10.1.12.2", 0, 0, 46, "1:KHlLkgoJW7ifUTyTSgyVfkFHzKw="},
};

/* Messages that have no answer: a flow of one way. */
static const struct {
    const char *src, *dst;
    uint16_t type, code;
    uint8_t protocol;
    const char *id;
} one_way[] = {
    {"10.0.0.1", "10.0.0.2", 11, 0, 1, "1:YHxtAirCG//0OzkcVAukqKQN9xM="},
    {"3ffe:501:1800:2345::2", "3ffe:507:0:1:200:86ff:fe05:80da", 3, 0, 58,
     "1:2ObVBgIn28oZvibYZhZMBgh7WdQ="},
    {"3ffe:501:410:0:2c0:dfff:fe47:33e", "3ffe:507:0:1:200:86ff:fe05:80da", 1, 4, 58,
     "1:hLZd0XGWojozrvxqE0dWB1iM6R0="},
};

enum {
    N_PUBLISHED = sizeof published / sizeof *published,
    N_ONE_WAY = sizeof one_way / sizeof *one_way
};

static struct sl_addr addr_of(const char *text)
{
    struct sl_net net;

    assert_int_equal(sl_net_parse(&net, text, strlen(text)), SL_OK);
    return net.addr;
}

static struct sl_tuple tuple_of(size_t i)
{
    return (struct sl_tuple){addr_of(published[i].src), addr_of(published[i].dst),
                             published[i].src_port, published[i].dst_port, published[i].protocol};
}

/* The packet that comes back: of ICMP, the answer's type. */
static struct sl_tuple answer_to(struct sl_tuple tuple)
{
    struct sl_tuple answer = {tuple.dst, tuple.src, tuple.dst_port, tuple.src_port, tuple.protocol};

    if (tuple.protocol == SL_IP_ICMPV6) {
        answer.src_port = tuple.src_port == 134 ? 133 : (uint16_t)(tuple.src_port + 1);
        answer.dst_port = 0;
    } else if (tuple.protocol == SL_IP_ICMP) {
        answer.src_port = answer.dst_port = 0; /* an echo's reply */
    }
    return answer;
}

static struct community_ids *create(void)
{
    struct community_ids *ids;
    struct sl_diag diag = {0};

    if (community_ids_create(&ids, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    return ids;
}

static void test_published_values(void **state)
{
    struct community_ids *ids = create();

    (void)state;
    for (size_t i = 0; i < N_PUBLISHED; i++) {
        const struct sl_tuple tuple = tuple_of(i), answer = answer_to(tuple);

        assert_string_equal(community_ids_of(ids, i + 1, &tuple), published[i].id);
        assert_string_equal(community_ids_of(ids, i % 2 * (i + 1), &answer), published[i].id);
    }
    for (size_t i = 0; i < N_ONE_WAY; i++) {
        const struct sl_tuple tuple = {addr_of(one_way[i].src), addr_of(one_way[i].dst),
                                       one_way[i].type, one_way[i].code, one_way[i].protocol};
        const struct sl_tuple back = {tuple.dst, tuple.src, tuple.src_port, tuple.dst_port,
                                      tuple.protocol};

        assert_string_equal(community_ids_of(ids, 99, &tuple), one_way[i].id);
        assert_string_not_equal(community_ids_of(ids, 99, &back), one_way[i].id);
    }
    community_ids_free(ids);
}

/* Tuples and flows that share a place never get each other's id. */
static void test_remembered_ids_are_those_of_the_tuple(void **state)
{
    struct community_ids *ids = create();
    uint64_t random = 7;

    (void)state;
    for (int n = 0; n < 20000; n++) {
        const size_t i = test_below(&random, N_PUBLISHED);
        const struct sl_tuple tuple = tuple_of(i);
        const struct sl_tuple packet = test_below(&random, 2) == 0 ? tuple : answer_to(tuple);
        struct sl_tuple other = tuple;

        other.src_port ^= (uint16_t)(1 + test_below(&random, 4000));
        const uint64_t flow = i + 1, in_its_place = flow + ((uint64_t)other.src_port << 20);

        assert_non_null(community_ids_of(ids, in_its_place, &other));
        assert_string_equal(community_ids_of(ids, test_below(&random, 2) * flow, &packet),
                            published[i].id);
    }
    community_ids_free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_remembered_ids_are_those_of_the_tuple),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
