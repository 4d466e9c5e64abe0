/* SPDX-License-Identifier: MIT */
/* Markers of samplebyte from a capture. */
#include "cli.h"
#include "run_redundancy.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"

enum { TRAIN_LEN = 128 << 20 /* bytes of payload: what is behind them is not looked at */ };

/* Gives the capture's payloads to the trainer. */
static bool feed(struct sl_sampling_trainer *trainer, const char *path, struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};
    struct sl_capture_stats captured;
    struct sl_capture *capture;
    struct sl_diag diag = {0};
    enum sl_status status = sl_capture_open_file(&capture, path, 0, &diag);
    bool more = true;

    if (status != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    while (status == SL_OK && more) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        sl_dissect(batch, &stats);
        more = sl_sampling_trainer_add(trainer, batch);
    }
    sl_capture_stats(capture, &captured);
    sl_capture_close(capture);
    if (status == SL_OK || status == SL_END)
        return true;
    cli_diag(&diag);
    return captured.packets != 0; /* what came before it is learned from */
}

static void say(const struct redundancy *redundancy, const struct sl_sampling_training *training)
{
    char bytes[32];

    if (training->n_markers == 0) {
        cli_error("%s: nothing repeats in it, samplebyte keeps its generic markers",
                  redundancy->train);
        return;
    }
    fprintf(stderr, "trained    on %s, of which %.1f %% repeat: markers",
            cli_bytes((double)training->bytes_len, bytes),
            100 * (double)training->redundant / (double)training->bytes_len);
    for (int byte = 0; byte < 256; byte++)
        if (redundancy->sampling.marker[byte])
            fprintf(stderr, " %02x", (unsigned)byte);
    fputc('\n', stderr);
}

bool redundancy_train(struct redundancy *redundancy)
{
    struct sl_sampling_trainer *trainer = NULL;
    struct sl_sampling_training training;
    struct sl_batch *batch = NULL;
    struct sl_diag diag = {0};
    bool good = false;

    if (sl_sampling_trainer_create(
            &trainer, redundancy->sampling.window, redundancy->sampling.period,
            redundancy->config.redundancy.chunks, TRAIN_LEN, &diag) != SL_OK ||
        sl_batch_create(&batch, 4 << 20, 16384, &diag) != SL_OK) {
        cli_diag(&diag);
        goto out;
    }
    if (!feed(trainer, redundancy->train, batch))
        goto out;
    good = sl_sampling_trainer_end(trainer, redundancy->sampling.marker, &training, &diag) == SL_OK;
    if (good)
        say(redundancy, &training);
    else
        cli_diag(&diag);
out:
    sl_batch_free(batch);
    sl_sampling_trainer_free(trainer);
    return good;
}
