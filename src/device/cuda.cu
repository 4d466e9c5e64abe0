/* SPDX-License-Identifier: MIT */
/* CUDA: probing, pinned memory, errors, and the context of a backend: table and hits. */
#include "device/cuda_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* Asked for its attributes by the probe: a device for which this binary has no code refuses. */
__global__ void device_probe_kernel(void)
{
}

enum sl_status cuda_status(cudaError_t error, const char *what, struct sl_diag *diag)
{
    if (error == cudaSuccess)
        return SL_OK;
    (void)cudaGetLastError(); /* a failed launch stays pending until it is read */
    return diag_set(diag, error == cudaErrorMemoryAllocation ? SL_ENOMEM : SL_EDEVICE, NULL, 0,
                    "%s: %s", what, cudaGetErrorString(error));
}

static void probe_device(struct sl_device *device, int index)
{
    struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;

    memset(device, 0, sizeof *device);
    device->kind = SL_DEVICE_CUDA;
    device->index = index;

    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error == cudaSuccess) {
        snprintf(device->name, sizeof device->name, "%.120s", properties.name);
        device->memory_len = properties.totalGlobalMem;
        device->capability = properties.major * 10 + properties.minor;
        error = cudaSetDevice(index);
    }
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, device_probe_kernel);
    device->usable = error == cudaSuccess;
    if (!device->usable)
        snprintf(device->why, SL_WHY_LEN, "%s", cudaGetErrorString(error));
    (void)cudaGetLastError();
}

enum { MAX_DEVICES = 64 };

static pthread_once_t probe_once = PTHREAD_ONCE_INIT;
static struct sl_device probed[MAX_DEVICES];
static uint32_t n_probed;

static void probe(void)
{
    int n = 0;
    const cudaError_t error = cudaGetDeviceCount(&n);

    (void)cudaGetLastError();
    if (error != cudaSuccess || n == 0) {
        probed[0].kind = SL_DEVICE_CUDA;
        if (error == cudaErrorInsufficientDriver)
            snprintf(probed[0].why, SL_WHY_LEN, "no NVIDIA driver, or one too old for this build");
        else
            snprintf(probed[0].why, SL_WHY_LEN, "%s", cudaGetErrorString(error));
        n_probed = 1;
        return;
    }
    n_probed = (uint32_t)(n < MAX_DEVICES ? n : MAX_DEVICES);
    for (uint32_t i = n_probed; i-- > 0;) /* downwards: device 0 stays the current one */
        probe_device(&probed[i], (int)i);
}

uint32_t device_cuda_list(struct sl_device *devices, uint32_t max)
{
    pthread_once(&probe_once, probe);
    if (max > 0)
        memcpy(devices, probed, (n_probed < max ? n_probed : max) * sizeof *devices);
    return n_probed;
}

bool device_cuda_usable(char why[SL_WHY_LEN])
{
    pthread_once(&probe_once, probe);
    for (uint32_t i = 0; i < n_probed; i++)
        if (probed[i].usable)
            return true;
    snprintf(why, SL_WHY_LEN, "%s", probed[0].why);
    return false;
}

void *device_pinned_alloc(size_t len)
{
    void *memory = NULL;

    if (cudaHostAlloc(&memory, len, cudaHostAllocPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

void device_pinned_free(void *memory, size_t len)
{
    (void)len;
    if (memory != NULL)
        (void)cudaFreeHost(memory);
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct table_copy {
    struct table_copy *next;
    const void *table;
    int device;
    unsigned n_users;
    void *d_table;
};

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table_copy *tables;

static struct table_copy **find_table(const void *table, int device)
{
    struct table_copy **link = &tables;

    while (*link != NULL && ((*link)->table != table || (*link)->device != device))
        link = &(*link)->next;
    return link;
}

static enum sl_status copy_table(struct table_copy **copy, const void *table, size_t table_len,
                                 int device, struct sl_diag *diag)
{
    struct table_copy *made = (struct table_copy *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table");
    made->table = table;
    made->device = device;

    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess)
        error = cudaMalloc(&made->d_table, table_len);
    if (error == cudaSuccess)
        error = cudaMemcpy(made->d_table, table, table_len, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) {
        (void)cudaFree(made->d_table);
        free(made);
        return cuda_status(error, "copying a table to the GPU", diag);
    }
    made->next = tables;
    tables = made;
    *copy = made;
    return SL_OK;
}

/* The device's copy of a flat table, one for all contexts of a process: made at the first acquire,
 * gone at the last release. */
static enum sl_status acquire_table(const void **d_table, const void *table, size_t table_len,
                                    int device, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&tables_lock);
    struct table_copy *copy = *find_table(table, device);
    if (copy == NULL)
        status = copy_table(&copy, table, table_len, device, diag);
    if (status == SL_OK) {
        copy->n_users++;
        *d_table = copy->d_table;
    }
    pthread_mutex_unlock(&tables_lock);
    return status;
}

static void release_table(const void *table, int device)
{
    pthread_mutex_lock(&tables_lock);
    struct table_copy **link = find_table(table, device);
    struct table_copy *copy = *link;

    if (copy != NULL && --copy->n_users == 0) {
        *link = copy->next;
        (void)cudaFree(copy->d_table);
        free(copy);
    }
    pthread_mutex_unlock(&tables_lock);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static enum sl_status open_hits(struct cuda_hits *hits, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    hits->cap = limits->max_hits;

    cudaError_t error = cudaSetDevice(limits->device);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&hits->d_hit, (hits->cap + (size_t)1) * sizeof *hits->d_hit);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&hits->d_count, sizeof *hits->d_count);
    if (error == cudaSuccess)
        error =
            cudaHostAlloc((void **)&hits->h_count, sizeof *hits->h_count, cudaHostAllocPortable);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&hits->done, cudaEventDisableTiming);
    return cuda_status(error, "taking GPU memory for hits", diag);
}

static void close_hits(struct cuda_hits *hits)
{
    if (hits->done != NULL)
        (void)cudaEventDestroy(hits->done);
    (void)cudaFree(hits->d_hit);
    (void)cudaFree(hits->d_count);
    (void)cudaFreeHost(hits->h_count);
}

static enum sl_status wait_for_hits(struct cuda_hits *hits)
{
    struct sl_hits *out = hits->out;
    cudaError_t error = cudaEventSynchronize(hits->done);

    if (error != cudaSuccess)
        return cuda_status(error, "waiting for the GPU", NULL);
    out->n = *hits->h_count;

    size_t n = out->n < out->cap ? out->n : out->cap;
    if (n > hits->cap)
        n = hits->cap;
    if (n > 0) {
        error = cudaMemcpyAsync(out->hit, hits->d_hit, n * sizeof *out->hit, cudaMemcpyDeviceToHost,
                                hits->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(hits->stream);
        if (error != cudaSuccess)
            return cuda_status(error, "copying hits back", NULL);
    }
    return out->n > n ? SL_EOVERFLOW : SL_OK;
}

/* ---- contexts -------------------------------------------------------------------------------- */

enum sl_status cuda_context_open(void **context, const void *table, size_t table_len,
                                 const struct sl_limits *limits, struct sl_diag *diag)
{
    struct cuda_context *cuda = (struct cuda_context *)calloc(1, sizeof *cuda);
    int n_multiprocessors = 0;

    if (cuda == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    cuda->table = table;
    cuda->limits = *limits;

    enum sl_status status = cuda_status(
        cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, limits->device),
        "asking for the number of multiprocessors", diag);
    if (status == SL_OK)
        status = acquire_table(&cuda->d_table, table, table_len, limits->device, diag);
    if (status == SL_OK)
        status = open_hits(&cuda->hits, limits, diag);
    if (status != SL_OK) {
        cuda_context_close(cuda);
        return status;
    }
    cuda->n_multiprocessors = (uint32_t)n_multiprocessors;
    *context = cuda;
    return SL_OK;
}

void cuda_context_close(void *context)
{
    struct cuda_context *cuda = (struct cuda_context *)context;

    if (cuda == NULL)
        return;
    close_hits(&cuda->hits);
    if (cuda->d_table != NULL)
        release_table(cuda->table, cuda->limits.device);
    free(cuda);
}

static bool batch_fits(const struct sl_batch *batch, const struct sl_limits *limits)
{
    return batch->memory == SL_MEMORY_DEVICE && batch->device == limits->device &&
           batch->n_items <= limits->max_items && batch->bytes_len <= limits->max_bytes;
}

enum sl_status cuda_submit_begin(struct cuda_context *context, const struct sl_batch *batch,
                                 struct sl_hits *out)
{
    struct cuda_hits *hits = &context->hits;

    if (!batch_fits(batch, &context->limits))
        return SL_EINVAL;
    hits->stream = (cudaStream_t)batch->stream;
    hits->out = out;
    /* The current device is a thread's: submit may run on a thread that never chose one. */
    cudaError_t error = cudaSetDevice(batch->device);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(hits->d_count, 0, sizeof *hits->d_count, hits->stream);
    return cuda_status(error, "starting on a batch", NULL);
}

enum sl_status cuda_submit_end(struct cuda_context *context)
{
    struct cuda_hits *hits = &context->hits;
    cudaError_t error = cudaGetLastError();

    if (error == cudaSuccess)
        error = cudaMemcpyAsync(hits->h_count, hits->d_count, sizeof *hits->h_count,
                                cudaMemcpyDeviceToHost, hits->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(hits->done, hits->stream);
    return cuda_status(error, "launching a kernel", NULL);
}

enum sl_status cuda_context_wait(void *context)
{
    return wait_for_hits(&((struct cuda_context *)context)->hits);
}
