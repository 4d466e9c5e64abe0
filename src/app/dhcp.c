/* SPDX-License-Identifier: MIT */
#include "dhcp.h"

#include "base/bytes.h"

enum { FIXED_LEN = 236, COOKIE_LEN = 4, PAD = 0, END = 255 };

bool dhcp_probe(const uint8_t *message, uint32_t len)
{
    return len >= FIXED_LEN + COOKIE_LEN && (message[0] == 1 || message[0] == 2) &&
           message[2] <= 16 && load_be32(message + FIXED_LEN) == 0x63825363;
}

bool dhcp_number(uint32_t *number, const uint8_t *message, uint32_t len, enum dhcp_option option)
{
    uint32_t at = FIXED_LEN + COOKIE_LEN;

    while (at < len && message[at] != END) {
        if (message[at] == PAD) {
            at++;
            continue;
        }
        if (len - at < 2 || message[at + 1] > len - at - 2)
            return false;
        if (message[at] == option && message[at + 1] == 4) {
            *number = load_be32(message + at + 2);
            return true;
        }
        at += 2u + message[at + 1];
    }
    return false;
}
