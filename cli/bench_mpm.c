/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: each algorithm over the same literals and payloads. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "cli.h"
#include "sluice/mpm.h"

struct literals {
    const struct sl_literal *literal;
    size_t n;
    struct sl_rules *rules;       /* owner of literals that rules gave, or NULL */
    struct sl_literal *generated; /* owner of generated ones, or NULL */
    uint8_t *bytes;
};

/* Words of 5 to 16 letters and digits that the generated capture does not hold, as signatures
 * mostly do not occur. */
static bool generate_literals(struct literals *literals, size_t n)
{
    uint64_t state = 7;

    literals->generated = calloc(n, sizeof *literals->generated);
    literals->bytes = malloc(n * 16);
    if (literals->generated == NULL || literals->bytes == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sl_literal *literal = &literals->generated[i];
        uint8_t *bytes = literals->bytes + i * 16;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        literal->len = 5 + (uint32_t)(state >> 33) % 12;
        for (uint32_t at = 0; at < literal->len; at++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bytes[at] = (uint8_t) "abcdefghijklmnopqrstuvwxyz0123456789"[(state >> 33) % 36];
        }
        literal->bytes = bytes;
        literal->flags = i % 2 == 0 ? SL_LITERAL_NOCASE : 0;
    }
    literals->literal = literals->generated;
    literals->n = n;
    return true;
}

static bool load_literals(struct literals *literals, const struct bench *bench)
{
    struct sl_diag diag = {0};

    if (bench->rule_files.n_paths == 0)
        return generate_literals(literals, 30000);
    if (!rule_files_load(&bench->rule_files, &literals->rules))
        return false;
    if (sl_rules_compile(literals->rules, &literals->literal, &literals->n, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

static bool bench_algorithm(const struct bench *bench, const struct bench_data *data,
                            const char *algorithm, const struct sl_literal *literals, size_t n)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_mpm_info info;
    struct sl_diag diag = {0};
    char what[32], bytes[32];

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    const uint64_t begin = clock_ns();
    if (sl_mpm_build(&table, &config, literals, n, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    const double seconds = (double)(clock_ns() - begin) / 1e9;

    sl_mpm_info(table, &info);
    if (!bench->json)
        printf("%s, %zu literals: built in %.3f s, table of %s\n", algorithm, n, seconds,
               cli_bytes((double)info.table_len, bytes));
    snprintf(what, sizeof what, "%s/%zu", algorithm, n);
    const bool good = bench_engine(bench, data, what, sl_mpm_engine(table), table, false, false);
    sl_mpm_free(table);
    return good;
}

bool bench_mpm(const struct bench *bench)
{
    static const size_t counts[] = {1000, 5000, 18000, 30000};
    struct literals literals = {0};
    struct bench_data data = {0};
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];
    bool good = false;

    if (sl_device_choose(&device, bench->device, why, &diag) != SL_OK ||
        !load_literals(&literals, bench) ||
        !bench_load(&data, bench, 16 << 20, device.kind == SL_DEVICE_CUDA, 128u << 20))
        goto out;
    good = true;
    for (size_t c = 0; c < sizeof counts / sizeof *counts && good; c++) {
        const size_t n = counts[c] < literals.n ? counts[c] : literals.n;

        if (c > 0 && counts[c - 1] >= literals.n)
            break;
        for (size_t a = 0; sl_mpm_algorithms[a] != NULL && good; a++)
            good = bench_algorithm(bench, &data, sl_mpm_algorithms[a], literals.literal, n);
    }
out:
    bench_unload(&data);
    sl_rules_free(literals.rules);
    free(literals.generated);
    free(literals.bytes);
    return good;
}
