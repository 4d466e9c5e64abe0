/* SPDX-License-Identifier: MIT */
/* Occurrences are those that a comparison byte by byte finds, in memory that ends with the text. */
#include "test.h"

#include <stdlib.h>

#include "detect/evaluate/content_find.h"

static uint8_t fold(uint8_t byte, bool nocase)
{
    return nocase && byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
}

enum { LEN_MAX = 70 };

static size_t definition(const struct content_sought *sought, const uint8_t *text, size_t n,
                         size_t from)
{
    for (size_t at = from; at + sought->len <= n; at++) {
        uint32_t i = 0;

        while (i < sought->len && fold(text[at + i], sought->nocase) == sought->bytes[i])
            i++;
        if (i == sought->len)
            return at;
    }
    return CONTENT_NOWHERE;
}

/* All places that the definition has, one by one or in jumps. */
static size_t assert_places(const struct content_sought *sought, const uint8_t *text, size_t n,
                            size_t jump)
{
    struct content_search search;
    size_t at, from = 0, n_found = 0;

    content_search_begin(&search, sought, text, n, UINT64_MAX);
    do {
        at = content_search_next(&search, from);
        assert_int_equal(at, definition(sought, text, n, from));
        n_found += at != CONTENT_NOWHERE;
        from = at + jump;
    } while (at != CONTENT_NOWHERE);
    assert_false(content_search_stopped(&search));
    return n_found;
}

/* Marks have all places from `from` on, and no other. */
static void assert_marks(const struct content_sought *sought, const uint8_t *text, size_t n,
                         size_t from)
{
    uint64_t places[3] = {0};
    struct content_search search;

    content_search_begin(&search, sought, text, n, UINT64_MAX);
    content_search_mark(&search, from, places);
    for (size_t at = 0; at < 192; at++)
        assert_int_equal(places[at / 64] >> at % 64 & 1,
                         at >= from && definition(sought, text, n, at) == at);
}

/* Few letters, so that beginnings and ends of the sought bytes are everywhere. Bytes beside letters
 * must not be taken for them. */
static void test_random_texts(void **state)
{
    static const char letters[] = "aAbB@`[{\xC1\xE1z";
    uint32_t random = 1, n_found = 0;

    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        uint8_t bytes[LEN_MAX];
        const uint32_t n = (random = random * 1664525 + 1013904223) >> 25;
        const uint32_t n_letters = 2 + (random >> 10) % 10;
        const struct content_sought sought = {bytes, 1 + (random >> 14) % LEN_MAX,
                                              (random >> 24 & 1) != 0};
        uint8_t *const text = malloc(n != 0 ? n : 1); /* sanitizers see its end */

        assert_non_null(text);
        for (uint32_t i = 0; i < n; i++)
            text[i] =
                (uint8_t)letters[((random = random * 1664525 + 1013904223) >> 16) % n_letters];
        for (uint32_t i = 0; i < sought.len; i++)
            bytes[i] =
                fold((uint8_t)letters[((random = random * 1664525 + 1013904223) >> 16) % n_letters],
                     sought.nocase);
        if (trial % 2 != 0 && sought.len <= n) /* an occurrence, in any case of letters */
            for (uint32_t i = 0, at = random % (n - sought.len + 1); i < sought.len; i++)
                bytes[i] = fold(text[at + i], sought.nocase);

        n_found += assert_places(&sought, text, n, 1 + (random >> 20) % 40 * (trial % 3 == 0)) != 0;
        assert_marks(&sought, text, n, (random >> 18) % 4 == 0 ? n / 2 + (random >> 12) % 70 : 0);
        if (sought.len <= n)
            assert_int_equal(content_is_at(&sought, text),
                             definition(&sought, text, sought.len, 0) == 0);
        free(text);
    }
    assert_in_range(n_found, 5000, 19000);
}

/* The effort of a search of all places in so many bytes. */
static uint64_t effort_of(const char *content, char byte, size_t n)
{
    const struct content_sought sought = {(const uint8_t *)content, (uint32_t)strlen(content),
                                          false};
    struct content_search search;
    uint8_t *const text = malloc(n);

    assert_non_null(text);
    memset(text, byte, n);
    content_search_begin(&search, &sought, text, n, UINT64_MAX);
    for (size_t at = 0; at != CONTENT_NOWHERE;)
        at = content_search_next(&search, at == 0 ? 0 : at + 1);
    free(text);
    return search.effort;
}

/* Of runs of equal bytes, too, a search takes a few steps for each byte, and ends where it may not
 * take them. */
static void test_effort_is_bounded(void **state)
{
    static const char run[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaabaa";
    enum { N = 60000 };
    const struct content_sought sought = {(const uint8_t *)run, sizeof run - 1, false};
    uint8_t *const text = malloc(N);
    struct content_search search;

    (void)state;
    assert_in_range(effort_of(run, 'x', N), 5 * (N / 16 - 2), 5 * (N / 16 + 1));
    assert_in_range(effort_of(run, 'a', N), 4 * N, 5 * N);
    assert_non_null(text);
    memset(text, 'a', N);
    content_search_begin(&search, &sought, text, N, 1000);
    assert_int_equal(content_search_next(&search, 0), CONTENT_NOWHERE);
    assert_true(content_search_stopped(&search));
    assert_in_range(search.effort, 1001, 1080);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_texts),
                                       cmocka_unit_test(test_effort_is_bounded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
