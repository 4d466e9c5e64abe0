/* SPDX-License-Identifier: MIT */
/* Threads that do a job side by side, again and again, on a core each. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

struct bench_team;

/* Starts n threads, which wait. NULL: an error was printed. */
struct bench_team *bench_team_start(unsigned n, void (*job)(void *user, unsigned member),
                                    void *user);

/* All threads begin the job at once; returns when all are done. */
void bench_team_run(struct bench_team *team);

void bench_team_stop(struct bench_team *team); /* accepts NULL */

#endif
