/* SPDX-License-Identifier: MIT */
/* A pair of boxes and TCP through them: bytes of packets inside for each second of a box's own CPU
 * time, the system's part included. Other processes on its cores so change little. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/data/tunnel_content.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "tunnel_link.h"

enum { CONTENT_LEN = 48 << 20, CHUNK = 1 << 18, RUN_MS = 500 };

struct load {
    const char *variant;
    const char *peer; /* more lines of its [Peer] */
    enum tunnel_content content;
    uint64_t pace; /* bytes a second; 0: as fast as it goes */
};

/* A box that cannot keep up lets flows pass by. So data that repeats nothing is sent at a pace that
 * a core takes, and is encoded. */
static const struct load loads[] = {
    {"nothing repeats, encoded", "Cache = 16M\n", TUNNEL_NEW, 200000000},
    {"nothing repeats, passed by", "Cache = 16M\nBypass = tcp/5001\n", TUNNEL_NEW, 0},
    {"text", "Cache = 16M\n", TUNNEL_TEXT, 200000000},
    {"all repeats", "Cache = 64M\n", TUNNEL_AGAIN, 0},
    {"text, zstd", "Cache = 16M\nCompress = yes\n", TUNNEL_TEXT, 50000000},
};

enum { N_LOADS = sizeof loads / sizeof *loads };

struct trial {
    const struct load *load;
    struct tunnel_link link;
    uint8_t *content;
    double received[BENCH_RUNS_MAX + 1]; /* of each run, the warm-up first */
    uint32_t n_runs, n_reported;
    struct tunnel_used sum; /* of the sender */
    bool failed;
};

/* Sends for a run's time. */
static void source(void *user)
{
    const struct trial *const t = user;
    const size_t len = t->load->content == TUNNEL_AGAIN ? 1 << 20 : CONTENT_LEN;
    const struct sockaddr_in address = tunnel_link_server();
    const int to = tunnel_link_connect(&address);
    const uint64_t pace = t->load->pace;
    struct timespec begin, now;
    size_t at = 0;

    if (pace > 0)
        (void)setsockopt(to, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof pace);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        const size_t n = len - at < CHUNK ? len - at : CHUNK;

        if (send(to, t->content + at, n, 0) < 0)
            return;
        at = at + n == len ? 0 : at + n;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < RUN_MS);
    close(to);
}

static double rate_of(uint64_t bytes, uint64_t cpu_ns)
{
    return (double)bytes * 1e9 / (double)(cpu_ns > 0 ? cpu_ns : 1);
}

static double run_once(void *user)
{
    struct trial *const t = user;
    struct tunnel_used before[2] = {{0}, {0}}, after[2] = {{0}, {0}};

    tunnel_content_fill(t->content, CONTENT_LEN, t->load->content, t->n_runs + 1);
    t->failed |=
        !tunnel_link_used(&t->link, 0, &before[0]) || !tunnel_link_used(&t->link, 1, &before[1]);
    const pid_t sender = tunnel_link_run(&t->link, 0, source, t);
    (void)waitpid(sender, NULL, 0);
    t->failed |=
        !tunnel_link_used(&t->link, 0, &after[0]) || !tunnel_link_used(&t->link, 1, &after[1]);

    const uint64_t bytes_in = after[0].bytes_in - before[0].bytes_in;
    t->failed |= bytes_in == 0;
    t->received[t->n_runs++] =
        rate_of(after[1].bytes_out - before[1].bytes_out, after[1].cpu_ns - before[1].cpu_ns);
    t->sum = after[0];
    return rate_of(bytes_in, after[0].cpu_ns - before[0].cpu_ns);
}

static double received(void *user)
{
    struct trial *const t = user;

    return t->received[t->n_reported++];
}

static void print_row(const struct bench *bench, const struct trial *t, const char *way,
                      struct bench_rate rate)
{
    char variant[64];

    snprintf(variant, sizeof variant, "%s, %s", t->load->variant, way);
    bench_print(&bench->frame, &(struct bench_row){.what = "tunnel",
                                                   .variant = variant,
                                                   .data = "TCP, packets of 1,429 bytes",
                                                   .rate = rate,
                                                   .unit = 1e9 / 8,
                                                   .unit_name = "Gbit/s"});
}

static bool run_load(const struct bench *bench, const struct load *load, uint8_t *content)
{
    struct trial *const t = calloc(1, sizeof *t);
    char why[160] = "no memory";

    if (t == NULL || !tunnel_link_open(&t->link, load->peer, NULL, why)) {
        bench_print_why(&bench->frame, "tunnel", load->variant, why);
        free(t);
        return true;
    }
    t->load = load;
    t->content = content;

    const pid_t server_pid = tunnel_link_run(&t->link, 1, tunnel_link_sink, NULL);
    const struct bench_rate sending = bench_rates(bench->frame.runs, run_once, t);
    (void)kill(server_pid, SIGKILL);
    (void)waitpid(server_pid, NULL, 0);
    tunnel_link_close(&t->link);
    if (!t->failed) {
        print_row(bench, t, "sending", sending);
        print_row(bench, t, "receiving", bench_rates(bench->frame.runs, received, t));
        if (!bench->frame.json)
            printf("%-18s sent as %.1f %% of its bytes, %.1f %% of its packets passed by\n", "",
                   100.0 * (double)t->sum.bytes_sent / (double)t->sum.bytes_in,
                   100.0 * (double)t->sum.bypassed / (double)t->sum.packets_in);
    }
    const bool good = !t->failed;
    free(t);
    if (!good)
        cli_error("the tunnel did not carry what was sent");
    return good;
}

bool bench_tunnel(const struct bench *bench)
{
    uint8_t *const content = malloc(CONTENT_LEN);
    bool good = content != NULL;

    for (size_t i = 0; i < N_LOADS && good; i++)
        good = run_load(bench, &loads[i], content);
    free(content);
    return good && bench_tunnel_peers(bench) && bench_tunnel_times(bench) &&
           bench_tunnel_losses(bench);
}
