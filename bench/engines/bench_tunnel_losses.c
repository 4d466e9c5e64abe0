/* SPDX-License-Identifier: MIT */
/* A file through a tunnel whose link loses datagrams, with the encoder and without. Each run has
 * losses and content of its own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bench/data/tunnel_content.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "tunnel_link.h"

enum { PARTS = 40, DELAY_US = 2000 }; /* parts of the file that crosses a thin link */

static bool fetch_all(const struct bench *bench, const struct tunnel_link *link, uint32_t loss,
                      const char *variant)
{
    const size_t len = bench_tunnel_len(bench) / PARTS + 1;
    uint8_t *const content = malloc(len);
    double rates[BENCH_RUNS_MAX];
    uint32_t n = 0;
    char data[48];

    for (uint32_t i = 0; i < bench->frame.runs && content != NULL; i++) {
        tunnel_content_fill(content, len, TUNNEL_NEW, i + 1);
        const double seconds = tunnel_link_fetch(link, content, len);
        if (seconds > 0)
            rates[n++] = (double)len / seconds;
    }
    free(content);
    snprintf(data, sizeof data, "%u.%u %% lost, 4 ms there and back", loss / 10, loss % 10);
    if (n == 0) {
        bench_print_why(&bench->frame, "tunnel", variant, "the file did not come");
        return false;
    }
    bench_print(&bench->frame, &(struct bench_row){.what = "tunnel",
                                                   .variant = variant,
                                                   .data = data,
                                                   .rate = bench_spread(rates, n),
                                                   .unit = 1e6 / 8,
                                                   .unit_name = "Mbit/s"});
    return true;
}

static bool run_losses(const struct bench *bench, uint32_t loss, bool encodes)
{
    struct tunnel_relay relay = {.seed = 1, .loss = loss, .delay_us = DELAY_US};
    struct tunnel_link link;
    char why[160], variant[48];

    snprintf(variant, sizeof variant, "losses of %u in 1,000%s", loss,
             encodes ? "" : ", no encoder");
    if (!tunnel_link_open(&link, encodes ? "Cache = 16M\n" : "Cache = 16M\nBypass = tcp/5001\n",
                          &relay, why)) {
        bench_print_why(&bench->frame, "tunnel", variant, why);
        return true;
    }
    const pid_t server = tunnel_link_run(&link, 1, tunnel_link_sink, NULL);
    const bool good = fetch_all(bench, &link, loss, variant);
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
    tunnel_link_close(&link);
    return good;
}

bool bench_tunnel_losses(const struct bench *bench)
{
    static const uint32_t losses[] = {0, 10, 50}; /* of 1,000 */
    bool good = true;

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        good = run_losses(bench, losses[i], true) && run_losses(bench, losses[i], false) && good;
    return good;
}
