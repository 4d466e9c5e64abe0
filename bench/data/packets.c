/* SPDX-License-Identifier: MIT */
#include "cli/console.h"
#include "filling.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"

bool read_captures(const struct bench_input *input, next_batch *next, void *user)
{
    struct sl_diag diag = {0};
    bool whole = true;

    for (size_t p = 0; p < input->n_paths; p++) {
        struct sl_capture *capture = NULL;
        struct sl_batch *batch;
        enum sl_status status = sl_capture_open_file(&capture, input->paths[p], (uint16_t)p, &diag);

        while (status == SL_OK && next(user, &batch))
            status = sl_capture_read(capture, batch, &diag);
        if (status != SL_OK && status != SL_END) {
            cli_diag(&diag); /* one bad capture of many costs that capture */
            whole = false;
        }
        sl_capture_close(capture);
    }
    return whole;
}

struct packets {
    struct filling to;
    uint64_t max_bytes;
    bool failed;
};

static bool next_of_packets(void *user, struct sl_batch **batch)
{
    struct packets *packets = user;

    if ((uint64_t)packets->to.data->n_batches * packets->to.batch_len > packets->max_bytes)
        return false;
    *batch = filling_batch(&packets->to, SL_CAPTURE_PACKET_MAX);
    packets->failed |= *batch == NULL;
    return *batch != NULL;
}

bool bench_load(struct bench_data *data, const struct bench_input *input, uint32_t batch_len,
                bool pinned, uint64_t max_bytes)
{
    struct packets packets = {filling_begin(data, batch_len, pinned), max_bytes, false};
    struct sl_dissect_stats stats = {0};

    data->is_partial = !read_captures(input, next_of_packets, &packets);
    for (size_t i = 0; i < data->n_batches; i++)
        sl_dissect(data->owned[i], &stats);
    if (packets.failed || !filling_end(&packets.to, true))
        return false;
    data_describe(data, input->generated[0] != '\0', "packet");
    return true;
}
