/* SPDX-License-Identifier: MIT */
/* Streams of xz, whose heads, index and foot liblzma reads. */
#include "unpack/unxz.h"

#include <lzma.h>
#include <stdlib.h>

#include "unpack/little.h"
#include "unpack/unlzma.h"

struct unxz {
    const uint8_t *in;
    size_t at, len;
    struct unpack_buffer *to;
    lzma_stream_flags flags;
    lzma_index_hash *index;
    struct unlzma2 lzma2;
};

/* ---- a block --------------------------------------------------------------------------------- */

/* Reads the head. Returns the length of the dictionary; 0: it is wrong, or asks for other filters.
 */
static uint32_t take_head(struct unxz *xz, lzma_block *block)
{
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    uint32_t dictionary_len = 0;

    *block = (lzma_block){.version = 1, .check = xz->flags.check, .filters = filters};
    block->header_size = lzma_block_header_size_decode(xz->in[xz->at]);
    if (block->header_size > xz->len - xz->at ||
        lzma_block_header_decode(block, NULL, xz->in + xz->at) != LZMA_OK)
        return 0;
    if (filters[0].id == LZMA_FILTER_LZMA2 && filters[1].id == LZMA_VLI_UNKNOWN)
        dictionary_len = ((const lzma_options_lzma *)filters[0].options)->dict_size;
    for (unsigned i = 0; filters[i].id != LZMA_VLI_UNKNOWN; i++)
        free(filters[i].options);
    block->filters = NULL;
    xz->at += block->header_size;
    return dictionary_len;
}

static bool take_chunks(struct unxz *xz)
{
    struct unlzma2 *const lzma2 = &xz->lzma2;
    struct unpack_buffer *const to = xz->to;

    while (unlzma2_next(lzma2, to->len)) {
        const size_t len = lzma2->left, end = to->len + len;
        size_t room = len;

        if (len == 0)
            return true;
        if (unpack_buffer_room(to, &room) == NULL || room < len)
            return false;
        to->len = unlzma2_run(lzma2, to->bytes, to->len, end);
        if (to->len < end)
            return false;
    }
    return false;
}

static bool is_known(lzma_check check)
{
    return check == LZMA_CHECK_NONE || check == LZMA_CHECK_CRC32 || check == LZMA_CHECK_CRC64;
}

/* The sum of what the block holds, which is `len` bytes. */
static bool take_sum(struct unxz *xz, size_t len)
{
    const uint8_t *const bytes = xz->to->bytes + xz->to->len - len, *const sum = xz->in + xz->at;
    const size_t sum_len = lzma_check_size(xz->flags.check);

    if (xz->len - xz->at < sum_len)
        return false;
    xz->at += sum_len;
    if (xz->flags.check == LZMA_CHECK_CRC32)
        return lzma_crc32(bytes, len, 0) == little32(sum);
    return xz->flags.check == LZMA_CHECK_NONE || lzma_crc64(bytes, len, 0) == little64(sum);
}

/* Whether a length is what the head of a block says, where it says it. */
static bool is_as_stated(lzma_vli len, lzma_vli stated)
{
    return stated == LZMA_VLI_UNKNOWN || stated == len;
}

static bool take_block(struct unxz *xz)
{
    const size_t before = xz->to->len;
    lzma_block block;
    const uint32_t dictionary_len = take_head(xz, &block);

    if (dictionary_len == 0)
        return false;
    unlzma2_begin(&xz->lzma2, xz->in + xz->at, xz->len - xz->at, dictionary_len);
    if (!take_chunks(xz))
        return false;
    const size_t packed_len = xz->lzma2.at, len = xz->to->len - before;
    xz->at += packed_len;
    for (; xz->at % 4 != 0; xz->at++)
        if (xz->at == xz->len || xz->in[xz->at] != 0)
            return false;
    return is_as_stated(packed_len, block.compressed_size) &&
           is_as_stated(len, block.uncompressed_size) && take_sum(xz, len) &&
           lzma_index_hash_append(xz->index,
                                  block.header_size + packed_len + lzma_check_size(block.check),
                                  len) == LZMA_OK;
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* What ends it repeats its flags, and the lengths of its blocks. */
static bool take_end(struct unxz *xz)
{
    lzma_stream_flags flags;

    if (lzma_index_hash_decode(xz->index, xz->in, &xz->at, xz->len) != LZMA_STREAM_END ||
        xz->len - xz->at < LZMA_STREAM_HEADER_SIZE ||
        lzma_stream_footer_decode(&flags, xz->in + xz->at) != LZMA_OK ||
        flags.backward_size != lzma_index_hash_size(xz->index) ||
        lzma_stream_flags_compare(&xz->flags, &flags) != LZMA_OK)
        return false;
    xz->at += LZMA_STREAM_HEADER_SIZE;
    return true;
}

static bool take_stream(struct unxz *xz)
{
    if (xz->index == NULL || xz->len < LZMA_STREAM_HEADER_SIZE ||
        lzma_stream_header_decode(&xz->flags, xz->in) != LZMA_OK || !is_known(xz->flags.check))
        return false;
    xz->at = LZMA_STREAM_HEADER_SIZE;
    while (xz->at < xz->len && xz->in[xz->at] != 0)
        if (!take_block(xz))
            return false;
    return xz->at < xz->len && take_end(xz);
}

bool unxz(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    struct unxz *xz = malloc(sizeof *xz);

    if (xz == NULL)
        return false;
    xz->in = in;
    xz->at = 0;
    xz->len = len;
    xz->to = buffer;
    xz->index = lzma_index_hash_init(NULL, NULL);
    const bool whole = take_stream(xz);
    *used = xz->at;
    lzma_index_hash_end(xz->index, NULL);
    free(xz);
    return whole;
}
