/* SPDX-License-Identifier: MIT */
/* Large memory, zeroed, in huge pages where the system gives them: look-ups miss the cache all the
 * time, and would miss the TLB beside it. And the arena of keys. */
#ifndef FIB_MEMORY_H
#define FIB_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fib_epoch.h"

/* NULL: there is none. free accepts NULL. */
void *fib_memory_take(size_t len);
void *fib_memory_resize(void *memory, size_t len, size_t new_len); /* as realloc; zeroed */
void fib_memory_give(void *memory, size_t len);

/* Frees the pages of the bytes before `end`: their content is lost, and the addresses are still to
 * be given back. `begin` is what the call before returned, or 0. Returns the bytes freed so far. */
size_t fib_memory_forget(void *memory, size_t begin, size_t end);

/* ---- what is taken out of a plane ------------------------------------------------------------ */

/* Things that wait for look-ups to end, first in first out. */
struct fib_retired {
    uint64_t mark;
    uint64_t what; /* the owner's: where it is */
    uint64_t len;  /* and how long */
};

struct fib_waiting {
    struct fib_retired *ring;
    size_t cap, begin, n; /* cap is a power of two */
};

/* Room for n more. */
bool fib_waiting_reserve(struct fib_waiting *waiting, size_t n);
void fib_waiting_add(struct fib_waiting *waiting, const struct fib_retired *retired);
bool fib_waiting_take(struct fib_waiting *waiting, uint64_t oldest, struct fib_retired *retired);
void fib_waiting_free(struct fib_waiting *waiting);

/* ---- arena ----------------------------------------------------------------------------------- */

/* Pieces of 4-byte words, which 32-bit references name. None of up to a cache line crosses one,
 * larger ones begin one: a key costs one miss. An arena that is full grows by half. */
enum { FIB_LINE = 16 }; /* words of a cache line */

struct fib_arena {
    uint32_t *words;
    size_t len;     /* bytes at `words` */
    size_t n_words; /* up to the first line never used; line 0 is never given */
    size_t n_used;  /* words in pieces */
    struct fib_pieces {
        uint32_t *at;
        size_t n, cap;
    } * free_pieces; /* of each length up to a line, and of each number of lines */
    uint32_t n_lengths;
};

/* Pieces up to max_words. */
bool fib_arena_init(struct fib_arena *arena, uint32_t max_words);
void fib_arena_free(struct fib_arena *arena);

/* Whether there is room for a piece. */
bool fib_arena_fits(const struct fib_arena *arena, uint32_t n_words);

/* Make room for a piece. The first is for an arena that nobody reads; its words may move. The
 * second copies the words, and *old is the memory to be given back once nobody reads it. False: no
 * memory, and nothing changed. */
bool fib_arena_grow(struct fib_arena *arena, uint32_t n_words);
bool fib_arena_replace(struct fib_arena *arena, uint32_t n_words, struct fib_retired *old);

/* A piece; 0: there is no room. */
uint32_t fib_arena_take(struct fib_arena *arena, uint32_t n_words);
void fib_arena_give(struct fib_arena *arena, uint32_t at, uint32_t n_words);

#endif
