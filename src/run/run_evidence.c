/* SPDX-License-Identifier: MIT */
#include "run_evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "sluice/dissect.h"

enum {
    BUCKETS = 1 << 16,
    FILES_OPEN = 32,
    FILE_BUFFER = 65536,
    ALIGN = 64, /* bytes: no less than a struct kept, which pads the end of the ring */
    PCAP_HEAD_LEN = 24,
    PCAP_RECORD_LEN = 16
};

/* A packet that is kept; its bytes lie behind it. */
struct kept {
    struct evidence_flow *flow; /* NULL: it is written, or pads the end of the ring */
    struct kept *next;          /* of the flow */
    int64_t time_ns;
    uint32_t room; /* bytes, with this head */
    uint32_t len, wire_len;
    uint16_t link_type;
    bool begins_flow;
};

/* A flow whose packets are kept, or that has raised an alert. */
struct evidence_flow {
    struct evidence_flow *next; /* of the bucket */
    uint64_t id;
    struct kept *first, *last;
    uint64_t file_len; /* 0: it has no file */
    uint16_t link_type;
    bool alerted;     /* its packets are written, */
    bool is_full;     /* or left out */
    bool lacks_begin; /* its first packet was no longer kept */
};

_Static_assert(sizeof(struct kept) <= ALIGN, "a pad has room for its head");

struct open_file {
    FILE *file; /* NULL: none */
    const struct evidence_flow *flow;
};

struct run_evidence {
    const char *folder;
    uint32_t files_max;
    int fd;
    uint8_t *ring;
    uint64_t begin, len; /* of the bytes kept in the ring */
    struct evidence_flow *bucket[BUCKETS];
    struct open_file open[FILES_OPEN];
    struct sl_run_evidence stats;
};

enum sl_status run_evidence_open(struct run_evidence **out, const char *folder, uint32_t files_max,
                                 struct sl_diag *diag)
{
    struct run_evidence *evidence = calloc(1, sizeof *evidence);

    *out = evidence;
    if (evidence == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for captures of alerts");
    evidence->folder = folder;
    evidence->files_max = files_max;
    evidence->fd = -1;
    evidence->ring = malloc(EVIDENCE_MEMORY);
    if (evidence->ring == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for captures of alerts");
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return diag_set(diag, SL_EIO, folder, 0, "cannot be made: %s", strerror(errno));
    evidence->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (evidence->fd < 0)
        return diag_set(diag, SL_EIO, folder, 0, "cannot be used: %s", strerror(errno));
    return SL_OK;
}

void run_evidence_stats(const struct run_evidence *evidence, struct sl_run_evidence *stats)
{
    *stats = evidence->stats;
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum sl_status fail(const struct run_evidence *evidence, uint64_t id, struct sl_diag *diag)
{
    return diag_set(diag, SL_EIO, evidence->folder, 0, "%llu.pcap cannot be written: %s",
                    (unsigned long long)id, strerror(errno));
}

static bool close_file(struct open_file *open)
{
    FILE *file = open->file;

    open->file = NULL;
    return file == NULL || fclose(file) == 0;
}

/* Written at once: a run that is killed leaves no file without it. */
static bool put_head(FILE *file, uint16_t link_type)
{
    /* Times are in nanoseconds, and numbers in the order of this machine. */
    const uint32_t head[PCAP_HEAD_LEN / 4] = {0xa1b23c4d, 2 | 4 << 16,           0,
                                              0,          SL_CAPTURE_PACKET_MAX, link_type};

    return fwrite(head, sizeof head, 1, file) == 1 && fflush(file) == 0;
}

/* False: there is no file, and errno says why. */
static bool begin_capture(struct run_evidence *evidence, struct evidence_flow *flow,
                          struct open_file *open, const char *name, uint16_t link_type)
{
    if (!put_head(open->file, link_type)) {
        const int error = errno;

        (void)close_file(open);
        (void)unlinkat(evidence->fd, name, 0);
        errno = error;
        return false;
    }
    flow->link_type = link_type;
    flow->file_len = PCAP_HEAD_LEN;
    evidence->stats.bytes += PCAP_HEAD_LEN;
    evidence->stats.flows++;
    evidence->stats.flows_without_begin += flow->lacks_begin;
    return true;
}

/* The flow's file, at its end. NULL: the file of *failed cannot be written, and errno says why. */
static FILE *file_of(struct run_evidence *evidence, struct evidence_flow *flow, uint16_t link_type,
                     uint64_t *failed)
{
    struct open_file *const open = &evidence->open[flow->id % FILES_OPEN];
    const int how = flow->file_len == 0 ? O_CREAT | O_TRUNC : O_APPEND;
    char name[32];

    if (open->file != NULL && open->flow == flow)
        return open->file;
    *failed = open->file != NULL ? open->flow->id : flow->id;
    if (!close_file(open))
        return NULL;
    *failed = flow->id;
    snprintf(name, sizeof name, "%llu.pcap", (unsigned long long)flow->id);
    const int fd = openat(evidence->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | how, 0600);
    if (fd < 0)
        return NULL;
    open->file = fdopen(fd, "a");
    open->flow = flow;
    if (open->file == NULL) {
        close(fd);
        return NULL;
    }
    setvbuf(open->file, NULL, _IOFBF, FILE_BUFFER);
    if (flow->file_len == 0 && !begin_capture(evidence, flow, open, name, link_type))
        return NULL;
    return open->file;
}

/* Whether a bound, or another link type than the file's, leaves the packet out. */
static bool leaves_out(struct run_evidence *evidence, struct evidence_flow *flow,
                       const struct kept *packet)
{
    const uint64_t len = PCAP_RECORD_LEN + packet->len;

    flow->is_full |= (flow->file_len == 0 && evidence->stats.flows == evidence->files_max) ||
                     flow->file_len + len > EVIDENCE_FILE_LEN ||
                     evidence->stats.bytes + len > EVIDENCE_DISK_LEN;
    return flow->is_full || (flow->file_len != 0 && flow->link_type != packet->link_type);
}

static enum sl_status write_packet(struct run_evidence *evidence, struct evidence_flow *flow,
                                   const struct kept *packet, const uint8_t *bytes,
                                   struct sl_diag *diag)
{
    const int64_t second = 1000000000;
    const uint32_t head[PCAP_RECORD_LEN / 4] = {(uint32_t)(packet->time_ns / second),
                                                (uint32_t)(packet->time_ns % second), packet->len,
                                                packet->wire_len};

    if (leaves_out(evidence, flow, packet)) {
        evidence->stats.packets_left_out++;
        return SL_OK;
    }
    uint64_t failed = flow->id;
    FILE *file = file_of(evidence, flow, packet->link_type, &failed);
    if (file == NULL || fwrite(head, sizeof head, 1, file) != 1 ||
        fwrite(bytes, 1, packet->len, file) != packet->len)
        return fail(evidence, failed, diag);
    flow->file_len += PCAP_RECORD_LEN + packet->len;
    evidence->stats.bytes += PCAP_RECORD_LEN + packet->len;
    evidence->stats.packets++;
    return SL_OK;
}

static enum sl_status close_files(struct run_evidence *evidence, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (int i = 0; i < FILES_OPEN; i++)
        if (!close_file(&evidence->open[i]) && status == SL_OK)
            status = fail(evidence, evidence->open[i].flow->id, diag);
    return status;
}

/* ---- flows ----------------------------------------------------------------------------------- */

static struct evidence_flow **bucket_of(struct run_evidence *evidence, uint64_t id)
{
    return &evidence->bucket[(id ^ id >> 32) % BUCKETS];
}

/* NULL: it is not known. */
static struct evidence_flow *find_flow(struct run_evidence *evidence, uint64_t id)
{
    struct evidence_flow *flow = *bucket_of(evidence, id);

    while (flow != NULL && flow->id != id)
        flow = flow->next;
    return flow;
}

/* NULL: no memory. */
static struct evidence_flow *flow_of(struct run_evidence *evidence, uint64_t id)
{
    struct evidence_flow **const bucket = bucket_of(evidence, id);
    struct evidence_flow *flow = find_flow(evidence, id);

    if (flow != NULL)
        return flow;
    flow = calloc(1, sizeof *flow);
    if (flow == NULL)
        return NULL;
    flow->id = id;
    flow->next = *bucket;
    *bucket = flow;
    return flow;
}

static void forget(struct run_evidence *evidence, struct evidence_flow *flow)
{
    struct evidence_flow **at = bucket_of(evidence, flow->id);

    while (*at != flow)
        at = &(*at)->next;
    *at = flow->next;
    free(flow);
}

/* ---- packets that are kept ------------------------------------------------------------------- */

static struct kept *kept_at(const struct run_evidence *evidence, uint64_t at)
{
    return (struct kept *)(void *)(evidence->ring + at);
}

static void drop_oldest(struct run_evidence *evidence)
{
    struct kept *const oldest = kept_at(evidence, evidence->begin);
    struct evidence_flow *const flow = oldest->flow;

    evidence->begin = (evidence->begin + oldest->room) % EVIDENCE_MEMORY;
    evidence->len -= oldest->room;
    if (flow == NULL)
        return;
    flow->first = oldest->next;
    if (flow->first == NULL)
        forget(evidence, flow);
}

/* Room for so many bytes in a row, from the oldest packets. */
static struct kept *make_room(struct run_evidence *evidence, uint32_t room)
{
    uint64_t end = (evidence->begin + evidence->len) % EVIDENCE_MEMORY;

    if (EVIDENCE_MEMORY - end < room) { /* nothing lies across the end of the ring */
        const uint32_t rest = (uint32_t)(EVIDENCE_MEMORY - end);

        while (EVIDENCE_MEMORY - evidence->len < rest)
            drop_oldest(evidence);
        *kept_at(evidence, end) = (struct kept){.room = rest};
        evidence->len += rest;
        end = 0;
    }
    while (EVIDENCE_MEMORY - evidence->len < room)
        drop_oldest(evidence);
    evidence->len += room;
    return kept_at(evidence, end);
}

static struct kept describe(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_origin *origin = &batch->origin[item];

    return (struct kept){.time_ns = origin->time_ns,
                         .len = batch->packet[item].len,
                         .wire_len = origin->wire_len,
                         .link_type = origin->link_type,
                         .begins_flow = (origin->flow_flags & SL_FLOW_NEW) != 0};
}

static bool keep_packet(struct run_evidence *evidence, uint64_t id, const struct kept *packet,
                        const uint8_t *bytes)
{
    const uint32_t room = ((uint32_t)sizeof *packet + packet->len + ALIGN - 1) / ALIGN * ALIGN;
    struct kept *const kept = make_room(evidence, room); /* flows may be forgotten here */
    struct evidence_flow *const flow = flow_of(evidence, id);

    *kept = *packet;
    kept->room = room;
    kept->flow = flow;
    if (flow == NULL)
        return false;
    memcpy(kept + 1, bytes, packet->len);
    if (flow->first == NULL)
        flow->first = kept;
    else
        flow->last->next = kept;
    flow->last = kept;
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Writes the kept packets of a flow. */
static enum sl_status write_kept(struct run_evidence *evidence, struct evidence_flow *flow,
                                 struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (struct kept *kept = flow->first; kept != NULL; kept = kept->next) {
        if (status == SL_OK)
            status = write_packet(evidence, flow, kept, (const uint8_t *)(kept + 1), diag);
        kept->flow = NULL;
    }
    flow->first = flow->last = NULL;
    return status;
}

/* The packet's flow raises an alert: the packets before this one are written. */
static enum sl_status take_alert(struct run_evidence *evidence, uint64_t id,
                                 const struct kept *packet, struct sl_diag *diag)
{
    struct evidence_flow *flow = flow_of(evidence, id);

    if (flow == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for captures of alerts");
    if (flow->alerted)
        return SL_OK;
    flow->alerted = true;
    flow->lacks_begin = flow->first != NULL ? !flow->first->begins_flow : !packet->begins_flow;
    return write_kept(evidence, flow, diag);
}

/* A flow that has ended raises an alert. One that gets no file is forgotten: the files bound how
 * many are known. */
static enum sl_status take_late_alert(struct run_evidence *evidence, uint64_t id,
                                      struct sl_diag *diag)
{
    static const struct kept none;
    const enum sl_status status = take_alert(evidence, id, &none, diag);
    struct evidence_flow *const flow = find_flow(evidence, id);

    if (flow != NULL && flow->file_len == 0)
        forget(evidence, flow);
    return status;
}

/* A packet of a flow that has raised an alert. One that gets no file is forgotten as well. */
static enum sl_status take_alerted(struct run_evidence *evidence, struct evidence_flow *flow,
                                   const struct kept *packet, const uint8_t *bytes,
                                   struct sl_diag *diag)
{
    const enum sl_status status = write_packet(evidence, flow, packet, bytes, diag);

    if (flow->file_len == 0)
        forget(evidence, flow);
    return status;
}

static enum sl_status take_packet(struct run_evidence *evidence, const struct sl_batch *batch,
                                  uint32_t item, bool alerts, struct sl_diag *diag)
{
    const uint64_t id = batch->origin[item].flow;
    const uint8_t *bytes = batch->bytes + batch->packet[item].offset;
    const struct kept packet = describe(batch, item);

    if (id == 0) {
        evidence->stats.packets_without_flow += alerts;
        return SL_OK;
    }
    const enum sl_status status = alerts ? take_alert(evidence, id, &packet, diag) : SL_OK;
    if (status != SL_OK)
        return status;
    struct evidence_flow *flow = find_flow(evidence, id);
    if (flow != NULL && flow->alerted)
        return take_alerted(evidence, flow, &packet, bytes, diag);
    return keep_packet(evidence, id, &packet, bytes)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for captures of alerts");
}

/* Items with alerts, in their order. */
struct alerted_items {
    const struct run_digest *digest;
    size_t a, v; /* the next alert of a rule, and of a virus, */
    uint32_t m;  /* and message, which may report a file with one */
};

/* Whether the item has some. */
static bool is_alerted(struct alerted_items *items, uint32_t item)
{
    const struct run_digest *const digest = items->digest;
    const struct app_batch *const apps = digest->apps;
    bool alerted = false;

    for (; items->a < digest->n_alerts && digest->alerts[items->a].item == item; items->a++)
        alerted |= run_digest_late(digest, &digest->alerts[items->a]) == SL_ALERT_NO_MESSAGE;
    for (; items->v < payload_scan_count(digest->scan) &&
           payload_scan_item(digest->scan, items->v) == item;
         items->v++)
        alerted = true;
    for (; apps != NULL && items->m < apps->n && apps->message[items->m].item == item; items->m++)
        alerted |= file_scan_count(&apps->message[items->m]) != 0;
    return alerted;
}

/* The alerts from `a` on that are of flows that this packet ended. */
static enum sl_status take_ended(struct run_evidence *evidence, const struct run_digest *digest,
                                 size_t a, uint32_t item, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    uint32_t late;

    for (; a < digest->n_alerts && digest->alerts[a].item == item && status == SL_OK &&
           (late = run_digest_late(digest, &digest->alerts[a])) != SL_ALERT_NO_MESSAGE;
         a++)
        status = take_late_alert(evidence, digest->apps->rules.batch->origin[late].flow, diag);
    return status;
}

/* The same for viruses in their files. *l: the next message of a flow that ended. */
static enum sl_status take_ended_viruses(struct run_evidence *evidence,
                                         const struct app_batch *apps, uint32_t *l, uint32_t item,
                                         struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (; apps != NULL && *l < apps->n_late && apps->late[*l].message.item == item; ++*l)
        if (status == SL_OK && file_scan_count(&apps->late[*l].message) != 0)
            status = take_late_alert(evidence, apps->late[*l].flow->record.id, diag);
    return status;
}

enum sl_status run_evidence_take(struct run_evidence *evidence, const struct sl_batch *batch,
                                 const struct run_digest *digest, struct sl_diag *diag)
{
    struct alerted_items items = {.digest = digest};
    enum sl_status status = SL_OK;
    uint32_t late = 0;

    for (uint32_t item = 0; item < batch->n_items && status == SL_OK; item++) {
        status = take_ended(evidence, digest, items.a, item, diag);
        if (status == SL_OK)
            status = take_ended_viruses(evidence, digest->apps, &late, item, diag);
        if (status == SL_OK)
            status = take_packet(evidence, batch, item, is_alerted(&items, item), diag);
    }
    const enum sl_status closed = close_files(evidence, status == SL_OK ? diag : NULL);
    return status == SL_OK ? closed : status;
}

enum sl_status run_evidence_take_late(struct run_evidence *evidence, const struct sl_batch *batch,
                                      const struct run_digest *digest, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (size_t a = 0; a < digest->n_alerts && status == SL_OK; a++)
        status = take_late_alert(evidence, batch->origin[digest->alerts[a].item].flow, diag);
    for (uint32_t m = 0; m < digest->apps->n && status == SL_OK; m++)
        if (file_scan_count(&digest->apps->message[m]) != 0)
            status =
                take_late_alert(evidence, batch->origin[digest->apps->message[m].item].flow, diag);
    const enum sl_status closed = close_files(evidence, status == SL_OK ? diag : NULL);
    return status == SL_OK ? closed : status;
}

void run_evidence_close(struct run_evidence *evidence)
{
    if (evidence == NULL)
        return;
    for (int i = 0; i < FILES_OPEN; i++)
        (void)close_file(&evidence->open[i]);
    for (uint32_t b = 0; b < BUCKETS; b++)
        while (evidence->bucket[b] != NULL)
            forget(evidence, evidence->bucket[b]);
    if (evidence->fd >= 0)
        close(evidence->fd);
    free(evidence->ring);
    free(evidence);
}
