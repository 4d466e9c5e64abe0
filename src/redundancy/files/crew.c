/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/diag.h"

/* A set of tasks. */
struct tasks {
    crew_work *work;
    void *user;
    uint32_t n;
    uint32_t number; /* of the set */
};

struct helper {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

struct crew {
    unsigned n_threads, n_helpers; /* in all; started */
    struct helper helpers[SL_REDUNDANCY_THREADS_MAX];
    _Atomic uint64_t next; /* the set's number, 32 bits, and the next task of it */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t begun, ended;
    struct tasks tasks;
    uint32_t n_done; /* of the set */
    bool stops;
};

/* The set's number keeps a thread that wakes late out of the next set. */
static bool take_task(struct crew *crew, const struct tasks *tasks, uint32_t *i)
{
    uint64_t next = atomic_load(&crew->next);

    do {
        *i = (uint32_t)next;
        if (next >> 32 != tasks->number || *i >= tasks->n)
            return false;
    } while (!atomic_compare_exchange_weak(&crew->next, &next, next + 1));
    return true;
}

static void do_tasks(struct crew *crew, const struct tasks *tasks, unsigned thread)
{
    uint32_t i, n_done = 0;

    while (take_task(crew, tasks, &i)) {
        tasks->work(tasks->user, thread, i);
        n_done++;
    }
    if (n_done == 0)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->n_done += n_done;
    if (crew->n_done == tasks->n)
        pthread_cond_signal(&crew->ended);
    pthread_mutex_unlock(&crew->lock);
}

static void *help(void *user)
{
    const struct helper *const helper = user;
    struct crew *const crew = helper->crew;
    struct tasks tasks = {.number = 0};

    for (;;) {
        pthread_mutex_lock(&crew->lock);
        while (crew->tasks.number == tasks.number && !crew->stops)
            pthread_cond_wait(&crew->begun, &crew->lock);
        const bool stops = crew->stops;
        tasks = crew->tasks;
        pthread_mutex_unlock(&crew->lock);
        if (stops)
            return NULL;
        do_tasks(crew, &tasks, helper->number);
    }
}

enum sl_status crew_create(struct crew **crew, unsigned n_threads, struct sl_diag *diag)
{
    struct crew *const made = calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for threads");
    made->n_threads = n_threads;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begun, NULL);
    pthread_cond_init(&made->ended, NULL);
    *crew = made;
    return SL_OK;
}

static void start_helpers(struct crew *crew, uint32_t n_tasks)
{
    while (crew->n_helpers + 1 < crew->n_threads && crew->n_helpers + 1 < n_tasks) {
        struct helper *const helper = &crew->helpers[crew->n_helpers];

        *helper = (struct helper){.crew = crew, .number = crew->n_helpers + 1};
        if (pthread_create(&helper->thread, NULL, help, helper) != 0)
            return;
        crew->n_helpers++;
    }
}

void crew_begin(struct crew *crew, crew_work *work, void *user, uint32_t n)
{
    pthread_mutex_lock(&crew->lock);
    crew->tasks = (struct tasks){work, user, n, crew->tasks.number + 1};
    crew->n_done = 0;
    atomic_store(&crew->next, (uint64_t)crew->tasks.number << 32);
    if (n > 1)
        pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    start_helpers(crew, n);
}

void crew_end(struct crew *crew)
{
    do_tasks(crew, &crew->tasks, 0);
    pthread_mutex_lock(&crew->lock);
    while (crew->n_done < crew->tasks.n)
        pthread_cond_wait(&crew->ended, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void crew_free(struct crew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->stops = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    while (crew->n_helpers > 0)
        pthread_join(crew->helpers[--crew->n_helpers].thread, NULL);
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->ended);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
