/* SPDX-License-Identifier: MIT */
#include "spread.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/least.h"

enum { BLOCK_MAX = 16 };

struct spread {
    size_t n;
    size_t block; /* things that a thread takes at once */
    spread_work *work;
    void *context;
    atomic_size_t next;
};

struct helper {
    struct spread *spread;
    unsigned number;
    pthread_t thread;
};

static void do_blocks(struct spread *spread, unsigned thread)
{
    const size_t block = spread->block;

    for (;;) {
        const size_t first = atomic_fetch_add_explicit(&spread->next, block, memory_order_relaxed);

        if (first >= spread->n)
            return;
        for (size_t i = first; i < spread->n && i < first + block; i++)
            spread->work(spread->context, thread, i);
    }
}

static void *help(void *argument)
{
    const struct helper *helper = argument;

    do_blocks(helper->spread, helper->number);
    return NULL;
}

void spread(unsigned threads, size_t n, size_t share, spread_work *work, void *context)
{
    struct spread spread = {
        .n = n, .block = least(share, BLOCK_MAX), .work = work, .context = context};
    struct helper helper[SPREAD_THREADS_MAX];
    const uint64_t most = least(n / share, least(threads, SPREAD_THREADS_MAX));
    unsigned started = 1;

    atomic_init(&spread.next, 0);
    while (started < most) {
        helper[started] = (struct helper){.spread = &spread, .number = started};
        if (pthread_create(&helper[started].thread, NULL, help, &helper[started]) != 0)
            break;
        started++;
    }
    do_blocks(&spread, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(helper[i].thread, NULL);
}
