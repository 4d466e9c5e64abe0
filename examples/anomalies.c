/* SPDX-License-Identifier: MIT */
/* anomalies FILE: prints the packets of a capture whose headers no honest sender makes. The program
 * reads a batch, runs one engine over it, and reads the next.
 * cc anomalies.c $(pkg-config --cflags --libs sluice) */
#include <sluice/sluice.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static struct sl_hit hit[1 << 20];
    struct sl_hits hits = {.hit = hit, .cap = 1 << 20};
    const struct sl_limits limits = {.max_items = 16384, .max_bytes = 4 << 20, .max_hits = 1 << 20};
    const struct sl_backend *backend = sl_engine_choose(sl_header_engine(), SL_DEVICE_CPU, NULL);
    struct sl_dissect_stats counts = {0};
    struct sl_header_config config;
    struct sl_header_table *table = NULL;
    struct sl_capture *capture = NULL;
    struct sl_batch *batch = NULL;
    struct sl_diag diag = {.text = "usage: anomalies FILE"};
    void *context = NULL;
    enum sl_status status = SL_EINVAL;

    sl_header_config_init(&config);
    if (argc == 2 && sl_header_build(&table, &config, &diag) == SL_OK &&
        sl_engine_open(&context, sl_header_engine(), backend, table, &limits, &diag) == SL_OK &&
        sl_batch_create(&batch, limits.max_bytes, limits.max_items, &diag) == SL_OK)
        status = sl_capture_open_file(&capture, argv[1], 0, &diag);
    while (status == SL_OK) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        sl_dissect(batch, &counts);
        if (backend->submit(context, batch, &hits) != SL_OK || backend->wait(context) != SL_OK)
            break;
        sl_hits_sort(&hits);
        for (size_t i = 0; i < hits.n; i++)
            printf("%llu\t%s\n", (unsigned long long)batch->origin[hit[i].item].position,
                   sl_header_check_name((enum sl_header_check)hit[i].id));
    }
    if (status != SL_END)
        fprintf(stderr, "%s %s\n", diag.file, diag.text);
    sl_capture_close(capture);
    sl_batch_free(batch);
    backend->close(context);
    sl_header_free(table);
    return status == SL_END ? 0 : 2;
}
