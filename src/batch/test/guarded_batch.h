/* SPDX-License-Identifier: MIT */
/* For tests: a batch whose first payload begins where readable memory does. SL_BATCH_SLACK behind
 * its second payload, readable memory ends. */
#ifndef GUARDED_BATCH_H
#define GUARDED_BATCH_H

#include "test.h"

#include <sys/mman.h>

#include "sluice/batch.h"

enum { GUARDED_PAGE = 4096, GUARDED_PAYLOAD_MAX = 200 };

struct guarded_batch {
    struct sl_batch batch;
    struct sl_span payload[2];
    uint16_t overlap[2];
    uint8_t *pages; /* three, of which the one in the middle can be read: the caller fills it */
};

/* Both payloads have payload_len bytes, at most GUARDED_PAYLOAD_MAX. */
static inline void guarded_batch_open(struct guarded_batch *guarded, uint32_t payload_len)
{
    const uint32_t end = GUARDED_PAGE - SL_BATCH_SLACK;

    *guarded =
        (struct guarded_batch){.payload = {{0, payload_len}, {end - payload_len, payload_len}}};
    guarded->pages = (uint8_t *)mmap(NULL, 3 * (size_t)GUARDED_PAGE, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded->pages, MAP_FAILED);
    assert_int_equal(mprotect(guarded->pages + GUARDED_PAGE, GUARDED_PAGE, PROT_READ | PROT_WRITE),
                     0);
    guarded->batch = (struct sl_batch){.memory = SL_MEMORY_HOST,
                                       .n_items = 2,
                                       .max_items = 2,
                                       .bytes_len = end,
                                       .bytes_cap = end,
                                       .bytes = guarded->pages + GUARDED_PAGE,
                                       .payload = guarded->payload,
                                       .overlap = guarded->overlap};
}

static inline void guarded_batch_close(struct guarded_batch *guarded)
{
    munmap(guarded->pages, 3 * (size_t)GUARDED_PAGE);
}

#endif
