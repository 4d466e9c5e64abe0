/* SPDX-License-Identifier: MIT */
/* The literals of a benchmark: from files, from rules, or generated. */
#include "literal_sets.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "random.h"

enum { GENERATED_LEN = 16, VIRUS_MIN_LEN = 8, VIRUS_LEN = 32 };

static bool take_memory(struct bench_literals *literals, size_t n, size_t literal_len)
{
    literals->generated = calloc(n, sizeof *literals->generated);
    literals->bytes = malloc(n * literal_len);
    if (literals->generated == NULL || literals->bytes == NULL) {
        cli_error("no memory for %zu literals", n);
        return false;
    }
    literals->literal = literals->generated;
    literals->n = n;
    return true;
}

/* Words of 5 to 16 letters and digits that the generated capture does not hold, as signatures
 * mostly do not occur. */
static bool generate(struct bench_literals *literals, size_t n)
{
    uint64_t state = 7;

    if (!take_memory(literals, n, GENERATED_LEN))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sl_literal *literal = &literals->generated[i];
        uint8_t *bytes = literals->bytes + i * GENERATED_LEN;

        literal->len = 5 + bench_random(&state) % 12;
        for (uint32_t at = 0; at < literal->len; at++)
            bytes[at] = (uint8_t) "abcdefghijklmnopqrstuvwxyz0123456789"[bench_random(&state) % 36];
        literal->bytes = bytes;
        literal->flags = i % 2 == 0 ? SL_LITERAL_NOCASE : 0;
    }
    return true;
}

bool bench_viruses_make(struct bench_literals *viruses, size_t n)
{
    uint64_t state = 86;

    memset(viruses, 0, sizeof *viruses);
    if (!take_memory(viruses, n, VIRUS_LEN))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint8_t *bytes = viruses->bytes + i * VIRUS_LEN;
        const uint32_t len = VIRUS_MIN_LEN + bench_random(&state) % (VIRUS_LEN - VIRUS_MIN_LEN + 1);

        for (uint32_t at = 0; at < len; at++)
            bytes[at] = (uint8_t)bench_random(&state);
        viruses->generated[i] = (struct sl_literal){.bytes = bytes, .len = len};
    }
    return true;
}

static bool of_rules(struct bench_literals *literals, const struct bench_input *input)
{
    struct sl_diag diag = {0};
    bool usable;

    if (!rule_files_load(&input->rule_files, &literals->rules, &usable) || !usable)
        return false;
    if (sl_rules_compile(literals->rules, &literals->literal, &literals->n, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

bool bench_literals_load(struct bench_literals *literals, const struct bench_input *input,
                         size_t n_generated)
{
    memset(literals, 0, sizeof *literals);
    if (input->n_literal_paths != 0 && input->rule_files.n_paths != 0) {
        cli_error("--literals and --rules were both given (expected one of them)");
        return false;
    }
    if (input->rule_files.n_paths != 0)
        return of_rules(literals, input);
    if (input->n_literal_paths == 0)
        return generate(literals, n_generated);
    if (!literal_files_load(&literals->files, input->literal_paths, input->n_literal_paths))
        return false;
    literals->literal = literals->files.literal;
    literals->n = literals->files.n;
    return true;
}

void bench_literals_free(struct bench_literals *literals)
{
    literal_files_free(&literals->files);
    sl_rules_free(literals->rules);
    free(literals->generated);
    free(literals->bytes);
}
