/* SPDX-License-Identifier: MIT */
#include "simulated.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/columns.h"
#include "device/device.h"
#include "device/wait.h"

/* The linker turns calls of NAME into calls of __wrap_NAME, and of __real_NAME into NAME. */
/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the names are the linker's */
bool __wrap_device_cuda_usable(char why[SL_WHY_LEN]);
uint32_t __wrap_device_cuda_count(void);
void __wrap_device_cuda_probe(struct sl_device *device, uint32_t index);
void *__wrap_device_pinned_alloc(size_t len);
void *__wrap_device_pinned_reserve(size_t len);
void __wrap_device_pinned_free(void *memory);
bool __wrap_device_pinned_prepare(size_t len);
enum sl_status __wrap_sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                                    struct sl_diag *diag);
enum sl_status __wrap_sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                                      struct sl_batch *view);
enum sl_status __wrap_sl_stage_view(struct sl_stage *stage, uint32_t number, struct sl_batch *view);
enum sl_status __wrap_sl_stage_wait(struct sl_stage *stage);
void __wrap_sl_stage_close(struct sl_stage *stage);
const struct sl_backend *__wrap_sl_engine_choose(const struct sl_engine *engine,
                                                 enum sl_device_kind kind, char why[SL_WHY_LEN]);
const struct sl_backend *__real_sl_engine_choose(const struct sl_engine *engine,
                                                 enum sl_device_kind kind, char why[SL_WHY_LEN]);

/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* ---- devices and faults ---------------------------------------------------------------------- */

struct fault {
    uint32_t calls;
    uint32_t at; /* the call that fails; 0: none */
    enum sl_status status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static uint32_t n_devices;
static uint32_t delay_max_us;
static uint64_t random_state;
static struct fault faults[SIMULATED_DEVICES_MAX][SIMULATED_STEPS];
static uint32_t pace[SIMULATED_DEVICES_MAX]; /* nanoseconds a KiB */
static bool dead[SIMULATED_DEVICES_MAX], stuck[SIMULATED_DEVICES_MAX];

static atomic_int n_open, n_left;

static void end_what_hung(void);

void simulated_reset(uint32_t n, uint32_t delay_us)
{
    end_what_hung();
    for (int i = 0; i < SIMULATED_DEVICES_MAX; i++)
        device_set_hung(i, false);
    pthread_mutex_lock(&lock);
    n_devices = n < SIMULATED_DEVICES_MAX ? n : SIMULATED_DEVICES_MAX;
    delay_max_us = delay_us;
    random_state = 1;
    memset(faults, 0, sizeof faults);
    memset(pace, 0, sizeof pace);
    memset(dead, 0, sizeof dead);
    memset(stuck, 0, sizeof stuck);
    pthread_mutex_unlock(&lock);
}

void simulated_fail(int device, enum simulated_step step, uint32_t nth, enum sl_status status)
{
    pthread_mutex_lock(&lock);
    struct fault *fault = &faults[device][step];
    fault->at = fault->calls + nth;
    fault->status = status;
    pthread_mutex_unlock(&lock);
}

void simulated_pace(int device, uint32_t ns_a_kib)
{
    pthread_mutex_lock(&lock);
    pace[device] = ns_a_kib;
    pthread_mutex_unlock(&lock);
}

static _Thread_local bool is_device;

bool simulated_is_device(void)
{
    return is_device;
}

uint32_t simulated_calls(int device, enum simulated_step step)
{
    pthread_mutex_lock(&lock);
    const uint32_t calls = faults[device][step].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

int simulated_n_open(void)
{
    return atomic_load(&n_open);
}

int simulated_n_left(void)
{
    return atomic_load(&n_left);
}

static enum sl_status take_step(int device, enum simulated_step step)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&lock);
    struct fault *fault = &faults[device][step];
    fault->calls++;
    if (fault->at == fault->calls)
        status = fault->status;
    if (step == SIMULATED_HANG) {
        stuck[device] |= status != SL_OK;
    } else if (step != SIMULATED_PINNED) { /* the type is the host's */
        status = dead[device] ? SL_EDEVICE : status;
        dead[device] = status == SL_EDEVICE;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static bool goes_on(void *device, enum sl_status *status)
{
    pthread_mutex_lock(&lock);
    const bool on = !stuck[*(const int *)device];
    pthread_mutex_unlock(&lock);
    *status = SL_OK;
    return on;
}

/* Until the device is done; if it hangs, as long as the limits say. */
static enum sl_status await(const struct sl_limits *limits)
{
    int device = limits->device;

    (void)take_step(device, SIMULATED_HANG);
    return device_wait(device, limits->max_wait_ms, goes_on, &device);
}

static enum sl_status open_step(int device, enum simulated_step step, const char *what,
                                struct sl_diag *diag)
{
    const enum sl_status status = device_is_hung(device) ? SL_EDEVICE : take_step(device, step);

    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "simulated: %s: %s", what, sl_status_text(status));
}

static uint64_t next_random(uint64_t state)
{
    return state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static void take_a_while(const struct sl_limits *limits, uint32_t bytes_len)
{
    uint32_t us = 0;

    pthread_mutex_lock(&lock);
    const uint64_t ns = (uint64_t)pace[limits->device] * bytes_len / 1024;
    random_state = next_random(random_state);
    if (delay_max_us != 0)
        us = (uint32_t)(random_state >> 33) % delay_max_us;
    pthread_mutex_unlock(&lock);
    if (us != 0 || ns >= 1000)
        usleep(us + (uint32_t)(ns / 1000));
}

bool __wrap_device_cuda_usable(char why[SL_WHY_LEN])
{
    if (n_devices == 0)
        snprintf(why, SL_WHY_LEN, "no GPU is simulated");
    return n_devices != 0;
}

uint32_t __wrap_device_cuda_count(void)
{
    return n_devices > 0 ? n_devices : 1;
}

void __wrap_device_cuda_probe(struct sl_device *device, uint32_t index)
{
    memset(device, 0, sizeof *device);
    device->kind = SL_DEVICE_CUDA;
    device->index = (int)index;
    device->usable = __wrap_device_cuda_usable(device->why);
    if (device->usable)
        snprintf(device->name, sizeof device->name, "simulated GPU %u", index);
}

/* Pinned memory that is left alone. */
struct left {
    struct left *next;
    void *memory;
};

static struct left *left_pinned;

void *__wrap_device_pinned_alloc(size_t len)
{
    void *memory;

    if (take_step(0, SIMULATED_PINNED) != SL_OK || posix_memalign(&memory, 64, len) != 0)
        return NULL;
    atomic_fetch_add(&n_open, 1);
    return memory;
}

void *__wrap_device_pinned_reserve(size_t len)
{
    return __wrap_device_pinned_alloc(len);
}

/* Blocks are counted where they are taken. */
bool __wrap_device_pinned_prepare(size_t len)
{
    (void)len;
    return false;
}

void __wrap_device_pinned_free(void *memory)
{
    struct left *left = memory != NULL && device_any_hung() ? malloc(sizeof *left) : NULL;

    if (memory != NULL)
        atomic_fetch_sub(&n_open, 1);
    if (left == NULL) {
        free(memory);
        return;
    }
    atomic_fetch_add(&n_left, 1);
    pthread_mutex_lock(&lock);
    *left = (struct left){left_pinned, memory};
    left_pinned = left;
    pthread_mutex_unlock(&lock);
}

/* ---- streams --------------------------------------------------------------------------------- */

enum { QUEUE_MAX = 16 };

struct context;

/* A stage, which is its stream too: an upload, and contexts that wait for it. */
struct sl_stage {
    struct sl_limits limits;
    uint8_t *block;
    struct sl_batch host; /* the last upload; it has arrived where `queued` is false */
    struct sl_batch view;
    struct columns at;
    bool queued;
    struct context *queue[QUEUE_MAX];
    uint32_t n_queue;
    struct sl_stage *next; /* of those that are left alone */
};

/* A context: of the engine's CPU backend, and the device's memory for hits. */
struct context {
    const struct sl_backend *real;
    void *real_context;
    struct sl_limits limits;
    struct sl_stage *stream; /* that it is queued on, else NULL */
    struct sl_batch view;    /* as kernels have it: by value */
    struct sl_hits found;    /* on the device */
    struct sl_hits *out;     /* the caller's */
    struct sl_hit *to;       /* its array, when the work was queued */
    enum sl_status status;
    struct context *next; /* of those that are left alone */
};

/* The batch's columns lie where the upload of a GPU lays them. */
static void copy_batch(struct sl_stage *stage)
{
    const struct sl_batch *host = &stage->host;
    struct column column[COLUMNS_MAX];
    const unsigned n = columns_of(column, host, &stage->at);
    const unsigned n_packed = columns_pack(host, column, n);

    columns_put(stage->block, host->bytes, columns_packed_len(host, column, n_packed));
    for (unsigned i = n_packed; i < n; i++)
        columns_put(stage->block + column[i].at, column[i].from, column[i].len);
}

/* Where all were found. */
static void leave_out_unwanted(struct sl_hits *hits, const struct sl_limits *limits,
                               const struct sl_batch *batch)
{
    size_t n = 0;

    if (limits->wanted == NULL || !batch->has_kind || hits->n > hits->cap)
        return;
    for (size_t i = 0; i < hits->n; i++)
        if ((limits->wanted[hits->hit[i].id] >> batch->kind[hits->hit[i].item] & 1) != 0)
            hits->hit[n++] = hits->hit[i];
    hits->n = n;
}

/* On a GPU hits come in any order. */
static void shuffle(struct sl_hits *hits)
{
    size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    uint64_t state = n;

    for (; n > 1; n--) {
        state = next_random(state);

        const size_t other = (size_t)((state >> 32) * n >> 32);
        const struct sl_hit moved = hits->hit[other];
        hits->hit[other] = hits->hit[n - 1];
        hits->hit[n - 1] = moved;
    }
}

static void run_context(struct context *context)
{
    struct sl_batch host = context->view;

    host.memory = SL_MEMORY_HOST;
    is_device = true;
    context->status = context->real->submit(context->real_context, &host, &context->found);
    if (context->status == SL_OK)
        context->status = context->real->wait(context->real_context);
    is_device = false;
    leave_out_unwanted(&context->found, &context->limits, &host);
    shuffle(&context->found);
    context->stream = NULL;
}

/* All that is queued happens, in order. */
static void run_stream(struct sl_stage *stage)
{
    if (stage->queued)
        copy_batch(stage);
    stage->queued = false;
    for (uint32_t i = 0; i < stage->n_queue; i++)
        run_context(stage->queue[i]);
    stage->n_queue = 0;
}

enum sl_status __wrap_sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                                    struct sl_diag *diag)
{
    enum sl_status status = reserved_check(limits->reserved, diag);

    if (status == SL_OK)
        status = open_step(limits->device, SIMULATED_STAGE, "opening a stage", diag);
    if (status != SL_OK)
        return status;

    struct sl_stage *made = (struct sl_stage *)calloc(1, sizeof *made);
    uint8_t *block = (uint8_t *)calloc(1, columns_room(limits->max_bytes, limits->max_items));
    if (made == NULL || block == NULL) {
        free(made);
        free(block);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a stage");
    }
    made->limits = *limits;
    made->block = block;
    atomic_fetch_add(&n_open, 1);
    *stage = made;
    return SL_OK;
}

enum sl_status __wrap_sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                                      struct sl_batch *view)
{
    const struct columns at = columns_of_batch(batch);

    if (batch->memory == SL_MEMORY_DEVICE || batch->n_items > stage->limits.max_items ||
        batch->bytes_len > stage->limits.max_bytes)
        return SL_EINVAL;

    const enum sl_status status = device_is_hung(stage->limits.device)
                                      ? SL_EDEVICE
                                      : take_step(stage->limits.device, SIMULATED_UPLOAD);
    if (status != SL_OK)
        return status;
    run_stream(stage); /* later work is behind it; nothing is queued where it was waited for */
    stage->host = *batch;
    stage->at = at;
    stage->queued = true;

    *view = *batch;
    view->memory = SL_MEMORY_DEVICE;
    view->bytes = stage->block;
    view->payload = (struct sl_span *)(stage->block + at.payload);
    view->overlap = batch->has_overlap ? (uint16_t *)(stage->block + at.overlap) : NULL;
    view->packet = batch->packet != NULL ? (struct sl_packet *)(stage->block + at.packet) : NULL;
    view->kind = batch->has_kind ? stage->block + at.kind : NULL;
    view->room = NULL;
    view->room_len = 0;
    view->device = stage->limits.device;
    view->stream = stage;
    view->host_bytes = batch->bytes;
    view->host_payload = batch->payload;
    view->host_overlap = batch->overlap;
    view->host_packet = batch->packet;
    stage->view = *view;
    return SL_OK;
}

/* On the same stream: engines one after the other are an order that side by side may have. */
enum sl_status __wrap_sl_stage_view(struct sl_stage *stage, uint32_t number, struct sl_batch *view)
{
    if (stage->view.bytes == NULL || number >= SL_STAGE_VIEWS_MAX)
        return SL_EINVAL;
    *view = stage->view;
    return device_is_hung(stage->limits.device) ? SL_EDEVICE : SL_OK;
}

enum sl_status __wrap_sl_stage_wait(struct sl_stage *stage)
{
    take_a_while(&stage->limits, 0);
    const enum sl_status status = await(&stage->limits);

    if (status != SL_OK)
        return status;
    run_stream(stage);
    return take_step(stage->limits.device, SIMULATED_WAIT);
}

static struct sl_stage *left_stages;
static struct context *left_contexts;

static void keep_until_reset(struct sl_stage *stage)
{
    atomic_fetch_add(&n_left, 1);
    pthread_mutex_lock(&lock);
    stage->next = left_stages;
    left_stages = stage;
    pthread_mutex_unlock(&lock);
}

void simulated_write_late(void)
{
    pthread_mutex_lock(&lock);
    for (struct context *context = left_contexts; context != NULL; context = context->next)
        if (context->stream != NULL)
            memset(context->to, 0xFF, sizeof *context->to);
    pthread_mutex_unlock(&lock);
}

static void free_context(struct context *context)
{
    free(context->found.hit);
    free(context);
}

/* The copies that hung are made after all. Nobody else is at work. */
static void end_what_hung(void)
{
    while (left_stages != NULL) {
        struct sl_stage *stage = left_stages;

        left_stages = stage->next;
        if (stage->queued)
            memcpy(stage->block, stage->host.bytes, stage->host.bytes_len);
        free(stage->block);
        free(stage);
    }
    while (left_contexts != NULL) {
        struct context *context = left_contexts;

        left_contexts = context->next;
        free_context(context);
    }
    while (left_pinned != NULL) {
        struct left *left = left_pinned;

        left_pinned = left->next;
        free(left->memory);
        free(left);
    }
    atomic_store(&n_left, 0);
}

void __wrap_sl_stage_close(struct sl_stage *stage)
{
    if (stage == NULL)
        return;
    atomic_fetch_sub(&n_open, 1);
    if (await(&stage->limits) != SL_OK) {
        keep_until_reset(stage);
        return;
    }
    run_stream(stage); /* as a GPU, which goes on until somebody waits */
    free(stage->block);
    free(stage);
}

/* ---- backends -------------------------------------------------------------------------------- */

static bool usable(char why[SL_WHY_LEN])
{
    return __wrap_device_cuda_usable(why);
}

static void close_context(void *opaque)
{
    struct context *context = (struct context *)opaque;

    if (context == NULL)
        return;
    const bool hung = device_is_hung(context->limits.device);

    if (!hung && context->stream != NULL)
        run_stream(context->stream);
    context->real->close(context->real_context);
    atomic_fetch_sub(&n_open, 1);
    if (!hung) {
        free_context(context);
        return;
    }
    atomic_fetch_add(&n_left, 1);
    pthread_mutex_lock(&lock);
    context->next = left_contexts;
    left_contexts = context;
    pthread_mutex_unlock(&lock);
}

/* A backend that repeats a GPU's steps on CPUs refuses what the GPU refuses. */
static enum sl_status try_tiling(const struct sl_engine *engine, const void *table,
                                 const struct sl_limits *limits, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (size_t i = 0; engine->backends[i] != NULL && status == SL_OK; i++) {
        const struct sl_backend *const backend = engine->backends[i];
        void *context;

        if (strcmp(backend->name, "tiled") != 0)
            continue;
        status = backend->open(&context, table, limits, diag);
        if (status == SL_OK)
            backend->close(context);
    }
    return status;
}

static enum sl_status open_context(const struct sl_engine *engine, const struct sl_backend *real,
                                   void **opaque, const void *table, const struct sl_limits *limits,
                                   struct sl_diag *diag)
{
    enum sl_status status = open_step(limits->device, SIMULATED_OPEN, "opening a context", diag);

    if (status == SL_OK)
        status = try_tiling(engine, table, limits, diag);
    if (status != SL_OK)
        return status;

    struct context *context = (struct context *)calloc(1, sizeof *context);
    if (context == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    context->real = real;
    context->limits = *limits;
    context->found.cap = limits->max_hits;
    context->found.hit = (struct sl_hit *)malloc(context->found.cap * sizeof *context->found.hit);
    status = context->found.hit == NULL ? diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for hits")
                                        : real->open(&context->real_context, table, limits, diag);
    if (status != SL_OK) {
        free(context->found.hit);
        free(context);
        return status;
    }
    atomic_fetch_add(&n_open, 1);
    *opaque = context;
    return SL_OK;
}

static enum sl_status submit(void *opaque, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct context *context = (struct context *)opaque;
    struct sl_stage *stream = (struct sl_stage *)batch->stream;

    if (batch->memory != SL_MEMORY_DEVICE || batch->device != context->limits.device ||
        batch->n_items > context->limits.max_items ||
        batch->bytes_len > context->limits.max_bytes || context->stream != NULL ||
        stream->n_queue == QUEUE_MAX)
        return SL_EINVAL;

    const enum sl_status status = device_is_hung(context->limits.device)
                                      ? SL_EDEVICE
                                      : take_step(context->limits.device, SIMULATED_SUBMIT);
    if (status != SL_OK)
        return status;
    context->view = *batch;
    context->out = hits;
    context->to = hits->hit;
    context->stream = stream;
    stream->queue[stream->n_queue++] = context;
    return SL_OK;
}

static enum sl_status wait(void *opaque)
{
    struct context *context = (struct context *)opaque;
    const struct sl_hits *found = &context->found;
    struct sl_hits *out = context->out;

    take_a_while(&context->limits, context->view.bytes_len);
    enum sl_status status = await(&context->limits);
    if (status != SL_OK)
        return status;
    if (context->stream != NULL)
        run_stream(context->stream);

    status = take_step(context->limits.device, SIMULATED_WAIT);
    if (status != SL_OK)
        return status;
    if (context->status != SL_OK && context->status != SL_EOVERFLOW)
        return context->status;

    size_t n = found->n < found->cap ? found->n : found->cap;
    n = n < out->cap ? n : out->cap;
    status = take_step(context->limits.device, SIMULATED_HITS);
    out->n = found->n;
    if (status != SL_OK)
        n /= 2;
    if (n > 0)
        memcpy(out->hit, found->hit, n * sizeof *out->hit);
    if (status != SL_OK)
        return status;
    return n < found->n ? SL_EOVERFLOW : SL_OK;
}

enum { N_ENGINES = 12 };

/* A backend is known by its `open` alone, so each engine has one of its own. */
static struct simulated_engine {
    const struct sl_engine *engine;
    const struct sl_backend *real;
    struct sl_backend backend;
} engines[N_ENGINES];

#define ENGINES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

#define OPEN(i)                                                                                \
    static enum sl_status open_##i(void **context, const void *table,                          \
                                   const struct sl_limits *limits, struct sl_diag *diag)       \
    {                                                                                          \
        return open_context(engines[i].engine, engines[i].real, context, table, limits, diag); \
    }
ENGINES(OPEN)

#define ENGINE(i)                          \
    {.backend = {.name = "simulated",      \
                 .device = SL_DEVICE_CUDA, \
                 .usable = usable,         \
                 .open = open_##i,         \
                 .submit = submit,         \
                 .wait = wait,             \
                 .close = close_context}},
static struct simulated_engine engines[N_ENGINES] = {ENGINES(ENGINE)};

const struct sl_backend *__wrap_sl_engine_choose(const struct sl_engine *engine,
                                                 enum sl_device_kind kind, char why[SL_WHY_LEN])
{
    const struct sl_backend *const real = __real_sl_engine_choose(engine, SL_DEVICE_CPU, why);
    const struct sl_backend *chosen = NULL;

    /* An engine without a backend for CPUs stands for one that is simulated already. */
    if (kind == SL_DEVICE_CPU || n_devices == 0 || real == NULL)
        return __real_sl_engine_choose(engine, kind, why);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < N_ENGINES && chosen == NULL; i++) {
        if (engines[i].engine == NULL) { /* once: contexts that are opened meanwhile read it */
            engines[i].engine = engine;
            engines[i].real = real;
        }
        if (engines[i].engine == engine)
            chosen = &engines[i].backend;
    }
    pthread_mutex_unlock(&lock);
    if (chosen == NULL && why != NULL)
        snprintf(why, SL_WHY_LEN, "more engines than are simulated");
    return chosen;
}
