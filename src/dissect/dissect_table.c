/* SPDX-License-Identifier: MIT */
/* Prints what the dissector finds in a capture, one line a packet: number, protocols, defect, and
 * "tunnel" where there is an inner IP header; columns are separated by tabs. */
#include <stdio.h>

#include "sluice/capture.h"
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

static enum sl_status print_capture(struct sl_capture *capture, struct sl_batch *batch,
                                    struct sl_diag *diag)
{
    enum sl_status status;

    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, diag);
        for (uint32_t item = 0; item < batch->n_items; item++)
            print_packet(batch, item);
    } while (status == SL_OK);
    return status;
}

int main(int argc, char **argv)
{
    struct sl_capture *capture = NULL;
    struct sl_batch *batch = NULL;
    struct sl_diag diag;
    char text[1100];
    enum sl_status status = SL_EINVAL;

    if (argc != 2) {
        fprintf(stderr, "usage: dissect_table CAPTURE\n");
        return 2;
    }
    status = sl_batch_create(&batch, 1 << 20, 4096, false, &diag);
    if (status == SL_OK)
        status = sl_capture_open_file(&capture, argv[1], 0, &diag);
    if (status == SL_OK)
        status = print_capture(capture, batch, &diag);
    sl_capture_close(capture);
    sl_batch_free(batch);
    if (status == SL_END)
        return 0;
    sl_diag_format(&diag, text, sizeof text);
    fprintf(stderr, "dissect_table: %s\n", text);
    return status == SL_ETRUNCATED ? 0 : 2;
}
