/* SPDX-License-Identifier: MIT */
/* What others carry over the same link: zstd's stream of the same data, and wireguard-go. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "bench/data/tunnel_content.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "tunnel_link.h"

enum { CONTENT_LEN = 16 << 20, AGAIN_LEN = 1 << 20, CHUNK = 1 << 17, LEVEL = 3, PORT = 5002 };

static void print_rate(const struct bench *bench, const char *name, const char *way, double *rates,
                       uint32_t n)
{
    char variant[64];

    snprintf(variant, sizeof variant, "%s, %s", name, way);
    bench_print(&bench->frame, &(struct bench_row){.what = "tunnel",
                                                   .variant = variant,
                                                   .data = "TCP",
                                                   .rate = bench_spread(rates, n),
                                                   .unit = 1e9 / 8,
                                                   .unit_name = "Gbit/s"});
}

/* ---- zstd ------------------------------------------------------------------------------------ */

struct zstd_trial {
    const uint8_t *content;
    size_t content_len; /* repeated until CONTENT_LEN bytes were sent */
    struct zstd_sides {
        double seconds[2]; /* of each side's CPU time */
        uint64_t sent;
    } * sides; /* in memory that processes share */
};

static struct sockaddr_in zstd_address(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};

    inet_pton(AF_INET, "10.8.0.2", &address.sin_addr);
    return address;
}

static double cpu_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool send_whole(int to, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        const ssize_t n = send(to, bytes + at, len - at, 0);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void send_packed(void *user)
{
    static uint8_t packed[CHUNK * 2];
    const struct zstd_trial *const t = user;
    const struct sockaddr_in address = zstd_address();
    ZSTD_CCtx *const stream = ZSTD_createCCtx();
    const int to = tunnel_link_connect(&address);

    if (stream == NULL || to < 0)
        return;
    (void)ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL);
    for (size_t at = 0; at < CONTENT_LEN; at += CHUNK) {
        ZSTD_inBuffer in = {t->content + at % t->content_len, CHUNK, 0};
        ZSTD_outBuffer out = {packed, sizeof packed, 0};

        if (ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush) != 0 ||
            !send_whole(to, packed, out.pos))
            return;
        t->sides->sent += out.pos;
    }
    t->sides->seconds[0] = cpu_seconds();
}

static void receive_packed(void *user)
{
    static uint8_t packed[CHUNK], bytes[CHUNK];
    const struct zstd_trial *const t = user;
    const struct sockaddr_in address = zstd_address();
    ZSTD_DCtx *const stream = ZSTD_createDCtx();
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    uint64_t came = 0;
    ssize_t n;

    if (stream == NULL || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        return;
    const int from = accept(listener, NULL, NULL);
    while ((n = recv(from, packed, sizeof packed, 0)) > 0) {
        ZSTD_inBuffer in = {packed, (size_t)n, 0};
        ZSTD_outBuffer out;

        do {
            out = (ZSTD_outBuffer){bytes, sizeof bytes, 0};
            if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
                return;
            came += out.pos;
        } while (in.pos < in.size || out.pos == out.size);
    }
    if (came == CONTENT_LEN)
        t->sides->seconds[1] = cpu_seconds();
}

static bool run_zstd(const struct bench *bench, const char *name, enum tunnel_content kind,
                     uint8_t *content, struct zstd_sides *sides)
{
    struct zstd_trial t = {content, kind == TUNNEL_AGAIN ? AGAIN_LEN : CONTENT_LEN, sides};
    struct tunnel_link link;
    char why[160];
    double rates[2][BENCH_RUNS_MAX];
    uint32_t n = 0;

    if (!tunnel_link_make(&link, why)) {
        bench_print_why(&bench->frame, "tunnel", name, why);
        return true;
    }
    for (uint32_t i = 0; i < bench->frame.runs; i++) {
        *sides = (struct zstd_sides){.sent = 0};
        tunnel_content_fill(content, CONTENT_LEN, kind, i + 1);
        const pid_t receiver = tunnel_link_run(&link, 1, receive_packed, &t);
        const pid_t sender = tunnel_link_run(&link, 0, send_packed, &t);
        (void)waitpid(sender, NULL, 0);
        if (sides->seconds[0] <= 0)
            (void)kill(receiver, SIGKILL);
        (void)waitpid(receiver, NULL, 0);
        if (sides->seconds[0] <= 0 || sides->seconds[1] <= 0)
            break;
        for (int k = 0; k < 2; k++)
            rates[k][n] = CONTENT_LEN / sides->seconds[k];
        n++;
    }
    tunnel_link_close(&link);
    if (n < bench->frame.runs) {
        bench_print_why(&bench->frame, "tunnel", name, "the stream did not come whole");
        return false;
    }
    print_rate(bench, name, "sending", rates[0], n);
    print_rate(bench, name, "receiving", rates[1], n);
    if (!bench->frame.json)
        printf("%-18s sent as %.1f %% of its bytes\n", "",
               100.0 * (double)sides->sent / CONTENT_LEN);
    return true;
}

/* ---- wireguard-go ---------------------------------------------------------------------------- */

/* Keys of this benchmark alone: no other link has them. */
static const struct {
    const char *private, *public;
} keys[2] = {{"0101010101010101010101010101010101010101010101010101010101010101",
              "a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209"},
             {"0202020202020202020202020202020202020202020202020202020202020202",
              "ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59"}};

static void device_of(int side, char name[16])
{
    snprintf(name, 16, "sl%d-%d", (int)getpid() % 10000000, side);
}

/* Sends a request to its socket. Returns whether an answer came. */
static bool ask(int side, const char *request, char answer[2048])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    char device[16];
    size_t len = 0;
    ssize_t n;

    device_of(side, device);
    snprintf(address.sun_path, sizeof address.sun_path, "/var/run/wireguard/%s.sock", device);
    if (connect(file, (const struct sockaddr *)&address, sizeof address) == 0 &&
        send_whole(file, (const uint8_t *)request, strlen(request))) {
        while (len < 2047 && (n = recv(file, answer + len, 2047 - len, 0)) > 0) {
            len += (size_t)n;
            if (len > 1 && memcmp(answer + len - 2, "\n\n", 2) == 0)
                break;
        }
    }
    answer[len] = '\0';
    close(file);
    return strstr(answer, "errno=0") != NULL;
}

static uint64_t counter_of(int side, const char *name)
{
    char answer[2048];
    const char *const at = ask(side, "get=1\n\n", answer) ? strstr(answer, name) : NULL;

    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

struct program {
    int side;
    char device[16];
};

static void run_wireguard(void *user)
{
    struct program *const program = user;
    const int nowhere = open("/dev/null", O_WRONLY);

    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)execlp("wireguard-go", "wireguard-go", "-f", program->device, (char *)NULL);
}

static bool start_wireguard(struct tunnel_link *link, int side)
{
    struct program program = {.side = side};
    char request[512], answer[2048];
    bool done = false;

    device_of(side, program.device);
    link->box[side] = tunnel_link_run(link, side, run_wireguard, &program);
    snprintf(request, sizeof request,
             "set=1\nprivate_key=%s\nlisten_port=5182\npublic_key=%s\nallowed_ip=10.9.0.0/24\n"
             "endpoint=10.8.0.%d:5182\n\n",
             keys[side].private, keys[1 - side].public, 2 - side);
    for (int i = 0; i < 100 && !done; i++) {
        (void)usleep(20000);
        done = ask(side, request, answer);
    }
    return done &&
           tunnel_link_ip("-n %s addr add 10.9.0.%d/24 dev %s", link->name[side], side + 1,
                          program.device) &&
           tunnel_link_ip("-n %s link set %s mtu 1420 up", link->name[side], program.device);
}

static bool measure_wireguard(const struct bench *bench, const struct tunnel_link *link,
                              const uint8_t *content)
{
    double rates[2][BENCH_RUNS_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < bench->frame.runs; i++) {
        uint64_t spent[2][2] = {{0}}, bytes[2][2] = {{0}};

        for (int after = 0; after < 2; after++) {
            for (int k = 0; k < 2; k++) {
                bytes[k][after] = counter_of(k, k == 0 ? "tx_bytes=" : "rx_bytes=");
                if (!tunnel_link_spent(link, k, &spent[k][after]))
                    return false;
            }
            if (after == 0 && tunnel_link_fetch(link, content, CONTENT_LEN) <= 0)
                return false;
        }
        for (int k = 0; k < 2; k++)
            rates[k][n] =
                (double)(bytes[k][1] - bytes[k][0]) * 1e9 / (double)(spent[k][1] - spent[k][0] + 1);
        n++;
    }
    print_rate(bench, "wireguard-go", "sending", rates[0], n);
    print_rate(bench, "wireguard-go", "receiving", rates[1], n);
    return true;
}

static bool is_installed(void)
{
    return system("command -v wireguard-go >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
}

static void run_wireguard_rows(const struct bench *bench, uint8_t *content)
{
    struct tunnel_link link;
    char why[160] = "wireguard-go is not installed";

    if (!is_installed() || !tunnel_link_make(&link, why)) {
        bench_print_why(&bench->frame, "tunnel", "wireguard-go", why);
        return;
    }
    tunnel_content_fill(content, CONTENT_LEN, TUNNEL_NEW, 1);
    const bool started = start_wireguard(&link, 0) && start_wireguard(&link, 1);
    const pid_t server = started ? tunnel_link_run(&link, 1, tunnel_link_sink, NULL) : 0;
    if (!started || !measure_wireguard(bench, &link, content))
        bench_print_why(&bench->frame, "tunnel", "wireguard-go", "it carries nothing here");
    if (server > 0) {
        (void)kill(server, SIGKILL);
        (void)waitpid(server, NULL, 0);
    }
    tunnel_link_close(&link);
}

bool bench_tunnel_peers(const struct bench *bench)
{
    uint8_t *const content = malloc(CONTENT_LEN);
    struct zstd_sides *const sides =
        mmap(NULL, sizeof *sides, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const bool good = content != NULL && sides != MAP_FAILED &&
                      run_zstd(bench, "nothing repeats, zstd -T1", TUNNEL_NEW, content, sides) &&
                      run_zstd(bench, "text, zstd -T1", TUNNEL_TEXT, content, sides) &&
                      run_zstd(bench, "all repeats, zstd -T1", TUNNEL_AGAIN, content, sides);

    if (good)
        run_wireguard_rows(bench, content);
    if (sides != MAP_FAILED)
        (void)munmap(sides, sizeof *sides);
    free(content);
    return good;
}
