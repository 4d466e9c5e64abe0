/* SPDX-License-Identifier: MIT */
/* Hashes of files and sections, and of files that are allowed: .hdb, .mdb, .fp, ... */
#include <string.h>

#include "clamav/line_internal.h"

enum clam_taken line_read_hash(struct sl_clamav_set *set, enum clam_format format,
                               struct clam_text line)
{
    const bool of_section = format == CLAM_MDB || format == CLAM_MSB;
    struct clam_text fields[2], name;
    const int purpose = of_section                                ? CLAM_OF_SECTION
                        : format == CLAM_FP || format == CLAM_SFP ? CLAM_OF_ALLOWED
                                                                  : CLAM_OF_FILE;
    struct clam_hash *hash;
    uint8_t digest[32] = {0}, kind;
    uint64_t size = CLAM_ANY_SIZE, least = 0;
    uint32_t text = 0;

    if (!clam_text_cut(&line, ':', &fields[0]) || !clam_text_cut(&line, ':', &fields[1]))
        return clam_bad(set, "has less than three fields");
    clam_text_cut(&line, ':', &name);
    enum clam_taken taken = line_check_levels(set, line, &least);
    if (taken != CLAM_TAKEN)
        return taken;
    const struct clam_text length = fields[of_section ? 0 : 1];
    if (!line_read_digest(fields[of_section ? 1 : 0], digest, &kind))
        return clam_bad(set, "has no MD5, SHA-1 or SHA-256 in hexadecimal");
    if (clam_text_is(length, "*")) {
        if (least < 73)
            return clam_bad(set, "a size of '*' needs engine level 73");
    } else if (!clam_text_number(length, INT64_MAX, &size)) {
        return clam_bad(set, "the size is no number");
    }
    taken = line_put_name(set, name, &text);
    if (taken != CLAM_TAKEN)
        return taken;
    hash = clam_grow(&set->hashes[purpose][kind], clam_hash_step(kind), 1);
    if (hash == NULL || text > CLAM_HASH_NAME_MAX)
        return CLAM_NO_MEMORY;
    set->n_allowed += purpose == CLAM_OF_ALLOWED;
    hash->size = size;
    hash->name = text & CLAM_HASH_NAME_MAX;
    hash->official = set->official;
    memcpy(hash->digest, digest, clam_hash_len[kind]);
    return CLAM_TAKEN;
}
