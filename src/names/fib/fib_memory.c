/* SPDX-License-Identifier: MIT */
#include "fib_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE = 2 << 20, FORGET = 8 * HUGE /* bytes at once */ };

/* ---- plain areas ----------------------------------------------------------------------------- */

static size_t whole_pages(size_t len)
{
    const size_t page = len >= HUGE ? HUGE : 4096;

    return (len + page - 1) / page * page;
}

/* A huge page begins at a multiple of its length: the pages around it are given back. */
void *fib_memory_take(size_t len)
{
    if (len == 0 || len > SIZE_MAX / 2)
        return NULL;

    const size_t whole = whole_pages(len), extra = whole >= HUGE ? HUGE : 0;
    uint8_t *memory = (uint8_t *)mmap(NULL, whole + extra, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (extra == 0)
        return memory;

    const size_t before = (HUGE - (uintptr_t)memory % HUGE) % HUGE;
    if (before != 0)
        (void)munmap(memory, before);
    (void)munmap(memory + before + whole, extra - before);
    (void)madvise(memory + before, whole, MADV_HUGEPAGE);
    return memory + before;
}

void fib_memory_give(void *memory, size_t len)
{
    if (memory != NULL)
        (void)munmap(memory, whole_pages(len));
}

size_t fib_memory_forget(void *memory, size_t begin, size_t end)
{
    const size_t whole = end / FORGET * FORGET;

    if (whole == begin)
        return begin;
    (void)madvise((uint8_t *)memory + begin, whole - begin, MADV_DONTNEED);
    return whole;
}

void *fib_memory_resize(void *memory, size_t len, size_t new_len)
{
    if (memory == NULL)
        return fib_memory_take(new_len);
    if (whole_pages(len) == whole_pages(new_len))
        return memory;

    const size_t whole = whole_pages(len), new_whole = whole_pages(new_len);
    if (new_whole < whole && (new_whole < HUGE) == (whole < HUGE)) {
        (void)munmap((uint8_t *)memory + new_whole, whole - new_whole);
        return memory;
    }
    void *moved = fib_memory_take(new_len);
    if (moved == NULL)
        return NULL;
    /* Pages move, bytes do not. The memory stays one mapping, which can move again. */
    if (new_whole < whole ||
        mremap(memory, whole, new_whole, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
        memcpy(moved, memory, len < new_len ? len : new_len);
        fib_memory_give(memory, len);
    } else if (new_whole >= HUGE) {
        (void)madvise(moved, new_whole, MADV_HUGEPAGE);
    }
    return moved;
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool fib_waiting_reserve(struct fib_waiting *waiting, size_t n)
{
    size_t cap = waiting->cap != 0 ? waiting->cap : 64;

    if (waiting->n + n <= waiting->cap)
        return true;
    while (cap < waiting->n + n)
        cap *= 2;

    struct fib_retired *ring = (struct fib_retired *)malloc(cap * sizeof *ring);
    if (ring == NULL)
        return false;
    for (size_t i = 0; i < waiting->n; i++)
        ring[i] = waiting->ring[(waiting->begin + i) & (waiting->cap - 1)];
    free(waiting->ring);
    waiting->ring = ring;
    waiting->cap = cap;
    waiting->begin = 0;
    return true;
}

void fib_waiting_add(struct fib_waiting *waiting, const struct fib_retired *retired)
{
    waiting->ring[(waiting->begin + waiting->n++) & (waiting->cap - 1)] = *retired;
}

bool fib_waiting_take(struct fib_waiting *waiting, uint64_t oldest, struct fib_retired *retired)
{
    if (waiting->n == 0 || waiting->ring[waiting->begin].mark >= oldest)
        return false;
    *retired = waiting->ring[waiting->begin];
    waiting->begin = (waiting->begin + 1) & (waiting->cap - 1);
    waiting->n--;
    return true;
}

void fib_waiting_free(struct fib_waiting *waiting)
{
    free(waiting->ring);
    memset(waiting, 0, sizeof *waiting);
}

/* ---- arena ----------------------------------------------------------------------------------- */

enum { FIRST_LEN = 1 << 16 };                               /* bytes of a new arena */
static const size_t arena_len_max = sizeof(uint32_t) << 32; /* all that references reach */

static uint32_t lines_of(uint32_t n_words)
{
    return (n_words + FIB_LINE - 1) / FIB_LINE;
}

/* Lengths up to a line are counted in words, longer ones in lines. */
static uint32_t class_of(uint32_t n_words)
{
    return n_words <= FIB_LINE ? n_words : FIB_LINE - 1 + lines_of(n_words);
}

bool fib_arena_init(struct fib_arena *arena, uint32_t max_words)
{
    memset(arena, 0, sizeof *arena);
    arena->n_lengths = class_of(max_words) + 1;
    arena->n_words = FIB_LINE;
    arena->free_pieces = (struct fib_pieces *)calloc(arena->n_lengths, sizeof *arena->free_pieces);
    if (arena->free_pieces == NULL)
        return false;
    arena->words = (uint32_t *)fib_memory_take(FIRST_LEN);
    arena->len = FIRST_LEN;
    if (arena->words != NULL)
        return true;
    fib_arena_free(arena);
    return false;
}

void fib_arena_free(struct fib_arena *arena)
{
    for (uint32_t i = 0; arena->free_pieces != NULL && i < arena->n_lengths; i++)
        free(arena->free_pieces[i].at);
    free(arena->free_pieces);
    fib_memory_give(arena->words, arena->len);
    memset(arena, 0, sizeof *arena);
}

/* Bytes up to the end of n_lines more. Look-ups may read up to a line behind a piece. */
static size_t len_with(const struct fib_arena *arena, uint32_t n_lines)
{
    return (arena->n_words + ((size_t)n_lines + 1) * FIB_LINE) * sizeof(uint32_t);
}

bool fib_arena_fits(const struct fib_arena *arena, uint32_t n_words)
{
    return arena->free_pieces[class_of(n_words)].n != 0 ||
           len_with(arena, lines_of(n_words)) <= arena->len;
}

/* The length of an arena that grows for a piece; 0: references do not reach that far. */
static size_t grown_len(const struct fib_arena *arena, uint32_t n_words)
{
    const size_t least = len_with(arena, lines_of(n_words)), len = arena->len + arena->len / 2;

    if (least > arena_len_max)
        return 0;
    return len < least ? least : len < arena_len_max ? len : arena_len_max;
}

bool fib_arena_grow(struct fib_arena *arena, uint32_t n_words)
{
    const size_t len = grown_len(arena, n_words);
    uint32_t *words =
        len != 0 ? (uint32_t *)fib_memory_resize(arena->words, arena->len, len) : NULL;

    if (words == NULL)
        return false;
    arena->words = words;
    arena->len = len;
    return true;
}

bool fib_arena_replace(struct fib_arena *arena, uint32_t n_words, struct fib_retired *old)
{
    const size_t len = grown_len(arena, n_words);
    uint32_t *words = len != 0 ? (uint32_t *)fib_memory_take(len) : NULL;

    if (words == NULL)
        return false;
    memcpy(words, arena->words, arena->n_words * sizeof(uint32_t));
    *old = (struct fib_retired){.what = (uint64_t)(uintptr_t)arena->words, .len = arena->len};
    arena->words = words;
    arena->len = len;
    return true;
}

static bool remember(struct fib_pieces *pieces, uint32_t at)
{
    if (pieces->n == pieces->cap) {
        const size_t cap = pieces->cap != 0 ? pieces->cap * 2 : 64;
        uint32_t *grown = (uint32_t *)realloc(pieces->at, cap * sizeof *grown);

        if (grown == NULL)
            return false;
        pieces->at = grown;
        pieces->cap = cap;
    }
    pieces->at[pieces->n++] = at;
    return true;
}

static uint32_t take_lines(struct fib_arena *arena, uint32_t n_lines)
{
    const size_t at = arena->n_words;

    if (len_with(arena, n_lines) > arena->len)
        return 0;
    arena->n_words = at + (size_t)n_lines * FIB_LINE;
    return (uint32_t)at;
}

/* The shortest free piece that is long enough, else a new line; the rest stays free. */
static uint32_t take_words(struct fib_arena *arena, uint32_t n_words)
{
    uint32_t have = n_words;

    while (have <= FIB_LINE && arena->free_pieces[have].n == 0)
        have++;

    const uint32_t at = have <= FIB_LINE ? arena->free_pieces[have].at[--arena->free_pieces[have].n]
                                         : take_lines(arena, 1);
    if (have > FIB_LINE)
        have = FIB_LINE;
    if (at != 0 && have > n_words) /* forgotten where there is no memory to note it: lost room */
        (void)remember(&arena->free_pieces[have - n_words], at + n_words);
    return at;
}

uint32_t fib_arena_take(struct fib_arena *arena, uint32_t n_words)
{
    struct fib_pieces *same = &arena->free_pieces[class_of(n_words)];
    const uint32_t at = same->n != 0          ? same->at[--same->n]
                        : n_words <= FIB_LINE ? take_words(arena, n_words)
                                              : take_lines(arena, lines_of(n_words));

    if (at != 0)
        arena->n_used += n_words;
    return at;
}

void fib_arena_give(struct fib_arena *arena, uint32_t at, uint32_t n_words)
{
    arena->n_used -= n_words;
    (void)remember(&arena->free_pieces[class_of(n_words)], at);
}
