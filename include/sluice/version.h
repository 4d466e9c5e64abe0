/* SPDX-License-Identifier: MIT */
/* The version. Before 1.0 a new minor version may change any declaration; the shared library's
 * SOVERSION is MAJOR.MINOR then. */
#ifndef SLUICE_VERSION_H
#define SLUICE_VERSION_H

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. The build takes its version from here. */
#define SL_VERSION_MAJOR 0
#define SL_VERSION_MINOR 1
#define SL_VERSION_PATCH 0

/* Returns the version of the library that runs, as "0.1.0": static storage, any thread. A program
 * compares it with the macros to detect other headers. */
SL_API const char *sl_version(void);

#ifdef __cplusplus
}
#endif
#endif
