/* SPDX-License-Identifier: MIT */
#include "udp_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "networks.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum {
    RECEIVE_LEN = 65536,
    BUFFER_LEN = 4 << 20, /* bytes that the kernel keeps each way, where it lets us */
    JOINED_MAX = 64,      /* datagrams in one call, and their bytes */
    JOINED_LEN = 65000,
    FULL_WAIT = 100 /* ms, after which a full queue is tried again */
};

static void set(int file, int level, int option, int value)
{
    (void)setsockopt(file, level, option, &value, sizeof value);
}

/* All options but the device are for speed, or are missing on old kernels. */
static bool prepare(struct udp_socket *udp, uint16_t port, const char *device)
{
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int file = udp->file, on = 1;

    if (udp->is_ipv6) {
        set(file, SOL_IPV6, IPV6_V6ONLY, 0);
        set(file, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        set(file, SOL_IPV6, IPV6_RECVTCLASS, 1);
    }
    set(file, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    set(file, SOL_IP, IP_RECVTOS, 1);
    set(file, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_LEN);
    set(file, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_LEN);
    udp->joins = setsockopt(file, SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
    if (device != NULL &&
        setsockopt(file, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device) + 1) != 0)
        return false;
    return udp->is_ipv6 ? bind(file, (struct sockaddr *)&ipv6, sizeof ipv6) == 0
                        : bind(file, (struct sockaddr *)&ipv4, sizeof ipv4) == 0;
}

enum sl_status udp_open(struct udp_socket *udp, uint16_t port, const char *device,
                        struct sl_diag *diag)
{
    const int kind = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

    *udp = (struct udp_socket){.is_ipv6 = true};
    udp->bytes = malloc(UDP_QUEUE_LEN);
    udp->received = malloc(RECEIVE_LEN);
    if (udp->bytes == NULL || udp->received == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for datagrams");
    udp->file = socket(AF_INET6, kind, 0);
    if (udp->file < 0) { /* a system without IPv6 */
        udp->is_ipv6 = false;
        udp->file = socket(AF_INET, kind, 0);
    }
    udp->is_open = udp->file >= 0;
    if (!udp->is_open || !prepare(udp, port, device))
        return diag_set(diag, SL_EIO, NULL, 0, "UDP port %u%s%s: %s", port,
                        device != NULL ? " on " : "", device != NULL ? device : "",
                        strerror(errno));
    return SL_OK;
}

void udp_close(struct udp_socket *udp)
{
    if (udp->is_open)
        close(udp->file);
    free(udp->bytes);
    free(udp->received);
    *udp = (struct udp_socket){.is_open = false};
}

/* ---- sending --------------------------------------------------------------------------------- */

/* An IPv4 address as a socket of IPv6 has it. */
static socklen_t address_for(const struct udp_socket *udp, const struct sockaddr_storage *to,
                             struct sockaddr_storage *out)
{
    const struct sockaddr_in *const ipv4 = (const struct sockaddr_in *)to;
    struct sockaddr_in6 *const ipv6 = (struct sockaddr_in6 *)out;

    if (!udp->is_ipv6 || to->ss_family != AF_INET) {
        *out = *to;
        return endpoint_len(to);
    }
    memset(out, 0, sizeof *out);
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_port = ipv4->sin_port;
    network_of_ipv4(ipv6->sin6_addr.s6_addr, (const uint8_t *)&ipv4->sin_addr);
    return sizeof *ipv6;
}

/* How many datagrams from i on one call sends: all but the last of one length. */
static uint32_t joined(const struct udp_socket *udp, uint32_t i, uint32_t *len)
{
    const struct udp_queued *const first = &udp->queue[i];
    uint32_t n = 1;

    *len = first->len;
    while (i + n < udp->n_queued && n < JOINED_MAX) {
        const struct udp_queued *const next = &udp->queue[i + n];

        if (next->len > first->len || next->traffic_class != first->traffic_class ||
            *len + next->len > JOINED_LEN || !endpoint_equal(&next->to, &first->to))
            break;
        *len += next->len;
        n++;
        if (next->len < first->len)
            break;
    }
    return n;
}

static void add_control(struct msghdr *message, struct cmsghdr **at, int level, int type,
                        const void *value, size_t len)
{
    struct cmsghdr *const control = *at;

    control->cmsg_level = level;
    control->cmsg_type = type;
    control->cmsg_len = CMSG_LEN(len);
    memcpy(CMSG_DATA(control), value, len);
    message->msg_controllen += CMSG_SPACE(len);
    *at = (struct cmsghdr *)((uint8_t *)control + CMSG_SPACE(len));
}

/* Sends n datagrams, `len` bytes in all, as one. False: errno. */
static bool send_joined(struct udp_socket *udp, const struct udp_queued *first, uint32_t n,
                        uint32_t len)
{
    alignas(struct cmsghdr) uint8_t controls[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(2)] = {0};
    const bool is_ipv4 = first->to.ss_family == AF_INET;
    const int traffic_class = first->traffic_class;
    const uint16_t each = (uint16_t)first->len;
    struct sockaddr_storage to;
    struct iovec part = {udp->bytes + first->at, len};
    struct msghdr message = {.msg_name = &to,
                             .msg_namelen = address_for(udp, &first->to, &to),
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = controls};
    struct cmsghdr *at = (struct cmsghdr *)controls;

    add_control(&message, &at, is_ipv4 ? SOL_IP : SOL_IPV6, is_ipv4 ? IP_TOS : IPV6_TCLASS,
                &traffic_class, sizeof traffic_class);
    if (n > 1)
        add_control(&message, &at, SOL_UDP, UDP_SEGMENT, &each, sizeof each);
    while (sendmsg(udp->file, &message, 0) < 0) {
        struct pollfd room = {udp->file, POLLOUT, 0};

        if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
            return false;
        (void)poll(&room, 1, errno == ENOBUFS ? 1 : FULL_WAIT);
    }
    return true;
}

void udp_send(struct udp_socket *udp,
              void (*too_long)(void *user, const struct sockaddr_storage *to, uint32_t len),
              void *user)
{
    const uint32_t n_queued = udp->n_queued;

    for (uint32_t i = 0, n, len; i < n_queued; i += n) {
        n = joined(udp, i, &len);
        if (send_joined(udp, &udp->queue[i], n, len))
            continue;
        udp->refused += n;
        if (errno == EMSGSIZE && too_long != NULL)
            too_long(user, &udp->queue[i].to, udp->queue[i].len);
    }
    udp->n_queued = udp->queue_len = 0;
}

void udp_put(struct udp_socket *udp, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
             const struct sockaddr_storage *to)
{
    if (udp->n_queued == UDP_QUEUE || len > UDP_QUEUE_LEN - udp->queue_len)
        udp_send(udp, NULL, NULL);
    udp->queue[udp->n_queued++] = (struct udp_queued){udp->queue_len, len, traffic_class, *to};
    memcpy(udp->bytes + udp->queue_len, bytes, len);
    udp->queue_len += len;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* An IPv4 address as it is written. */
static void plain_address(struct sockaddr_storage *address)
{
    const struct sockaddr_in6 ipv6 = *(const struct sockaddr_in6 *)address;
    struct sockaddr_in *const ipv4 = (struct sockaddr_in *)address;

    if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr))
        return;
    memset(address, 0, sizeof *address);
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = ipv6.sin6_port;
    memcpy(&ipv4->sin_addr, ipv6.sin6_addr.s6_addr + 12, 4);
}

static void read_controls(struct msghdr *message, uint8_t *traffic_class, uint32_t *each)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at != NULL; at = CMSG_NXTHDR(message, at)) {
        int value = 0;

        if (at->cmsg_level == SOL_IP && at->cmsg_type == IP_TOS) {
            *traffic_class = *CMSG_DATA(at);
        } else if (at->cmsg_level == SOL_IPV6 && at->cmsg_type == IPV6_TCLASS) {
            memcpy(&value, CMSG_DATA(at), sizeof value);
            *traffic_class = (uint8_t)value;
        } else if (at->cmsg_level == SOL_UDP && at->cmsg_type == UDP_GRO) {
            memcpy(&value, CMSG_DATA(at), sizeof value);
            *each = value > 0 ? (uint32_t)value : *each;
        }
    }
}

bool udp_receive(struct udp_socket *udp,
                 void (*take)(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                              const struct sockaddr_storage *from),
                 void *user)
{
    alignas(struct cmsghdr) uint8_t controls[256];
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    struct iovec part = {udp->received, RECEIVE_LEN};
    struct msghdr message = {.msg_name = &from,
                             .msg_namelen = sizeof from,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = controls,
                             .msg_controllen = sizeof controls};
    const ssize_t n = recvmsg(udp->file, &message, 0);
    uint8_t traffic_class = 0;

    if (n < 0) /* also errors that ICMP reported of datagrams before */
        return errno != EAGAIN && errno != EBADF;

    const uint32_t len = (uint32_t)n;
    uint32_t each = len;
    read_controls(&message, &traffic_class, &each);
    plain_address(&from);
    for (uint32_t at = 0; at < len; at += each)
        take(user, udp->received + at, len - at < each ? len - at : each, traffic_class, &from);
    return true;
}
