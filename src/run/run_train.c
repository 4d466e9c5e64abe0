/* SPDX-License-Identifier: MIT */
/* Learning the markers of samplebyte from a capture. */
#include "base/diag.h"
#include "run_internal.h"

enum { TRAIN_LEN = 128 << 20 /* bytes of payload: those behind them are not read */ };

/* Gives the capture's payloads to the trainer. */
static enum sl_status feed(struct sl_run *run, struct sl_sampling_trainer *trainer,
                           const char *path, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sl_dissect_stats stats = {0};
    struct sl_capture_stats captured;
    struct sl_capture *capture;
    struct sl_diag fault;
    enum sl_status status = sl_capture_open_file(&capture, path, 0, diag);
    bool more = true;

    if (status != SL_OK)
        return status;
    while (status == SL_OK && more) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &fault);
        sl_dissect(batch, &stats);
        more = sl_sampling_trainer_add(trainer, batch);
    }
    sl_capture_stats(capture, &captured);
    sl_capture_close(capture);
    if (status == SL_OK || status == SL_END)
        return SL_OK;
    if (captured.packets == 0 && diag != NULL)
        *diag = fault;
    if (captured.packets == 0)
        return status;
    run_notices_text(&run->notices, SL_RUN_SOURCE_FAILED, &fault); /* the packets before it do */
    return SL_OK;
}

enum sl_status sl_run_train(struct sl_run *run, const char *path,
                            struct sl_sampling_training *training, struct sl_diag *diag)
{
    struct sl_run_redundancy *redundancy = &run->redundancy.config;
    struct sl_sampling_trainer *trainer = NULL;
    struct sl_batch *batch = NULL;
    enum sl_status status;

    if (!redundancy->on || run->opened)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "markers are learned for redundancy, before the run is opened");
    status = sl_sampling_trainer_create(&trainer, redundancy->sampling.window,
                                        redundancy->sampling.period,
                                        redundancy->savings.redundancy.chunks, TRAIN_LEN, diag);
    if (status == SL_OK)
        status = sl_batch_create(&batch, 4 << 20, 16384, diag);
    if (status == SL_OK)
        status = feed(run, trainer, path, batch, diag);
    if (status == SL_OK)
        status = sl_sampling_trainer_end(trainer, redundancy->sampling.marker, training, diag);
    sl_batch_free(batch);
    sl_sampling_trainer_free(trainer);
    return status;
}
