/* SPDX-License-Identifier: MIT */
#include "traffic_sample.h"

#include <sys/stat.h>

#include "sluice/capture.h"
#include "sluice/dissect.h"

enum {
    SAMPLE_LEN = 8 << 20, /* bytes: more teaches little and takes time */
    SAMPLE_ITEMS = 65536,
    SAMPLE_LEAST = 64 << 10 /* bytes of payload: less says little of the later ones */
};

/* Pipes cannot be read again. */
static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* False: the file has ended, or is broken: the packets before count. */
static bool fill_from(struct sl_batch *batch, const char *path)
{
    struct sl_capture *capture;

    if (!is_file(path) || sl_capture_open_file(&capture, path, 0, NULL) != SL_OK)
        return false;
    const bool full = sl_capture_read(capture, batch, NULL) == SL_OK;
    sl_capture_close(capture);
    return full;
}

static uint64_t payload_len(const struct sl_batch *batch)
{
    uint64_t len = 0;

    for (uint32_t i = 0; i < batch->n_items; i++)
        len += batch->payload[i].len;
    return len;
}

struct sl_batch *traffic_sample_read(const char *const *paths, size_t n_paths)
{
    struct sl_dissect_stats stats = {0};
    struct sl_batch *batch;
    bool full = false;

    if (sl_batch_create(&batch, SAMPLE_LEN, SAMPLE_ITEMS, NULL) != SL_OK)
        return NULL;
    for (size_t i = 0; i < n_paths && !full; i++)
        full = fill_from(batch, paths[i]);
    sl_dissect(batch, &stats);
    if (payload_len(batch) >= SAMPLE_LEAST)
        return batch;
    sl_batch_free(batch);
    return NULL;
}
