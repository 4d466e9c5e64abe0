/* SPDX-License-Identifier: MIT */
#include "unpack/zip_crypt.h"

#include <zlib.h>

struct keys {
    uint32_t low, middle, high;
};

static uint32_t add_to_sum(const z_crc_t *table, uint32_t sum, uint8_t byte)
{
    return sum >> 8 ^ (uint32_t)table[(uint8_t)(sum ^ byte)];
}

static void take(struct keys *keys, const z_crc_t *table, uint8_t plain)
{
    keys->low = add_to_sum(table, keys->low, plain);
    keys->middle = (keys->middle + (uint8_t)keys->low) * UINT32_C(134775813) + 1;
    keys->high = add_to_sum(table, keys->high, (uint8_t)(keys->middle >> 24));
}

static uint8_t decrypt(struct keys *keys, const z_crc_t *table, uint8_t byte)
{
    const uint32_t mask = (keys->high | 2) & UINT16_MAX;
    const uint8_t plain = (uint8_t)(byte ^ mask * (mask ^ 1) >> 8);

    take(keys, table, plain);
    return plain;
}

bool zip_unlock(const uint8_t *password, size_t password_len, const uint8_t marks[2],
                const uint8_t *in, uint8_t *out, size_t len)
{
    const z_crc_t *const table = get_crc_table();
    struct keys keys = {0x12345678, 0x23456789, 0x34567890};
    uint8_t mark = 0;

    for (size_t i = 0; i < password_len; i++)
        take(&keys, table, password[i]);
    for (size_t i = 0; i < ZIP_SALT_LEN; i++)
        mark = decrypt(&keys, table, in[i]);
    if (mark != marks[0] && mark != marks[1])
        return false;
    for (size_t i = 0; i < len; i++)
        out[i] = decrypt(&keys, table, in[ZIP_SALT_LEN + i]);
    return true;
}
