/* SPDX-License-Identifier: MIT */
/* Markers of samplebyte, and the sampling period changed while dynabyte runs (E. Halepovic et al.,
 * "DYNABYTE", figures 4 and 10), over the packets of captures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_study.h"
#include "cli.h"
#include "sluice/capture.h"
#include "sluice/dynabyte.h"
#include "sluice/savings.h"

enum {
    BATCH_LEN = 1 << 20,
    BATCH_ITEMS = BATCH_LEN / 64 + 1,
    PERIOD = 32, /* the papers' */
    WINDOW = 64,
    CACHE_LEN = 200 << 20,
    INTERVAL = 8 << 20,   /* eligible bytes of dynabyte's, as in a run */
    TRAIN_LEN = 32 << 20, /* bytes of payload */
    N_ROWS = 24           /* intervals that are printed */
};

#define PACKETS_MAX UINT64_C(2000000000) /* bytes of packets that are loaded */

/* A sampler, and what it saves. */
struct saver {
    struct sl_sampling_config config;
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_dynabyte *dynabyte; /* or NULL */
    struct sl_savings *savings;
    struct sl_hits hits;
    struct sl_diag diag;
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
    const struct sl_limits limits = {
        .max_items = BATCH_ITEMS, .max_bytes = BATCH_LEN + SL_BATCH_ALIGN, .max_hits = BATCH_LEN};
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

/* interval_len: bytes of payload; 0: all is one. False: said. In any case to be closed. */
static bool open_saver(struct saver *saver, const char *sampler, const bool marker[256],
                       bool chunks, uint64_t interval_len)
{
    struct sl_savings_config config;

    memset(saver, 0, sizeof *saver);
    sl_sampling_config_init(&saver->config);
    saver->config.sampler = sampler;
    saver->config.window = WINDOW;
    saver->config.period = PERIOD;
    if (marker != NULL)
        memcpy(saver->config.marker, marker, sizeof saver->config.marker);
    sl_savings_config_init(&config);
    config.redundancy.cache_len = CACHE_LEN;
    config.redundancy.batch_len = BATCH_LEN + SL_BATCH_ALIGN;
    config.redundancy.max_items = BATCH_ITEMS;
    config.redundancy.frame_max = SL_CAPTURE_PACKET_MAX;
    config.redundancy.window = WINDOW;
    config.redundancy.period = PERIOD;
    config.redundancy.min_match = chunks ? SL_REFERENCE_MIN : WINDOW;
    config.redundancy.chunks = chunks;
    config.interval_len = interval_len;
    config.interval_ns = 0;
    saver->hits.cap = BATCH_LEN;
    saver->hits.hit = malloc(BATCH_LEN * sizeof *saver->hits.hit);

    enum sl_status status = saver->hits.hit == NULL ? SL_ENOMEM : open_sampler(saver);
    if (status == SL_OK && strcmp(sampler, "dynabyte") == 0)
        status = open_dynabyte(saver);
    if (status == SL_OK)
        status = sl_savings_create(&saver->savings, &config, &saver->diag);
    if (status != SL_OK)
        cli_error("%s: %s", sl_status_text(status), saver->diag.text);
    return status == SL_OK;
}

static void close_saver(struct saver *saver)
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

    if (saver->dynabyte != NULL) {
        status = sl_dynabyte_begin(saver->dynabyte, batch, &state, &ticket);
        if (status == SL_OK)
            sl_dynabyte_use(saver->context, &state);
    }
    if (status == SL_OK)
        status = saver->backend->submit(saver->context, batch, &saver->hits);
    if (status == SL_OK)
        status = saver->backend->wait(saver->context);
    if (status == SL_OK && saver->dynabyte != NULL)
        sl_dynabyte_end(saver->dynabyte, ticket, saver->hits.n);
    return status == SL_OK ? sl_savings_batch(saver->savings, batch, &saver->hits, &saver->diag)
                           : status;
}

/* The batches from `first` up to `end`. False: said. */
static bool save(struct saver *saver, const struct bench_data *data, size_t first, size_t end)
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

/* ---- rows ------------------------------------------------------------------------------------ */

static double net_percent(const struct sl_savings_count *count)
{
    const double net = (double)count->matched_bytes - (double)count->reference_bytes;

    return count->bytes > 0 && net > 0 ? 100 * net / (double)count->bytes : 0;
}

static double bytes_a_sample(const struct sl_savings_row *row)
{
    return row->samples > 0 ? (double)row->eligible / (double)row->samples : -1;
}

static bool load(struct bench_data *data, const struct study *study)
{
    return bench_load(data, study->bench, BATCH_LEN, false, PACKETS_MAX);
}

/* ---- figure 4 -------------------------------------------------------------------------------- */

/* Byte values, the best marker first. */
struct ranking {
    uint8_t bytes[SL_SAMPLING_RANKED_MAX];
    uint32_t n;
};

/* The generic ones in the order of the papers' list. */
static struct ranking generic_ranking(void)
{
    struct sl_sampling_config config;
    struct ranking ranking = {.n = 0};

    sl_sampling_config_init(&config);
    for (int byte = 0; byte < 256; byte++)
        if (config.marker[byte])
            ranking.bytes[ranking.n++] = (uint8_t)byte;
    return ranking;
}

/* What the trace's first bytes rank highest; n_chosen: as many as training takes for expanded
 * matches or for chunks. False: said. */
static bool learn(const struct bench_data *data, bool chunks, struct ranking *ranking,
                  uint32_t *n_chosen)
{
    struct sl_sampling_trainer *trainer;
    struct sl_sampling_training training;
    struct sl_diag diag = {0};
    bool marker[256] = {false};
    bool good =
        sl_sampling_trainer_create(&trainer, WINDOW, PERIOD, chunks, TRAIN_LEN, &diag) == SL_OK;

    if (!good) {
        cli_diag(&diag);
        return false;
    }
    for (size_t i = 0; i < data->n_batches; i++)
        if (!sl_sampling_trainer_add(trainer, &data->batches[i]))
            break;
    good = sl_sampling_trainer_end(trainer, marker, &training, &diag) == SL_OK;
    sl_sampling_trainer_free(trainer);
    if (!good) {
        cli_diag(&diag);
        return false;
    }
    memcpy(ranking->bytes, training.ranked, sizeof ranking->bytes);
    ranking->n = training.n_ranked;
    *n_chosen = training.n_markers;
    return true;
}

/* The first n of a ranking, referring to chunks and to expanded matches. */
static bool print_markers(struct study *study, const struct bench_data *data, const char *name,
                          const struct ranking *ranking, uint32_t n, const char *note)
{
    static const char *const columns[] = {"net %, expanded", "net %, chunks"};
    bool marker[256] = {false};
    struct study_row row = {.note = ""};
    struct sl_savings_row total = {0};
    char byte[8];

    for (uint32_t i = 0; i < n; i++)
        marker[ranking->bytes[i]] = true;
    snprintf(byte, sizeof byte, "%02x", ranking->bytes[n - 1]);
    study_text(&row, "markers", name);
    study_number(&row, "k", n, 0);
    study_text(&row, "the last", byte);
    for (int chunks = 0; chunks < 2; chunks++) {
        struct saver saver;
        const bool good = open_saver(&saver, "samplebyte", marker, chunks != 0, 0) &&
                          save(&saver, data, 0, data->n_batches);

        if (good)
            sl_savings_total(saver.savings, &total);
        close_saver(&saver);
        if (!good)
            return false;
        study_number(&row, columns[chunks], net_percent(&total.count), 2);
    }
    study_number(&row, "bytes a sample", bytes_a_sample(&total), 1);
    snprintf(row.note, sizeof row.note, "%s", note);
    study_print(study, &row);
    return true;
}

bool study_markers(struct study *study)
{
    const struct ranking generic = generic_ranking();
    struct ranking trained = {.n = 0};
    struct bench_data data = {0};
    uint32_t for_matches = 0, for_chunks = 0;
    bool good = load(&data, study) && learn(&data, true, &trained, &for_chunks) &&
                learn(&data, false, &trained, &for_matches);

    study_say(study,
              "Figure 4: savings do not grow beyond 6 to 8 markers; the generic ones, also at "
              "their best with 6, save 38 % less than those of the trace.\n"
              "Here: samplebyte, p = 32, w = 64, a cache of 200 MB, markers from the first 32 MiB; "
              "what chunks of 64 bytes save, and matches that are expanded.");
    for (uint32_t n = 1; n <= trained.n && good; n++)
        good = print_markers(study, &data, "trained", &trained, n,
                             n == for_matches && n == for_chunks ? "what --train takes"
                             : n == for_matches                  ? "what --train takes, expanded"
                             : n == for_chunks                   ? "what --train takes, chunks"
                                                                 : "");
    for (uint32_t n = 1; n <= generic.n && good; n++)
        good = print_markers(study, &data, "generic", &generic, n, "");
    bench_unload(&data);
    return good;
}

/* ---- figure 10 ------------------------------------------------------------------------------- */

static bool change_period(struct saver *saver, uint32_t period)
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

enum { N_PERIODS = 3, N_SAVERS = 2 };

static const uint32_t periods[N_PERIODS] = {32, 64, 48};
static const char *const samplers[N_SAVERS] = {"samplebyte", "dynabyte"};

static void print_intervals(struct study *study, const struct saver *savers, const uint64_t *begins)
{
    static const char *const rates[] = {"samplebyte bytes a sample", "dynabyte bytes a sample"};
    static const char *const nets[] = {"samplebyte net %", "dynabyte net %"};
    size_t n[N_SAVERS];
    const struct sl_savings_row *rows[N_SAVERS];
    uint64_t bytes = 0;

    for (int i = 0; i < N_SAVERS; i++)
        rows[i] = sl_savings_intervals(savers[i].savings, &n[i]);
    for (size_t at = 0; at < n[0]; at++) {
        struct study_row row = {.note = ""};
        int period = 0;

        while (period + 1 < N_PERIODS && bytes >= begins[period + 1])
            period++;
        bytes += rows[0][at].count.bytes;
        study_number(&row, "up to MB", (double)bytes / 1e6, 0);
        study_number(&row, "period", periods[period], 0);
        for (int i = 0; i < N_SAVERS && at < n[i]; i++) {
            study_number(&row, rates[i], bytes_a_sample(&rows[i][at]), 2);
            study_number(&row, nets[i], net_percent(&rows[i][at].count), 1);
        }
        study_print(study, &row);
    }
}

static uint64_t payload_of(const struct sl_batch *batch)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < batch->n_items; i++)
        bytes += batch->payload[i].len;
    return bytes;
}

bool study_period_change(struct study *study)
{
    struct bench_data data = {0};
    struct saver savers[N_SAVERS] = {{.context = NULL}};
    uint64_t begins[N_PERIODS] = {0}, bytes = 0;
    bool good = load(&data, study);

    study_say(study,
              "Figure 10: p is 32, from 1,000 MB on 64, from 2,000 MB on 48; dynabyte has the new "
              "rate within a few intervals, samplebyte hardly changes.\n"
              "Here: at a third and two thirds of the trace; w = 64, a cache of 200 MB, chunks.");
    for (int i = 0; i < N_SAVERS && good; i++)
        good = open_saver(&savers[i], samplers[i], NULL, true, data.bytes / N_ROWS);
    for (size_t p = 0; p < N_PERIODS && good; p++) {
        const size_t first = data.n_batches * p / N_PERIODS;
        const size_t end = data.n_batches * (p + 1) / N_PERIODS;

        begins[p] = bytes;
        for (size_t i = first; i < end; i++)
            bytes += payload_of(&data.batches[i]);
        for (int i = 0; i < N_SAVERS && good; i++)
            good = change_period(&savers[i], periods[p]) && save(&savers[i], &data, first, end);
    }
    if (good)
        print_intervals(study, savers, begins);
    for (int i = 0; i < N_SAVERS; i++)
        close_saver(&savers[i]);
    bench_unload(&data);
    return good;
}
