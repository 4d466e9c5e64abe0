/* SPDX-License-Identifier: MIT */
/* The choice of the fastest devices for a run. Each device runs the run's engines over packets made
 * for it, alone and with all its workers, for a few milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "pipeline/choose.h"
#include "pipeline/lane.h"

enum {
    TRIAL_NS = 20000000,
    CPU_SHARE = 16,  /* a core runs over this part of a batch at once: its rate is the same */
    AHEAD_MAX = 64,  /* batches in flight beside those of the workers */
    LEAST_SHARE = 10 /* below a tenth of the CPU's rate a GPU is not worth its place */
};

/* ---- packets --------------------------------------------------------------------------------- */

enum { ETHERNET_LEN = 14, IPV4_LEN = 20, UDP_LEN = 8, HEADERS_LEN = 42 };

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* The headers are complete and sound, so no header check trips: UDP without a checksum, RFC 768. */
static void put_headers(uint8_t *packet, uint32_t len)
{
    static const uint8_t headers[HEADERS_LEN] = {
        2,    0,    0,    0,    0, 1, 2,    0, 0,  0,  0, 2, 8,  0, /* Ethernet */
        0x45, 0,    0,    0,    0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 2, 3, 10, 4, 5, 6, /* IPv4 */
        0x9c, 0x40, 0x9c, 0x41, 0, 0, 0,    0};                                        /* UDP */
    uint8_t *ip = packet + ETHERNET_LEN;
    uint32_t sum = 0;

    memcpy(packet, headers, sizeof headers);
    store_be16(ip + 2, len - ETHERNET_LEN);
    for (int i = 0; i < IPV4_LEN; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    store_be16(ip + 10, ~((sum & 0xFFFF) + (sum >> 16)));
    store_be16(ip + IPV4_LEN + 4, len - ETHERNET_LEN - IPV4_LEN);
}

/* Half of the packets hold words, half random bytes. */
static void put_payload(uint8_t *payload, uint32_t len, bool words, uint64_t *state)
{
    static const char letters[] = "etaoinshrdlucmwfgypbvkETAOIN0123456789/.= \r\n";

    for (uint32_t i = 0; i < len; i++)
        payload[i] = words ? (uint8_t)letters[next_random(state) % (sizeof letters - 1)]
                           : (uint8_t)next_random(state);
}

void choose_fill(struct sl_batch *batch)
{
    static const uint32_t lens[] = {146, 1454};
    uint64_t state = 1;

    for (uint32_t i = 0; sl_batch_fits(batch, lens[i % 2]); i++) {
        const uint32_t len = lens[i % 2];
        uint8_t *packet = batch->bytes + batch->bytes_len;

        put_headers(packet, len);
        put_payload(packet + HEADERS_LEN, len - HEADERS_LEN, i % 4 < 2, &state);
        const uint32_t item = sl_batch_append(batch, len, 0);
        batch->payload[item].offset += HEADERS_LEN;
        batch->payload[item].len -= HEADERS_LEN;
        batch->packet[item].network = ETHERNET_LEN;
        batch->packet[item].transport = ETHERNET_LEN + IPV4_LEN;
        batch->packet[item].protocol = 17;
        batch->packet[item].flags = SL_PACKET_IPV4;
    }
}

/* ---- one device ------------------------------------------------------------------------------ */

/* A worker at its trial. */
struct trial {
    struct worker *worker;
    struct sl_batch *batch;
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    pthread_t thread;
    uint64_t bytes, begun, ended;
    enum sl_status status;
    struct sl_diag diag;
};

static void run_once(struct trial *trial)
{
    if (trial->status == SL_OK)
        trial->status = worker_run(trial->worker, trial->batch, trial->hits, &trial->diag);
}

/* The first time makes room for hits, and is not counted. */
static void *run_trial(void *argument)
{
    struct trial *trial = argument;

    run_once(trial);
    trial->begun = trial->ended = clock_ns();
    while (trial->status == SL_OK && trial->ended - trial->begun < TRIAL_NS) {
        run_once(trial);
        trial->bytes += trial->batch->bytes_len;
        trial->ended = clock_ns();
    }
    return NULL;
}

static enum sl_status open_trial(struct trial *trial, struct worker *worker,
                                 const struct sl_pipeline_config *config, bool cuda)
{
    const uint32_t len = cuda ? config->batch_len : config->batch_len / CPU_SHARE + 1;
    enum sl_status status =
        sl_device_batch_create(&trial->batch, cuda ? SL_DEVICE_CUDA : SL_DEVICE_CPU, len,
                               config->batch_items, &trial->diag);

    trial->worker = worker;
    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
        status = worker_take_hits(config, e, &trial->hits[e], &trial->diag);
    if (status == SL_OK)
        choose_fill(trial->batch);
    return status;
}

static void close_trial(struct trial *trial, const struct sl_pipeline_config *config)
{
    for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++)
        worker_free_hits(config, &trial->hits[e]);
    sl_batch_free(trial->batch);
}

/* Runs all side by side; *rate is the sum of their rates. */
static enum sl_status run_trials(struct trial *trials, uint32_t n, double *rate,
                                 struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    uint32_t started = 0;

    while (started < n &&
           pthread_create(&trials[started].thread, NULL, run_trial, &trials[started]) == 0)
        started++;
    if (started < n)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "cannot start %u threads", n);
    *rate = 0;
    for (uint32_t i = 0; i < started; i++) {
        const struct trial *trial = &trials[i];

        pthread_join(trial->thread, NULL);
        if (trial->status == SL_OK)
            *rate += (double)trial->bytes / (double)(trial->ended - trial->begun) * 1e9;
        else if (status == SL_OK)
            status = diag_set(diag, trial->status, NULL, 0, "%s", trial->diag.text);
    }
    return status;
}

/* Bytes a second that a device does with all its workers, over batches that only engines know. */
static enum sl_status time_device(const struct sl_pipeline_config *of_run, uint32_t which,
                                  struct choose_rate *rate, struct sl_diag *diag)
{
    struct sl_pipeline_config alone = *of_run;
    const struct sl_pipeline_config *const config = &alone;
    struct sl_pipeline_device device = {.device = of_run->devices[which]};
    const bool cuda = device.device.kind == SL_DEVICE_CUDA;
    struct lane lane = {.device = &device};
    enum sl_status status;

    alone.sift = NULL;
    alone.devices[0] = device.device;
    alone.n_devices = 1;
    const uint32_t n_threads = lane_n_threads(config, &device.device);
    struct trial *trials = calloc(n_threads, sizeof *trials);
    if (trials == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u workers", n_threads);
    status = lane_open(&lane, config, n_threads, diag);
    const uint32_t n = rate->n_workers = lane.n_workers;
    for (uint32_t i = 0; i < n && status == SL_OK; i++) {
        status = open_trial(&trials[i], &lane.workers[i], config, cuda);
        if (status != SL_OK)
            *diag = trials[i].diag;
    }
    if (status == SL_OK)
        status = run_trials(trials, n, &rate->rate, diag);
    lane_close(&lane); /* first: a GPU that failed may be at work on the batches */
    for (uint32_t i = 0; i < n; i++)
        close_trial(&trials[i], config);
    free(trials);
    return status;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Results go out in order: while a GPU's worker does a batch, the faster CPU's do others, which
 * wait for it in flight. */
static double n_ahead(const struct choose_rate *gpus, const struct choose_rate *cpu)
{
    return gpus->n_workers * cpu->rate / gpus->rate;
}

struct choose_choice choose(const struct choose_rate *gpus, const struct choose_rate *cpu)
{
    /* The cores load packets and evaluate hits as well. A GPU of the same rate takes work off them.
     */
    if (gpus->rate >= cpu->rate)
        return (struct choose_choice){.gpus = true};
    if (gpus->rate * LEAST_SHARE < cpu->rate || n_ahead(gpus, cpu) > AHEAD_MAX)
        return (struct choose_choice){.cpu = true};
    return (struct choose_choice){true, true, (uint32_t)n_ahead(gpus, cpu) + 1};
}

/* Keeps the devices of this kind in the config. */
static void keep(struct sl_pipeline_config *config, enum sl_device_kind kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < config->n_devices; i++)
        if (config->devices[i].kind == kind)
            config->devices[n++] = config->devices[i];
    config->n_devices = n;
}

static void remove_device(struct sl_pipeline_config *config, uint32_t which)
{
    config->n_devices--;
    memmove(&config->devices[which], &config->devices[which + 1],
            (config->n_devices - which) * sizeof *config->devices);
}

static void report_dropped(const struct sl_pipeline_config *config, uint32_t which,
                           const struct sl_diag *why)
{
    struct sl_pipeline_device device = {.device = config->devices[which]};
    struct lane lane = {.device = &device};

    lane_drop(&lane, why);
    if (config->dropped != NULL)
        config->dropped(config->user, &device);
}

/* Times all devices and removes GPUs that fail. `why` is then the reason of the last of them. */
static enum sl_status time_all(struct sl_pipeline_config *config, struct choose_rate *gpus,
                               struct choose_rate *cpu, char why[SL_WHY_LEN], struct sl_diag *diag)
{
    for (uint32_t i = 0; i < config->n_devices;) {
        const bool cuda = config->devices[i].kind == SL_DEVICE_CUDA;
        struct choose_rate rate = {0};
        struct sl_diag reason = {0};
        const enum sl_status status = time_device(config, i, &rate, &reason);

        if (status != SL_OK && !cuda)
            return diag_set(diag, status, NULL, 0, "%s", reason.text);
        if (status != SL_OK) {
            report_dropped(config, i, &reason);
            snprintf(why, SL_WHY_LEN, "cuda:%d cannot be used: %.120s", config->devices[i].index,
                     reason.text);
            remove_device(config, i);
            continue;
        }
        struct choose_rate *sum = cuda ? gpus : cpu;
        sum->rate += rate.rate;
        sum->n_workers += rate.n_workers;
        i++;
    }
    return SL_OK;
}

enum sl_status choose_devices(struct sl_pipeline_config *config, struct choose_rate *gpus,
                              struct choose_rate *cpu, char why[SL_WHY_LEN], struct sl_diag *diag)
{
    enum sl_status status = lanes_check(config, diag);

    *gpus = *cpu = (struct choose_rate){0};
    if (status != SL_OK || config->n_devices == 1)
        return status;
    status = time_all(config, gpus, cpu, why, diag);

    if (status != SL_OK || gpus->n_workers == 0 || cpu->n_workers == 0)
        return status;
    const struct choose_choice choice = choose(gpus, cpu);
    if (!choice.gpus || !choice.cpu)
        keep(config, choice.gpus ? SL_DEVICE_CUDA : SL_DEVICE_CPU);
    else if (config->n_batches == 0 && config->n_active == 0)
        config->n_active = lanes_n_active(config) + choice.n_ahead;
    snprintf(why, SL_WHY_LEN,
             "of packets made to measure it the GPU does %.3g GB/s, %u core%s %.3g: %s",
             gpus->rate / 1e9, cpu->n_workers, cpu->n_workers == 1 ? "" : "s", cpu->rate / 1e9,
             choice.gpus && choice.cpu ? "both work"
             : choice.gpus             ? "the GPU works"
                                       : "the CPU works");
    return SL_OK;
}

enum sl_status sl_pipeline_choose(struct sl_pipeline_config *config, char why[SL_WHY_LEN],
                                  struct sl_diag *diag)
{
    struct choose_rate gpus, cpu;

    return choose_devices(config, &gpus, &cpu, why, diag);
}
