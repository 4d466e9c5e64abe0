/* SPDX-License-Identifier: MIT */
/* The engine: configure, build, open, submit/wait, results. The same five words for every engine.
 *
 * Configure and build are each engine's own (sluice/header.h, sluice/mpm.h) and give a table: one
 * flat immutable block without pointers, the same for all backends, shared by any number of threads
 * and contexts, freed by its maker after the last context is closed. */
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

/* One result. `offset` is in bytes from the first byte of the item's payload span (content engines:
 * one past the match's last byte) or of the packet (header checks: the field's first byte). */
struct sl_hit {
    uint32_t item;
    uint32_t offset;
    uint64_t id; /* literal, header check, fingerprint, ...: the engine's table says what */
};

/* A caller's array for results. After wait, `n` is the number found; where it is above `cap` the
 * status is SL_EOVERFLOW and the array holds some `cap` of them. The contract is the set; the order
 * is free until sl_hits_sort. */
struct sl_hits {
    struct sl_hit *hit;
    size_t cap;
    size_t n;
    bool in_order; /* said by wait: they are as sl_hits_sort leaves them, which then does nothing;
                      who fills or changes a list says false */
};

/* Sorts by item, offset, id. Takes memory for long lists; without it, it is slower. */
SL_API void sl_hits_sort(struct sl_hits *hits);

enum sl_device_kind { SL_DEVICE_CPU, SL_DEVICE_CUDA };

/* What a context must be ready for; open allocates for it, submit and wait allocate nothing. */
struct sl_limits {
    uint32_t max_items; /* items a batch */
    uint32_t max_bytes; /* arena bytes a batch */
    uint32_t max_hits;  /* hits a batch */
    int device;         /* CUDA: the device's index */

    /* CUDA: milliseconds to wait for a batch. A GPU that takes longer is taken for hung:
     * SL_EDEVICE, also from all that is asked of it later; its memory, and all pinned memory, is
     * then not freed before the process ends, as the GPU may still use it. 0: no limit. */
    uint32_t max_wait_ms;

    /* CUDA: hits, where one batch after another has many, come nearly as sl_hits_sort leaves them,
     * for who sorts them: that then takes little. */
    bool ordered;

    /* CUDA: NULL, or device memory where hits stay instead of crossing back, for the kernels of
     * whoever gave it: an uint64_t, the number found, and behind it the first max_hits of them,
     * valid on the batch's stream when submit has returned. Of sl_hits wait then sets n alone, and
     * its cap is not looked at. */
    void *device_hits;
};

/* One way of running an engine. A context serves one thread at a time, one batch at a time. */
struct sl_backend {
    const char *name; /* "scalar", "avx2", "avx512", "cuda", or a paper's variant */
    enum sl_device_kind device;

    /* Whether it can run on this machine; if not, why, in a few words. The environment's SLUICE_CPU
     * (scalar, avx2 or avx512) takes better instructions away; any other value is ignored. */
    bool (*usable)(char why[SL_WHY_LEN]);

    /* Makes a context over a table, which must outlive it. SL_EINVAL: the table is another
     * engine's. SL_EUNSUPPORTED: it was built for another kind of device, or its hits cannot stay
     * on the GPU; diag says so. SL_ENOMEM: on a GPU, diag says what is needed and what there is.
     * SL_EDEVICE. */
    enum sl_status (*open)(void **context, const void *table, const struct sl_limits *limits,
                           struct sl_diag *diag);

    /* Starts on a batch; batch and hits are lent until wait. A CPU backend takes host batches and
     * is done on return; a CUDA backend takes device batches and works on the batch's stream.
     * SL_EINVAL: the batch is in the wrong memory or above the limits. SL_EDEVICE. */
    enum sl_status (*submit)(void *context, const struct sl_batch *batch, struct sl_hits *hits);

    /* Ends what submit began. SL_OK, SL_EOVERFLOW, SL_EDEVICE. */
    enum sl_status (*wait)(void *context);

    void (*close)(void *context); /* accepts NULL */
};

/* An engine: its backends, best first, ended by NULL. */
struct sl_engine {
    const char *name;
    const struct sl_backend *const *backends;
};

/* The first usable backend of an engine on this kind of device, or NULL; `why`, if not NULL, then
 * holds the reasons of all that were not usable. */
SL_API const struct sl_backend *sl_engine_choose(const struct sl_engine *engine,
                                                 enum sl_device_kind kind, char why[SL_WHY_LEN]);

/* The backend of this name, usable or not; NULL where the engine has none. */
SL_API const struct sl_backend *sl_engine_backend(const struct sl_engine *engine, const char *name);

#ifdef __cplusplus
}
#endif
#endif
