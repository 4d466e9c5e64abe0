/* SPDX-License-Identifier: MIT */
#include "tunnel_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "bench/data/random.h"

enum { LEN = 2048, WAITING = 1024, BUFFER_LEN = 4 << 20 };

struct waiting {
    uint64_t due;
    uint32_t len;
    uint8_t bytes[LEN];
};

/* One direction. All wait for the same time, so they leave in order. */
struct way {
    uint64_t random, first, end;
    struct waiting waiting[WAITING];
};

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct sockaddr_in address(const char *host, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

static int open_side(const struct sockaddr_in *own, const struct sockaddr_in *box)
{
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), len = BUFFER_LEN;

    (void)setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &len, sizeof len);
    if (bind(file, (const struct sockaddr *)own, sizeof *own) != 0 ||
        connect(file, (const struct sockaddr *)box, sizeof *box) != 0)
        return -1;
    return file;
}

static void take(struct way *way, const struct tunnel_relay *relay, int file)
{
    while (way->end - way->first < WAITING) {
        struct waiting *const w = &way->waiting[way->end % WAITING];
        const ssize_t n = recv(file, w->bytes, LEN, 0);

        if (n <= 0)
            return;
        w->len = (uint32_t)n;
        w->due = now() + relay->delay_us * UINT64_C(1000);
        if (bench_random(&way->random) % 1000 >= relay->loss)
            way->end++;
    }
}

/* Returns when the next is due. */
static uint64_t give(struct way *way, int file)
{
    for (; way->first < way->end; way->first++) {
        const struct waiting *const w = &way->waiting[way->first % WAITING];

        if (w->due > now())
            return w->due;
        (void)!send(file, w->bytes, w->len, 0);
    }
    return now() + 1000000000u;
}

void tunnel_relay_run(void *user)
{
    const struct tunnel_relay *const relay = user;
    const struct sockaddr_in own[2] = {address("10.8.0.2", 5183), address("127.0.0.1", 5184)};
    const struct sockaddr_in box[2] = {address("10.8.0.1", 5182), address("127.0.0.1", 5182)};
    struct way *const ways = calloc(2, sizeof *ways);
    struct pollfd files[2];

    for (int i = 0; i < 2 && ways != NULL; i++) {
        files[i] = (struct pollfd){open_side(&own[i], &box[i]), POLLIN, 0};
        ways[i].random = relay->seed * 2 + (unsigned)i + 1;
    }
    while (ways != NULL && files[0].fd >= 0 && files[1].fd >= 0) {
        uint64_t next = UINT64_MAX;

        for (int i = 0; i < 2; i++) {
            take(&ways[i], relay, files[i].fd);
            const uint64_t due = give(&ways[i], files[1 - i].fd);
            next = due < next ? due : next;
        }
        const uint64_t at = now(), wait = next > at ? next - at : 0;
        (void)ppoll(files, 2,
                    &(struct timespec){(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)},
                    NULL);
    }
    free(ways);
}
