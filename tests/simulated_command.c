/* SPDX-License-Identifier: MIT */
/* Linked into a second build of the command, for tests: before main, simulates the GPUs that the
 * environment asks for. SIMULATED_GPUS is how many, SIMULATED_FAULTS a list like "0:wait:3,
 * 1:open:1:memory": GPU, step, which call of it, and what it says (device, memory, unsupported). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/simulated.h"

static int find(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    fprintf(stderr, "simulated: '%s' is not known\n", name);
    exit(99);
}

static void add_fault(const char *fault)
{
    static const char *const steps[SIMULATED_STEPS] = {"pinned", "stage", "open", "upload",
                                                       "submit", "wait",  "hits"};
    static const char *const says[] = {"device", "memory", "unsupported"};
    static const enum sl_status statuses[] = {SL_EDEVICE, SL_ENOMEM, SL_EUNSUPPORTED};
    char step[16] = "", said[16] = "device";
    unsigned device, nth;

    if (sscanf(fault, "%u:%15[a-z]:%u:%15[a-z]", &device, step, &nth, said) < 3 ||
        device >= SIMULATED_DEVICES_MAX)
        exit(99);
    simulated_fail((int)device, (enum simulated_step)find(steps, SIMULATED_STEPS, step), nth,
                   statuses[find(says, 3, said)]);
}

__attribute__((constructor)) static void simulate(void)
{
    const char *gpus = getenv("SIMULATED_GPUS"), *faults = getenv("SIMULATED_FAULTS");

    simulated_reset(gpus != NULL ? (uint32_t)strtoul(gpus, NULL, 10) : 0, 200);
    while (faults != NULL && *faults != '\0') {
        add_fault(faults);
        faults += strcspn(faults, ",");
        faults += strspn(faults, ", ");
    }
}
