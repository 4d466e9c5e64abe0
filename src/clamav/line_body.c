/* SPDX-License-Identifier: MIT */
/* Signatures of one body: .ndb, .db. */
#include "clamav/line_internal.h"

/* A signature of one body. */
static enum clam_taken put_body_sig(struct sl_clamav_set *set, struct clam_text name,
                                    uint8_t target, const struct clam_offset *offset,
                                    struct clam_text hex)
{
    struct clam_sig *sig;
    struct clam_sub *sub;
    struct clam_node *node;
    uint32_t pattern = 0, text = 0, *variant, at_variant, at_sub, at_node;

    enum clam_taken taken = line_put_name(set, name, &text);
    if (taken == CLAM_TAKEN)
        taken = clam_body_read(set, hex, 0, offset, &pattern);
    if (taken != CLAM_TAKEN)
        return taken;
    variant = clam_push(set, CLAM_A_VARIANTS, 1, &at_variant);
    sub = clam_push(set, CLAM_A_SUBS, 1, &at_sub);
    node = clam_push(set, CLAM_A_NODES, 1, &at_node);
    sig = line_new_sig(set, target);
    if (variant == NULL || sub == NULL || node == NULL || sig == NULL)
        return CLAM_NO_MEMORY;
    *variant = pattern;
    *sub = (struct clam_sub){CLAM_SUB_BODY, 1, at_variant};
    node->depth = 1;
    node->first = at_node;
    sig->name = text;
    sig->subs = at_sub;
    sig->n_subs = 1;
    sig->node = at_node;
    return CLAM_TAKEN;
}

enum clam_taken line_read_ndb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text name, target, offset, hex;
    struct clam_offset place;
    uint64_t number = 0, least;

    if (!clam_text_cut(&line, ':', &name) || !clam_text_cut(&line, ':', &target) ||
        !clam_text_cut(&line, ':', &offset))
        return clam_bad(set, "has less than four fields");
    clam_text_cut(&line, ':', &hex);
    enum clam_taken taken = line_check_levels(set, line, &least);
    if (taken != CLAM_TAKEN)
        return taken;
    if (!clam_text_number(target, UINT32_MAX, &number))
        return clam_bad(set, "the target type is no number");
    taken = line_check_target(set, number);
    if (taken == CLAM_TAKEN)
        taken = clam_offset_read(set, offset, (uint8_t)number, &place);
    if (taken != CLAM_TAKEN)
        return taken;
    return put_body_sig(set, name, (uint8_t)number, &place, hex);
}

enum clam_taken line_read_db(struct sl_clamav_set *set, struct clam_text line)
{
    const struct clam_offset anywhere = {0};
    struct clam_text name;

    if (!clam_text_cut(&line, '=', &name))
        return clam_bad(set, "has no '='");
    return put_body_sig(set, name, CLAM_GENERIC, &anywhere, line);
}
