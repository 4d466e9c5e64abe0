/* SPDX-License-Identifier: MIT */
/* zstd as a backend, so that it is measured as engines are. */
#ifndef BENCH_ZSTD_FRAMES_H
#define BENCH_ZSTD_FRAMES_H

#include "sluice/engine.h"

/* Compresses each batch's bytes into a frame: as many hits as compressed bytes. The table is the
 * level, an int. */
extern const struct sl_backend bench_zstd;

#endif
