/* SPDX-License-Identifier: MIT */
/* The inside of a tunnel: a TUN device, which stays when the process ends. */
#ifndef TUNNEL_TUN_DEVICE_H
#define TUNNEL_TUN_DEVICE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join.h"
#include "sluice/status.h"

enum {
    TUN_READ_MAX = 65536 + 64 /* bytes: a packet of segments, and the kernel's header before */
};

struct tun_device {
    int file;
    int index;
    char name[IFNAMSIZ];
    bool segments; /* the kernel hands over many segments at once */
    uint32_t mtu;
    bool carrier;
    uint8_t *buffer;
    struct join *join; /* packets that are not written yet */
    uint64_t refused;  /* packets that the system did not take */
};

/* Makes the device, or takes one of this name that is there. It is up, without carrier. SL_EIO:
 * diag has the system's reason. SL_ENOMEM. The caller closes it, also where it failed. */
SL_CHECK enum sl_status tun_open(struct tun_device *tun, const char *name, uint32_t mtu,
                                 struct sl_diag *diag);
void tun_close(struct tun_device *tun);

/* Reads what waits, and calls `take` with each packet, whose bytes it may not keep. Returns how
 * many there were, 0: nothing waits; -1: errno. */
int tun_read(struct tun_device *tun, void (*take)(void *user, const uint8_t *packet, uint32_t len),
             void *user);

/* Writes a packet, at the latest by tun_flush. */
void tun_write(struct tun_device *tun, const uint8_t *packet, uint32_t len);
void tun_flush(struct tun_device *tun);

void tun_set_carrier(struct tun_device *tun, bool carrier);

/* False: errno. */
bool tun_set_mtu(struct tun_device *tun, uint32_t mtu);

#endif
