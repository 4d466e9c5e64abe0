/* SPDX-License-Identifier: MIT */
/* Fields that several formats share. */
#include <string.h>

#include "base/hex.h"
#include "clamav/line_internal.h"
#include "unpack/kind.h"

enum clam_taken line_put_text(struct sl_clamav_set *set, struct clam_text text, uint32_t *index)
{
    char *room;

    if (memchr(text.at, '\0', text.len) != NULL)
        return clam_bad(set, "a text holds a zero byte");
    room = clam_push(set, CLAM_A_TEXT, text.len + 1, index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    memcpy(room, text.at, text.len);
    return CLAM_TAKEN;
}

enum clam_taken line_put_name(struct sl_clamav_set *set, struct clam_text name, uint32_t *index)
{
    return name.len == 0 ? clam_bad(set, "there is no name") : line_put_text(set, name, index);
}

bool line_read_span(struct clam_text text, uint64_t max, uint64_t *from, uint64_t *to)
{
    struct clam_text first;

    const bool two = clam_text_cut(&text, '-', &first);
    if (!clam_text_number(first, max, from))
        return false;
    *to = two ? max : *from;
    return !two || text.len == 0 || clam_text_number(text, max, to);
}

enum clam_taken line_check_level(struct sl_clamav_set *set, uint64_t from, uint64_t to)
{
    if (from > CLAM_LEVEL || to < CLAM_LEVEL)
        return clam_skip(set, "for other engine levels than %d", CLAM_LEVEL);
    return CLAM_TAKEN;
}

enum clam_taken line_check_levels(struct sl_clamav_set *set, struct clam_text rest, uint64_t *least)
{
    struct clam_text field;
    uint64_t level[2] = {0, UINT32_MAX};

    for (int i = 0; i < 2 && rest.len > 0; i++) {
        clam_text_cut(&rest, ':', &field);
        if (field.len > 0 && !clam_text_number(field, UINT32_MAX, &level[i]))
            return clam_bad(set, "an engine level is no number");
    }
    if (rest.len > 0)
        return clam_bad(set, "there are too many fields");
    *least = level[0];
    return line_check_level(set, level[0], level[1]);
}

struct clam_sig *line_new_sig(struct sl_clamav_set *set, uint8_t target)
{
    uint32_t index;
    struct clam_sig *sig = clam_push(set, CLAM_A_SIGS, 1, &index);

    if (sig != NULL) {
        sig->target = target;
        sig->flags = set->official ? CLAM_OFFICIAL : 0;
        sig->count_max = 1;
        sig->demand = CLAM_NONE;
    }
    return sig;
}

enum clam_taken line_read_kind(struct sl_clamav_set *set, struct clam_text text, uint8_t *kind)
{
    const enum kind found = kind_of_clam_name(text.at, text.len);

    *kind = clam_text_is(text, "CL_TYPE_ANY") ? CLAM_KIND_ANY : (uint8_t)found;
    if (*kind == CLAM_KIND_ANY || found < KINDS)
        return CLAM_TAKEN;
    return clam_skip(set, "type '%.*s' is not known", (int)(text.len < 32 ? text.len : 32),
                     text.at);
}

enum clam_taken line_check_target(struct sl_clamav_set *set, uint64_t target)
{
    if (target >= CLAM_TARGETS)
        return clam_skip(set, "target type %u is not known", (unsigned)target);
    if (target == CLAM_UNUSED || target >= CLAM_INTERNAL)
        return clam_skip(set, "target type %u is not supported", (unsigned)target);
    return CLAM_TAKEN;
}

bool line_read_hex(struct clam_text text, uint8_t *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        const int digit = hex_digit(text.at[i]);

        if (digit < 0)
            return false;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    return text.len % 2 == 0;
}

bool line_read_digest(struct clam_text text, uint8_t digest[32], uint8_t *kind)
{
    for (*kind = 0; *kind < CLAM_HASHES; ++*kind)
        if (text.len == 2 * (size_t)clam_hash_len[*kind])
            break;
    return *kind < CLAM_HASHES && line_read_hex(text, digest);
}
