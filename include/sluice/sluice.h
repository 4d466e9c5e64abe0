/* SPDX-License-Identifier: MIT */
/* All of libsluice. Each header is its module's contract. What follows holds for all of them.
 *
 * Pointers: a pointer is not NULL, unless its text allows that. Each `diag` may be NULL, where no
 * text is wanted. Every function that frees or closes an object accepts NULL.
 *
 * Statuses: a text lists all statuses but SL_OK, and SL_EINVAL for a reserved field. After a
 * failure the outputs of a call are not valid, unless its text states so.
 *
 * Numbers: `_len` is bytes, `n_` is a count. A value of an enum is one that the enum names.
 * Functions that return its name or text return static storage.
 *
 * Configs: an init function sets the defaults and the reserved fields. A call borrows what a config
 * points to, unless its text states longer.
 *
 * Threads: an object belongs to one thread at a time, unless its text states otherwise. Calls
 * without an object come from any thread. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/capture.h"
#include "sluice/clamav.h"
#include "sluice/detect.h"
#include "sluice/device.h"
#include "sluice/dissect.h"
#include "sluice/engine.h"
#include "sluice/event.h"
#include "sluice/fib.h"
#include "sluice/header.h"
#include "sluice/mapped.h"
#include "sluice/mpm.h"
#include "sluice/name_syntax.h"
#include "sluice/names.h"
#include "sluice/packet_names.h"
#include "sluice/pipeline.h"
#include "sluice/redundancy.h"
#include "sluice/run.h"
#include "sluice/sampling.h"
#include "sluice/scan.h"
#include "sluice/settings.h"
#include "sluice/sink.h"
#include "sluice/stats.h"
#include "sluice/status.h"
#include "sluice/stream.h"
#include "sluice/tunnel.h"
#include "sluice/version.h"

#endif
