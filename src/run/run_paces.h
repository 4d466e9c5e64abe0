/* SPDX-License-Identifier: MIT */
/* What runs of a machine took, in a file: for each machine and set of options the time until the
 * first batch, and the time that a byte of captures takes from there. A choice between the CPU and
 * a GPU is made of that. A file is never trusted: what no run can have taken is damage. */
#ifndef RUN_PACES_H
#define RUN_PACES_H

#include <stdbool.h>

#include "sluice/run.h"

/* The devices of a run. */
enum pace_side { PACE_CPU, PACE_GPU /* alone, or beside the CPU */, PACE_SIDES };

struct run_pace {
    double open_s;  /* seconds from the config to the first batch */
    double byte_ns; /* 0: unknown */
    bool measured;  /* else estimated from a run of the other side */
};

struct run_paces {
    struct run_pace of[PACE_SIDES];
};

/* Names the machine, the version, and the options of a run, the devices aside. */
uint64_t paces_key(const struct sl_run_config *config);

/* No file, or no such key in it: none is known. SL_EFORMAT: the file is damaged, and none is known.
 * SL_EIO, SL_ENOMEM. */
enum sl_status paces_read(struct run_paces *paces, const char *path, uint64_t key,
                          struct sl_diag *diag);

/* Puts the paces of a key into the file, which keeps those of the last keys. A damaged one is
 * replaced. SL_EIO, SL_ENOMEM. */
enum sl_status paces_write(const struct run_paces *paces, const char *path, uint64_t key,
                           struct sl_diag *diag);

/* Adds what a run took. Of earlier measurements and this one the mean counts. */
void paces_measured(struct run_paces *paces, enum pace_side side, double open_s, double byte_ns);

/* Seconds for so many bytes. */
double paces_seconds(const struct run_paces *paces, enum pace_side side, uint64_t len);

/* Whether both sides are known. *side: the one that ends sooner. */
bool paces_choose(const struct run_paces *paces, uint64_t len, enum pace_side *side);

#endif
