/* SPDX-License-Identifier: MIT */
/* Host memory that GPUs read directly. After a lost GPU the process can pin no more memory.
 * Ordinary memory then takes its place, and the run goes on, slower. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device/cuda_internal.h"
#include "device/wait.h"

/* An allocation that is not CUDA's own. */
struct block {
    struct block *next;
    void *memory;
    size_t pages_len; /* bytes that were mapped and registered; 0: ordinary memory */
};

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;

static void note_block(struct block *block, void *memory, size_t pages_len)
{
    block->memory = memory;
    block->pages_len = pages_len;
    pthread_mutex_lock(&blocks_lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&blocks_lock);
}

/* Removes a block from the list for the caller to free. NULL: the memory is CUDA's own. */
static struct block *forget_block(const void *memory)
{
    pthread_mutex_lock(&blocks_lock);
    struct block **link = &blocks;
    while (*link != NULL && (*link)->memory != memory)
        link = &(*link)->next;
    struct block *found = *link;
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&blocks_lock);
    return found;
}

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
    struct block *block = (struct block *)malloc(sizeof *block);
    void *memory = malloc(len);

    if (block == NULL || memory == NULL) {
        free(block);
        free(memory);
        return NULL;
    }
    note_block(block, memory, 0);
    return memory;
}

/* Large blocks lie in pages of 2 MiB: few pages are zeroed and pinned. */
enum { PAGE_LEN = 2 << 20 };

static size_t pages_len(size_t len)
{
    return (len + PAGE_LEN - 1) & ~(size_t)(PAGE_LEN - 1);
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

static void *take_pages(size_t len)
{
    struct block *block = (struct block *)malloc(sizeof *block);
    void *memory = block != NULL ? map_pages(len) : NULL;

    if (memory != NULL && cudaHostRegister(memory, len, cudaHostRegisterPortable) == cudaSuccess) {
        note_block(block, memory, len);
        return memory;
    }
    if (memory != NULL) {
        (void)cudaGetLastError();
        (void)munmap(memory, len);
    }
    free(block);
    return NULL;
}

void *device_pinned_alloc(size_t len)
{
    void *memory = len >= PAGE_LEN / 2 ? take_pages(pages_len(len)) : NULL;

    if (memory != NULL)
        return memory;
    const cudaError_t error = cudaHostAlloc(&memory, len, cudaHostAllocPortable);
    if (error == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    return error != cudaErrorMemoryAllocation && is_lost() ? take_ordinary(len) : NULL;
}

void device_pinned_free(void *memory)
{
    struct block *block = forget_block(memory);

    if (block == NULL)
        cuda_free_host(memory);
    else if (block->pages_len == 0)
        free(memory);
    else if (!device_any_hung() && cudaHostUnregister(memory) == cudaSuccess)
        (void)munmap(memory, block->pages_len);
    free(block);
}
