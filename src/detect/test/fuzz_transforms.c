/* SPDX-License-Identifier: MIT */
/* A chain of transforms, which the first bytes choose, on the rest of the bytes. */
#include <stdlib.h>
#include <string.h>

#include "detect/transform/transform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct transform_work work;
    struct transform_chain chain = {.n = 0};

    if (size < 4 || size > 65536)
        return 0;
    for (chain.n = 0; chain.n < 1u + data[0] % 3; chain.n++)
        chain.step[chain.n] = (struct transform){
            .kind = (enum transform_kind)(data[1 + chain.n] % (TRANSFORM_ZLIB + 1)),
            .mode = (enum base64_mode)(data[0] / 4 % 3),
            .offset = data[0] / 12,
            .len = 1 + data[0] / 128, /* of what is unpacked, too */
            .key = data,
        };

    uint32_t len = (uint32_t)size;
    const uint32_t room = transform_chain_room(&chain, len);
    uint8_t *bytes = malloc(room);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    if (!transform_chain_apply(&chain, &work, bytes, &len) || len > room)
        abort();
    free(bytes);
    return 0;
}
