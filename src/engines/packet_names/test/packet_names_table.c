/* SPDX-License-Identifier: MIT */
/* Prints the names of each packet of a capture, for comparison with other programs:
 *
 * usage: packet_names_table CAPTURE
 *
 * A line a name: packet number, protocol, name, and what its protocol says of it (DNS: type; HTTP:
 * request target). A line without a name has the reasons in its last field. Bytes beyond ASCII and
 * controls are written \xNN. */
#include <stdio.h>

#include "capture/test/each_batch.h"
#include "sluice/dissect.h"
#include "sluice/packet_names.h"

static void print_bytes(const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        if (bytes[i] > 0x20 && bytes[i] < 0x7F)
            putchar(bytes[i]);
        else
            printf("\\x%02x", bytes[i]);
    }
}

static void print_name(const struct sl_batch *batch, uint32_t item,
                       const struct sl_packet_name *found)
{
    static char text[4 * SL_NAME_LEN_MAX + 64];
    const uint8_t *payload = batch->bytes + batch->payload[item].offset;

    (void)sl_name_write(&found->name, text, sizeof text);
    printf("%llu\t%s\t%s\t", (unsigned long long)batch->origin[item].position,
           sl_packet_names_protocol_name(found->protocol), text);
    if (found->protocol == SL_PACKET_NAMES_DNS)
        printf("%u", found->dns.rrtype);
    else if (found->protocol == SL_PACKET_NAMES_HTTP)
        print_bytes(payload + found->http.target.offset, found->http.target.len);
    putchar('\n');
}

static void print_item(const struct sl_batch *batch, uint32_t item)
{
    static struct sl_packet_name names[SL_PACKET_NAMES_MAX];
    static uint8_t bytes[SL_PACKET_NAMES_LEN];
    uint32_t misses;
    const uint32_t n = sl_packet_names_find(batch, item, names, bytes, &misses);

    for (uint32_t i = 0; i < n; i++)
        print_name(batch, item, &names[i]);
    if (misses == 0)
        return;
    printf("%llu\t-\t-\t", (unsigned long long)batch->origin[item].position);
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        if ((misses >> m & 1) != 0)
            printf("%s ", sl_packet_names_miss_name((enum sl_packet_names_miss)m));
    putchar('\n');
}

static void print_batch(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
    for (uint32_t item = 0; item < batch->n_items; item++)
        print_item(batch, item);
}

int main(int argc, char **argv)
{
    return visit_capture(argc, argv, print_batch);
}
