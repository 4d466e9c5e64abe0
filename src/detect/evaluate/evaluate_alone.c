/* SPDX-License-Identifier: MIT */
/* The rules on one batch, without state of others. */
#include <string.h>

#include "detect/state/state.h"

enum sl_status sl_rules_evaluate(const struct sl_rules *rules, const struct sl_batch *batch,
                                 const struct sl_hits *hits, struct sl_alert *alerts, size_t cap,
                                 size_t *n)
{
    struct sl_evaluator *evaluator = NULL;
    const struct sl_alert *found = NULL;

    *n = 0;
    enum sl_status status = sl_evaluator_create(&evaluator, rules, NULL);
    if (evaluator == NULL)
        return status;
    status = sl_evaluator_run(evaluator, batch, hits, &found, n);
    if (status == SL_OK && !state_settle_alone(evaluator, batch))
        status = SL_ENOMEM;
    if (status == SL_OK)
        sl_evaluator_conclude(evaluator, &found, n);
    if (status == SL_OK && *n != 0 && cap != 0)
        memcpy(alerts, found, (*n < cap ? *n : cap) * sizeof *alerts);
    sl_evaluator_free(evaluator);
    return status == SL_OK && *n > cap ? SL_EOVERFLOW : status;
}
