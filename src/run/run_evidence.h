/* SPDX-License-Identifier: MIT */
/* Captures of the flows that raised alerts, each from its begin on: FOLDER/FLOW_ID.pcap.
 *
 * The packets of all flows are kept for a while, in memory of EVIDENCE_MEMORY bytes, where the
 * oldest give way. With a flow's first alert those that are kept are written, and then all that
 * follow. Files and their bytes are bounded. Packets that a bound leaves out are counted: of a flow
 * without a file those with alerts, and those that were kept before them. One batch after another,
 * in order. */
#ifndef RUN_EVIDENCE_H
#define RUN_EVIDENCE_H

#include "run_digest.h"
#include "sluice/run.h"

/* Bytes of packets that are kept, of a flow's file, and of all files; and how many files. */
#define EVIDENCE_MEMORY (UINT64_C(64) << 20)
#define EVIDENCE_FILE_LEN (UINT64_C(16) << 20)
#define EVIDENCE_DISK_LEN (UINT64_C(4) << 30)
#define EVIDENCE_FILES 65536u

struct run_evidence;

/* Makes the folder where it is not there. SL_EIO, SL_ENOMEM. */
enum sl_status run_evidence_open(struct run_evidence **out, const char *folder, uint32_t files_max,
                                 struct sl_diag *diag);

/* Draining: takes the packets of a batch, and its alerts. SL_EIO: a file cannot be written.
 * SL_ENOMEM. */
enum sl_status run_evidence_take(struct run_evidence *evidence, const struct sl_batch *batch,
                                 const struct run_digest *digest, struct sl_diag *diag);

/* The same for alerts of flows that ended, by packets that stand for them and are not written. */
enum sl_status run_evidence_take_late(struct run_evidence *evidence, const struct sl_batch *batch,
                                      const struct run_digest *digest, struct sl_diag *diag);

void run_evidence_stats(const struct run_evidence *evidence, struct sl_run_evidence *stats);

void run_evidence_close(struct run_evidence *evidence); /* accepts NULL */

#endif
