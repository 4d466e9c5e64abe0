/* SPDX-License-Identifier: MIT */
/* A table as contexts see it. For C and CUDA sources. */
#ifndef FIB_TABLE_H
#define FIB_TABLE_H

#include "fib_view.h"
#include "sluice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context's hold on a table. Between enter and exit, memory that its look-ups may have read is
 * not used again. enter gives the view to read. */
struct fib_reader_epoch;
struct fib_reader_epoch *fib_reader_open(struct sl_fib_table *table); /* NULL: no memory */
void fib_reader_close(struct sl_fib_table *table, struct fib_reader_epoch *reader);
const struct fib_view *fib_reader_enter(struct sl_fib_table *table,
                                        struct fib_reader_epoch *reader);
void fib_reader_exit(struct fib_reader_epoch *reader);

/* As sl_fib_load, of tables whose next hops are all below n_hops: any other is SL_EFORMAT. */
enum sl_status fib_table_load(struct sl_fib_table **table, const char *path, uint64_t n_hops,
                              struct sl_diag *diag);

/* The same from a block of `len` bytes, which the table's owner lends until sl_fib_unload. It
 * begins at a multiple of 64. `path` is for messages. */
enum sl_status fib_table_lend(struct sl_fib_table **table, const void *memory, uint64_t len,
                              const char *path, uint64_t n_hops, struct sl_diag *diag);

/* Writes the block that sl_fib_save writes into a file that holds more. Returns its bytes. */
struct new_file;
uint64_t fib_table_write(struct sl_fib *fib, struct new_file *file);

/* Whether a plane's backends may run over a table. */
bool fib_table_is(const struct sl_fib_table *table, const char *plane);

/* State of the CUDA backends at a table: their copies, and how these follow it. Both under the
 * table's lock; `publish` is called without it, with the updater's held. */
typedef enum sl_status fib_publish(struct sl_fib_table *table, const struct fib_view *view,
                                   struct sl_diag *diag);
void fib_table_lock(struct sl_fib_table *table);
bool fib_table_try_lock(struct sl_fib_table *table);
void fib_table_unlock(struct sl_fib_table *table);
void *fib_table_copies(struct sl_fib_table *table);
void fib_table_set_copies(struct sl_fib_table *table, void *copies, fib_publish *publish);

/* For makers of copies: keeps updates out, so that the view stays what it is. */
const struct fib_view *fib_table_freeze(struct sl_fib_table *table);
void fib_table_thaw(struct sl_fib_table *table);

/* Whether a batch may be looked up: its memory, the limits, and room for its answers. */
bool fib_batch_fits(const struct sl_batch *batch, const struct sl_limits *limits,
                    const struct sl_fib_answers *answers);

#ifdef __cplusplus
}
#endif
#endif
