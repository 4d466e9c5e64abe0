/* SPDX-License-Identifier: MIT */
/* Prints what the dissector finds in a capture, one line a packet: number, protocols, defect, and
 * "tunnel" where there is an inner IP header; columns are separated by tabs. */
#include <stdio.h>

#include "capture/test/each_batch.h"
#include "sluice/dissect.h"

static void print_protocols(const struct sl_dissect_stats *stats)
{
    const char *separator = "";

    for (int i = 0; i < SL_N_PROTOCOLS; i++) {
        if (stats->packets[i] != 0) {
            printf("%s%s", separator, sl_protocol_name((enum sl_protocol)i));
            separator = ",";
        }
    }
}

/* Packet by packet, so that the statistics are of one. */
static void print_packet(struct sl_batch *batch, uint32_t item)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct sl_batch view = *batch;

    view.n_items = 1;
    view.payload += item;
    view.packet += item;
    view.origin += item;
    sl_dissect(&view, &stats);
    printf("%llu\t", (unsigned long long)view.origin->position);
    print_protocols(&stats);
    printf("\t%s\t%s\n", sl_defect_name((enum sl_defect)view.packet->defect),
           view.packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6) ? "tunnel" : "");
}

static void print_batch(struct sl_batch *batch)
{
    for (uint32_t item = 0; item < batch->n_items; item++)
        print_packet(batch, item);
}

int main(int argc, char **argv)
{
    return visit_capture(argc, argv, print_batch);
}
