/* SPDX-License-Identifier: MIT */
/* The execution of a scan: its walk and its threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "scan_job.h"

enum { CPU_BATCH_LEN = 1 << 20 }; /* bytes, which a core keeps near */

/* ---- the scanner's calls: the user is the job, the token a part --------------------------------
 */

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    const struct scan_job *job = user;
    const struct scan_part *part = token;
    struct scan_entry *entry = part->entry;

    if (entry->n_names == 0 || job->config.all_matches)
        scan_entry_add(entry, match->name, match->official ? "" : ".UNOFFICIAL", part->inside);
}

/* An object inside a file adds to the doubts about it. */
static void add_result(struct scan_entry *entry, const struct sl_clamav_result *result,
                       bool is_file)
{
    const struct sl_clamav_result before = entry->result;

    if (is_file)
        entry->result = *result;
    entry->result.suspect = before.suspect || result->suspect;
    entry->result.timed_out = before.timed_out || result->timed_out;
    entry->result.allowed = before.allowed || result->allowed;
}

/* Whether the bytes that were scanned are those that were hashed before. */
static bool is_as_hashed(const struct scan_entry *entry)
{
    const struct stat *const before = &entry->hashed;
    struct stat now;

    return stat(entry->path, &now) == 0 && now.st_dev == before->st_dev &&
           now.st_ino == before->st_ino && now.st_size == before->st_size &&
           memcmp(&now.st_mtim, &before->st_mtim, sizeof now.st_mtim) == 0 &&
           memcmp(&now.st_ctim, &before->st_ctim, sizeof now.st_ctim) == 0;
}

/* Objects end in the order in which they were given: the file's own bytes last. */
static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct scan_job *job = user;
    const struct scan_part *part = token;
    struct scan_entry *entry = part->entry;

    add_result(entry, result, part->is_file);
    if (result->error == ENOTSUP)
        scan_entry_fail(entry, "OpenSSL refuses a digest that the signatures need");
    else if (result->error != 0)
        scan_entry_fail(entry, strerror(result->error));
    else if (result->changed)
        scan_entry_fail(entry, "changed while it was scanned");
    if (!part->is_file)
        return;
    if (job->scan->config.alerts_first && entry->alert[0] != '\0')
        scan_entry_drop_names(entry);
    if (entry->n_names == 0 && entry->alert[0] != '\0')
        scan_entry_add(entry, entry->alert, "", "");
    scan_entry_add_limit(job->scan, entry);
    if (entry->has_digest && scan_entry_is_clean(entry) && is_as_hashed(entry))
        scan_cache_add(job->cache, entry->digest);
    pthread_mutex_lock(&job->lock);
    entry->done = true;
    scan_ring_report(job);
    pthread_mutex_unlock(&job->lock);
}

/* ---- threads that scan ----------------------------------------------------------------------- */

static void fail(struct scan_job *job, enum sl_status status, const struct sl_diag *diag)
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

static enum sl_status scan_one(struct scan_job *job, struct scan_thread *thread,
                               struct scan_entry *entry)
{
    const struct sl_clamav_result nothing = {0};
    enum sl_status status;

    if (entry->is_stdin) { /* files do not wait for the input */
        status = sl_clamav_flush(thread->scanner);
        if (status != SL_OK)
            return status;
        entry->fd = scan_read_stdin(job, entry);
    }
    const int fd = entry->fd >= 0 || entry->is_stdin ? entry->fd : scan_open_file(entry->path);
    entry->fd = -1;
    if (fd < 0) {
        if (!entry->is_stdin)
            scan_entry_fail(entry, errno == EACCES ? "Access denied" : strerror(errno));
        struct scan_part *part = scan_entry_part(entry, true, "");
        if (part == NULL)
            return SL_ENOMEM;
        on_done(job, part, &nothing);
        return SL_OK;
    }
    status = scan_inside(job, thread, entry, fd);
    (void)close(fd);
    return status;
}

static enum sl_status scan_entries(struct scan_job *job, struct scan_thread *thread)
{
    enum sl_status status = SL_OK;

    while (status == SL_OK) {
        struct scan_entry *entry = scan_ring_take(job, false);

        if (entry == NULL) { /* nothing waits: objects on their way end first */
            status = sl_clamav_flush(thread->scanner);
            entry = status == SL_OK ? scan_ring_take(job, true) : NULL;
        }
        if (entry == NULL)
            break;
        scan_ring_open_ahead(job);
        status = scan_one(job, thread, entry);
    }
    return status == SL_OK ? sl_clamav_flush(thread->scanner) : status;
}

static void *run_thread(void *user)
{
    struct scan_job *job = user;
    size_t passwords_len;
    const uint8_t *const passwords = clam_passwords(job->db, &passwords_len);
    struct scan_thread thread = {
        .client = unpack_client_create(job->scan->config.unpacker, passwords, passwords_len)};
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

static void on_file(void *user, const char *path, uint64_t len)
{
    (void)len;
    scan_ring_put(user, path, SL_SCAN_CLEAN, NULL, false);
}

static void on_skipped(void *user, const char *path, enum sl_scan_verdict verdict)
{
    scan_ring_put(user, path, verdict, NULL, false);
}

static void on_failed(void *user, const char *path, const char *reason)
{
    scan_ring_put(user, path, SL_SCAN_FAILED, reason, false);
}

static void on_directory(void *user)
{
    struct sl_scan *scan = ((struct scan_job *)user)->scan;

    pthread_mutex_lock(&scan->lock);
    scan->counts.directories++;
    pthread_mutex_unlock(&scan->lock);
}

static bool is_stopped(void *user)
{
    struct scan_job *job = user;

    pthread_mutex_lock(&job->lock);
    const bool over = scan_is_over(job);
    pthread_mutex_unlock(&job->lock);
    return over;
}

static void walk_all(struct scan_job *job)
{
    const struct sl_scan_config *config = &job->scan->config;
    const struct scan_walk walk = {job->scan, job,          on_file,   on_skipped,
                                   on_failed, on_directory, is_stopped};

    for (size_t i = 0; i < config->n_paths && !is_stopped(job); i++) {
        if (strcmp(config->paths[i], "-") == 0)
            scan_ring_put(job, "stdin", SL_SCAN_CLEAN, NULL, true);
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

static void run_threads(struct scan_job *job)
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

/* Links of mails are looked for where something is known of them. */
static bool wants_links(const struct sl_scan_config *config, const struct sl_clamav_db *db)
{
    const uint32_t alerts = 1u << SL_SCAN_PHISHING_SSL | 1u << SL_SCAN_PHISHING_CLOAK;

    return !config->ignores_links && ((config->alerts & alerts) != 0 || clam_has_links(db));
}

static struct unpack_request request_of(const struct sl_scan_config *config,
                                        const struct sl_clamav_db *db)
{
    return (struct unpack_request){
        .limits = {.file_len_max =
                       config->file_len_max > 0 ? config->file_len_max : SL_SCAN_MEMBER_LEN_DEFAULT,
                   .scan_len_max =
                       config->scan_len_max > 0 ? config->scan_len_max : SL_SCAN_LEN_DEFAULT,
                   .depth_max = config->levels_max,
                   .files_max = config->members_max,
                   .html_len_max = config->html_len_max,
                   .html_text_len_max = config->html_text_len_max,
                   .text_len_max = config->text_len_max},
        .closed = config->closed,
        .normalizes = config->normalizes,
        .wants_links = wants_links(config, db)};
}

static struct scan_job *job_create(struct sl_scan *scan, const struct sl_clamav_db *db)
{
    const struct sl_scan_config *config = &scan->config;
    struct scan_job *job = calloc(1, sizeof *job);

    if (job == NULL)
        return NULL;
    job->scan = scan;
    job->db = db;
    job->cache = config->no_cache ? NULL : scan_cache_create();
    if (job->cache == NULL && !config->no_cache) {
        free(job);
        return NULL;
    }
    sl_clamav_scan_config_init(&job->config);
    job->config.device = config->device;
    if (config->device.kind == SL_DEVICE_CPU)
        job->config.batch_len = CPU_BATCH_LEN;
    job->config.all_matches = config->all_matches;
    job->config.ignores_certificates = config->ignores_certificates;
    job->config.max_scan_len = config->scan_len_max;
    job->config.time_max_ms = config->time_max_ms;
    job->config.max_batch_hits = config->max_batch_hits;
    job->config.max_object_hits = config->max_object_hits;
    job->config.match = on_match;
    job->config.done = on_done;
    job->config.user = job;
    job->request = request_of(config, db);
    for (int i = 0; i < SCAN_ENTRIES; i++)
        job->entries[i].fd = -1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->work, NULL);
    pthread_cond_init(&job->room, NULL);
    return job;
}

static void job_free(struct scan_job *job)
{
    for (int i = 0; i < SCAN_ENTRIES; i++)
        scan_entry_free(&job->entries[i]);
    pthread_cond_destroy(&job->room);
    pthread_cond_destroy(&job->work);
    pthread_mutex_destroy(&job->lock);
    scan_cache_free(job->cache);
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
    struct scan_job *job = job_create(scan, db);
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
