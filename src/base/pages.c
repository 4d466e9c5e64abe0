/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 64, MAPPED_MIN = 1 << 20 };

void *pages_alloc(size_t len)
{
    void *memory;

    if (len >= MAPPED_MIN) {
        memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory != MAP_FAILED ? memory : NULL;
    }
    if (posix_memalign(&memory, ALIGN, len) != 0)
        return NULL;
    memset(memory, 0, len);
    return memory;
}

void pages_free(void *memory, size_t len)
{
    if (len < MAPPED_MIN)
        free(memory);
    else if (memory != NULL)
        (void)munmap(memory, len);
}

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
