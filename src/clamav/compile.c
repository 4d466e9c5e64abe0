/* SPDX-License-Identifier: MIT */
/* From a set to a block: anchors are chosen, and the arrays are laid behind one another. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "clamav/compile_internal.h"
#include "clamav/db.h"

static uint64_t aligned(uint64_t len)
{
    return (len + CLAM_ALIGN - 1) / CLAM_ALIGN * CLAM_ALIGN;
}

static const struct clam_records *array_of(const struct compile *c, int array)
{
    switch (array) {
    case CLAM_A_ANCHORED:
        return &c->anchored;
    case CLAM_A_LITERALS:
        return &c->literals;
    case CLAM_A_USES:
        return &c->uses;
    case CLAM_A_FIXED:
        return &c->fixeds;
    case CLAM_A_SEARCHED:
        return &c->searched;
    case CLAM_A_HASHES:
        return &c->hashes;
    case CLAM_A_SIZES:
        return &c->sizes;
    case CLAM_A_MEMBERS:
        return &c->members;
    default:
        return &c->set->records[array];
    }
}

/* The C library would keep for itself what is needed no more. */
static void give_back(struct clam_records *records)
{
    free(records->at);
    records->at = NULL;
    (void)malloc_trim(0);
}

static void fill_arrays(const struct compile *c, struct clam_block *block)
{
    for (int i = 0; i < CLAM_A_MPM; i++) {
        const struct clam_records *records = array_of(c, i);

        if (records->n > 0)
            memcpy((uint8_t *)block + block->at[i], records->at, records->n * clam_record_len[i]);
        if (c->spent != NULL && i < CLAM_A_READ)
            give_back(&c->spent->records[i]);
    }
}

static void fill_block(const struct compile *c, struct clam_block *block)
{
    struct clam_pattern *patterns;

    fill_arrays(c, block);
    patterns = (struct clam_pattern *)((uint8_t *)block + block->at[CLAM_A_PATTERNS]);
    for (size_t p = 0; p < c->n_patterns; p++) {
        patterns[p].sigs = c->first[p];
        patterns[p].n_sigs = c->n[p];
        patterns[p].targets = (uint16_t)c->targets[p];
        patterns[p].looked_for = c->n[p] > 0 && !c->fixed[p];
        patterns[p].count_max = c->count_max[p];
    }
    sl_mpm_store(c->mpm, (uint8_t *)block + block->at[CLAM_A_MPM]);
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

static struct clam_block *make_block(const struct compile *c)
{
    struct clam_block head = {0};
    uint64_t len = aligned(sizeof head);
    struct sl_mpm_info info;
    struct clam_block *block;

    sl_mpm_info(c->mpm, &info);
    for (int i = 0; i < CLAM_ARRAYS; i++) {
        head.n[i] = i == CLAM_A_MPM ? info.table_len : array_of(c, i)->n;
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
    free(c->count_max);
    free(c->best);
    free(c->fixed);
    free(c->first);
    free(c->n);
    free(c->targets);
    free(c->pairs.at);
    free(c->anchored.at);
    free(c->literals.at);
    free(c->uses.at);
    free(c->fixeds.at);
    free(c->searched.at);
    free(c->hashes.at);
    free(c->sizes.at);
    free(c->members.at);
    sl_mpm_free(c->mpm);
}

static enum sl_status compile(struct sl_clamav_db **db, const struct sl_clamav_set *set,
                              struct sl_clamav_set *spent, enum sl_device_kind device,
                              struct sl_diag *diag)
{
    struct compile c = {.set = set,
                        .spent = spent,
                        .patterns = set->records[CLAM_A_PATTERNS].at,
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
