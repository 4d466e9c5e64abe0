/* SPDX-License-Identifier: MIT */
#include "run_filestore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/fd.h"
#include "base/hex.h"

enum { SHA256_LEN = 32, COPY_LEN = 65536, NAME_LEN = 96 };

struct run_filestore {
    const char *folder;
    struct run_notices *notices;
    int fd;
    uint32_t files_max;
    bool all;      /* files are stored, not those alone that rules want */
    bool reported; /* of the first failure */
    struct sl_run_filestore stats;
};

static bool make_folder(int at, const char *name)
{
    return mkdirat(at, name, 0700) == 0 || errno == EEXIST;
}

enum sl_status run_filestore_open(struct run_filestore **out, const char *folder, bool all,
                                  uint32_t files_max, struct run_notices *notices,
                                  struct sl_diag *diag)
{
    struct run_filestore *filestore = calloc(1, sizeof *filestore);

    *out = filestore;
    if (filestore == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for files of flows");
    filestore->folder = folder;
    filestore->all = all;
    filestore->files_max = files_max;
    filestore->notices = notices;
    filestore->fd = -1;
    if (!make_folder(AT_FDCWD, folder))
        return diag_set(diag, SL_EIO, folder, 0, "cannot be made: %s", strerror(errno));
    filestore->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (filestore->fd < 0 || !make_folder(filestore->fd, "tmp"))
        return diag_set(diag, SL_EIO, folder, 0, "cannot be used: %s", strerror(errno));
    return SL_OK;
}

void run_filestore_stats(const struct run_filestore *filestore, struct sl_run_filestore *stats)
{
    *stats = filestore->stats;
}

void run_filestore_close(struct run_filestore *filestore)
{
    if (filestore == NULL)
        return;
    if (filestore->fd >= 0)
        close(filestore->fd);
    free(filestore);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static bool copy_spilled(int to, const struct app_contents *contents)
{
    uint8_t bytes[COPY_LEN];

    for (uint64_t at = 0; at < contents->len;) {
        const ssize_t n = pread(fileno(contents->spilled), bytes, sizeof bytes, (off_t)at);

        if (n <= 0 || !fd_write(to, bytes, (size_t)n))
            return false;
        at += (uint64_t)n;
    }
    return true;
}

static bool write_contents(int fd, const struct app_contents *contents)
{
    const bool done = contents->spilled != NULL ? copy_spilled(fd, contents)
                                                : fd_write(fd, contents->bytes, contents->len);

    return close(fd) == 0 && done;
}

/* Makes a file in tmp under a name that no other has: other runs may write to the same folder.
 * Returns -1: errno. */
static int make_beside(const struct run_filestore *filestore, char name[NAME_LEN])
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return -1;
    snprintf(name, NAME_LEN, "tmp/%016" PRIx64, number);
    return openat(filestore->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* The file appears whole or not at all. False: errno. */
static bool write_file(const struct run_filestore *filestore, const char *name,
                       const struct app_contents *contents)
{
    const char folder[] = {name[0], name[1], '\0'};
    char beside[NAME_LEN];

    const int fd = make_beside(filestore, beside);
    if (fd < 0)
        return false;
    if (write_contents(fd, contents) && make_folder(filestore->fd, folder) &&
        renameat(filestore->fd, beside, filestore->fd, name) == 0)
        return true;
    const int error = errno;
    unlinkat(filestore->fd, beside, 0);
    errno = error;
    return false;
}

static void report(struct run_filestore *filestore, const char *name)
{
    struct sl_diag diag = {0};

    filestore->stats.failed++;
    if (filestore->reported)
        return;
    filestore->reported = true;
    (void)diag_set(&diag, SL_EIO, filestore->folder, 0, "%s cannot be stored: %s", name,
                   strerror(errno));
    run_notices_text(filestore->notices, SL_RUN_FILES_UNSTORED, &diag);
}

static void store(struct run_filestore *filestore, struct app_contents *contents)
{
    struct sl_run_filestore *const stats = &filestore->stats;
    char name[NAME_LEN], hash[2 * SHA256_LEN + 1];

    if (contents->file->is_stored || (contents->file->hashes >> SL_FILE_SHA256 & 1) == 0)
        return;
    hex_write(hash, contents->file->hash[SL_FILE_SHA256], SHA256_LEN);
    snprintf(name, sizeof name, "%.2s/%s", hash, hash);
    if (faccessat(filestore->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        stats->known++;
    } else if (stats->files == filestore->files_max ||
               contents->len > FILESTORE_LEN - stats->bytes) {
        stats->left_out++;
        return;
    } else if (write_file(filestore, name, contents)) {
        stats->files++;
        stats->bytes += contents->len;
    } else {
        report(filestore, name);
        return;
    }
    contents->file->is_stored = true;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void take_message(struct run_filestore *filestore, const struct sl_app_message *message,
                         bool all)
{
    if (message->step == SL_APP_FILE && message->file->contents != NULL &&
        (all || message->file->contents->is_wanted))
        store(filestore, message->file->contents);
}

static const struct sl_app_message *message_of(const struct app_batch *apps,
                                               const struct sl_alert *alert)
{
    return alert->message < apps->n ? &apps->message[alert->message]
                                    : &apps->rules.late.messages[alert->message - apps->n];
}

static void want(const struct run_digest *digest, const struct sl_alert *alert)
{
    if (alert->message == SL_ALERT_NO_MESSAGE ||
        !sl_rules_store_file(digest->policy->rules, alert->signature))
        return;
    const struct sl_app_message *const message = message_of(digest->apps, alert);
    if (message->step == SL_APP_FILE && message->file->contents != NULL)
        message->file->contents->is_wanted = true;
}

void run_filestore_want(const struct run_filestore *filestore, const struct run_digest *digest)
{
    const struct sl_candidates *held = NULL;
    size_t n_held = 0, h = 0;

    if (filestore == NULL || digest->evaluator == NULL)
        return;
    held = sl_evaluator_candidates(digest->evaluator, &n_held);
    for (size_t a = 0; a < digest->n_alerts; a++) {
        while (h < n_held && a >= held[h].first + held[h].n)
            h++;
        if (h == n_held || a < held[h].first || sl_evaluator_is_met(digest->evaluator, a))
            want(digest, &digest->alerts[a]);
    }
}

void run_filestore_take(struct run_filestore *filestore, const struct run_digest *digest)
{
    const struct app_batch *const apps = digest->apps;
    const bool all = filestore->all;

    for (uint32_t i = 0; i < apps->n_late; i++)
        take_message(filestore, &apps->late[i].message, all);
    for (uint32_t i = 0; i < apps->n; i++)
        take_message(filestore, &apps->message[i], all);
}
