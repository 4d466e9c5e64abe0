/* SPDX-License-Identifier: MIT */
/* Names gathered over packets of a host batch, as many as one call looks up, and their hits. A
 * look-up waits for memory several times, and finding a name does not. So the table's index has all
 * of them in flight. For C and CUDA sources. */
#ifndef NAMES_NAMES_GATHER_H
#define NAMES_NAMES_GATHER_H

#include "packet_names_watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct names_gather; /* one thread's */

/* at_once: names a look-up call. */
enum sl_status names_gather_open(struct names_gather **gather, struct sl_packet_names_watch *watch,
                                 uint32_t at_once, struct sl_diag *diag);
void names_gather_close(struct names_gather *gather); /* accepts NULL */

/* Forgets the batch before. */
void names_gather_begin(struct names_gather *gather);

/* Takes the names of an item of a host batch, which the hits call `as`. */
enum sl_status names_gather_take(struct names_gather *gather, const struct sl_batch *batch,
                                 uint32_t item, uint32_t as, struct sl_hits *hits);

/* Looks up what is left. */
enum sl_status names_gather_end(struct names_gather *gather, struct sl_hits *hits);

/* The counts of the batch, to be added to. */
struct sl_packet_names_watch_count *names_gather_count(struct names_gather *gather);

#ifdef __cplusplus
}
#endif
#endif
