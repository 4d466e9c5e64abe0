/* SPDX-License-Identifier: MIT */
#include "run_paces.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/file_bytes.h"
#include "base/new_file.h"
#include "sluice/version.h"

enum {
    ENTRIES_MAX = 256, /* keys in a file */
    LINE_LEN = 160
};

static const char head[] = "sluice paces 1\n";

/* What a run may take. */
#define OPEN_S_MAX 1e4
#define BYTE_NS_MAX 1e7
#define BYTE_NS_MIN 1e-4

struct entry {
    uint64_t key;
    struct run_paces paces;
};

struct entries {
    struct entry at[ENTRIES_MAX];
    size_t n;
};

/* ---- the key --------------------------------------------------------------------------------- */

static void add_bytes(uint64_t *key, const void *bytes, size_t len)
{
    *key = XXH3_64bits_withSeed(bytes, len, *key);
}

static void add_text(uint64_t *key, const char *text)
{
    add_bytes(key, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 0);
}

static void add_texts(uint64_t *key, const char *const *texts, size_t n)
{
    add_bytes(key, &n, sizeof n);
    for (size_t i = 0; i < n; i++)
        add_text(key, texts[i]);
}

/* Each line of a file that begins so. */
static void add_lines(uint64_t *key, const char *path, const char *begin, size_t n_max)
{
    FILE *const file = fopen(path, "re");
    char line[256];

    while (file != NULL && n_max > 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, begin, strlen(begin)) == 0) {
            add_text(key, line);
            n_max--;
        }
    if (file != NULL)
        fclose(file);
}

/* Drivers name their GPUs here, and no context of one is needed. */
static void add_machine(uint64_t *key)
{
    const unsigned n_cores = cpu_cores();
    const enum cpu_level level = cpu_level();
    glob_t gpus;

    add_text(key, sl_version());
    add_bytes(key, &n_cores, sizeof n_cores);
    add_bytes(key, &level, sizeof level);
    add_lines(key, "/proc/cpuinfo", "model name", 1);
    add_text(key, getenv("CUDA_VISIBLE_DEVICES"));
    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &gpus) == 0) {
        for (size_t i = 0; i < gpus.gl_pathc; i++)
            add_lines(key, gpus.gl_pathv[i], "Model", 1);
        globfree(&gpus);
    }
}

uint64_t paces_key(const struct sl_run_config *config)
{
    const struct sl_sampling_config *const sampling = &config->redundancy.sampling;
    const uint64_t numbers[] = {
        config->check_headers, config->redundancy.on, config->redundancy.compare,
        sampling->period,      config->events,        config->stream_memory,
        config->n_sinks,       config->event != NULL, config->filestore_folder != NULL};
    uint64_t key = 0;

    add_machine(&key);
    add_bytes(&key, numbers, sizeof numbers);
    add_text(&key, config->redundancy.on ? sampling->sampler : "");
    add_text(&key, config->filter);
    add_text(&key, config->compiled);
    add_texts(&key, config->rule_files, config->n_rule_files);
    add_texts(&key, config->databases, config->n_databases);
    for (size_t i = 0; i < config->names.n_files; i++)
        add_text(&key, config->names.files[i].path);
    return key;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_possible(const struct run_pace *pace)
{
    return pace->open_s >= 0 && pace->open_s <= OPEN_S_MAX &&
           (pace->byte_ns == 0 || (pace->byte_ns >= BYTE_NS_MIN && pace->byte_ns <= BYTE_NS_MAX));
}

/* A blank and a number. */
static bool take_number(const char **at, double *number)
{
    char *end;

    if (**at != ' ')
        return false;
    *number = strtod(*at + 1, &end);
    const bool is_number = end > *at + 1;
    *at = end;
    return is_number;
}

static bool parse_line(struct entry *entry, const char *line)
{
    char *end;

    entry->key = strtoull(line, &end, 16);
    const char *at = end;
    if (at - line != 16)
        return false;
    for (int side = 0; side < PACE_SIDES; side++) {
        struct run_pace *const pace = &entry->paces.of[side];
        double measured;

        if (!take_number(&at, &pace->open_s) || !take_number(&at, &pace->byte_ns) ||
            !take_number(&at, &measured) || !is_possible(pace))
            return false;
        pace->measured = measured != 0;
    }
    return *at == '\0';
}

static bool parse(struct entries *entries, const char *text, size_t len)
{
    const size_t head_len = sizeof head - 1;

    if (len < head_len || memcmp(text, head, head_len) != 0)
        return false;
    const char *const end = text + len;

    for (text += head_len; text < end;) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        char line[LINE_LEN];

        if (newline == NULL || newline - text >= LINE_LEN || entries->n == ENTRIES_MAX)
            return false;
        memcpy(line, text, (size_t)(newline - text));
        line[newline - text] = '\0';
        if (!parse_line(&entries->at[entries->n++], line))
            return false;
        text = newline + 1;
    }
    return true;
}

static enum sl_status read_entries(struct entries *entries, const char *path, struct sl_diag *diag)
{
    struct file_bytes bytes = {0};

    entries->n = 0;
    if (access(path, F_OK) != 0)
        return SL_OK;
    enum sl_status status = file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, diag);
    if (status == SL_OK && !parse(entries, bytes.at, bytes.len)) {
        entries->n = 0;
        status = diag_set(diag, SL_EFORMAT, path, 0,
                          "what runs took is damaged there, and is measured anew");
    }
    file_bytes_close(&bytes);
    return status;
}

static struct entries *make_entries(struct sl_diag *diag)
{
    struct entries *const entries = malloc(sizeof *entries);

    if (entries == NULL)
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what runs took");
    return entries;
}

enum sl_status paces_read(struct run_paces *paces, const char *path, uint64_t key,
                          struct sl_diag *diag)
{
    struct entries *const entries = make_entries(diag);

    *paces = (struct run_paces){0};
    if (entries == NULL)
        return SL_ENOMEM;
    const enum sl_status status = read_entries(entries, path, diag);
    for (size_t i = 0; i < entries->n; i++)
        if (entries->at[i].key == key)
            *paces = entries->at[i].paces;
    free(entries);
    return status;
}

static void write_entry(struct new_file *file, uint64_t key, const struct run_paces *paces)
{
    const struct run_pace *const cpu = &paces->of[PACE_CPU], *const gpu = &paces->of[PACE_GPU];
    char line[LINE_LEN];
    const int len =
        snprintf(line, sizeof line, "%016" PRIx64 " %.6g %.6g %d %.6g %.6g %d\n", key, cpu->open_s,
                 cpu->byte_ns, cpu->measured, gpu->open_s, gpu->byte_ns, gpu->measured);

    new_file_write(file, line, (uint64_t)len);
}

/* This key first: the last ones are given up where there are too many. */
static enum sl_status write_all(const struct entries *entries, const struct run_paces *paces,
                                const char *path, uint64_t key, struct sl_diag *diag)
{
    struct new_file file;
    const enum sl_status status = new_file_create(&file, path, diag);
    size_t n = 1;

    if (status != SL_OK)
        return status;
    new_file_write(&file, head, sizeof head - 1);
    write_entry(&file, key, paces);
    for (size_t i = 0; i < entries->n && n < ENTRIES_MAX; i++) {
        if (entries->at[i].key == key)
            continue;
        write_entry(&file, entries->at[i].key, &entries->at[i].paces);
        n++;
    }
    return new_file_end(&file, diag);
}

enum sl_status paces_write(const struct run_paces *paces, const char *path, uint64_t key,
                           struct sl_diag *diag)
{
    struct entries *const entries = make_entries(diag);
    struct sl_diag unwanted;

    if (entries == NULL)
        return SL_ENOMEM;
    (void)read_entries(entries, path, &unwanted);
    const enum sl_status status = write_all(entries, paces, path, key, diag);
    free(entries);
    return status;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static double mean(double a, double b)
{
    return (a + b) / 2;
}

void paces_measured(struct run_paces *paces, enum pace_side side, double open_s, double byte_ns)
{
    struct run_pace *const pace = &paces->of[side];
    const struct run_pace now = {open_s, byte_ns, true};

    if (byte_ns == 0 || !is_possible(&now))
        return;
    *pace = pace->measured
                ? (struct run_pace){mean(pace->open_s, open_s), mean(pace->byte_ns, byte_ns), true}
                : now;
}

double paces_seconds(const struct run_paces *paces, enum pace_side side, uint64_t len)
{
    return paces->of[side].open_s + paces->of[side].byte_ns * (double)len / 1e9;
}

bool paces_choose(const struct run_paces *paces, uint64_t len, enum pace_side *side)
{
    if (paces->of[PACE_CPU].byte_ns == 0 || paces->of[PACE_GPU].byte_ns == 0)
        return false;
    *side = paces_seconds(paces, PACE_GPU, len) < paces_seconds(paces, PACE_CPU, len) ? PACE_GPU
                                                                                      : PACE_CPU;
    return true;
}
