/* SPDX-License-Identifier: MIT */
/* The ring of entries: filled by the walk, opened ahead, taken by threads, reported in order. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "scan_job.h"

enum {
    AHEAD = 32,         /* files that are opened, and read ahead, before one is scanned */
    AHEAD_LEN = 4 << 20 /* bytes of each */
};

bool scan_is_over(const struct scan_job *job)
{
    return job->status != SL_OK || atomic_load(&job->scan->stopped);
}

void scan_ring_report(struct scan_job *job)
{
    while (job->reported < job->filled && job->entries[job->reported % SCAN_ENTRIES].done) {
        struct scan_entry *entry = &job->entries[job->reported % SCAN_ENTRIES];

        scan_entry_report(job->scan, entry);
        scan_entry_free(entry);
        job->reported++;
    }
    pthread_cond_signal(&job->room);
}

void scan_ring_put(struct scan_job *job, const char *path, enum sl_scan_verdict verdict,
                   const char *error, bool is_stdin)
{
    pthread_mutex_lock(&job->lock);
    while (job->filled - job->reported == SCAN_ENTRIES && !scan_is_over(job))
        pthread_cond_wait(&job->room, &job->lock);
    if (!scan_is_over(job)) {
        struct scan_entry *entry = &job->entries[job->filled % SCAN_ENTRIES];

        entry->path = strdup(path);
        if (entry->path == NULL) {
            job->status = diag_set(&job->diag, SL_ENOMEM, NULL, 0, "out of memory");
        } else {
            entry->verdict = verdict;
            scan_entry_fail(entry, error != NULL ? error : "");
            entry->is_stdin = is_stdin;
            entry->done = error != NULL || verdict >= SL_SCAN_EXCLUDED;
            if (entry->done)
                scan_entry_add_limit(job->scan, entry);
            job->filled++;
            if (entry->done)
                scan_ring_report(job);
        }
        pthread_cond_signal(&job->work);
    }
    pthread_mutex_unlock(&job->lock);
}

struct scan_entry *scan_ring_take(struct scan_job *job, bool wait)
{
    struct scan_entry *entry = NULL;

    pthread_mutex_lock(&job->lock);
    for (;;) {
        /* An entry that was done without a scan may have been reported. */
        if (job->taken < job->reported)
            job->taken = job->reported;
        while (job->taken < job->filled && job->entries[job->taken % SCAN_ENTRIES].done)
            job->taken++;
        if (job->taken < job->filled && !scan_is_over(job))
            entry = &job->entries[job->taken++ % SCAN_ENTRIES];
        if (entry != NULL || !wait || job->walked || scan_is_over(job))
            break;
        pthread_cond_wait(&job->work, &job->lock);
    }
    pthread_mutex_unlock(&job->lock);
    return entry;
}

/* O_NONBLOCK: the path may have become a pipe, and opening one waits for a writer. */
int scan_open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The next entry to be opened ahead, with its path. The lock is held. */
static bool next_ahead(struct scan_job *job, uint64_t *number, char path[PATH_MAX])
{
    if (job->opened < job->taken)
        job->opened = job->taken;
    while (job->opened < job->filled && job->opened < job->taken + AHEAD) {
        const struct scan_entry *entry = &job->entries[job->opened % SCAN_ENTRIES];

        *number = job->opened++;
        if (!entry->done && !entry->is_stdin && strlen(entry->path) < PATH_MAX) {
            memcpy(path, entry->path, strlen(entry->path) + 1);
            return true;
        }
    }
    return false;
}

void scan_ring_open_ahead(struct scan_job *job)
{
    char path[PATH_MAX];
    uint64_t number;

    pthread_mutex_lock(&job->lock);
    while (!scan_is_over(job) && next_ahead(job, &number, path)) {
        pthread_mutex_unlock(&job->lock);
        const int fd = scan_open_file(path);
        if (fd >= 0)
            (void)posix_fadvise(fd, 0, AHEAD_LEN, POSIX_FADV_WILLNEED);
        pthread_mutex_lock(&job->lock);
        if (number >= job->taken)
            job->entries[number % SCAN_ENTRIES].fd = fd;
        else if (fd >= 0) /* a thread took the entry meanwhile, and opened the file itself */
            (void)close(fd);
    }
    pthread_mutex_unlock(&job->lock);
}
