/* SPDX-License-Identifier: MIT */
/* Preloaded to a command: kills it (SIGKILL) before the call number SLUICE_KILL_AT, from 1 on, that
 * changes a file. Such calls create, write, cut, sync, rename, link or unlink it. Standard streams
 * do not count. */
#undef _FORTIFY_SOURCE /* it makes macros of some names that are defined here */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* the definitions here come before the C library's */

static _Atomic long n_steps;

static void step(void)
{
    const char *at = getenv("SLUICE_KILL_AT");

    if (at != NULL && atomic_fetch_add(&n_steps, 1) + 1 == atol(at))
        (void)raise(SIGKILL);
}

static void step_of(int fd)
{
    if (fd > STDERR_FILENO)
        step();
}

/* The function that this one stands before. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if ((flags & (O_CREAT | O_TRUNC)) != 0)
        step();
    return NEXT(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if ((flags & (O_CREAT | O_TRUNC)) != 0)
        step();
    return NEXT(openat)(folder, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    step_of(fd);
    return NEXT(write)(fd, bytes, len);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    step_of(fd);
    return NEXT(pwrite)(fd, bytes, len, at);
}

int ftruncate(int fd, off_t len)
{
    step_of(fd);
    return NEXT(ftruncate)(fd, len);
}

int fsync(int fd)
{
    step_of(fd);
    return NEXT(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    step();
    return NEXT(rename)(from, to);
}

int link(const char *from, const char *to)
{
    step();
    return NEXT(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    step();
    return NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    step();
    return NEXT(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    step();
    return NEXT(unlinkat)(folder, path, flags);
}
