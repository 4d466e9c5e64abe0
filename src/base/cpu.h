/* SPDX-License-Identifier: MIT */
/* The instruction sets of the CPU, less those that the environment takes away. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

#include "sluice/status.h"

/* Instruction set levels that backends are written for. Each contains those before it. */
enum cpu_level {
    CPU_SCALAR, /* the baseline of the architecture */
    CPU_AVX2,   /* and BMI2 */
    CPU_AVX512  /* F, BW, VL, DQ, VBMI, VBMI2 */
};

/* Returns the best level of this machine, lowered by SLUICE_CPU=scalar|avx2|avx512. The variable is
 * read once. An unknown value counts as unset, and cpu_environment reports it. */
enum cpu_level cpu_level(void);

/* SL_EINVAL: SLUICE_CPU is none of its values, and ignored; SL_EUNSUPPORTED: it allows more than
 * this CPU has. */
enum sl_status cpu_environment(struct sl_diag *diag);

/* The same for a value, "" being unset, and a machine. */
enum sl_status cpu_limit_check(const char *value, enum cpu_level machine, struct sl_diag *diag);

/* Features that no level contains. */
enum cpu_feature { CPU_PCLMUL = 1, CPU_VPCLMULQDQ = 2, CPU_GFNI = 4 };

/* "scalar", "AVX2", "AVX-512". */
const char *cpu_level_name(enum cpu_level level);

/* Cores this process may run on, at least 1. */
unsigned cpu_cores(void);

/* For a backend's `usable`: whether the machine has the level. False: `why` (SL_WHY_LEN bytes) has
 * the reason. */
bool cpu_usable(enum cpu_level level, char *why);

/* The same for a level and features (enum cpu_feature, summed) that it does not contain. */
bool cpu_usable_with(enum cpu_level level, unsigned features, char *why);

#endif
