/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void pages_discard(const void *from, size_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)from + len) / page * page;

    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void pages_move(void *to, const void *from, size_t len)
{
    enum { STEP = 256 << 10 };
    const uint8_t *at = (const uint8_t *)from;
    uint8_t *place = (uint8_t *)to;

    for (size_t n; len > 0; at += n, place += n, len -= n) {
        n = len < STEP ? len : STEP;
        memcpy(place, at, n);
        pages_discard(at, n);
    }
}
