/* SPDX-License-Identifier: MIT */
/* A file through a tunnel whose link loses datagrams, with the encoder and without. Each run has
 * losses and content of its own. Both take turns, so that a machine that drifts favours none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bench/data/tunnel_content.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "tunnel_link.h"

enum {
    PARTS = 40,        /* of the file that crosses a thin link */
    WARM_UP = 1 << 18, /* bytes behind the content, which cross before it */
    DELAY_US = 10000
};

/* Bytes a second; 0: the file did not come; below 0: there is no link, for the reason in `why`. */
static double rate_of(bool encodes, uint32_t loss, uint32_t run, const uint8_t *content, size_t len,
                      char why[160])
{
    struct tunnel_relay relay = {.seed = run, .loss = loss, .delay_us = DELAY_US};
    struct tunnel_link link;

    if (!tunnel_link_open(&link, encodes ? "Cache = 16M\n" : "Cache = 16M\nBypass = tcp/5001\n",
                          &relay, why))
        return -1;
    const pid_t server = tunnel_link_run(&link, 1, tunnel_link_sink, NULL);
    (void)tunnel_link_fetch(&link, content + len, WARM_UP);
    const double seconds = tunnel_link_fetch(&link, content, len);
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
    tunnel_link_close(&link);
    return seconds > 0 ? (double)len / seconds : 0;
}

static struct bench_rate print_rates(const struct bench *bench, uint32_t loss, bool encodes,
                                     double *rates)
{
    const struct bench_rate rate = bench_spread(rates, bench->frame.runs);
    char variant[48], data[48];

    snprintf(variant, sizeof variant, "losses of %u in 1,000%s", loss,
             encodes ? "" : ", no encoder");
    snprintf(data, sizeof data, "%u.%u %% lost, 20 ms there and back", loss / 10, loss % 10);
    bench_print(&bench->frame, &(struct bench_row){.what = "tunnel",
                                                   .variant = variant,
                                                   .data = data,
                                                   .rate = rate,
                                                   .unit = 1e6 / 8,
                                                   .unit_name = "Mbit/s"});
    return rate;
}

static bool run_losses(const struct bench *bench, uint32_t loss, uint8_t *content, size_t len)
{
    double rates[2][BENCH_RUNS_MAX];
    char why[160] = "the file did not come";

    for (uint32_t i = 0; i < bench->frame.runs; i++) {
        tunnel_content_fill(content, len + WARM_UP, TUNNEL_NEW, i + 1);
        for (int encodes = 0; encodes < 2; encodes++) {
            rates[encodes][i] = rate_of(encodes != 0, loss, i + 1, content, len, why);
            if (rates[encodes][i] <= 0) {
                bench_print_why(&bench->frame, "tunnel", "losses", why);
                return rates[encodes][i] < 0;
            }
        }
    }

    const struct bench_rate encoded = print_rates(bench, loss, true, rates[1]);
    const struct bench_rate without = print_rates(bench, loss, false, rates[0]);
    if (!bench->frame.json)
        printf("%-18s the encoder takes %.2f of the time without it\n", "",
               without.median / encoded.median);
    return true;
}

bool bench_tunnel_losses(const struct bench *bench)
{
    static const uint32_t losses[] = {0, 10, 50}; /* of 1,000 */
    const size_t len = bench_tunnel_len(bench) / PARTS + 1;
    uint8_t *const content = malloc(len + WARM_UP);
    bool good = content != NULL;

    for (size_t i = 0; i < sizeof losses / sizeof *losses && good; i++)
        good = run_losses(bench, losses[i], content, len);
    free(content);
    return good;
}
