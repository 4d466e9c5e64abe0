/* SPDX-License-Identifier: MIT */
/* The execution of a scan: a walk that fills a ring, threads with a scanner each, and reports in
 * the order of the walk, whichever thread was done first. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "clamav/place.h"
#include "scan_tree.h"
#include "unpack/client.h"

enum {
    ENTRIES = 8192,
    AHEAD = 32,          /* files that are opened, and read ahead, before one is scanned */
    AHEAD_LEN = 4 << 20, /* bytes of each */
    FEED_LEN = 1 << 16,
    IN_MEMORY = 64 << 20, /* bytes of standard input; more are in a temporary file */
    FEED_WAIT_MS = 100    /* for standard input, between two checks for a stop */
};

struct entry;

/* The token of objects that the scanner is given: a file, or what lies in it. */
struct part {
    struct entry *entry;
    bool is_file;
};

/* A path on its way. */
struct entry {
    char *path;
    struct part parts[2]; /* the file's token, and that of all that lies in it */
    int fd;               /* opened ahead, or -1 */
    bool is_stdin;
    enum sl_scan_verdict verdict; /* from SL_SCAN_EXCLUDED on: nothing to scan */
    char error[128];              /* why it could not be scanned; "": it could */
    char
        not_opened[UNPACK_TEXT_LEN]; /* why it was not fully opened; "": it was, or holds nothing */
    char limit[UNPACK_TEXT_LEN];     /* that was reached inside it; "": none */
    char **names;                    /* of matches */
    size_t n_names;
    struct sl_clamav_result result;
    bool done;
};

struct job {
    struct sl_scan *scan;
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct unpack_request request;

    pthread_mutex_t lock;
    pthread_cond_t work, room;
    /* A ring: reported up to `reported`, taken by threads up to `taken`, opened ahead (or by
     * the thread that takes it) up to `opened`, filled up to `filled`. */
    struct entry entries[ENTRIES];
    uint64_t reported, taken, opened, filled;
    bool walked;           /* no more will be filled */
    enum sl_status status; /* of the first thread that failed */
    struct sl_diag diag;
};

/* A thread's own. */
struct scan_thread {
    struct sl_clamav_scanner *scanner;
    struct unpack_client *client;
};

/* The lock is held, or the answer may be late. */
static bool is_over(const struct job *job)
{
    return job->status != SL_OK || atomic_load(&job->scan->stopped);
}

/* ---- reports --------------------------------------------------------------------------------- */

static bool was_scanned(const struct entry *entry)
{
    return entry->error[0] == '\0' && entry->verdict < SL_SCAN_EXCLUDED;
}

/* By clamscan's name. NULL: it reached none. */
static const char *limit_of(const struct entry *entry)
{
    if (entry->error[0] != '\0')
        return NULL;
    if (entry->limit[0] != '\0')
        return entry->limit;
    if (entry->verdict == SL_SCAN_TOO_LARGE)
        return "Heuristics.Limits.Exceeded.MaxFileSize";
    if (!was_scanned(entry))
        return NULL;
    if (entry->result.timed_out)
        return "Heuristics.Limits.Exceeded.MaxScanTime";
    return entry->result.scanned_len < entry->result.len ? "Heuristics.Limits.Exceeded.MaxScanSize"
                                                         : NULL;
}

static enum sl_scan_verdict verdict_of(const struct entry *entry)
{
    if (entry->error[0] != '\0')
        return SL_SCAN_FAILED;
    if (entry->n_names > 0)
        return SL_SCAN_FOUND;
    if (entry->verdict >= SL_SCAN_EXCLUDED)
        return entry->verdict;
    if (entry->result.suspect)
        return SL_SCAN_SUSPECT;
    return limit_of(entry) != NULL || entry->not_opened[0] != '\0' ? SL_SCAN_INCOMPLETE
                                                                   : SL_SCAN_CLEAN;
}

static void count_entry(struct sl_scan *scan, const struct entry *entry)
{
    struct sl_scan_counts *counts = &scan->counts;

    pthread_mutex_lock(&scan->lock);
    counts->failed += entry->error[0] != '\0';
    counts->limited += limit_of(entry) != NULL;
    if (entry->error[0] == '\0')
        counts->found += entry->n_names > 0;
    if (was_scanned(entry)) {
        counts->files++;
        counts->not_opened += entry->not_opened[0] != '\0';
        counts->suspect += entry->result.suspect && entry->n_names == 0;
        counts->bytes += entry->result.len;
        counts->scanned_bytes += entry->result.scanned_len;
    }
    pthread_mutex_unlock(&scan->lock);
}

static void report_entry(struct sl_scan *scan, const struct entry *entry)
{
    const struct sl_scan_file file = {
        .path = entry->path,
        .verdict = verdict_of(entry),
        .error = entry->error[0] != '\0' ? entry->error : NULL,
        .names = (const char *const *)entry->names,
        .n_names = entry->n_names,
        .len = entry->result.len,
        .scanned_len = entry->result.scanned_len,
        .suspect = entry->result.suspect,
        .allowed = entry->result.allowed,
        .not_opened = entry->not_opened[0] != '\0' ? entry->not_opened : NULL,
        .limit = limit_of(entry),
    };

    count_entry(scan, entry);
    if (scan->config.file != NULL)
        scan->config.file(scan->config.user, &file);
}

static void free_entry(struct entry *entry)
{
    for (size_t i = 0; i < entry->n_names; i++)
        free(entry->names[i]);
    if (entry->fd >= 0) /* the scan ended before */
        (void)close(entry->fd);
    free(entry->names);
    free(entry->path);
    memset(entry, 0, sizeof *entry);
    entry->fd = -1;
}

/* Reports entries that are done, in order. The lock is held. */
static void report_done(struct job *job)
{
    while (job->reported < job->filled && job->entries[job->reported % ENTRIES].done) {
        struct entry *entry = &job->entries[job->reported % ENTRIES];

        report_entry(job->scan, entry);
        free_entry(entry);
        job->reported++;
    }
    pthread_cond_signal(&job->room);
}

/* ---- threads that scan ----------------------------------------------------------------------- */

static void fail(struct job *job, enum sl_status status, const struct sl_diag *diag)
{
    pthread_mutex_lock(&job->lock);
    if (job->status == SL_OK) {
        job->status = status;
        job->diag = *diag;
    }
    pthread_cond_broadcast(&job->work);
    pthread_cond_broadcast(&job->room);
    pthread_mutex_unlock(&job->lock);
}

static void set_error(struct entry *entry, const char *reason)
{
    snprintf(entry->error, sizeof entry->error, "%s", reason);
}

/* The name of a match is reported once a file, whichever of its objects have it. */
static void add_name(struct entry *entry, const char *name, const char *suffix)
{
    char *text = NULL;

    if (asprintf(&text, "%s%s", name, suffix) < 0)
        text = NULL;
    for (size_t i = 0; text != NULL && i < entry->n_names; i++)
        if (strcmp(entry->names[i], text) == 0) {
            free(text);
            return;
        }
    char **more = realloc(entry->names, (entry->n_names + 1) * sizeof *more);
    if (more != NULL)
        entry->names = more;
    if (more == NULL || text == NULL) {
        free(text);
        set_error(entry, "out of memory");
        return;
    }
    entry->names[entry->n_names++] = text;
}

/* The first match ends a file, but its other objects may be in the same batch. */
static bool wants_names(const struct job *job, const struct entry *entry)
{
    return entry->n_names == 0 || job->config.all_matches;
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct entry *entry = ((struct part *)token)->entry;

    if (wants_names(user, entry))
        add_name(entry, match->name, match->official ? "" : ".UNOFFICIAL");
}

/* A limit is reported beside a signature only where all matches are wanted, as clamscan does. */
static void add_limit(const struct sl_scan *scan, struct entry *entry)
{
    const char *limit = scan->config.alert_exceeds ? limit_of(entry) : NULL;

    if (limit != NULL && (entry->n_names == 0 || scan->config.all_matches))
        add_name(entry, limit, "");
}

/* An object inside a file adds to what is doubtful about it. */
static void add_result(struct entry *entry, const struct sl_clamav_result *result, bool is_file)
{
    const struct sl_clamav_result before = entry->result;

    if (is_file)
        entry->result = *result;
    entry->result.suspect = before.suspect || result->suspect;
    entry->result.timed_out = before.timed_out || result->timed_out;
    entry->result.allowed = before.allowed || result->allowed;
}

/* Objects end in the order in which they were given: the file's own bytes last. */
static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct job *job = user;
    const struct part *part = token;
    struct entry *entry = part->entry;

    add_result(entry, result, part->is_file);
    if (result->error == ENOTSUP)
        set_error(entry, "OpenSSL refuses a digest that the signatures need");
    else if (result->error != 0)
        set_error(entry, strerror(result->error));
    else if (result->changed)
        set_error(entry, "changed while it was scanned");
    if (!part->is_file)
        return;
    add_limit(job->scan, entry);
    pthread_mutex_lock(&job->lock);
    entry->done = true;
    report_done(job);
    pthread_mutex_unlock(&job->lock);
}

/* Waits for standard input. False: the scan was stopped before. */
static bool wait_for_stdin(struct sl_scan *scan)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!atomic_load(&scan->stopped))
        if (poll(&input, 1, FEED_WAIT_MS) != 0)
            return true; /* also after an error, which the read repeats */
    return false;
}

/* O_NONBLOCK: the path may have become a pipe, and opening one waits for a writer. */
static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* ---- what lies in a file --------------------------------------------------------------------- */

static enum sl_status scan_object(struct job *job, const struct scan_thread *thread,
                                  struct entry *entry, const struct unpack_event *event,
                                  const uint8_t *bytes, int fd)
{
    struct clam_given given = {.bytes = bytes,
                               .len = event->len,
                               .fd = fd,
                               .token = &entry->parts[1],
                               .place = {.known = true,
                                         .kind = event->kind,
                                         .hashes_only = event->hashes_only,
                                         .stated_len = event->stated_len,
                                         .n_containers = event->n_containers}};

    memcpy(given.place.containers, event->containers, sizeof given.place.containers);
    if (wants_names(job, entry))
        return clam_scan_given(thread->scanner, &given);
    unpack_client_cancel(thread->client);
    return SL_OK;
}

static void take_alert(struct job *job, struct entry *entry, const struct unpack_event *event)
{
    if ((job->scan->config.alerts >> event->alert & 1) != 0 && wants_names(job, entry))
        add_name(entry, event->text, "");
}

static void take_member(const struct scan_thread *thread, struct entry *entry,
                        const struct unpack_event *event)
{
    const struct clam_told told = {event->text, event->container_len, event->packed_len,
                                   event->len,  event->position,      event->encrypted,
                                   event->kind};

    clam_scan_told(thread->scanner, &told, &entry->parts[1]);
}

static void take_end(struct entry *entry, const struct unpack_event *event, enum kind kind)
{
    if (event->died)
        snprintf(entry->not_opened, sizeof entry->not_opened, "%s: %.200s", kind_name(kind),
                 event->text);
    else if (event->limited)
        memcpy(entry->limit, event->text, sizeof entry->limit);
    else
        memcpy(entry->not_opened, event->text, sizeof entry->not_opened);
}

/* Has a file opened, and gives the scanner what lies in it. */
static enum sl_status open_entry(struct job *job, const struct scan_thread *thread,
                                 struct entry *entry, int fd, struct clam_place *place)
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
        if (large >= 0)
            (void)close(large);
    }
    take_end(entry, &event, kind);
    if (!event.died && !event.limited)
        place->kind = event.kind;
    place->hashes_only = event.hashes_only;
    return status;
}

/* By the bytes that tell it. An object that cannot be read has none. */
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

static enum sl_status scan_file(struct job *job, const struct scan_thread *thread,
                                struct entry *entry, int fd)
{
    struct clam_given given = {.fd = fd, .token = &entry->parts[0]};
    const enum kind kind = kind_of_file(fd);
    enum sl_status status;

    given.place.known = true;
    given.place.kind = (uint8_t)kind;
    status = open_entry(job, thread, entry, fd, &given.place); /* any file may hold an archive */
    return status == SL_OK ? clam_scan_given(thread->scanner, &given) : status;
}

/* ---- standard input -------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
    for (ssize_t n; len > 0; bytes += n, len -= (size_t)n) {
        n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR)
            return false;
        n = n < 0 ? 0 : n;
    }
    return true;
}

/* Moves what lies in memory to a temporary file. -1: it has no room. */
static int move_to_disk(int fd)
{
    FILE *file = tmpfile();
    const int moved = file != NULL ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    uint8_t bytes[FEED_LEN];
    ssize_t n = lseek(fd, 0, SEEK_SET) == 0 ? 1 : -1;

    if (file != NULL)
        (void)fclose(file);
    while (moved >= 0 && n > 0) {
        n = read(fd, bytes, sizeof bytes);
        if (n > 0 && !write_all(moved, bytes, (size_t)n))
            n = -1;
    }
    (void)close(fd);
    if (moved >= 0 && n < 0)
        (void)close(moved);
    return n < 0 ? -1 : moved;
}

/* The bytes of standard input as a file, in memory as long as they are few. -1: an error is set. */
static int read_stdin(struct job *job, struct entry *entry)
{
    uint8_t bytes[FEED_LEN];
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    uint64_t len = 0;
    ssize_t n = 1;

    while (n != 0 && fd >= 0) {
        if (!wait_for_stdin(job->scan)) {
            set_error(entry, "not read to its end: the scan was stopped");
            return fd;
        }
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            set_error(entry, strerror(errno));
            return fd;
        }
        if (len <= IN_MEMORY && len + (uint64_t)n > IN_MEMORY)
            fd = move_to_disk(fd);
        len += (uint64_t)n;
        if (fd >= 0 && !write_all(fd, bytes, (size_t)n)) {
            (void)close(fd);
            fd = -1;
        }
    }
    if (fd < 0)
        set_error(entry, "no room for its bytes");
    return fd;
}

static enum sl_status scan_entry(struct job *job, const struct scan_thread *thread,
                                 struct entry *entry)
{
    const struct sl_clamav_result nothing = {0};
    enum sl_status status;

    entry->parts[0] = (struct part){entry, true};
    entry->parts[1] = (struct part){entry, false};
    if (entry->is_stdin) { /* files do not wait for the input */
        status = sl_clamav_flush(thread->scanner);
        if (status != SL_OK)
            return status;
        entry->fd = read_stdin(job, entry);
    }
    const int fd = entry->fd >= 0 || entry->is_stdin ? entry->fd : open_file(entry->path);
    entry->fd = -1;
    if (fd < 0) {
        if (!entry->is_stdin)
            set_error(entry, errno == EACCES ? "Access denied" : strerror(errno));
        on_done(job, &entry->parts[0], &nothing);
        return SL_OK;
    }
    status = scan_file(job, thread, entry, fd);
    (void)close(fd);
    return status;
}

/* The next entry to scan. NULL: none is there now, or, where `wait`, none will come. */
static struct entry *take_entry(struct job *job, bool wait)
{
    struct entry *entry = NULL;

    pthread_mutex_lock(&job->lock);
    for (;;) {
        /* An entry that was done without a scan may have been reported. */
        if (job->taken < job->reported)
            job->taken = job->reported;
        while (job->taken < job->filled && job->entries[job->taken % ENTRIES].done)
            job->taken++;
        if (job->taken < job->filled && !is_over(job))
            entry = &job->entries[job->taken++ % ENTRIES];
        if (entry != NULL || !wait || job->walked || is_over(job))
            break;
        pthread_cond_wait(&job->work, &job->lock);
    }
    pthread_mutex_unlock(&job->lock);
    return entry;
}

/* The next entry to be opened ahead, with its path. The lock is held. */
static bool next_ahead(struct job *job, uint64_t *number, char path[PATH_MAX])
{
    if (job->opened < job->taken)
        job->opened = job->taken;
    while (job->opened < job->filled && job->opened < job->taken + AHEAD) {
        const struct entry *entry = &job->entries[job->opened % ENTRIES];

        *number = job->opened++;
        if (!entry->done && !entry->is_stdin && strlen(entry->path) < PATH_MAX) {
            memcpy(path, entry->path, strlen(entry->path) + 1);
            return true;
        }
    }
    return false;
}

/* Opens the files that come next and has them read, so that the disk reads many at once. */
static void open_ahead(struct job *job)
{
    char path[PATH_MAX];
    uint64_t number;

    pthread_mutex_lock(&job->lock);
    while (!is_over(job) && next_ahead(job, &number, path)) {
        pthread_mutex_unlock(&job->lock);
        const int fd = open_file(path);
        if (fd >= 0)
            (void)posix_fadvise(fd, 0, AHEAD_LEN, POSIX_FADV_WILLNEED);
        pthread_mutex_lock(&job->lock);
        if (number >= job->taken)
            job->entries[number % ENTRIES].fd = fd;
        else if (fd >= 0) /* a thread took the entry meanwhile, and opened the file itself */
            (void)close(fd);
    }
    pthread_mutex_unlock(&job->lock);
}

static enum sl_status scan_entries(struct job *job, const struct scan_thread *thread)
{
    enum sl_status status = SL_OK;

    while (status == SL_OK) {
        struct entry *entry = take_entry(job, false);

        if (entry == NULL) { /* nothing waits: objects on their way end first */
            status = sl_clamav_flush(thread->scanner);
            entry = status == SL_OK ? take_entry(job, true) : NULL;
        }
        if (entry == NULL)
            break;
        open_ahead(job);
        status = scan_entry(job, thread, entry);
    }
    return status == SL_OK ? sl_clamav_flush(thread->scanner) : status;
}

static void *run_thread(void *user)
{
    struct job *job = user;
    struct scan_thread thread = {.client = unpack_client_create(job->scan->config.unpacker)};
    struct sl_diag diag = {0};
    enum sl_status status = thread.client != NULL
                                ? sl_clamav_open(&thread.scanner, job->db, &job->config, &diag)
                                : diag_set(&diag, SL_ENOMEM, NULL, 0, "out of memory");

    if (status == SL_OK) {
        status = scan_entries(job, &thread);
        if (status != SL_OK)
            (void)diag_set(&diag, status, NULL, 0, "the scan cannot go on: %s",
                           sl_status_text(status));
    }
    if (status != SL_OK)
        fail(job, status, &diag);
    sl_clamav_close(thread.scanner);
    unpack_client_free(thread.client);

    pthread_mutex_lock(&job->lock); /* a walk that waits for room sees that the scan was stopped */
    pthread_cond_broadcast(&job->room);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Adds a path. An entry with an error, or with nothing to scan, is done. */
static void put_entry(struct job *job, const char *path, enum sl_scan_verdict verdict,
                      const char *error, bool is_stdin)
{
    pthread_mutex_lock(&job->lock);
    while (job->filled - job->reported == ENTRIES && !is_over(job))
        pthread_cond_wait(&job->room, &job->lock);
    if (!is_over(job)) {
        struct entry *entry = &job->entries[job->filled % ENTRIES];

        entry->path = strdup(path);
        if (entry->path == NULL) {
            job->status = diag_set(&job->diag, SL_ENOMEM, NULL, 0, "out of memory");
        } else {
            entry->verdict = verdict;
            set_error(entry, error != NULL ? error : "");
            entry->is_stdin = is_stdin;
            entry->done = error != NULL || verdict >= SL_SCAN_EXCLUDED;
            if (entry->done)
                add_limit(job->scan, entry);
            job->filled++;
            if (entry->done)
                report_done(job);
        }
        pthread_cond_signal(&job->work);
    }
    pthread_mutex_unlock(&job->lock);
}

static void on_file(void *user, const char *path, uint64_t len)
{
    (void)len;
    put_entry(user, path, SL_SCAN_CLEAN, NULL, false);
}

static void on_skipped(void *user, const char *path, enum sl_scan_verdict verdict)
{
    put_entry(user, path, verdict, NULL, false);
}

static void on_failed(void *user, const char *path, const char *reason)
{
    put_entry(user, path, SL_SCAN_FAILED, reason, false);
}

static void on_directory(void *user)
{
    struct sl_scan *scan = ((struct job *)user)->scan;

    pthread_mutex_lock(&scan->lock);
    scan->counts.directories++;
    pthread_mutex_unlock(&scan->lock);
}

static bool is_stopped(void *user)
{
    struct job *job = user;

    pthread_mutex_lock(&job->lock);
    const bool over = is_over(job);
    pthread_mutex_unlock(&job->lock);
    return over;
}

static void walk_all(struct job *job)
{
    const struct sl_scan_config *config = &job->scan->config;
    const struct scan_walk walk = {job->scan, job,          on_file,   on_skipped,
                                   on_failed, on_directory, is_stopped};

    for (size_t i = 0; i < config->n_paths && !is_stopped(job); i++) {
        if (strcmp(config->paths[i], "-") == 0)
            put_entry(job, "stdin", SL_SCAN_CLEAN, NULL, true);
        else
            scan_walk_path(&walk, config->paths[i]);
    }
    if (config->list != NULL && !is_stopped(job))
        scan_walk_list(&walk, config->list);
    pthread_mutex_lock(&job->lock);
    job->walked = true;
    pthread_cond_broadcast(&job->work);
    pthread_mutex_unlock(&job->lock);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void run_threads(struct job *job)
{
    const uint32_t n_threads = job->scan->config.n_threads;
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    struct scan_count *count = scan_count_begin(job->scan);
    uint32_t n = 0;

    while (threads != NULL && n < n_threads &&
           pthread_create(&threads[n], NULL, run_thread, job) == 0)
        n++;
    if (n > 0)
        walk_all(job);
    else
        job->status = diag_set(&job->diag, SL_ENOMEM, NULL, 0, "no thread could be started");
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    scan_count_end(count);
    free(threads);
}

static struct unpack_request request_of(const struct sl_scan_config *config)
{
    return (struct unpack_request){
        .limits = {.file_len_max =
                       config->file_len_max > 0 ? config->file_len_max : SL_SCAN_MEMBER_LEN_DEFAULT,
                   .scan_len_max =
                       config->scan_len_max > 0 ? config->scan_len_max : SL_SCAN_LEN_DEFAULT,
                   .depth_max = config->levels_max,
                   .files_max = config->members_max},
        .closed = config->closed,
        .normalizes = config->normalizes};
}

static struct job *job_create(struct sl_scan *scan, const struct sl_clamav_db *db)
{
    const struct sl_scan_config *config = &scan->config;
    struct job *job = calloc(1, sizeof *job);

    if (job == NULL)
        return NULL;
    job->scan = scan;
    job->db = db;
    sl_clamav_scan_config_init(&job->config);
    job->config.device = config->device;
    job->config.all_matches = config->all_matches;
    job->config.max_scan_len = config->scan_len_max;
    job->config.time_max_ms = config->time_max_ms;
    job->config.max_batch_hits = config->max_batch_hits;
    job->config.max_object_hits = config->max_object_hits;
    job->config.match = on_match;
    job->config.done = on_done;
    job->config.user = job;
    job->request = request_of(config);
    for (int i = 0; i < ENTRIES; i++)
        job->entries[i].fd = -1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->work, NULL);
    pthread_cond_init(&job->room, NULL);
    return job;
}

static void job_free(struct job *job)
{
    for (int i = 0; i < ENTRIES; i++)
        free_entry(&job->entries[i]);
    pthread_cond_destroy(&job->room);
    pthread_cond_destroy(&job->work);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

/* False: it began before. */
static bool begin(struct sl_scan *scan)
{
    pthread_mutex_lock(&scan->lock);
    const bool first = scan->begin_ns == 0;
    if (first)
        scan->begin_ns = clock_ns();
    pthread_mutex_unlock(&scan->lock);
    return first;
}

static void end(struct sl_scan *scan)
{
    pthread_mutex_lock(&scan->lock);
    scan->counts.elapsed_ns = clock_ns() - scan->begin_ns;
    scan->ended = true;
    pthread_mutex_unlock(&scan->lock);
}

enum sl_status sl_scan_execute(struct sl_scan *scan, const struct sl_clamav_db *db,
                               struct sl_diag *diag)
{
    if (!begin(scan))
        return diag_set(diag, SL_EINVAL, NULL, 0, "the scan was executed before");
    struct job *job = job_create(scan, db);
    enum sl_status status;
    if (job != NULL) {
        run_threads(job);
        status = job->status;
        if (status != SL_OK && diag != NULL)
            *diag = job->diag;
        job_free(job);
    } else {
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    end(scan);
    return status;
}
