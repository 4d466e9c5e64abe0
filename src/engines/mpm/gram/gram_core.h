/* SPDX-License-Identifier: MIT */
/* The gram matcher: the test of a filter at a position, and the verification of a survivor.
 * Compiled by C and by nvcc.
 *
 * Of each literal, rare windows of up to six bytes are taken, one for each residue of the stride.
 * So probing every stride-th position meets each occurrence exactly once. A window's first three
 * bytes choose a word of the filter. The byte before the window and its bytes 3 to 5 name one bit
 * each in the word's four bytes. All four bits must be clear. Where the literal does not reach to
 * such a byte, all bits that it may name are clear. So one look-up serves literals of all lengths.
 *
 * A survivor is looked up in a dictionary of windows, by seven bytes, five and four, as far as
 * there may be windows of that kind. An entry compares eight bytes around the window, then the
 * whole literal.
 *
 * Two kinds of literals go apart. Tiny ones have no room for windows. A window of one byte over and
 * over, with the same byte before it, would be met all along such runs in the text. A literal that
 * is not itself a run always has other windows: each that reaches over a change of bytes will do.
 * Those that are runs are looked for where runs of the text begin. */
#ifndef GRAM_CORE_H
#define GRAM_CORE_H

#include "engines/mpm/mpm_table.h"

enum {
    GRAM_WINDOW = 6,     /* bytes of text that a probe reads */
    GRAM_WINDOW_MIN = 3, /* bytes of a literal that a window must hold */
    GRAM_STRIDE_MAX = 2,
    GRAM_TINY_MAX = GRAM_WINDOW_MIN + GRAM_STRIDE_MAX - 2, /* bytes that have no room for windows */
    GRAM_WORDS_LOG_MAX = 17,                               /* 512 KiB */
    GRAM_SLOTS_LOG_MIN = 5,
    GRAM_SLOTS_LOG_MAX = 28,
    GRAM_PRESENT_LOG = 2, /* bits of a slot that say whether a key is there: 4 */
    GRAM_TINY_CLASSES = 8,
    GRAM_TINY_KEYS = 32,        /* of each class */
    GRAM_TINY_PRESENT_LOG = 14, /* bits that say whether a tiny literal is there: 2 KiB */
    GRAM_WALK_USUAL = 32 /* slots that the longest walk reads in sets that nobody contrived */
};

/* Kinds of windows, by the bytes of a dictionary's key. A key is the byte before the window, and as
 * many of the window's own as the literal surely has. Where the literal begins with the window, the
 * key is its first four. */
enum gram_kind {
    GRAM_KIND_7, /* -1 to 5 */
    GRAM_KIND_5, /* -1 to 3 */
    GRAM_KIND_4, /* -1 to 2 */
    GRAM_KIND_FIRST,
    GRAM_KINDS
};

#define GRAM_NONE UINT32_C(0x7FFFFFFF) /* no entry */
#define GRAM_MORE UINT32_C(0x80000000) /* keys that wanted this slot, or one before, lie behind */

/* Odd constants without pattern, for multiplicative hashing. */
#define GRAM_HASH_7 0x85EBCA6Bu
#define GRAM_HASH_5 0xCC9E2D51u
#define GRAM_HASH_FIRST 0x1B873593u
#define GRAM_HASH_SLOT 0xC2B2AE35u

/* The entries of one key: they begin at `entry` and end with one that is marked last. */
struct gram_slot {
    uint32_t key;
    uint32_t entry; /* or GRAM_NONE; and GRAM_MORE */
};

/* A window of a literal, or of a group of them. 32 bytes. */
struct gram_entry {
    uint64_t bytes;   /* the eight text bytes that begin `lead` before the window, */
    uint64_t mask;    /* as far as they lie in the literal */
    uint32_t match;   /* the literal's id; GRAM_ENTRY_GROUP: the group */
    uint32_t pattern; /* offset of all its bytes among those of all entries, a multiple of 8 */
    uint16_t window;  /* offset of the window in the literal */
    uint16_t len;     /* of the literal */
    uint16_t lead;
    uint8_t kind; /* enum gram_kind */
    uint8_t flags;
};

/* Flags of an entry. An entry whose case counts keeps its bytes, and any other is folded. */
enum {
    GRAM_ENTRY_LAST = 1,  /* of its key's */
    GRAM_ENTRY_EXACT = 2, /* case counts */
    GRAM_ENTRY_GROUP = 4, /* several literals, equal when folded */
    GRAM_ENTRY_DEAR = 8   /* the automaton has it too; later entries of its key have this flag */
};

/* Entries by a key of eight bits: number k has begin[k] to begin[k + 1] - 1. */
struct gram_list {
    uint64_t entries; /* struct gram_entry; offset from the body's first byte */
    uint32_t begin[257];
    uint32_t pad; /* 0: blocks are compared and checked byte by byte */
};

/* The body of the block; offsets are bytes from its first byte. */
struct gram_table {
    uint32_t stride;
    uint32_t words_log;  /* the filter has 1 << words_log words */
    uint32_t multiplier; /* of the filter's hash: odd */
    uint32_t slots_log;
    uint32_t n_in_runs; /* groups whose windows lie inside a run after all */
    uint32_t n_entries; /* of all; those of the dictionary are first */
    uint32_t n_in_dictionary;
    uint32_t walk_max;     /* the most slots that one look-up reads */
    uint64_t patterns_len; /* bytes */
    uint64_t words;        /* uint32_t */
    uint64_t slots;        /* struct gram_slot, 1 << slots_log */
    uint64_t present;      /* uint32_t: 1 << (slots_log + GRAM_PRESENT_LOG) bits */
    uint64_t entries;
    uint64_t patterns;
    struct gram_list tiny; /* literals too short for windows, by gram_tiny_key */
    struct gram_list runs; /* literals that are a run of one byte, by it, the shortest first */
    /* Classes of tiny literals, by their first byte as it is, their second and their third. Where
     * three bytes share a bit, a literal of that class may begin. */
    uint8_t tiny_classes[GRAM_TINY_MAX][256];
    /* Classes by the halves of a byte that is coarsely folded, for vectors of 16 entries. Where
     * both halves have a class, more bytes pass. */
    uint8_t tiny_low[GRAM_TINY_MAX][16];
    uint8_t tiny_high[GRAM_TINY_MAX][16];
    uint8_t tiny_at[GRAM_TINY_CLASSES]; /* the byte of a class's literals that makes their key */
    uint8_t run_min[256];               /* the shortest run of this byte to be searched, 0: none */
    uint32_t tiny_present[(1 << GRAM_TINY_PRESENT_LOG) / 32];
    uint32_t n_tiny;
    uint32_t n_runs;
    uint64_t sieve;     /* struct gram_sieve_table, for GPUs; 0: the table was built for CPUs */
    uint64_t automaton; /* struct ac_table of the literals whose verification may be expensive, for
                           texts that make it so */
    uint32_t n_cheap;   /* entries of the dictionary that are not */
    uint32_t pad;
};

/* The same as pointers. */
struct gram_view {
    const uint32_t *words;
    const struct gram_slot *slots;
    const uint32_t *present;
    const struct gram_entry *entries;
    const uint8_t *patterns;
    const struct gram_table *body;
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    uint32_t words_log;
    uint32_t multiplier;
    uint32_t slots_log;
    uint32_t stride;
};

MPM_CORE struct gram_view gram_view(const struct sl_mpm_table *table)
{
    const struct gram_table *body = (const struct gram_table *)mpm_at(table, table->body);
    struct gram_view view;

    view.words = (const uint32_t *)mpm_at(body, body->words);
    view.slots = (const struct gram_slot *)mpm_at(body, body->slots);
    view.present = (const uint32_t *)mpm_at(body, body->present);
    view.entries = (const struct gram_entry *)mpm_at(body, body->entries);
    view.patterns = (const uint8_t *)mpm_at(body, body->patterns);
    view.body = body;
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.groups = (const uint32_t *)mpm_at(table, table->groups);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.words_log = body->words_log;
    view.multiplier = body->multiplier;
    view.slots_log = body->slots_log;
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

/* ASCII folding of eight bytes. A byte's lower seven bits plus 0x3F set its bit 7 from 'A' on, and
 * plus 0x25 from behind 'Z' on. Bytes from 0x80 on are no letters. */
MPM_CORE uint64_t gram_fold8_ascii(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low = bytes & (0x7F * ones);
    const uint64_t upper = (low + 0x3F * ones) & ~(low + 0x25 * ones) & ~bytes & (0x80 * ones);

    return bytes | upper >> 2;
}

/* Folds bytes whose case may count. Whether it counts is unpredictable, so no branch depends on
 * it. */
MPM_CORE uint64_t gram_fold8_unless(bool exact, uint64_t bytes)
{
    return bytes | ((gram_fold8_ascii(bytes) ^ bytes) & ((uint64_t)exact - 1));
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

/* The word of a window, by its bytes 0 to 2; `first` are bytes 0 to 3, coarsely folded and
 * little-endian. */
MPM_CORE uint32_t gram_word_of(uint32_t first, uint32_t multiplier, uint32_t words_log)
{
    return (first << 8) * multiplier >> (32 - words_log);
}

/* The number of the bit that each byte names. Its upper bits count too, as binary formats are full
 * of powers of two. */
MPM_CORE uint32_t gram_names_of(uint32_t bytes)
{
    return (bytes ^ bytes >> 3) & 0x07070707u;
}

/* The bits of a word that a window needs clear; `before` is the byte before it, `rest` are bytes 4
 * and on. */
MPM_CORE uint32_t gram_bits_of(uint32_t before, uint32_t first, uint32_t rest)
{
    const uint32_t names = gram_names_of((before & 0xFF) | (first >> 16 & 0xFF00) | rest << 16);

    return UINT32_C(1) << (names & 7) | UINT32_C(0x100) << (names >> 8 & 7) |
           UINT32_C(0x10000) << (names >> 16 & 7) | UINT32_C(0x1000000) << (names >> 24);
}

/* The kind of a window at this offset of its literal, which has `known` of the window's bytes. */
MPM_CORE enum gram_kind gram_kind_of(uint32_t window, uint32_t known)
{
    if (window == 0)
        return GRAM_KIND_FIRST;
    return known < 4 ? GRAM_KIND_4 : known < GRAM_WINDOW ? GRAM_KIND_5 : GRAM_KIND_7;
}

/* The bits of a word that windows of a kind do not name. Such a window clears all of them. */
MPM_CORE uint32_t gram_unnamed(enum gram_kind kind)
{
    switch (kind) {
    case GRAM_KIND_7:
        return 0;
    case GRAM_KIND_5:
        return 0xFF000000;
    case GRAM_KIND_4:
        return 0xFFFFFF00;
    default:
        return 0xFFFF00FF;
    }
}

/* Whether the six bytes of a window and the one before it are equal. */
MPM_CORE bool gram_in_run(uint32_t before, uint64_t bytes)
{
    return ((bytes ^ bytes >> 8) & UINT64_C(0xFFFFFFFFFF)) == 0 && ((before ^ bytes) & 0xFF) == 0;
}

/* Whether a window of some literal may begin. */
MPM_CORE bool gram_probe(const struct gram_view *view, uint32_t before, uint32_t first,
                         uint32_t rest)
{
    const uint32_t word = view->words[gram_word_of(first, view->multiplier, view->words_log)];

    return (word & gram_bits_of(before, first, rest)) == 0;
}

/* ---- tiny literals --------------------------------------------------------------------------- */

/* The classes of tiny literals that may begin here. */
MPM_CORE uint32_t gram_tiny_classes(const struct gram_table *body, const uint8_t *text)
{
    return (uint32_t)body->tiny_classes[0][text[0]] & body->tiny_classes[1][text[1]] &
           body->tiny_classes[2][text[2]];
}

/* The bit of a tiny literal, by its len bytes, folded and little-endian. */
MPM_CORE uint32_t gram_tiny_bit(uint32_t bytes, uint32_t len)
{
    return ((bytes & ((UINT32_C(1) << 8 * len) - 1)) + len) * GRAM_HASH_SLOT >>
           (32 - GRAM_TINY_PRESENT_LOG);
}

/* Whether a tiny literal may begin here. Most classes pass for the bytes of several literals. */
MPM_CORE bool gram_may_be_tiny(const struct gram_table *body, const uint8_t *text)
{
    const uint32_t bytes = (uint32_t)gram_fold8_ascii(gram_load8(text));
    uint32_t found = 0;

    for (uint32_t len = 1; len <= GRAM_TINY_MAX; len++) {
        const uint32_t bit = gram_tiny_bit(bytes, len);

        found |= body->tiny_present[bit / 32] >> bit % 32;
    }
    return (found & 1) != 0;
}

/* `byte` is the one that the class takes, folded. */
MPM_CORE uint32_t gram_tiny_key(uint32_t class_number, uint8_t byte)
{
    return class_number * GRAM_TINY_KEYS + ((byte ^ byte >> 5) & (GRAM_TINY_KEYS - 1));
}

/* The key of the first of these classes. */
MPM_CORE uint32_t gram_tiny_first_key(const struct gram_table *body, uint32_t classes,
                                      const uint8_t *text)
{
#ifdef __CUDA_ARCH__
    const uint32_t first = (uint32_t)__ffs((int)classes) - 1;
#else
    const uint32_t first = (uint32_t)__builtin_ctz(classes);
#endif

    return gram_tiny_key(first, mpm_fold(text[body->tiny_at[first]]));
}

/* ---- dictionary ------------------------------------------------------------------------------ */

/* Different windows may have equal keys, so an entry compares bytes. Keys of different kinds differ
 * where the windows' bytes are the same, as those of fillers and words are. */
MPM_CORE uint32_t gram_key(enum gram_kind kind, uint32_t before, uint32_t first, uint32_t rest)
{
    const uint32_t from_before = first << 8 | (before & 0xFF);
    const uint32_t third = first >> 24;

    switch (kind) {
    case GRAM_KIND_7:
        return from_before ^ ((third | (rest & 0xFFFF) << 8) + 1) * GRAM_HASH_7;
    case GRAM_KIND_5:
        return from_before ^ (third + 1) * GRAM_HASH_5;
    case GRAM_KIND_4:
        return from_before;
    default:
        return first ^ GRAM_HASH_FIRST;
    }
}

MPM_CORE uint32_t gram_slot_of(uint32_t key, uint32_t slots_log)
{
    return (key ^ key >> 15) * GRAM_HASH_SLOT >> (32 - slots_log);
}

/* Whether a key may be in the dictionary. Most keys of a lookup are not, and the bits that show it
 * lie in a nearer cache than the slots. */
MPM_CORE bool gram_may_have(const uint32_t *present, uint32_t slots_log, uint32_t key)
{
    const uint32_t bit = gram_slot_of(key, slots_log + GRAM_PRESENT_LOG);

    return (present[bit / 32] >> bit % 32 & 1) != 0;
}

/* The first entry of a key, or GRAM_NONE. */
MPM_CORE uint32_t gram_find(const struct gram_slot *slots, uint32_t slots_log, uint32_t key)
{
    uint32_t at = gram_slot_of(key, slots_log);

    for (;;) {
        const struct gram_slot slot = slots[at];

        if (slot.key == key)
            return slot.entry & GRAM_NONE;
        if ((slot.entry & GRAM_MORE) == 0)
            return GRAM_NONE;
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

/* Whether eight bytes of text are those of an entry, where the mask is set. */
MPM_CORE bool gram_bytes_match(const struct gram_entry *entry, uint64_t text, uint64_t bytes,
                               uint64_t mask)
{
    const bool exact = (entry->flags & GRAM_ENTRY_EXACT) != 0;

    return ((gram_fold8_unless(exact, text) ^ bytes) & mask) == 0;
}

/* Whether an entry's literal would lie in the text, with its window at `at`, and be wanted. *end is
 * the byte behind it. */
MPM_CORE bool gram_entry_lies_in(const struct gram_entry *entry, const struct gram_text *text,
                                 uint32_t at, uint32_t *end)
{
    const uint64_t behind = (uint64_t)at - entry->window + entry->len;

    *end = (uint32_t)behind;
    return entry->window <= at && behind <= text->len && behind > text->overlap;
}

/* Whether it does and eight bytes match. */
MPM_CORE bool gram_entry_fits(const struct gram_entry *entry, const struct gram_text *text,
                              uint32_t at, uint32_t *end)
{
    return gram_entry_lies_in(entry, text, at, end) &&
           gram_bytes_match(entry, gram_load8(text->bytes + at - entry->lead), entry->bytes,
                            entry->mask);
}

/* Whether all of it is there: `from` is the text that it would begin at. */
MPM_CORE bool gram_entry_is_whole(const struct gram_view *view, const struct gram_entry *entry,
                                  const uint8_t *from)
{
    const uint64_t *pattern = (const uint64_t *)(view->patterns + entry->pattern);
    uint32_t i = 0;

    if (entry->len <= 8)
        return true;
    for (; i + 8 <= entry->len; i += 8)
        if (!gram_bytes_match(entry, gram_load8(from + i), pattern[i / 8], UINT64_MAX))
            return false;
    return i == entry->len || gram_bytes_match(entry, gram_load8(from + i), pattern[i / 8],
                                               UINT64_MAX >> (64 - 8 * (entry->len - i)));
}

#endif
