/* SPDX-License-Identifier: MIT */
#include "sluice/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

const struct sl_backend *sl_engine_choose(const struct sl_engine *engine, enum sl_device_kind kind,
                                          char why[SL_WHY_LEN])
{
    size_t used = 0;

    if (why != NULL)
        why[0] = '\0';
    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        const struct sl_backend *backend = engine->backends[i];
        char reason[SL_WHY_LEN] = "";

        if (backend->device != kind)
            continue;
        if (backend->usable(reason))
            return backend;
        if (why != NULL && used < SL_WHY_LEN)
            used += (size_t)snprintf(why + used, SL_WHY_LEN - used, "%s%s: %s", used ? "; " : "",
                                     backend->name, reason);
    }
    if (why != NULL && used == 0)
        snprintf(why, SL_WHY_LEN, "%s has no backend for %s", engine->name,
                 kind == SL_DEVICE_CUDA ? "CUDA" : "the CPU");
    return NULL;
}

const struct sl_backend *sl_engine_backend(const struct sl_engine *engine, const char *name)
{
    for (size_t i = 0; engine->backends[i] != NULL; i++)
        if (strcmp(engine->backends[i]->name, name) == 0)
            return engine->backends[i];
    return NULL;
}

enum sl_status sl_engine_open(void **context, const struct sl_engine *engine,
                              const struct sl_backend *backend, const void *table,
                              const struct sl_limits *limits, struct sl_diag *diag)
{
    if (engine->takes != NULL && !engine->takes(engine, table))
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is of another engine than %s",
                        engine->name);
    return backend->open(context, table, limits, diag);
}
