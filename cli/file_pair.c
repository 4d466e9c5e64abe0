/* SPDX-License-Identifier: MIT */
#include "file_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "overwrite.h"

enum { INTERVAL_NS = 250000000 };

static bool cannot_open(const char *path)
{
    cli_error("%s: %s", path, strerror(errno));
    return false;
}

/* ---- a stop by the user ---------------------------------------------------------------------- */

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

/* The file that a handler of these signals removes. */
static const char *volatile unfinished;

static void on_stop(int number)
{
    if (unfinished != NULL)
        (void)unlink(unfinished);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A signal that is ignored stays so, as under nohup. */
static void catch_stops(const char *path)
{
    struct sigaction old;

    unfinished = path;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)signal(stops[i], on_stop);
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_input(struct file_pair *files, struct stat *in)
{
    files->in = strcmp(files->in_path, "-") == 0 ? STDIN_FILENO
                                                 : open(files->in_path, O_RDONLY | O_CLOEXEC);
    if (files->in < 0 || fstat(files->in, in) != 0)
        return cannot_open(files->in_path);
    if (S_ISCHR(in->st_mode) && files->in != STDIN_FILENO) {
        /* /dev/zero would fill the disk. */
        cli_error("%s: is a device (expected a file or a pipe)", files->in_path);
        return false;
    }
    if (!S_ISDIR(in->st_mode))
        return true;
    errno = EISDIR;
    return cannot_open(files->in_path);
}

static bool is_one_file(const struct stat *in, const struct stat *out)
{
    return S_ISREG(in->st_mode) && in->st_dev == out->st_dev && in->st_ino == out->st_ino;
}

/* An output that is no regular file, a pipe or a device, is written to as it lies there. */
static bool open_other(struct file_pair *files)
{
    files->out = open(files->out_path, O_WRONLY | O_CLOEXEC);
    return files->out >= 0 || cannot_open(files->out_path);
}

static bool create_output(struct file_pair *files)
{
    const bool asks = !files->quiet && files->in != STDIN_FILENO;
    struct sl_diag diag;

    if (!cli_may_write(files->out_path, files->force, asks))
        return false;
    if (new_file_create(&files->file, files->out_path, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    files->makes = true;
    files->out = files->file.fd;
    catch_stops(files->file.beside);
    return true;
}

static bool open_output(struct file_pair *files, const struct stat *in)
{
    const bool to_standard = strcmp(files->out_path, "-") == 0;
    const int standard = STDOUT_FILENO;
    struct stat out;

    const bool there = (to_standard ? fstat(standard, &out) : stat(files->out_path, &out)) == 0;
    if (there && is_one_file(in, &out)) {
        cli_error("%s: input and output are one file (expected two)", files->out_path);
        return false;
    }
    if (to_standard) {
        files->out = standard;
        return true;
    }
    return there && !S_ISREG(out.st_mode) ? open_other(files) : create_output(files);
}

bool file_pair_open(struct file_pair *files)
{
    struct stat in;

    files->out = -1;
    if (!open_input(files, &in) || !open_output(files, &in))
        return false;
    files->shows = !files->quiet && isatty(STDERR_FILENO);
    files->begin_ns = files->last_ns = clock_ns();
    return true;
}

/* ---- the work -------------------------------------------------------------------------------- */

void file_pair_progress(void *user, uint64_t bytes_in, uint64_t bytes_out)
{
    struct file_pair *const files = (struct file_pair *)user;
    const uint64_t now = files->shows ? clock_ns() : 0;
    char in[32], out[32], rate[32];

    if (!files->shows || now - files->last_ns < INTERVAL_NS)
        return;
    fprintf(stderr, "\r%s read, %s written, %s/s \033[K", cli_bytes((double)bytes_in, in),
            cli_bytes((double)bytes_out, out),
            cli_bytes((double)bytes_in * 1e9 / (double)(now - files->begin_ns), rate));
    files->shown = true;
    files->last_ns = now;
}

void file_pair_end(struct file_pair *files)
{
    if (files->shown)
        fputs("\r\033[K", stderr);
}

void file_pair_print_refusal(const struct file_pair *files, const struct sl_diag *diag)
{
    cli_error("%s to %s: %s", files->in_path, files->out_path, diag->text);
}

/* ---- closing --------------------------------------------------------------------------------- */

static bool finish_file(struct file_pair *files, enum file_pair_end end)
{
    struct new_file *const file = &files->file;
    struct sl_diag diag;

    if (end == FILE_PAIR_NOTHING) {
        new_file_drop(file);
        return true;
    }
    if (end == FILE_PAIR_PART && file->replaces) {
        const size_t len = strlen(file->path);

        if (snprintf(file->path + len, sizeof file->path - len, ".partial") >=
            (int)(sizeof file->path - len))
            file->error = ENAMETOOLONG;
    }
    if (new_file_end(file, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

bool file_pair_close(struct file_pair *files, enum file_pair_end end)
{
    bool done = true;

    if (files->in > STDIN_FILENO)
        close(files->in);
    if (files->makes)
        done = finish_file(files, end);
    else if (files->out > STDOUT_FILENO && close(files->out) != 0)
        done = cannot_open(files->out_path);
    unfinished = NULL;
    return done;
}
