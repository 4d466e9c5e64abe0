/* SPDX-License-Identifier: MIT */
/* alerts FILE.pcap FILE.rules: prints which signature each packet matches.
 * cc alerts.c $(pkg-config --cflags --libs sluice) */
#include <stdio.h>
#include <stdlib.h>

#include <sluice/sluice.h>

static void check(enum sl_status status, const struct sl_diag *diag)
{
    if (status == SL_OK || status == SL_END)
        return;
    fprintf(stderr, "%s %s\n", diag->file, diag->text);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sl_diag diag = {0};
    struct sl_dissect_stats counts = {0};
    struct sl_flow_config flow_config;
    struct sl_mpm_config mpm_config;
    const struct sl_literal *literals;
    size_t n_literals, n_alerts;
    struct sl_rules *rules;
    struct sl_mpm_table *table;
    struct sl_capture *capture;
    struct sl_flow_table *flows;
    struct sl_batch *batch;
    void *matcher;

    if (argc != 3)
        return fprintf(stderr, "usage: alerts FILE.pcap FILE.rules\n"), 2;
    check(sl_rules_create(&rules, &diag), &diag);
    check(sl_rules_load(rules, argv[2], &diag), &diag);
    check(sl_rules_compile(rules, &literals, &n_literals, &diag), &diag);
    sl_mpm_config_init(&mpm_config);
    check(sl_mpm_build(&table, &mpm_config, literals, n_literals, &diag), &diag);
    sl_flow_config_init(&flow_config);
    check(sl_flow_table_create(&flows, &flow_config, &diag), &diag);
    check(sl_batch_create(&batch, 4 << 20, 16384, false, &diag), &diag);
    check(sl_capture_open_file(&capture, argv[1], 0, &diag), &diag);

    const struct sl_limits limits = {batch->max_items, batch->bytes_cap, 1 << 20, 0};
    const struct sl_backend *backend = sl_engine_choose(sl_mpm_engine(table), SL_DEVICE_CPU, NULL);
    check(backend->open(&matcher, table, &limits, &diag), &diag);
    struct sl_hits hits = {calloc(limits.max_hits, sizeof *hits.hit), limits.max_hits, 0};
    struct sl_alert *alerts = calloc(limits.max_hits, sizeof *alerts);

    for (enum sl_status status = SL_OK; status == SL_OK;) {
        sl_batch_reset(batch);
        check(status = sl_capture_read(capture, batch, &diag), &diag);
        sl_dissect(batch, &counts);
        sl_flow_track(flows, batch);
        check(backend->submit(matcher, batch, &hits), &diag);
        check(backend->wait(matcher), &diag);
        sl_hits_sort(&hits);
        check(sl_rules_evaluate(rules, batch, &hits, alerts, limits.max_hits, &n_alerts), &diag);
        for (size_t i = 0; i < n_alerts; i++)
            printf("%llu\t%s\n", (unsigned long long)batch->origin[alerts[i].item].position,
                   sl_rules_signature(rules, alerts[i].signature)->msg);
    }
    return 0;
}
