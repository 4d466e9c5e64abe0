/* SPDX-License-Identifier: MIT */
/* From a set to a block: anchors are chosen, and the arrays are laid behind one another. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/pages.h"
#include "clamav/compile_internal.h"
#include "clamav/db.h"

static uint64_t aligned(uint64_t len)
{
    return (len + CLAM_ALIGN - 1) / CLAM_ALIGN * CLAM_ALIGN;
}

/* The records of an array: those of the compiler, or of the set. */
static struct clam_records array_of(const struct compile *c, int array)
{
    switch (array) {
    case CLAM_A_PATTERNS:
        return (struct clam_records){.at = c->patterns, .n = c->n_patterns};
    case CLAM_A_ANCHORED:
        return c->anchored;
    case CLAM_A_LITERALS:
        return c->literals;
    case CLAM_A_USES:
        return c->uses;
    case CLAM_A_FIXED:
        return c->fixeds;
    case CLAM_A_SEARCHED:
        return c->searched;
    case CLAM_A_MEMBERS:
        return c->members;
    default:
        return c->set->records[array];
    }
}

static uint64_t count_of(const struct compile *c, int array)
{
    struct sl_mpm_info info;

    if (array == CLAM_A_HASHES)
        return c->hashes_len;
    if (array != CLAM_A_MPM)
        return array_of(c, array).n;
    sl_mpm_info(c->mpm, &info);
    return info.table_len;
}

/* Arrays that nobody reads afterwards are moved: they and the block are never there at once. */
static void fill_arrays(const struct compile *c, struct clam_block *block)
{
    for (int i = 0; i < CLAM_A_MPM; i++) {
        uint8_t *to = (uint8_t *)block + block->at[i];

        if (i == CLAM_A_HASHES) {
            compile_move_hashes(c, to);
            continue;
        }
        const struct clam_records records = array_of(c, i);
        if (records.n > 0 && c->spent != NULL)
            pages_move(to, records.at, records.n * clam_record_len[i]);
        else if (records.n > 0)
            memcpy(to, records.at, records.n * clam_record_len[i]);
    }
}

static void fill_block(struct compile *c, struct clam_block *block)
{
    fill_arrays(c, block);
    sl_mpm_store(c->mpm, (uint8_t *)block + block->at[CLAM_A_MPM]);
    c->mpm = NULL;
    block->n_hashes = c->n_hashes;
    memcpy(block->hashes, c->ranges, sizeof block->hashes);
    block->anchored = c->n_anchored;
    block->fixed = c->n_fixed;
    block->in_parts = c->n_in_parts;
    block->searched = c->searched.n;
    block->n_bad = c->set->bad.n + c->set->n_bad_before;
    block->n_skipped = c->set->skipped.n + c->set->n_skipped_before;
    block_seal(&clam_block_kind, block);
}

/* Bytes that no array has. The others become resident when they are written. */
static void clear_gaps(struct clam_block *block, const struct clam_block *head)
{
    uint64_t end = sizeof *head;

    for (int i = 0; i < CLAM_ARRAYS; i++) {
        memset((uint8_t *)block + end, 0, head->at[i] - end);
        end = head->at[i] + head->n[i] * clam_record_len[i];
    }
    memset((uint8_t *)block + end, 0, head->head.len - end);
}

static struct clam_block *make_block(struct compile *c)
{
    struct clam_block head = {0};
    uint64_t len = aligned(sizeof head);
    struct clam_block *block;

    for (int i = 0; i < CLAM_ARRAYS; i++) {
        head.n[i] = count_of(c, i);
        head.at[i] = len;
        len += aligned(head.n[i] * clam_record_len[i]);
    }
    (void)malloc_trim(0); /* what building the matcher took */
    block = aligned_alloc(CLAM_ALIGN, len);
    if (block == NULL)
        return NULL;
    head.head = block_head_make(&clam_block_kind, len);
    clear_gaps(block, &head);
    *block = head;
    fill_block(c, block);
    return block;
}

static void compile_free(struct compile *c)
{
    free(c->ignored);
    free(c->users);
    free(c->best);
    free(c->fixed);
    free(c->patterns);
    free(c->pairs.at);
    free(c->anchored.at);
    free(c->literals.at);
    free(c->uses.at);
    free(c->fixeds.at);
    free(c->searched.at);
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        free(c->hashes[i / CLAM_HASHES][i % CLAM_HASHES].at);
    free(c->members.at);
    sl_mpm_free(c->mpm);
    (void)malloc_trim(0); /* the C library would keep it for itself */
}

static enum sl_status compile(struct sl_clamav_db **db, const struct sl_clamav_set *set,
                              struct sl_clamav_set *spent, enum sl_device_kind device,
                              struct sl_diag *diag)
{
    struct compile c = {.set = set,
                        .spent = spent,
                        .segs = set->records[CLAM_A_SEGS].at,
                        .nodes = set->records[CLAM_A_NODES].at,
                        .subs = set->records[CLAM_A_SUBS].at,
                        .variants = set->records[CLAM_A_VARIANTS].at,
                        .pcres = set->records[CLAM_A_PCRES].at,
                        .sigs = set->records[CLAM_A_SIGS].at,
                        .n_patterns = set->records[CLAM_A_PATTERNS].n,
                        .n_sigs = set->records[CLAM_A_SIGS].n};
    struct clam_block *block = NULL;
    enum sl_status status = SL_ENOMEM;

    if (compile_take_ignored(&c) && compile_measure(&c) && compile_choose_anchors(&c) &&
        compile_take_hashes(&c) && compile_take_members(&c)) {
        status = compile_make_matcher(&c, device, diag);
        if (status == SL_OK)
            block = make_block(&c);
    } else {
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    compile_free(&c);
    if (status != SL_OK)
        return status;
    if (block == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    return clam_db_create(db, block, false, NULL, diag);
}

enum sl_status sl_clamav_compile(struct sl_clamav_db **db, const struct sl_clamav_set *set,
                                 enum sl_device_kind device, struct sl_diag *diag)
{
    return compile(db, set, NULL, device, diag);
}

enum sl_status clam_compile_spent(struct sl_clamav_db **db, struct sl_clamav_set *set,
                                  enum sl_device_kind device, struct sl_diag *diag)
{
    clam_set_end(set);
    return compile(db, set, set, device, diag);
}
