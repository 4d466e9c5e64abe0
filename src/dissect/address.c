/* SPDX-License-Identifier: MIT */
#include "sluice/dissect.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/address_text.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

bool sl_addr_is_ipv4(const struct sl_addr *addr)
{
    return memcmp(addr->byte, mapped_prefix, sizeof mapped_prefix) == 0;
}

char *sl_addr_format(const struct sl_addr *addr, char out[SL_ADDR_TEXT_LEN])
{
    const size_t len = sl_addr_is_ipv4(addr) ? address_put_ipv4(out, addr->byte + 12)
                                             : address_put_ipv6(out, addr->byte);

    out[len] = '\0';
    return out;
}

static bool parse_prefix_len(uint32_t *prefix_len, const char *text, uint32_t max)
{
    uint32_t value = 0;

    if (*text == '\0' || strlen(text) > 3)
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint32_t)(*text - '0');
    }
    *prefix_len = value;
    return value <= max;
}

static void clear_host_bits(struct sl_net *net)
{
    for (uint32_t bit = net->prefix_len; bit < 128; bit++)
        net->addr.byte[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
}

enum sl_status sl_net_parse(struct sl_net *net, const char *text, size_t text_len)
{
    char copy[64];

    if (text_len >= sizeof copy)
        return SL_EINVAL;
    memcpy(copy, text, text_len);
    copy[text_len] = '\0';

    char *slash = strchr(copy, '/');
    if (slash != NULL)
        *slash = '\0';

    uint32_t bits = 128;
    if (inet_pton(AF_INET, copy, net->addr.byte + 12) == 1) {
        memcpy(net->addr.byte, mapped_prefix, sizeof mapped_prefix);
        bits = 32;
    } else if (inet_pton(AF_INET6, copy, net->addr.byte) != 1) {
        return SL_EINVAL;
    }

    net->prefix_len = bits;
    if (slash != NULL && !parse_prefix_len(&net->prefix_len, slash + 1, bits))
        return SL_EINVAL;
    net->prefix_len += 128 - bits;
    clear_host_bits(net);
    return SL_OK;
}

bool sl_net_contains(const struct sl_net *net, const struct sl_addr *addr)
{
    const uint32_t whole = net->prefix_len / 8;
    const uint32_t rest = net->prefix_len % 8;

    if (memcmp(net->addr.byte, addr->byte, whole) != 0)
        return false;
    return rest == 0 || ((net->addr.byte[whole] ^ addr->byte[whole]) >> (8 - rest)) == 0;
}
