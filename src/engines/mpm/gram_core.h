/* SPDX-License-Identifier: MIT */
/* The gram matcher: what a filter tests at a position, and how a survivor is verified. Compiled by
 * C and by nvcc.
 *
 * Of each literal, windows of up to six bytes are taken, rare ones, one for each residue of the
 * stride, so that probing every stride-th position meets each occurrence exactly once. A window's
 * first three bytes choose a word of the filter; three bits of the word must be set: one by more
 * bits of the same hash, one by the fourth byte, one by the fifth and sixth. A window that ends
 * early sets all bits of the fields it does not reach. So one look-up serves literals of all
 * lengths.
 *
 * A survivor is looked up by its first four bytes (three, where a window has no more) in a
 * dictionary of entries; an entry compares eight bytes around the window, then the whole literal.
 *
 * Two kinds of literals go apart. Tiny ones have no room for windows. And a window inside a run of
 * one byte would be met all along such runs in the text, so literals that are a run, or have no
 * other window, are looked at once a run: where one of GRAM_RUN_MIN bytes or more begins. */
#ifndef GRAM_CORE_H
#define GRAM_CORE_H

#include "mpm_table.h"

enum {
    GRAM_WINDOW = 6,     /* bytes of text that a probe looks at */
    GRAM_WINDOW_MIN = 3, /* bytes of a literal that a window must hold */
    GRAM_STRIDE_MAX = 2,
    GRAM_FIELD_BITS = 8,    /* of a word: bits 0-7 by the fourth byte, 8-15 by the hash, */
    GRAM_LAST_SHIFT = 16,   /* and from here on by the fifth and sixth byte */
    GRAM_RUN_MIN = 4,
    GRAM_WORDS_LOG_MAX = 17 /* 512 KiB */
};

#define GRAM_EMPTY UINT32_MAX /* a slot without entries */

/* Odd constants near fractions of 2^32 that share no pattern: multiplicative hashing. */
#define GRAM_HASH_FIRST 0x9E3779B1u
#define GRAM_HASH_LAST 0x85EBCA6Bu
#define GRAM_HASH_SLOT 0xC2B2AE35u

/* The entries of one key: they begin at `entry` and end with one that is marked last. */
struct gram_slot {
    uint32_t key;
    uint32_t entry; /* GRAM_EMPTY: none */
};

/* A window of a group of literals. 32 bytes. */
struct gram_entry {
    uint64_t bytes; /* the eight text bytes that begin `lead` before the window, coarsely folded, */
    uint64_t mask;  /* as far as they lie in the literal */
    uint32_t group;
    uint32_t folded; /* offset of the group's folded bytes among those of all, a multiple of 8 */
    uint16_t window; /* offset of the window in the literal */
    uint16_t len;    /* of the literal */
    uint16_t lead;
    uint16_t last; /* of its key's entries */
};

/* Entries by a folded byte: number b has begin[b] to begin[b + 1] - 1. */
struct gram_list {
    uint64_t entries; /* struct gram_entry; offset from the body's first byte */
    uint32_t begin[257];
    uint32_t pad;
};

/* The body of the block; offsets are bytes from its first byte. */
struct gram_table {
    uint32_t stride;
    uint32_t words_log; /* the filter has 1 << words_log words */
    uint32_t slots4_log;
    uint32_t slots3_log; /* 0: no window is as short as three bytes */
    uint64_t words;      /* uint32_t */
    uint64_t slots4;     /* struct gram_slot, by the window's first four bytes */
    uint64_t slots3;     /* struct gram_slot, by three: windows that have no fourth */
    uint64_t entries;
    uint64_t folded;
    struct gram_list tiny;     /* literals too short for windows, by their first byte */
    struct gram_list runs;     /* literals that are a run of one byte, the shortest first, */
    struct gram_list run_begin; /* and others with a run that begins at their window, */
    struct gram_list run_end;   /* or ends just before it */
    uint8_t tiny_first[256];    /* classes of a tiny literal's first byte, by the byte as it is, */
    uint8_t tiny_second[256];   /* and of its second: where both share a bit, one may begin */
    uint32_t n_tiny;
    uint32_t n_runs; /* of all three lists */
};

/* The same as pointers. */
struct gram_view {
    const uint32_t *words;
    const struct gram_slot *slots4;
    const struct gram_slot *slots3;
    const struct gram_entry *entries;
    const uint8_t *folded;
    const struct gram_table *body;
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    uint32_t words_log;
    uint32_t slots4_log;
    uint32_t slots3_log;
    uint32_t stride;
};

MPM_CORE struct gram_view gram_view(const struct sl_mpm_table *table)
{
    const struct gram_table *body = (const struct gram_table *)mpm_at(table, table->body);
    struct gram_view view;

    view.words = (const uint32_t *)mpm_at(body, body->words);
    view.slots4 = (const struct gram_slot *)mpm_at(body, body->slots4);
    view.slots3 = (const struct gram_slot *)mpm_at(body, body->slots3);
    view.entries = (const struct gram_entry *)mpm_at(body, body->entries);
    view.folded = (const uint8_t *)mpm_at(body, body->folded);
    view.body = body;
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.groups = (const uint32_t *)mpm_at(table, table->groups);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.words_log = body->words_log;
    view.slots4_log = body->slots4_log;
    view.slots3_log = body->slots3_log;
    view.stride = body->stride;
    return view;
}

/* ---- folding --------------------------------------------------------------------------------- */

/* Coarse folding, for filters only: bytes that are equal but for ASCII case stay equal, and some
 * others become equal too. Three operations for as many bytes as a word has. */
MPM_CORE uint32_t gram_fold4(uint32_t bytes)
{
    return bytes | (bytes >> 1 & 0x20202020u);
}

MPM_CORE uint64_t gram_fold8(uint64_t bytes)
{
    return bytes | (bytes >> 1 & UINT64_C(0x2020202020202020));
}

/* ASCII folding of eight bytes. A byte's lower seven bits plus 0x3F set its bit 7 from 'A' on, plus
 * 0x25 from behind 'Z' on; bytes from 0x80 on are no letters. */
MPM_CORE uint64_t gram_fold8_ascii(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low = bytes & (0x7F * ones);
    const uint64_t upper = (low + 0x3F * ones) & ~(low + 0x25 * ones) & ~bytes & (0x80 * ones);

    return bytes | upper >> 2;
}

MPM_CORE uint64_t gram_load8(const uint8_t *from)
{
    uint64_t bytes;

#ifdef __CUDA_ARCH__
    const uint32_t *word = (const uint32_t *)((uintptr_t)from & ~(uintptr_t)3);
    const uint32_t shift = (uint32_t)((uintptr_t)from & 3) * 8;
    const uint32_t low = __funnelshift_r(word[0], word[1], shift);
    const uint32_t high = __funnelshift_r(word[1], shift != 0 ? word[2] : 0, shift);

    bytes = (uint64_t)high << 32 | low;
#else
    memcpy(&bytes, from, 8);
#endif
    return bytes;
}

/* ---- filter ---------------------------------------------------------------------------------- */

/* Of a window: its word, and the three bits. `first` are bytes 0 to 3, coarsely folded and
 * little-endian; `rest` bytes 4 and on. */
MPM_CORE uint32_t gram_hash_first(uint32_t first)
{
    return (first << 8) * GRAM_HASH_FIRST;
}

MPM_CORE uint32_t gram_word_of(uint32_t hash, uint32_t words_log)
{
    return hash >> (32 - words_log);
}

MPM_CORE uint32_t gram_fourth_bit(uint32_t first)
{
    return first >> 24 & (GRAM_FIELD_BITS - 1);
}

MPM_CORE uint32_t gram_hash_bit(uint32_t hash, uint32_t words_log)
{
    return GRAM_FIELD_BITS + (hash >> (32 - 3 - words_log) & (GRAM_FIELD_BITS - 1));
}

/* Where bytes 0 to 3 are given, bytes 4 and 5 choose the bit alone: the sum loses nothing. */
MPM_CORE uint32_t gram_last_bit(uint32_t first, uint32_t rest)
{
    return GRAM_LAST_SHIFT + ((first ^ rest << 16) * GRAM_HASH_LAST >> 28);
}

/* 1 where a window of some literal may begin. */
MPM_CORE uint32_t gram_probe(const uint32_t *words, uint32_t words_log, uint32_t first,
                             uint32_t rest)
{
    const uint32_t hash = gram_hash_first(first);
    const uint32_t word = words[gram_word_of(hash, words_log)];

    return word >> gram_fourth_bit(first) & word >> gram_hash_bit(hash, words_log) &
           word >> gram_last_bit(first, rest) & 1;
}

/* ---- dictionary ------------------------------------------------------------------------------ */

MPM_CORE uint32_t gram_slot_of(uint32_t key, uint32_t slots_log)
{
    return (key ^ key >> 15) * GRAM_HASH_SLOT >> (32 - slots_log);
}

/* The first entry of a key, or GRAM_EMPTY. At most half of the slots are taken, so this ends. */
MPM_CORE uint32_t gram_find(const struct gram_slot *slots, uint32_t slots_log, uint32_t key)
{
    uint32_t at = gram_slot_of(key, slots_log);

    for (;;) {
        const struct gram_slot slot = slots[at];

        if (slot.entry == GRAM_EMPTY || slot.key == key)
            return slot.entry;
        at = (at + 1) & ((1u << slots_log) - 1);
    }
}

/* ---- verification ---------------------------------------------------------------------------- */

/* An item's payload. */
struct gram_text {
    const uint8_t *bytes;
    uint32_t len;
    uint32_t overlap; /* matches that end here or before are not wanted */
};

/* Whether the folded literal of an entry is in the text with its window at `at`. On success *end is
 * the byte behind it. */
MPM_CORE bool gram_entry_matches(const struct gram_view *view, const struct gram_entry *entry,
                                 const struct gram_text *text, uint32_t at, uint32_t *end)
{
    if (entry->window > at)
        return false;

    const uint64_t begin = at - entry->window;
    if (begin + entry->len > text->len || begin + entry->len <= text->overlap)
        return false;
    if (((gram_fold8(gram_load8(text->bytes + at - entry->lead)) ^ entry->bytes) & entry->mask) !=
        0)
        return false;

    const uint8_t *from = text->bytes + begin;
    const uint64_t *folded = (const uint64_t *)(view->folded + entry->folded);
    for (uint32_t i = 0; i < entry->len; i += 8) {
        const uint64_t differ = gram_fold8_ascii(gram_load8(from + i)) ^ folded[i / 8];
        const uint32_t left = entry->len - i;

        if (left >= 8 ? differ != 0 : differ << (64 - 8 * left) != 0)
            return false;
    }
    *end = (uint32_t)begin + entry->len;
    return true;
}

#endif
