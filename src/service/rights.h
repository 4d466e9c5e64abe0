/* SPDX-License-Identifier: MIT */
/* A service keeps the rights that it needs and gives up all others for good. */
#ifndef SERVICE_RIGHTS_H
#define SERVICE_RIGHTS_H

#include <stdint.h>

#include "sluice/status.h"

/* Keeps these capabilities (1 << CAP_X) alone, of those that are there. No program that is started
 * later gains any. SL_EIO: the system refused. */
SL_CHECK enum sl_status rights_keep(uint64_t capabilities, struct sl_diag *diag);

#endif
