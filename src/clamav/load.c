/* SPDX-License-Identifier: MIT */
/* From paths to a database: paths name files and directories, and the bytes of a file that was
 * compiled say so, whatever its name. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/file_bytes.h"
#include "clamav/db.h"
#include "clamav/set.h"

#define FILE_LEN_MAX (UINT64_C(2) << 30)

/* ---- the files of the paths ------------------------------------------------------------------ */

struct file {
    char *path;
    enum clam_format format;
};

struct files {
    struct file *at;
    size_t n, cap;
};

static enum clam_format format_of(const char *path)
{
    return block_file_is(&clam_block_kind, path) ? CLAM_COMPILED : clam_format_of(path);
}

static enum sl_status add_file(struct files *files, const char *path, enum clam_format format,
                               struct sl_diag *diag)
{
    if (files->n == files->cap) {
        const size_t cap = files->cap < 16 ? 16 : files->cap * 2;
        struct file *more = realloc(files->at, cap * sizeof *more);

        if (more == NULL)
            return diag_set(diag, SL_ENOMEM, path, 0, "out of memory");
        files->at = more;
        files->cap = cap;
    }
    char *copy = strdup(path);
    if (copy == NULL)
        return diag_set(diag, SL_ENOMEM, path, 0, "out of memory");
    files->at[files->n++] = (struct file){copy, format};
    return SL_OK;
}

static void free_files(struct files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->at[i].path);
    free(files->at);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Other files of the directory are no error. */
static enum sl_status add_entry(struct files *files, const char *directory, const char *name,
                                struct sl_diag *diag)
{
    char path[PATH_MAX];
    struct stat file;

    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= PATH_MAX)
        return diag_set(diag, SL_EIO, directory, 0, "has a file with too long a path");
    const enum clam_format format = format_of(path);
    if (format == CLAM_UNKNOWN)
        return SL_OK;
    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode)) /* a pipe would be waited for */
        return diag_set(diag, SL_EIO, path, 0, "is no regular file");
    return add_file(files, path, format, diag);
}

static enum sl_status add_directory(struct files *files, const char *path, struct sl_diag *diag)
{
    const size_t before = files->n;
    struct dirent **entries;
    enum sl_status status = SL_OK;
    const int n = scandir(path, &entries, is_visible, alphasort);

    if (n < 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be read: %s", strerror(errno));
    for (int i = 0; i < n && status == SL_OK; i++)
        status = add_entry(files, path, entries[i]->d_name, diag);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    if (status == SL_OK && files->n == before)
        return diag_set(diag, SL_EINVAL, path, 0, "has no database in it (.cvd, .ndb, ...)");
    return status;
}

static enum sl_status add_path(struct files *files, const char *path, struct sl_diag *diag)
{
    struct stat file;

    if (stat(path, &file) != 0)
        return diag_set(diag, SL_EIO, path, 0, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(file.st_mode))
        return add_directory(files, path, diag);
    const enum clam_format format = format_of(path);
    if (format == CLAM_UNKNOWN)
        return diag_set(diag, SL_EINVAL, path, 0,
                        "is no compiled database, and its name says no format of ClamAV's "
                        "(.cvd, .ndb, .ldb, ...)");
    return add_file(files, path, format, diag);
}

static enum sl_status list_files(struct files *files, const char *const *paths, size_t n_paths,
                                 struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    *files = (struct files){0};
    for (size_t i = 0; i < n_paths && status == SL_OK; i++)
        status = add_path(files, paths[i], diag);
    return status;
}

/* ---- from files to a set --------------------------------------------------------------------- */

static enum sl_status read_bytes(struct sl_clamav_set *set, const struct file *file, bool ignores,
                                 struct sl_diag *diag)
{
    struct file_bytes bytes;
    enum sl_status status = file_bytes_open(&bytes, file->path, FILE_BYTES_READ_MAX, false, diag);

    if (status != SL_OK)
        return status;
    if (bytes.len > FILE_LEN_MAX)
        status = diag_set(diag, SL_EIO, file->path, 0, "is larger than 2 GiB");
    else if (file->format == CLAM_CVD)
        status = clam_container_read(set, file->path, bytes.at, bytes.len, ignores, diag);
    else
        status = clam_text_read(set, file->path, bytes.at, bytes.len, false, diag);
    file_bytes_close(&bytes);
    return status;
}

static enum sl_status read_compiled(struct sl_clamav_set *set, const char *path,
                                    struct sl_diag *diag)
{
    struct sl_clamav_db *db;
    enum sl_status status = sl_clamav_load(&db, path, diag);

    if (status != SL_OK)
        return status;
    status = clam_set_merge(set, db->block, path, diag);
    sl_clamav_free(db);
    return status;
}

/* A list of ignored names holds for lines that are read after it, so lists have a pass of their
 * own. Containers hold lists and signatures. */
static enum sl_status read_files(struct sl_clamav_set *set, const struct files *files, bool ignores,
                                 struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (size_t i = 0; i < files->n && status == SL_OK; i++) {
        const struct file *file = &files->at[i];

        if (file->format == CLAM_CVD || (file->format == CLAM_IGN2) == ignores)
            status = file->format == CLAM_COMPILED ? read_compiled(set, file->path, diag)
                                                   : read_bytes(set, file, ignores, diag);
    }
    return status;
}

static enum sl_status read_set(struct sl_clamav_set *set, const struct files *files,
                               struct sl_diag *diag)
{
    const enum sl_status status = read_files(set, files, true, diag);

    return status == SL_OK ? read_files(set, files, false, diag) : status;
}

enum sl_status sl_clamav_set_read(struct sl_clamav_set *set, const char *const *paths,
                                  size_t n_paths, struct sl_diag *diag)
{
    struct files files;
    enum sl_status status = list_files(&files, paths, n_paths, diag);

    if (status == SL_OK)
        status = read_set(set, &files, diag);
    free_files(&files);
    return status;
}

/* ---- from files to a database ---------------------------------------------------------------- */

static enum sl_status compile_files(struct sl_clamav_db **db, struct sl_clamav_set **set,
                                    const struct files *files, const struct sl_clamav_pua *pua,
                                    enum sl_device_kind device, struct sl_diag *diag)
{
    enum sl_status status = sl_clamav_set_create(set, diag);

    if (status == SL_OK) {
        sl_clamav_set_detect_pua(*set, pua);
        status = read_set(*set, files, diag);
    }
    return status == SL_OK ? clam_compile_spent(db, *set, device, diag) : status;
}

enum sl_status sl_clamav_load_paths(struct sl_clamav_db **db, struct sl_clamav_set **set,
                                    const char *const *paths, size_t n_paths,
                                    const struct sl_clamav_pua *pua, enum sl_device_kind device,
                                    struct sl_diag *diag)
{
    struct files files;
    enum sl_status status = list_files(&files, paths, n_paths, diag);

    *set = NULL;
    if (status == SL_OK && files.n == 1 && files.at[0].format == CLAM_COMPILED)
        status = sl_clamav_load(db, files.at[0].path, diag);
    else if (status == SL_OK)
        status = compile_files(db, set, &files, pua, device, diag);
    free_files(&files);
    return status;
}
