/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "filling.h"

/* ---- packets --------------------------------------------------------------------------------- */

static bool put_packet(const struct filling *to, const struct sl_batch *from, uint32_t i)
{
    const struct sl_packet *packet = &from->packet[i];
    struct sl_batch *batch = filling_batch(to, packet->len);

    if (batch == NULL)
        return false;
    const uint32_t item = sl_batch_add(batch, from->bytes + packet->offset, packet->len, 0);
    const uint32_t offset = batch->packet[item].offset;
    batch->packet[item] = *packet;
    batch->packet[item].offset = offset;
    batch->payload[item].offset = offset + (from->payload[i].offset - packet->offset);
    batch->payload[item].len = from->payload[i].len;
    return true;
}

bool bench_rebatch(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                   bool pinned)
{
    const struct filling to = filling_begin(data, batch_len, pinned);

    for (size_t b = 0; b < from->n_batches; b++)
        for (uint32_t i = 0; i < from->batches[b].n_items; i++)
            if (!put_packet(&to, &from->batches[b], i))
                return false;
    memcpy(data->text, from->text, sizeof data->text);
    return filling_end(&to, true);
}

/* ---- payloads -------------------------------------------------------------------------------- */

static bool put_item(const struct filling *to, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_span span = batch->payload[item];

    return filling_add(to, batch->bytes + span.offset, span.len,
                       batch->has_overlap ? batch->overlap[item] : 0);
}

static bool put_batch(const struct filling *to, const struct sl_batch *batch, uint32_t first,
                      uint32_t end)
{
    for (uint32_t item = first; item < end; item++)
        if (!put_item(to, batch, item))
            return false;
    return true;
}

/* Makes room for n_times `from` in one batch. */
static bool one_batch(struct filling *to, const struct bench_data *from, uint32_t n_times)
{
    uint64_t len = 0;

    for (size_t i = 0; i < from->n_batches; i++)
        len += from->batches[i].bytes_len;
    len *= n_times;
    if (len > UINT32_MAX - 65536 || from->items * n_times > UINT32_MAX) {
        cli_error("a batch of %.1f GB is too large (expected less than 4.29)", (double)len / 1e9);
        return false;
    }
    to->batch_len = (uint32_t)len;
    to->max_items = (uint32_t)(from->items * n_times);
    return true;
}

bool bench_repack(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                  bool pinned, uint32_t n_times)
{
    struct filling to = filling_begin(data, batch_len, pinned);

    if (batch_len == 0 && !one_batch(&to, from, n_times))
        return false;
    for (uint32_t n = 0; n < n_times; n++)
        for (size_t i = 0; i < from->n_batches; i++)
            if (!put_batch(&to, &from->batches[i], 0, from->batches[i].n_items))
                return false;
    if (n_times == 1)
        memcpy(data->text, from->text, sizeof data->text);
    else
        snprintf(data->text, sizeof data->text, "%.70s, %u times", from->text, n_times);
    return filling_end(&to, false);
}

bool bench_split(struct bench_data *half, struct bench_data *other, const struct bench_data *from)
{
    const uint32_t n = from->batches[0].n_items;
    struct filling to[2] = {filling_begin(half, PAYLOAD_BATCH, false),
                            filling_begin(other, 0, false)};
    bool good = one_batch(&to[1], from, 1);

    if (from->n_batches == 1)
        good = good && put_batch(&to[0], &from->batches[0], 0, n / 2) &&
               put_batch(&to[1], &from->batches[0], n / 2, n);
    else
        for (size_t i = 0; i < from->n_batches && good; i++)
            good = put_batch(&to[i % 2], &from->batches[i], 0, from->batches[i].n_items);
    if (good && (half->n_batches == 0 || other->n_batches == 0)) {
        cli_error("one payload cannot be split into one to train on and one to measure on");
        return false;
    }
    return good && filling_end(&to[0], false) && filling_end(&to[1], false);
}

/* ---- on the GPU ------------------------------------------------------------------------------ */

bool bench_to_device(struct bench_data *data, const struct bench_data *from, size_t batch,
                     int device)
{
    const struct sl_batch *source = &from->batches[batch];
    const struct sl_limits limits = {
        .max_items = source->n_items, .max_bytes = source->bytes_len, .device = device};
    struct sl_diag diag = {0};

    memset(data, 0, sizeof *data);
    data->batches = calloc(1, sizeof *data->batches);
    if (data->batches == NULL || sl_stage_open(&data->stage, &limits, &diag) != SL_OK) {
        cli_error("a batch of %u bytes on the GPU: %s", source->bytes_len, diag.text);
        return false;
    }
    if (sl_stage_upload(data->stage, source, &data->batches[0]) != SL_OK ||
        sl_stage_wait(data->stage) != SL_OK) {
        cli_error("a batch of %u bytes did not reach the GPU", source->bytes_len);
        return false;
    }
    data->n_batches = 1;
    data->batches[0].origin = NULL; /* it would be `from`'s, which may go before this */
    data->batches[0].host_bytes = NULL;
    data_count_batch(data, source);
    memcpy(data->text, from->text, sizeof data->text);
    return true;
}
