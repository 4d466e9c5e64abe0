/* SPDX-License-Identifier: MIT */
/* Any bytes as a stream of deflate: what comes out is what a judge gives, however they are cut. The
 * first two bytes choose the format, the pieces and the rooms. */
#include <stdlib.h>
#include <string.h>

#include "inflate_ref.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t cut(void *user)
{
    uint32_t *seed = user;

    *seed = *seed * 1664525 + 1013904223;
    return 1 + (*seed >> 8) % (*seed >> 31 != 0 ? 16 : 2000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct inflated expected, found;

    if (size < 2)
        return 0;
    const enum inflate_format format = data[0] & 3;
    uint32_t seed = (uint32_t)data[0] << 8 | data[1];

    inflate_by_judge(&expected, format, data + 2, size - 2);
    if ((data[0] & 4) != 0 && format != INFLATE_64)
        inflate_by_stream(&found, format, data + 2, size - 2, cut, &seed);
    else
        inflate_by_pieces(&found, format, data + 2, size - 2, cut, &seed);
    if (expected.len == INFLATED_MAX || found.len == INFLATED_MAX)
        return 0; /* neither had the room for all */
    if (found.status != expected.status || found.len != expected.len ||
        found.used != expected.used || memcmp(found.bytes, expected.bytes, found.len) != 0)
        abort();
    return 0;
}
