/* SPDX-License-Identifier: MIT */
/* The variants of a run: which algorithms take the place of the defaults. */
#ifndef RUN_VARIANT_H
#define RUN_VARIANT_H

#include "sluice/run.h"

enum { RUN_VARIANT_LEN = 32 /* bytes of a name, NUL included */ };

/* Each "" where the default stays. */
struct run_variants {
    char matcher[RUN_VARIANT_LEN];  /* an algorithm of sluice/mpm.h */
    char sampling[RUN_VARIANT_LEN]; /* a sampler, or a variant of one */
    char sampler[RUN_VARIANT_LEN];  /* that sampler */
    char plane[RUN_VARIANT_LEN];    /* of tables of names */
};

/* Reads the config's list. SL_EINVAL: it names what is not known, or what the run has not switched
 * on; SL_EUNSUPPORTED: this build leaves it out. */
enum sl_status run_variants_parse(struct run_variants *variants, const struct sl_run_config *config,
                                  struct sl_diag *diag);

#endif
