/* SPDX-License-Identifier: MIT */
#include "rtnetlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/diag.h"

enum { REQUEST_MAX = 256, ANSWER_MAX = 16384 };

/* A message of rtnetlink, in work. */
struct request {
    alignas(struct nlmsghdr) uint8_t bytes[REQUEST_MAX];
    uint32_t len;
};

static void *begin(struct request *request, uint16_t type, uint16_t flags, uint32_t body_len)
{
    struct nlmsghdr *const header = (struct nlmsghdr *)request->bytes;

    memset(request, 0, sizeof *request);
    request->len = NLMSG_ALIGN(NLMSG_LENGTH(body_len));
    header->nlmsg_len = request->len;
    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    return NLMSG_DATA(header);
}

static void put(struct request *request, uint16_t type, const void *bytes, uint32_t len)
{
    struct rtattr *const attribute = (struct rtattr *)(request->bytes + request->len);

    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(len);
    memcpy(RTA_DATA(attribute), bytes, len);
    request->len += RTA_ALIGN(attribute->rta_len);
    ((struct nlmsghdr *)request->bytes)->nlmsg_len = request->len;
}

/* Sends a request and reads the answer. Returns its length; -1: errno. */
static ssize_t ask(const struct request *request, uint8_t *answer, size_t cap)
{
    const struct timeval wait = {.tv_sec = 5};
    const int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    ssize_t len = -1;

    if (made < 0)
        return -1;
    if (setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
        send(made, request->bytes, request->len, 0) == (ssize_t)request->len)
        len = recv(made, answer, cap, 0);

    const int error = errno;
    close(made);
    errno = error;
    return len;
}

/* The kernel's error in an answer; 0: it did what was asked. */
static int error_of(const uint8_t *answer, ssize_t len)
{
    const struct nlmsghdr *const header = (const struct nlmsghdr *)answer;
    struct nlmsgerr error;

    if (len < (ssize_t)NLMSG_LENGTH(sizeof error) || header->nlmsg_type != NLMSG_ERROR)
        return len < (ssize_t)sizeof *header ? EPROTO : 0;
    memcpy(&error, NLMSG_DATA(header), sizeof error);
    return -error.error;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The next attribute of a list, bytes at *at. False: there is none that is whole. */
static bool next_attribute(const uint8_t *bytes, size_t len, size_t *at, struct rtattr *attribute,
                           const uint8_t **data, size_t *data_len)
{
    if (len - *at < sizeof *attribute)
        return false;
    memcpy(attribute, bytes + *at, sizeof *attribute);
    if (attribute->rta_len < sizeof *attribute || attribute->rta_len > len - *at)
        return false;
    *data = bytes + *at + sizeof *attribute;
    *data_len = attribute->rta_len - sizeof *attribute;

    const size_t step = RTA_ALIGN(attribute->rta_len);
    *at += step < len - *at ? step : len - *at;
    return true;
}

static void read_kind(struct link_info *link, const uint8_t *bytes, size_t len)
{
    struct rtattr attribute;
    const uint8_t *data;
    size_t data_len;

    for (size_t at = 0; next_attribute(bytes, len, &at, &attribute, &data, &data_len);)
        if (attribute.rta_type == IFLA_INFO_KIND && data_len > 0 && data_len <= LINK_KIND &&
            data[data_len - 1] == '\0')
            memcpy(link->kind, data, data_len);
}

bool link_read(struct link_info *link, const uint8_t *answer, size_t len)
{
    struct nlmsghdr header;
    struct ifinfomsg info;
    struct rtattr attribute;
    const uint8_t *data;
    size_t data_len;

    *link = (struct link_info){.index = 0};
    if (len < NLMSG_LENGTH(sizeof info))
        return false;
    memcpy(&header, answer, sizeof header);
    memcpy(&info, answer + NLMSG_HDRLEN, sizeof info);
    if (header.nlmsg_type != RTM_NEWLINK || header.nlmsg_len > len ||
        header.nlmsg_len < NLMSG_LENGTH(sizeof info) || info.ifi_index <= 0)
        return false;
    link->index = info.ifi_index;
    for (size_t at = NLMSG_ALIGN(NLMSG_LENGTH(sizeof info));
         at < header.nlmsg_len &&
         next_attribute(answer, header.nlmsg_len, &at, &attribute, &data, &data_len);) {
        if (attribute.rta_type == IFLA_MTU && data_len == sizeof link->mtu)
            memcpy(&link->mtu, data, sizeof link->mtu);
        if ((attribute.rta_type & NLA_TYPE_MASK) == IFLA_LINKINFO)
            read_kind(link, data, data_len);
    }
    return true;
}

enum sl_status link_ask(struct link_info *link, const char *name, struct sl_diag *diag)
{
    alignas(struct nlmsghdr) uint8_t answer[ANSWER_MAX];
    struct request request;
    struct ifinfomsg *const info = begin(&request, RTM_GETLINK, 0, sizeof *info);

    info->ifi_family = AF_UNSPEC;
    put(&request, IFLA_IFNAME, name, (uint32_t)strlen(name) + 1);

    const ssize_t len = ask(&request, answer, sizeof answer);
    const int error = len < 0 ? errno : error_of(answer, len);
    if (error != 0)
        return diag_set(diag, SL_EIO, NULL, 0, "the device '%s': %s", name, strerror(error));
    if (!link_read(link, answer, (size_t)len))
        return diag_set(diag, SL_EIO, NULL, 0, "the device '%s': the kernel's answer is unknown",
                        name);
    return SL_OK;
}

enum sl_status link_check_trust(const struct link_info *link, const char *name,
                                struct sl_diag *diag)
{
    if (strcmp(link->kind, "wireguard") == 0)
        return SL_OK;
    return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                    "Underlay = %s: a link of kind '%s' is not authenticated (expected "
                    "'wireguard', or Underlay = trusted where it is by other means)",
                    name, link->kind[0] != '\0' ? link->kind : "hardware");
}

/* ---- addresses and routes -------------------------------------------------------------------- */

static enum sl_status report(const struct request *request, const char *what,
                             const struct network *network, struct sl_diag *diag)
{
    alignas(struct nlmsghdr) uint8_t answer[ANSWER_MAX];
    const ssize_t len = ask(request, answer, sizeof answer);
    const int error = len < 0 ? errno : error_of(answer, len);
    char text[NETWORK_TEXT];

    if (error == 0 || error == EEXIST)
        return SL_OK;
    return diag_set(diag, SL_EIO, NULL, 0, "%s %s: %s", what, network_text(network, text),
                    strerror(error));
}

static uint8_t prefix_of(const struct network *network)
{
    return (uint8_t)(network_is_ipv4(network) ? network->bits - 96 : network->bits);
}

static void put_address(struct request *request, uint16_t type, const struct network *network)
{
    const bool is_ipv4 = network_is_ipv4(network);

    put(request, type, network->address + (is_ipv4 ? 12 : 0), is_ipv4 ? 4 : 16);
}

enum sl_status link_add_address(int index, const struct network *address, struct sl_diag *diag)
{
    struct request request;
    struct ifaddrmsg *const body =
        begin(&request, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sizeof *body);

    body->ifa_family = network_is_ipv4(address) ? AF_INET : AF_INET6;
    body->ifa_prefixlen = prefix_of(address);
    body->ifa_index = (uint32_t)index;
    if (!network_is_ipv4(address))
        body->ifa_flags = IFA_F_NODAD; /* nobody is asked on a tunnel */
    put_address(&request, IFA_LOCAL, address);
    put_address(&request, IFA_ADDRESS, address);
    return report(&request, "the address", address, diag);
}

enum sl_status link_add_route(int index, const struct network *network, struct sl_diag *diag)
{
    const uint32_t device = (uint32_t)index;
    struct network masked = *network;
    struct request request;
    struct rtmsg *const body =
        begin(&request, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sizeof *body);

    for (unsigned bit = masked.bits; bit < 128; bit++)
        masked.address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    body->rtm_family = network_is_ipv4(&masked) ? AF_INET : AF_INET6;
    body->rtm_dst_len = prefix_of(&masked);
    body->rtm_table = RT_TABLE_MAIN;
    body->rtm_protocol = RTPROT_STATIC;
    body->rtm_scope = RT_SCOPE_LINK;
    body->rtm_type = RTN_UNICAST;
    put_address(&request, RTA_DST, &masked);
    put(&request, RTA_OIF, &device, sizeof device);
    return report(&request, "the route to", network, diag);
}
