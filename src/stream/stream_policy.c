/* SPDX-License-Identifier: MIT */
/* Overlaps as receivers decide them: Novak and Sturges, Target-Based TCP Stream Reassembly, 2007;
 * Novak, Target-Based Fragmentation Reassembly, 2005; Shankar and Paxson, Active Mapping, 2003. */
#include "stream_pieces.h"

/* Where an end of new bytes lies beside that of the old. */
enum side { BEFORE, SAME, BEHIND };

static enum side side_of(uint32_t new_end, uint32_t old_end)
{
    const int32_t distance = stream_behind(new_end, old_end);

    return distance < 0 ? BEFORE : distance == 0 ? SAME : BEHIND;
}

bool stream_policy_new_wins(enum sl_host_policy policy, const struct stream_part *part,
                            uint32_t old_begin, uint32_t old_end)
{
    const enum side begin = side_of(part->begin, old_begin);
    const enum side end = side_of(part->end, old_end);

    switch (policy) {
    case SL_HOST_FIRST:
        return false;
    case SL_HOST_LAST:
        return true;
    case SL_HOST_LINUX:
        return begin == BEFORE || (begin == SAME && end == BEHIND);
    case SL_HOST_OLD_LINUX:
        return begin == BEFORE || (begin == SAME && end != BEFORE);
    case SL_HOST_SOLARIS:
    case SL_HOST_HPUX11:
        return end == BEHIND || (end == SAME && begin != BEHIND);
    case SL_HOST_BSD:
    case SL_HOST_WINDOWS:
    case SL_HOST_WINDOWS2K3:
    case SL_HOST_HPUX10:
    case SL_HOST_IRIX:
    case SL_HOST_MACOS:
    case SL_N_HOST_POLICIES:
        break;
    }
    return begin == BEFORE;
}

/* Of fragments; HP-UX 11 and Mac OS keep the original, HP-UX 10 and IRIX are as BSD. */
bool defrag_policy_new_wins(enum sl_host_policy policy, const struct stream_part *part,
                            uint32_t old_begin, uint32_t old_end)
{
    const enum side begin = side_of(part->begin, old_begin);
    const enum side end = side_of(part->end, old_end);

    switch (policy) {
    case SL_HOST_FIRST:
    case SL_HOST_HPUX11:
    case SL_HOST_MACOS:
        return false;
    case SL_HOST_LAST:
        return true;
    case SL_HOST_LINUX:
    case SL_HOST_OLD_LINUX:
        return begin != BEHIND;
    case SL_HOST_WINDOWS:
    case SL_HOST_WINDOWS2K3:
        return begin == BEFORE && end == BEHIND;
    case SL_HOST_SOLARIS:
        return begin == BEFORE && end != BEFORE;
    case SL_HOST_BSD:
    case SL_HOST_HPUX10:
    case SL_HOST_IRIX:
    case SL_N_HOST_POLICIES:
        break;
    }
    return begin == BEFORE;
}
