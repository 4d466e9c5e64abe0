/* SPDX-License-Identifier: MIT */
#include "metrics_clients.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"

/* From a connection to the end of its answer. A client that sends or reads a byte now and then has
 * no more time than others. */
enum { REQUEST_MS = 10000, CHECK_MS = 500 };

#define NS_PER_MS UINT64_C(1000000)

static void end_client(struct metrics_client *client)
{
    client->ended = true;
    (void)shutdown(client->socket, SHUT_RDWR); /* the server reads the end and closes it */
}

/* Ends the clients whose time is over, until the server ends. */
static void *keep_time(void *argument)
{
    struct metrics_clients *clients = argument;

    pthread_mutex_lock(&clients->lock);
    while (!clients->ending) {
        const uint64_t now = clock_ns(), next_ns = now + CHECK_MS * NS_PER_MS;
        const struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000),
                                      .tv_nsec = (long)(next_ns % 1000000000)};

        for (int i = 0; i < CLIENTS_MAX; i++) {
            struct metrics_client *client = &clients->client[i];

            if (client->used && !client->ended && now - client->begin_ns > REQUEST_MS * NS_PER_MS)
                end_client(client);
        }
        (void)pthread_cond_clockwait(&clients->ends, &clients->lock, CLOCK_MONOTONIC, &next);
    }
    pthread_mutex_unlock(&clients->lock);
    return NULL;
}

bool metrics_clients_start(struct metrics_clients *clients)
{
    memset(clients, 0, sizeof *clients);
    pthread_mutex_init(&clients->lock, NULL);
    pthread_cond_init(&clients->ends, NULL);
    errno = pthread_create(&clients->clock, NULL, keep_time, clients);
    return errno == 0;
}

static void read_address(uint8_t out[16], const struct sockaddr *address)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

    if (address->sa_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    } else {
        memcpy(out, mapped, sizeof mapped);
        memcpy(out + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    }
}

/* How many connections of this client's address are held. */
static int count_address(const struct metrics_clients *clients, const struct metrics_client *of)
{
    int n = 0;

    for (int i = 0; i < CLIENTS_MAX; i++)
        n += clients->client[i].used && !clients->client[i].ended &&
             memcmp(clients->client[i].address, of->address, sizeof of->address) == 0;
    return n;
}

/* Ends the oldest connection of the address that has the most. */
static void make_way(struct metrics_clients *clients)
{
    struct metrics_client *oldest = NULL;
    int most = 0;

    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct metrics_client *client = &clients->client[i];
        const int n = client->used && !client->ended ? count_address(clients, client) : 0;

        if (n > most || (n == most && n > 0 && client->begin_ns < oldest->begin_ns)) {
            most = n;
            oldest = client;
        }
    }
    if (oldest != NULL)
        end_client(oldest);
}

static int count_held(const struct metrics_clients *clients)
{
    int n = 0;

    for (int i = 0; i < CLIENTS_MAX; i++)
        n += clients->client[i].used && !clients->client[i].ended;
    return n;
}

struct metrics_client *metrics_clients_add(struct metrics_clients *clients, int socket,
                                           const struct sockaddr *address)
{
    struct metrics_client *added = NULL;

    pthread_mutex_lock(&clients->lock);
    for (int i = 0; i < CLIENTS_MAX && added == NULL; i++)
        if (!clients->client[i].used)
            added = &clients->client[i];
    if (added != NULL) {
        *added = (struct metrics_client){.used = true, .socket = socket, .begin_ns = clock_ns()};
        read_address(added->address, address);
        if (count_held(clients) > CLIENTS_HELD ||
            count_address(clients, added) > CLIENTS_OF_ADDRESS)
            make_way(clients);
    } else {
        (void)shutdown(socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&clients->lock);
    return added;
}

void metrics_clients_remove(struct metrics_clients *clients, struct metrics_client *client)
{
    if (client == NULL)
        return;
    pthread_mutex_lock(&clients->lock);
    client->used = false;
    pthread_mutex_unlock(&clients->lock);
}

void metrics_clients_end(struct metrics_clients *clients)
{
    pthread_mutex_lock(&clients->lock);
    clients->ending = true;
    pthread_cond_signal(&clients->ends);
    pthread_mutex_unlock(&clients->lock);
    pthread_join(clients->clock, NULL);
    pthread_mutex_destroy(&clients->lock);
    pthread_cond_destroy(&clients->ends);
}
