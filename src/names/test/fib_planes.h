/* SPDX-License-Identifier: MIT */
/* Planes that a build may leave out. */
#ifndef NAMES_FIB_PLANES_H
#define NAMES_FIB_PLANES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sluice/fib.h"

/* Whether the build has the plane; where not, says so. */
static inline bool fib_planes_has(const char *plane)
{
    for (const char *const *known = sl_fib_planes(); *known != NULL; known++)
        if (strcmp(*known, plane) == 0)
            return true;
    printf("skipped: this build leaves out the plane %s\n", plane);
    return false;
}

#endif
