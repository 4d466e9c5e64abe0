/* SPDX-License-Identifier: MIT */
/* The datagrams that fragments of a batch made whole, and how they become packets of it. */
#ifndef RUN_DATAGRAMS_H
#define RUN_DATAGRAMS_H

#include <stdbool.h>

#include "sluice/batch.h"

/* A whole datagram. */
struct run_datagram {
    uint32_t behind; /* the item of the fragment that completed it */
    uint32_t at;     /* its bytes lie here, among those of all */
    struct sl_packet packet;
    struct sl_span payload; /* offset: from the packet's first byte */
    struct sl_origin origin;
};

/* Zeroed at first; memory is kept from batch to batch. */
struct run_datagrams {
    struct run_datagram *datagram; /* in the order of `behind` */
    uint32_t n, max;
    uint8_t *bytes;
    uint32_t len, cap;
    bool took; /* fragments were cut to their headers, or there are datagrams */
};

void run_datagrams_clear(struct run_datagrams *datagrams);

/* Room for n elements of a size at *memory. False: no memory. */
bool run_datagrams_reserve(void **memory, uint32_t *cap, uint64_t n, size_t size);

/* The bytes that an item of `len` bytes takes in a batch. */
static inline uint32_t run_datagrams_aligned(uint32_t len)
{
    return (len + SL_BATCH_ALIGN - 1) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
}

/* Lays the batch anew: each datagram comes right behind the fragment that completed it, and nothing
 * is left of the bytes that cut fragments had. The batch has room for all. Bytes move within it. */
void run_datagrams_lay(const struct run_datagrams *datagrams, struct sl_batch *batch);

#endif
