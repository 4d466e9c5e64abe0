/* SPDX-License-Identifier: MIT */
/* Application layers: runs with all rules over HTTP, beside Suricata; the same of bodies in gzip,
 * beside zlib alone; the memory of an open flow. One core's rates are by its CPU time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/data/http_capture.h"
#include "bench/frame/row.h"
#include "bench/frame/team.h"
#include "bench/peers/suricata.h"
#include "bench_pipeline.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "run/run_flow.h"
#include "run_places.h"

enum { LEN_DEFAULT = 500000000, PEER_RUNS = 3 };

/* ---- Suricata -------------------------------------------------------------------------------- */

struct peer {
    struct suricata suricata;
    char *path; /* of the capture */
    uint64_t len;
};

/* Bytes a second; 0: it failed. */
static double rate_of_peer(struct peer *peer)
{
    const struct bench_cores cores = bench_bind_to_cores(1);
    const double seconds = suricata_run(&peer->suricata, peer->path);

    bench_unbind(&cores);
    return seconds > 0 ? (double)peer->len / seconds : 0;
}

static void row_of_peer(struct run_places *places, struct peer *peer)
{
    const uint32_t n =
        places->bench->frame.runs < PEER_RUNS ? places->bench->frame.runs : PEER_RUNS;
    struct bench_row row = {.what = places->what,
                            .variant = "rules, Suricata, one thread",
                            .data = places->data,
                            .unit = 1e9,
                            .unit_name = "GB/s",
                            .cores = 1,
                            .role = BENCH_PEER};
    double rates[PEER_RUNS];

    for (uint32_t i = 0; i < n; i++)
        if ((rates[i] = rate_of_peer(peer)) == 0) {
            bench_print_why(&places->bench->frame, places->what, row.variant,
                            "it is not installed, or fails");
            return;
        }
    row.rate = bench_spread(rates, n);
    bench_print(&places->bench->frame, &row);
    places->peer = row.rate.median;
    places->peer_name = "Suricata";
}

/* ---- HTTP as it is --------------------------------------------------------------------------- */

/* Writes a capture of the kind that the rows are of. */
static bool write_capture(char path[64], const struct run_places *places,
                          const struct http_page *pages, uint64_t len)
{
    uint64_t passed;

    return places->parts->input.n_paths != 0
               ? bench_repeat_captures(path, &places->parts->input, len)
               : http_capture_write(path, pages, false, len, &passed);
}

static bool measure_peer(struct run_places *places, uint64_t len)
{
    struct peer peer = {.path = places->path, .len = len};
    const bool good = suricata_open(&peer.suricata, places->parts->rules, places->parts->n_rules);

    if (good)
        row_of_peer(places, &peer);
    suricata_close(&peer.suricata);
    return good;
}

static bool measure_plain(struct run_places *places, const struct http_page *pages, uint64_t len)
{
    bool good;

    places->data = places->parts->input.n_paths != 0 ? "recorded" : "generated HTTP";
    good = write_capture(places->path, places, pages, len) && run_places_measure_ceilings(places);
    if (places->parts->n_rules != 0)
        good = good && measure_peer(places, len);
    good = good && run_places_measure(places, "rules", RUN_RULES);
    places->peer = 0;
    return good && run_places_measure(places, "events of HTTP", RUN_HTTP);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

struct inflating {
    const struct http_page *pages;
    struct bench_team *team; /* NULL: one thread, this one */
    unsigned n;
    bool failed;
};

static void inflate_pages(void *user, unsigned member)
{
    struct inflating *inflating = user;
    uint8_t *out = malloc(HTTP_PAGE_MAX);
    bool good = out != NULL;

    (void)member;
    for (uint32_t i = 0; i < HTTP_PAGES && good; i++) {
        const struct http_page *page = &inflating->pages[i];
        z_stream stream = {.next_in = (uint8_t *)(uintptr_t)page->packed,
                           .avail_in = page->packed_len,
                           .next_out = out,
                           .avail_out = HTTP_PAGE_MAX};

        good = inflateInit2(&stream, 15 + 16) == Z_OK;
        good = good && inflate(&stream, Z_FINISH) == Z_STREAM_END &&
               stream.total_out == page->plain_len;
        good = inflateEnd(&stream) == Z_OK && good;
    }
    if (!good)
        inflating->failed = true;
    free(out);
}

static double inflate_once(void *user)
{
    enum { TIMES = 20 };
    struct inflating *inflating = user;
    double len = 0;

    for (uint32_t i = 0; i < HTTP_PAGES; i++)
        len += inflating->pages[i].plain_len;
    for (int i = 0; i < TIMES; i++)
        if (inflating->team != NULL)
            bench_team_run(inflating->team);
        else
            inflate_pages(inflating, 0);
    return len * TIMES * inflating->n;
}

static bool measure_zlib(struct run_places *places, const struct http_page *pages, unsigned which)
{
    struct inflating inflating = {.pages = pages, .n = places->ceilings.cores[which]};
    const uint32_t runs = places->bench->frame.runs;
    struct bench_rate rate;

    if (inflating.n == 1) {
        rate = bench_measure_thread(runs, inflate_once, &inflating);
    } else {
        inflating.team = bench_team_start(inflating.n, inflate_pages, &inflating);
        if (inflating.team == NULL)
            return false;
        rate = bench_measure(runs, inflate_once, &inflating);
        bench_team_stop(inflating.team);
    }
    places->ceiling[which] = rate.median;
    if (inflating.failed)
        cli_error("bench app: a page cannot be unpacked");
    return !inflating.failed;
}

static bool measure_packed(struct run_places *places, const struct http_page *pages, uint64_t len)
{
    uint64_t passed = 0;
    bool good = http_capture_write(places->path, pages, true, len, &passed);

    places->data = "generated, bodies in gzip";
    places->unit_bytes = (double)passed;
    places->ceiling_of = "zlib alone";
    for (unsigned i = 0; i < places->ceilings.n && good; i++)
        good = measure_zlib(places, pages, i);
    return good && run_places_measure(places, "gzip, rules", RUN_RULES) &&
           run_places_measure(places, "gzip, events of HTTP", RUN_HTTP);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The state of a flow that waits for more of a page, whose first segment has come. */
static bool measure_memory(const struct bench *bench, const struct http_page *page)
{
    static const char request[] =
        "GET /pages/1/index.html HTTP/1.1\r\nHost: www.site.example\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0\r\n"
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"
        "Accept-Encoding: gzip, deflate\r\nCookie: session=0123456789abcdef\r\n\r\n";
    const struct app_config config = {.memory = 1 << 20, .values = UINT64_MAX, .has_steps = true};
    struct app_output output = {0};
    struct app_slot slot = {0};
    const struct app_place place = {.slot = &slot, .flow = 1};
    struct app_shard *shard = NULL;
    struct sl_diag diag = {0};
    uint8_t response[1460];

    if (app_shards_create(&shard, 1, &config, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    const int head = snprintf((char *)response, sizeof response,
                              "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\n"
                              "Content-Length: %u\r\n\r\n",
                              page->plain_len);
    memcpy(response + head, page->plain, sizeof response - (size_t)head);
    app_shard_begin(shard, &output);
    app_give(shard, &place, APP_CLIENT, (const uint8_t *)request, sizeof request - 1);
    app_give(shard, &place, APP_SERVER, response, sizeof response);

    const struct bench_row row = {.what = "app",
                                  .variant = "memory of an open flow",
                                  .data = "a segment of its page has come",
                                  .rate.median =
                                      (double)(app_shard_held(shard) + sizeof(struct run_flow)),
                                  .unit = 1,
                                  .unit_name = "bytes"};
    bench_print(&bench->frame, &row);
    app_end(shard, &place);
    app_shards_free(shard, 1);
    app_output_free(&output);
    return true;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

bool bench_app(const struct bench *bench)
{
    static const char *const variables[] = {"HOME_NET=any", "EXTERNAL_NET=any"};
    const uint64_t len = bench->bytes != 0 ? bench->bytes : LEN_DEFAULT;
    struct run_parts parts = {.input = bench->input,
                              .rules = bench->input.rule_files.paths,
                              .n_rules = bench->input.rule_files.n_paths,
                              .variables = variables,
                              .n_variables = 2};
    struct run_places places = {
        .bench = bench, .parts = &parts, .what = "app", .by_core_time = true};
    struct http_page *pages = http_pages_make();
    bool good = pages != NULL;

    run_places_choose(&places);
    good = good && measure_plain(&places, pages, len);
    run_places_remove(&places);
    good = good && measure_packed(&places, pages, len);
    run_places_remove(&places);
    good = good && measure_memory(bench, pages);
    free(pages);
    return good;
}
