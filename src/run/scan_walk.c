/* SPDX-License-Identifier: MIT */
/* Which files are scanned: names, directories, links. Loops of links end because a directory is
 * not entered again below itself. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scan.h"

/* The directories that the walk is inside of. */
struct chain {
    const struct chain *above;
    dev_t device;
    ino_t inode;
    int depth;
};

static bool matches(const struct scan_patterns *patterns, const char *path)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (regexec(&patterns->regex[i], path, 0, NULL, 0) == 0)
            return true;
    return false;
}

static void walk_entry(struct scan_walk *walk, const char *path, const struct chain *above);

static bool is_inside(const struct chain *chain, const struct stat *directory)
{
    for (; chain != NULL; chain = chain->above)
        if (chain->device == directory->st_dev && chain->inode == directory->st_ino)
            return true;
    return false;
}

static void walk_entries(struct scan_walk *walk, const char *path, const struct chain *chain)
{
    struct dirent **entries;
    char below[PATH_MAX];
    const char *slash = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";
    const int n = scandir(path, &entries, NULL, alphasort);

    if (n < 0) {
        walk->error(walk->user, path, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !walk->stopped(walk->user)) {
            if (snprintf(below, sizeof below, "%s%s%s", path, slash, name) < PATH_MAX)
                walk_entry(walk, below, chain);
            else
                walk->error(walk->user, path, "a path below is too long");
        }
        free(entries[i]);
    }
    free(entries);
}

static void walk_directory(struct scan_walk *walk, const char *path, const struct stat *directory,
                           const struct chain *above)
{
    const struct scan_options *options = walk->options;
    const struct chain chain = {above, directory->st_dev, directory->st_ino,
                                above != NULL ? above->depth + 1 : 0};

    if (above != NULL && !options->recursive)
        return;
    if (matches(&options->exclude_dir, path) ||
        (options->include_dir.n > 0 && above != NULL && !matches(&options->include_dir, path))) {
        walk->note(walk->user, path, "Excluded");
        return;
    }
    if (above != NULL && !options->cross_fs && above->device != directory->st_dev)
        return;
    if (chain.depth > options->depth_max || is_inside(above, directory))
        return;
    walk->totals->directories++;
    walk_entries(walk, path, &chain);
}

static void walk_file(struct scan_walk *walk, const char *path, const struct stat *file)
{
    const struct scan_options *options = walk->options;

    if (matches(&options->exclude, path) ||
        (options->include.n > 0 && !matches(&options->include, path)))
        walk->note(walk->user, path, "Excluded");
    else if (file->st_size == 0)
        walk->note(walk->user, path, "Empty file");
    else if (options->max_file_len > 0 && (uint64_t)file->st_size > options->max_file_len)
        walk->note(walk->user, path, "OK"); /* as clamscan: too large is not scanned */
    else
        walk->file(walk->user, path, (uint64_t)file->st_size);
}

static void walk_entry(struct scan_walk *walk, const char *path, const struct chain *above)
{
    const int named = above == NULL;
    struct stat entry;

    if (lstat(path, &entry) != 0) {
        walk->error(walk->user, path, strerror(errno));
        return;
    }
    if (S_ISLNK(entry.st_mode)) {
        struct stat target;
        const bool there = stat(path, &target) == 0;
        const int follow = there && S_ISDIR(target.st_mode) ? walk->options->follow_dirs
                                                            : walk->options->follow_files;

        if (!there || follow == 0 || (follow == 1 && !named)) {
            walk->note(walk->user, path, "Symbolic link");
            return;
        }
        entry = target;
    }
    if (S_ISDIR(entry.st_mode))
        walk_directory(walk, path, &entry, above);
    else if (S_ISREG(entry.st_mode))
        walk_file(walk, path, &entry);
    else if (named)
        walk->error(walk->user, path, "is no regular file or directory");
}

void scan_walk_path(struct scan_walk *walk, const char *path)
{
    walk_entry(walk, path, NULL);
}
