/* SPDX-License-Identifier: MIT */
#include "stream_seams.h"

#include <string.h>

#include "base/least.h"
#include "engines/seam/seam_table.h"

void stream_part_copy_before(const struct sl_stream_part *part, uint8_t *to, uint32_t len)
{
    while (len != 0) {
        part = part->before;
        const uint32_t n = part->len < len ? part->len : len;

        len -= n;
        memcpy(to + len, part->bytes + part->len - n, n);
    }
}

bool stream_seam_crosses(const struct run_seams *seams, const struct sl_stream_part *part,
                         bool to_server)
{
    const uint32_t n = (uint32_t)least(part->known, seams->len);
    struct seam_sides sides = {.behind = part->bytes, .n_before = n, .n_behind = part->len};
    uint8_t room[RUN_SEAM_MAX];

    if (part->known == 0 || part->len == 0)
        return false;
    if (seams->table == NULL)
        return true;
    if (part->before->len >= n) {
        sides.before = part->before->bytes + part->before->len;
    } else {
        stream_part_copy_before(part, room, n);
        sides.before = room + n;
    }
    return seam_table_cuts(seams->table, to_server, &sides);
}
