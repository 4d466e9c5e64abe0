/* SPDX-License-Identifier: MIT */
/* The room to grow at the end of each config. */
#ifndef BASE_RESERVED_H
#define BASE_RESERVED_H

#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SL_EINVAL: a field is not 0, so the caller did not initialize the config, or wrote it for a later
 * version. */
enum sl_status reserved_check(const uint64_t reserved[4], struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
