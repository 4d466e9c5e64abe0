/* SPDX-License-Identifier: MIT */
/* The GPU's steps in a build without CUDA. */
#include "base/diag.h"
#include "batch_encode.h"

static enum sl_status absent_open(void **machine, const struct encode_sizes *sizes,
                                  struct encode_job jobs[SL_BATCH_ENCODER_IN_FLIGHT],
                                  struct sl_diag *diag)
{
    (void)machine;
    (void)sizes;
    (void)jobs;
    return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "this build has no CUDA");
}

static void absent_close(void *machine)
{
    (void)machine;
}

const struct encode_backend batch_encode_cuda = {.open = absent_open, .close = absent_close};
