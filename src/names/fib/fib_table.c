/* SPDX-License-Identifier: MIT */
/* A table towards its contexts: readers, the published view, and how GPU copies follow. */
#include "fib_table.h"

#include <stdlib.h>
#include <string.h>

#include "fib_internal.h"

enum { LINE_LEN = 64 }; /* of the cache, bytes */

struct fib_view *fib_view_make(void)
{
    const size_t len = (sizeof(struct fib_view) + LINE_LEN - 1) / LINE_LEN * LINE_LEN;
    struct fib_view *view = (struct fib_view *)aligned_alloc(LINE_LEN, len);

    if (view != NULL)
        memset(view, 0, sizeof *view);
    return view;
}

void fib_table_init(struct sl_fib_table *table, const struct fib_plane *plane)
{
    memset(table, 0, sizeof *table);
    table->plane = plane;
    atomic_init(&table->view, NULL);
    pthread_mutex_init(&table->lock, NULL);
    fib_epochs_init(&table->epochs);
}

void fib_table_end(struct sl_fib_table *table)
{
    pthread_mutex_destroy(&table->lock);
}

struct fib_reader_epoch *fib_reader_open(struct sl_fib_table *table)
{
    /* A cache line of its own: the updater reads it, and the look-ups write it. */
    struct fib_reader_epoch *reader = (struct fib_reader_epoch *)aligned_alloc(LINE_LEN, LINE_LEN);

    if (reader == NULL)
        return NULL;
    pthread_mutex_lock(&table->lock);
    fib_epochs_register(&table->epochs, reader);
    pthread_mutex_unlock(&table->lock);
    return reader;
}

void fib_reader_close(struct sl_fib_table *table, struct fib_reader_epoch *reader)
{
    if (reader == NULL)
        return;
    pthread_mutex_lock(&table->lock);
    fib_epochs_unregister(&table->epochs, reader);
    pthread_mutex_unlock(&table->lock);
    free(reader);
}

const struct fib_view *fib_reader_enter(struct sl_fib_table *table, struct fib_reader_epoch *reader)
{
    fib_epoch_enter(&table->epochs, reader);
    return atomic_load(&table->view);
}

void fib_reader_exit(struct fib_reader_epoch *reader)
{
    fib_epoch_exit(reader);
}

bool fib_table_is(const struct sl_fib_table *table, const char *plane)
{
    return strcmp(table->plane->name, plane) == 0;
}

void fib_table_lock(struct sl_fib_table *table)
{
    pthread_mutex_lock(&table->lock);
}

bool fib_table_try_lock(struct sl_fib_table *table)
{
    return pthread_mutex_trylock(&table->lock) == 0;
}

void fib_table_unlock(struct sl_fib_table *table)
{
    pthread_mutex_unlock(&table->lock);
}

void *fib_table_copies(struct sl_fib_table *table)
{
    return table->copies;
}

void fib_table_set_copies(struct sl_fib_table *table, void *copies, fib_publish *publish)
{
    table->copies = copies;
    table->publish = publish;
}

const struct fib_view *fib_table_freeze(struct sl_fib_table *table)
{
    if (table->fib != NULL)
        pthread_mutex_lock(&table->fib->lock);
    return atomic_load(&table->view);
}

void fib_table_thaw(struct sl_fib_table *table)
{
    if (table->fib != NULL)
        pthread_mutex_unlock(&table->fib->lock);
}

uint64_t fib_retire(struct sl_fib *fib)
{
    return fib_epochs_retire(&fib->table.epochs);
}

bool fib_batch_fits(const struct sl_batch *batch, const struct sl_limits *limits,
                    const struct sl_fib_answers *answers)
{
    return batch->n_items <= limits->max_items && batch->bytes_len <= limits->max_bytes &&
           batch->n_items <= answers->cap;
}
