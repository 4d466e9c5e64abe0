/* SPDX-License-Identifier: MIT */
#include "tunnel_content.h"

#include <string.h>

#include "random.h"

enum { WORDS = 4096 };

static void fill_words(uint8_t *content, size_t len, uint64_t random)
{
    for (size_t at = 0; at < len;) {
        uint64_t word = bench_random(&random) % WORDS * (bench_random(&random) % WORDS) / WORDS;
        const size_t word_len = 3 + word % 7;

        for (size_t i = 0; i < word_len && at < len; i++, word = word * 31 + 7)
            content[at++] = (uint8_t)('a' + word % 26);
        if (at < len)
            content[at++] = ' ';
    }
}

void tunnel_content_fill(uint8_t *content, size_t len, enum tunnel_content kind, uint64_t seed)
{
    uint64_t random = kind == TUNNEL_AGAIN ? 1 : seed;

    if (kind == TUNNEL_TEXT) {
        fill_words(content, len, random);
        return;
    }
    for (size_t i = 0; i < len; i += sizeof(uint32_t)) {
        const uint32_t word = bench_random(&random);

        memcpy(content + i, &word, len - i < sizeof word ? len - i : sizeof word);
    }
}
