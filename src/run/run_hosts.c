/* SPDX-License-Identifier: MIT */
#include "run_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

struct host {
    struct sl_net net;
    enum sl_host_policy policy;
};

struct run_hosts {
    size_t n;
    struct host host[]; /* smaller networks first */
};

static int compare(const void *a, const void *b)
{
    const struct host *left = a, *right = b;

    if (left->net.prefix_len != right->net.prefix_len)
        return left->net.prefix_len > right->net.prefix_len ? -1 : 1;
    return memcmp(&left->net.addr, &right->net.addr, sizeof left->net.addr);
}

static enum sl_status read_host(struct host *host, const char *text, struct sl_diag *diag)
{
    const char *const equal = strchr(text, '=');

    if (equal == NULL || sl_net_parse(&host->net, text, (size_t)(equal - text)) != SL_OK)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "host policy '%s' (expected NET=NAME, such as 192.0.2.0/24=linux)", text);
    if (sl_host_policy_parse(&host->policy, equal + 1, strlen(equal + 1)) != SL_OK)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "host policy '%s' (expected bsd, first, last, linux, old-linux, windows, "
                        "windows2k3, solaris, hpux10, hpux11, irix or macos)",
                        text);
    return SL_OK;
}

static enum sl_status fill(struct run_hosts *hosts, const char *const *texts, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (size_t i = 0; i < hosts->n && status == SL_OK; i++)
        status = read_host(&hosts->host[i], texts[i], diag);
    if (status != SL_OK)
        return status;
    qsort(hosts->host, hosts->n, sizeof hosts->host[0], compare);
    for (size_t i = 1; i < hosts->n; i++)
        if (compare(&hosts->host[i - 1], &hosts->host[i]) == 0)
            return diag_set(diag, SL_EINVAL, NULL, 0, "two host policies of one network");
    return SL_OK;
}

enum sl_status run_hosts_create(struct run_hosts **hosts, const char *const *texts, size_t n,
                                struct sl_diag *diag)
{
    enum sl_status status;

    *hosts = NULL;
    if (n == 0)
        return SL_OK;
    struct run_hosts *made = calloc(1, sizeof *made + n * sizeof made->host[0]);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the policies of hosts");
    made->n = n;
    status = fill(made, texts, diag);
    if (status == SL_OK)
        *hosts = made;
    else
        free(made);
    return status;
}

void run_hosts_free(struct run_hosts *hosts)
{
    free(hosts);
}

enum sl_host_policy run_hosts_policy(const struct run_hosts *hosts, const struct sl_addr *addr)
{
    for (size_t i = 0; hosts != NULL && i < hosts->n; i++)
        if (sl_net_contains(&hosts->host[i].net, addr))
            return hosts->host[i].policy;
    return SL_HOST_BSD;
}
