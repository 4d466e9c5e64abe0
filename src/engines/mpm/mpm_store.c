/* SPDX-License-Identifier: MIT */
/* Tables of literals as block files, and the checks that make one from elsewhere safe to use. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/file_bytes.h"
#include "base/mapped_file.h"
#include "base/pages.h"
#include "mpm_internal.h"

static bool sum_table(const void *block, uint64_t *sum)
{
    const struct sl_mpm_table *table = (const struct sl_mpm_table *)block;
    const size_t begin = sizeof table->head;

    *sum = block_sum(mpm_at(table, begin), table->head.len - begin);
    *sum += *sum == 0;
    return true;
}

const struct block_kind mpm_block_kind = {
    .name = "compiled table of literals",
    .magic = UINT64_C(0x00006D706D5F6C73), /* "sl_mpm" */
    .version = 6,
    .pointer_len = sizeof(void *), /* alignments follow it */
    .len_min = sizeof(struct sl_mpm_table),
    .read_max = FILE_BYTES_READ_MAX,
    .sum = sum_table,
};

enum sl_status sl_mpm_save(const struct sl_mpm_table *table, const char *path, struct sl_diag *diag)
{
    return block_file_save(&mpm_block_kind, table, path, diag);
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Whether n entries of `size` bytes fit into the block at `at`. */
static bool fits(const struct sl_mpm_table *table, uint64_t at, uint64_t n, size_t size)
{
    return at % MPM_ALIGN == 0 && at <= table->head.len && n <= (table->head.len - at) / size;
}

bool mpm_part_fits(const struct sl_mpm_table *table, uint64_t at, uint64_t n, size_t size)
{
    return at <= table->head.len && fits(table, table->body + at, n, size);
}

static bool is_before(const uint8_t *bytes, const struct mpm_literal *a,
                      const struct mpm_literal *b)
{
    const uint32_t both = a->len < b->len ? a->len : b->len;
    uint32_t i = 0;

    while (i < both && mpm_fold(bytes[a->bytes + i]) == mpm_fold(bytes[b->bytes + i]))
        i++;
    return i < both ? mpm_fold(bytes[a->bytes + i]) < mpm_fold(bytes[b->bytes + i])
                    : a->len < b->len;
}

bool mpm_groups_ascend(const struct sl_mpm_table *table)
{
    const struct mpm_literal *literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    const uint32_t *groups = (const uint32_t *)mpm_at(table, table->groups);
    const uint8_t *bytes = (const uint8_t *)mpm_at(table, table->bytes);

    for (uint32_t g = 1; g < table->n_groups; g++)
        if (!is_before(bytes, &literals[groups[g - 1]], &literals[groups[g]]))
            return false;
    return true;
}

static bool check_groups(const struct sl_mpm_table *table)
{
    const uint32_t *groups = (const uint32_t *)mpm_at(table, table->groups);

    for (uint32_t g = 0; g < table->n_groups; g++)
        if (groups[g] >= groups[g + 1])
            return false;
    return groups[0] == 0 && groups[table->n_groups] == table->n_literals;
}

static bool check_literals(const struct sl_mpm_table *table)
{
    const struct mpm_literal *literals = (const struct mpm_literal *)mpm_at(table, table->literals);

    for (uint32_t i = 0; i < table->n_literals; i++) {
        const struct mpm_literal literal = literals[i];

        if (literal.id >= table->n_literals || literal.len == 0 || literal.len > table->max_len ||
            !fits(table, table->bytes, (uint64_t)literal.bytes + literal.len, 1))
            return false;
    }
    return true;
}

/* Those of a group are found together by the first one's length: a longer one would be compared
 * from before the text on. */
static bool check_lengths(const struct sl_mpm_table *table)
{
    const struct mpm_literal *literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    const uint32_t *groups = (const uint32_t *)mpm_at(table, table->groups);

    for (uint32_t g = 0; g < table->n_groups; g++)
        for (uint32_t i = groups[g] + 1; i < groups[g + 1]; i++)
            if (literals[i].len != literals[groups[g]].len)
                return false;
    return true;
}

static bool check_parts(const struct sl_mpm_table *table)
{
    return table->n_literals <= SL_LITERAL_COUNT_MAX && table->max_len <= SL_LITERAL_LEN_MAX &&
           fits(table, table->literals, table->n_literals, sizeof(struct mpm_literal)) &&
           fits(table, table->groups, table->n_groups + (uint64_t)1, sizeof(uint32_t)) &&
           fits(table, table->body, 0, 1) && check_groups(table) && check_literals(table) &&
           check_lengths(table);
}

/* Of a block whose head and checksum have been checked. */
static enum sl_status check_table(const struct sl_mpm_table *table, const char *path,
                                  struct sl_diag *diag)
{
    const struct mpm_algorithm *algorithm =
        table->algorithm[MPM_NAME_LEN - 1] == '\0' ? mpm_find_algorithm(table->algorithm) : NULL;
    if (algorithm == NULL)
        return diag_set(diag, SL_EFORMAT, path, 0,
                        "was compiled for the algorithm '%.*s', which this build lacks",
                        MPM_NAME_LEN, table->algorithm);
    const char *wrong =
        check_parts(table) ? algorithm->check(table) : "its literals are not where it says";
    mapped_file_discard(table, table->head.len);
    if (wrong != NULL)
        return diag_set(diag, SL_EFORMAT, path, 0, "cannot be used: %s", wrong);
    return SL_OK;
}

enum sl_status mpm_table_check(const struct sl_mpm_table *table, uint64_t len, const char *path,
                               struct sl_diag *diag)
{
    const enum sl_status status = block_check(&mpm_block_kind, table, len, path, diag);

    return status == SL_OK ? check_table(table, path, diag) : status;
}

/* ---- load ------------------------------------------------------------------------------------ */

enum sl_status sl_mpm_load(struct sl_mpm_table **table, const char *path, struct sl_diag *diag)
{
    const void *memory;
    enum sl_status status = block_file_load(&mpm_block_kind, &memory, path, diag);

    if (status != SL_OK)
        return status;
    status = check_table((const struct sl_mpm_table *)memory, path, diag);
    if (status == SL_OK)
        *table = (struct sl_mpm_table *)(uintptr_t)memory;
    else
        block_file_unload(memory);
    return status;
}

void sl_mpm_store(struct sl_mpm_table *table, void *memory)
{
    const struct sl_mpm_table head = *table;

    memcpy(memory, &head, sizeof head);
    pages_move((uint8_t *)memory + sizeof head, table + 1, head.head.len - sizeof head);
    sl_mpm_free(table);
    block_seal(&mpm_block_kind, memory);
}

enum sl_status sl_mpm_attach(const struct sl_mpm_table **table, const void *memory, size_t len,
                             const char *path, struct sl_diag *diag)
{
    const struct sl_mpm_table *there = (const struct sl_mpm_table *)memory;
    const enum sl_status status = mpm_table_check(there, len, path, diag);

    if (status == SL_OK)
        *table = there;
    return status;
}

void sl_mpm_free(struct sl_mpm_table *table)
{
    if (table != NULL && table->head.checksum != 0)
        block_file_unload(table);
    else
        free(table);
}
