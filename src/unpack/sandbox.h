/* SPDX-License-Identifier: MIT */
#ifndef UNPACK_SANDBOX_H
#define UNPACK_SANDBOX_H

#include <stdbool.h>

/* Gives up all that an unpacker does not need: files, network, processes, much memory. It may still
 * call reads and writes of its descriptors, and memory. False: the system refuses that. */
bool sandbox_enter(void);

#endif
