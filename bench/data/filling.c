/* SPDX-License-Identifier: MIT */
#include "filling.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

enum { ITEM_MEAN = 64 /* bytes of an item; a batch with shorter ones ends early */ };

struct filling filling_begin(struct bench_data *data, uint32_t batch_len, bool pinned)
{
    memset(data, 0, sizeof *data);
    return (struct filling){data, batch_len, batch_len / ITEM_MEAN + 1, pinned};
}

bool filling_add_batch(const struct filling *to)
{
    struct bench_data *data = to->data;
    struct sl_batch **longer = realloc(data->owned, (data->n_batches + 1) * sizeof *data->owned);
    struct sl_diag diag = {0};

    if (longer == NULL) {
        cli_error("no memory for %zu batches", data->n_batches + 1);
        return false;
    }
    data->owned = longer;
    if (sl_device_batch_create(&longer[data->n_batches],
                               to->pinned ? SL_DEVICE_CUDA : SL_DEVICE_CPU, to->batch_len,
                               to->max_items, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    data->n_batches++;
    return true;
}

struct sl_batch *filling_batch(const struct filling *to, uint32_t len)
{
    struct bench_data *data = to->data;

    if ((data->n_batches == 0 || !sl_batch_fits(data->owned[data->n_batches - 1], len)) &&
        !filling_add_batch(to))
        return NULL;
    return data->owned[data->n_batches - 1];
}

bool filling_add(const struct filling *to, const uint8_t *bytes, uint32_t len, uint16_t overlap)
{
    struct sl_batch *batch = filling_batch(to, len);

    if (batch != NULL)
        sl_batch_add(batch, bytes, len, overlap);
    return batch != NULL;
}

void data_count_batch(struct bench_data *data, const struct sl_batch *batch)
{
    const uint64_t n = batch->n_items;

    data->items += n;
    data->crossing += batch->bytes_len + n * sizeof *batch->payload;
    data->crossing += batch->has_overlap ? n * sizeof *batch->overlap : 0;
    data->crossing += batch->packet != NULL ? n * sizeof *batch->packet : 0;
    for (uint32_t i = 0; i < n; i++)
        data->bytes += batch->packet != NULL
                           ? batch->packet[i].len
                           : batch->payload[i].len - (batch->has_overlap ? batch->overlap[i] : 0);
}

bool filling_end(const struct filling *to, bool packets)
{
    struct bench_data *data = to->data;

    data->batches = calloc(data->n_batches + 1, sizeof *data->batches);
    if (data->batches == NULL) {
        cli_error("no memory for %zu batches", data->n_batches);
        return false;
    }
    for (size_t i = 0; i < data->n_batches; i++) {
        data->batches[i] = *data->owned[i];
        if (!packets) {
            data->batches[i].packet = NULL;
            data->batches[i].origin = NULL;
        }
        data_count_batch(data, &data->batches[i]);
    }
    if (data->items == 0 && !data->is_partial)
        cli_error("no %s to run on", packets ? "packets" : "payload");
    return data->items != 0;
}

void data_describe(struct bench_data *data, bool generated, const char *item)
{
    char bytes[32];

    snprintf(data->text, sizeof data->text, "%s%s, %.0f bytes a %s", generated ? "generated, " : "",
             cli_bytes((double)data->bytes, bytes), (double)data->bytes / (double)data->items,
             item);
}

/* ---- filled data ----------------------------------------------------------------------------- */

struct sl_limits bench_limits(const struct bench_data *data, int device)
{
    struct sl_limits limits = {.device = device};

    for (size_t i = 0; i < data->n_batches; i++) {
        const struct sl_batch *batch = &data->batches[i];

        limits.max_items = batch->n_items > limits.max_items ? batch->n_items : limits.max_items;
        limits.max_bytes =
            batch->bytes_len > limits.max_bytes ? batch->bytes_len : limits.max_bytes;
    }
    return limits;
}

void bench_unload(struct bench_data *data)
{
    for (size_t i = 0; i < data->n_batches && data->owned != NULL; i++)
        sl_batch_free(data->owned[i]);
    sl_stage_close(data->stage);
    free(data->owned);
    free(data->batches);
    memset(data, 0, sizeof *data);
}
