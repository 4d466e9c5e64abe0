/* SPDX-License-Identifier: MIT */
/* The papers' variants: methods of published systems, beside those that a product path takes. A
 * build with the CMake option SLUICE_PAPERS has them in its tables; any other build knows their
 * names alone. */
#ifndef BASE_PAPERS_H
#define BASE_PAPERS_H

#include "base/diag.h"

/* Refuses a variant that this build leaves out. */
static inline enum sl_status papers_left_out(const char *variant, struct sl_diag *diag)
{
    return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                    "the variant '%s' is one of the papers', which this build leaves out "
                    "(SLUICE_PAPERS)",
                    variant);
}

#endif
