/* SPDX-License-Identifier: MIT */
/* The places where a body may begin, by its offset. */
#include "clamav/match_internal.h"

static bool exe_range(const struct clam_exe *exe, uint32_t kind, uint32_t section, uint32_t offset,
                      uint64_t *from, uint64_t *len)
{
    switch (kind) {
    case CLAM_EP_PLUS:
        *from = (uint64_t)exe->entry + offset;
        return true;
    case CLAM_EP_MINUS:
        *from = (uint64_t)exe->entry - offset;
        return exe->entry >= offset;
    case CLAM_LAST_PLUS:
        section = exe->n_sections - 1;
        break;
    default:
        break;
    }
    if (exe->n_sections == 0 || section >= exe->n_sections)
        return false;
    *from = (uint64_t)exe->sections[section].raw + offset;
    *len = kind == CLAM_SECTION_WHOLE ? exe->sections[section].len : 0;
    return true;
}

bool clam_match_range(const struct clam_match *match, uint32_t kind, uint32_t section,
                      uint32_t offset, uint32_t shift, uint64_t *from, uint64_t *to)
{
    const struct clam_object *object = match->object;
    uint64_t len = 0;

    *from = 0;
    *to = object->len;
    if (kind == CLAM_ANYWHERE)
        return true;
    *from = object->origin + offset;
    if (kind != CLAM_ABSOLUTE) {
        if (clam_is_executable(object->target) && !object->exe->good)
            return false;
        if (kind == CLAM_EOF_MINUS) {
            if (offset > object->stated_len)
                return false;
            *from = object->stated_len - offset;
        } else if (!clam_is_executable(object->target) ||
                   !exe_range(object->exe, kind, section, offset, from, &len)) {
            return false;
        }
    }
    *to = *from + len + shift;
    return *from <= object->len;
}

bool match_pattern_range(const struct clam_match *match, const struct clam_pattern *pattern,
                         uint64_t *from, uint64_t *to)
{
    return clam_match_range(match, pattern->offset_kind, pattern->section, pattern->offset,
                            pattern->shift, from, to);
}
