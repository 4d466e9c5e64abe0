/* SPDX-License-Identifier: MIT */
/* For test programs: the memory that a program asks for, counted. Included by one source of it. */
#ifndef TESTS_COUNTED_MALLOC_H
#define TESTS_COUNTED_MALLOC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_ullong n_allocations;

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

COUNTED void *malloc(size_t len)
{
    atomic_fetch_add(&n_allocations, 1);
    return __libc_malloc(len);
}

COUNTED void *calloc(size_t n, size_t len)
{
    atomic_fetch_add(&n_allocations, 1);
    return __libc_calloc(n, len);
}

COUNTED void *realloc(void *memory, size_t len)
{
    atomic_fetch_add(&n_allocations, 1);
    return __libc_realloc(memory, len);
}

COUNTED int posix_memalign(void **memory, size_t align, size_t len)
{
    atomic_fetch_add(&n_allocations, 1);
    *memory = __libc_memalign(align, len);
    return *memory != NULL ? 0 : ENOMEM;
}

COUNTED void *aligned_alloc(size_t align, size_t len)
{
    atomic_fetch_add(&n_allocations, 1);
    return __libc_memalign(align, len);
}
#endif

#endif
