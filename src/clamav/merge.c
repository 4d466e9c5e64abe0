/* SPDX-License-Identifier: MIT */
/* A compiled block as a part of a set. Both consist of the same records. So each array is appended
 * to that of the set, and its indices grow by the lengths of the set's arrays. The compiler then
 * chooses anchors anew, among all signatures. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "clamav/hash_name.h"
#include "clamav/set.h"

struct merge {
    struct sl_clamav_set *set;
    const struct clam_block *block;
    uint32_t base[CLAM_A_READ]; /* lengths of the set's arrays before */
    uint8_t *live;              /* by signature of the block: it was not ignored */
};

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool append(struct merge *merge, enum clam_array array)
{
    const size_t n = merge->block->n[array];
    uint32_t index;
    void *room = n > 0 ? clam_push(merge->set, array, n, &index) : NULL;

    if (room != NULL)
        memcpy(room, clam_at(merge->block, array), n * clam_record_len[array]);
    return room != NULL || n == 0;
}

/* The first of the records that were appended. NULL: the block has none. */
static void *appended(const struct merge *merge, enum clam_array array)
{
    uint8_t *records = merge->set->records[array].at;

    return merge->block->n[array] > 0
               ? records + (size_t)merge->base[array] * clam_record_len[array]
               : NULL;
}

static void move_alts(const struct merge *merge)
{
    struct clam_alt *alts = appended(merge, CLAM_A_ALTS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_ALTS]; i++) {
        alts[i].bytes += merge->base[CLAM_A_BYTES];
        if (alts[i].masks != CLAM_NONE)
            alts[i].masks += merge->base[CLAM_A_BYTES];
    }
}

static void move_elems(const struct merge *merge)
{
    struct clam_elem *elems = appended(merge, CLAM_A_ELEMS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_ELEMS]; i++) {
        const bool has_alts = elems[i].kind == CLAM_ALTS || elems[i].kind == CLAM_VARIABLE;

        elems[i].bytes += merge->base[has_alts ? CLAM_A_ALTS : CLAM_A_BYTES];
        elems[i].masks += merge->base[CLAM_A_BYTES];
    }
}

static void move_segs(const struct merge *merge)
{
    struct clam_seg *segs = appended(merge, CLAM_A_SEGS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_SEGS]; i++) {
        segs[i].elems += merge->base[segs[i].n_elems == 0 ? CLAM_A_BYTES : CLAM_A_ELEMS];
        segs[i].key += merge->base[CLAM_A_BYTES];
    }
}

static void move_patterns(const struct merge *merge)
{
    struct clam_pattern *patterns = appended(merge, CLAM_A_PATTERNS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_PATTERNS]; i++)
        patterns[i].segs += merge->base[CLAM_A_SEGS];
}

/* Every pattern has a key, which stands for its text. The text of these is not in the block, so
 * their keys are those of no text. An equal body that is read later becomes a pattern of its own.
 */
static bool add_keys(const struct merge *merge)
{
    for (uint64_t i = 0; i < merge->block->n[CLAM_A_PATTERNS]; i++) {
        const uint64_t number = merge->base[CLAM_A_PATTERNS] + i;
        const uint64_t key[2] = {number, ~number};

        if (!clam_chain_add(&merge->set->bodies, key))
            return false;
    }
    return true;
}

static void move_variants(const struct merge *merge)
{
    uint32_t *variants = appended(merge, CLAM_A_VARIANTS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_VARIANTS]; i++)
        variants[i] += merge->base[CLAM_A_PATTERNS];
}

static void move_subs(const struct merge *merge)
{
    struct clam_sub *subs = appended(merge, CLAM_A_SUBS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_SUBS]; i++)
        subs[i].first +=
            merge->base[subs[i].kind == CLAM_SUB_PCRE ? CLAM_A_PCRES : CLAM_A_VARIANTS];
}

static void move_pcres(const struct merge *merge)
{
    struct clam_pcre *pcres = appended(merge, CLAM_A_PCRES);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_PCRES]; i++) {
        pcres[i].text += merge->base[CLAM_A_TEXT];
        pcres[i].node += merge->base[CLAM_A_NODES];
    }
}

/* A leaf names a subsignature by its number in the signature. */
static void move_nodes(const struct merge *merge)
{
    struct clam_node *nodes = appended(merge, CLAM_A_NODES);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_NODES]; i++) {
        nodes[i].first += merge->base[CLAM_A_NODES];
        if (nodes[i].kind == CLAM_LEAF)
            continue;
        nodes[i].left += merge->base[CLAM_A_NODES];
        nodes[i].right += merge->base[CLAM_A_NODES];
    }
}

static bool append_bodies(struct merge *merge)
{
    for (enum clam_array i = 0; i < CLAM_A_SIGS; i++)
        if (!append(merge, i))
            return false;
    move_alts(merge);
    move_elems(merge);
    move_segs(merge);
    move_patterns(merge);
    move_variants(merge);
    move_subs(merge);
    move_pcres(merge);
    move_nodes(merge);
    return add_keys(merge);
}

/* ---- signatures ------------------------------------------------------------------------------ */

/* A signature that was ignored when the block was compiled has neither an anchor nor a search. */
static void mark_live(struct merge *merge, enum clam_array array)
{
    const uint32_t *sigs = clam_at(merge->block, array);

    for (uint64_t i = 0; i < merge->block->n[array]; i++)
        merge->live[sigs[i]] = 1;
}

static bool append_sig(const struct merge *merge, const struct clam_sig *from)
{
    uint32_t index;
    struct clam_sig *sig = clam_push(merge->set, CLAM_A_SIGS, 1, &index);

    if (sig == NULL)
        return false;
    *sig = *from;
    sig->name += merge->base[CLAM_A_TEXT];
    sig->subs += merge->base[CLAM_A_SUBS];
    sig->node += merge->base[CLAM_A_NODES];
    if (sig->demand != CLAM_NONE)
        sig->demand += merge->base[CLAM_A_DEMANDS];
    return true;
}

static bool append_sigs(const struct merge *merge)
{
    const struct clam_sig *sigs = clam_at(merge->block, CLAM_A_SIGS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_SIGS]; i++)
        if (merge->live[i] != 0 && !append_sig(merge, &sigs[i]))
            return false;
    return true;
}

static bool append_members(struct merge *merge)
{
    if (!append(merge, CLAM_A_MEMBERS))
        return false;
    struct clam_member *members = appended(merge, CLAM_A_MEMBERS);
    for (uint64_t i = 0; i < merge->block->n[CLAM_A_MEMBERS]; i++) {
        members[i].name += merge->base[CLAM_A_TEXT];
        members[i].pattern += merge->base[CLAM_A_TEXT];
    }
    return true;
}

static bool append_certificates(struct merge *merge)
{
    if (!append(merge, CLAM_A_CERTIFICATES))
        return false;
    struct clam_certificate *certificates = appended(merge, CLAM_A_CERTIFICATES);
    for (uint64_t i = 0; i < merge->block->n[CLAM_A_CERTIFICATES]; i++) {
        certificates[i].name += merge->base[CLAM_A_TEXT];
        certificates[i].key += merge->base[CLAM_A_BYTES];
    }
    return true;
}

static bool append_domains(struct merge *merge, enum clam_array array)
{
    if (!append(merge, array))
        return false;
    struct clam_domain *domains = appended(merge, array);
    for (uint64_t i = 0; i < merge->block->n[array]; i++) {
        domains[i].text += merge->base[CLAM_A_TEXT];
        domains[i].tail += merge->base[CLAM_A_TEXT];
    }
    return true;
}

static bool append_hashes_of(const struct merge *merge, int purpose, int kind)
{
    const uint64_t *range = merge->block->hashes[purpose][kind];
    const size_t step = clam_hash_step(kind);

    if (range[1] == 0)
        return true;
    uint8_t *room = clam_grow(&merge->set->hashes[purpose][kind], step, range[1]);
    if (room == NULL)
        return false;
    memcpy(room, (const uint8_t *)clam_at(merge->block, CLAM_A_HASHES) + range[0], range[1] * step);
    for (uint64_t i = 0; i < range[1]; i++) {
        struct clam_hash *hash = (struct clam_hash *)(room + i * step);
        const uint64_t name = (uint64_t)hash->name + merge->base[CLAM_A_TEXT];

        if (name > CLAM_HASH_NAME_MAX)
            return false;
        hash->name = name & CLAM_HASH_NAME_MAX;
        merge->set->n_allowed += clam_hash_allows(purpose, hash);
    }
    return true;
}

static bool append_hashes(const struct merge *merge)
{
    for (int purpose = 0; purpose < CLAM_HASHED; purpose++)
        for (int kind = 0; kind < CLAM_HASHES; kind++)
            if (!append_hashes_of(merge, purpose, kind))
                return false;
    return true;
}

/* ---- ignored lines --------------------------------------------------------------------------- */

static bool is_hash_named(const struct merge *merge, int purpose, int kind, const char *name)
{
    const char *text = clam_at(merge->block, CLAM_A_TEXT);
    const uint64_t *range = merge->block->hashes[purpose][kind];
    const uint8_t *hashes = (const uint8_t *)clam_at(merge->block, CLAM_A_HASHES) + range[0];

    bool is = false;

    for (uint64_t i = 0; i < range[1] && !is; i++) {
        char *const one = clam_hash_name_copy(text, clam_hash_in(hashes, kind, i));

        is = one == NULL || strcmp(one, name) == 0; /* without memory it is not let in */
        free(one);
    }
    return is;
}

static bool is_named(const struct merge *merge, const char *name)
{
    const char *text = clam_at(merge->block, CLAM_A_TEXT);
    const struct clam_sig *sigs = clam_at(merge->block, CLAM_A_SIGS);

    for (uint64_t i = 0; i < merge->block->n[CLAM_A_SIGS]; i++)
        if (merge->live[i] != 0 && strcmp(text + sigs[i].name, name) == 0)
            return true;
    const struct clam_member *members = clam_at(merge->block, CLAM_A_MEMBERS);
    for (uint64_t i = 0; i < merge->block->n[CLAM_A_MEMBERS]; i++)
        if (strcmp(text + members[i].name, name) == 0)
            return true;
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++)
        if (is_hash_named(merge, i / CLAM_HASHES, i % CLAM_HASHES, name))
            return true;
    return false;
}

static enum sl_status check_ignores(const struct merge *merge, const char *path,
                                    struct sl_diag *diag)
{
    const struct clam_ignore *ignores = (const struct clam_ignore *)merge->set->ignores.at;

    for (size_t i = 0; i < merge->set->ignores.n; i++)
        if (ignores[i].has_digest && is_named(merge, ignores[i].name))
            return diag_set(diag, SL_EINVAL, path, 0,
                            "cannot be combined with a list that ignores one line of '%s' by its "
                            "MD5: a compiled database has no lines (expected the list when it was "
                            "compiled)",
                            ignores[i].name);
    return SL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum sl_status clam_set_merge(struct sl_clamav_set *set, const struct clam_block *block,
                              const char *path, struct sl_diag *diag)
{
    struct merge merge = {
        .set = set, .block = block, .live = calloc(block->n[CLAM_A_SIGS] + 1, sizeof *merge.live)};
    enum sl_status status = SL_ENOMEM;

    for (enum clam_array i = 0; i < CLAM_A_READ; i++)
        merge.base[i] = clam_count(set, i);
    if (merge.live != NULL) {
        mark_live(&merge, CLAM_A_ANCHORED);
        mark_live(&merge, CLAM_A_SEARCHED);
        status = check_ignores(&merge, path, diag);
        if (status == SL_OK &&
            (!clam_set_add_file(set, path) || !append_bodies(&merge) || !append_sigs(&merge) ||
             !append_members(&merge) || !append(&merge, CLAM_A_PASSWORDS) ||
             !append_certificates(&merge) || !append_domains(&merge, CLAM_A_PROTECTED) ||
             !append_domains(&merge, CLAM_A_HARMLESS) || !append_hashes(&merge)))
            status = SL_ENOMEM;
        if (status == SL_OK && clam_count(set, CLAM_A_PASSWORDS) > CLAM_PASSWORDS_LEN_MAX)
            status = diag_set(diag, SL_EINVAL, path, 0, "has too many passwords");
        set->n_bad_before += block->n_bad;
        set->n_skipped_before += block->n_skipped;
    }
    free(merge.live);
    return status == SL_ENOMEM ? diag_set(diag, SL_ENOMEM, path, 0, "out of memory") : status;
}
