/* SPDX-License-Identifier: MIT */
/* The watch, which is the engine's table: its counts, and the table of names as one block for GPUs,
 * which cannot follow its pointers. For C and CUDA sources. */
#ifndef NAMES_NAMES_WATCH_H
#define NAMES_NAMES_WATCH_H

#include "sluice/packet_names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The engine's `takes`. */
bool names_watch_is(const struct sl_engine *engine, const void *table);

/* The engine's table, which counts. */
static inline struct sl_packet_names_watch *names_watch_of(const void *table)
{
    return (struct sl_packet_names_watch *)(uintptr_t)table;
}

struct sl_names *names_watch_names(const struct sl_packet_names_watch *watch);

/* Adds a batch's. */
void names_watch_add(struct sl_packet_names_watch *watch,
                     const struct sl_packet_names_watch_count *count);

/* Lends the current table. After an update it makes a new block, and waits for an update in
 * progress. The caller releases it. SL_ENOMEM. */
struct names_flat;
enum sl_status names_watch_borrow(struct sl_packet_names_watch *watch,
                                  const struct names_flat **flat, struct sl_diag *diag);
void names_watch_give_back(struct sl_packet_names_watch *watch, const struct names_flat *flat);

/* Whether the table was updated since. */
bool names_watch_is_new(const struct sl_packet_names_watch *watch, const struct names_flat *flat);

#ifdef __cplusplus
}
#endif
#endif
