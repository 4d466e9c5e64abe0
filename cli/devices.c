/* SPDX-License-Identifier: MIT */
/* sluice devices: those that can run here, those that cannot, and why. */
#include <jansson.h>

#include "cli.h"
#include "options.h"
#include "sluice/device.h"

enum { MAX_DEVICES = 64 };

static void print_text(const struct sl_device *devices, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char name[16] = "cpu", memory[32];

        if (devices[i].kind == SL_DEVICE_CUDA)
            snprintf(name, sizeof name, "cuda:%d", devices[i].index);
        if (devices[i].usable)
            printf("%-8s %s, %s\n", name, devices[i].name,
                   cli_bytes((double)devices[i].memory_len, memory));
        else
            printf("%-8s not usable: %s%s%s\n", devices[i].name[0] != '\0' ? name : "cuda",
                   devices[i].name, devices[i].name[0] != '\0' ? ": " : "", devices[i].why);
    }
}

static void print_json(const struct sl_device *devices, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const bool cuda = devices[i].kind == SL_DEVICE_CUDA;
        json_t *line =
            json_pack("{s:s, s:i, s:s, s:b, s:s, s:I, s:i}", "kind", cuda ? "cuda" : "cpu", "index",
                      devices[i].index, "name", devices[i].name, "usable", devices[i].usable, "why",
                      devices[i].why, "memory_bytes", (json_int_t)devices[i].memory_len,
                      "capability", devices[i].capability);

        json_dumpf(line, stdout, 0);
        putchar('\n');
        json_decref(line);
    }
}

static const char usage[] =
    "usage: sluice devices [--json]\n\n"
    "Lists the CPU and each GPU: what can run here, what cannot, and why.\n";

int command_devices(int argc, char **argv)
{
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct cli_options options = {.command = "devices", .letters = "h", .names = known};
    struct sl_device devices[MAX_DEVICES];
    bool json = false;
    int option;

    while ((option = cli_next_option(&options, argc, argv)) != -1) {
        if (option != 'j')
            return cli_end(option, usage);
        json = true;
    }
    if (optind < argc) {
        cli_error("'%s' was not expected (usage: sluice devices [--json])", argv[optind]);
        return EXIT_FAILED;
    }

    uint32_t n = sl_device_list(devices, MAX_DEVICES);
    if (n > MAX_DEVICES)
        n = MAX_DEVICES;
    if (json)
        print_json(devices, n);
    else
        print_text(devices, n);
    return EXIT_DONE;
}
