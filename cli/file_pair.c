/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "file_pair.h"

enum { INTERVAL_NS = 250000000 };

static bool cannot_open(const char *path)
{
    char safe[512];

    cli_error("%s: %s", cli_printable(path, safe, sizeof safe), strerror(errno));
    return false;
}

/* Keeps the content: the work may still be refused. */
static int open_output(struct file_pair *files)
{
    if (strcmp(files->out_path, "-") == 0)
        return STDOUT_FILENO;
    const int fd = open(files->out_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    files->is_new = fd >= 0;
    return fd >= 0 || errno != EEXIST ? fd
                                      : open(files->out_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
}

bool file_pair_open(struct file_pair *files, bool quiet)
{
    struct stat in, out;
    char safe[512];

    files->out = -1;
    files->in = strcmp(files->in_path, "-") == 0 ? STDIN_FILENO
                                                 : open(files->in_path, O_RDONLY | O_CLOEXEC);
    if (files->in < 0 || fstat(files->in, &in) != 0)
        return cannot_open(files->in_path);
    if (S_ISDIR(in.st_mode)) {
        errno = EISDIR;
        return cannot_open(files->in_path);
    }
    files->out = open_output(files);
    if (files->out < 0 || fstat(files->out, &out) != 0)
        return cannot_open(files->out_path);
    if (S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
        cli_error("%s: input and output are one file (expected two)",
                  cli_printable(files->out_path, safe, sizeof safe));
        return false;
    }
    files->shows = !quiet && isatty(STDERR_FILENO);
    files->begin_ns = files->last_ns = clock_ns();
    return true;
}

/* False: the output is a file that cannot be cut, and the reason was printed. */
static bool cut(const struct file_pair *files, uint64_t len)
{
    struct stat out;

    if (files->out == STDOUT_FILENO || fstat(files->out, &out) != 0 || !S_ISREG(out.st_mode) ||
        ftruncate(files->out, (off_t)len) == 0)
        return true;
    return cannot_open(files->out_path);
}

void file_pair_progress(void *user, uint64_t bytes_in, uint64_t bytes_out)
{
    struct file_pair *const files = (struct file_pair *)user;
    const uint64_t now = files->shows ? clock_ns() : 0;
    char in[32], out[32], rate[32];

    if (!files->begun)
        files->uncut = !cut(files, bytes_out);
    files->begun = true;
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
    char in[512], out[512];

    cli_error("%s to %s: %s", cli_printable(files->in_path, in, sizeof in),
              cli_printable(files->out_path, out, sizeof out), diag->text);
}

bool file_pair_close(struct file_pair *files)
{
    bool done = !files->uncut;

    if (files->in > STDIN_FILENO)
        close(files->in);
    if (files->out > STDOUT_FILENO && close(files->out) != 0)
        done = cannot_open(files->out_path);
    if (files->is_new && !files->begun && unlink(files->out_path) != 0)
        done = cannot_open(files->out_path);
    return done;
}
