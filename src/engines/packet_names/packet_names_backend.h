/* SPDX-License-Identifier: MIT */
/* The engine's backend for GPUs, and its mapping on the CPU. */
#ifndef NAMES_NAMES_BACKEND_H
#define NAMES_NAMES_BACKEND_H

#include "sluice/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct sl_backend names_cuda, names_tiled;

#ifdef __cplusplus
}
#endif
#endif
