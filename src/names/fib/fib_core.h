/* SPDX-License-Identifier: MIT */
/* Parts that all planes share: reading names a word at a time, their components, and their hashes.
 * Compiled by C and by nvcc. */
#ifndef FIB_CORE_H
#define FIB_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/core.h"
#include "sluice/fib.h"

#ifdef __CUDACC__
#define FIB_CORE static __host__ __device__ __forceinline__
#else
#define FIB_CORE static inline __attribute__((always_inline))
#endif

/* Single stores publish, and look-ups run beside them: every word that may change under a look-up
 * is read and written with these. On GPUs what a kernel reads changes only between kernels. */
FIB_CORE uint64_t fib_load64(const uint64_t *at)
{
#ifdef __CUDA_ARCH__
    return __ldg((const unsigned long long *)at);
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

FIB_CORE uint32_t fib_load32(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
    return __ldg(at);
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The bytes of a name as words of four, little endian: word k at words[k x stride]. Stride 1 is a
 * name that lies in one piece (and begins at a multiple of 4), stride 32 an interwoven one. Words
 * up to five behind the last byte may be read; their values do not count. */
struct fib_reader {
    const uint32_t *words;
    uint32_t stride;
    uint32_t len; /* bytes of the name */
};

enum { FIB_INTERWOVEN = 32 }; /* stride of names interwoven by the host: a warp's */

FIB_CORE uint32_t fib_shift_right(uint32_t low, uint32_t high, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(low, high, bits);
#else
    return (uint32_t)(((uint64_t)high << 32 | low) >> bits);
#endif
}

/* Four bytes from any byte on. */
FIB_CORE uint32_t fib_read32(const struct fib_reader *name, uint32_t at)
{
    const uint32_t *word = name->words + (size_t)(at / 4) * name->stride;

    return fib_shift_right(word[0], word[name->stride], at % 4 * 8);
}

FIB_CORE uint64_t fib_read64(const struct fib_reader *name, uint32_t at)
{
    const uint32_t *word = name->words + (size_t)(at / 4) * name->stride;
    const uint32_t a = word[0], b = word[name->stride], c = word[(size_t)2 * name->stride];
    const uint32_t bits = at % 4 * 8;

    return (uint64_t)fib_shift_right(b, c, bits) << 32 | fib_shift_right(a, b, bits);
}

FIB_CORE uint8_t fib_read8(const struct fib_reader *name, uint32_t at)
{
    return (uint8_t)(name->words[(size_t)(at / 4) * name->stride] >> (at % 4 * 8));
}

/* A VAR-NUMBER of at most 32 bits in its shortest form; *at advances. False: it is none. */
FIB_CORE bool fib_read_number(const struct fib_reader *name, uint32_t *at, uint32_t *number)
{
    if (*at >= name->len)
        return false;

    const uint8_t first = fib_read8(name, *at);
    const uint32_t n = first < 253 ? 0 : first == 253 ? 2 : first == 254 ? 4 : 8;
    uint32_t value = first;

    if (n == 8 || n > name->len - *at - 1)
        return false;
    if (n != 0)
        value = 0;
    for (uint32_t i = 1; i <= n; i++)
        value = value << 8 | fib_read8(name, *at + i);
    if ((n == 2 && value < 253) || (n == 4 && value < 65536))
        return false;
    *at += 1 + n;
    *number = value;
    return true;
}

/* Where the component that begins at `at` ends, or `at` where there is none; *head becomes the
 * bytes of its type and length. */
FIB_CORE uint32_t fib_component_end_slow(const struct fib_reader *name, uint32_t at, uint32_t *head)
{
    uint32_t next = at, type = 0, len = 0;

    if (!fib_read_number(name, &next, &type) || type == 0 || type > SL_NAME_TYPE_MAX ||
        !fib_read_number(name, &next, &len) || len > name->len - next)
        return at;
    *head = next - at;
    return next + len;
}

FIB_CORE uint32_t fib_component_end(const struct fib_reader *name, uint32_t at, uint32_t *head)
{
    if (name->len - at >= 2) { /* at <= len */
        const uint32_t first = fib_read32(name, at);
        const uint32_t type = first & 0xFF, len = first >> 8 & 0xFF;

        if (type - 1 < 252 && len < 253) {
            *head = 2;
            return len <= name->len - at - 2 ? at + 2 + len : at;
        }
    }
    return fib_component_end_slow(name, at, head);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

/* Derived from the table's key: odd or random, and unknown to whoever chooses names. */
struct fib_secret {
    uint64_t start; /* the hash of the root */
    uint64_t a, b;
};

/* The low n bytes, n at most 8. */
FIB_CORE uint64_t fib_low_bytes(uint64_t value, uint32_t n)
{
    return n >= 8 ? value : value & ((UINT64_C(1) << n * 8) - 1);
}

/* The hash after 16 more bytes. The chain makes /a/b and /b/a differ. A component's own length is
 * in its first bytes, so zeros behind its end are no ambiguity. */
FIB_CORE uint64_t fib_hash_step(const struct fib_secret *secret, uint64_t hash, uint64_t low,
                                uint64_t high)
{
    return core_fold(low ^ hash ^ secret->a, high ^ secret->b);
}

/* The hash of a name's first components, given that of all but the last, which is the bytes from
 * `at` to `end`. */
FIB_CORE uint64_t fib_hash_component(const struct fib_secret *secret, uint64_t hash,
                                     const struct fib_reader *name, uint32_t at, uint32_t end)
{
    for (; at < end; at += 16) {
        const uint32_t left = end - at;
        const uint64_t high =
            left > 8 ? fib_low_bytes(fib_read64(name, at + 8), left - 8) : UINT64_C(0);

        hash = fib_hash_step(secret, hash, fib_low_bytes(fib_read64(name, at), left), high);
    }
    return hash;
}

/* Of n places the one of a hash's upper 32 bits. */
FIB_CORE uint32_t fib_place(uint64_t hash, uint32_t n)
{
    return (uint32_t)((hash >> 32) * n >> 32);
}

#endif
