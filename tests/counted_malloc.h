/* SPDX-License-Identifier: MIT */
/* For test programs: the memory that a program asks for, counted, and refused once where a test
 * says so. Included by one source of it. */
#ifndef TESTS_COUNTED_MALLOC_H
#define TESTS_COUNTED_MALLOC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_ullong n_allocations;
static atomic_ullong refused_allocation; /* the allocation that fails, from 1 on; 0: none */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATIONS_ARE_COUNTED 0 /* sanitizers bring an allocator of their own */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATIONS_ARE_COUNTED 0
#endif
#endif

#ifndef ALLOCATIONS_ARE_COUNTED
#define ALLOCATIONS_ARE_COUNTED 1

/* glibc's own, under the names that it keeps for this. free is not replaced. */
void *__libc_malloc(size_t len);
void *__libc_calloc(size_t n, size_t len);
void *__libc_realloc(void *memory, size_t len);
void *__libc_memalign(size_t align, size_t len);

#define COUNTED __attribute__((visibility("default")))

static bool count_allocation(void)
{
    if (atomic_fetch_add(&n_allocations, 1) + 1 != atomic_load(&refused_allocation))
        return true;
    errno = ENOMEM;
    return false;
}

COUNTED void *malloc(size_t len)
{
    return count_allocation() ? __libc_malloc(len) : NULL;
}

COUNTED void *calloc(size_t n, size_t len)
{
    return count_allocation() ? __libc_calloc(n, len) : NULL;
}

COUNTED void *realloc(void *memory, size_t len)
{
    return count_allocation() ? __libc_realloc(memory, len) : NULL;
}

COUNTED int posix_memalign(void **memory, size_t align, size_t len)
{
    *memory = count_allocation() ? __libc_memalign(align, len) : NULL;
    return *memory != NULL ? 0 : ENOMEM;
}

COUNTED void *aligned_alloc(size_t align, size_t len)
{
    return count_allocation() ? __libc_memalign(align, len) : NULL;
}
#endif

/* The n-th allocation from now on, 1 being the next, gets nothing. */
static inline void refuse_allocation(unsigned long long n)
{
    atomic_store(&refused_allocation, atomic_load(&n_allocations) + n);
}

/* From now on all get what they ask for. False: none was refused before. */
static inline bool allocation_was_refused(void)
{
    const unsigned long long which = atomic_exchange(&refused_allocation, 0);

    return which != 0 && which <= atomic_load(&n_allocations);
}

#endif
