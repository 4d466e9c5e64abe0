/* SPDX-License-Identifier: MIT */
/* Fragments of a run become datagrams, in order. */
#ifndef RUN_FRAGMENTS_H
#define RUN_FRAGMENTS_H

#include "run_datagrams.h"
#include "run_hosts.h"
#include "sluice/header.h"

/* Bytes of a batch that are kept free for datagrams. Fragments that were taken are cut to their
 * headers. So the datagrams of a batch find room, as long as all of the run, at any time, have at
 * most so many bytes more than the fragments since that were cut. A datagram beyond is left out.
 * Thus the datagrams left out follow from packets alone. */
enum {
    RUN_FRAGMENTS_ROOM = 1 << 20,
    RUN_FRAGMENTS_ITEMS = 1024 /* kept free as well; a fragment takes the room of two items */
};

struct run_fragments;

/* `hosts` may be NULL, and outlives it. Fragments with a wrong checksum of IP are left out where
 * the checks have it; NULL: there are none. hash_key: two random words. SL_ENOMEM. */
enum sl_status run_fragments_create(struct run_fragments **out, const struct run_hosts *hosts,
                                    const struct sl_header_config *checks,
                                    const uint64_t hash_key[2], struct sl_diag *diag);
void run_fragments_free(struct run_fragments *fragments); /* accepts NULL */

/* Lists the items of a dissected batch that are fragments; there is room for all. Any thread. */
uint32_t run_fragments_list(const struct sl_batch *batch, uint32_t *items);

/* Takes these n fragments of a batch, and appends the datagrams that they make whole to *made,
 * which is empty. They are counted in *dissected. Batch by batch, in order. SL_ENOMEM. */
enum sl_status run_fragments_join(struct run_fragments *fragments, struct sl_batch *batch,
                                  const uint32_t *items, uint32_t n, struct run_datagrams *made,
                                  struct sl_dissect_stats *dissected, struct sl_diag *diag);

/* The counters so far. */
void run_fragments_stats(const struct run_fragments *fragments, struct sl_fragment_stats *stats);

#endif
