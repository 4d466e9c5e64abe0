/* SPDX-License-Identifier: MIT */
#include "capture_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/console.h"
#include "sluice/capture.h"

/* A capture of a folder. */
struct found {
    char *path;
    int64_t time_ns; /* of the first packet; 0: there is none */
};

struct folder {
    const char *path;
    struct found *found;
    size_t n, room;
    size_t n_foreign; /* files that are no captures */
    size_t n_folders; /* which are not searched */
    struct sl_batch *batch;
};

/* Room for one more element. False: the reason is on stderr. */
static bool make_room(void **array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    const size_t more = *room * 2 + 16;
    void *larger = realloc(*array, more * size);

    if (larger == NULL) {
        cli_error("no memory for the names of %zu captures", more);
        return false;
    }
    *array = larger;
    *room = more;
    return true;
}

/* ---- a folder -------------------------------------------------------------------------------- */

/* The time of the first packet. False: the file is no capture. Files that cannot be read are for
 * the run to report. */
static bool read_time(struct folder *folder, const char *path, int64_t *time_ns)
{
    struct sl_capture *capture;

    *time_ns = 0;
    const enum sl_status status = sl_capture_open_file(&capture, path, 0, NULL);
    if (status != SL_OK)
        return status != SL_EFORMAT;
    sl_batch_reset(folder->batch);
    const enum sl_status read = sl_capture_read(capture, folder->batch, NULL);
    if (folder->batch->n_items != 0)
        *time_ns = folder->batch->origin[0].time_ns;
    sl_capture_close(capture);
    return read != SL_EFORMAT || *time_ns != 0;
}

static bool add_entry(struct folder *folder, const char *name)
{
    struct stat file;
    struct found found;

    if (!make_room((void **)&folder->found, folder->n, &folder->room, sizeof *folder->found))
        return false;
    if (asprintf(&found.path, "%s/%s", folder->path, name) < 0) {
        cli_error("%s: no memory for its captures", folder->path);
        return false;
    }
    const bool there = stat(found.path, &file) == 0;
    if (there && S_ISREG(file.st_mode) && read_time(folder, found.path, &found.time_ns)) {
        folder->found[folder->n++] = found;
        return true;
    }
    if (there && S_ISDIR(file.st_mode))
        folder->n_folders++;
    else
        folder->n_foreign++;
    free(found.path);
    return true;
}

static bool read_folder(struct folder *folder)
{
    struct sl_diag diag = {0};
    DIR *entries = opendir(folder->path);
    bool good = true;

    if (entries == NULL) {
        cli_error("%s: cannot be read: %s", folder->path, strerror(errno));
        return false;
    }
    if (sl_batch_create(&folder->batch, SL_CAPTURE_PACKET_MAX, 1, &diag) != SL_OK) {
        cli_diag(&diag);
        good = false;
    }
    for (const struct dirent *entry; good && (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            good = add_entry(folder, entry->d_name);
    closedir(entries);
    sl_batch_free(folder->batch);
    return good;
}

static int compare(const void *a, const void *b)
{
    const struct found *one = a, *other = b;

    return one->time_ns != other->time_ns ? (one->time_ns > other->time_ns ? 1 : -1)
                                          : strcmp(one->path, other->path);
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool add_path(struct capture_files *files, const char *path)
{
    if (!make_room((void **)&files->paths, files->n, &files->room, sizeof *files->paths))
        return false;
    files->paths[files->n++] = path;
    return true;
}

/* Takes the found path over. */
static bool add_found(struct capture_files *files, char *path)
{
    if (!make_room((void **)&files->owned, files->n_owned, &files->owned_room,
                   sizeof *files->owned)) {
        free(path);
        return false;
    }
    files->owned[files->n_owned++] = path;
    return add_path(files, path);
}

static bool add_folder(struct capture_files *files, const char *path)
{
    struct folder folder = {.path = path};
    bool good = read_folder(&folder);

    if (good && folder.n == 0) {
        cli_error("%s: no capture lies in it (files that are none: %zu, folders, which are not "
                  "searched: %zu)",
                  path, folder.n_foreign, folder.n_folders);
        good = false;
    } else if (good && folder.n_foreign + folder.n_folders != 0) {
        cli_error("%s: files in it that are no captures: %zu, folders, which are not searched: %zu",
                  path, folder.n_foreign, folder.n_folders);
    }
    if (folder.n != 0)
        qsort(folder.found, folder.n, sizeof *folder.found, compare);
    for (size_t i = 0; i < folder.n; i++)
        if (good)
            good = add_found(files, folder.found[i].path);
        else
            free(folder.found[i].path);
    free(folder.found);
    return good;
}

bool capture_files_add(struct capture_files *files, const char *path)
{
    struct stat file;

    if (strcmp(path, "-") != 0 && stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return add_folder(files, path);
    return add_path(files, path);
}

void capture_files_free(struct capture_files *files)
{
    for (size_t i = 0; i < files->n_owned; i++)
        free(files->owned[i]);
    free(files->owned);
    free((void *)files->paths);
}
