/* SPDX-License-Identifier: MIT */
/* Peers over the same data: zstd, and clamscan beside sluice's own scanner with the same
 * signatures. Vectorscan is a variant of the matcher. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/temporary.h"
#include "bench/data/virus_database.h"
#include "bench/frame/team.h"
#include "bench/peers/clamscan.h"
#include "bench/peers/zstd_frames.h"
#include "bench_whole.h"
#include "cli/console.h"
#include "sluice/clamav.h"

enum {
    ZSTD_LEVEL = 1,         /* its fastest regular one */
    SCANNED_LEN = 16 << 20, /* bytes of the file that is scanned: clamscan takes seconds for it */
    SCANNERS_MAX = 1024
};

static bool rows_of_zstd(const struct bench_whole *whole)
{
    static const int level = ZSTD_LEVEL;
    const struct bench_work work = {.backend = &bench_zstd,
                                    .table = &level,
                                    .data = &whole->packets,
                                    .n_threads = 1,
                                    .units = (double)whole->packets.bytes,
                                    .max_hits = 1}; /* they are a length, not hits */
    char variant[64];
    uint64_t len = 0;

    snprintf(variant, sizeof variant, "level %d, frames of 4 MiB", level);
    if (!bench_whole_rows(whole, &work, "zstd", variant, BENCH_PEER, &len))
        return false;
    if (!whole->bench->frame.json)
        printf("%-18s %.1f %% of the bytes are left\n", "",
               100.0 * (double)len / (double)whole->packets.bytes);
    return true;
}

/* ---- scanned data ---------------------------------------------------------------------------- */

struct scan {
    size_t n_signatures;
    char folder[64], database[96], scanned[96], nothing[96]; /* paths */
    char *text;                                              /* of the database */
    size_t text_len;
    uint8_t *bytes; /* of the file */
    size_t len;
    struct sl_clamav_db *db;
    struct sl_clamav_scanner *scanners[SCANNERS_MAX];
    unsigned n_scanners;
    struct bench_team *team;
    unsigned cores;
    atomic_bool failed;
};

static void append_payloads(struct scan *scan, const struct sl_batch *batch)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_span span = batch->payload[i];
        const size_t room = SCANNED_LEN - scan->len;
        const size_t len = span.len < room ? span.len : room;

        memcpy(scan->bytes + scan->len, batch->bytes + span.offset, len);
        scan->len += len;
    }
}

/* The payloads one behind the other, as often as it takes. */
static bool write_payloads(struct scan *scan, const struct bench_data *data)
{
    size_t before;

    scan->bytes = malloc(SCANNED_LEN);
    if (scan->bytes == NULL)
        return false;
    do {
        before = scan->len;
        for (size_t b = 0; b < data->n_batches; b++)
            append_payloads(scan, &data->batches[b]);
    } while (scan->len > before);
    return true;
}

static bool make_scan(struct scan *scan, const struct bench_data *data)
{
    scan->text = virus_database_make(scan->n_signatures, &scan->text_len);
    if (scan->text == NULL || !bench_make_folder(scan->folder))
        return false;
    if (!write_payloads(scan, data)) {
        cli_error("no memory for what is scanned");
        return false;
    }
    snprintf(scan->database, sizeof scan->database, "%s/virus.ndb", scan->folder);
    snprintf(scan->scanned, sizeof scan->scanned, "%s/scanned", scan->folder);
    snprintf(scan->nothing, sizeof scan->nothing, "%s/nothing", scan->folder);
    return bench_write_file(scan->database, scan->text, scan->text_len) &&
           bench_write_file(scan->scanned, scan->bytes, scan->len) &&
           bench_write_file(scan->nothing, "x", 1);
}

static void end_scan(struct scan *scan)
{
    for (unsigned i = 0; i < scan->n_scanners; i++)
        sl_clamav_close(scan->scanners[i]);
    sl_clamav_free(scan->db);
    if (scan->folder[0] != '\0')
        bench_remove_folder(scan->folder);
    free(scan->text);
    free(scan->bytes);
}

/* ---- sluice's own scanner -------------------------------------------------------------------- */

static bool open_scanners(struct scan *scan, unsigned n)
{
    struct sl_clamav_scan_config config;
    struct sl_clamav_set *set;
    struct sl_diag diag = {0};
    enum sl_status status = sl_clamav_set_create(&set, &diag);

    if (status == SL_OK)
        status = sl_clamav_set_read_text(set, "virus.ndb", scan->text, scan->text_len, &diag);
    if (status == SL_OK)
        status = sl_clamav_compile(&scan->db, set, SL_DEVICE_CPU, &diag);
    sl_clamav_set_free(set);
    sl_clamav_scan_config_init(&config);
    while (status == SL_OK && scan->n_scanners < n) {
        status = sl_clamav_open(&scan->scanners[scan->n_scanners], scan->db, &config, &diag);
        scan->n_scanners += status == SL_OK;
    }
    if (status != SL_OK)
        cli_diag(&diag);
    return status == SL_OK;
}

static void scan_one(void *user, unsigned member)
{
    struct scan *scan = user;

    if (sl_clamav_scan_buffer(scan->scanners[member], scan->bytes, scan->len, NULL) != SL_OK ||
        sl_clamav_flush(scan->scanners[member]) != SL_OK)
        scan->failed = true;
}

static double scan_once(void *user)
{
    struct scan *scan = user;

    bench_team_run(scan->team);
    return (double)scan->len * scan->cores;
}

static void print_scan(const struct bench *bench, const struct bench_row *like,
                       const struct scan *scan, unsigned cores, const char *setting)
{
    char variant[96], data[160], bytes[32], series[96];
    struct bench_row row = *like;

    snprintf(variant, sizeof variant, "%.60s, %u core%s", like->variant, cores,
             cores == 1 ? "" : "s");
    snprintf(series, sizeof series, "%s %.60s", like->what, like->variant);
    snprintf(data, sizeof data, "a file of %s, %zu signatures%s",
             cli_bytes((double)scan->len, bytes), scan->n_signatures, setting);
    row.variant = variant;
    row.series = series;
    row.data = data;
    row.unit = 1e9;
    row.unit_name = "GB/s";
    row.cores = cores;
    bench_print(&bench->frame, &row);
}

static bool rows_of_scanner(const struct bench_whole *whole, struct scan *scan)
{
    const unsigned most = whole->ceilings.cores[whole->ceilings.n - 1];
    double one_core = 0;

    if (!open_scanners(scan, most < SCANNERS_MAX ? most : SCANNERS_MAX))
        return false;
    for (unsigned i = 0; i < whole->ceilings.n; i++) {
        scan->cores = whole->ceilings.cores[i];
        if (scan->cores > scan->n_scanners)
            break;
        scan->team = bench_team_start(scan->cores, scan_one, scan);
        if (scan->team == NULL)
            return false;
        struct bench_row row = {.what = "scan",
                                .variant = "sluice",
                                .rate = bench_measure(whole->bench->frame.runs, scan_once, scan),
                                .role = BENCH_ENGINE};
        bench_team_stop(scan->team);
        if (i == 0)
            one_core = row.rate.median;
        else
            row.scaling = row.rate.median / one_core;
        print_scan(whole->bench, &row, scan, scan->cores, "");
    }
    if (scan->failed)
        cli_error("bench: a scan failed");
    return !scan->failed;
}

/* ---- clamscan -------------------------------------------------------------------------------- */

/* Bytes a second, less the time to load the signatures and to scan nothing; 0: it failed. */
static double clamscan_rate(void *user)
{
    struct scan *scan = user;
    const double nothing = clamscan_run(scan->database, scan->nothing);
    const double seconds = nothing < 0 ? -1 : clamscan_run(scan->database, scan->scanned);

    if (seconds <= nothing)
        scan->failed = true;
    return seconds <= nothing ? 0 : (double)scan->len / (seconds - nothing);
}

static void row_of_clamscan(const struct bench_whole *whole, struct scan *scan)
{
    const uint32_t runs = whole->bench->frame.runs < 3 ? whole->bench->frame.runs : 3;
    struct bench_row row = {.what = "clamscan", .variant = "one process", .role = BENCH_PEER};

    if (clamscan_run(scan->database, scan->nothing) < 0) {
        bench_print_why(&whole->bench->frame, row.what, row.variant,
                        "it is not installed, or fails");
        return;
    }
    row.rate = bench_rates(runs, clamscan_rate, scan);
    if (scan->failed)
        bench_print_why(&whole->bench->frame, row.what, row.variant, "it failed");
    else
        print_scan(whole->bench, &row, scan, 1,
                   ", -d virus.ndb --max-filesize=1000M --max-scansize=1000M, less its start");
}

bool bench_peers(const struct bench_whole *whole)
{
    struct scan *scan = calloc(1, sizeof *scan);
    bool good = scan != NULL;

    if (good)
        scan->n_signatures = bench_n_viruses(whole->bench);
    good = good && rows_of_zstd(whole) && make_scan(scan, &whole->packets) &&
           rows_of_scanner(whole, scan);

    if (good)
        row_of_clamscan(whole, scan);
    if (scan != NULL)
        end_scan(scan);
    free(scan);
    return good;
}
