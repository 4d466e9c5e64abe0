/* SPDX-License-Identifier: MIT */
/* Places where the parts of streams begin, and what may lie across them. */
#ifndef RUN_STREAM_SEAMS_H
#define RUN_STREAM_SEAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/detect.h"

struct seam_table;

enum { RUN_SEAM_MAX = 63 };
_Static_assert(SL_RULE_LITERAL_MAX - 1 <= RUN_SEAM_MAX, "a seam has room for each literal");

/* What may lie across the places where parts begin. */
struct run_seams {
    uint32_t len;                   /* at least one byte less than the longest of the table: no
                                       more bytes before a place matter; at most RUN_SEAM_MAX */
    const struct seam_table *table; /* NULL: it may lie across any place */
};

/* Copies the `len` bytes before the part, of which there are as many. */
void stream_part_copy_before(const struct sl_stream_part *part, uint8_t *to, uint32_t len);

/* Where the last bytes of a part end, which has some; *len becomes how many of them lie together.
 */
const uint8_t *stream_part_end(const struct sl_stream_part *part, uint32_t *len);

/* Whether something of this direction may lie across the place where the part begins. */
bool stream_seam_crosses(const struct run_seams *seams, const struct sl_stream_part *part,
                         bool to_server);

#endif
