/* SPDX-License-Identifier: MIT */
/* CUDA: probing, errors, and the context of a backend: table and hits. */
#include "device/cuda_internal.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/wait.h"

/* The probe reads its attributes: a device for which this binary has no code refuses. */
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

enum sl_status cuda_take(void **d_memory, size_t len, const char *what, struct sl_diag *diag)
{
    const cudaError_t error = cudaMalloc(d_memory, len);
    size_t n_free = 0, n_all = 0;

    if (error != cudaErrorMemoryAllocation)
        return cuda_status(error, what, diag);
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&n_free, &n_all);
    return diag_set(diag, SL_ENOMEM, NULL, 0,
                    "GPU memory for %s: %.1f MB are needed, %.1f of %.1f MB are free", what,
                    (double)len / 1e6, (double)n_free / 1e6, (double)n_all / 1e6);
}

cudaError_t cuda_clear(void *d_memory, size_t len)
{
    const cudaError_t error = cudaMemset(d_memory, 0, len);

    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

/* ---- probing --------------------------------------------------------------------------------- */

static pthread_mutex_t probe_lock = PTHREAD_MUTEX_INITIALIZER; /* of these */
static struct sl_device listed[DEVICE_MAX];
static bool probed[DEVICE_MAX];
static uint32_t n_listed; /* 0: CUDA was not asked yet */

static void list_none(cudaError_t error)
{
    struct sl_device *device = &listed[0];

    device->kind = SL_DEVICE_CUDA;
    n_listed = 1;
    probed[0] = true;
    if (error == cudaErrorInsufficientDriver)
        snprintf(device->why, SL_WHY_LEN, "no NVIDIA driver, or one too old for this build");
    else
        snprintf(device->why, SL_WHY_LEN, "%s", cudaGetErrorString(error));
}

/* With the lock held. */
static void list_once(void)
{
    int n = 0;

    if (n_listed > 0)
        return;
    const cudaError_t error = cudaGetDeviceCount(&n);
    (void)cudaGetLastError();
    if (error != cudaSuccess || n == 0) {
        list_none(error);
        return;
    }
    n_listed = (uint32_t)(n < DEVICE_MAX ? n : DEVICE_MAX);
}

/* Makes the device's context, which takes longer than all else that a run does before it starts.
 * With the lock held. */
static void probe_once(uint32_t index)
{
    struct sl_device *device = &listed[index];
    struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;

    if (probed[index])
        return;
    probed[index] = true;
    device->kind = SL_DEVICE_CUDA;
    device->index = (int)index;

    cudaError_t error = cudaGetDeviceProperties(&properties, (int)index);
    if (error == cudaSuccess) {
        snprintf(device->name, sizeof device->name, "%.120s", properties.name);
        device->memory_len = properties.totalGlobalMem;
        device->capability = properties.major * 10 + properties.minor;
        error = cudaSetDevice((int)index);
    }
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, device_probe_kernel);
    device->usable = error == cudaSuccess;
    if (!device->usable)
        snprintf(device->why, SL_WHY_LEN, "%s", cudaGetErrorString(error));
    (void)cudaGetLastError();
}

uint32_t device_cuda_count(void)
{
    pthread_mutex_lock(&probe_lock);
    list_once();
    const uint32_t n = n_listed;
    pthread_mutex_unlock(&probe_lock);
    return n;
}

void device_cuda_probe(struct sl_device *device, uint32_t index)
{
    pthread_mutex_lock(&probe_lock);
    list_once();
    probe_once(index);
    *device = listed[index];
    pthread_mutex_unlock(&probe_lock);
}

bool device_context_alone(int device)
{
    return cudaSetDevice(device) == cudaSuccess && cudaFree(NULL) == cudaSuccess;
}

bool device_cuda_usable(char why[SL_WHY_LEN])
{
    bool usable = false;

    pthread_mutex_lock(&probe_lock);
    list_once();
    for (uint32_t i = 0; i < n_listed && !usable; i++) {
        probe_once(i);
        usable = listed[i].usable;
    }
    if (!usable)
        snprintf(why, SL_WHY_LEN, "%s", listed[0].why);
    pthread_mutex_unlock(&probe_lock);
    return usable;
}

void cuda_free(void *d_memory, int device)
{
    if (d_memory != NULL && !device_is_hung(device)) /* it waits for pending work */
        (void)cudaFree(d_memory);
}

void cuda_free_host(void *h_memory)
{
    if (h_memory != NULL && !device_any_hung())
        (void)cudaFreeHost(h_memory);
}

/* The outcome of a query. "Not ready" is no error, and is removed from CUDA's last error. */
static bool has_ended(cudaError_t error, enum sl_status *status)
{
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return false;
    }
    *status = cuda_status(error, "waiting for the GPU", NULL);
    return true;
}

static bool event_has_ended(void *event, enum sl_status *status)
{
    return has_ended(cudaEventQuery((cudaEvent_t)event), status);
}

static bool stream_has_ended(void *stream, enum sl_status *status)
{
    return has_ended(cudaStreamQuery((cudaStream_t)stream), status);
}

enum sl_status cuda_wait_for_event(cudaEvent_t event, const struct sl_limits *limits)
{
    return device_wait(limits->device, limits->max_wait_ms, event_has_ended, event);
}

enum sl_status cuda_wait_for_stream(cudaStream_t stream, const struct sl_limits *limits)
{
    return device_wait(limits->device, limits->max_wait_ms, stream_has_ended, stream);
}

enum sl_status cuda_spin_for_event(cudaEvent_t event, const struct sl_limits *limits)
{
    return device_spin(limits->device, limits->max_wait_ms, event_has_ended, event);
}

/* A copy to memory that is not pinned blocks until it is done, beyond any limit. So the stream is
 * waited for first. */
enum sl_status cuda_fetch(void *to, const void *d_from, size_t len, cudaStream_t stream,
                          const struct sl_limits *limits)
{
    enum sl_status status = cuda_wait_for_stream(stream, limits);

    if (status == SL_OK)
        status = cuda_status(cudaMemcpyAsync(to, d_from, len, cudaMemcpyDeviceToHost, stream),
                             "copying from the GPU", NULL);
    return status == SL_OK ? cuda_wait_for_stream(stream, limits) : status;
}

enum sl_status cuda_choose(int device, struct sl_diag *diag)
{
    if (device_is_hung(device))
        return diag_set(diag, SL_EDEVICE, NULL, 0, "the GPU hangs");
    return cuda_status(cudaSetDevice(device), "choosing the GPU", diag);
}

void device_use(int device)
{
    if (cudaSetDevice(device) != cudaSuccess)
        (void)cudaGetLastError(); /* the next call fails as well */
}

void *device_alloc(int device, size_t len)
{
    void *d_memory = NULL;

    if (cudaSetDevice(device) == cudaSuccess && cudaMalloc(&d_memory, len) == cudaSuccess)
        return d_memory;
    (void)cudaGetLastError();
    return NULL;
}

void device_free(int device, void *d_memory)
{
    cuda_free(d_memory, device);
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

/* The copy of pageable memory returns when it is staged. The batches' streams do not wait for the
 * copy's stream, so this function does. */
static cudaError_t send_table(void *d_table, const void *table, size_t table_len)
{
    const cudaError_t error = cudaMemcpy(d_table, table, table_len, cudaMemcpyHostToDevice);

    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

static enum sl_status copy_table(struct table_copy **copy, const void *table, size_t table_len,
                                 int device, struct sl_diag *diag)
{
    struct table_copy *made = (struct table_copy *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table");
    made->table = table;
    made->device = device;

    enum sl_status status = cuda_choose(device, diag);
    if (status == SL_OK)
        status = cuda_take(&made->d_table, table_len, "a table", diag);
    if (status == SL_OK)
        status = cuda_status(send_table(made->d_table, table, table_len),
                             "copying a table to the GPU", diag);
    if (status != SL_OK) {
        (void)cudaFree(made->d_table);
        free(made);
        return status;
    }
    made->next = tables;
    tables = made;
    *copy = made;
    return SL_OK;
}

/* Acquires the device's copy of a flat table, one for all contexts of a process. The first acquire
 * makes it, and the last release frees it. */
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
        cuda_free(copy->d_table, device);
        free(copy);
    }
    pthread_mutex_unlock(&tables_lock);
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* How hits cross back. Submit ends with a kernel, or with the last block of a backend's last
 * kernel. It writes the count and the expected hits into pinned memory. Wait copies these hits to
 * the caller's array, which may lie anywhere. Hits beyond the expected ones take a copy and a
 * second wait.
 *
 * The batches before determine how many hits are expected, at first 64 KB. The link carries those
 * in less time than the start of a copy takes. A copy of a few bytes takes 3 to 11 us, and clearing
 * the count 3 more, so the kernel clears it too. Where more hits are expected, a copy takes them
 * right into the caller's array, if that is pinned. A core would take longer for them than the link
 * takes for the batch. */
enum {
    EXPECTED_MIN = (64 << 10) / sizeof(struct sl_hit),
    EXPECTED_MAX = (4 << 20) / sizeof(struct sl_hit),
    DELIVER_THREADS = 1024
};

static size_t found_len(size_t n)
{
    return offsetof(struct cuda_found, hit) + n * sizeof(struct sl_hit);
}

static size_t brought_len(size_t n)
{
    return offsetof(struct cuda_brought, hit) + n * sizeof(struct sl_hit);
}

static uint32_t at_most(uint32_t n, size_t max)
{
    return n < max ? n : (uint32_t)max;
}

static enum sl_status open_hits(struct cuda_hits *hits, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    hits->cap = limits->max_hits;
    hits->h_cap = at_most(EXPECTED_MAX, hits->cap);
    hits->expected = at_most(EXPECTED_MIN, hits->cap);
    hits->n_before = hits->cap;
    hits->stay = limits->device_hits != NULL;
    hits->d_found = (struct cuda_found *)limits->device_hits;
    if (hits->stay)
        hits->h_cap = 0;

    enum sl_status status = cuda_choose(limits->device, diag);
    if (status == SL_OK && !hits->stay)
        status = cuda_take((void **)&hits->d_found, found_len(hits->cap), "hits", diag);
    if (status == SL_OK && limits->ordered)
        status = cuda_order_open(&hits->order, limits, diag);
    if (status != SL_OK)
        return status;

    status = cuda_take((void **)&hits->d_ticket, sizeof *hits->d_ticket, "tickets", diag);
    if (status != SL_OK)
        return status;
    /* More hits cross than were found, so all are defined. */
    cudaError_t error = cuda_clear(hits->d_found, found_len(hits->stay ? 0 : hits->cap));
    if (error == cudaSuccess)
        error = cuda_clear(hits->d_ticket, sizeof *hits->d_ticket);
    hits->is_clear = error == cudaSuccess && !hits->stay;
    if (error == cudaSuccess)
        error =
            cudaHostAlloc((void **)&hits->h_found, brought_len(hits->h_cap), cudaHostAllocPortable);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&hits->done, cudaEventDisableTiming);
    return cuda_status(error, "preparing for hits", diag);
}

static void close_hits(struct cuda_hits *hits, const struct sl_limits *limits)
{
    if (hits->done != NULL) {
        (void)cuda_wait_for_event(hits->done, limits); /* a run that failed may not have waited */
        (void)cudaEventDestroy(hits->done);
    }
    if (!hits->stay)
        cuda_free(hits->d_found, limits->device);
    cuda_free(hits->d_ticket, limits->device);
    cuda_order_close(&hits->order, limits);
    cuda_free_host(hits->h_found);
}

/* Expects a sixteenth more than was needed: bytes that cross in vain slow the other direction.
 * After a burst the number shrinks by an eighth a batch. */
static void expect_hits(struct cuda_hits *hits, uint32_t n)
{
    const uint32_t kept = hits->expected - hits->expected / 8;
    size_t expected = (size_t)n + n / 16;

    if (expected < kept)
        expected = kept;
    if (expected < EXPECTED_MIN)
        expected = EXPECTED_MIN;
    hits->expected = at_most(hits->cap, expected);
}

static bool is_pinned(const void *memory)
{
    struct cudaPointerAttributes attributes;

    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    (void)cudaGetLastError();
    return false;
}

/* One block. */
static __global__ void __launch_bounds__(DELIVER_THREADS)
    deliver_kernel(struct cuda_delivery delivery)
{
    cuda_deliver_all(delivery);
}

static bool by_copy(const struct cuda_hits *hits)
{
    return hits->n_along > EXPECTED_MIN;
}

static struct cuda_delivery delivery_of(const struct cuda_hits *hits)
{
    const struct cuda_delivery delivery = {
        hits->d_found, hits->h_found, hits->d_ticket, NULL, by_copy(hits) ? 0 : hits->n_along,
        hits->stay};

    return delivery;
}

static bool puts_in_order(const struct cuda_context *context)
{
    return context->limits.ordered && context->hits.n_before >= CUDA_ORDER_MIN;
}

struct cuda_delivery cuda_delivery(struct cuda_context *context)
{
    struct cuda_delivery delivery = delivery_of(&context->hits);

    context->hits.is_delivered = !puts_in_order(context);
    if (!context->hits.is_delivered)
        delivery.to = NULL;
    return delivery;
}

static enum sl_status begin_hits(struct cuda_hits *hits, const struct sl_batch *batch,
                                 struct sl_hits *out)
{
    hits->stream = (cudaStream_t)batch->stream;
    hits->out = out;
    hits->n_items = batch->n_items;
    hits->is_delivered = false;
    hits->n_along = hits->stay ? 0 : at_most(hits->expected, out->cap);
    hits->cross_to_out = hits->n_along > EXPECTED_MIN && is_pinned(out->hit);
    if (!hits->cross_to_out)
        hits->n_along = at_most(hits->h_cap, hits->n_along);
    /* The current device is a thread's: submit may run on a thread that never chose one. */
    const enum sl_status status = cuda_choose(batch->device, NULL);
    const bool clear = hits->is_clear;

    hits->is_clear = false;
    if (status != SL_OK || clear)
        return status;
    return cuda_status(cudaMemsetAsync(&hits->d_found->n, 0, sizeof hits->d_found->n, hits->stream),
                       "starting on a batch", NULL);
}

static cudaError_t deliver(struct cuda_context *context)
{
    struct cuda_hits *hits = &context->hits;
    const struct cuda_delivery delivery = delivery_of(hits);

    if (puts_in_order(context))
        return cuda_order_launch(&hits->order, &delivery, &context->limits, hits->n_items,
                                 context->n_multiprocessors, hits->stream);
    deliver_kernel<<<1, DELIVER_THREADS, 0, hits->stream>>>(delivery);
    return cudaGetLastError();
}

static enum sl_status end_hits(struct cuda_context *context)
{
    struct cuda_hits *hits = &context->hits;
    struct sl_hit *const to = hits->cross_to_out ? hits->out->hit : hits->h_found->hit;
    cudaError_t error = cudaGetLastError();

    if (error == cudaSuccess && !hits->is_delivered)
        error = deliver(context);
    hits->is_clear = error == cudaSuccess && !hits->stay;
    if (error == cudaSuccess && by_copy(hits))
        error = cudaMemcpyAsync(to, hits->d_found->hit, hits->n_along * sizeof *to,
                                cudaMemcpyDeviceToHost, hits->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(hits->done, hits->stream);
    return cuda_status(error, "launching a kernel", NULL);
}

static enum sl_status wait_for_hits(struct cuda_hits *hits, const struct sl_limits *limits)
{
    struct sl_hits *out = hits->out;
    enum sl_status status = cuda_wait_for_event(hits->done, limits);

    if (status != SL_OK)
        return status;
    out->n = hits->h_found->n;
    out->in_order = hits->h_found->in_order != 0 && out->n <= hits->cap && out->n <= out->cap;
    hits->n_before = at_most(hits->cap, out->n);

    if (hits->stay)
        return out->n > hits->cap ? SL_EOVERFLOW : SL_OK;

    const uint32_t n_kept = at_most(hits->cap, out->n);
    const uint32_t n = at_most(n_kept, out->cap);
    const uint32_t n_along = at_most(n, hits->n_along);

    expect_hits(hits, n_kept);
    if (n_along > 0 && !hits->cross_to_out)
        memcpy(out->hit, hits->h_found->hit, n_along * sizeof *out->hit);
    if (n > n_along) /* hits that did not cross with the count */
        status = cuda_fetch(out->hit + n_along, hits->d_found->hit + n_along,
                            (n - n_along) * sizeof *out->hit, hits->stream, limits);
    return status == SL_OK && out->n > n ? SL_EOVERFLOW : status;
}

/* ---- contexts -------------------------------------------------------------------------------- */

enum sl_status cuda_context_open(void **context, const void *table, size_t table_len,
                                 const struct sl_limits *limits, struct sl_diag *diag)
{
    enum sl_status status = reserved_check(limits->reserved, diag);
    int n_multiprocessors = 0;

    if (status != SL_OK)
        return status;
    struct cuda_context *cuda = (struct cuda_context *)calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    cuda->table = table;
    cuda->limits = *limits;

    status = cuda_status(
        cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, limits->device),
        "asking for the number of multiprocessors", diag);
    if (status == SL_OK)
        status = acquire_table(&cuda->d_table, table, table_len, limits->device, diag);
    if (status == SL_OK && limits->wanted != NULL)
        status =
            acquire_table(&cuda->d_wanted, limits->wanted, limits->n_wanted, limits->device, diag);
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
    close_hits(&cuda->hits, &cuda->limits);
    if (cuda->d_table != NULL)
        release_table(cuda->table, cuda->limits.device);
    if (cuda->d_wanted != NULL)
        release_table(cuda->limits.wanted, cuda->limits.device);
    free(cuda);
}

void cuda_context_close_with(void *context, void *const *d_memory, size_t n)
{
    const int device = context != NULL ? ((struct cuda_context *)context)->limits.device : 0;

    cuda_context_close(context); /* it waits for the users of the memory */
    for (size_t i = 0; i < n; i++)
        cuda_free(d_memory[i], device);
}

static bool batch_fits(const struct sl_batch *batch, const struct sl_limits *limits)
{
    return batch->memory == SL_MEMORY_DEVICE && batch->device == limits->device &&
           batch->n_items <= limits->max_items && batch->bytes_len <= limits->max_bytes;
}

enum sl_status cuda_submit_begin(struct cuda_context *context, const struct sl_batch *batch,
                                 struct sl_hits *out)
{
    if (!batch_fits(batch, &context->limits))
        return SL_EINVAL;
    context->kind = batch->has_kind ? batch->kind : NULL;
    return begin_hits(&context->hits, batch, out);
}

enum sl_status cuda_submit_end(struct cuda_context *context)
{
    return end_hits(context);
}

enum sl_status cuda_context_wait(void *context)
{
    struct cuda_context *cuda = (struct cuda_context *)context;

    return wait_for_hits(&cuda->hits, &cuda->limits);
}
