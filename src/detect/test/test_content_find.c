/* SPDX-License-Identifier: MIT */
/* Occurrences are those that a comparison byte by byte finds, in memory that ends with the text. */
#include "test.h"

#include <stdlib.h>

#include "detect/evaluate/content_find.h"

static uint8_t fold(uint8_t byte, bool nocase)
{
    return nocase && byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
}

static const uint8_t *definition(const struct content_sought *sought, const uint8_t *text, size_t n)
{
    for (size_t at = 0; at + sought->len <= n; at++) {
        uint32_t i = 0;

        while (i < sought->len && fold(text[at + i], sought->nocase) == sought->bytes[i])
            i++;
        if (i == sought->len)
            return text + at;
    }
    return NULL;
}

/* Few letters, so that beginnings and ends of the sought bytes are everywhere. Bytes beside letters
 * must not be taken for them. */
static void test_random_texts(void **state)
{
    static const char letters[] = "aAbB@`[{\xC1\xE1z";
    uint32_t random = 1, n_found = 0;

    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        uint8_t bytes[CONTENT_FIND_MAX];
        const uint32_t n = (random = random * 1664525 + 1013904223) >> 25;
        const uint32_t n_letters = 2 + (random >> 10) % 10;
        const struct content_sought sought = {bytes, 1 + (random >> 14) % CONTENT_FIND_MAX,
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

        const uint8_t *const found = content_find(&sought, text, n);

        assert_ptr_equal(found, definition(&sought, text, n));
        n_found += found != NULL;
        if (sought.len <= n)
            assert_int_equal(content_is_at(&sought, text),
                             definition(&sought, text, sought.len) == text);
        free(text);
    }
    assert_in_range(n_found, 5000, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_texts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
