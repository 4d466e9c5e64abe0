/* SPDX-License-Identifier: MIT */
/* The parts of a choice between devices that tests use alone. */
#ifndef PIPELINE_CHOOSE_H
#define PIPELINE_CHOOSE_H

#include "sluice/pipeline.h"

/* The rate of all GPUs, or of the CPU. */
struct choose_rate {
    double rate;        /* bytes a second */
    uint32_t n_workers; /* batches that are worked on at once */
};

struct choose_choice {
    bool gpus, cpu;
    uint32_t n_ahead; /* where both: batches in flight beside those that are worked on */
};

/* The GPUs where they are no slower than the CPU, both where they are not much slower, else the
 * CPU. No rate is 0. */
struct choose_choice choose(const struct choose_rate *gpus, const struct choose_rate *cpu);

/* As sl_pipeline_choose. The rates are 0 where nothing was measured. */
enum sl_status choose_devices(struct sl_pipeline_config *config, struct choose_rate *gpus,
                              struct choose_rate *cpu, char why[SL_WHY_LEN], struct sl_diag *diag);

/* Fills an empty batch with packets of 800 bytes on average, the same each time. */
void choose_fill(struct sl_batch *batch);

#endif
