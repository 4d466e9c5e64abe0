/* SPDX-License-Identifier: MIT */
/* Live interfaces, through libpcap. */
#include <linux/filter.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/source.h"

enum {
    RING_LEN = 16 << 20, /* the kernel's buffer */
    READ_MS = 100,
    /* The kernel hands packets over in blocks. One that is not full waits for a timer of READ_MS,
     * which closes it when it finds it open for the second time. */
    DRAIN_MS = 2 * READ_MS + 50,
    POLL_BLIND_MS = 10, /* between two polls of a device without a descriptor to wait for */
    /* Packets between two checks of the clock and the stop. */
    DISPATCH_PACKETS = 4096
};

#define NS_PER_MS UINT64_C(1000000)

/* libpcap's callback. The first packet that does not fit is held; further ones stay in the ring. */
static void add_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
    struct sl_capture *const capture = (struct sl_capture *)user;
    struct live *const live = &capture->live;
    struct record record = {
        .bytes = bytes,
        .len = header->caplen < SL_CAPTURE_PACKET_MAX ? header->caplen : SL_CAPTURE_PACKET_MAX,
        .wire_len = header->len,
        .time_ns = (int64_t)header->ts.tv_sec * 1000000000 +
                   (int64_t)header->ts.tv_usec * live->ns_per_fraction,
        .arrival_ns = live->now,
        .link_type = live->link_type,
    };

    live->drained_len += record.len;
    if (capture_add(capture, live->batch, &record))
        return;
    memcpy(live->held_bytes, bytes, record.len);
    record.bytes = live->held_bytes;
    live->held = record;
    pcap_breakloop(live->handle);
}

/* Whether all packets that lay in the ring at the stop were delivered. Then the ring is empty after
 * the kernel had its time to close the last block. On a busy link as many bytes as the ring holds
 * have come. */
static bool drained(struct live *live, bool ring_empty, uint64_t now)
{
    if (live->drain_end_ns == 0) {
        live->drain_end_ns = now + DRAIN_MS * NS_PER_MS;
        live->drained_len = 0;
        return false;
    }
    return (ring_empty && now >= live->drain_end_ns) || live->drained_len > RING_LEN;
}

static void wait_for_packets(const struct live *live, uint64_t left_ns)
{
    struct pollfd ready = {.fd = pcap_get_selectable_fd(live->handle), .events = POLLIN};

    if (ready.fd < 0 && left_ns > POLL_BLIND_MS * NS_PER_MS)
        left_ns = POLL_BLIND_MS * NS_PER_MS;

    const struct timespec left = {.tv_nsec = (long)left_ns}; /* below a second: READ_MS */
    (void)ppoll(&ready, 1, &left, NULL);
}

static enum sl_status live_read(struct sl_capture *capture, struct sl_batch *batch,
                                struct sl_diag *diag)
{
    struct live *const live = &capture->live;
    const uint64_t end_ns = clock_ns() + READ_MS * NS_PER_MS;

    live->batch = batch;
    if (live->held.bytes != NULL && !capture_add(capture, batch, &live->held))
        return capture_full(capture, batch, live->held.len, diag);
    live->held.bytes = NULL;
    for (;;) {
        const bool stopped = atomic_load(&capture->stopped);
        live->now = clock_ns();
        const int n = pcap_dispatch(live->handle, DISPATCH_PACKETS, add_packet, (u_char *)capture);
        const uint64_t now = clock_ns();

        if (live->held.bytes != NULL)
            return capture_full(capture, batch, live->held.len, diag);
        if (n < 0 && n != PCAP_ERROR_BREAK)
            return diag_set(diag, SL_EIO, capture->name, 0, "capture failed: %s",
                            pcap_geterr(live->handle));
        if (stopped && drained(live, n == 0, now))
            return SL_END;

        const uint64_t close_ns = capture->close_ns;
        const uint64_t until = close_ns != 0 && close_ns < end_ns ? close_ns : end_ns;
        if (now >= until)
            return SL_OK;
        if (n == 0)
            wait_for_packets(live, until - now);
    }
}

static void live_kernel(struct sl_capture *capture, struct sl_capture_stats *stats)
{
    struct live *const live = &capture->live;
    struct pcap_stat now;

    if (live->handle != NULL && pcap_stats(live->handle, &now) == 0) {
        live->n_kernel_packets += now.ps_recv - live->last.ps_recv;
        live->n_kernel_drops += now.ps_drop - live->last.ps_drop;
        live->n_interface_drops += now.ps_ifdrop - live->last.ps_ifdrop;
        live->last = now;
    }
    stats->kernel_packets = live->n_kernel_packets;
    stats->kernel_drops = live->n_kernel_drops;
    stats->interface_drops = live->n_interface_drops;
}

static void live_close(struct sl_capture *capture)
{
    if (capture->live.handle != NULL)
        pcap_close(capture->live.handle);
    free(capture->live.held_bytes);
    free(capture->live.filter);
}

static const struct capture_kind live_kind = {live_read, live_kernel, live_close};

bool live_is(const struct sl_capture *capture)
{
    return capture->kind == &live_kind;
}

static bool is_loopback(const char *interface)
{
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_flags = 0};

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    const bool loops = any >= 0 && ioctl(any, SIOCGIFFLAGS, &request) == 0 &&
                       (request.ifr_flags & IFF_LOOPBACK) != 0;
    if (any >= 0)
        close(any);
    return loops;
}

static enum sl_status compile(const struct sl_capture *capture, const char *filter,
                              struct bpf_program *program, struct sl_diag *diag)
{
    return pcap_compile(capture->live.handle, program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0
               ? SL_OK
               : diag_set(diag, SL_EINVAL, capture->name, 0, "filter \"%s\": %s", filter,
                          pcap_geterr(capture->live.handle));
}

/* A loopback interface has each packet twice: it goes out, and it comes in. libpcap delivers the
 * second alone. The kernel is to count it alone, too. libpcap cannot set this filter, as it applies
 * filters itself to what lies in the ring, and does not know there which packets come in. */
static enum sl_status count_once(const struct sl_capture *capture, const char *filter,
                                 struct sl_diag *diag)
{
    const int ring = pcap_fileno(capture->live.handle);
    struct bpf_program program;
    char *inbound;

    if (!is_loopback(capture->name))
        return SL_OK;
    if (asprintf(&inbound, *filter != '\0' ? "inbound and (%s)" : "inbound", filter) < 0)
        return diag_set(diag, SL_ENOMEM, capture->name, 0, "no memory for a filter");
    const enum sl_status status = compile(capture, inbound, &program, diag);
    free(inbound);
    if (status != SL_OK)
        return status;

    const struct sock_fprog of_kernel = {(unsigned short)program.bf_len,
                                         (struct sock_filter *)program.bf_insns};
    /* Where the kernel refuses it, its counters are of both. */
    (void)setsockopt(ring, SOL_SOCKET, SO_ATTACH_FILTER, &of_kernel, sizeof of_kernel);
    pcap_freecode(&program);
    return SL_OK;
}

static enum sl_status set_filter(const struct sl_capture *capture, struct sl_diag *diag)
{
    const char *const filter = capture->live.filter != NULL ? capture->live.filter : "";
    pcap_t *const handle = capture->live.handle;
    struct bpf_program program;
    enum sl_status status = compile(capture, filter, &program, diag);

    if (status != SL_OK)
        return status;
    if (pcap_setfilter(handle, &program) != 0)
        status = diag_set(diag, SL_EIO, capture->name, 0, "filter \"%s\": %s", filter,
                          pcap_geterr(handle));
    pcap_freecode(&program);
    return status == SL_OK ? count_once(capture, filter, diag) : status;
}

static enum sl_status activate(const struct sl_capture *capture, struct sl_diag *diag)
{
    pcap_t *const handle = capture->live.handle;
    char error[PCAP_ERRBUF_SIZE] = "";

    /* Before activation none of these fails; nanoseconds, where the device has none, stay
     * microseconds. */
    (void)pcap_set_snaplen(handle, SL_CAPTURE_PACKET_MAX);
    (void)pcap_set_promisc(handle, 1);
    (void)pcap_set_timeout(handle, READ_MS);
    (void)pcap_set_buffer_size(handle, RING_LEN);
    (void)pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO);
    (void)pcap_set_immediate_mode(handle, capture->max_latency_ns != 0);

    const int result = pcap_activate(handle);
    if (result < 0) {
        const char *const why = pcap_geterr(handle);
        const char *const what = result == PCAP_ERROR ? why : pcap_statustostr(result);
        const bool has_why = why[0] != '\0' && strcmp(why, what) != 0;

        return diag_set(diag, SL_EIO, capture->name, 0, "cannot capture: %s%s%s%s", what,
                        has_why ? " (" : "", has_why ? why : "", has_why ? ")" : "");
    }
    /* libpcap's own waits may never end on a quiet interface. */
    if (pcap_setnonblock(handle, 1, error) != 0)
        return diag_set(diag, SL_EIO, capture->name, 0, "cannot capture: %s", error);
    return SL_OK;
}

/* Opens the interface. The memory for held packets is not part of it. */
static enum sl_status open_handle(struct sl_capture *capture, struct sl_diag *diag)
{
    struct live *const live = &capture->live;
    char error[PCAP_ERRBUF_SIZE] = "";

    live->handle = pcap_create(capture->name, error);
    if (live->handle == NULL)
        return diag_set(diag, SL_EIO, capture->name, 0, "cannot capture: %s", error);

    enum sl_status status = activate(capture, diag);
    if (status == SL_OK)
        status = set_filter(capture, diag);
    if (status != SL_OK)
        return status;
    /* Packets that passed before the filter was set are counted, and delivered to nobody. */
    (void)pcap_stats(live->handle, &live->last);
    live->link_type = link_type_of_dlt(pcap_datalink(live->handle));
    live->ns_per_fraction =
        pcap_get_tstamp_precision(live->handle) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
    return SL_OK;
}

enum sl_status live_open(struct sl_capture *capture, const char *filter, struct sl_diag *diag)
{
    struct live *const live = &capture->live;

    capture->kind = &live_kind;
    live->held_bytes = (uint8_t *)malloc(SL_CAPTURE_PACKET_MAX);
    live->filter = filter != NULL ? strdup(filter) : NULL;
    if (live->held_bytes == NULL || (filter != NULL && live->filter == NULL))
        return diag_set(diag, SL_ENOMEM, capture->name, 0, "no memory to capture");
    return open_handle(capture, diag);
}

enum sl_status live_reopen(struct sl_capture *capture, struct sl_diag *diag)
{
    pcap_close(capture->live.handle);
    capture->live.last = (struct pcap_stat){0};

    const enum sl_status status = open_handle(capture, &capture->why);
    if (status == SL_OK)
        return SL_OK;
    capture->ended = status; /* nothing can be read */
    if (diag != NULL)
        *diag = capture->why;
    return status;
}
