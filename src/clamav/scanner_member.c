/* SPDX-License-Identifier: MIT */
/* Signatures of containers' members, by what the containers say. */
#include <regex.h>
#include <stdlib.h>

#include "clamav/place.h"
#include "clamav/scanner_internal.h"

struct scanner_names {
    regex_t regex;
    bool made;
};

void scanner_free_names(struct sl_clamav_scanner *scanner)
{
    const uint64_t n = scanner->db->block->n[CLAM_A_MEMBERS];

    for (uint64_t i = 0; scanner->names != NULL && i < n; i++)
        if (scanner->names[i].made)
            regfree(&scanner->names[i].regex);
    free(scanner->names);
}

static bool is_in(const struct clam_span *span, uint64_t value)
{
    return value >= span->from && value <= span->to;
}

/* Expressions are compiled when they are first needed. */
static bool has_name(struct sl_clamav_scanner *scanner, uint64_t number, const char *name)
{
    const struct clam_member *member =
        (const struct clam_member *)clam_at(scanner->db->block, CLAM_A_MEMBERS) + number;

    if (member->any_name)
        return true;
    if (scanner->names == NULL)
        scanner->names = calloc(scanner->db->block->n[CLAM_A_MEMBERS], sizeof *scanner->names);
    if (scanner->names == NULL)
        return false;
    struct scanner_names *expression = &scanner->names[number];
    if (!expression->made)
        expression->made = regcomp(&expression->regex, scanner->match.text + member->pattern,
                                   REG_EXTENDED | REG_NOSUB) == 0;
    return expression->made && regexec(&expression->regex, name, 0, NULL, 0) == 0;
}

void clam_scan_metadata(struct sl_clamav_scanner *scanner, const struct clam_metadata *metadata,
                        void *token)
{
    const struct clam_member *members = clam_at(scanner->db->block, CLAM_A_MEMBERS);

    for (uint64_t i = 0; i < scanner->db->block->n[CLAM_A_MEMBERS]; i++) {
        const struct clam_member *member = &members[i];
        const struct sl_clamav_match match = {scanner->match.text + member->name,
                                              member->official != 0};

        if ((member->container == CLAM_KIND_ANY ||
             kind_is_same((enum kind)member->container, (enum kind)metadata->container)) &&
            (member->encrypted == 2 || member->encrypted == metadata->encrypted) &&
            is_in(&member->container_len, metadata->container_len) &&
            is_in(&member->packed_len, metadata->packed_len) &&
            is_in(&member->len, metadata->len) && is_in(&member->position, metadata->position) &&
            has_name(scanner, i, metadata->name) && scanner->config.match != NULL)
            scanner->config.match(scanner->config.user, token, &match);
    }
}
