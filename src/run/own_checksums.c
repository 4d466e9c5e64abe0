/* SPDX-License-Identifier: MIT */
#include "own_checksums.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"

enum {
    LINKTYPE_ETHERNET = 1,
    SOURCE_AT = 6, /* bytes of an Ethernet header before its source */
    ADDRESS_LEN = 6,
    ENOUGH = 16 /* packets before a majority counts */
};

void own_checksums_open(struct own_checksums *own, const struct sl_run_config *config)
{
    struct ifreq request = {.ifr_flags = 0};

    if (config->interface == NULL || !config->check_headers ||
        (config->header.checks & SL_HEADER_CHECKSUMS) == 0 ||
        strlen(config->interface) >= sizeof request.ifr_name)
        return;
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0)
        return;
    memcpy(request.ifr_name, config->interface, strlen(config->interface) + 1);
    own->on = ioctl(any, SIOCGIFHWADDR, &request) == 0 &&
              (request.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
               request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK);
    memcpy(own->address, request.ifr_hwaddr.sa_data, ADDRESS_LEN);
    close(any);
}

static bool is_own(const struct own_checksums *own, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    return batch->origin[item].link_type == LINKTYPE_ETHERNET &&
           packet->len >= SOURCE_AT + ADDRESS_LEN &&
           (packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0 &&
           memcmp(batch->bytes + packet->offset + SOURCE_AT, own->address, ADDRESS_LEN) == 0;
}

/* Own packets with a wrong checksum; a packet's hits lie behind one another. */
static uint64_t count_wrong(const struct own_checksums *own, const struct batch_events *events)
{
    const struct sl_hits *hits = events->header;
    uint32_t counted = UINT32_MAX;
    uint64_t n = 0;

    for (size_t i = 0; i < hits->n; i++) {
        const uint32_t item = hits->hit[i].item;

        if (item == counted || (SL_HEADER_CHECKSUMS >> hits->hit[i].id & 1) == 0 ||
            !is_own(own, events->batch, item))
            continue;
        counted = item;
        n++;
    }
    return n;
}

void own_checksums_add(struct own_checksums *own, const struct batch_events *events,
                       const struct sl_run_config *config, struct run_notices *notices)
{
    struct sl_diag diag = {0};

    if (!own->on)
        return;
    for (uint32_t item = 0; item < events->batch->n_items; item++)
        own->n += is_own(own, events->batch, item);
    own->wrong += count_wrong(own, events);
    if (own->n < ENOUGH || own->wrong * 2 <= own->n)
        return;
    own->on = false;
    (void)diag_set(&diag, SL_OK, config->interface, 0,
                   "%llu of the first %llu packets that this host sent have wrong checksums, which "
                   "its interface writes after the capture",
                   (unsigned long long)own->wrong, (unsigned long long)own->n);
    run_notices_text(notices, SL_RUN_CHECKSUMS_OFFLOADED, &diag);
}
