/* SPDX-License-Identifier: MIT */
#include "sluice/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "device/device.h"
#include "device/wait.h"

static void describe_cpu(struct sl_device *device)
{
    const unsigned cores = cpu_cores();

    memset(device, 0, sizeof *device);
    device->kind = SL_DEVICE_CPU;
    device->usable = true;
    device->memory_len = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    snprintf(device->name, sizeof device->name, "%s, %u core%s", cpu_level_name(cpu_level()), cores,
             cores == 1 ? "" : "s");
}

enum sl_status sl_device_prepare(struct sl_diag *diag)
{
    return cpu_environment(diag);
}

uint32_t sl_device_list(struct sl_device *devices, uint32_t max)
{
    const uint32_t n = 1 + device_cuda_count();

    if (max > 0)
        describe_cpu(&devices[0]);
    for (uint32_t i = 1; i < n && i < max; i++)
        device_cuda_probe(&devices[i], i - 1);
    return n;
}

/* Reads the N of "cuda:N"; -1 where it is none. */
static int parse_index(const char *text)
{
    int index = 0;

    if (*text == '\0' || strlen(text) > 2)
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        index = index * 10 + (*text - '0');
    }
    return index;
}

/* Describes the first GPU that is usable; those behind it are not probed. False: `why` is that of
 * the first. */
static bool find_first_cuda(struct sl_device *device, char why[SL_WHY_LEN])
{
    const uint32_t n = device_cuda_count();

    for (uint32_t i = 0; i < n; i++) {
        device_cuda_probe(device, i);
        if (device->usable)
            return true;
    }
    device_cuda_probe(device, 0);
    snprintf(why, SL_WHY_LEN, "%s", device->why);
    return false;
}

static bool find_cuda(struct sl_device *device, uint32_t index, char why[SL_WHY_LEN])
{
    const uint32_t n = device_cuda_count();

    device_cuda_probe(device, index < n ? index : 0);
    if (!device->usable)
        snprintf(why, SL_WHY_LEN, "%s", device->why);
    else if (index >= n)
        snprintf(why, SL_WHY_LEN, "it is not there (this machine has %u)", n);
    return device->usable && index < n;
}

/* index -1: any GPU. */
static enum sl_status choose_cuda(struct sl_device *device, int index, bool optional,
                                  char why[SL_WHY_LEN], struct sl_diag *diag)
{
    char reason[SL_WHY_LEN];
    char name[16] = "cuda";

    if (index < 0 ? find_first_cuda(device, reason) : find_cuda(device, (uint32_t)index, reason)) {
        snprintf(why, SL_WHY_LEN, "%s", optional ? "a GPU is usable" : "asked for");
        return SL_OK;
    }
    if (optional) {
        snprintf(why, SL_WHY_LEN, "no GPU: %.140s", reason);
        return SL_EDEVICE;
    }
    if (index >= 0)
        snprintf(name, sizeof name, "cuda:%d", index);
    return diag_set(diag, SL_EDEVICE, NULL, 0, "device %s cannot be used: %s", name, reason);
}

enum sl_status sl_device_choose(struct sl_device *device, const char *name, char why[SL_WHY_LEN],
                                struct sl_diag *diag)
{
    if (strcmp(name, "cpu") == 0) {
        describe_cpu(device);
        snprintf(why, SL_WHY_LEN, "asked for");
        return SL_OK;
    }
    if (strcmp(name, "auto") == 0) {
        if (choose_cuda(device, -1, true, why, diag) != SL_OK)
            describe_cpu(device);
        return SL_OK;
    }
    if (strcmp(name, "cuda") == 0)
        return choose_cuda(device, -1, false, why, diag);
    if (strncmp(name, "cuda:", 5) == 0 && parse_index(name + 5) >= 0)
        return choose_cuda(device, parse_index(name + 5), false, why, diag);
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "device '%s' is not known (expected auto, cpu, cuda or cuda:N)", name);
}

/* All usable GPUs. */
static enum sl_status choose_all(struct sl_device *devices, uint32_t max, uint32_t *n,
                                 char why[SL_WHY_LEN], struct sl_diag *diag)
{
    const uint32_t n_gpus = device_cuda_count();
    const enum sl_status status = choose_cuda(&devices[0], -1, false, why, diag);

    *n = status == SL_OK ? 1 : 0;
    for (uint32_t i = 0; i < n_gpus && (*n) > 0 && (*n) < max; i++) {
        if ((int)i <= devices[0].index)
            continue;
        device_cuda_probe(&devices[*n], i);
        *n += devices[*n].usable;
    }
    return status;
}

static bool is_chosen(const struct sl_device *devices, uint32_t n, int index)
{
    for (uint32_t i = 0; i < n; i++)
        if (devices[i].index == index)
            return true;
    return false;
}

/* The "N,M,..." of "cuda:N,M,...". */
static enum sl_status choose_some(struct sl_device *devices, uint32_t max, uint32_t *n,
                                  const char *list, char why[SL_WHY_LEN], struct sl_diag *diag)
{
    const char *at = list;

    for (*n = 0; at != NULL; (*n)++) {
        const size_t len = strcspn(at, ",");
        char number[4] = "";

        if (len < sizeof number)
            memcpy(number, at, len);
        const int index = parse_index(number);
        if (index < 0 || is_chosen(devices, *n, index) || *n == max)
            return diag_set(diag, SL_EINVAL, NULL, 0, "device 'cuda:%.100s': '%.*s' %s", list,
                            (int)(len < 20 ? len : 20), at,
                            index < 0   ? "is no number of a GPU (expected cuda:N,M,...)"
                            : *n == max ? "is one device too many"
                                        : "is named twice");
        const enum sl_status status = choose_cuda(&devices[*n], index, false, why, diag);
        if (status != SL_OK)
            return status;
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return SL_OK;
}

enum sl_status sl_device_choose_list(struct sl_device *devices, uint32_t max, uint32_t *n,
                                     const char *name, char why[SL_WHY_LEN], struct sl_diag *diag)
{
    if (strcmp(name, "cuda") == 0)
        return choose_all(devices, max, n, why, diag);
    if (strncmp(name, "cuda:", 5) == 0 && strchr(name, ',') != NULL)
        return choose_some(devices, max, n, name + 5, why, diag);
    *n = 1;
    const enum sl_status status = sl_device_choose(devices, name, why, diag);
    if (status == SL_OK && strcmp(name, "auto") == 0 && devices[0].kind == SL_DEVICE_CUDA &&
        max > 1)
        describe_cpu(&devices[(*n)++]);
    return status;
}
