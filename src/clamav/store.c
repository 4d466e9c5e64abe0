/* SPDX-License-Identifier: MIT */
/* Blocks in files: as tables of literals are (engines/mpm/mpm_store.c). */
#include <stdlib.h>

#include "base/diag.h"
#include "base/mapped_file.h"
#include "clamav/db.h"
#include "clamav/hash_name.h"
#include "clamav/place.h"

/* ---- databases ------------------------------------------------------------------------------- */

static void free_block(const struct clam_block *block, bool loaded)
{
    if (loaded)
        block_file_unload(block);
    else
        free((void *)(uintptr_t)block);
}

/* Whether each literal that the matcher can report has its uses, and the last one their end. */
static bool has_uses_of_all(const struct clam_block *block, const struct sl_mpm_table *mpm)
{
    struct sl_mpm_info info;

    sl_mpm_info(mpm, &info);
    return block->n[CLAM_A_LITERALS] == info.n_literals + 1;
}

enum sl_status clam_db_create(struct sl_clamav_db **db, const struct clam_block *block, bool loaded,
                              const char *path, struct sl_diag *diag)
{
    struct sl_clamav_db *made = calloc(1, sizeof *made);
    struct clam_hash_names *const names = clam_hash_names_create();

    if (made == NULL || names == NULL) {
        free_block(block, loaded);
        clam_hash_names_free(names);
        free(made);
        return diag_set(diag, SL_ENOMEM, path, 0, "out of memory");
    }
    made->names = names;
    enum sl_status status =
        sl_mpm_attach(&made->mpm, clam_at(block, CLAM_A_MPM), block->n[CLAM_A_MPM], path, diag);
    if (status == SL_OK && !has_uses_of_all(block, made->mpm))
        status = diag_set(diag, SL_EFORMAT, path, 0, "cannot be used: its matcher is of another");
    if (status != SL_OK) {
        free_block(block, loaded);
        clam_hash_names_free(names);
        free(made);
        return status;
    }
    made->block = block;
    made->loaded = loaded;
    *db = made;
    return SL_OK;
}

void sl_clamav_free(struct sl_clamav_db *db)
{
    if (db == NULL)
        return;
    free_block(db->block, db->loaded);
    clam_hash_names_free(db->names);
    free(db);
}

const uint8_t *clam_passwords(const struct sl_clamav_db *db, size_t *len)
{
    *len = db->block->n[CLAM_A_PASSWORDS];
    return clam_at(db->block, CLAM_A_PASSWORDS);
}

void sl_clamav_info(const struct sl_clamav_db *db, struct sl_clamav_info *info)
{
    const struct clam_block *block = db->block;
    struct sl_mpm_info mpm;

    sl_mpm_info(db->mpm, &mpm);
    info->hashes = block->n_hashes;
    info->signatures = block->n_hashes + block->n[CLAM_A_MEMBERS] + block->n[CLAM_A_PROTECTED] +
                       block->anchored + block->fixed + block->searched;
    info->patterns = block->n[CLAM_A_PATTERNS];
    info->literals = mpm.n_literals;
    info->anchored = block->anchored;
    info->fixed = block->fixed;
    info->searched = block->searched;
    info->in_parts = block->in_parts;
    info->bad = block->n_bad;
    info->skipped = block->n_skipped;
    info->block_len = block->head.len;
    info->algorithm = mpm.algorithm;
}

/* ---- save ------------------------------------------------------------------------------------ */

enum sl_status sl_clamav_save(const struct sl_clamav_db *db, const char *path, struct sl_diag *diag)
{
    return block_file_save(&clam_block_kind, db->block, path, diag);
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Whether n entries from `first` on lie in an array. */
static bool within(const struct clam_block *block, enum clam_array array, uint64_t first,
                   uint64_t n)
{
    return first <= block->n[array] && n <= block->n[array] - first;
}

static bool check_arrays(const struct clam_block *block)
{
    uint64_t end = sizeof *block;

    for (int i = 0; i < CLAM_ARRAYS; i++) {
        if (block->at[i] % CLAM_ALIGN != 0 || block->at[i] < end ||
            block->at[i] > block->head.len ||
            block->n[i] > (block->head.len - block->at[i]) / clam_record_len[i])
            return false;
        end = block->at[i] + block->n[i] * clam_record_len[i];
    }
    /* The last text ends. */
    const char *text = clam_at(block, CLAM_A_TEXT);
    return block->n[CLAM_A_TEXT] == 0 || text[block->n[CLAM_A_TEXT] - 1] == '\0';
}

static bool check_elem(const struct clam_block *block, const struct clam_seg *seg,
                       const struct clam_elem *elem)
{
    const struct clam_alt *alts = clam_at(block, CLAM_A_ALTS);

    if (elem->kind >= CLAM_ELEM_KINDS || elem->at > seg->len ||
        (elem->kind != CLAM_VARIABLE && elem->len > seg->len - elem->at))
        return false;
    switch (elem->kind) {
    case CLAM_EXACT:
        return within(block, CLAM_A_BYTES, elem->bytes, elem->len);
    case CLAM_MASKED:
        return within(block, CLAM_A_BYTES, elem->bytes, elem->len) &&
               within(block, CLAM_A_BYTES, elem->masks, elem->len);
    case CLAM_ALTS:
    case CLAM_VARIABLE:
        if (!within(block, CLAM_A_ALTS, elem->bytes, elem->n_alts))
            return false;
        for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
            if ((elem->kind == CLAM_ALTS && alts[i].len != elem->len) ||
                (elem->kind == CLAM_VARIABLE &&
                 (alts[i].len < seg->len || alts[i].len > seg->len_max)))
                return false;
        return true;
    default:
        return true;
    }
}

static bool check_segs(const struct clam_block *block)
{
    const struct clam_seg *segs = clam_at(block, CLAM_A_SEGS);
    const struct clam_elem *elems = clam_at(block, CLAM_A_ELEMS);
    const struct clam_alt *alts = clam_at(block, CLAM_A_ALTS);

    for (uint64_t i = 0; i < block->n[CLAM_A_ALTS]; i++)
        if (alts[i].len == 0 || alts[i].len > 1 << 16 ||
            !within(block, CLAM_A_BYTES, alts[i].bytes, alts[i].len) ||
            (alts[i].masks != CLAM_NONE &&
             !within(block, CLAM_A_BYTES, alts[i].masks, alts[i].len)))
            return false;
    for (uint64_t s = 0; s < block->n[CLAM_A_SEGS]; s++) {
        const struct clam_seg *seg = &segs[s];

        if (!(seg->n_elems == 0 ? within(block, CLAM_A_BYTES, seg->elems, seg->len)
                                : within(block, CLAM_A_ELEMS, seg->elems, seg->n_elems)) ||
            seg->len_max < seg->len || seg->gap_max < seg->gap_min ||
            !within(block, CLAM_A_BYTES, seg->key, seg->key_len) || seg->key_at > seg->len ||
            seg->key_len > seg->len - seg->key_at)
            return false;
        for (uint32_t e = 0; e < seg->n_elems; e++)
            if (!check_elem(block, seg, &elems[seg->elems + e]) ||
                (elems[seg->elems + e].kind == CLAM_VARIABLE && seg->n_elems != 1))
                return false;
    }
    return true;
}

static bool check_demands(const struct clam_block *block)
{
    const struct clam_demand *demands = clam_at(block, CLAM_A_DEMANDS);

    for (uint64_t i = 0; i < block->n[CLAM_A_DEMANDS]; i++)
        if (demands[i].n_in > sizeof demands->in)
            return false;
    return true;
}

static bool check_patterns(const struct clam_block *block)
{
    const struct clam_pattern *patterns = clam_at(block, CLAM_A_PATTERNS);
    const uint32_t *variants = clam_at(block, CLAM_A_VARIANTS);

    for (uint64_t p = 0; p < block->n[CLAM_A_PATTERNS]; p++)
        if (patterns[p].n_segs == 0 || patterns[p].last_part >= patterns[p].n_segs ||
            patterns[p].offset_kind >= CLAM_OFFSET_KINDS ||
            !within(block, CLAM_A_SEGS, patterns[p].segs, patterns[p].n_segs) ||
            !within(block, CLAM_A_ANCHORED, patterns[p].sigs, patterns[p].n_sigs))
            return false;
    for (uint64_t v = 0; v < block->n[CLAM_A_VARIANTS]; v++)
        if (variants[v] >= block->n[CLAM_A_PATTERNS])
            return false;
    return true;
}

/* Operands lie right before their operator, so no node has two parents; PCREs' triggers name only
 * subsignatures before them. So each evaluation ends. */
static bool check_nodes(const struct clam_block *block)
{
    const struct clam_node *nodes = clam_at(block, CLAM_A_NODES);

    for (uint64_t n = 0; n < block->n[CLAM_A_NODES]; n++) {
        const struct clam_node *node = &nodes[n];

        if (node->kind >= CLAM_NODE_KINDS)
            return false;
        if (node->kind == CLAM_LEAF) {
            if (node->left >= CLAM_SUBS_MAX || node->depth != 1 || node->first != n)
                return false;
            continue;
        }
        if (n < 2 || node->right != n - 1 || nodes[n - 1].first == 0 ||
            node->left != nodes[n - 1].first - 1 || node->first != nodes[node->left].first ||
            node->depth > CLAM_DEPTH_MAX + 2 || node->depth <= nodes[node->left].depth ||
            node->depth <= nodes[n - 1].depth)
            return false;
    }
    return true;
}

/* Whether all subsignatures that a tree names are below n. */
static bool names_below(const struct clam_node *nodes, uint32_t node, uint32_t n)
{
    if (nodes[node].kind == CLAM_LEAF)
        return nodes[node].left < n;
    return names_below(nodes, nodes[node].left, n) && names_below(nodes, nodes[node].right, n);
}

static bool check_sig(const struct clam_block *block, const struct clam_sig *sig)
{
    const struct clam_sub *subs = clam_at(block, CLAM_A_SUBS);
    const struct clam_node *nodes = clam_at(block, CLAM_A_NODES);
    const struct clam_pcre *pcres = clam_at(block, CLAM_A_PCRES);

    if (sig->name >= block->n[CLAM_A_TEXT] || sig->target >= CLAM_TARGETS ||
        (sig->demand != CLAM_NONE && sig->demand >= block->n[CLAM_A_DEMANDS]) ||
        sig->n_subs > CLAM_SUBS_MAX || !within(block, CLAM_A_SUBS, sig->subs, sig->n_subs) ||
        sig->node >= block->n[CLAM_A_NODES] || !names_below(nodes, sig->node, sig->n_subs))
        return false;
    for (uint32_t i = 0; i < sig->n_subs; i++) {
        const struct clam_sub *sub = &subs[sig->subs + i];

        if (sub->kind == CLAM_SUB_PCRE) {
            if (sub->first >= block->n[CLAM_A_PCRES] ||
                !names_below(nodes, pcres[sub->first].node, i))
                return false;
        } else if (sub->kind != CLAM_SUB_BODY ||
                   !within(block, CLAM_A_VARIANTS, sub->first, sub->n)) {
            return false;
        }
    }
    return true;
}

static bool check_sigs(const struct clam_block *block)
{
    const struct clam_sig *sigs = clam_at(block, CLAM_A_SIGS);
    const struct clam_pcre *pcres = clam_at(block, CLAM_A_PCRES);

    for (uint64_t i = 0; i < block->n[CLAM_A_PCRES]; i++)
        if (pcres[i].node >= block->n[CLAM_A_NODES] || pcres[i].offset_kind >= CLAM_OFFSET_KINDS ||
            !within(block, CLAM_A_TEXT, pcres[i].text, (uint64_t)pcres[i].text_len + 1))
            return false;
    for (uint64_t i = 0; i < block->n[CLAM_A_SIGS]; i++)
        if (!check_sig(block, &sigs[i]))
            return false;
    return true;
}

static bool all_below(const struct clam_block *block, enum clam_array array, uint64_t limit)
{
    const uint32_t *numbers = clam_at(block, array);

    for (uint64_t i = 0; i < block->n[array]; i++)
        if (numbers[i] >= limit)
            return false;
    return true;
}

static bool check_anchors(const struct clam_block *block)
{
    const uint32_t *literals = clam_at(block, CLAM_A_LITERALS);
    const struct clam_use *uses = clam_at(block, CLAM_A_USES);
    const struct clam_pattern *patterns = clam_at(block, CLAM_A_PATTERNS);
    const uint64_t n = block->n[CLAM_A_LITERALS];

    if (n == 0 || literals[n - 1] != block->n[CLAM_A_USES])
        return false;
    for (uint64_t i = 1; i < n; i++)
        if (literals[i] < literals[i - 1])
            return false;
    for (uint64_t i = 0; i < block->n[CLAM_A_USES]; i++)
        if (uses[i].pattern >= block->n[CLAM_A_PATTERNS] ||
            uses[i].seg >= patterns[uses[i].pattern].n_segs)
            return false;
    return all_below(block, CLAM_A_ANCHORED, block->n[CLAM_A_SIGS]) &&
           all_below(block, CLAM_A_SEARCHED, block->n[CLAM_A_SIGS]) &&
           all_below(block, CLAM_A_FIXED, block->n[CLAM_A_PATTERNS]);
}

static bool check_members(const struct clam_block *block)
{
    const struct clam_member *members = clam_at(block, CLAM_A_MEMBERS);

    for (uint64_t i = 0; i < block->n[CLAM_A_MEMBERS]; i++)
        if (members[i].name >= block->n[CLAM_A_TEXT] || members[i].pattern >= block->n[CLAM_A_TEXT])
            return false;
    return true;
}

static bool check_hashes_of(const struct clam_block *block, int purpose, int kind)
{
    const uint64_t *range = block->hashes[purpose][kind], n = block->n[CLAM_A_HASHES];
    const uint8_t *hashes = (const uint8_t *)clam_at(block, CLAM_A_HASHES) + range[0];

    if (range[0] % _Alignof(struct clam_hash) != 0 || range[0] > n ||
        range[1] > (n - range[0]) / clam_hash_step(kind))
        return false;
    for (uint64_t i = 0; i < range[1]; i++)
        if (clam_hash_in(hashes, kind, i)->name >= block->n[CLAM_A_TEXT])
            return false;
    return true;
}

static bool check_hashes(const struct clam_block *block)
{
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        if (!check_hashes_of(block, i / CLAM_HASHES, i % CLAM_HASHES))
            return false;
    return true;
}

static bool check_certificates(const struct clam_block *block)
{
    const struct clam_certificate *certificates = clam_at(block, CLAM_A_CERTIFICATES);

    for (uint64_t i = 0; i < block->n[CLAM_A_CERTIFICATES]; i++)
        if (certificates[i].name >= block->n[CLAM_A_TEXT] ||
            !within(block, CLAM_A_BYTES, certificates[i].key, certificates[i].key_len))
            return false;
    return true;
}

static bool check_domains_in(const struct clam_block *block, enum clam_array array)
{
    const struct clam_domain *domains = clam_at(block, array);

    for (uint64_t i = 0; i < block->n[array]; i++)
        if (domains[i].text >= block->n[CLAM_A_TEXT] || domains[i].tail >= block->n[CLAM_A_TEXT])
            return false;
    return true;
}

static bool check_domains(const struct clam_block *block)
{
    return check_domains_in(block, CLAM_A_PROTECTED) && check_domains_in(block, CLAM_A_HARMLESS);
}

/* The last password ends where the list does. */
static bool check_passwords(const struct clam_block *block)
{
    const uint8_t *passwords = clam_at(block, CLAM_A_PASSWORDS);
    uint64_t at = 0;

    while (at < block->n[CLAM_A_PASSWORDS])
        at += 1 + (uint64_t)passwords[at];
    return at == block->n[CLAM_A_PASSWORDS] && at <= CLAM_PASSWORDS_LEN_MAX;
}

/* The matcher's table, the last part, has a checksum of its own. */
static bool sum_block(const void *memory, uint64_t *sum)
{
    const struct clam_block *block = memory;
    const size_t begin = offsetof(struct clam_block, at);

    if (!check_arrays(block))
        return false;
    *sum = block_sum((const uint8_t *)block + begin, block->at[CLAM_A_MPM] - begin);
    return true;
}

const struct block_kind clam_block_kind = {
    .name = "compiled database",
    .magic = UINT64_C(0x31304D414C434C53), /* "SLCLAM01" */
    .version = 10,
    .pointer_len = sizeof(void *),
    .len_min = sizeof(struct clam_block),
    .read_max = 16 << 20, /* the matcher's part for GPUs need not be in memory */
    .sum = sum_block,
};

/* The pages that a check of a mapped file reads leave memory before the next one. */
static bool check_parts(const struct clam_block *block)
{
    static bool (*const checks[])(const struct clam_block *) = {
        check_segs,         check_patterns, check_demands, check_nodes,
        check_sigs,         check_anchors,  check_members, check_passwords,
        check_certificates, check_domains,  check_hashes};
    bool good = true;

    for (size_t i = 0; i < sizeof checks / sizeof *checks && good; i++) {
        good = checks[i](block);
        mapped_file_discard(block, block->head.len);
    }
    return good;
}

/* ---- load ------------------------------------------------------------------------------------ */

enum sl_status sl_clamav_load(struct sl_clamav_db **db, const char *path, struct sl_diag *diag)
{
    const void *memory;
    const enum sl_status status = block_file_load(&clam_block_kind, &memory, path, diag);

    if (status != SL_OK)
        return status;
    const struct clam_block *block = memory;
    if (!check_parts(block)) {
        block_file_unload(block);
        return diag_set(diag, SL_EFORMAT, path, 0, "cannot be used: its parts contradict another");
    }
    return clam_db_create(db, block, true, path, diag);
}
