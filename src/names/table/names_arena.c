/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "names_internal.h"

enum { BLOCK_LEN = 1 << 20 /* bytes; of them only those that are written take memory */ };

struct names_block {
    struct names_block *next;
    uint8_t bytes[];
};

static bool add_block(struct names_kept *kept, size_t least)
{
    const size_t len = least > BLOCK_LEN ? least : BLOCK_LEN;
    struct names_block *block = malloc(sizeof *block + len);

    if (block == NULL)
        return false;
    block->next = kept->blocks;
    *kept = (struct names_kept){block, block->bytes, block->bytes + len};
    return true;
}

const void *names_keep(struct names_kept *kept, const void *bytes, size_t len)
{
    if ((kept->blocks == NULL || (size_t)(kept->end - kept->at) < len) && !add_block(kept, len))
        return NULL;
    uint8_t *copy = kept->at;
    if (len != 0)
        memcpy(copy, bytes, len);
    kept->at += len;
    return copy;
}

void names_keep_free(struct names_kept *kept)
{
    while (kept->blocks != NULL) {
        struct names_block *block = kept->blocks;
        kept->blocks = block->next;
        free(block);
    }
}
