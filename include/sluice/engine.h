/* SPDX-License-Identifier: MIT */
/* The engine: configure, build, open, submit, wait. Every engine has these five steps.
 *
 * Configure and build are each engine's own (sluice/header.h, sluice/mpm.h). They give a table: one
 * flat immutable block without pointers, the same for all backends, but for packet_names, whose
 * table counts. Any number of threads and contexts share a table. Its maker frees it after the last
 * context is closed. */
#ifndef SLUICE_ENGINE_H
#define SLUICE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One result. Content engines: `offset` is one past the match's last byte, in bytes from the first
 * byte of the item's payload. Header checks: the field's first byte, in bytes from the packet's. */
struct sl_hit {
    uint32_t item;
    uint32_t offset;
    uint64_t id; /* literal, header check, fingerprint, ...: the engine's table defines it */
};

/* A caller's array for results. After wait, `n` is the number of hits. Where it exceeds `cap`, or a
 * GPU's max_hits, the status is SL_EOVERFLOW, and the array holds some of them. The contract is the
 * set of hits; the order is free until sl_hits_sort. */
struct sl_hits {
    struct sl_hit *hit;
    size_t cap;
    size_t n;
    bool in_order; /* set by wait: the hits are sorted, and sl_hits_sort does nothing. Code that
                      changes the list sets it to false */
};

/* Sorts the hits that are there by item, offset, id. Long lists take memory; without memory the
 * sort is slower. */
SL_API void sl_hits_sort(struct sl_hits *hits);

/* Turns hits in the made items of sl_batch_whole(batch) into hits of their packets. The item
 * becomes the packet's. The buffers of the made item become the upper half of the id, which must be
 * below 2^32 before. The base of the made item is added to the offset. The hits are in no order
 * then. */
SL_API void sl_hits_resolve_made(struct sl_hits *hits, const struct sl_batch *batch);

/* The kinds of processors. */
enum sl_device_kind { SL_DEVICE_CPU, SL_DEVICE_CUDA };

/* The largest batches of a context. open allocates for them. submit and wait allocate nothing, but
 * for packet_names on a GPU. A caller zeroes the struct and sets what it needs. */
struct sl_limits {
    uint32_t max_items; /* items a batch */
    uint32_t max_bytes; /* arena bytes a batch */
    uint32_t max_hits;  /* hits a batch; a CPU has the bound of the caller's array alone */
    int device;         /* CUDA: the device's index */

    /* CUDA: milliseconds to wait for a batch; 0: no limit. A GPU that takes longer counts as hung:
     * this call and all later calls for it return SL_EDEVICE. Its memory and all pinned memory are
     * then not freed before the process ends, as the GPU may still use them. */
    uint32_t max_wait_ms;

    /* CUDA: hits come nearly sorted, where many batches in a row have many. It is for hits that are
     * sorted afterwards. */
    bool ordered;

    /* CUDA: NULL, or device memory where the hits stay, for the caller's kernels. It holds the
     * number of hits, an uint64_t, and behind it the first max_hits of them, valid on the batch's
     * stream after submit. wait then sets only n of sl_hits and ignores its cap. */
    void *device_hits;

    /* CUDA, matchers of literals: by literal, bits of the kinds of items (sl_batch.kind) in which
     * it is wanted. Backends may leave out other hits of a batch that has kinds. n_wanted entries,
     * borrowed until close. NULL: all are wanted. */
    const uint8_t *wanted;
    size_t n_wanted;

    /* Matchers of literals: bits of the kinds of items in which backends may leave out hits inside
     * a run. The literal is one byte repeated, in either case where case is ignored, and the item
     * has more of them in a row. The first and the last hit in the row are never left out. An item
     * without a kind has kind 0. */
    uint8_t run_ends;

    uint64_t reserved[4]; /* 0: room to grow */
};

/* One way of running an engine. A context serves one thread at a time, one batch at a time. */
struct sl_backend {
    const char *name; /* "scalar", "avx2", "avx512", "cuda", or a paper's variant */
    enum sl_device_kind device;

    /* Whether it can run on this machine; if not, `why` is the reason in a few words. The
     * environment's SLUICE_CPU (scalar, avx2 or avx512) takes better instructions away; any other
     * value is ignored. Any thread. */
    bool (*usable)(char why[SL_WHY_LEN]);

    /* Called by sl_engine_open for a table that it has checked. */
    enum sl_status (*open)(void **context, const void *table, const struct sl_limits *limits,
                           struct sl_diag *diag);

    /* Starts a batch; batch and hits are lent until wait. A CPU backend takes host batches and
     * completes them before it returns. A CUDA backend takes device batches and works on the
     * batch's stream. SL_EINVAL: the batch is in the wrong memory, above the limits, or lacks a
     * column that the engine reads. SL_EDEVICE. SL_ENOMEM: packet_names on a GPU. */
    enum sl_status (*submit)(void *context, const struct sl_batch *batch, struct sl_hits *hits);

    /* Completes the batch that submit started. SL_EOVERFLOW, SL_EDEVICE. */
    enum sl_status (*wait)(void *context);

    void (*close)(void *context); /* accepts NULL */
};

/* An engine: its backends, best first, ended by NULL. */
struct sl_engine {
    const char *name;
    const struct sl_backend *const *backends;

    /* Whether this engine made the table, which is of some engine of the library. NULL: the engine
     * takes any table. */
    bool (*takes)(const struct sl_engine *engine, const void *table);
};

/* Returns the first usable backend of an engine on this kind of device, or NULL. `why` gets the
 * reasons of all better backends that are not usable; it may be NULL. Any thread. */
SL_API const struct sl_backend *sl_engine_choose(const struct sl_engine *engine,
                                                 enum sl_device_kind kind, char why[SL_WHY_LEN]);

/* Returns the backend of this name, usable or not. NULL: the engine has none. Any thread. */
SL_API const struct sl_backend *sl_engine_backend(const struct sl_engine *engine, const char *name);

/* Makes a context of a backend of the engine over a table, which must outlive it. The caller closes
 * it by the backend. Any thread. SL_EINVAL: the table is of another engine (sl_mpm_engine and
 * sl_sampling_engine return a table's). SL_EUNSUPPORTED: the table was built for another kind of
 * device, or its hits cannot stay on the GPU. SL_ENOMEM: of a GPU, diag has the bytes needed and
 * the bytes free. SL_EDEVICE. */
SL_API enum sl_status sl_engine_open(void **context, const struct sl_engine *engine,
                                     const struct sl_backend *backend, const void *table,
                                     const struct sl_limits *limits, struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
