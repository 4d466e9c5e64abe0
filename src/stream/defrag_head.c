/* SPDX-License-Identifier: MIT */
/* The headers of a datagram, from its first fragment, and what is wrong with fragments. */
#include "base/bytes.h"
#include "defrag_inside.h"

enum { MAC_LEN = 12 };

enum sl_fragment_fault defrag_fault_of(const struct defrag_fragment *f)
{
    const uint32_t headers_len = f->headers_len - (f->is_ipv6 ? DEFRAG_IPV6_LEN : 0);

    if (f->is_snapped)
        return SL_FRAGMENT_SNAPPED;
    if (f->len == 0 || (f->more && f->len % 8 != 0))
        return SL_FRAGMENT_LENGTH;
    if (headers_len + f->offset + f->len > DEFRAG_DATAGRAM_MAX)
        return SL_FRAGMENT_TOO_LONG;
    return f->headers_len > DEFRAG_HEADERS_MAX ? SL_FRAGMENT_HEADERS : SL_N_FRAGMENT_FAULTS;
}

bool defrag_is_tiny(const struct defrag_fragment *f)
{
    return f->len < (f->protocol == SL_IP_TCP ? 20 : 8);
}

void defrag_head_read(struct defrag_head *head, const struct defrag_fragment *first)
{
    head->headers_len = first->headers_len;
    head->protocol_at = first->protocol_at;
    head->protocol = first->protocol;
    head->is_ipv6 = first->is_ipv6;
    memcpy(head->vlan, first->vlan, sizeof head->vlan);
    if (first->mac != NULL)
        memcpy(head->mac, first->mac, MAC_LEN);
    else
        memset(head->mac, 0, MAC_LEN);
}

bool defrag_head_fits(const struct defrag_head *head)
{
    return head->headers_len - (head->is_ipv6 ? DEFRAG_IPV6_LEN : 0) + head->end <=
           DEFRAG_DATAGRAM_MAX;
}

/* ---- the frame ------------------------------------------------------------------------------- */

uint32_t defrag_put_link(uint8_t *out, const struct defrag_head *head)
{
    uint32_t len = MAC_LEN;

    memcpy(out, head->mac, MAC_LEN);
    for (uint32_t i = 0; i < 2; i++)
        if (head->vlan[i] != SL_NO_VLAN) {
            store_be16(out + len, 0x8100);
            store_be16(out + len + 2, head->vlan[i]);
            len += 4;
        }
    store_be16(out + len, head->is_ipv6 ? 0x86DD : 0x0800);
    return len + 2;
}

static uint16_t checksum(const uint8_t *bytes, uint32_t len)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i + 1 < len; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

void defrag_mend_headers(uint8_t *ip, const struct defrag_head *head)
{
    if (head->is_ipv6) {
        ip[head->protocol_at] = head->protocol;
        store_be16(ip + 4, head->headers_len - DEFRAG_IPV6_LEN + head->end);
        return;
    }
    store_be16(ip + 2, head->headers_len + head->end);
    store_be16(ip + 6, 0);
    store_be16(ip + 10, 0);
    store_be16(ip + 10, checksum(ip, head->headers_len));
}
