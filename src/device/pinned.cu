/* SPDX-License-Identifier: MIT */
/* Host memory that GPUs read directly. After a lost GPU the process can pin no more memory.
 * Ordinary memory then takes its place, and the run goes on, slower. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device/cuda_internal.h"
#include "device/wait.h"

/* Bytes. Regions lie in pages of 2 MiB: few pages are zeroed and pinned. Small blocks share a
 * region: pinning a small block takes as long as a megabyte. */
enum {
    SMALL_PAGE_LEN = 4096,
    PAGE_LEN = 2 << 20,
    SHARED_LEN = 16 << 20,
    SMALL_MAX = 4 << 20,
    BLOCK_ALIGN = 256
};

/* ORDINARY: from malloc, after a GPU was lost. MAPPED: pages that are not pinned yet. */
enum state { PINNED, MAPPED, ORDINARY };

/* Memory that is not CUDA's own. */
struct region {
    struct region *next;
    uint8_t *memory;
    size_t len, used;  /* bytes */
    uint32_t n_blocks; /* in use */
    enum state state;
    bool prepared; /* for blocks of any length */
};

static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;

/* ---- regions: all with the lock held --------------------------------------------------------- */

static struct region *add_region(void *memory, size_t len, enum state state)
{
    struct region *region = (struct region *)malloc(sizeof *region);

    if (region != NULL) {
        *region = (struct region){regions, (uint8_t *)memory, len, 0, 0, state, false};
        regions = region;
    }
    return region;
}

/* NULL: the region has no room. */
static void *take_block(struct region *region, size_t len)
{
    const size_t aligned = (len + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);

    if (aligned > region->len - region->used)
        return NULL;
    region->used += aligned;
    region->n_blocks++;
    return region->memory + region->used - aligned;
}

/* NULL: no region that was prepared, or is for small blocks, has room for it. */
static void *share_block(size_t len)
{
    void *block = NULL;

    for (struct region *region = regions; region != NULL && block == NULL; region = region->next)
        if (region->prepared ||
            (region->state == PINNED && region->len == SHARED_LEN && len <= SMALL_MAX))
            block = take_block(region, len);
    return block;
}

/* A block in a region of such memory. NULL: there is no memory to list it. */
static void *take_first(void *memory, size_t region_len, enum state state, size_t len)
{
    struct region *region = add_region(memory, region_len, state);

    return region != NULL ? take_block(region, len) : NULL;
}

static struct region **find_region(const void *memory)
{
    const uint8_t *const at = (const uint8_t *)memory;
    struct region **link = &regions;

    while (*link != NULL && !(at >= (*link)->memory && at < (*link)->memory + (*link)->len))
        link = &(*link)->next;
    return link;
}

/* Returns a block to its region. One without blocks leaves the list, for the caller to free. */
static struct region *return_block(struct region **link)
{
    struct region *region = *link;

    if (--region->n_blocks != 0)
        return NULL;
    *link = region->next;
    return region;
}

/* ---- memory of each kind --------------------------------------------------------------------- */

/* Whether CUDA worked in this process and does not on this thread's device any more. */
static bool is_lost(void)
{
    char why[SL_WHY_LEN];
    const bool lost = device_cuda_usable(why) && cudaFree(NULL) != cudaSuccess;

    (void)cudaGetLastError();
    return lost;
}

static void *take_ordinary(size_t len)
{
    void *memory = malloc(len + BLOCK_ALIGN), *block = NULL;

    pthread_mutex_lock(&regions_lock);
    if (memory != NULL)
        block = take_first(memory, len + BLOCK_ALIGN, ORDINARY, len);
    pthread_mutex_unlock(&regions_lock);
    if (block == NULL)
        free(memory);
    return block;
}

static size_t whole_pages(size_t len)
{
    return (len + PAGE_LEN - 1) & ~(size_t)(PAGE_LEN - 1);
}

/* Zeros, aligned to PAGE_LEN; NULL: there are none. */
static uint8_t *map_pages(size_t len)
{
    uint8_t *map = (uint8_t *)mmap(NULL, len + PAGE_LEN, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)map % PAGE_LEN;
    if (before != 0)
        (void)munmap(map, before);
    (void)munmap(map + before + len, PAGE_LEN - before);
    return map + before;
}

/* NULL: the system pins no more, or not such memory. The pages are present before CUDA locks the
 * process: writes make them, on several threads at a time. */
static void *pin_pages(size_t len)
{
    uint8_t *memory = map_pages(len);

    if (memory == NULL)
        return NULL;
    (void)madvise(memory, len, MADV_HUGEPAGE); /* small pages do as well */
    for (size_t at = 0; at < len; at += SMALL_PAGE_LEN)
        *(volatile uint8_t *)(memory + at) = 0;
    if (cudaHostRegister(memory, len, cudaHostRegisterPortable) == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    (void)munmap(memory, len);
    return NULL;
}

static void unpin_pages(void *memory, size_t len)
{
    if (!device_any_hung() && cudaHostUnregister(memory) == cudaSuccess)
        (void)munmap(memory, len);
}

/* Several threads pin at once, small blocks too: each leaves room for the next ones. */
static void *take_pinned(size_t len)
{
    const size_t pages_len = len <= SMALL_MAX ? (size_t)SHARED_LEN : whole_pages(len);

    pthread_mutex_lock(&regions_lock);
    void *block = share_block(len);
    pthread_mutex_unlock(&regions_lock);
    if (block != NULL)
        return block;

    void *memory = pin_pages(pages_len);

    pthread_mutex_lock(&regions_lock);
    if (memory != NULL)
        block = take_first(memory, pages_len, PINNED, len);
    pthread_mutex_unlock(&regions_lock);
    if (memory != NULL && block == NULL)
        unpin_pages(memory, pages_len);
    return block;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void *device_pinned_alloc(size_t len)
{
    void *memory = take_pinned(len);

    if (memory != NULL)
        return memory;
    const cudaError_t error = cudaHostAlloc(&memory, len, cudaHostAllocPortable);
    if (error == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    return error != cudaErrorMemoryAllocation && is_lost() ? take_ordinary(len) : NULL;
}

bool device_pinned_prepare(size_t len)
{
    const size_t pages_len = whole_pages(len);
    void *memory = pin_pages(pages_len);

    pthread_mutex_lock(&regions_lock);
    struct region *region = memory != NULL ? add_region(memory, pages_len, PINNED) : NULL;
    if (region != NULL)
        region->prepared = true;
    pthread_mutex_unlock(&regions_lock);
    if (memory != NULL && region == NULL)
        unpin_pages(memory, pages_len);
    return region != NULL;
}

void *device_pinned_reserve(size_t len)
{
    void *memory = map_pages(whole_pages(len)), *block = NULL;

    pthread_mutex_lock(&regions_lock);
    if (memory != NULL)
        block = take_first(memory, whole_pages(len), MAPPED, len);
    pthread_mutex_unlock(&regions_lock);
    if (memory != NULL && block == NULL)
        (void)munmap(memory, whole_pages(len));
    return block;
}

void device_pin(const void *reserved)
{
    pthread_mutex_lock(&regions_lock);
    struct region *region = *find_region(reserved);
    pthread_mutex_unlock(&regions_lock);

    if (region == NULL || region->state != MAPPED)
        return;
    if (cudaHostRegister(region->memory, region->len, cudaHostRegisterPortable) == cudaSuccess)
        region->state = PINNED;
    else
        (void)cudaGetLastError();
}

static void free_region(struct region *region)
{
    if (region->state == PINNED)
        unpin_pages(region->memory, region->len);
    else if (region->state == MAPPED)
        (void)munmap(region->memory, region->len);
    else
        free(region->memory);
    free(region);
}

/* Takes a region without blocks off the list; NULL: there is none. */
static struct region *take_empty(void)
{
    struct region **link = &regions;

    while (*link != NULL && (*link)->n_blocks != 0)
        link = &(*link)->next;

    struct region *empty = *link;

    if (empty != NULL)
        *link = empty->next;
    return empty;
}

void device_pinned_trim(void)
{
    for (struct region *empty;;) {
        pthread_mutex_lock(&regions_lock);
        empty = take_empty();
        pthread_mutex_unlock(&regions_lock);
        if (empty == NULL)
            return;
        free_region(empty);
    }
}

void device_pinned_free(void *memory)
{
    pthread_mutex_lock(&regions_lock);
    struct region **link = find_region(memory);
    const bool is_ours = *link != NULL;
    struct region *empty = is_ours ? return_block(link) : NULL;
    pthread_mutex_unlock(&regions_lock);

    if (empty != NULL)
        free_region(empty);
    else if (!is_ours)
        cuda_free_host(memory);
}
