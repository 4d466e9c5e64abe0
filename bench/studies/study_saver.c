/* SPDX-License-Identifier: MIT */
#include "study_saver.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/console.h"
#include "sluice/capture.h"

enum {
    BATCH_ITEMS = SAVER_BATCH_LEN / 64 + 1,
    INTERVAL = 8 << 20 /* eligible bytes of dynabyte's, as in a run */
};

static void close_sampler(struct saver *saver)
{
    if (saver->context != NULL)
        saver->backend->close(saver->context);
    saver->context = NULL;
    sl_sampling_free(saver->table);
    saver->table = NULL;
}

static enum sl_status open_sampler(struct saver *saver)
{
    const struct sl_limits limits = {.max_items = BATCH_ITEMS,
                                     .max_bytes = SAVER_BATCH_LEN + SL_BATCH_ALIGN,
                                     .max_hits = SAVER_BATCH_LEN};
    enum sl_status status = sl_sampling_build(&saver->table, &saver->config, &saver->diag);

    if (status != SL_OK)
        return status;
    saver->backend = sl_engine_choose(sl_sampling_engine(saver->table), SL_DEVICE_CPU, NULL);
    return saver->backend->open(&saver->context, saver->table, &limits, &saver->diag);
}

static enum sl_status open_dynabyte(struct saver *saver)
{
    struct sl_dynabyte_config config;

    sl_dynabyte_config_init(&config);
    config.window = saver->config.window;
    config.period = saver->config.period;
    config.interval = INTERVAL;
    return sl_dynabyte_create(&saver->dynabyte, &config, &saver->diag);
}

bool saver_open(struct saver *saver, const char *sampler, uint32_t period, const bool marker[256],
                bool chunks, uint64_t interval_len)
{
    struct sl_savings_config config;

    memset(saver, 0, sizeof *saver);
    sl_sampling_config_init(&saver->config);
    saver->config.sampler = sampler;
    saver->config.window = SAVER_WINDOW;
    saver->config.period = period;
    if (marker != NULL)
        memcpy(saver->config.marker, marker, sizeof saver->config.marker);
    sl_savings_config_init(&config);
    config.redundancy.cache_len = SAVER_CACHE_LEN;
    config.redundancy.batch_len = SAVER_BATCH_LEN + SL_BATCH_ALIGN;
    config.redundancy.max_items = BATCH_ITEMS;
    config.redundancy.frame_max = SL_CAPTURE_PACKET_MAX;
    config.redundancy.window = SAVER_WINDOW;
    config.redundancy.period = period;
    config.redundancy.min_match = chunks ? SL_REFERENCE_MIN : SAVER_WINDOW;
    config.redundancy.chunks = chunks;
    config.interval_len = interval_len;
    config.interval_ns = 0;
    saver->hits.cap = SAVER_BATCH_LEN;
    saver->hits.hit = malloc(SAVER_BATCH_LEN * sizeof *saver->hits.hit);

    enum sl_status status = saver->hits.hit == NULL ? SL_ENOMEM : open_sampler(saver);
    if (status == SL_OK && strcmp(sampler, "dynabyte") == 0)
        status = open_dynabyte(saver);
    if (status == SL_OK)
        status = sl_savings_create(&saver->savings, &config, &saver->diag);
    if (status != SL_OK)
        cli_error("%s: %s", sl_status_text(status), saver->diag.text);
    return status == SL_OK;
}

void saver_close(struct saver *saver)
{
    close_sampler(saver);
    sl_dynabyte_free(saver->dynabyte);
    sl_savings_free(saver->savings);
    free(saver->hits.hit);
}

static enum sl_status save_batch(struct saver *saver, const struct sl_batch *batch)
{
    struct sl_dynabyte_state state;
    uint64_t ticket = 0;
    enum sl_status status = SL_OK;
    const uint64_t begin = clock_thread_ns();

    if (saver->dynabyte != NULL) {
        status = sl_dynabyte_begin(saver->dynabyte, batch, &state, &ticket);
        if (status == SL_OK)
            status = sl_dynabyte_use(saver->context, &state);
    }
    if (status == SL_OK)
        status = saver->backend->submit(saver->context, batch, &saver->hits);
    if (status == SL_OK)
        status = saver->backend->wait(saver->context);
    if (status == SL_OK && saver->dynabyte != NULL)
        sl_dynabyte_end(saver->dynabyte, ticket, saver->hits.n);
    saver->spent_ns += clock_thread_ns() - begin;
    return status == SL_OK ? sl_savings_batch(saver->savings, batch, &saver->hits, &saver->diag)
                           : status;
}

bool saver_take(struct saver *saver, const struct bench_data *data, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const enum sl_status status = save_batch(saver, &data->batches[i]);

        if (status != SL_OK) {
            cli_error("%s: %s", saver->config.sampler, sl_status_text(status));
            return false;
        }
    }
    return true;
}

bool saver_change_period(struct saver *saver, uint32_t period)
{
    enum sl_status status;

    saver->config.period = period;
    if (saver->dynabyte != NULL) {
        status = sl_dynabyte_set_period(saver->dynabyte, period);
    } else {
        close_sampler(saver);
        status = open_sampler(saver);
    }
    if (status != SL_OK)
        cli_error("%s: %s", saver->config.sampler, sl_status_text(status));
    return status == SL_OK;
}

double saver_net_percent(const struct sl_savings_count *count)
{
    const double net = (double)count->matched_bytes - (double)count->reference_bytes;

    return count->bytes > 0 && net > 0 ? 100 * net / (double)count->bytes : 0;
}

double saver_bytes_a_sample(const struct sl_savings_row *row)
{
    return row->samples > 0 ? (double)row->eligible / (double)row->samples : -1;
}
