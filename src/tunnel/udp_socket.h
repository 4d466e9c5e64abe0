/* SPDX-License-Identifier: MIT */
/* The outside of a tunnel: a UDP socket whose datagrams are never fragmented. Datagrams of one
 * length go to the kernel as one (UDP GSO), and come so (UDP GRO). */
#ifndef TUNNEL_UDP_SOCKET_H
#define TUNNEL_UDP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sluice/status.h"

enum { UDP_QUEUE = 128, UDP_QUEUE_LEN = 1 << 18 /* bytes */ };

struct udp_queued {
    uint32_t at, len;
    uint8_t traffic_class;
    struct sockaddr_storage to;
};

struct udp_socket {
    int file;
    bool is_open, is_ipv6, joins;
    struct udp_queued queue[UDP_QUEUE];
    uint32_t n_queued, queue_len;
    uint8_t *bytes; /* of what is queued */
    uint8_t *received;
    uint64_t refused; /* datagrams that the system did not take */
};

/* Takes datagrams to the port, on this device alone where it is not NULL. SL_EIO, SL_ENOMEM. The
 * caller closes it, also where it failed. */
SL_CHECK enum sl_status udp_open(struct udp_socket *udp, uint16_t port, const char *device,
                                 struct sl_diag *diag);
void udp_close(struct udp_socket *udp);

/* Keeps a copy of a datagram for udp_send. Where there is no room, udp_send comes first. */
void udp_put(struct udp_socket *udp, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
             const struct sockaddr_storage *to);

/* Sends what was put, and waits where the system has no room: nothing is dropped here. `too_long`
 * is called where datagrams of `len` bytes were too long for the device. */
void udp_send(struct udp_socket *udp,
              void (*too_long)(void *user, const struct sockaddr_storage *to, uint32_t len),
              void *user);

/* Calls `take` with each datagram of what waits, at most some 64 KiB. False: nothing waits. */
bool udp_receive(struct udp_socket *udp,
                 void (*take)(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                              const struct sockaddr_storage *from),
                 void *user);

#endif
