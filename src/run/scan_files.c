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
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "scan_tree.h"

enum {
    ENTRIES = 8192,
    AHEAD = 32,          /* files that are opened, and read ahead, before one is scanned */
    AHEAD_LEN = 4 << 20, /* bytes of each */
    FEED_LEN = 1 << 16,
    FEED_WAIT_MS = 100 /* for standard input, between two checks for a stop */
};

/* A path on its way. */
struct entry {
    char *path;
    int fd; /* opened ahead, or -1 */
    bool is_stdin;
    enum sl_scan_verdict verdict; /* from SL_SCAN_EXCLUDED on: nothing to scan */
    char error[128];              /* why it could not be scanned; "": it could */
    char **names;                 /* of matches */
    size_t n_names;
    struct sl_clamav_result result;
    bool done;
};

struct job {
    struct sl_scan *scan;
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;

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
    return limit_of(entry) != NULL ? SL_SCAN_CUT : SL_SCAN_CLEAN;
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
        counts->not_opened += entry->result.not_opened != NULL;
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
        .not_opened = entry->result.not_opened,
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

static void add_name(struct entry *entry, const char *name, const char *suffix)
{
    char **more = realloc(entry->names, (entry->n_names + 1) * sizeof *more);
    char *text = NULL;

    if (more != NULL)
        entry->names = more;
    if (more == NULL || asprintf(&text, "%s%s", name, suffix) < 0) {
        set_error(entry, "out of memory");
        return;
    }
    entry->names[entry->n_names++] = text;
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    (void)user;
    add_name(token, match->name, match->official ? "" : ".UNOFFICIAL");
}

/* A limit is reported beside a signature only where all matches are wanted, as clamscan does. */
static void add_limit(const struct sl_scan *scan, struct entry *entry)
{
    const char *limit = scan->config.alert_exceeds ? limit_of(entry) : NULL;

    if (limit != NULL && (entry->n_names == 0 || scan->config.all_matches))
        add_name(entry, limit, "");
}

static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct job *job = user;
    struct entry *entry = token;

    entry->result = *result;
    if (result->error == ENOTSUP)
        set_error(entry, "OpenSSL refuses a digest that the signatures need");
    else if (result->error != 0)
        set_error(entry, strerror(result->error));
    else if (result->changed)
        set_error(entry, "changed while it was scanned");
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

static enum sl_status scan_stdin(struct job *job, struct sl_clamav_scanner *scanner,
                                 struct entry *entry)
{
    uint8_t bytes[FEED_LEN];
    enum sl_status status = sl_clamav_flush(scanner); /* files do not wait for the input */
    ssize_t n = 1;

    while (n != 0 && status == SL_OK) {
        if (!wait_for_stdin(job->scan)) {
            set_error(entry, "not read to its end: the scan was stopped");
            break;
        }
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n > 0)
            status = sl_clamav_feed(scanner, bytes, (size_t)n);
        else if (n < 0 && errno != EINTR) {
            set_error(entry, strerror(errno));
            n = 0;
        }
    }
    return status == SL_OK ? sl_clamav_feed_end(scanner, entry) : status;
}

/* O_NONBLOCK: the path may have become a pipe, and opening one waits for a writer. */
static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static enum sl_status scan_entry(struct job *job, struct sl_clamav_scanner *scanner,
                                 struct entry *entry)
{
    const struct sl_clamav_result nothing = {0};
    enum sl_status status;

    if (entry->is_stdin)
        return scan_stdin(job, scanner, entry);
    const int fd = entry->fd >= 0 ? entry->fd : open_file(entry->path);
    entry->fd = -1;
    if (fd < 0) {
        set_error(entry, errno == EACCES ? "Access denied" : strerror(errno));
        on_done(job, entry, &nothing);
        return SL_OK;
    }
    status = sl_clamav_scan_fd(scanner, fd, entry);
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

static enum sl_status scan_entries(struct job *job, struct sl_clamav_scanner *scanner)
{
    enum sl_status status = SL_OK;

    while (status == SL_OK) {
        struct entry *entry = take_entry(job, false);

        if (entry == NULL) { /* nothing waits: objects on their way end first */
            status = sl_clamav_flush(scanner);
            entry = status == SL_OK ? take_entry(job, true) : NULL;
        }
        if (entry == NULL)
            break;
        open_ahead(job);
        status = scan_entry(job, scanner, entry);
    }
    return status == SL_OK ? sl_clamav_flush(scanner) : status;
}

static void *scan_thread(void *user)
{
    struct job *job = user;
    struct sl_clamav_scanner *scanner = NULL;
    struct sl_diag diag = {0};
    enum sl_status status = sl_clamav_open(&scanner, job->db, &job->config, &diag);

    if (status == SL_OK) {
        status = scan_entries(job, scanner);
        if (status != SL_OK)
            (void)diag_set(&diag, status, NULL, 0, "the scan cannot go on: %s",
                           sl_status_text(status));
    }
    if (status != SL_OK)
        fail(job, status, &diag);
    sl_clamav_close(scanner);

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
           pthread_create(&threads[n], NULL, scan_thread, job) == 0)
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
