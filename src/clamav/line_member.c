/* SPDX-License-Identifier: MIT */
/* Signatures of containers' members: .cdb. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "clamav/line_internal.h"

enum { FIELDS = 10 };

/* "*", "n" or "from-to". */
static bool read_number(struct clam_text text, struct clam_span *span)
{
    *span = (struct clam_span){0, UINT64_MAX};
    return clam_text_is(text, "*") || line_read_span(text, UINT64_MAX - 1, &span->from, &span->to);
}

static bool is_expression(struct clam_text text)
{
    char *copy = strndup(text.at, text.len);
    regex_t regex;
    const bool good = copy != NULL && regcomp(&regex, copy, REG_EXTENDED | REG_NOSUB) == 0;

    if (good)
        regfree(&regex);
    free(copy);
    return good;
}

/* NAME:CONTAINER:ITS LENGTH:EXPRESSION:PACKED LENGTH:LENGTH:ENCRYPTED:POSITION:RES1:RES2[:LEVELS]
 */
enum clam_taken line_read_cdb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text fields[FIELDS] = {{NULL, 0}};
    struct clam_member member = {.encrypted = 2, .official = set->official};
    uint64_t least;
    uint32_t index;
    size_t n = 0;

    while (n < FIELDS && clam_text_cut(&line, ':', &fields[n]))
        n++;
    if (n < FIELDS) /* the last field has no colon behind it */
        n++;
    else if (line_check_levels(set, line, &least) != CLAM_TAKEN)
        return clam_skip(set, "for other engine levels than %d", CLAM_LEVEL);
    if (n < FIELDS)
        return clam_bad(set, "has less than ten fields");
    enum clam_taken taken = CLAM_TAKEN;
    member.container = CLAM_KIND_ANY;
    if (!clam_text_is(fields[1], "*"))
        taken = line_read_kind(set, fields[1], &member.container);
    if (taken != CLAM_TAKEN)
        return taken;
    member.any_name = clam_text_is(fields[3], "*");
    if (!member.any_name && !is_expression(fields[3]))
        return clam_bad(set, "the name is no regular expression");
    if (!read_number(fields[2], &member.container_len) ||
        !read_number(fields[4], &member.packed_len) || !read_number(fields[5], &member.len) ||
        !read_number(fields[7], &member.position))
        return clam_bad(set, "a length or a position is no number and no range");
    if (clam_text_is(fields[6], "0") || clam_text_is(fields[6], "1"))
        member.encrypted = fields[6].at[0] == '1';
    else if (!clam_text_is(fields[6], "*"))
        return clam_bad(set, "whether it is encrypted is not 0, 1 or *");
    if (!clam_text_is(fields[8], "*") && fields[8].len > 0)
        return clam_skip(set, "checksums of members are not supported");
    taken = line_put_name(set, fields[0], &member.name);
    if (taken == CLAM_TAKEN)
        taken = line_put_text(set, fields[3], &member.pattern);
    struct clam_member *room =
        taken == CLAM_TAKEN ? clam_push(set, CLAM_A_MEMBERS, 1, &index) : NULL;
    if (room == NULL)
        return taken == CLAM_TAKEN ? CLAM_NO_MEMORY : taken;
    *room = member;
    return CLAM_TAKEN;
}
