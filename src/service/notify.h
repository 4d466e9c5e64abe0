/* SPDX-License-Identifier: MIT */
/* Reports of a service to systemd (sd_notify): a datagram to the socket of $NOTIFY_SOCKET. */
#ifndef SERVICE_NOTIFY_H
#define SERVICE_NOTIFY_H

#include <stdint.h>

/* Sends "READY=1", "WATCHDOG=1", "STOPPING=1". Without that socket nothing is sent. */
void notify_send(const char *state);

/* Nanoseconds from one "WATCHDOG=1" to the next, half of what systemd waits for; 0: it waits for
 * none. */
uint64_t notify_watchdog(void);

#endif
