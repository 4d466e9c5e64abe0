/* SPDX-License-Identifier: MIT */
#include "message_events.h"

#include <stdlib.h>

#include "base/diag.h"

/* Events of messages alone, as those of a batch without packets. */
static enum sl_status write_messages(const struct run_source *source, const struct app_batch *said,
                                     struct run_sinks *sinks, struct sl_diag *diag)
{
    static const struct sl_batch empty = {.n_items = 1};
    struct run_policy *policy = run_policy_create(); /* without engines */
    struct sl_flow_keys *keys = NULL;
    struct run_digest *digest = NULL;
    enum sl_status status = sl_flow_keys_create(&keys, 1, diag);

    if (status == SL_OK && policy == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    if (status == SL_OK)
        status = run_digest_create(&digest, policy, sinks, diag);
    if (status == SL_OK) {
        const struct batch_events events =
            batch_events_of(source, &empty, NULL, digest, keys, said);

        status = run_sinks_write(sinks, digest->held, &events, diag);
    }
    run_digest_free(digest);
    sl_flow_keys_free(keys);
    run_policy_release(policy);
    return status;
}

enum sl_status message_events_finish(const struct run_source *source, struct run_streams *streams,
                                     struct run_apps *apps, struct run_sinks *sinks,
                                     struct sl_diag *diag)
{
    struct app_batch *said = calloc(1, sizeof *said);

    if (said == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    enum sl_status status = run_streams_finish(streams, apps, said, diag);

    if (status == SL_OK && said->n_late != 0)
        status = write_messages(source, said, sinks, diag);
    if (apps != NULL)
        app_batch_count(said, apps);
    app_batch_clear(said);
    free(said);
    return status;
}
