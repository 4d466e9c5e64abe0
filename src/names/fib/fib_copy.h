/* SPDX-License-Identifier: MIT */
/* Tables on GPUs. A copy of a table on one device is shared by its contexts. It has snapshots:
 * sl_fib_publish puts a new one in the place of the latest. Look-ups keep the one that they began
 * with. For CUDA sources. */
#ifndef FIB_COPY_H
#define FIB_COPY_H

#include "fib_table.h"

struct fib_snapshot {
    struct fib_view view; /* parts in device memory */
    uint8_t *d_block;
    int device;
    unsigned n_users; /* the copy while it is the latest, and look-ups under way */
};

struct fib_persistent;

/* All under the table's lock. */
struct fib_copy {
    struct fib_copy *next;
    int device;
    unsigned n_contexts;
    struct fib_snapshot *latest;
    struct fib_persistent *persistent; /* NULL, or a kernel that stays: fib_serve_cuda.cu */
};

/* The copy on a device, made if there is none, with one context more. */
enum sl_status fib_copy_attach(struct fib_copy **joined, struct sl_fib_table *table, int device,
                               struct sl_diag *diag);
void fib_copy_detach(struct sl_fib_table *table, struct fib_copy *copy); /* accepts NULL */

/* The latest, with one user more, and one less; release accepts NULL. */
struct fib_snapshot *fib_copy_latest(const struct fib_copy *copy);
void fib_copy_release(struct fib_snapshot *snapshot);

/* The kernel that stays shall take the latest snapshot: returns when none has another one. Without
 * the lock. */
enum sl_status fib_persistent_follow(struct fib_persistent *persistent);

/* Nobody uses it any more. Accepts NULL. Under the lock. */
void fib_persistent_free(struct fib_persistent *persistent);

#endif
