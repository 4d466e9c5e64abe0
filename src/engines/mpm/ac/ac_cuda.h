/* SPDX-License-Identifier: MIT */
/* Aho-Corasick on GPUs for other algorithms: over a batch that they have given up, which kernels on
 * the same stream say. For .cu files. */
#ifndef AC_CUDA_H
#define AC_CUDA_H

#include "device/cuda_internal.h"
#include "engines/mpm/mpm_table.h"

/* In device memory; {false, 0} before each batch, or {true, 0} where it may not be wanted. */
struct ac_cuda_state {
    uint32_t is_off; /* not 0 when the kernels begin: they return at once */
    uint32_t n_tasks;
};

struct ac_task;

/* Memory in which kernels list the segments of a batch. */
struct ac_cuda_plan {
    struct ac_cuda_state *d_state;
    struct ac_task *d_tasks;
    uint32_t max_tasks;
    int device;
};

/* Takes memory for batches within the limits. close accepts what open failed on, zero before. */
enum sl_status ac_cuda_plan_open(struct ac_cuda_plan *plan, const struct sl_limits *limits,
                                 struct sl_diag *diag);
void ac_cuda_plan_close(struct ac_cuda_plan *plan);

/* Launches the kernels on the batch's stream. Hits that the context has of it are dropped for the
 * automaton's. The automaton lies `at` bytes behind the first of the table's body. One item or
 * more. */
void ac_cuda_launch(const struct ac_cuda_plan *plan, const struct cuda_context *cuda, uint64_t at,
                    const struct sl_batch *batch);

#endif
