/* SPDX-License-Identifier: MIT */
#include "dissect/flow_key.h"

#include "base/bytes.h"
#include "sluice/dissect.h"

enum { KIND_ECHO = 0x100 }; /* in the key's last word, beside the protocol */

/* Source and destination as the packet has them. */
struct ends {
    uint64_t addr[2][2]; /* each as one number in two halves */
    uint64_t port[2];
    uint64_t kind; /* the key's last word */
};

static void read_addresses(struct ends *ends, const uint8_t *ip, uint8_t flags)
{
    if (flags & SL_PACKET_IPV4) {
        for (uint32_t i = 0; i < 2; i++) {
            ends->addr[i][0] = 0;
            ends->addr[i][1] = UINT64_C(0xFFFF00000000) | load_be32(ip + 12 + 4 * i);
        }
    } else {
        for (uint32_t i = 0; i < 4; i++)
            ends->addr[i / 2][i % 2] = load_be64(ip + 8 + 8 * i);
    }
}

static bool is_icmp(uint8_t protocol)
{
    return protocol == SL_IP_ICMP || protocol == SL_IP_ICMPV6;
}

static bool is_echo(uint8_t protocol, uint8_t type)
{
    if (protocol == SL_IP_ICMP)
        return type == 8 || type == 0;
    return type == 128 || type == 129;
}

/* False: the protocol has ports, and they were not reached. */
static bool read_ports(struct ends *ends, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *transport = batch->bytes + packet->offset + packet->transport;
    const uint8_t protocol = packet->protocol;

    ends->kind = protocol;
    ends->port[0] = ends->port[1] = 0;
    if (packet->transport == 0)
        return packet->defect == SL_DEFECT_NONE && protocol != SL_IP_TCP && protocol != SL_IP_UDP &&
               protocol != SL_IP_SCTP && !is_icmp(protocol);
    if (!is_icmp(protocol)) {
        ends->port[0] = load_be16(transport);
        ends->port[1] = load_be16(transport + 2);
    } else if (is_echo(protocol, transport[0]) &&
               batch->payload[item].offset - packet->offset >= packet->transport + 6u) {
        ends->kind |= KIND_ECHO;
        ends->port[0] = ends->port[1] = load_be16(transport + 4);
    }
    return true;
}

/* Without a branch: the direction of a packet cannot be predicted. */
static void swap_if(uint64_t condition, uint64_t *a, uint64_t *b)
{
    const uint64_t difference = (*a ^ *b) & -condition;

    *a ^= difference;
    *b ^= difference;
}

bool flow_key_read(struct flow_key *key, uint8_t *sender, const struct sl_batch *batch,
                   uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint16_t *vlan = batch->origin[item].vlan;
    struct ends ends;

    if ((packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) == 0 ||
        (packet->flags & SL_PACKET_LATER) != 0 || !read_ports(&ends, batch, item))
        return false;
    read_addresses(&ends, batch->bytes + packet->offset + packet->network, packet->flags);

    const unsigned __int128 src = (unsigned __int128)ends.addr[0][0] << 64 | ends.addr[0][1];
    const unsigned __int128 dst = (unsigned __int128)ends.addr[1][0] << 64 | ends.addr[1][1];
    const uint64_t swapped = (src > dst) | ((src == dst) & (ends.port[0] > ends.port[1]));

    swap_if(swapped, &ends.addr[0][0], &ends.addr[1][0]);
    swap_if(swapped, &ends.addr[0][1], &ends.addr[1][1]);
    swap_if(swapped, &ends.port[0], &ends.port[1]);
    key->word[0] = ends.addr[0][0];
    key->word[1] = ends.addr[0][1];
    key->word[2] = ends.addr[1][0];
    key->word[3] = ends.addr[1][1];
    key->word[4] =
        ends.port[0] | ends.port[1] << 16 | (uint64_t)vlan[0] << 32 | (uint64_t)vlan[1] << 48;
    key->word[5] = ends.kind;
    *sender = (uint8_t)swapped;
    return true;
}

/* splitmix64: equal and small seeds give random words too. */
void flow_key_secret(uint64_t secret[FLOW_KEY_WORDS], const uint64_t seed[2])
{
    uint64_t state = seed[0];

    for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++) {
        uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);

        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        secret[i] = z ^ z >> 31;
        state ^= seed[1];
    }
}
