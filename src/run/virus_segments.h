/* SPDX-License-Identifier: MIT */
/* Virus signatures that lie across segments of TCP. The engine scans each byte of a stream once,
 * and the seams of segments. A hit that one segment does not decide is verified in a window of its
 * stream, and with each segment that follows, until it is decided or leaves the window.
 *
 * A window has a segment, and at most SL_STREAM_KNOWN bytes before it. Segments that waited for
 * others are taken in blocks of 512 bytes. Per stream at most
 * VIRUS_SIDE_MAX hits wait, and per shard VIRUS_WAITING_MAX. Those beyond are dropped and counted,
 * as are those that bytes before the window might decide. A part that a flow gets when it ends is
 * in no window, and counts, too. Matches in packets that wait for others have room of the same
 * size, within that of the shard. Those beyond may be told again. The hits that wait follow from
 * segments alone. Segments of one byte behind them take up to 20 times as long as others. */
#ifndef RUN_VIRUS_SEGMENTS_H
#define RUN_VIRUS_SEGMENTS_H

#include "payload_scan.h"
#include "run_streams.h"
#include "virus_waiting.h"

/* The streams of all flows, and the scanners of threads. */
struct run_viruses;

/* `streams` and `database` outlive it. SL_ENOMEM: what there is of it is for run_viruses_free. */
enum sl_status run_viruses_create(struct run_viruses **out, const struct run_streams *streams,
                                  const struct sl_clamav_db *database, struct sl_diag *diag);
void run_viruses_free(struct run_viruses *viruses); /* accepts NULL */

/* Counts the parts that flows got at the end of a run. NULL: does nothing. */
void run_viruses_finish(struct run_viruses *viruses, const struct stream_batch *streams);

/* How many hits and parts were dropped. No shard is settled meanwhile. NULL: 0. */
uint64_t run_viruses_left_out(const struct run_viruses *viruses);

/* The matches of a shard, and of each the packet that completed it: in the order of packets. */
struct virus_output {
    uint32_t *item;
    struct sl_clamav_match *match;
    size_t n, max;
    bool no_memory;
};

/* Those of a batch, until the next is settled. Zeroed at first. */
struct virus_batch {
    struct virus_output shard[RUN_SHARDS_MAX];
};

void virus_batch_clear(struct virus_batch *mine);

/* Settling a shard: finds matches by the hits that `scan` has set aside. One thread a shard, all
 * shards at once, and the batches of each in their order. */
void virus_batch_settle(struct virus_batch *mine, struct run_viruses *viruses,
                        const struct stream_batch *streams, const struct payload_scan *scan,
                        const struct sl_batch *batch, uint32_t shard);

/* Once all shards are settled: adds the matches to those of payloads. SL_ENOMEM: also where
 * settling had no memory. */
enum sl_status virus_batch_report(const struct virus_batch *mine, struct payload_scan *scan,
                                  uint32_t n_shards, struct sl_diag *diag);

#endif
