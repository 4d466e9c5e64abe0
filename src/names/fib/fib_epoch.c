/* SPDX-License-Identifier: MIT */
#include "fib_epoch.h"

#include <stddef.h>

void fib_epochs_init(struct fib_epochs *epochs)
{
    atomic_init(&epochs->now, 1);
    epochs->readers = NULL;
}

void fib_epochs_register(struct fib_epochs *epochs, struct fib_reader_epoch *reader)
{
    atomic_init(&reader->since, 0);
    reader->next = epochs->readers;
    epochs->readers = reader;
}

void fib_epochs_unregister(struct fib_epochs *epochs, struct fib_reader_epoch *reader)
{
    struct fib_reader_epoch **link = &epochs->readers;

    while (*link != NULL && *link != reader)
        link = &(*link)->next;
    if (*link != NULL)
        *link = reader->next;
}

/* A look-up that began in an epoch up to the mark may have seen an entry that was removed before
 * it. One that finds a later epoch has not. */
uint64_t fib_epochs_retire(struct fib_epochs *epochs)
{
    return atomic_fetch_add(&epochs->now, 1);
}

uint64_t fib_epochs_oldest(struct fib_epochs *epochs)
{
    uint64_t oldest = atomic_load(&epochs->now);

#ifndef __SANITIZE_THREAD__
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (struct fib_reader_epoch *r = epochs->readers; r != NULL; r = r->next) {
        const uint64_t since = atomic_load(&r->since);

        if (since != 0 && since < oldest)
            oldest = since;
    }
    return oldest;
}
