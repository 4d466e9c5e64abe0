/* SPDX-License-Identifier: MIT */
/* The walk over a tree: names, directories, links. Loops of links end because a directory is not
 * entered again below itself. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scan_tree.h"

/* The directories that the walk is inside of. */
struct chain {
    const struct chain *above;
    dev_t device;
    ino_t inode;
    uint32_t depth;
};

static bool matches(const struct scan_patterns *patterns, const char *path)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (regexec(&patterns->regex[i], path, 0, NULL, 0) == 0)
            return true;
    return false;
}

static void walk_entry(const struct scan_walk *walk, const char *path, const struct chain *above);

static bool is_inside(const struct chain *chain, const struct stat *directory)
{
    for (; chain != NULL; chain = chain->above)
        if (chain->device == directory->st_dev && chain->inode == directory->st_ino)
            return true;
    return false;
}

static void walk_entries(const struct scan_walk *walk, const char *path, const struct chain *chain)
{
    struct dirent **entries;
    char below[PATH_MAX];
    const char *slash = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";
    const int n = scandir(path, &entries, NULL, alphasort);

    if (n < 0) {
        walk->failed(walk->user, path, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !walk->stopped(walk->user)) {
            if (snprintf(below, sizeof below, "%s%s%s", path, slash, name) < PATH_MAX)
                walk_entry(walk, below, chain);
            else
                walk->failed(walk->user, path, "a path below is too long");
        }
        free(entries[i]);
    }
    free(entries);
}

static void walk_directory(const struct scan_walk *walk, const char *path,
                           const struct stat *directory, const struct chain *above)
{
    const struct sl_scan *scan = walk->scan;
    const struct chain chain = {above, directory->st_dev, directory->st_ino,
                                above != NULL ? above->depth + 1 : 0};

    if (above != NULL && !scan->config.recursive)
        return;
    if (matches(&scan->exclude_directories, path) ||
        (scan->include_directories.n > 0 && above != NULL &&
         !matches(&scan->include_directories, path))) {
        walk->skipped(walk->user, path, SL_SCAN_EXCLUDED);
        return;
    }
    if (above != NULL && scan->config.stays && above->device != directory->st_dev)
        return;
    if (chain.depth > scan->config.depth_max || is_inside(above, directory))
        return;
    walk->entered(walk->user);
    walk_entries(walk, path, &chain);
}

static void walk_file(const struct scan_walk *walk, const char *path, const struct stat *file)
{
    const struct sl_scan *scan = walk->scan;
    const uint64_t len = (uint64_t)file->st_size, len_max = scan->config.file_len_max;

    if (matches(&scan->exclude, path) || (scan->include.n > 0 && !matches(&scan->include, path)))
        walk->skipped(walk->user, path, SL_SCAN_EXCLUDED);
    else if (len == 0)
        walk->skipped(walk->user, path, SL_SCAN_EMPTY);
    else if (len_max > 0 && len > len_max)
        walk->skipped(walk->user, path, SL_SCAN_TOO_LARGE);
    else
        walk->file(walk->user, path, len);
}

static void walk_entry(const struct scan_walk *walk, const char *path, const struct chain *above)
{
    const struct sl_scan_config *config = &walk->scan->config;
    const bool named = above == NULL;
    struct stat entry;

    if (lstat(path, &entry) != 0) {
        walk->failed(walk->user, path, strerror(errno));
        return;
    }
    if (S_ISLNK(entry.st_mode)) {
        struct stat target;
        const bool there = stat(path, &target) == 0;
        const enum sl_scan_follow follow =
            there && S_ISDIR(target.st_mode) ? config->follow_directories : config->follow_files;

        if (!there || follow == SL_SCAN_FOLLOW_NEVER ||
            (follow == SL_SCAN_FOLLOW_NAMED && !named)) {
            walk->skipped(walk->user, path, SL_SCAN_LINK);
            return;
        }
        entry = target;
    }
    if (S_ISDIR(entry.st_mode))
        walk_directory(walk, path, &entry, above);
    else if (S_ISREG(entry.st_mode))
        walk_file(walk, path, &entry);
    else if (named)
        walk->failed(walk->user, path, "is no regular file or directory");
}

void scan_walk_path(const struct scan_walk *walk, const char *path)
{
    walk_entry(walk, path, NULL);
}

/* A line without its end, and a NUL. NULL: it is none that names a path; *why is NULL behind the
 * last line. */
static char *read_path(FILE *file, char line[PATH_MAX], const char **why)
{
    size_t len = 0;
    int byte;

    *why = NULL;
    while ((byte = getc_unlocked(file)) != EOF && byte != '\n') {
        if (byte == '\0') /* of find -print0: all paths would be one */
            *why = "holds a NUL byte (expected a path a line)";
        else if (len == PATH_MAX - 1)
            *why = "holds a line that is longer than a path (expected a path a line)";
        if (*why != NULL)
            return NULL;
        line[len++] = (char)byte;
    }
    if (byte == EOF && ferror(file))
        *why = strerror(errno);
    if (*why != NULL || (byte == EOF && len == 0))
        return NULL;
    while (len > 0 && line[len - 1] == '\r')
        len--;
    line[len] = '\0';
    return line;
}

void scan_walk_list(const struct scan_walk *walk, const char *list)
{
    FILE *file = strcmp(list, "-") == 0 ? stdin : fopen(list, "re");
    char line[PATH_MAX];
    const char *why = NULL;

    if (file == NULL) {
        walk->failed(walk->user, list, strerror(errno));
        return;
    }
    while (!walk->stopped(walk->user) && read_path(file, line, &why) != NULL)
        if (line[0] != '\0')
            scan_walk_path(walk, line);
    if (why != NULL)
        walk->failed(walk->user, list, why);
    if (file != stdin)
        (void)fclose(file);
}
