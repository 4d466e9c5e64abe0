/* SPDX-License-Identifier: MIT */
#include "stream_seams.h"

#include <string.h>

#include "base/least.h"
#include "engines/seam/seam_table.h"

_Static_assert((int)RUN_SEAM_MAX == (int)SEAM_BEFORE_MAX, "the engine compares as many bytes");

void stream_part_copy_before(const struct sl_stream_part *part, uint8_t *to, uint32_t len)
{
    while (len != 0) {
        part = part->before;
        const uint32_t n = part->len < len ? part->len : len;

        len -= n;
        sl_stream_part_copy(part, part->len - n, to + len, n);
    }
}

const uint8_t *stream_part_end(const struct sl_stream_part *part, uint32_t *len)
{
    *len = part->len;
    if (!part->in_pieces)
        return part->bytes + part->len;
    const uint32_t behind = part->skip + part->len;
    const uint32_t in_last = (behind - 1) % SL_STREAM_PIECE + 1;

    *len = (uint32_t)least(part->len, in_last);
    return part->piece[(behind - 1) / SL_STREAM_PIECE] + in_last;
}

/* The part, and at most n bytes before it: where they lie, as most do, or in `room`. */
static struct seam_sides sides_of(const struct sl_stream_part *part, uint32_t n,
                                  uint8_t room[RUN_SEAM_MAX])
{
    const uint32_t n_before = (uint32_t)least(part->known, n);
    uint32_t together;
    const uint8_t *end = stream_part_end(part->before, &together);

    if (together < n_before) {
        stream_part_copy_before(part, room, n_before);
        end = room + n_before;
    }
    return (struct seam_sides){end, part->bytes, n_before, part->len};
}

bool stream_seam_crosses(const struct run_seams *seams, const struct sl_stream_part *part,
                         bool to_server)
{
    uint8_t room[RUN_SEAM_MAX];

    if (part->known == 0 || part->len == 0)
        return false;
    if (seams->table == NULL)
        return true;
    const struct seam_set set = seam_set_of(seams->table, to_server);
    const struct seam_sides near = sides_of(part, SEAM_NEAR, room);

    if (seam_ways_of(&set, &near) == 0)
        return false;
    const struct seam_sides sides = sides_of(part, seams->len, room);

    return seam_table_cuts(seams->table, to_server, &sides);
}
