/* SPDX-License-Identifier: MIT */
/* Offsets of bodies: "*", "10,5", "EOF-20", "EP+0", "S1+4", "SE2", "SL+0". */
#include <string.h>

#include "clamav/set.h"

static bool begins(struct clam_text text, const char *word)
{
    return text.len >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

/* Sx+n, SEx, SL+n. */
static bool read_section(struct clam_text text, struct clam_offset *offset)
{
    struct clam_text section;

    if (begins(text, "SL+")) {
        offset->kind = CLAM_LAST_PLUS;
        return clam_text_u32(text, 3, &offset->offset);
    }
    if (begins(text, "SE")) {
        offset->kind = CLAM_SECTION_WHOLE;
        return clam_text_u32(text, 2, &offset->section);
    }
    offset->kind = CLAM_SECTION_PLUS;
    return clam_text_cut(&text, '+', &section) && clam_text_u32(section, 1, &offset->section) &&
           clam_text_u32(text, 0, &offset->offset);
}

enum clam_taken clam_offset_read(struct sl_clamav_set *set, struct clam_text text, uint8_t target,
                                 struct clam_offset *offset)
{
    struct clam_text place;
    bool good;

    memset(offset, 0, sizeof *offset);
    if (clam_text_is(text, "*"))
        return CLAM_TAKEN;
    if (begins(text, "VI"))
        return clam_skip(set, "offset VI (version information) is not supported");
    if (memchr(text.at, '$', text.len) != NULL)
        return clam_skip(set, "macros are not supported");
    if (clam_text_cut(&text, ',', &place) && !clam_text_u32(text, 0, &offset->shift))
        return clam_bad(set, "the offset's MaxShift is no number");
    if (begins(place, "EOF-")) {
        offset->kind = CLAM_EOF_MINUS;
        good = clam_text_u32(place, 4, &offset->offset);
    } else if (begins(place, "EP+") || begins(place, "EP-")) {
        offset->kind = place.at[2] == '+' ? CLAM_EP_PLUS : CLAM_EP_MINUS;
        good = clam_text_u32(place, 3, &offset->offset);
    } else if (begins(place, "S")) {
        good = read_section(place, offset);
    } else {
        offset->kind = CLAM_ABSOLUTE;
        good = clam_text_u32(place, 0, &offset->offset);
    }
    if (!good)
        return clam_bad(set, "'%.*s' is no offset", (int)(place.len < 64 ? place.len : 64),
                        place.at);
    if (offset->kind >= CLAM_EP_PLUS && !clam_is_executable(target))
        return clam_bad(set, "offset '%.*s' needs target 1, 6 or 9 (PE, ELF, Mach-O)",
                        (int)(place.len < 64 ? place.len : 64), place.at);
    return CLAM_TAKEN;
}
