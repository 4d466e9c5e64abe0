/* SPDX-License-Identifier: MIT */
/* The number of files and bytes to scan, counted by a walk of its own: for the time left. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scan_tree.h"

struct scan_count {
    struct sl_scan *scan;
    uint64_t files, bytes;
    atomic_bool over; /* the scan is */
    pthread_t thread;
};

static void count_file(void *user, const char *path, uint64_t len)
{
    struct scan_count *count = user;
    const uint64_t max = count->scan->config.scan_len_max;

    (void)path;
    count->files++;
    count->bytes += max > 0 && len > max ? max : len;
}

static void ignore_skipped(void *user, const char *path, enum sl_scan_verdict verdict)
{
    (void)user;
    (void)path;
    (void)verdict;
}

static void ignore_failed(void *user, const char *path, const char *reason)
{
    (void)user;
    (void)path;
    (void)reason;
}

static void ignore_directory(void *user)
{
    (void)user;
}

static bool is_over(void *user)
{
    struct scan_count *count = user;

    return atomic_load(&count->over) || atomic_load(&count->scan->stopped);
}

static void *count_thread(void *user)
{
    struct scan_count *count = user;
    struct sl_scan *scan = count->scan;
    const struct scan_walk walk = {
        scan, count, count_file, ignore_skipped, ignore_failed, ignore_directory, is_over};

    for (size_t i = 0; i < scan->config.n_paths; i++)
        scan_walk_path(&walk, scan->config.paths[i]);
    if (scan->config.list != NULL)
        scan_walk_list(&walk, scan->config.list);
    pthread_mutex_lock(&scan->lock);
    scan->counts.all_files = count->files;
    scan->counts.all_bytes = count->bytes;
    scan->counts.counted = !is_over(count);
    pthread_mutex_unlock(&scan->lock);
    return NULL;
}

/* Whether all paths can be walked twice: standard input and pipes can be read once. */
static bool is_countable(const struct sl_scan_config *config)
{
    struct stat list;

    for (size_t i = 0; i < config->n_paths; i++)
        if (strcmp(config->paths[i], "-") == 0)
            return false;
    return config->list == NULL || (stat(config->list, &list) == 0 && S_ISREG(list.st_mode));
}

struct scan_count *scan_count_begin(struct sl_scan *scan)
{
    struct scan_count *count = NULL;

    if (!scan->config.count || !is_countable(&scan->config))
        return NULL;
    count = calloc(1, sizeof *count);
    if (count == NULL)
        return NULL;
    count->scan = scan;
    if (pthread_create(&count->thread, NULL, count_thread, count) != 0) {
        free(count);
        return NULL;
    }
    return count;
}

void scan_count_end(struct scan_count *count)
{
    if (count == NULL)
        return;
    atomic_store(&count->over, true);
    pthread_join(count->thread, NULL);
    free(count);
}
