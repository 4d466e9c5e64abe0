/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

extern char **environ;

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The kernel counts the peak of the process that starts another one as that one's, too. */
static void forget_own_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)malloc_trim(0);
    (void)fd_write(fd, "5", 1);
    (void)close(fd);
}

/* Starts the program, whose output is *output. False: it cannot be started. */
static bool start(char *const *arguments, pid_t *child, FILE **output)
{
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool started = posix_spawn_file_actions_init(&actions) == 0;
    if (started) {
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        started = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ) == 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    *output = fdopen(ends[0], "r");
    if (*output == NULL)
        (void)close(ends[0]);
    return started;
}

/* What the process has cost by now. */
static struct process_cost cost_of(pid_t child)
{
    struct timespec time = {0};
    clockid_t clock;

    if (clock_getcpuclockid(child, &clock) == 0)
        (void)clock_gettime(clock, &time);
    return (struct process_cost){.seconds = (double)clock_ns() / 1e9,
                                 .cpu_seconds = (double)time.tv_sec + (double)time.tv_nsec / 1e9};
}

/* Reads all output. False: a line of the span is missing. */
static bool read_output(FILE *output, pid_t child, const struct process_span *span,
                        struct process_cost cost[2])
{
    bool begun = span == NULL, ended = span == NULL;
    char *line = NULL;
    size_t room = 0;

    while (output != NULL && getline(&line, &room, output) > 0) {
        if (span != NULL && !begun && strstr(line, span->from) != NULL) {
            cost[0] = cost_of(child);
            begun = true;
        } else if (span != NULL && begun && !ended && strstr(line, span->to) != NULL) {
            cost[1] = cost_of(child);
            ended = true;
        }
    }
    free(line);
    if (output != NULL)
        (void)fclose(output);
    return begun && ended;
}

bool process_run(char *const *arguments, const struct process_span *span, struct process_cost *cost)
{
    struct process_cost ends[2] = {{0}};
    struct rusage usage;
    FILE *output = NULL;
    pid_t child;
    int status = -1;

    forget_own_peak();
    ends[0].seconds = (double)clock_ns() / 1e9;
    if (!start(arguments, &child, &output)) {
        if (output != NULL)
            (void)fclose(output);
        return false;
    }
    const bool whole = read_output(output, child, span, ends);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    if (span == NULL) {
        ends[1].seconds = (double)clock_ns() / 1e9;
        ends[1].cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    cost->seconds = ends[1].seconds - ends[0].seconds;
    cost->cpu_seconds = ends[1].cpu_seconds - ends[0].cpu_seconds;
    cost->memory = (uint64_t)usage.ru_maxrss << 10;
    return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
