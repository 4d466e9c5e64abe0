/* SPDX-License-Identifier: MIT */
/* Two boxes of a tunnel in network namespaces of their own, with a veth between them. */
#ifndef BENCH_TUNNEL_LINK_H
#define BENCH_TUNNEL_LINK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TUNNEL_LINK_PORT = 5001 };

struct tunnel_link {
    char name[2][32]; /* of the namespaces */
    char folder[64];  /* of files and control sockets */
    pid_t box[2];
};

/* Totals of a box since it began. */
struct tunnel_used {
    uint64_t cpu_ns;                          /* of its process, the system's part included */
    uint64_t bytes_in, bytes_sent, bytes_out; /* of packets from inside, datagrams, and to inside */
    uint64_t packets_in, bypassed;
};

/* Makes both; `peer` has more lines of each [Peer]. False: `why` has the reason. */
bool tunnel_link_open(struct tunnel_link *link, const char *peer, char why[160]);
void tunnel_link_close(struct tunnel_link *link);

/* A process in a side's namespace; it ends when `work` returns. */
pid_t tunnel_link_run(const struct tunnel_link *link, int side, void (*work)(void *user),
                      void *user);

/* Starts the box of a side, whose process has ended. */
void tunnel_link_start(struct tunnel_link *link, int side);

/* Work for side 1: takes what comes, one connection after another. Its address inside. */
void tunnel_link_sink(void *user);
struct sockaddr_in tunnel_link_server(void);

bool tunnel_link_used(const struct tunnel_link *link, int side, struct tunnel_used *used);

#endif
