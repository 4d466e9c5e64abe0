/* SPDX-License-Identifier: MIT */
/* A table of names as one block without pointers. */
#ifndef NAMES_NAMES_FLAT_H
#define NAMES_NAMES_FLAT_H

#include "packet_names_flat_core.h"

/* Takes the table as it is between two updates. The caller frees it. SL_ENOMEM. */
enum sl_status names_flat_make(struct names_flat **flat, struct sl_names *names,
                               struct sl_diag *diag);

#endif
