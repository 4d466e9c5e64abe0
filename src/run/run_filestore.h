/* SPDX-License-Identifier: MIT */
/* Files of flows on disk: FOLDER/XX/SHA256, as Suricata's file-store of version 2 has them. A file
 * is written under another name in FOLDER/tmp, then renamed. No part of a path comes from the wire.
 * Files and bytes are bounded. One batch after another, in order. */
#ifndef RUN_FILESTORE_H
#define RUN_FILESTORE_H

#include "run_digest.h"
#include "run_notices.h"
#include "sluice/run.h"

#define FILESTORE_FILES 65536u
#define FILESTORE_LEN (UINT64_C(4) << 30) /* bytes */

struct run_filestore;

/* Makes the folder where it is not there. `all`: all files are stored, else those that alerts of
 * rules with `filestore` are of. SL_EIO, SL_ENOMEM. */
enum sl_status run_filestore_open(struct run_filestore **out, const char *folder, bool all,
                                  uint32_t files_max, struct run_notices *notices,
                                  struct sl_diag *diag);

/* Behind all decisions on alerts, before sl_evaluator_conclude: marks the files that rules want,
 * also those that raise no alert. */
void run_filestore_want(const struct run_filestore *filestore, const struct run_digest *digest);

/* Behind it, before events are written: stores the files of a batch, and says so in them. */
void run_filestore_take(struct run_filestore *filestore, const struct run_digest *digest);

void run_filestore_stats(const struct run_filestore *filestore, struct sl_run_filestore *stats);

void run_filestore_close(struct run_filestore *filestore); /* accepts NULL */

#endif
