/* SPDX-License-Identifier: MIT */
#include "pipeline/monitor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

struct sl_pipeline_monitor {
    pthread_mutex_t lock; /* held while reading, so that no run ends meanwhile */
    monitor_read *read;   /* NULL: none runs */
    void *pipeline;
    struct sl_pipeline_snapshot last; /* of the run that ended */
};

enum sl_status sl_pipeline_monitor_create(struct sl_pipeline_monitor **monitor,
                                          struct sl_diag *diag)
{
    *monitor = calloc(1, sizeof **monitor);
    if (*monitor == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a monitor");
    pthread_mutex_init(&(*monitor)->lock, NULL);
    return SL_OK;
}

void monitor_begin(struct sl_pipeline_monitor *monitor, monitor_read *read, void *pipeline)
{
    if (monitor == NULL)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->read = read;
    monitor->pipeline = pipeline;
    pthread_mutex_unlock(&monitor->lock);
}

void monitor_end(struct sl_pipeline_monitor *monitor)
{
    if (monitor == NULL)
        return;
    pthread_mutex_lock(&monitor->lock);
    memset(&monitor->last, 0, sizeof monitor->last);
    monitor->read(monitor->pipeline, &monitor->last);
    memset(monitor->last.stage, 0, sizeof monitor->last.stage);
    monitor->read = NULL;
    pthread_mutex_unlock(&monitor->lock);
}

void sl_pipeline_snapshot(struct sl_pipeline_monitor *monitor,
                          struct sl_pipeline_snapshot *snapshot)
{
    pthread_mutex_lock(&monitor->lock);
    if (monitor->read != NULL) {
        memset(snapshot, 0, sizeof *snapshot);
        snapshot->running = true;
        monitor->read(monitor->pipeline, snapshot);
    } else {
        *snapshot = monitor->last;
    }
    pthread_mutex_unlock(&monitor->lock);
}

void sl_pipeline_monitor_free(struct sl_pipeline_monitor *monitor)
{
    if (monitor == NULL)
        return;
    pthread_mutex_destroy(&monitor->lock);
    free(monitor);
}

const char *sl_pipeline_stage_name(enum sl_pipeline_stage stage)
{
    static const char *const names[SL_N_PIPELINE_STAGES] = {"fill", "load", "work", "drain"};

    return names[stage];
}
