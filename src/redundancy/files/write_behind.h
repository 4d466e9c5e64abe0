/* SPDX-License-Identifier: MIT */
/* Bytes to a descriptor, on a thread of their own, while the next ones are made. */
#ifndef REDUNDANCY_WRITE_BEHIND_H
#define REDUNDANCY_WRITE_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

struct write_behind;

/* SL_ENOMEM. Where it fails the writer is to be ended, too. */
SL_CHECK enum sl_status write_behind_create(struct write_behind **writer, int out,
                                            struct sl_diag *diag);

/* Room for SL_FRAME_MAX bytes: waits for it where all is taken. NULL: writing has failed. */
uint8_t *write_behind_room(struct write_behind *writer);

/* The room holds len bytes. */
void write_behind_put(struct write_behind *writer, size_t len);

/* Waits until all is written, and frees the writer. Accepts NULL. Subtracts from *len what was put
 * and not written. SL_EIO. */
enum sl_status write_behind_end(struct write_behind *writer, uint64_t *len, struct sl_diag *diag);

#endif
