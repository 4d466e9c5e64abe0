/* SPDX-License-Identifier: MIT */
/* Preloaded to the command: of the allocations of at least $FAIL_LEN bytes the $FAIL_AT-th fails.
 * At the end the number of them is written to the file $FAIL_COUNT. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t len);
extern void *__libc_calloc(size_t n, size_t len);
extern void *__libc_realloc(void *old, size_t len);

static atomic_ulong n_met;
static unsigned long fail_at, fail_len;
static bool ready;

__attribute__((constructor)) static void begin(void)
{
    const char *const at = getenv("FAIL_AT"), *const len = getenv("FAIL_LEN");

    fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
    fail_len = len != NULL ? strtoul(len, NULL, 10) : 0;
    ready = true;
}

__attribute__((destructor)) static void report(void)
{
    const char *const path = getenv("FAIL_COUNT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file != NULL) {
        fprintf(file, "%lu", atomic_load(&n_met));
        (void)fclose(file);
    }
}

static bool fails(size_t len)
{
    if (!ready || len < fail_len || atomic_fetch_add(&n_met, 1) + 1 != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

#pragma GCC visibility push(default)

void *malloc(size_t len)
{
    return fails(len) ? NULL : __libc_malloc(len);
}

void *calloc(size_t n, size_t len)
{
    return fails(n * len) ? NULL : __libc_calloc(n, len);
}

void *realloc(void *old, size_t len)
{
    return fails(len) ? NULL : __libc_realloc(old, len);
}
