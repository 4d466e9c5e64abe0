/* SPDX-License-Identifier: MIT */
#include "run_datagrams.h"

#include <stdlib.h>
#include <string.h>

void run_datagrams_clear(struct run_datagrams *datagrams)
{
    free(datagrams->datagram);
    free(datagrams->bytes);
}

bool run_datagrams_reserve(void **memory, uint32_t *cap, uint64_t n, size_t size)
{
    if (n <= *cap)
        return true;
    const uint64_t wanted = n + n / 2;
    void *grown = wanted <= UINT32_MAX ? realloc(*memory, wanted * size) : NULL;

    if (grown == NULL)
        return false;
    *memory = grown;
    *cap = (uint32_t)wanted;
    return true;
}

/* Where an item's bytes end, with those that align the next. */
static uint32_t end_of(const struct sl_batch *batch, uint32_t item)
{
    return batch->packet[item].offset + run_datagrams_aligned(batch->packet[item].len);
}

/* Moves items [first, end), which lie back to back, so that the first is item `to` and begins at
 * byte `at`. The old bytes there are overwritten. */
static void move(struct sl_batch *batch, uint32_t first, uint32_t end, uint32_t to, uint32_t at)
{
    if (first == end)
        return;
    const uint32_t from = batch->packet[first].offset, n = end - first;
    const uint32_t shift = at - from; /* modulo 2^32 where it is back */

    if (shift != 0)
        memmove(batch->bytes + at, batch->bytes + from, end_of(batch, end - 1) - from);
    if (to != first) {
        memmove(batch->packet + to, batch->packet + first, n * sizeof *batch->packet);
        memmove(batch->payload + to, batch->payload + first, n * sizeof *batch->payload);
        memmove(batch->origin + to, batch->origin + first, n * sizeof *batch->origin);
    }
    for (uint32_t item = to; shift != 0 && item < to + n; item++) {
        batch->packet[item].offset += shift;
        batch->payload[item].offset += shift;
    }
}

/* Zeros the bytes behind an item that may have been cut, to where the next may begin. */
static uint32_t pad(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint32_t end = end_of(batch, item);

    sl_batch_pad(batch->bytes, packet->offset + packet->len, end);
    return end;
}

/* Moves all back over the bytes that cut fragments had. */
static void close_gaps(struct sl_batch *batch)
{
    uint32_t at = 0;

    for (uint32_t first = 0, end; first < batch->n_items; first = end) {
        uint32_t block_end = pad(batch, first);

        for (end = first + 1; end < batch->n_items && batch->packet[end].offset == block_end; end++)
            block_end = pad(batch, end);
        const uint32_t len = block_end - batch->packet[first].offset;

        move(batch, first, end, first, at);
        at += len;
    }
    batch->bytes_len = at;
}

static void put(struct sl_batch *batch, uint32_t item, uint32_t at,
                const struct run_datagrams *datagrams, const struct run_datagram *datagram)
{
    const uint32_t len = datagram->packet.len;

    memcpy(batch->bytes + at, datagrams->bytes + datagram->at, len);
    sl_batch_pad(batch->bytes, at + len, at + run_datagrams_aligned(len));
    batch->packet[item] = datagram->packet;
    batch->packet[item].offset = at;
    batch->payload[item] = (struct sl_span){at + datagram->payload.offset, datagram->payload.len};
    batch->origin[item] = datagram->origin;
}

/* From the last datagram to the first, so that each item moves once. */
static void insert(const struct run_datagrams *datagrams, struct sl_batch *batch)
{
    const uint32_t n_items = batch->n_items, bytes_len = batch->bytes_len;
    uint32_t end = n_items, more = 0;

    for (uint32_t i = 0; i < datagrams->n; i++)
        more += run_datagrams_aligned(datagrams->datagram[i].packet.len);
    batch->bytes_len += more;
    batch->n_items += datagrams->n;
    memset(batch->overlap + n_items, 0, datagrams->n * sizeof *batch->overlap);
    for (uint32_t i = datagrams->n; i-- > 0;) {
        const struct run_datagram *datagram = &datagrams->datagram[i];
        const uint32_t first = datagram->behind + 1;
        const uint32_t begin = first < n_items ? batch->packet[first].offset : bytes_len;

        move(batch, first, end, first + i + 1, begin + more);
        more -= run_datagrams_aligned(datagram->packet.len);
        put(batch, first + i, begin + more, datagrams, datagram);
        end = first;
    }
}

void run_datagrams_lay(const struct run_datagrams *datagrams, struct sl_batch *batch)
{
    close_gaps(batch);
    insert(datagrams, batch);
}
