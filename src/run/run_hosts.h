/* SPDX-License-Identifier: MIT */
/* How the hosts of networks decide between bytes that overlap. Immutable once made. */
#ifndef RUN_HOSTS_H
#define RUN_HOSTS_H

#include "sluice/dissect.h"
#include "sluice/stream.h"

struct run_hosts;

/* Of "NET=NAME" (sl_host_policy_parse); of nested networks the smallest counts. Without any, *hosts
 * is NULL. SL_EINVAL: a text is of another form, or names a network again. SL_ENOMEM. */
enum sl_status run_hosts_create(struct run_hosts **hosts, const char *const *texts, size_t n,
                                struct sl_diag *diag);

void run_hosts_free(struct run_hosts *hosts); /* accepts NULL */

/* SL_HOST_BSD where no network has the address, or hosts are NULL. */
enum sl_host_policy run_hosts_policy(const struct run_hosts *hosts, const struct sl_addr *addr);

#endif
