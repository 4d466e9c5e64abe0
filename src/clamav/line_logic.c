/* SPDX-License-Identifier: MIT */
/* Logical signatures: .ldb. */
#include <string.h>

#include "clamav/line_internal.h"

static const struct clam_demand no_demand = {
    .size_max = UINT64_MAX, .ep_max = UINT32_MAX, .nos_max = UINT32_MAX};

/* The next container is of this kind, and of the one that was said before. */
static enum clam_taken put_container(struct sl_clamav_set *set, struct clam_demand *demand,
                                     uint8_t kind)
{
    if (demand->n_in == 0)
        demand->in[demand->n_in++] = CLAM_KIND_ANY;
    uint8_t *const next = &demand->in[demand->n_in - 1];
    if (*next != CLAM_KIND_ANY && kind != CLAM_KIND_ANY && *next != kind)
        return clam_skip(set, "Container is not the last of Intermediates");
    *next = kind != CLAM_KIND_ANY ? kind : *next;
    return CLAM_TAKEN;
}

static enum clam_taken read_container(struct sl_clamav_set *set, struct clam_text argument,
                                      struct clam_demand *demand)
{
    uint8_t kind;
    const enum clam_taken taken = line_read_kind(set, argument, &kind);

    return taken == CLAM_TAKEN ? put_container(set, demand, kind) : taken;
}

/* The kinds of containers, "A>B": B is the next one, and A around it. */
static enum clam_taken read_intermediates(struct sl_clamav_set *set, struct clam_text argument,
                                          struct clam_demand *demand)
{
    const uint8_t next = demand->n_in > 0 ? demand->in[demand->n_in - 1] : CLAM_KIND_ANY;
    struct clam_text kind;
    bool more = true;

    demand->n_in = 0;
    while (more) {
        more = clam_text_cut(&argument, '>', &kind);
        if (demand->n_in == sizeof demand->in)
            return clam_skip(set, "more than %d Intermediates", (int)sizeof demand->in);
        const enum clam_taken taken = line_read_kind(set, kind, &demand->in[demand->n_in++]);
        if (taken != CLAM_TAKEN)
            return taken;
    }
    return put_container(set, demand, next);
}

/* One Arg:Val of the target description block. */
static enum clam_taken read_argument(struct sl_clamav_set *set, struct clam_text argument,
                                     struct clam_sig *sig, struct clam_demand *demand)
{
    struct clam_text name;
    uint64_t from = 0, to = 0;

    if (!clam_text_cut(&argument, ':', &name))
        return clam_bad(set, "the target description has no value for '%.*s'",
                        (int)(name.len < 32 ? name.len : 32), name.at);
    if (clam_text_is(name, "Target")) {
        if (!clam_text_number(argument, UINT32_MAX, &from))
            return clam_bad(set, "the target type is no number");
        sig->target = (uint8_t)(from < CLAM_TARGETS ? from : CLAM_TARGETS);
        return line_check_target(set, from);
    }
    if (clam_text_is(name, "Container"))
        return read_container(set, argument, demand);
    if (clam_text_is(name, "Intermediates"))
        return read_intermediates(set, argument, demand);
    if (clam_text_is(name, "IconGroup1") || clam_text_is(name, "IconGroup2"))
        return clam_skip(set, "icon groups are not supported");
    if (clam_text_is(name, "HandlerType"))
        return clam_skip(set, "HandlerType is not supported");
    if (!clam_text_is(name, "Engine") && !clam_text_is(name, "FileSize") &&
        !clam_text_is(name, "EntryPoint") && !clam_text_is(name, "NumberOfSections"))
        return clam_skip(set, "target description '%.*s' is not known",
                         (int)(name.len < 32 ? name.len : 32), name.at);
    if (!line_read_span(argument, clam_text_is(name, "FileSize") ? UINT64_MAX : UINT32_MAX, &from,
                        &to))
        return clam_bad(set, "%.*s is no range", (int)name.len, name.at);
    if (clam_text_is(name, "Engine"))
        return line_check_level(set, from, to);
    if (clam_text_is(name, "FileSize")) {
        demand->size_min = from;
        demand->size_max = to;
    } else if (clam_text_is(name, "EntryPoint")) {
        demand->ep_min = (uint32_t)from;
        demand->ep_max = (uint32_t)to;
    } else {
        demand->nos_min = (uint32_t)from;
        demand->nos_max = (uint32_t)to;
    }
    return CLAM_TAKEN;
}

static bool put_demand(struct sl_clamav_set *set, struct clam_sig *sig,
                       const struct clam_demand *demand)
{
    if (memcmp(demand, &no_demand, sizeof no_demand) == 0)
        return true;
    struct clam_demand *room = clam_push(set, CLAM_A_DEMANDS, 1, &sig->demand);
    if (room != NULL)
        *room = *demand;
    return room != NULL;
}

static enum clam_taken read_description(struct sl_clamav_set *set, struct clam_text block,
                                        struct clam_sig *sig)
{
    struct clam_demand demand = no_demand;
    struct clam_text argument;
    enum clam_taken taken = CLAM_TAKEN;
    bool more = true;

    sig->target = CLAM_TARGETS;
    while (more && taken == CLAM_TAKEN) {
        more = clam_text_cut(&block, ',', &argument);
        taken = read_argument(set, argument, sig, &demand);
    }
    if (taken == CLAM_TAKEN && sig->target == CLAM_TARGETS)
        return clam_bad(set, "the target description has no Target");
    const bool wants_header = demand.ep_min > 0 || demand.ep_max != UINT32_MAX ||
                              demand.nos_min > 0 || demand.nos_max != UINT32_MAX;
    if (taken == CLAM_TAKEN && wants_header && !clam_is_executable(sig->target))
        return clam_bad(set, "EntryPoint and NumberOfSections need target 1, 6 or 9");
    return taken == CLAM_TAKEN && !put_demand(set, sig, &demand) ? CLAM_NO_MEMORY : taken;
}

enum clam_taken line_read_ldb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text name, description, expression;
    struct clam_sig *room, sig;
    uint32_t n_subs, index;

    if (!clam_text_cut(&line, ';', &name) || !clam_text_cut(&line, ';', &description) ||
        !clam_text_cut(&line, ';', &expression))
        return clam_bad(set, "has less than four fields");
    room = line_new_sig(set, CLAM_GENERIC);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    sig = *room;
    index = clam_count(set, CLAM_A_SIGS) - 1;
    sig.flags |= CLAM_LOGICAL;
    enum clam_taken taken = read_description(set, description, &sig);
    if (taken == CLAM_TAKEN)
        taken = clam_logic_read(set, expression, &sig.node, &n_subs, &sig.count_max);
    if (taken != CLAM_TAKEN)
        return taken;
    sig.n_subs = (uint16_t)n_subs;
    taken = line_read_subs(set, line, &sig);
    if (taken == CLAM_TAKEN)
        taken = line_put_name(set, name, &sig.name);
    if (taken == CLAM_TAKEN)
        ((struct clam_sig *)set->records[CLAM_A_SIGS].at)[index] = sig;
    return taken;
}
