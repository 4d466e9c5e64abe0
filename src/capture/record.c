/* SPDX-License-Identifier: MIT */
#include "base/diag.h"
#include "capture/source.h"

enum sl_status capture_full(const struct sl_capture *capture, const struct sl_batch *batch,
                            uint32_t len, struct sl_diag *diag)
{
    if (batch->n_items != 0)
        return SL_OK;
    return diag_set(diag, SL_EINVAL, capture->name, 0,
                    "a batch of %s bytes and %s items cannot hold a packet of %s bytes",
                    grouped(batch->bytes_cap).text, grouped(batch->max_items).text,
                    grouped(len).text);
}
