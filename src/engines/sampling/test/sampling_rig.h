/* SPDX-License-Identifier: MIT */
/* The sampler and the backend under test, their batch, and the comparison with the oracle. */
#ifndef SAMPLING_RIG_H
#define SAMPLING_RIG_H

#include "sampling_ref.h"
#include "sluice/device.h"
#include "sluice/sampling.h"

enum {
    MAX_BYTES = 4 << 20, /* of a batch */
    MAX_ITEMS = 1 << 16,
    MAX_HITS = 4 << 20
};

/* A sampler under test. */
struct subject {
    const char *name;
    sampling_ref *oracle;
    void (*draw)(struct sl_sampling_config *config, uint64_t *random); /* any legal values */
    void (*opened)(void *context); /* prepares a new context; may be NULL */
    bool by_window;                /* a window's own bytes determine whether it is chosen */
};

struct rig {
    const struct subject *subject;
    const char *backend;
    struct sl_batch *batch;
    struct sl_stage *stage; /* where the backend is CUDA's */
    struct sl_hits found;
    struct sl_hits expected;
};

extern struct rig rig;
extern const struct sl_limits rig_limits;

/* Chooses by "rabin.textbook" and allocates. False: the backend cannot run here, and the reason was
 * printed. */
bool rig_create(const char *argument);
void rig_free(void);

struct sl_sampling_config rig_default_config(void);

/* Any legal values of the sampler. */
struct sl_sampling_config rig_drawn_config(uint64_t *random);

struct sl_sampling_table *rig_build(const struct sl_sampling_config *config);

/* The backend under test. NULL: the table's engine has none of the name. */
const struct sl_backend *rig_find(const struct sl_sampling_table *table);

void *rig_open(const struct sl_backend *backend, const struct sl_sampling_table *table);

/* Scans a host batch with a table and a context of its own. */
enum sl_status rig_scan(const struct sl_sampling_config *config, const struct sl_batch *host,
                        struct sl_hits *hits);

/* Fills rig.expected. */
void rig_expect(const struct sl_sampling_config *config, const struct sl_batch *host);

/* Sorts and compares rig.found and rig.expected. */
void rig_same_hits(const struct sl_sampling_config *config);

/* The backend finds in the whole of `host`, or of rig.batch, what the oracle finds. */
void rig_check_batch(const struct sl_sampling_config *config, const struct sl_batch *host);
void rig_check(const struct sl_sampling_config *config);

/* Appends an item to rig.batch. */
void rig_add(const void *bytes, uint32_t len);

void rig_fill_random(uint64_t *random, uint8_t *to, uint32_t len);

/* The groups of tests. Each returns the number of failed tests. */
int sampling_text_tests(void);
int sampling_contract_tests(void);

#endif
