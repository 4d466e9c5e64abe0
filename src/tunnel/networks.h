/* SPDX-License-Identifier: MIT */
/* Addresses, and networks that hold them. IPv4 is kept as the last 32 bits of ::ffff:0:0/96. */
#ifndef TUNNEL_NETWORKS_H
#define TUNNEL_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct network {
    uint8_t address[16];
    uint8_t bits; /* of the address that all members share, 0 to 128 */
};

enum { NETWORK_TEXT = 64 }; /* bytes of a network or endpoint as text */

/* The address of four or of sixteen bytes, as networks keep it. */
void network_of_ipv4(uint8_t address[16], const uint8_t bytes[4]);

/* Reads "10.0.0.0/8", "2001:db8::/32", or an address alone. Bits behind the prefix stay as they
 * are. False: it is none. */
bool network_parse(struct network *network, const char *text);

bool network_holds(const struct network *network, const uint8_t address[16]);

/* The longest prefix among the networks that hold the address, in bits; -1: none holds it. */
int networks_find(const struct network *networks, size_t n, const uint8_t address[16]);

bool network_is_ipv4(const struct network *network);

/* Writes "10.0.0.0/8". Returns out. */
char *network_text(const struct network *network, char out[NETWORK_TEXT]);

/* Reads "10.0.0.2:5182" or "[2001:db8::1]:5182". False: it is none. */
bool endpoint_parse(struct sockaddr_storage *endpoint, const char *text);

bool endpoint_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* Writes an endpoint as endpoint_parse reads it, "none" where it has no family. Returns out. */
char *endpoint_text(const struct sockaddr_storage *endpoint, char out[NETWORK_TEXT]);

socklen_t endpoint_len(const struct sockaddr_storage *endpoint);

#endif
