/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints on GPUs against CPUs, and each of the paper's optimisations (TPDS 2016,
 * sections 4.1 and 4.2, figures 4, 6, 7 and 8). */
#include "study_rabin.h"

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "bench/data/random.h"
#include "cli/console.h"

/* ---- shared parts of the studies ------------------------------------------------------------- */

bool rabin_study_open(struct rabin_study *rabin, struct study *study)
{
    struct sl_sampling_config config;
    struct sl_diag diag = {0};

    *rabin = (struct rabin_study){.study = study};
    sl_sampling_config_init(&config);
    config.sampler = "rabin";
    if (sl_sampling_build(&rabin->table, &config, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

void rabin_study_close(struct rabin_study *rabin)
{
    sl_sampling_free(rabin->table);
}

uint32_t rabin_packet_fill(void *user, uint8_t *bytes)
{
    struct rabin_packets *packets = user;
    const uint32_t drawn = packets->min_len + bench_random(&packets->random) %
                                                  (packets->max_len - packets->min_len + 1);
    const uint32_t skewed = packets->n % 128 == 127 ? 1300 : 200;
    const uint32_t len = packets->skewed ? skewed : drawn;

    packets->n++;
    for (uint32_t at = 0; at < len; at += 4) {
        const uint32_t noise = bench_random(&packets->random);

        memcpy(bytes + at, &noise, len - at < 4 ? len - at : 4);
    }
    return len;
}

/* A batch on the GPU, which the caller unloads in any case. False: an error was printed. */
static bool packets_on_gpu(const struct rabin_study *rabin, struct rabin_packets *packets,
                           uint32_t n, bool buckets, struct bench_data *data)
{
    const struct bench_items items = {.n_batches = 1,
                                      .n = n,
                                      .max_len = RABIN_LEN_MAX,
                                      .buckets = buckets,
                                      .fill = rabin_packet_fill,
                                      .user = packets};
    struct bench_data host = {0};
    const bool good = bench_fill(&host, &items) &&
                      bench_to_device(data, &host, 0, rabin->study->bench->device.index);

    bench_unload(&host);
    return good;
}

static const struct sl_backend *find_backend(const struct rabin_study *rabin, const char *name)
{
    const struct sl_backend *const *backend = sl_sampling_engine(rabin->table)->backends;

    while (*backend != NULL && strcmp((*backend)->name, name) != 0)
        backend++;
    return *backend;
}

bool rabin_measure(const struct rabin_study *rabin, const struct rabin_way *way,
                   const struct bench_data *data, struct mpm_judge *judge, struct study_row *row,
                   double *gb_a_second)
{
    const struct bench_work work = {.backend = find_backend(rabin, way->backend),
                                    .table = rabin->table,
                                    .data = data,
                                    .device = rabin->study->bench->device.index,
                                    .n_threads = way->n_threads,
                                    .n_streams = way->n_streams,
                                    .units = (double)data->bytes / 1e9,
                                    .stays = way->stays};
    char why[SL_WHY_LEN];

    *gb_a_second = -1;
    if (work.backend == NULL) {
        snprintf(row->note, sizeof row->note, "%s: left out of this build (SLUICE_PAPERS)",
                 way->backend);
        return true;
    }
    if (bench_usable(rabin->study->bench, work.backend, why))
        return study_measure(rabin->study, &work, judge, row, gb_a_second);
    snprintf(row->note, sizeof row->note, "%s: %s", way->backend, why);
    return true;
}

/* ---- figures 6, 7 and 8a: forms of the kernel over packets a batch --------------------------- */

enum { N_FORMS_MAX = 5 };

struct forms {
    const char *text;
    const char *backends[N_FORMS_MAX]; /* up to a NULL */
};

struct sizes {
    const char *text;
    struct rabin_packets packets;
};

static const struct sizes uniform = {
    "100 to 1460", {.random = 1, .min_len = RABIN_LEN_MIN, .max_len = RABIN_LEN_MAX}};

static bool print_forms(const struct rabin_study *rabin, const struct forms *forms,
                        const struct sizes *sizes, uint32_t n)
{
    struct rabin_packets packets = sizes->packets;
    struct study_row row = {.note = ""};
    struct mpm_judge judge = {0};
    struct bench_data data = {0};
    bool good = packets_on_gpu(rabin, &packets, n, false, &data);

    study_number(&row, "packets", n, 0);
    study_text(&row, "bytes", sizes->text);
    for (size_t i = 0; i < N_FORMS_MAX && forms->backends[i] != NULL && good; i++) {
        const struct rabin_way way = {.backend = forms->backends[i], .stays = true};
        double rate;

        good = rabin_measure(rabin, &way, &data, &judge, &row, &rate);
        study_number(&row, way.backend, rate, 2);
    }
    if (good)
        study_print(&rabin->study->table, &row);
    bench_unload(&data);
    return good;
}

static bool study_forms(struct study *study, const struct forms *forms, const struct sizes *sizes,
                        size_t n_sizes)
{
    static const uint32_t packets[] = {1024, 2048, 4096, 8192, RABIN_PAPER_PACKETS, 32768, 262144};
    struct rabin_study rabin;
    bool good = rabin_study_open(&rabin, study);

    study_print_note(&study->table, forms->text);
    for (size_t s = 0; s < n_sizes && good; s++)
        for (size_t i = 0; i < sizeof packets / sizeof *packets && good; i++)
            good = print_forms(&rabin, forms, &sizes[s], packets[i]);
    rabin_study_close(&rabin);
    return good;
}

bool study_word_size(struct study *study)
{
    static const struct forms forms = {
        "Figure 6a, a GTX 780: at 32 K packets int4 makes 121 Gbit/s, 1.3 times int2 and 1.75 "
        "times int.\n"
        "Here: packets on the device, GB/s of payload with loads of 1, 4, 8 and 16 bytes.",
        {"cuda-packet-bytes", "cuda-packet-word4", "cuda-packet-word8", "cuda-packet"}};

    return study_forms(study, &forms, &uniform, 1);
}

bool study_shared_memory(struct study *study)
{
    static const struct forms forms = {
        "Figure 6b, a GTX 780: less than 22 Gbit/s with no shared memory, up to 6 times that with "
        "it, tables worth more than the ring.\n"
        "Here: packets on the device, GB/s of payload with nothing, the ring, the tables and both "
        "in shared memory, and both with the ring in one piece a thread.",
        {"cuda-packet-global", "cuda-packet-ring", "cuda-packet-tables", "cuda-packet",
         "cuda-packet-flat"}};

    return study_forms(study, &forms, &uniform, 1);
}

bool study_divergence(struct study *study)
{
    static const struct forms forms = {
        "Figure 7, a GTX 780: at 32 K packets 121 Gbit/s without branches in the loop, 1.4 times "
        "85.3 with them.\n"
        "Here: packets on the device, GB/s of payload.",
        {"cuda-packet-branches", "cuda-packet"}};

    return study_forms(study, &forms, &uniform, 1);
}

bool study_sorting(struct study *study)
{
    static const struct forms forms = {
        "Figure 8, a GTX 780: sorting approximately wins from some thousands of packets on, for "
        "uniform sizes and where one of 128 is long; it takes less than 100 us, a radix sort 3 to "
        "8.7 times as long. 4.4 % where all are of one size.\n"
        "Here: packets on the device, GB/s of payload, the sort included: none, CUB's radix sort "
        "of 16-bit lengths, 128 buckets.",
        {"cuda-packet-unsorted", "cuda-packet-radix", "cuda-packet"}};
    static const struct sizes sizes[] = {
        {"100 to 1460", {.random = 1, .min_len = RABIN_LEN_MIN, .max_len = RABIN_LEN_MAX}},
        {"200, 1300", {.random = 1, .min_len = 200, .max_len = 1300, .skewed = true}},
        {"1460", {.random = 1, .min_len = RABIN_LEN_MAX, .max_len = RABIN_LEN_MAX}}};

    return study_forms(study, &forms, sizes, 3);
}

/* ---- figure 4b: each optimisation off in turn ------------------------------------------------ */

struct optimisation {
    const char *text, *backend;
    double paper; /* percent that it improves a single stream by; -1: not given */
};

static const struct optimisation optimisations[] = {
    {"all on", "cuda-packet", -1},
    {"branches in the loop", "cuda-packet-branches", 14},
    {"unsorted", "cuda-packet-unsorted", 19},
    {"loads of 4 bytes", "cuda-packet-word4", 21},
    {"no shared memory", "cuda-packet-global", 99},
    {"ring with conflicts", "cuda-packet-flat", -1},
    {"all off (Listing 1)", "cuda-naive", -1},
    {"ranges, ours", "cuda", -1}};

enum { N_OPTIMISATIONS = sizeof optimisations / sizeof *optimisations };

/* On the device in a batch of the paper's, and in a large one; from pinned memory. */
struct optimised {
    const struct rabin_study *rabin;
    struct bench_data small, large, pinned;
    struct mpm_judge small_judge, large_judge, pinned_judge;
    double all_on;
};

static bool print_optimisation(struct optimised *optimised, const struct optimisation *one)
{
    const struct rabin_way there = {.backend = one->backend, .stays = true};
    const struct rabin_way crossing = {.backend = one->backend, .n_streams = 1};
    struct study_row row = {.note = ""};
    double small = -1, large = -1, pinned = -1;
    const bool good = rabin_measure(optimised->rabin, &there, &optimised->small,
                                    &optimised->small_judge, &row, &small) &&
                      rabin_measure(optimised->rabin, &there, &optimised->large,
                                    &optimised->large_judge, &row, &large) &&
                      rabin_measure(optimised->rabin, &crossing, &optimised->pinned,
                                    &optimised->pinned_judge, &row, &pinned);

    if (one == optimisations)
        optimised->all_on = large;
    study_text(&row, "form", one->text);
    study_number(&row, "16K packets", small, 2);
    study_number(&row, "256K packets", large, 2);
    study_number(&row, "it gives %", large > 0 ? 100 * (optimised->all_on / large - 1) : -1, 0);
    study_number(&row, "paper %", one->paper, 0);
    study_number(&row, "16K pinned, one stream", pinned, 2);
    if (good)
        study_print(&optimised->rabin->study->table, &row);
    return good;
}

bool study_optimisations(struct study *study)
{
    struct rabin_study rabin;
    struct rabin_packets packets = uniform.packets;
    const struct bench_items items = {.n_batches = 8,
                                      .n = RABIN_PAPER_PACKETS,
                                      .max_len = RABIN_LEN_MAX,
                                      .pinned = true,
                                      .fill = rabin_packet_fill,
                                      .user = &packets};
    struct optimised optimised = {.rabin = &rabin};
    bool good = rabin_study_open(&rabin, study);

    study_print_note(&study->table,
                     "Figure 4b, a GTX 780, one stream, 16 K packets of uniform sizes: what each "
                     "optimisation gives beside all others.\n"
                     "Here: payloads of 100 to 1,460 bytes, GB/s of payload.");
    good = good && bench_fill(&optimised.pinned, &items) &&
           packets_on_gpu(&rabin, &packets, RABIN_PAPER_PACKETS, false, &optimised.small) &&
           packets_on_gpu(&rabin, &packets, 16 * RABIN_PAPER_PACKETS, false, &optimised.large);
    for (int i = 0; i < N_OPTIMISATIONS && good; i++)
        good = print_optimisation(&optimised, &optimisations[i]);
    bench_unload(&optimised.pinned);
    bench_unload(&optimised.large);
    bench_unload(&optimised.small);
    rabin_study_close(&rabin);
    return good;
}

/* ---- figure 4a: machines --------------------------------------------------------------------- */

static const struct {
    const char *backend;
    bool cuda;
    unsigned n_streams;
    double paper; /* Gbit/s; -1: not given */
} machines[] = {
    {"textbook", false, 0, 0.95},    {"streams", false, 0, -1},     {"clmul-avx2", false, 0, -1},
    {"clmul-avx512", false, 0, -1},  {"cuda-naive", true, 4, 8.98}, {"cuda-packet", true, 1, 28.6},
    {"cuda-packet", true, 4, 37.79}, {"cuda", true, 1, -1},         {"cuda", true, 4, -1}};

struct ground {
    struct bench_data host, pinned;
    struct mpm_judge host_judge, pinned_judge;
    double textbook; /* GB/s on one core */
};

static bool print_machine(const struct rabin_study *rabin, struct ground *ground, int i,
                          unsigned n_threads)
{
    const struct rabin_way way = {
        .backend = machines[i].backend, .n_streams = machines[i].n_streams, .n_threads = n_threads};
    struct study_row row = {.note = ""};
    char text[32];
    double rate;

    if (!rabin_measure(rabin, &way, machines[i].cuda ? &ground->pinned : &ground->host,
                       machines[i].cuda ? &ground->pinned_judge : &ground->host_judge, &row, &rate))
        return false;
    if (i == 0 && n_threads == 1)
        ground->textbook = rate;
    snprintf(text, sizeof text, machines[i].cuda ? "GPU, %u streams" : "CPU, %u cores",
             machines[i].cuda ? machines[i].n_streams : n_threads);
    study_text(&row, "on", text);
    study_text(&row, "as", way.backend);
    study_number(&row, "GB/s", rate, 3);
    study_number(&row, "Gbit/s", rate > 0 ? 8 * rate : -1, 1);
    study_number(&row, "paper Gbit/s", n_threads <= 1 ? machines[i].paper : -1, 2);
    study_number(&row, "of textbook",
                 rate > 0 && ground->textbook > 0 ? rate / ground->textbook : -1, 1);
    study_print(&rabin->study->table, &row);
    return true;
}

static bool print_machines(const struct rabin_study *rabin, struct ground *ground)
{
    const unsigned n_cores = cpu_cores();
    bool good = true;

    for (int i = 0; i < (int)(sizeof machines / sizeof *machines) && good; i++) {
        if (machines[i].cuda)
            good = rabin->study->bench->device.kind != SL_DEVICE_CUDA ||
                   print_machine(rabin, ground, i, 0);
        else
            good = print_machine(rabin, ground, i, 1) &&
                   (n_cores == 1 || print_machine(rabin, ground, i, n_cores));
    }
    return good;
}

bool study_machines(struct study *study)
{
    const bool cuda = study->bench->device.kind == SL_DEVICE_CUDA;
    struct rabin_packets packets = uniform.packets;
    struct bench_items items = {.n_batches = 128,
                                .n = 1024,
                                .max_len = RABIN_LEN_MAX,
                                .fill = rabin_packet_fill,
                                .user = &packets};
    struct rabin_study rabin;
    struct ground ground = {.textbook = -1};
    bool good = rabin_study_open(&rabin, study) && bench_fill(&ground.host, &items);

    study_print_note(&study->table,
                     "Figure 4a: a Phenom II X6 at 2.8 GHz on one core (linear to six), a GTX 780 "
                     "with its data from host memory.\n"
                     "Here: payloads of 100 to 1,460 bytes, on the GPU in batches of 16 K from "
                     "pinned memory, hits back.");
    items.n_batches = 8;
    items.n = RABIN_PAPER_PACKETS;
    items.pinned = true;
    good = good && (!cuda || bench_fill(&ground.pinned, &items)) && print_machines(&rabin, &ground);
    bench_unload(&ground.pinned);
    bench_unload(&ground.host);
    rabin_study_close(&rabin);
    return good;
}
