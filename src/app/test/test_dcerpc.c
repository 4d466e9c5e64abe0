/* SPDX-License-Identifier: MIT */
/* Calls of DCE/RPC, whole and in random pieces. */
#include "test.h"

#include "app/dcerpc.h"
#include "app_trial.h"
#include "base/bytes.h"

enum { FIRST = 1, LAST = 2, WHOLE = 3, OBJECT = 0x80, CONVERSATION_MAX = 1 << 18 };

/* What both sides say, in order. */
static struct said {
    enum app_side side;
    uint32_t at, len;
} said[512];
static uint8_t bytes[CONVERSATION_MAX];
static uint32_t n_said, n_bytes;
static bool big; /* the order of bytes */

static void begin(bool is_big)
{
    n_said = n_bytes = 0;
    big = is_big;
}

static void put(const void *from, uint32_t len)
{
    assert_true(len <= CONVERSATION_MAX - n_bytes);
    memcpy(bytes + n_bytes, from, len);
    n_bytes += len;
}

static void put16(uint32_t value)
{
    const uint8_t low = (uint8_t)value, high = (uint8_t)(value >> 8);

    put(big ? &high : &low, 1);
    put(big ? &low : &high, 1);
}

/* Begins a fragment, whose length end() sets. */
static void open(enum app_side side, uint8_t type, uint8_t flags, uint16_t verifier, uint8_t id)
{
    const uint8_t head[] = {5, 0, type, flags, big ? 0 : 0x10, 0, 0, 0};

    assert_true(n_said < sizeof said / sizeof *said);
    said[n_said++] = (struct said){side, n_bytes, 0};
    put(head, sizeof head);
    put16(0);
    put16(verifier);
    put16(big ? 0 : id);
    put16(big ? id : 0);
}

static void end(void)
{
    struct said *const last = &said[n_said - 1];

    last->len = n_bytes - last->at;
    bytes[last->at + 8] = (uint8_t)(big ? last->len >> 8 : last->len);
    bytes[last->at + 9] = (uint8_t)(big ? last->len : last->len >> 8);
}

/* A context of the interface 03020100-0504-0706-0809-0a0b0c0d0eXX, version 3.1. */
static void put_context(uint16_t context, uint8_t last)
{
    static const uint8_t syntax[20];
    const uint8_t little[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last},
                  big_one[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, last};

    put16(context);
    put("\1", 2);
    put(big ? big_one : little, 16);
    put16(3);
    put16(1);
    put(syntax, sizeof syntax);
}

static void bind(uint8_t type, uint16_t first, uint8_t n)
{
    const uint8_t count[4] = {n};

    open(APP_CLIENT, type, WHOLE, 0, 1);
    put("\0\0\0\0\0\0\0\0", 8);
    put(count, 4);
    for (uint8_t i = 0; i < n; i++)
        put_context((uint16_t)(first + i), (uint8_t)(first + i));
    end();
}

static void bind_ack(uint8_t type, const char *address, const uint16_t *results, uint8_t n)
{
    static const uint8_t rest[22];
    const uint8_t count[4] = {n};
    const uint32_t len = (uint32_t)strlen(address) + 1;

    open(APP_SERVER, type, WHOLE, 0, 1);
    put(rest, 8);
    put16(len);
    put(address, len);
    while ((n_bytes - said[n_said - 1].at) % 4 != 0)
        put("", 1);
    put(count, 4);
    for (uint8_t i = 0; i < n; i++) {
        put16(results[i]);
        put(rest, 22);
    }
    end();
}

static void request(uint8_t flags, uint8_t id, uint16_t context, uint16_t opnum, const char *stub)
{
    open(APP_CLIENT, 0, flags, 0, id);
    put("\0\0\0\0", 4);
    put16(context);
    put16(opnum);
    if ((flags & OBJECT) != 0)
        put("0123456789abcdef", 16);
    put(stub, (uint32_t)strlen(stub));
    end();
}

static void answer(uint8_t type, uint8_t flags, uint8_t id, const char *stub)
{
    open(APP_SERVER, type, flags, 0, id);
    put("\0\0\0\0\0\0\0\0", 8);
    put(stub, (uint32_t)strlen(stub));
    end();
}

static void play(struct app_trial *trial, uint32_t mean)
{
    uint64_t seed = mean + 1;

    trial_begin(trial);
    for (uint32_t i = 0; i < n_said; i++)
        trial_give(trial, said[i].side, bytes + said[i].at, said[i].len, mean, &seed);
    trial_end(trial);
    assert_false(trial->failed);
}

static void expect(const char *wanted)
{
    struct app_trial trial;

    for (uint32_t mean = 0; mean < 40; mean += 1 + mean / 3) {
        play(&trial, mean);
        assert_string_equal((char *)trial.told.bytes, wanted);
        trial_free(&trial);
    }
}

#define UUID(last) "[03020100-0504-0706-0809-0a0b0c0d0e" last "]"

static void test_calls(void **state)
{
    static const uint16_t results[] = {0, 2};

    (void)state;
    for (int order = 0; order < 2; order++) {
        begin(order == 1);
        bind(11, 0, 2);
        bind_ack(12, "135", results, 2);
        request(WHOLE, 1, 0, 15, "ask");
        answer(2, WHOLE, 1, "told");
        request(WHOLE | OBJECT, 2, 1, 16, "more"); /* its interface was refused */
        answer(3, WHOLE, 2, "fault");
        bind(14, 2, 1);
        bind_ack(15, "", results, 1);
        request(FIRST, 3, 2, 1, "a");
        request(WHOLE, 4, 2, 2, "beside");
        request(0, 3, 2, 1, "b");
        request(LAST, 3, 2, 1, "c");
        answer(2, FIRST, 3, "x");
        answer(2, LAST, 3, "y");
        answer(2, WHOLE, 9, "of none");
        expect("dcerpc 0 c head " UUID(
            "00") "\n"
                  "dcerpc 0 c end body 3=[ask]\n"
                  "dcerpc 0 s head " UUID(
                      "00") "\n"
                            "dcerpc 0 s end body 4=[told]\n"
                            "dcerpc 0 c done " UUID(
                                "00") "\n"
                                      "dcerpc 1 c head\n"
                                      "dcerpc 1 c end body 4=[more]\n"
                                      "dcerpc 1 c done\n"
                                      "dcerpc 2 c head " UUID(
                                          "02") "\n"
                                                "dcerpc 3 c head " UUID(
                                                    "02") "\n"
                                                          "dcerpc 3 c end body 6=[beside]\n"
                                                          "dcerpc 2 c end body 3=[abc]\n"
                                                          "dcerpc 2 s head " UUID(
                                                              "02") "\n"
                                                                    "dcerpc 2 s end body 2=[xy]\n"
                                                                    "dcerpc 2 c done " UUID(
                                                                        "02") "\n"
                                                                              "dcerpc 3 c "
                                                                              "done " UUID(
                                                                                  "02") "\n");
    }
}

/* What authenticates a fragment is no data, nor is a length that does not fit. */
static void test_verifiers(void **state)
{
    (void)state;
    for (uint32_t verifier = 4; verifier < 200; verifier += 100) {
        begin(false);
        open(APP_CLIENT, 0, WHOLE, (uint16_t)verifier, 1);
        put("\0\0\0\0\0\0\1\0data01234567VVVV", 24);
        end();
        expect(verifier == 4 ? "dcerpc 0 c head\n"
                               "dcerpc 0 c end body 4=[data]\n"
                               "dcerpc 0 c done\n"
                             : "dcerpc 0 c head\n"
                               "dcerpc 0 c end body 0=[]\n"
                               "dcerpc 0 c done\n");
    }
}

/* Calls without responses, and interfaces without end, take bounded memory. */
static void test_bounds(void **state)
{
    struct app_trial trial;

    (void)state;
    begin(false);
    for (uint16_t i = 0; i < 40; i++)
        bind(14, (uint16_t)(10 * i), 10);
    for (uint8_t i = 0; i < 100; i++)
        request(WHOLE, i, 5, i, "x");
    request(FIRST, 99, 5, 1, "again");
    play(&trial, 100);
    assert_true(trial.held_max < 20000);
    assert_non_null(strstr((char *)trial.told.bytes, "dcerpc 0 c done [03020100-"));
    assert_non_null(strstr((char *)trial.told.bytes, "dcerpc 100 c head [03020100-"));
    trial_free(&trial);
}

static void test_what_is_none(void **state)
{
    (void)state;
    begin(false);
    request(WHOLE, 1, 0, 1, "a");
    said[n_said++] = (struct said){APP_CLIENT, n_bytes, 16};
    put("\4\0\0\3\x10\0\0\0\x20\0\0\0\2\0\0\0", 16);
    request(WHOLE, 3, 0, 3, "c");
    expect("dcerpc 0 c head\n"
           "dcerpc 0 c end body 1=[a]\n"
           "dcerpc 0 c done\n");
    assert_int_equal(dcerpc_probe(APP_CLIENT, bytes, 15), APP_TOO_SHORT);
    assert_int_equal(dcerpc_probe(APP_CLIENT, bytes, 16), APP_LIKE);
    bytes[2] = 4; /* a type of datagrams */
    assert_int_equal(dcerpc_probe(APP_CLIENT, bytes, 16), APP_UNLIKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_verifiers),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_what_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
