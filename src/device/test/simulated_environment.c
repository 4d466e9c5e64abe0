/* SPDX-License-Identifier: MIT */
/* Simulates the GPUs that the environment asks for, before main. SIMULATED_GPUS is how many.
 * SIMULATED_FAULTS is a list like "0:wait:3, 1:open:1:memory": the GPU, the step, which call of it
 * fails, and the status (device, memory, unsupported). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulated.h"

/* Reads the name behind a colon, and moves *at behind it. */
static int find(const char *const *names, int n, char **at)
{
    char *name = *at + (**at == ':');
    const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz");

    *at = name + len;
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return i;
    fprintf(stderr, "simulated: '%s' is not known\n", name);
    exit(99);
}

static void add_fault(char *at)
{
    static const char *const steps[SIMULATED_STEPS] = {"pinned", "stage", "open", "upload",
                                                       "submit", "wait",  "hits", "hang"};
    static const char *const texts[] = {"device", "memory", "unsupported"};
    static const enum sl_status statuses[] = {SL_EDEVICE, SL_ENOMEM, SL_EUNSUPPORTED};
    const unsigned long device = strtoul(at, &at, 10);
    const int step = find(steps, SIMULATED_STEPS, &at);
    const unsigned long nth = strtoul(at + (*at == ':'), &at, 10);
    const int said = *at == ':' ? find(texts, 3, &at) : 0;

    if (device >= SIMULATED_DEVICES_MAX)
        exit(99);
    simulated_fail((int)device, (enum simulated_step)step, (uint32_t)nth, statuses[said]);
}

__attribute__((constructor)) static void simulate(void)
{
    const char *gpus = getenv("SIMULATED_GPUS");
    char *faults = getenv("SIMULATED_FAULTS");

    simulated_reset(gpus != NULL ? (uint32_t)strtoul(gpus, NULL, 10) : 0, 200);
    while (faults != NULL && *faults != '\0') {
        add_fault(faults);
        faults += strcspn(faults, ",");
        faults += strspn(faults, ", ");
    }
}
