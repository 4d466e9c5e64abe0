/* SPDX-License-Identifier: MIT */
/* The machine of a result's rows, and the versions of its build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#ifdef HAVE_VECTORSCAN
#include <hs.h>
#endif

#include "base/cpu.h"
#include "cli/console.h"
#include "machine.h"
#include "results.h"
#include "sluice/version.h"

/* As the system names it: "Intel(R) Xeon(R) Gold 6448Y". */
static void cpu_model(char *model, size_t model_len)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(model, model_len, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(model, model_len, "%s", colon + 1 + (colon[1] == ' '));
        break;
    }
    if (file != NULL)
        (void)fclose(file);
}

static json_t *software(void)
{
    json_t *libraries =
        json_pack("{s:s, s:s}", "compiler", __VERSION__, "zstd", ZSTD_versionString());

#ifdef HAVE_VECTORSCAN
    char version[64];
    snprintf(version, sizeof version, "%.60s", hs_version());
    version[strcspn(version, " ")] = '\0'; /* the date of the build follows */
    json_object_set_new(libraries, "vectorscan", json_string(version));
#endif
    return libraries;
}

struct json_t *bench_machine(const struct sl_device *device)
{
    struct sl_device cpu;
    struct utsname system;
    char model[160], now[32] = "", kernel[192] = "";
    const time_t seconds = time(NULL);
    struct tm utc;

    (void)sl_device_list(&cpu, 1);
    cpu_model(model, sizeof model);
    if (gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (uname(&system) == 0)
        snprintf(kernel, sizeof kernel, "%s %s", system.sysname, system.release);

    json_t *machine = json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:o}", "sluice", sl_version(), "time", now, "cpu",
        model, "level", cpu_level_name(cpu_level()), "cores", (int)cpu_cores(), "memory_bytes",
        (json_int_t)cpu.memory_len, "kernel", kernel, "software", software());
    if (device->kind == SL_DEVICE_CUDA) {
        json_object_set_new(machine, "gpu", json_string(device->name));
        json_object_set_new(machine, "gpu_memory_bytes",
                            json_integer((json_int_t)device->memory_len));
    }
    return machine;
}

void bench_machine_text(const struct json_t *machine, char *text, size_t text_len)
{
    const json_int_t cores = json_integer_value(json_object_get(machine, "cores"));
    const char *gpu = bench_text_of(machine, "gpu");
    char bytes[32];

    snprintf(text, text_len, "%s, %s, %lld core%s, %s%s%s", bench_text_of(machine, "cpu"),
             bench_text_of(machine, "level"), (long long)cores, cores == 1 ? "" : "s",
             cli_bytes(bench_number_of(machine, "memory_bytes"), bytes), *gpu != '\0' ? ", " : "",
             gpu);
}

static double seconds_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* The first line of /proc/stat: ticks of user, nice, system, idle, iowait, irq, softirq, steal. */
struct bench_load bench_load_now(void)
{
    FILE *file = fopen("/proc/stat", "r");
    struct bench_load now = {0};
    struct rusage self, children;
    char line[256] = "";
    char *at = line + 3;

    if (file == NULL || fgets(line, sizeof line, file) == NULL || strncmp(line, "cpu ", 4) != 0)
        line[3] = '\0';
    if (file != NULL)
        (void)fclose(file);
    for (int field = 0; field < 8; field++) {
        char *end;
        const double ticks = strtod(at, &end);

        now.total_s += ticks / (double)sysconf(_SC_CLK_TCK);
        if (field != 3 && field != 4)
            now.busy_s += ticks / (double)sysconf(_SC_CLK_TCK);
        at = end;
    }
    (void)getrusage(RUSAGE_SELF, &self);
    (void)getrusage(RUSAGE_CHILDREN, &children);
    now.own_s = seconds_of(&self) + seconds_of(&children);
    return now;
}

double bench_load_of_others(const struct bench_load *begin)
{
    const struct bench_load end = bench_load_now();
    const double total = end.total_s - begin->total_s;
    const double others = end.busy_s - begin->busy_s - (end.own_s - begin->own_s);

    return total > 0 && others > 0 ? others / total * 100 : 0;
}
