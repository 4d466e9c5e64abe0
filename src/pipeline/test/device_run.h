/* SPDX-License-Identifier: MIT */
/* Runs over simulated GPUs with two engines that find each 'x'. */
#ifndef DEVICE_RUN_H
#define DEVICE_RUN_H

#include <stdatomic.h>

#include "sluice/pipeline.h"

/* The factor of a run's time under a sanitizer: tests that repeat it do so as many times less. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 5 };
#else
enum { SLOWER = 1 };
#endif

enum {
    N_WORKERS = 2, /* of each device, however many cores there are */
    N_SHARDS = 3
};

/* Item i holds i % 50 bytes, every third an 'x', or, where `burst` is 1 + i, 100,000 of them. */
struct run {
    uint32_t n_items, burst;
    uint32_t filled, drained;
    uint64_t n_hits;
    uint32_t items_a_batch; /* 0: as fit */
    uint32_t most_made;     /* of item i, i % (most_made + 1) items are made for engine 0 */
    uint32_t n_dropped;     /* devices that the run reported */
    uint64_t n_redone;
    uint32_t drain_us;
    atomic_bool out_of_order;
    atomic_uint settled[N_SHARDS]; /* items, by shard */
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag;
};

/* Each engine calls it with each batch that it scans; may be NULL. */
extern void (*device_run_hook)(const struct sl_batch *batch);

/* By engine: the number of contexts that the CPU still opens before it refuses one. Below 0: it
 * never refuses. */
extern atomic_int device_run_opens_left[2];

/* The step `make`: item j of a packet is an 'x' behind 60 + j other bytes, and of buffers 1 + j. */
uint64_t device_run_make(void *user, const struct sl_batch *batch, struct sl_batch *to,
                         uint64_t from);

/* Configures GPUs 0 to n_devices - 1, or the CPU. */
void device_run_init(struct run *run, uint32_t n_devices);

enum sl_status device_run_start(struct run *run);

/* Checks that all items came, in order and with all hits, and that nothing of the devices is
 * open. */
void device_run_check(const struct run *run);

/* Runs and checks. */
void device_run_complete(struct run *run);

/* The bytes of an item. */
const char *device_run_bytes(const struct run *run, uint32_t item, uint32_t *len);

/* A step `prepare` that takes up to 100 us. */
enum sl_status device_run_prepare(void *user, struct sl_batch *batch, struct sl_diag *diag);

#endif
