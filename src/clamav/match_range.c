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

/* Where offsets from the begin and the end of a file are, which may lie before the object. */
static int64_t place_of(const struct clam_object *object, uint32_t kind, uint32_t offset)
{
    return kind == CLAM_ABSOLUTE ? object->origin + (int64_t)offset
                                 : (int64_t)object->stated_len - (int64_t)offset;
}

static bool place_range(const struct clam_object *object, uint32_t kind, uint32_t offset,
                        uint32_t shift, uint64_t *from, uint64_t *to)
{
    const int64_t place = place_of(object, kind, offset), last = place + (int64_t)shift;

    if (last < 0 || (place < 0 && object->origin >= 0) ||
        (kind == CLAM_EOF_MINUS && object->goes_on))
        return false;
    *from = place > 0 ? (uint64_t)place : 0;
    *to = (uint64_t)last;
    return *from <= object->len;
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
    if (kind != CLAM_ABSOLUTE && clam_is_executable(object->target) && !object->exe->good)
        return false;
    if (kind == CLAM_ABSOLUTE || kind == CLAM_EOF_MINUS)
        return place_range(object, kind, offset, shift, from, to);
    if (!clam_is_executable(object->target) ||
        !exe_range(object->exe, kind, section, offset, from, &len))
        return false;
    *to = *from + len + shift;
    return *from <= object->len;
}

bool match_pattern_range(const struct clam_match *match, const struct clam_pattern *pattern,
                         uint64_t *from, uint64_t *to)
{
    return clam_match_range(match, pattern->offset_kind, pattern->section, pattern->offset,
                            pattern->shift, from, to);
}

void match_note_offset(const struct clam_match *match, const struct clam_pattern *pattern,
                       uint64_t at)
{
    struct clam_object *object = match->object;
    const int64_t last = place_of(object, CLAM_EOF_MINUS, pattern->offset) + pattern->shift;

    if (pattern->offset_kind == CLAM_EOF_MINUS)
        object->behind |= object->goes_on || (int64_t)at > last;
    object->before |=
        (pattern->offset_kind == CLAM_ABSOLUTE && object->origin >= 0) ||
        (pattern->offset_kind == CLAM_EOF_MINUS && pattern->offset > object->stated_len);
}
