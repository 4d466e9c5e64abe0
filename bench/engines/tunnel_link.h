/* SPDX-License-Identifier: MIT */
/* Two boxes of a tunnel in network namespaces of their own, with a veth between them. */
#ifndef BENCH_TUNNEL_LINK_H
#define BENCH_TUNNEL_LINK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tunnel_relay.h"

enum { TUNNEL_LINK_PORT = 5001 };

struct tunnel_link {
    char name[2][32];    /* of the namespaces */
    char folder[64];     /* of files and control sockets */
    pid_t box[2], relay; /* 0: not there */
    bool is_relayed;
};

/* Totals of a box since it began. */
struct tunnel_used {
    uint64_t cpu_ns;                          /* of its process, the system's part included */
    uint64_t bytes_in, bytes_sent, bytes_out; /* of packets from inside, datagrams, and to inside */
    uint64_t packets_in, bypassed;
};

/* Makes namespaces and veth alone. False: `why` has the reason. */
bool tunnel_link_make(struct tunnel_link *link, char why[160]);

/* Makes boxes too; `peer` has more lines of each [Peer]. A relay is between them, unless NULL. */
bool tunnel_link_open(struct tunnel_link *link, const char *peer, struct tunnel_relay *relay,
                      char why[160]);
void tunnel_link_close(struct tunnel_link *link);

/* Runs ip with words of the format between spaces. */
__attribute__((format(printf, 1, 2))) bool tunnel_link_ip(const char *format, ...);

/* A process in a side's namespace; it ends when `work` returns. */
pid_t tunnel_link_run(const struct tunnel_link *link, int side, void (*work)(void *user),
                      void *user);

/* Starts the box of a side, whose process has ended. */
void tunnel_link_start(struct tunnel_link *link, int side);

/* Work for side 1: takes what comes, one connection after another. Its address inside. */
void tunnel_link_sink(void *user);
struct sockaddr_in tunnel_link_server(void);

/* A box's own CPU time, the system's part included. */
bool tunnel_link_spent(const struct tunnel_link *link, int side, uint64_t *cpu_ns);
bool tunnel_link_used(const struct tunnel_link *link, int side, struct tunnel_used *used);

/* A connection to a sink, of a process in side 0's namespace; -1: none. */
int tunnel_link_connect(const struct sockaddr_in *address);

/* Sends content from side 0 to the sink. Returns the seconds until all was taken, 0: it was not. */
double tunnel_link_fetch(const struct tunnel_link *link, const uint8_t *content, size_t len);

#endif
