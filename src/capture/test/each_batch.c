/* SPDX-License-Identifier: MIT */
#include "each_batch.h"

#include <stdio.h>

static enum sl_status visit_batches(struct sl_capture *capture, struct sl_batch *batch,
                                    void (*visit)(struct sl_batch *batch), struct sl_diag *diag)
{
    enum sl_status status;

    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, diag);
        visit(batch);
    } while (status == SL_OK);
    return status;
}

int visit_capture(int argc, char **argv, void (*visit)(struct sl_batch *batch))
{
    struct sl_capture *capture = NULL;
    struct sl_batch *batch = NULL;
    struct sl_diag diag;
    char text[1100];

    if (argc != 2) {
        fprintf(stderr, "usage: %s CAPTURE\n", argv[0]);
        return 2;
    }
    enum sl_status status = sl_batch_create(&batch, 1 << 20, 4096, &diag);
    if (status == SL_OK)
        status = sl_capture_open_file(&capture, argv[1], 0, &diag);
    if (status == SL_OK)
        status = visit_batches(capture, batch, visit, &diag);
    sl_capture_close(capture);
    sl_batch_free(batch);
    if (status == SL_END)
        return 0;
    sl_diag_format(&diag, text, sizeof text);
    fprintf(stderr, "%s: %s\n", argv[0], text);
    return status == SL_ETRUNCATED ? 0 : 2;
}
