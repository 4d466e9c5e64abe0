/* SPDX-License-Identifier: MIT */
/* All of libsluice. Each header is its module's contract. */
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
