/* SPDX-License-Identifier: MIT */
/* Threads that do a job side by side, begun together by a barrier, so that only the job is timed.
 */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "cli/console.h"

struct member {
    struct bench_team *team;
    unsigned number;
    pthread_t thread;
};

struct bench_team {
    void (*job)(void *user, unsigned member);
    void *user;
    unsigned n;           /* threads that were started */
    pthread_mutex_t gate; /* held until all threads exist, and so the barriers' count is known */
    pthread_barrier_t barrier; /* of the team and its caller: before a job and behind it */
    bool stop;
    struct member members[];
};

static void *work(void *argument)
{
    const struct member *member = argument;
    struct bench_team *team = member->team;

    pthread_mutex_lock(&team->gate);
    pthread_mutex_unlock(&team->gate);
    for (;;) {
        pthread_barrier_wait(&team->barrier);
        if (team->stop)
            return NULL;
        team->job(team->user, member->number);
        pthread_barrier_wait(&team->barrier);
    }
}

/* Binds each thread to a core, as long as there are so many. Threads that wake at once are
 * otherwise put on one core at times, and stay there for a whole short run. A thread that cannot be
 * bound stays unbound. */
static void bind_to_core(pthread_t thread, unsigned number, const cpu_set_t *allowed)
{
    cpu_set_t one;

    if (CPU_COUNT(allowed) == 0)
        return;
    number %= (unsigned)CPU_COUNT(allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) && number-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)pthread_setaffinity_np(thread, sizeof one, &one);
            return;
        }
    }
}

struct bench_team *bench_team_start(unsigned n, void (*job)(void *user, unsigned member),
                                    void *user)
{
    struct bench_team *team = calloc(1, sizeof *team + n * sizeof *team->members);
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    if (team == NULL) {
        cli_error("no memory for %u threads", n);
        return NULL;
    }
    team->job = job;
    team->user = user;
    pthread_mutex_init(&team->gate, NULL);
    pthread_mutex_lock(&team->gate);
    while (team->n < n) {
        struct member *member = &team->members[team->n];

        *member = (struct member){.team = team, .number = team->n};
        if (pthread_create(&member->thread, NULL, work, member) != 0)
            break;
        bind_to_core(member->thread, team->n, &allowed);
        team->n++;
    }
    pthread_barrier_init(&team->barrier, NULL, team->n + 1);
    pthread_mutex_unlock(&team->gate);
    if (team->n == n)
        return team;
    cli_error("%u threads cannot be started, only %u", n, team->n);
    bench_team_stop(team);
    return NULL;
}

void bench_team_run(struct bench_team *team)
{
    pthread_barrier_wait(&team->barrier);
    pthread_barrier_wait(&team->barrier);
}

void bench_team_stop(struct bench_team *team)
{
    if (team == NULL)
        return;
    team->stop = true; /* seen behind the barrier */
    pthread_barrier_wait(&team->barrier);
    for (unsigned i = 0; i < team->n; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_barrier_destroy(&team->barrier);
    pthread_mutex_destroy(&team->gate);
    free(team);
}
