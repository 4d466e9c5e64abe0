/* SPDX-License-Identifier: MIT */
/* Where in an item of a batch names are looked for. */
#ifndef NAMES_NAME_EXTRACT_H
#define NAMES_NAME_EXTRACT_H

#include "packet_names_extract_core.h"

/* Of a dissected host batch with its packet column. The carrier is NONE where there are no names.
 */
void name_packet_of(struct name_packet *to, const struct sl_batch *batch, uint32_t item);

/* Room for all names of a packet: found[SL_PACKET_NAMES_MAX], bytes[SL_PACKET_NAMES_LEN]. */
static inline struct name_out name_out_of(struct sl_packet_name *found, uint8_t *bytes)
{
    return (struct name_out){.found = found,
                             .max_names = SL_PACKET_NAMES_MAX,
                             .bytes = bytes,
                             .cap = SL_PACKET_NAMES_LEN};
}

#endif
