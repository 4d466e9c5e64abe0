/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "encode.h"

enum { INTERVAL_NS = 250000000 };

static bool cannot_open(const char *path)
{
    char safe[512];

    cli_error("%s: %s", cli_printable(path, safe, sizeof safe), strerror(errno));
    return false;
}

bool file_pair_open(struct file_pair *files)
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
    files->out = strcmp(files->out_path, "-") == 0
                     ? STDOUT_FILENO
                     : open(files->out_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (files->out < 0 || fstat(files->out, &out) != 0)
        return cannot_open(files->out_path);
    if (S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
        cli_error("%s: input and output are one file (expected two)",
                  cli_printable(files->out_path, safe, sizeof safe));
        return false;
    }
    return true;
}

bool file_pair_cut(const struct file_pair *files, uint64_t len)
{
    struct stat out;

    if (files->out == STDOUT_FILENO || fstat(files->out, &out) != 0 || !S_ISREG(out.st_mode) ||
        ftruncate(files->out, (off_t)len) == 0)
        return true;
    return cannot_open(files->out_path);
}

bool file_pair_close(struct file_pair *files)
{
    bool done = true;

    if (files->in > STDIN_FILENO)
        close(files->in);
    if (files->out > STDOUT_FILENO && close(files->out) != 0)
        done = cannot_open(files->out_path);
    return done;
}

void byte_progress_begin(struct byte_progress *progress, bool quiet)
{
    progress->on = !quiet && isatty(STDERR_FILENO);
    progress->shown = false;
    progress->begin_ns = progress->last_ns = clock_ns();
}

void byte_progress_show(void *user, uint64_t bytes_in, uint64_t bytes_out)
{
    struct byte_progress *const progress = (struct byte_progress *)user;
    const uint64_t now = progress->on ? clock_ns() : 0;
    char in[32], out[32], rate[32];

    if (!progress->on || now - progress->last_ns < INTERVAL_NS)
        return;
    fprintf(stderr, "\r%s read, %s written, %s/s \033[K", cli_bytes((double)bytes_in, in),
            cli_bytes((double)bytes_out, out),
            cli_bytes((double)bytes_in * 1e9 / (double)(now - progress->begin_ns), rate));
    progress->shown = true;
    progress->last_ns = now;
}

void byte_progress_end(struct byte_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
}

bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *const unit = *end != '\0' ? strchr(units, *end) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) ||
        value > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)value << shift;
    return true;
}
