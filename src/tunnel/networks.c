/* SPDX-License-Identifier: MIT */
#include "networks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IPV4_BITS = 96 /* of the prefix of IPv4 addresses */ };

static const uint8_t ipv4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

void network_of_ipv4(uint8_t address[16], const uint8_t bytes[4])
{
    memcpy(address, ipv4_prefix, sizeof ipv4_prefix);
    memcpy(address + sizeof ipv4_prefix, bytes, 4);
}

/* A decimal number of at most `max`, and nothing behind it. */
static bool parse_number(const char *text, unsigned long max, unsigned long *value)
{
    const size_t len = strlen(text);

    if (len == 0 || len > 5 || strspn(text, "0123456789") != len)
        return false;
    *value = strtoul(text, NULL, 10);
    return *value <= max;
}

bool network_parse(struct network *network, const char *text)
{
    const char *const slash = strchr(text, '/');
    const size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char host[INET6_ADDRSTRLEN];
    uint8_t ipv4[4];
    unsigned long bits;

    if (len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';

    const bool is_ipv4 = inet_pton(AF_INET, host, ipv4) == 1;
    if (is_ipv4)
        network_of_ipv4(network->address, ipv4);
    else if (inet_pton(AF_INET6, host, network->address) != 1)
        return false;
    bits = is_ipv4 ? 32 : 128;
    if (slash != NULL && !parse_number(slash + 1, bits, &bits))
        return false;
    network->bits = (uint8_t)(bits + (is_ipv4 ? IPV4_BITS : 0));
    return true;
}

bool network_holds(const struct network *network, const uint8_t address[16])
{
    const unsigned whole = network->bits / 8, rest = network->bits % 8;

    if (memcmp(network->address, address, whole) != 0)
        return false;
    return rest == 0 || ((network->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

int networks_find(const struct network *networks, size_t n, const uint8_t address[16])
{
    int longest = -1;

    for (size_t i = 0; i < n; i++)
        if (networks[i].bits > longest && network_holds(&networks[i], address))
            longest = networks[i].bits;
    return longest;
}

bool network_is_ipv4(const struct network *network)
{
    return network->bits >= IPV4_BITS &&
           memcmp(network->address, ipv4_prefix, sizeof ipv4_prefix) == 0;
}

char *network_text(const struct network *network, char out[NETWORK_TEXT])
{
    const bool is_ipv4 = network_is_ipv4(network);
    char host[INET6_ADDRSTRLEN] = "";

    inet_ntop(is_ipv4 ? AF_INET : AF_INET6, network->address + (is_ipv4 ? 12 : 0), host,
              sizeof host);
    snprintf(out, NETWORK_TEXT, "%s/%d", host, network->bits - (is_ipv4 ? IPV4_BITS : 0));
    return out;
}

/* ---- endpoints ------------------------------------------------------------------------------- */

bool endpoint_parse(struct sockaddr_storage *endpoint, const char *text)
{
    const bool bracketed = text[0] == '[';
    const char *const host = text + bracketed;
    const char *const end = strchr(host, bracketed ? ']' : ':');
    const char *const colon = end != NULL ? end + bracketed : NULL;
    struct sockaddr_in *const ipv4 = (struct sockaddr_in *)endpoint;
    struct sockaddr_in6 *const ipv6 = (struct sockaddr_in6 *)endpoint;
    char name[INET6_ADDRSTRLEN];
    unsigned long port;

    if (end == NULL || (size_t)(end - host) >= sizeof name || *colon != ':' ||
        !parse_number(colon + 1, 65535, &port) || port == 0)
        return false;
    memcpy(name, host, (size_t)(end - host));
    name[end - host] = '\0';
    memset(endpoint, 0, sizeof *endpoint);
    if (bracketed) {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, name, &ipv6->sin6_addr) == 1;
    }
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, name, &ipv4->sin_addr) == 1;
}

bool endpoint_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    const struct sockaddr_in *const a4 = (const struct sockaddr_in *)a;
    const struct sockaddr_in *const b4 = (const struct sockaddr_in *)b;
    const struct sockaddr_in6 *const a6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *const b6 = (const struct sockaddr_in6 *)b;

    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return a->ss_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
           memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

char *endpoint_text(const struct sockaddr_storage *endpoint, char out[NETWORK_TEXT])
{
    const struct sockaddr_in *const ipv4 = (const struct sockaddr_in *)endpoint;
    const struct sockaddr_in6 *const ipv6 = (const struct sockaddr_in6 *)endpoint;
    char host[INET6_ADDRSTRLEN] = "";

    if (endpoint->ss_family == AF_INET) {
        inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof host);
        snprintf(out, NETWORK_TEXT, "%s:%u", host, ntohs(ipv4->sin_port));
    } else if (endpoint->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof host);
        snprintf(out, NETWORK_TEXT, "[%s]:%u", host, ntohs(ipv6->sin6_port));
    } else {
        snprintf(out, NETWORK_TEXT, "none");
    }
    return out;
}

socklen_t endpoint_len(const struct sockaddr_storage *endpoint)
{
    return endpoint->ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                          : sizeof(struct sockaddr_in6);
}
