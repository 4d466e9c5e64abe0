/* SPDX-License-Identifier: MIT */
/* Hashes of files and sections, and of files that are allowed: .hdb, .mdb, .fp, ... */
#include <string.h>
#include <xxhash.h>

#include "clamav/line_internal.h"

/* The longest number in a name, without zeros before it. Its length is 0 where there is none. */
static struct clam_text find_number(struct clam_text name)
{
    enum { LEN_MAX = 9 }; /* of numbers below 2^32 */
    struct clam_text best = {name.at, 0};

    for (size_t from = 0, end; from < name.len; from = end + 1) {
        for (end = from; end < name.len && name.at[end] >= '0' && name.at[end] <= '9';)
            end++;
        if (end - from > best.len && end - from <= LEN_MAX && name.at[from] != '0')
            best = (struct clam_text){name.at + from, end - from};
    }
    return best;
}

/* Reads a name as a number and the text around it, which other names may have, too. */
static enum clam_taken put_name(struct sl_clamav_set *set, struct clam_text name, uint32_t *text,
                                uint32_t *number)
{
    const struct clam_text digits = find_number(name);
    const size_t before = (size_t)(digits.at - name.at), len = name.len - digits.len + 1;
    char around[128];
    uint64_t value;

    *number = CLAM_NONE;
    if (digits.len == 0 || len >= sizeof around || !clam_text_number(digits, INT32_MAX, &value) ||
        memchr(name.at, CLAM_NUMBER_MARK, name.len) != NULL)
        return line_put_name(set, name, text);
    *number = (uint32_t)value;
    memcpy(around, name.at, before);
    around[before] = CLAM_NUMBER_MARK;
    memcpy(around + before + 1, digits.at + digits.len, len - before - 1);
    around[len] = '\0';
    uint32_t *const known = &set->stems[XXH3_64bits(around, len) % CLAM_STEMS];
    const char *const texts = (const char *)set->records[CLAM_A_TEXT].at;
    if (*known < clam_count(set, CLAM_A_TEXT) && strcmp(texts + *known, around) == 0) {
        *text = *known;
        return CLAM_TAKEN;
    }
    const enum clam_taken taken = line_put_name(set, (struct clam_text){around, len}, text);
    if (taken == CLAM_TAKEN)
        *known = *text;
    return taken;
}

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
    uint32_t text = 0, number;

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
    taken = put_name(set, name, &text, &number);
    if (taken != CLAM_TAKEN)
        return taken;
    hash = clam_grow(&set->hashes[purpose][kind], clam_hash_step(kind), 1);
    if (hash == NULL || text > CLAM_HASH_NAME_MAX)
        return CLAM_NO_MEMORY;
    set->n_allowed += purpose == CLAM_OF_ALLOWED;
    hash->size = size;
    hash->name = text & CLAM_HASH_NAME_MAX;
    hash->number = number;
    hash->official = set->official;
    memcpy(hash->digest, digest, clam_hash_len[kind]);
    return CLAM_TAKEN;
}
