/* SPDX-License-Identifier: MIT */
/* The oracle of the header checks: slow, and written from sluice/header.h and the RFCs alone.
 *
 * Where the definitions leave a choice, it is made here:
 *
 * Offsets. The first byte of the offending field: the IP header's first byte (version, header
 * length), the total or payload length field, the checksum field, the source address (private
 * source, bad source, land), the destination address (private destination, TCP to a broadcast
 * address), TTL or hop limit, the first byte of the source route option or of the routing header,
 * the 16-bit field of flags and fragment offset (reserved flag, fragment checks; in IPv6 that of
 * the fragment header), the source port (TCP, where it is 0) or else the destination port, the
 * acknowledgment number, byte 12 (reserved bits) and byte 13 (flags) of TCP. Other defects of the
 * dissector: the transport header, where it is not known the network header, else the outer header,
 * else 0; defects of the link: 0.
 *
 * Readable headers. A header's checks are made where its fixed part (IPv4, TCP 20 bytes, IPv6 40,
 * UDP 8, ICMP 4) was captured and lies inside the datagram that carries it, and an IP header has
 * the version that the packet's flags claim and, in IPv4, a header length of at least 20. Options
 * and extension headers are read as far as they were captured. Bytes behind the IP datagram
 * (padding) are not read.
 *
 * IP checks made on the outer header too: its checksum, addresses, and the section "IP" of the
 * checks; not TCP to a broadcast address, which concerns the innermost header.
 *
 * Checksums. "No fragment" concerns the transport checksums; the IPv4 header checksum is checked
 * in fragments. Verified as in RFC 1071: the sum with the checksum field in it is all ones, so that
 * 0x0000 and 0xFFFF in the field are the same. UDP's covers the UDP length, not the datagram. ICMP
 * is checked in IPv4 and ICMPv6 in IPv6. Where a source route is not at its end (IPv6 routing
 * header with segments left; IPv4 source route whose pointer is not behind it) the pseudo header's
 * destination is not the IP header's (RFC 8200, section 8.1): TCP, UDP and ICMPv6 are not checked.
 *
 * Source routes. The option's type alone counts, its length may lie. A routing header of type 0
 * counts whatever segments are left, where its first 8 bytes are there.
 *
 * Fragments. Oversize: the reassembled datagram would have a total length (IPv4, RFC 791), or a
 * payload length without the fragment header (IPv6, RFC 8200, section 4.5), above 65,535. Lengths
 * are those that the IP header claims. An IPv6 fragment header with offset 0 and no more to follow
 * makes no fragment (RFC 6946).
 *
 * Addresses are judged in the one form of sluice/dissect.h: an IPv4-mapped address in an IPv6
 * header is the IPv4 address that it holds. Later fragments of TCP count for TCP to a broadcast
 * address.
 */
#ifndef HEADER_REF_H
#define HEADER_REF_H

#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/header.h"

/* The set of configured checks that a dissected packet trips. bytes is the packet's first byte
 * (packet->offset is not used); offsets[c] is written for each c of the set. */
uint64_t header_ref_checks(const struct sl_header_config *config, const struct sl_packet *packet,
                           const uint8_t *bytes, uint32_t offsets[SL_N_HEADER_CHECKS]);

#endif
