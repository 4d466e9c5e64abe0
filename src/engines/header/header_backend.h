/* SPDX-License-Identifier: MIT */
/* The backends of the header checks. */
#ifndef ENGINES_HEADER_BACKEND_H
#define ENGINES_HEADER_BACKEND_H

#include "sluice/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct sl_backend header_scalar, header_avx2, header_cuda;

#ifdef __cplusplus
}
#endif
#endif
