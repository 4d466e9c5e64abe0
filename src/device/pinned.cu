/* SPDX-License-Identifier: MIT */
/* Host memory that GPUs read directly. After a lost GPU the process can pin no more memory.
 * Ordinary memory then takes its place, and the run goes on, slower. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device/cuda_internal.h"
#include "device/wait.h"

/* Bytes. Regions lie in pages of 2 MiB: few pages are zeroed and pinned. Small blocks share a
 * region: pinning a small block takes as long as a megabyte, and other threads wait meanwhile. */
enum { PAGE_LEN = 2 << 20, SHARED_LEN = 16 << 20, SMALL_MAX = 4 << 20, BLOCK_ALIGN = 256 };

/* Memory that is not CUDA's own. */
struct region {
    struct region *next;
    uint8_t *memory;
    size_t len, used;  /* bytes */
    uint32_t n_blocks; /* in use */
    bool pinned;       /* false: ordinary memory */
};

static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static struct region *shared; /* of these, the one that small blocks are taken of; or NULL */

/* ---- regions: all with the lock held --------------------------------------------------------- */

static struct region *add_region(void *memory, size_t len, bool pinned)
{
    struct region *region = (struct region *)malloc(sizeof *region);

    if (region != NULL) {
        *region = (struct region){regions, (uint8_t *)memory, len, 0, 0, pinned};
        regions = region;
    }
    return region;
}

/* NULL: the region has no room, or there is none. */
static void *take_block(struct region *region, size_t len)
{
    const size_t aligned = (len + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);

    if (region == NULL || aligned > region->len - region->used)
        return NULL;
    region->used += aligned;
    region->n_blocks++;
    return region->memory + region->used - aligned;
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
    shared = shared == region ? NULL : shared;
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
        block = take_block(add_region(memory, len + BLOCK_ALIGN, false), len);
    pthread_mutex_unlock(&regions_lock);
    if (block == NULL)
        free(memory);
    return block;
}

/* Maps zeroed pages, present before CUDA locks the process to pin them. NULL: there are none. */
static void *map_pages(size_t len)
{
    uint8_t *map = (uint8_t *)mmap(NULL, len + PAGE_LEN, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)map % PAGE_LEN;
    if (before != 0)
        (void)munmap(map, before);
    (void)munmap(map + before + len, PAGE_LEN - before);
    (void)madvise(map + before, len, MADV_HUGEPAGE); /* small pages do as well */
    (void)madvise(map + before, len, MADV_POPULATE_WRITE);
    return map + before;
}

/* NULL: the system pins no more, or not such memory. */
static void *pin_pages(size_t len)
{
    void *memory = map_pages(len);

    if (memory == NULL || cudaHostRegister(memory, len, cudaHostRegisterPortable) == cudaSuccess)
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

/* Several threads pin at once. */
static void *take_large(size_t len)
{
    const size_t pages_len = (len + PAGE_LEN - 1) & ~(size_t)(PAGE_LEN - 1);
    void *memory = pin_pages(pages_len), *block = NULL;

    pthread_mutex_lock(&regions_lock);
    if (memory != NULL)
        block = take_block(add_region(memory, pages_len, true), len);
    pthread_mutex_unlock(&regions_lock);
    if (memory != NULL && block == NULL)
        unpin_pages(memory, pages_len);
    return block;
}

/* With the lock held. Where nothing can be pinned the shared region stays. */
static void pin_shared(void)
{
    void *memory = pin_pages(SHARED_LEN);
    struct region *region = memory != NULL ? add_region(memory, SHARED_LEN, true) : NULL;

    if (region != NULL)
        shared = region;
    else if (memory != NULL)
        unpin_pages(memory, SHARED_LEN);
}

static void *take_small(size_t len)
{
    pthread_mutex_lock(&regions_lock);
    void *block = take_block(shared, len);
    if (block == NULL) {
        pin_shared();
        block = take_block(shared, len);
    }
    pthread_mutex_unlock(&regions_lock);
    return block;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void *device_pinned_alloc(size_t len)
{
    void *memory = len <= SMALL_MAX ? take_small(len) : take_large(len);

    if (memory != NULL)
        return memory;
    const cudaError_t error = cudaHostAlloc(&memory, len, cudaHostAllocPortable);
    if (error == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    return error != cudaErrorMemoryAllocation && is_lost() ? take_ordinary(len) : NULL;
}

static void free_region(struct region *region)
{
    if (region->pinned)
        unpin_pages(region->memory, region->len);
    else
        free(region->memory);
    free(region);
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
