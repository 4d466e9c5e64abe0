/* SPDX-License-Identifier: MIT */
#include "base/reserved.h"

#include <stddef.h>

#include "base/diag.h"

enum sl_status reserved_check(const uint64_t reserved[4], struct sl_diag *diag)
{
    for (int i = 0; i < 4; i++)
        if (reserved[i] != 0)
            return diag_set(diag, SL_EINVAL, NULL, 0,
                            "a config's reserved[%d] is not 0 (expected an initialized config)", i);
    return SL_OK;
}
