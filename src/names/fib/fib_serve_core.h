/* SPDX-License-Identifier: MIT */
/* Look-ups without calls of the driver: how batches come to a kernel that stays on the GPU, and
 * answers back. Compiled by C and by nvcc.
 *
 * A context has a slot in memory that both sides read. The host writes jobs into it, and a crew of
 * blocks serves it. The crew's first block, its leader, alone reads the slot, which lies across the
 * link. It copies the job into the GPU's memory for the others. The last block that ends marks the
 * job as done. So the whole crew serves each job, and all its blocks have the same state.
 *
 * A job is five words, and each holds the job's number. A reader that finds the same new number in
 * all of them has the whole job by one read of a line, whatever their order of arrival.
 *
 * A kernel is one *generation*. It stays for a slice of time or until it is called off. Jobs that
 * come meanwhile are the next generation's, so that no wait depends on a kernel without end. */
#ifndef FIB_SERVE_CORE_H
#define FIB_SERVE_CORE_H

#include "fib_tile.h"

enum {
    SERVE_SLOTS = 128,
    SERVE_LINE = 128,
    SERVE_BYTES = 0, /* the words: addresses of struct fib_items, */
    SERVE_PAYLOAD,
    SERVE_NEXT_HOP,
    SERVE_PREFIX_LEN,
    SERVE_N,     /* and in its low half n, in the high one the job's number once more */
    SERVE_LEAVE, /* behind them: the crew shall leave. In a slot it has no number */
    SERVE_WORDS
};

/* A word's low 16 bits are the number; addresses have 48 bits. */
enum { SERVE_SHIFT = 16 };

/* In the host's memory, a line for each side. */
struct serve_slot {
    uint64_t word[SERVE_WORDS]; /* the host's */
    uint8_t apart[SERVE_LINE - SERVE_WORDS * sizeof(uint64_t)];
    uint32_t done; /* the crew's: the number of the latest job that was served */
    uint8_t behind[SERVE_LINE - sizeof(uint32_t)];
};

struct serve_host {
    struct serve_slot slot[SERVE_SLOTS];
    uint32_t ended; /* the latest generation that has ended */
};

/* In the GPU's memory. All zero when a generation begins. */
struct serve_crew {
    uint64_t word[SERVE_WORDS]; /* the leader's nth copy has n for its number */
    uint32_t n_done;            /* of the crew, with this job */
};

struct serve_device {
    struct serve_crew crew[SERVE_SLOTS];
    uint32_t n_gone; /* blocks that have left */
};

/* ---- words that two sides share -------------------------------------------------------------- */

/* The host's, from both sides. */
FIB_CORE uint32_t serve_load(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
    uint32_t value;

    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

FIB_CORE void serve_store(uint32_t *at, uint32_t value)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

/* The GPU's own. */
FIB_CORE uint32_t serve_load_near(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
    uint32_t value;

    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

FIB_CORE void serve_store_near(uint32_t *at, uint32_t value)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

/* Counts one block more, and returns whether all have come. The last one sees what the others wrote
 * before, and so does a thread that sees what the last one stores. */
FIB_CORE bool serve_count(uint32_t *at, uint32_t all)
{
#ifdef __CUDA_ARCH__
    uint32_t before;

    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(at)
                 : "memory");
    return before + 1 == all;
#else
    return __atomic_add_fetch(at, 1, __ATOMIC_ACQ_REL) == all;
#endif
}

/* Reads all words of a slot or a crew. On a GPU a warp calls this: each lane reads a word, and all
 * lanes get all words. A fence must follow before the job's memory is read. */
FIB_CORE void serve_read(uint64_t words[SERVE_WORDS], const uint64_t *from)
{
#ifdef __CUDA_ARCH__
    const uint32_t lane = threadIdx.x % 32;
    unsigned long long mine = 0;

    if (lane < SERVE_WORDS)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
                     : "=l"(mine)
                     : "l"(from + lane)
                     : "memory");
    for (int i = 0; i < SERVE_WORDS; i++)
        words[i] = __shfl_sync(0xFFFFFFFFu, mine, i);
#else
    for (int i = 0; i < SERVE_WORDS; i++)
        words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
#endif
}

FIB_CORE void serve_fence(void)
{
#ifdef __CUDA_ARCH__
    __threadfence_system();
    __syncwarp();
#endif
}

FIB_CORE void serve_fence_near(void)
{
#ifdef __CUDA_ARCH__
    __threadfence();
    __syncwarp();
#endif
}

FIB_CORE void serve_write(uint64_t *to, uint64_t word)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
#else
    __atomic_store_n(to, word, __ATOMIC_RELEASE);
#endif
}

FIB_CORE bool serve_leads_warp(void)
{
#ifdef __CUDA_ARCH__
    return threadIdx.x % 32 == 0;
#else
    return true;
#endif
}

/* ---- jobs ------------------------------------------------------------------------------------ */

FIB_CORE uint16_t serve_number(uint64_t word)
{
    return (uint16_t)word;
}

FIB_CORE uint64_t serve_numbered(uint64_t word, uint16_t number)
{
    return word >> SERVE_SHIFT << SERVE_SHIFT | number;
}

FIB_CORE bool serve_all_have(const uint64_t *words, int n, uint16_t number)
{
    bool all = true;

    for (int i = 0; i < n; i++)
        all &= serve_number(words[i]) == number;
    return all;
}

FIB_CORE struct fib_items serve_job(const uint64_t words[SERVE_WORDS])
{
    const struct fib_items job = {
        (const uint8_t *)(uintptr_t)(words[SERVE_BYTES] >> SERVE_SHIFT),
        (const struct sl_span *)(uintptr_t)(words[SERVE_PAYLOAD] >> SERVE_SHIFT),
        (uint32_t *)(uintptr_t)(words[SERVE_NEXT_HOP] >> SERVE_SHIFT),
        (uint32_t *)(uintptr_t)(words[SERVE_PREFIX_LEN] >> SERVE_SHIFT),
        (uint32_t)(words[SERVE_N] >> SERVE_SHIFT)};

    return job;
}

/* As the host numbered it. */
FIB_CORE uint16_t serve_job_number(const uint64_t words[SERVE_WORDS])
{
    return (uint16_t)(words[SERVE_N] >> (SERVE_SHIFT + 32));
}

FIB_CORE bool serve_stops(const uint64_t words[SERVE_WORDS])
{
    return words[SERVE_LEAVE] >> SERVE_SHIFT != 0;
}

/* ---- the host's side ------------------------------------------------------------------------- */

#ifndef __CUDACC__
/* The slot has no job under way. */
static inline void serve_ring(struct serve_slot *slot, const struct fib_items *job, uint16_t number)
{
    const uint64_t words[SERVE_LEAVE] = {(uintptr_t)job->bytes, (uintptr_t)job->payload,
                                         (uintptr_t)job->next_hop, (uintptr_t)job->prefix_len,
                                         (uint64_t)number << 32 | job->n};

    for (int i = 0; i < SERVE_LEAVE; i++)
        serve_write(&slot->word[i], words[i] << SERVE_SHIFT | number);
}

static inline void serve_set_stop(struct serve_slot *slot, bool leave)
{
    serve_write(&slot->word[SERVE_LEAVE], (uint64_t)leave << SERVE_SHIFT);
}

/* The crew's answers are then seen. */
static inline bool serve_is_done(const struct serve_slot *slot, uint16_t number)
{
    return serve_load(&slot->done) == number;
}
#endif

/* ---- a crew's side: a thread, on a GPU the first warp of a block ----------------------------- */

/* The leader reads its slot; `served` is the last job that its crew did. True: there are new words,
 * which it has copied for the crew, as its nth copy. A generation always serves the job that it
 * finds first, also where it is late or called off, so that each generation makes progress. */
FIB_CORE bool serve_lead(struct serve_crew *crew, const struct serve_slot *slot, uint16_t served,
                         uint16_t nth, bool is_late, uint64_t words[SERVE_WORDS])
{
    serve_read(words, slot->word);

    const uint16_t number = serve_number(words[0]);
    const bool is_new = number != served && serve_all_have(words, SERVE_LEAVE, number);
    const bool leaves = (is_late || serve_stops(words)) && !(is_new && nth == 1);

    if (!leaves && !is_new)
        return false;
    if (leaves && serve_load_near(&crew->n_done) != 0) /* others still work on the last job */
        return false;
    serve_fence();
    words[SERVE_LEAVE] = (uint64_t)leaves << SERVE_SHIFT;
    for (int i = 0; i < SERVE_WORDS && serve_leads_warp(); i++)
        serve_write(&crew->word[i], serve_numbered(words[i], nth));
    return true;
}

/* Whether the leader has made its nth copy, and the words of it. */
FIB_CORE bool serve_follow(const struct serve_crew *crew, uint16_t nth, uint64_t words[SERVE_WORDS])
{
    serve_read(words, crew->word);
    if (!serve_all_have(words, SERVE_WORDS, nth))
        return false;
    serve_fence_near();
    return true;
}

/* Called by one thread of a block that has done its part of a job. The last block ends the job. */
FIB_CORE void serve_end_job(struct serve_crew *crew, struct serve_slot *slot, uint16_t number,
                            uint32_t n_blocks)
{
    if (!serve_count(&crew->n_done, n_blocks))
        return;
    serve_store_near(&crew->n_done, 0);
    serve_store(&slot->done, number);
}

/* Called by one thread of a block that ends. The last block of a generation zeroes the crews. */
FIB_CORE void serve_go(struct serve_device *device, struct serve_host *host, uint32_t n_slots,
                       uint32_t n_blocks, uint32_t generation)
{
    if (!serve_count(&device->n_gone, n_blocks))
        return;
    device->n_gone = 0;
    for (uint32_t i = 0; i < n_slots; i++)
        for (int k = 0; k < SERVE_WORDS; k++)
            device->crew[i].word[k] = 0;
    serve_store(&host->ended, generation);
}

#endif
