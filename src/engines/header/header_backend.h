/* SPDX-License-Identifier: MIT */
/* The backends of the header checks. */
#ifndef ENGINES_HEADER_BACKEND_H
#define ENGINES_HEADER_BACKEND_H

#include "sluice/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct sl_backend header_scalar, header_avx2, header_cuda;

/* SL_EINVAL where a table is no header table of this version: open's first act. */
enum sl_status header_table_check(const void *table, struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
