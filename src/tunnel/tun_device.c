/* SPDX-License-Identifier: MIT */
#include "tun_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/diag.h"
#include "segments.h"

#ifndef TUN_F_USO4 /* Linux 6.2 */
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

static enum sl_status failed(const struct tun_device *tun, const char *what, struct sl_diag *diag)
{
    return diag_set(diag, SL_EIO, NULL, 0, "the device '%s': %s: %s", tun->name, what,
                    strerror(errno));
}

/* An ioctl on the device by its name. */
static bool control(const struct tun_device *tun, unsigned long what, struct ifreq *request)
{
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (made < 0)
        return false;
    memcpy(request->ifr_name, tun->name, sizeof tun->name);
    const bool done = ioctl(made, what, request) == 0;
    const int error = errno;
    close(made);
    errno = error;
    return done;
}

bool tun_set_mtu(struct tun_device *tun, uint32_t mtu)
{
    struct ifreq request = {.ifr_mtu = (int)mtu};

    if (!control(tun, SIOCSIFMTU, &request))
        return false;
    tun->mtu = mtu;
    return true;
}

static bool bring_up(struct tun_device *tun)
{
    struct ifreq request = {.ifr_flags = 0};

    if (!control(tun, SIOCGIFFLAGS, &request))
        return false;
    request.ifr_flags |= IFF_UP;
    return control(tun, SIOCSIFFLAGS, &request);
}

void tun_set_carrier(struct tun_device *tun, bool carrier)
{
    int value = carrier;

    if (tun->carrier == carrier)
        return;
    (void)ioctl(tun->file, TUNSETCARRIER, &value);
    tun->carrier = carrier;
}

/* Segments are cut here where the kernel hands them over as one; older kernels cut them. */
static void take_segments(struct tun_device *tun)
{
    const unsigned tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;

    tun->segments = ioctl(tun->file, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) == 0 ||
                    ioctl(tun->file, TUNSETOFFLOAD, tcp) == 0;
}

enum sl_status tun_open(struct tun_device *tun, const char *name, uint32_t mtu,
                        struct sl_diag *diag)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};

    *tun = (struct tun_device){.carrier = true};
    memcpy(tun->name, name, strlen(name) + 1);
    memcpy(request.ifr_name, tun->name, sizeof tun->name);
    tun->buffer = malloc(TUN_READ_MAX);
    tun->join = malloc(sizeof *tun->join);
    tun->file = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (tun->buffer == NULL || tun->join == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for packets");
    if (tun->file < 0)
        return failed(tun, "/dev/net/tun", diag);
    tun->join->len = 0;
    if (ioctl(tun->file, TUNSETIFF, &request) != 0)
        return failed(tun, "it cannot be made", diag);
    if (ioctl(tun->file, TUNSETPERSIST, 1) != 0)
        return failed(tun, "it cannot be kept", diag);
    take_segments(tun);
    tun->index = (int)if_nametoindex(name);
    if (!tun_set_mtu(tun, mtu))
        return failed(tun, "its MTU", diag);
    tun_set_carrier(tun, false);
    if (!bring_up(tun))
        return failed(tun, "it does not come up", diag);
    return SL_OK;
}

void tun_close(struct tun_device *tun)
{
    if (tun->buffer != NULL && tun->file >= 0)
        close(tun->file);
    free(tun->buffer);
    free(tun->join);
    tun->buffer = NULL;
    tun->join = NULL;
}

int tun_read(struct tun_device *tun, void (*take)(void *user, const uint8_t *packet, uint32_t len),
             void *user)
{
    struct virtio_net_hdr header;
    const ssize_t n = read(tun->file, tun->buffer, TUN_READ_MAX);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n <= (ssize_t)sizeof header)
        return 0;
    memcpy(&header, tun->buffer, sizeof header);

    const struct segments_of of = {
        .is_tcp = (header.gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_TCPV4 ||
                  (header.gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_TCPV6,
        .segment_len = header.gso_type != VIRTIO_NET_HDR_GSO_NONE ? header.gso_size : 0,
        .needs_checksum = (header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0,
        .checksum_start = header.csum_start,
        .checksum_offset = header.csum_offset};
    return segments_cut(&of, tun->buffer + sizeof header, (uint32_t)n - (uint32_t)sizeof header,
                        take, user);
}

void tun_flush(struct tun_device *tun)
{
    struct join *const join = tun->join;
    struct virtio_net_hdr header = {.gso_type = VIRTIO_NET_HDR_GSO_NONE};

    if (join->len == 0)
        return;
    join_finish(join);
    if (join->n > 1)
        header = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                         .gso_type = join->is_ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6
                                                                   : VIRTIO_NET_HDR_GSO_TCPV4,
                                         .hdr_len = (uint16_t)join->headers_len,
                                         .gso_size = (uint16_t)join->segment_len,
                                         .csum_start = (uint16_t)join->transport,
                                         .csum_offset = 16};

    const struct iovec parts[] = {{&header, sizeof header}, {join->bytes, join->len}};
    if (writev(tun->file, parts, 2) != (ssize_t)(sizeof header + join->len))
        tun->refused += join->n;
    join->len = 0;
}

void tun_write(struct tun_device *tun, const uint8_t *packet, uint32_t len)
{
    if (join_add(tun->join, packet, len))
        return;
    tun_flush(tun);
    join_add(tun->join, packet, len);
}
