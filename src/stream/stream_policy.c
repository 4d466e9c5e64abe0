/* SPDX-License-Identifier: MIT */
/* Overlaps as receivers decide them: Novak and Sturges, Target-Based TCP Stream Reassembly, 2007;
 * Shankar and Paxson, Active Mapping, 2003. */
#include "stream_half.h"

/* Where an end of new bytes lies beside that of the old. */
enum side { BEFORE, SAME, BEHIND };

static enum side side_of(uint32_t new_end, uint32_t old_end)
{
    const int32_t distance = stream_behind(new_end, old_end);

    return distance < 0 ? BEFORE : distance == 0 ? SAME : BEHIND;
}

bool stream_policy_new_wins(enum sl_host_policy policy, const struct stream_part *new_part,
                            uint32_t old_begin, uint32_t old_end)
{
    const enum side begin = side_of(new_part->begin, old_begin);
    const enum side end = side_of(new_part->end, old_end);

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
