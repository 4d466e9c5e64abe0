/* SPDX-License-Identifier: MIT */
#include "base/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

static enum cpu_level machine_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return CPU_SCALAR;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
        return CPU_AVX512;
    return CPU_AVX2;
#else
    return CPU_SCALAR;
#endif
}

static const char *limit_text(void)
{
    const char *value = getenv("SLUICE_CPU");

    return value != NULL ? value : "";
}

/* False: `value` is no limit, and the level is the best. */
static bool read_limit(const char *value, enum cpu_level *level)
{
    static const char *const values[] = {"scalar", "avx2", "avx512"};

    for (*level = CPU_SCALAR; *level < CPU_AVX512; ++*level)
        if (strcmp(value, values[*level]) == 0)
            return true;
    return strcmp(value, values[CPU_AVX512]) == 0;
}

enum sl_status cpu_limit_check(const char *value, enum cpu_level machine, struct sl_diag *diag)
{
    enum cpu_level limit;

    if (*value == '\0')
        return SL_OK;
    if (!read_limit(value, &limit))
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "SLUICE_CPU is '%.64s' (expected scalar, avx2 or avx512)", value);
    if (limit > machine)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "SLUICE_CPU is '%s', and this CPU has no %s: %s is the best that runs",
                        value, cpu_level_name(limit), cpu_level_name(machine));
    return SL_OK;
}

enum sl_status cpu_environment(struct sl_diag *diag)
{
    return cpu_limit_check(limit_text(), machine_level(), diag);
}

enum cpu_level cpu_level(void)
{
    /* Threads that race here store the same value. */
    static _Atomic int known = -1;
    int level = known;

    if (level < 0) {
        const enum cpu_level machine = machine_level();
        enum cpu_level limit;

        (void)read_limit(limit_text(), &limit);
        level = (int)(machine < limit ? machine : limit);
        known = level;
    }
    return (enum cpu_level)level;
}

const char *cpu_level_name(enum cpu_level level)
{
    static const char *const names[] = {"scalar", "AVX2", "AVX-512"};

    return names[level];
}

unsigned cpu_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

bool cpu_usable(enum cpu_level level, char *why)
{
    if (cpu_level() >= level)
        return true;
    snprintf(why, SL_WHY_LEN, "needs %s; this CPU, or SLUICE_CPU, gives %s", cpu_level_name(level),
             cpu_level_name(cpu_level()));
    return false;
}

bool cpu_usable_with(enum cpu_level level, unsigned features, char *why)
{
    const char *lacking = NULL;

    if (!cpu_usable(level, why))
        return false;
#if defined(__x86_64__)
    if ((features & CPU_PCLMUL) != 0 && !__builtin_cpu_supports("pclmul"))
        lacking = "PCLMULQDQ";
    if ((features & CPU_VPCLMULQDQ) != 0 && !__builtin_cpu_supports("vpclmulqdq"))
        lacking = "VPCLMULQDQ";
    if ((features & CPU_GFNI) != 0 && !__builtin_cpu_supports("gfni"))
        lacking = "GFNI";
#else
    lacking = features != 0 ? "an x86-64 CPU" : NULL;
#endif
    if (lacking != NULL)
        snprintf(why, SL_WHY_LEN, "needs %s, which this CPU lacks", lacking);
    return lacking == NULL;
}
