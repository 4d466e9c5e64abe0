/* SPDX-License-Identifier: MIT */
/* The objects in a file: they are opened by an unpacker, and given to the scanner. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "scan_job.h"

static enum sl_status scan_object(struct scan_job *job, const struct scan_thread *thread,
                                  struct scan_entry *entry, const struct unpack_event *event,
                                  const uint8_t *bytes, int fd)
{
    struct clam_given given = {.bytes = bytes,
                               .len = event->len,
                               .fd = fd,
                               .place = {.known = true,
                                         .kind = event->kind,
                                         .hashes_only = event->hashes_only,
                                         .stated_len = event->stated_len,
                                         .n_containers = event->n_containers}};

    memcpy(given.place.containers, event->containers, sizeof given.place.containers);
    if (!scan_entry_wants(job, entry)) {
        unpack_client_cancel(thread->client);
        return SL_OK;
    }
    given.token = scan_entry_part(entry, false, event->text);
    return given.token != NULL ? clam_scan_given(thread->scanner, &given) : SL_ENOMEM;
}

/* The last alert comes before others, as clamscan has it, but where alerts come first: there the
 * first one ends the scan. */
static void add_alert(const struct scan_job *job, struct scan_entry *entry, const char *name,
                      const char *inside)
{
    if (job->config.all_matches)
        scan_entry_add(entry, name, "", inside);
    else if (entry->alert[0] == '\0' || !job->scan->config.alerts_first)
        snprintf(entry->alert, sizeof entry->alert, "%s", name);
}

static void take_alert(struct scan_job *job, struct scan_entry *entry,
                       const struct unpack_event *event)
{
    if ((job->scan->config.alerts >> event->alert & 1) != 0)
        add_alert(job, entry, event->text, "");
}

/* ---- links ----------------------------------------------------------------------------------- */

struct links_of {
    const struct scan_job *job;
    struct scan_entry *entry;
    const char *inside;
};

static void on_link(void *user, const char *name)
{
    const struct links_of *const of = user;

    add_alert(of->job, of->entry, name, of->inside);
}

/* Where the file's time is over, the unpacker's next event says so. */
static void take_links(const struct scan_job *job, const struct scan_thread *thread,
                       struct scan_entry *entry, const struct unpack_event *event,
                       const uint8_t *records, uint64_t deadline_ns)
{
    const uint32_t alerts = job->scan->config.alerts;
    const struct clam_links links = {records, event->len, (alerts >> SL_SCAN_PHISHING_SSL & 1) != 0,
                                     (alerts >> SL_SCAN_PHISHING_CLOAK & 1) != 0, deadline_ns};
    struct links_of of = {job, entry, event->text};

    if (scan_entry_wants(job, entry))
        (void)clam_scan_links(thread->scanner, &links, on_link, &of);
}

static void take_member(const struct scan_thread *thread, struct scan_entry *entry,
                        const struct unpack_event *event)
{
    const struct clam_metadata metadata = {event->text, event->container_len, event->packed_len,
                                           event->len,  event->position,      event->encrypted,
                                           event->kind};

    struct scan_part *part = scan_entry_part(entry, false, event->text);

    if (part != NULL)
        clam_scan_metadata(thread->scanner, &metadata, part);
}

static void take_end(struct scan_entry *entry, const struct unpack_event *event, enum kind kind)
{
    if (event->died)
        snprintf(entry->not_opened, sizeof entry->not_opened, "%s: %.200s", kind_name(kind),
                 event->text);
    else if (event->limited)
        memcpy(entry->limit, event->text, sizeof entry->limit);
    else
        memcpy(entry->not_opened, event->text, sizeof entry->not_opened);
}

/* Has a file opened, and gives the scanner the objects in it. */
static enum sl_status open_entry(struct scan_job *job, const struct scan_thread *thread,
                                 struct scan_entry *entry, int fd, struct clam_place *place)
{
    const enum kind kind = (enum kind)place->kind;
    const uint32_t ms = job->scan->config.time_max_ms;
    enum sl_status status = SL_OK;
    struct unpack_event event = {.type = UNPACK_OBJECT};
    const uint8_t *bytes;
    const char *why;
    int large = -1;

    if (!unpack_client_begin(thread->client, fd, &job->request, &why)) {
        snprintf(entry->not_opened, sizeof entry->not_opened, "%s: not opened: %s", kind_name(kind),
                 why);
        return SL_OK;
    }
    const uint64_t deadline = ms > 0 ? clock_ns() + ms * UINT64_C(1000000) : 0;
    while (event.type != UNPACK_END) {
        unpack_client_next(thread->client, deadline, &event, &bytes, &large);
        if (event.type == UNPACK_OBJECT && status == SL_OK)
            status = scan_object(job, thread, entry, &event, bytes, large);
        else if (event.type == UNPACK_ALERT)
            take_alert(job, entry, &event);
        else if (event.type == UNPACK_MEMBER)
            take_member(thread, entry, &event);
        else if (event.type == UNPACK_LINKS)
            take_links(job, thread, entry, &event, bytes, deadline);
        if (large >= 0)
            (void)close(large);
    }
    take_end(entry, &event, kind);
    if (!event.died && !event.limited)
        place->kind = event.kind;
    place->hashes_only = event.hashes_only;
    return status;
}

/* By the bytes that identify it. An object that cannot be read has none. */
static enum kind kind_of_file(int fd)
{
    uint8_t head[KIND_HEAD_LEN], mark[KIND_MARK_LEN], tail[KIND_TAIL_LEN];
    struct stat file;
    const ssize_t n = pread(fd, head, sizeof head, 0);
    const enum kind kind = kind_of_head(head, n > 0 ? (size_t)n : 0);

    if ((kind != KIND_BINARY && kind != KIND_TEXT_UTF16BE) || n <= 0 || fstat(fd, &file) != 0)
        return kind;
    const off_t tail_at = file.st_size > KIND_TAIL_LEN ? file.st_size - KIND_TAIL_LEN : 0;
    const ssize_t n_mark = pread(fd, mark, sizeof mark, KIND_MARK_AT);
    const ssize_t n_tail = pread(fd, tail, sizeof tail, tail_at);
    const enum kind marked =
        kind_of_marks(mark, n_mark > 0 ? (size_t)n_mark : 0, tail, n_tail > 0 ? (size_t)n_tail : 0);
    return marked != KIND_BINARY ? marked : kind;
}

/* ---- content that was clean before ----------------------------------------------------------- */

/* Whether the content is in the cache. Where the same content is on its way, its end is waited for.
 */
static enum sl_status look_up(struct scan_job *job, struct scan_thread *thread,
                              struct scan_entry *entry, int fd)
{
    enum sl_status status = SL_OK;

    entry->has_digest = scan_digest_file(fd, entry->digest);
    if (!entry->has_digest)
        return SL_OK;
    uint8_t *const started = thread->started[entry->digest[2]];
    entry->repeated = scan_cache_has(job->cache, entry->digest);
    if (!entry->repeated && memcmp(started, entry->digest, SCAN_DIGEST_LEN) == 0) {
        status = sl_clamav_flush(thread->scanner);
        entry->repeated = scan_cache_has(job->cache, entry->digest);
    }
    memcpy(started, entry->digest, SCAN_DIGEST_LEN);
    return status;
}

/* Of files that are no containers a hash costs as much as a scan. */
static bool may_be_known(const struct scan_job *job, enum kind kind)
{
    return job->cache != NULL && (kind_is_container(kind) || kind == KIND_HTML);
}

enum sl_status scan_inside(struct scan_job *job, struct scan_thread *thread,
                           struct scan_entry *entry, int fd)
{
    struct clam_given given = {.fd = fd, .token = scan_entry_part(entry, true, "")};
    const enum kind kind = kind_of_file(fd);
    enum sl_status status = SL_OK;

    if (given.token == NULL)
        return SL_ENOMEM;
    if (may_be_known(job, kind) && fstat(fd, &entry->hashed) == 0)
        status = look_up(job, thread, entry, fd);
    if (entry->repeated) {
        const uint64_t len = (uint64_t)entry->hashed.st_size;
        const struct sl_clamav_result clean = {.len = len, .scanned_len = len};

        job->config.done(job, given.token, &clean);
        return status;
    }
    if (status != SL_OK)
        return status;
    given.place.known = true;
    given.place.kind = (uint8_t)kind;
    status = open_entry(job, thread, entry, fd, &given.place); /* any file may hold an archive */
    return status == SL_OK ? clam_scan_given(thread->scanner, &given) : status;
}
