/* SPDX-License-Identifier: MIT */
/* The filter of the gram matcher's windows on GPUs. Compiled by C and by nvcc.
 *
 * On a GPU a probe costs its instructions and the bank conflicts of one word of shared memory. So
 * every byte is probed, and a literal has one window. A probe hashes a window's first four bytes,
 * or first eight where no literal is shorter. One half of the product chooses a word. The other
 * chooses one bit in each of the word's four bytes, which must be clear. A window that passes costs
 * one read of a slot, which has four bytes more. */
#ifndef GRAM_SIEVE_H
#define GRAM_SIEVE_H

#include "gram_core.h"

enum {
    GRAM_SIEVE_SHORT = 4,           /* bytes of a window that are hashed, */
    GRAM_SIEVE_LONG = 8,            /* or these */
    GRAM_SIEVE_WORDS_MAX = 40 << 10 /* 160 KiB of a multiprocessor's shared memory */
};

/* The windows of one key: their entries begin at `entry` and end with one that is marked last. Two
 * slots, of an even number and the next, are one sector of 32 bytes and read together. A key lies
 * in the first pair from its own on that has room. */
struct gram_sieve_slot {
    uint32_t key;
    uint32_t entry; /* or GRAM_NONE; in a pair's second also GRAM_MORE: some keys went past it */
    uint32_t next;  /* bytes 4 to 7 of all of them, */
    uint32_t mask;  /* as far as they have these and agree */
};

/* Where it lies; offsets are bytes from the body's first. */
struct gram_sieve_table {
    uint32_t n_words;
    uint32_t first; /* multipliers of bytes 0 to 3, */
    uint32_t next;  /* and 4 to 7; 0: these are not hashed */
    uint32_t slots_log;
    uint64_t n_entries;
    uint64_t words;   /* uint32_t */
    uint64_t slots;   /* 1 << slots_log */
    uint64_t entries; /* struct gram_entry */
};

/* The same as pointers. */
struct gram_sieve {
    const uint32_t *words;
    const struct gram_sieve_slot *slots;
    const struct gram_entry *entries;
    uint32_t n_words;
    uint32_t first;
    uint32_t next;
    uint32_t slots_log;
    uint32_t one, four; /* constants: see gram_sieve_probe */
};

MPM_CORE struct gram_sieve gram_sieve(const struct gram_table *body)
{
    const struct gram_sieve_table *table =
        (const struct gram_sieve_table *)mpm_at(body, body->sieve);
    struct gram_sieve sieve;

    sieve.words = (const uint32_t *)mpm_at(body, table->words);
    sieve.slots = (const struct gram_sieve_slot *)mpm_at(body, table->slots);
    sieve.entries = (const struct gram_entry *)mpm_at(body, table->entries);
    sieve.n_words = table->n_words;
    sieve.first = table->first;
    sieve.next = table->next;
    sieve.slots_log = table->slots_log;
    sieve.one = 1;
    sieve.four = 4;
    return sieve;
}

/* ---- filter ---------------------------------------------------------------------------------- */

/* Four bytes of a and b, as the nibbles of `from` choose: 0 to 3 of a, 4 to 7 of b. */
MPM_CORE uint32_t gram_choose(uint32_t a, uint32_t b, uint32_t from)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, from);
#else
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t chosen = 0;

    for (int i = 0; i < 4; i++)
        chosen |= (uint32_t)(both >> 8 * (from >> 4 * i & 7) & 0xFF) << 8 * i;
    return chosen;
#endif
}

/* Of bytes 0 to 3 and 4 to 7, coarsely folded and little-endian. */
MPM_CORE uint64_t gram_sieve_hash(const struct gram_sieve *sieve, uint32_t first, uint32_t next)
{
    return (uint64_t)first * sieve->first + (uint64_t)next * sieve->next;
}

/* The word, by the product's lower half: its upper bits depend on all bytes. Those of the upper
 * half would put alike windows into the same words. */
MPM_CORE uint32_t gram_sieve_word(const struct gram_sieve *sieve, uint64_t hash)
{
#ifdef __CUDA_ARCH__
    return __umulhi((uint32_t)hash, sieve->n_words);
#else
    return (uint32_t)((hash & UINT32_MAX) * sieve->n_words >> 32);
#endif
}

/* Its bits that the window clears. */
MPM_CORE uint32_t gram_sieve_bits(uint64_t hash)
{
    return gram_choose(0x08040201u, 0x80402010u, (uint32_t)(hash >> 32) & 0x7777);
}

/* Sets a bit where a window of some literal may begin with these bytes. On GPUs `words` are the
 * sieve's in shared memory, and the pipe of sums, shifts and logic is the limit. So address and bit
 * are made by multiplying, which is another pipe's work. The factors are read from memory as a
 * compiler that knows them would make sums and shifts of it again. */
MPM_CORE void gram_sieve_probe(const struct gram_sieve *sieve, const uint32_t *words,
                               uint32_t first, uint32_t next, uint32_t bit, uint32_t *passed)
{
    const uint64_t hash = gram_sieve_hash(sieve, first, next);
    const uint32_t at = gram_sieve_word(sieve, hash);
#ifdef __CUDA_ARCH__
    asm("{\n\t"
        ".reg .pred passes;\n\t"
        ".reg .u32 word;\n\t"
        "mad.lo.u32 word, %1, %2, %3;\n\t"
        "ld.shared.u32 word, [word];\n\t"
        "and.b32 word, word, %4;\n\t"
        "setp.eq.u32 passes, word, 0;\n\t"
        "@passes mad.lo.u32 %0, %5, %6, %0;\n\t"
        "}"
        : "+r"(*passed)
        : "r"(at), "r"(sieve->four), "r"((uint32_t)__cvta_generic_to_shared(words)),
          "r"(gram_sieve_bits(hash)), "r"(sieve->one), "r"(bit));
#else
    if ((words[at] & gram_sieve_bits(hash)) == 0)
        *passed |= bit;
#endif
}

/* ---- dictionary ------------------------------------------------------------------------------ */

/* Equal keys of different windows cost time alone: an entry compares bytes. */
MPM_CORE uint32_t gram_sieve_key(const struct gram_sieve *sieve, uint32_t first, uint32_t next)
{
    return sieve->next == 0 ? first : first ^ (next + 1) * GRAM_HASH_7;
}

MPM_CORE struct gram_sieve_slot gram_sieve_slot_at(const struct gram_sieve *sieve, uint32_t at)
{
#ifdef __CUDA_ARCH__
    const uint4 read = ((const uint4 *)sieve->slots)[at];
    const struct gram_sieve_slot slot = {read.x, read.y, read.z, read.w};

    return slot;
#else
    return sieve->slots[at];
#endif
}

/* The first entry whose window may begin with these bytes, or GRAM_NONE. */
MPM_CORE uint32_t gram_sieve_find(const struct gram_sieve *sieve, uint32_t first, uint32_t next)
{
    const uint32_t key = gram_sieve_key(sieve, first, next);
    uint32_t at = gram_slot_of(key, sieve->slots_log) & ~1u;

    for (;;) {
        const struct gram_sieve_slot one = gram_sieve_slot_at(sieve, at);
        const struct gram_sieve_slot two = gram_sieve_slot_at(sieve, at + 1);
        const bool is_one = one.key == key && one.entry != GRAM_NONE;

        if (is_one || two.key == key) {
            const struct gram_sieve_slot slot = is_one ? one : two;

            return ((slot.next ^ next) & slot.mask) == 0 ? slot.entry & GRAM_NONE : GRAM_NONE;
        }
        if ((two.entry & GRAM_MORE) == 0)
            return GRAM_NONE;
        at = (at + 2) & ((1u << sieve->slots_log) - 1);
    }
}

#endif
