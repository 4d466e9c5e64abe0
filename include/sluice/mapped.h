/* SPDX-License-Identifier: MIT */
/* Files that the library has mapped, for a program's handler of SIGBUS.
 *
 * Captures on disk, compiled tables above 256 MiB, and compiled databases above 16 MiB are mapped
 * and not read into memory. Where such a file is cut while it is open, or its disk fails, reading
 * it raises SIGBUS. The library installs no signal handler. A program that has one finds the file
 * here. */
#ifndef SLUICE_MAPPED_H
#define SLUICE_MAPPED_H

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The path of the mapped file that has this address (si_addr of a SIGBUS), as it was opened. NULL:
 * the library has mapped no file there. The text is valid while the file is open. Any thread, and
 * signal handlers: the call takes no lock and allocates nothing. */
SL_API const char *sl_mapped_file(const void *address);

#ifdef __cplusplus
}
#endif
#endif
