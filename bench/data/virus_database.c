/* SPDX-License-Identifier: MIT */
#include "virus_database.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/console.h"
#include "literal_sets.h"

enum { LINE_LEN = 96 /* of a signature */ };

/* As .ndb lines: Name:Target:Offset:Hex. Every second one has a wildcard, as nearly half of the
 * real ones have. */
char *virus_database_make(size_t n, size_t *len)
{
    static const char hex[] = "0123456789abcdef";
    struct bench_literals viruses;
    const bool made = bench_viruses_make(&viruses, n);
    char *text = made ? malloc(n * LINE_LEN) : NULL;

    *len = 0;
    for (size_t i = 0; i < viruses.n && text != NULL; i++) {
        const struct sl_literal *virus = &viruses.literal[i];

        *len += (size_t)snprintf(text + *len, 24, "V%zu:0:*:", i);
        for (uint32_t at = 0; at < virus->len; at++) {
            const bool is_wildcard = i % 2 == 1 && at == virus->len / 2;

            text[(*len)++] = is_wildcard ? '?' : hex[virus->bytes[at] >> 4];
            text[(*len)++] = is_wildcard ? '?' : hex[virus->bytes[at] & 15];
        }
        text[(*len)++] = '\n';
    }
    bench_literals_free(&viruses);
    if (made && text == NULL)
        cli_error("no memory for signatures");
    return text;
}
