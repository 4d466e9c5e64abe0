/* SPDX-License-Identifier: MIT */
/* The device module of a build without CUDA. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "device/device.h"

bool device_cuda_usable(char why[SL_WHY_LEN])
{
    snprintf(why, SL_WHY_LEN, "this build has no CUDA");
    return false;
}

uint32_t device_cuda_count(void)
{
    return 1;
}

void device_cuda_probe(struct sl_device *device, uint32_t index)
{
    (void)index;
    memset(device, 0, sizeof *device);
    device->kind = SL_DEVICE_CUDA;
    device_cuda_usable(device->why);
}

bool device_context_alone(int device)
{
    (void)device;
    return false;
}

void device_use(int device)
{
    (void)device;
}

void *device_pinned_alloc(size_t len)
{
    (void)len;
    return NULL;
}

void *device_pinned_reserve(size_t len)
{
    (void)len;
    return NULL;
}

bool device_pinned_prepare(size_t len)
{
    (void)len;
    return false;
}

void device_pinned_trim(void)
{
}

void device_pinned_free(void *memory)
{
    (void)memory;
}

struct device_ceilings *device_ceilings_open(int device)
{
    (void)device;
    return NULL;
}

double device_ceiling(struct device_ceilings *at, enum device_ceiling what, size_t block_len)
{
    (void)at;
    (void)what;
    (void)block_len;
    return 0;
}

void device_ceilings_close(struct device_ceilings *at)
{
    (void)at;
}

void *device_alloc(int device, size_t len)
{
    (void)device;
    (void)len;
    return NULL;
}

void device_free(int device, void *d_memory)
{
    (void)device;
    (void)d_memory;
}

double device_link_rate(int device, size_t block_len)
{
    (void)device;
    (void)block_len;
    return 0;
}

double device_link_rate_beside(int device, size_t block_len, size_t back_len)
{
    (void)back_len;
    return device_link_rate(device, block_len);
}

struct device_timer *device_timer_open(int device)
{
    (void)device;
    return NULL;
}

void device_timer_begin(struct device_timer *timer, void *stream)
{
    (void)timer;
    (void)stream;
}

void device_timer_end(struct device_timer *timer, void *stream)
{
    (void)timer;
    (void)stream;
}

double device_timer_seconds(struct device_timer *timer)
{
    (void)timer;
    return 0;
}

void device_timer_close(struct device_timer *timer)
{
    (void)timer;
}

enum sl_status sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                             struct sl_diag *diag)
{
    (void)stage;
    (void)limits;
    return diag_set(diag, SL_EDEVICE, NULL, 0, "this build has no CUDA");
}

enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                               struct sl_batch *view)
{
    (void)stage;
    (void)batch;
    (void)view;
    return SL_EDEVICE;
}

enum sl_status sl_stage_view(struct sl_stage *stage, uint32_t number, struct sl_batch *view)
{
    (void)stage;
    (void)number;
    (void)view;
    return SL_EDEVICE;
}

enum sl_status sl_stage_wait(struct sl_stage *stage)
{
    (void)stage;
    return SL_EDEVICE;
}

void sl_stage_close(struct sl_stage *stage)
{
    (void)stage;
}
