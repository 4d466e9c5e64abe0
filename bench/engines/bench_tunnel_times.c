/* SPDX-License-Identifier: MIT */
/* Waits of a tunnel's user: echoes while it is idle, the first echo after a box was killed, and a
 * file that crosses a thin link twice. Beside them are the link alone, and the same boxes without
 * an encoder. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/data/tunnel_content.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "tunnel_link.h"

enum {
    ECHOES = 500,
    ECHO_LEN = 1200,
    ECHO_PORT = 5007,
    ECHO_WAIT = 5,      /* ms that an echo is waited for, */
    ECHO_TRIALS = 1000, /* how often, */
    ECHO_PAUSE = 2000   /* and microseconds from one to the next */
};

/* In memory that processes share. */
struct times {
    const char *address; /* that answers echoes */
    uint32_t n_echoes, n;
    double seconds[ECHOES];
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct sockaddr_in echo_address(const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(ECHO_PORT)};

    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

static void answer_echoes(void *user)
{
    const struct sockaddr_in address = echo_address("0.0.0.0");
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in from;
    uint8_t bytes[ECHO_LEN];

    (void)user;
    if (bind(file, (const struct sockaddr *)&address, sizeof address) != 0)
        return;
    for (;;) {
        socklen_t from_len = sizeof from;
        const ssize_t n =
            recvfrom(file, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &from_len);

        if (n > 0)
            (void)!sendto(file, bytes, (size_t)n, 0, (struct sockaddr *)&from, from_len);
    }
}

/* Asks until an answer comes. False: none does. */
static bool echo(int file, uint32_t number)
{
    uint8_t bytes[ECHO_LEN] = {0};
    uint32_t answered;

    memcpy(bytes, &number, sizeof number);
    for (int i = 0; i < ECHO_TRIALS; i++) {
        struct pollfd answer = {file, POLLIN, 0};

        (void)!send(file, bytes, sizeof bytes, 0);
        while (poll(&answer, 1, ECHO_WAIT) > 0 && recv(file, bytes, sizeof bytes, 0) > 0) {
            memcpy(&answered, bytes, sizeof answered);
            if (answered == number)
                return true;
        }
    }
    return false;
}

static void ask_echoes(void *user)
{
    struct times *const times = user;
    const struct sockaddr_in address = echo_address(times->address);
    const int file = socket(AF_INET, SOCK_DGRAM, 0);

    (void)!connect(file, (const struct sockaddr *)&address, sizeof address);
    for (uint32_t i = 0; i < times->n_echoes; i++) {
        const double begin = now();

        if (echo(file, i))
            times->seconds[times->n++] = now() - begin;
        (void)usleep(ECHO_PAUSE);
    }
}

static void run(const struct tunnel_link *link, void (*work)(void *user), struct times *times)
{
    times->n = 0;
    (void)waitpid(tunnel_link_run(link, 0, work, times), NULL, 0);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Prints times of trips, each a part of what was measured. */
static bool print_times(const struct bench *bench, struct times *times, const char *variant,
                        const char *data, double part)
{
    if (times->n == 0) {
        bench_print_why(&bench->frame, "tunnel", variant, "no answer came");
        return false;
    }
    qsort(times->seconds, times->n, sizeof *times->seconds, by_value);

    const double p50 = part * times->seconds[times->n / 2];
    bench_print(&bench->frame,
                &(struct bench_row){.what = "tunnel",
                                    .variant = variant,
                                    .data = data,
                                    .rate = {.median = 1 / p50, .min = 1 / p50, .max = 1 / p50},
                                    .unit = 1,
                                    .unit_name = "/s",
                                    .p50_us = p50 * 1e6,
                                    .p99_us = part * times->seconds[times->n * 99 / 100] * 1e6});
    return true;
}

static bool run_echoes(const struct bench *bench, struct tunnel_link *link, struct times *times)
{
    times->n_echoes = ECHOES;
    times->address = "10.8.0.2";
    run(link, ask_echoes, times);
    bool good = print_times(bench, times, "idle, the link alone, one way", "echoes", 0.5);
    times->address = "10.9.0.2";
    run(link, ask_echoes, times);
    good = print_times(bench, times, "idle, one way", "echoes", 0.5) && good;

    double restarts[BENCH_RUNS_MAX];
    uint32_t n = 0;
    times->n_echoes = 1;
    for (uint32_t i = 0; i < bench->frame.runs; i++) {
        (void)kill(link->box[1], SIGKILL);
        (void)waitpid(link->box[1], NULL, 0);
        tunnel_link_start(link, 1);
        run(link, ask_echoes, times);
        if (times->n == 1)
            restarts[n++] = times->seconds[0];
    }
    memcpy(times->seconds, restarts, n * sizeof *restarts);
    times->n = n;
    return print_times(bench, times, "first echo after kill -9", "one box", 1) && good;
}

static bool print_fetches(const struct bench *bench, const char *variant, double *rates, uint32_t n)
{
    if (n == 0) {
        bench_print_why(&bench->frame, "tunnel", variant, "the file did not come");
        return false;
    }
    bench_print(&bench->frame, &(struct bench_row){.what = "tunnel",
                                                   .variant = variant,
                                                   .data = "Rate = 200M",
                                                   .rate = bench_spread(rates, n),
                                                   .unit = 1e6 / 8,
                                                   .unit_name = "Mbit/s"});
    return true;
}

/* Each run has content of its own, which crosses twice. */
static bool run_fetches(const struct bench *bench, const struct tunnel_link *link, bool encodes)
{
    const size_t len = bench_tunnel_len(bench);
    uint8_t *const content = malloc(len);
    double rates[2][BENCH_RUNS_MAX];
    uint32_t n[2] = {0};

    for (uint32_t i = 0; i < bench->frame.runs && content != NULL; i++) {
        tunnel_content_fill(content, len, TUNNEL_NEW, i + 1);
        for (int k = 0; k < (encodes ? 2 : 1); k++) {
            const double seconds = tunnel_link_fetch(link, content, len);

            if (seconds > 0)
                rates[k][n[k]++] = (double)len / seconds;
        }
    }
    free(content);
    if (!encodes)
        return print_fetches(bench, "a file, no encoder", rates[0], n[0]);
    const bool first = print_fetches(bench, "a file", rates[0], n[0]);
    return print_fetches(bench, "a file again", rates[1], n[1]) && first;
}

/* With a server at side 1. */
static bool with_link(const struct bench *bench, const char *peer, struct times *times, bool echoes,
                      bool encodes)
{
    struct tunnel_link link;
    char why[160];

    if (!tunnel_link_open(&link, peer, NULL, why)) {
        bench_print_why(&bench->frame, "tunnel", echoes ? "echoes" : "a file", why);
        return true;
    }
    const pid_t server = tunnel_link_run(&link, 1, echoes ? answer_echoes : tunnel_link_sink, NULL);
    (void)usleep(ECHO_PAUSE * 100);
    const bool good = echoes ? run_echoes(bench, &link, times) : run_fetches(bench, &link, encodes);
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
    tunnel_link_close(&link);
    return good;
}

bool bench_tunnel_times(const struct bench *bench)
{
    struct times *const times =
        mmap(NULL, sizeof *times, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (times == MAP_FAILED)
        return false;
    const bool good =
        with_link(bench, "Cache = 16M\n", times, true, true) &&
        with_link(bench, "Cache = 128M\nRate = 200M\n", times, false, true) &&
        with_link(bench, "Cache = 16M\nRate = 200M\nBypass = tcp/5001\n", times, false, false);
    (void)munmap(times, sizeof *times);
    return good;
}
