/* SPDX-License-Identifier: MIT */
/* Sampling periods, markers of samplebyte, and the period changed while dynabyte runs (E. Halepovic
 * et al., "DYNABYTE", figures 3 to 5, 9 and 10), over the packets of captures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "studies.h"
#include "study_saver.h"

enum {
    PERIOD = 32,          /* the papers' */
    TRAIN_LEN = 32 << 20, /* bytes of payload */
    N_ROWS = 24           /* intervals that are printed */
};

#define PACKETS_MAX UINT64_C(2000000000) /* bytes of packets that are loaded */

static bool load(struct bench_data *data, const struct study *study)
{
    return bench_load(data, &study->bench->input, SAVER_BATCH_LEN, false, PACKETS_MAX);
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

/* The bytes that the trace's beginning ranks highest. n_chosen: as many as training takes for
 * expanded matches or for chunks. False: an error was printed. */
static bool learn(const struct bench_data *data, bool chunks, struct ranking *ranking,
                  uint32_t *n_chosen)
{
    struct sl_sampling_trainer *trainer;
    struct sl_sampling_training training;
    struct sl_diag diag = {0};
    bool marker[256] = {false};
    bool good = sl_sampling_trainer_create(&trainer, SAVER_WINDOW, PERIOD, chunks, TRAIN_LEN,
                                           &diag) == SL_OK;

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
        const bool good = saver_open(&saver, "samplebyte", PERIOD, marker, chunks != 0, 0) &&
                          saver_take(&saver, data, 0, data->n_batches);

        if (good)
            sl_savings_total(saver.savings, &total);
        saver_close(&saver);
        if (!good)
            return false;
        study_number(&row, columns[chunks], saver_net_percent(&total.count), 2);
    }
    study_number(&row, "bytes a sample", saver_bytes_a_sample(&total), 1);
    snprintf(row.note, sizeof row.note, "%s", note);
    study_print(&study->table, &row);
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

    study_print_note(
        &study->table,
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

/* ---- figures 3, 5 and 9 ---------------------------------------------------------------------- */

static bool print_period(struct study *study, const struct bench_data *data, const char *name,
                         const char *sampler, const bool marker[256], uint32_t period)
{
    struct study_row row = {.note = ""};
    struct sl_savings_row total = {0};
    struct saver saver;
    const bool good = saver_open(&saver, sampler, period, marker, true, 0) &&
                      saver_take(&saver, data, 0, data->n_batches);

    if (good)
        sl_savings_total(saver.savings, &total);
    study_text(&row, "as", name);
    study_number(&row, "period", period, 0);
    study_number(&row, "net %", saver_net_percent(&total.count), 2);
    study_number(&row, "bytes a sample", saver_bytes_a_sample(&total), 1);
    study_number(
        &row, "ms a GB",
        total.count.bytes > 0 ? 1e3 * (double)saver.spent_ns / (double)total.count.bytes : -1, 0);
    saver_close(&saver);
    if (good)
        study_print(&study->table, &row);
    return good;
}

bool study_periods(struct study *study)
{
    static const uint32_t tried[] = {16, 24, 32, 48, 64, 128};
    struct ranking trained = {.n = 0};
    struct bench_data data = {0};
    bool marker[256] = {false};
    uint32_t n_markers = 0;
    bool good = load(&data, study) && learn(&data, true, &trained, &n_markers);

    for (uint32_t i = 0; i < n_markers && good; i++)
        marker[trained.bytes[i]] = true;
    study_print_note(
        &study->table,
        "Figures 3, 5 and 9: samplebyte's rate changes by a factor of 3 where the period does "
        "by 8, dynabyte's follows it; markers of the trace save 24 to 56 % more than generic "
        "ones.\n"
        "Here: w = 64, a cache of 200 MB, chunks, markers from the first 32 MiB; what sampling "
        "takes of one core.");
    for (size_t i = 0; i < sizeof tried / sizeof *tried && good; i++)
        good = print_period(study, &data, "samplebyte, generic", "samplebyte", NULL, tried[i]) &&
               print_period(study, &data, "samplebyte, trained", "samplebyte", marker, tried[i]) &&
               print_period(study, &data, "dynabyte", "dynabyte", NULL, tried[i]);
    bench_unload(&data);
    return good;
}

/* ---- figure 10 ------------------------------------------------------------------------------- */

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
            study_number(&row, rates[i], saver_bytes_a_sample(&rows[i][at]), 2);
            study_number(&row, nets[i], saver_net_percent(&rows[i][at].count), 1);
        }
        study_print(&study->table, &row);
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

    study_print_note(
        &study->table,
        "Figure 10: p is 32, from 1,000 MB on 64, from 2,000 MB on 48; dynabyte has the new "
        "rate within a few intervals, samplebyte hardly changes.\n"
        "Here: at a third and two thirds of the trace; w = 64, a cache of 200 MB, chunks.");
    for (int i = 0; i < N_SAVERS && good; i++)
        good = saver_open(&savers[i], samplers[i], periods[0], NULL, true, data.bytes / N_ROWS);
    for (size_t p = 0; p < N_PERIODS && good; p++) {
        const size_t first = data.n_batches * p / N_PERIODS;
        const size_t end = data.n_batches * (p + 1) / N_PERIODS;

        begins[p] = bytes;
        for (size_t i = first; i < end; i++)
            bytes += payload_of(&data.batches[i]);
        for (int i = 0; i < N_SAVERS && good; i++)
            good = saver_change_period(&savers[i], periods[p]) &&
                   saver_take(&savers[i], &data, first, end);
    }
    if (good)
        print_intervals(study, savers, begins);
    for (int i = 0; i < N_SAVERS; i++)
        saver_close(&savers[i]);
    bench_unload(&data);
    return good;
}
