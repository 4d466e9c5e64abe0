/* SPDX-License-Identifier: MIT */
#include "metrics_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "cli/cli.h"

static bool load(struct metrics_library *library)
{
    void *const handle = dlopen(SLUICE_MICROHTTPD, RTLD_NOW | RTLD_LOCAL);
    void *function = handle;

#define LOAD(name)                                             \
    function = function != NULL ? dlsym(handle, #name) : NULL; \
    memcpy(&library->name, &function, sizeof function);
    METRICS_FUNCTIONS(LOAD)
#undef LOAD
    return function != NULL;
}

const struct metrics_library *metrics_library(void)
{
    static struct metrics_library library;
    static bool loaded;

    loaded = loaded || load(&library);
    if (!loaded)
        cli_error("--metrics: no server: %s", dlerror());
    return loaded ? &library : NULL;
}
