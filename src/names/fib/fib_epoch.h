/* SPDX-License-Identifier: MIT */
/* Parts taken out of a table may be used again when no look-up that began before is under way. A
 * look-up lasts from submit to wait, over threads and over kernels in flight. So each context holds
 * an epoch of its own. liburcu's read sides belong to a thread and end with a call.
 *
 * One updater at a time; contexts come and go under the same lock. */
#ifndef FIB_EPOCH_H
#define FIB_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A context's part. */
struct fib_reader_epoch {
    _Atomic uint64_t since; /* the epoch in which its look-up began, 0: none is under way */
    struct fib_reader_epoch *next;
};

struct fib_epochs {
    _Atomic uint64_t now; /* from 1 on */
    struct fib_reader_epoch *readers;
};

void fib_epochs_init(struct fib_epochs *epochs);
void fib_epochs_register(struct fib_epochs *epochs, struct fib_reader_epoch *reader);
void fib_epochs_unregister(struct fib_epochs *epochs, struct fib_reader_epoch *reader);

/* Any thread: around what a look-up reads. */
static inline void fib_epoch_enter(struct fib_epochs *epochs, struct fib_reader_epoch *reader)
{
    const uint64_t now = atomic_load(&epochs->now);

    /* A locked exchange: no load of the table may come before it. */
    (void)atomic_exchange(&reader->since, now);
#ifndef __SANITIZE_THREAD__ /* the sanitizer does not know fences */
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void fib_epoch_exit(struct fib_reader_epoch *reader)
{
    atomic_store_explicit(&reader->since, 0, memory_order_release);
}

/* The mark of what has just been taken out: free when fib_epochs_oldest is above it. */
uint64_t fib_epochs_retire(struct fib_epochs *epochs);

/* All marks below it are over. */
uint64_t fib_epochs_oldest(struct fib_epochs *epochs);

#endif
