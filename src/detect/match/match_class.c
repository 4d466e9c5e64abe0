/* SPDX-License-Identifier: MIT */
#include "match_class.h"

#include "sluice/dissect.h"

_Static_assert((int)MATCH_CLASSES <= 8, "a class is a kind of items");

/* Of a made item, which has at least one buffer. */
static enum match_class class_of_buffers(uint32_t buffers)
{
    if (buffers == SL_BUFFER_STREAM || buffers == SL_BUFFER_STREAM_BACK)
        return MATCH_STREAM;
    if (buffers == SL_BUFFER_BODY)
        return MATCH_BODY;
    return (buffers & ~(uint32_t)MATCH_HEAD_BUFFERS) == 0 ? MATCH_HEAD : MATCH_ANY;
}

enum match_class match_class_of(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = batch->packet != NULL ? &batch->packet[item] : NULL;
    const uint32_t n_packets = batch->n_items - batch->n_made;

    if (item >= n_packets)
        return class_of_buffers(batch->made[item - n_packets].buffers);
    if (packet == NULL || (packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) == 0)
        return MATCH_ANY;
    if (packet->protocol == SL_IP_UDP)
        return MATCH_UDP;
    if (packet->protocol != SL_IP_TCP)
        return MATCH_ANY;
    if (batch->origin == NULL || batch->origin[item].flow == 0)
        return MATCH_TO_CLIENT;
    return (batch->origin[item].flow_flags & SL_FLOW_TO_SERVER) != 0 ? MATCH_TO_SERVER
                                                                     : MATCH_TO_CLIENT;
}

void match_class_note(struct sl_batch *batch, uint32_t first)
{
    const struct sl_batch whole = sl_batch_whole(batch);

    for (uint32_t item = first; item < whole.n_items; item++)
        batch->kind[item] = (uint8_t)match_class_of(&whole, item);
    batch->has_kind = true;
}

bool match_class_wants(enum match_class class, const struct rule_wants *wants)
{
    static const struct {
        uint32_t buffers, flows;
        uint16_t protocols;
    } of[MATCH_CLASSES] = {
        [MATCH_ANY] = {UINT32_MAX, UINT32_MAX, UINT16_MAX},
        [MATCH_TO_CLIENT] = {SL_BUFFER_PAYLOAD | SL_BUFFER_BODY, ~RULE_FLOWS_TO_SERVER,
                             RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6 | RULE_TCP},
        [MATCH_TO_SERVER] = {SL_BUFFER_PAYLOAD | SL_BUFFER_BODY, RULE_FLOWS_TO_SERVER,
                             RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6 | RULE_TCP},
        [MATCH_UDP] = {SL_BUFFER_PAYLOAD | SL_BUFFER_BODY, UINT32_MAX,
                       RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6 | RULE_UDP},
        [MATCH_STREAM] = {SL_BUFFER_PAYLOAD, UINT32_MAX, UINT16_MAX},
        [MATCH_BODY] = {SL_BUFFER_BODY, UINT32_MAX, UINT16_MAX},
        [MATCH_HEAD] = {MATCH_HEAD_BUFFERS, UINT32_MAX, UINT16_MAX},
    };

    return (wants->buffers & of[class].buffers) != 0 && (wants->flows & of[class].flows) != 0 &&
           (wants->protocols & of[class].protocols) != 0;
}

uint8_t match_classes_that_want(const struct rule_wants *wants)
{
    uint8_t classes = 0;

    for (int class = 0; class < MATCH_CLASSES; class ++)
        if (match_class_wants((enum match_class) class, wants))
            classes |= (uint8_t)(1u << class);
    return classes;
}
