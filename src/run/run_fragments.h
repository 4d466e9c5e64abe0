/* SPDX-License-Identifier: MIT */
/* Fragments of a run become datagrams, in order. */
#ifndef RUN_FRAGMENTS_H
#define RUN_FRAGMENTS_H

#include "run_datagrams.h"
#include "run_hosts.h"
#include "sluice/header.h"
#include "stream/defrag.h"

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

/* The fragments of a batch. Zeroed at first; memory is kept from batch to batch. */
struct run_fragment_list {
    struct defrag_list list;
    uint32_t *room;     /* bytes that the batch has more once fragment i is cut to its headers */
    uint32_t *datagram; /* of those that are ready: its place among those made, or UINT32_MAX */
    uint32_t room_max, datagram_max;
    uint64_t bad_checksums; /* fragments that are not listed */
};

void run_fragment_list_clear(struct run_fragment_list *list);

/* Lists the fragments of a dissected batch, of which there are at most n. Any thread. SL_ENOMEM. */
enum sl_status run_fragments_list(const struct run_fragments *fragments, struct sl_batch *batch,
                                  uint32_t n, struct run_fragment_list *list, struct sl_diag *diag);

/* Takes the fragments of a batch, and appends the datagrams that they make whole to *made, which is
 * empty. Batch by batch, in order. SL_ENOMEM. */
enum sl_status run_fragments_join(struct run_fragments *fragments, struct sl_batch *batch,
                                  struct run_fragment_list *list, struct run_datagrams *made,
                                  struct sl_dissect_stats *dissected, struct sl_diag *diag);

/* Copies the bytes of datagrams that were ready, and cuts their fragments. All datagrams are
 * counted in *dissected then. Any thread. */
void run_fragments_build(const struct run_fragment_list *list, struct sl_batch *batch,
                         struct run_datagrams *made, struct sl_dissect_stats *dissected);

/* The counters so far. */
void run_fragments_stats(const struct run_fragments *fragments, struct sl_fragment_stats *stats);

#endif
