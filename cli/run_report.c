/* SPDX-License-Identifier: MIT */
/* The summary as text. */
#include "run_report.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "version.h"

static double seconds(const struct report *report)
{
    return (double)report->stats->seconds_ns / 1e9;
}

static void print_device(const struct report *report, FILE *out)
{
    const struct sl_pipeline_config *config = report->config;
    const bool cuda = config->devices[0].kind == SL_DEVICE_CUDA;

    fputs("sluice " SLUICE_VERSION " on ", out);
    const bool both = cuda && config->devices[config->n_devices - 1].kind == SL_DEVICE_CPU;

    if (both)
        fprintf(out, "%s and %s", config->devices[0].name, config->devices[1].name);
    else if (config->n_devices > 1)
        fprintf(out, "%u GPUs", config->n_devices);
    else
        fputs(config->devices[0].name, out);
    fprintf(out, " (%s: %s)\n", both ? "cuda and cpu" : cuda ? "cuda" : "cpu", report->why);
}

/* Where there is more to say than the first line says. */
static void print_devices(const struct report *report, FILE *out)
{
    const struct sl_pipeline_stats *stats = report->stats;
    char batches[32], redone[32], name[16];

    for (uint32_t i = 0; stats->n_devices > 1 && i < stats->n_devices; i++) {
        const struct sl_pipeline_device *device = &stats->devices[i];
        const bool cuda = device->device.kind == SL_DEVICE_CUDA;

        snprintf(name, sizeof name, cuda ? "cuda:%d" : "cpu", device->device.index);
        fprintf(out, "  %-9s %s, %s batches%s\n", name, device->device.name,
                cli_count(device->batches, batches),
                i >= report->config->n_devices ? ", took over" : "");
        if (device->dropped)
            fprintf(out, "            dropped: %s; %s batches were done again elsewhere\n",
                    device->why, cli_count(device->redone, redone));
    }
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void print_latency(const struct report *report, FILE *out)
{
    const struct sl_pipeline_stats *stats = report->stats;

    if (report->config->latency)
        fprintf(out,
                "latency    from arrival to result: p50 %.1f us, p99 %.1f us, p99.9 %.1f us, "
                "at most %.1f us\n",
                us(stats->latency.p50_ns), us(stats->latency.p99_ns), us(stats->latency.p999_ns),
                us(stats->latency.max_ns));
}

static void print_totals(const struct report *report, FILE *out)
{
    const struct sl_capture_stats *captured = &report->source->captured;
    const double s = seconds(report);
    char packets[32], bytes[32], rate[32], drops[32];

    fprintf(out, "packets    %s, %s, in %.3f s: %s/s (%.2f Gbit/s), %.2f M packets/s\n",
            cli_count(captured->packets, packets), cli_bytes((double)captured->bytes, bytes), s,
            cli_bytes(s > 0 ? (double)captured->bytes / s : 0, rate),
            s > 0 ? (double)captured->bytes * 8 / s / 1e9 : 0,
            s > 0 ? (double)captured->packets / s / 1e6 : 0);
    if (report->source->interface != NULL)
        fprintf(out, "dropped    %s by the kernel\n", cli_count(captured->kernel_drops, drops));
}

static void print_protocols(const struct report *report, FILE *out)
{
    const struct sl_dissect_stats *stats = &report->source->dissected;
    char packets[32], bytes[32];

    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        if (stats->packets[p] != 0)
            fprintf(out, "  %-16s %14s packets %12s\n", sl_protocol_name((enum sl_protocol)p),
                    cli_count(stats->packets[p], packets),
                    cli_bytes((double)stats->bytes[p], bytes));
    for (uint16_t l = 0; l < 256; l++) {
        char name[32];

        if (stats->unknown_links[l] != 0)
            fprintf(out, "  not dissected: link type %s, %s packets\n",
                    l == 255 ? "255 or above" : sl_link_type_name(l, name),
                    cli_count(stats->unknown_links[l], packets));
    }
    for (int d = 1; d < SL_N_DEFECTS; d++)
        if (stats->defects[d] != 0)
            fprintf(out, "  dissected in part: %s, %s packets\n", sl_defect_name((enum sl_defect)d),
                    cli_count(stats->defects[d], packets));
}

static void print_flows(const struct report *report, FILE *out)
{
    struct sl_flow_stats stats;
    char flows[32], tcp[32], udp[32], other[32], midstream[32], evicted[32];

    sl_flow_stats(report->source->flows, &stats);
    fprintf(out, "flows      %s: %s TCP (%s picked up midstream), %s UDP, %s other; %s evicted\n",
            cli_count(stats.flows, flows), cli_count(stats.tcp, tcp),
            cli_count(stats.midstream, midstream), cli_count(stats.udp, udp),
            cli_count(stats.other, other), cli_count(stats.evicted, evicted));
}

static void print_anomalies(const struct report *report, FILE *out)
{
    const struct findings *findings = report->findings;
    char text[32];

    if (findings->header_engine < 0)
        return;
    fprintf(out, "anomalies  %s\n", cli_count(findings->n_anomalies, text));
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (findings->by_check[c] != 0)
            fprintf(out, "  %10s  %-22s %s\n", cli_count(findings->by_check[c], text),
                    sl_header_check_name((enum sl_header_check)c),
                    sl_header_check_text((enum sl_header_check)c));
}

/* Signatures by alerts, largest first; equal ones in rule order. */
static size_t *rank_signatures(const struct report *report, size_t *n)
{
    struct sl_rules_count count;

    sl_rules_count(report->rules, &count);
    size_t *ranked = malloc((count.loaded + 1) * sizeof *ranked);
    *n = 0;
    for (size_t i = 0; ranked != NULL && i < count.loaded; i++) {
        const uint64_t *by = report->findings->by_signature;
        size_t at;

        if (by[i] == 0)
            continue;
        for (at = (*n)++; at > 0 && by[ranked[at - 1]] < by[i]; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = i;
    }
    return ranked;
}

static void print_alerts(const struct report *report, FILE *out)
{
    enum { SHOWN = 25 };
    char text[32], safe[200];
    size_t n;

    if (report->rules == NULL)
        return;
    fprintf(out, "alerts     %s\n", cli_count(report->findings->n_alerts, text));

    size_t *ranked = rank_signatures(report, &n);
    for (size_t i = 0; i < n && (i < SHOWN || report->details); i++) {
        const struct sl_signature *signature = sl_rules_signature(report->rules, ranked[i]);

        fprintf(out, "  %10s  [%u:%u:%u] %s\n",
                cli_count(report->findings->by_signature[ranked[i]], text), signature->gid,
                signature->sid, signature->rev, cli_printable(signature->msg, safe, sizeof safe));
    }
    if (n > SHOWN && !report->details)
        fprintf(out, "  more signatures that alerted: %s (--stats lists all)\n",
                cli_count(n - SHOWN, text));
    free(ranked);
}

static void print_rules(const struct report *report, FILE *out)
{
    struct sl_rules_count count;
    char loaded[32], skipped[32], bad[32];

    if (report->rules == NULL)
        return;
    sl_rules_count(report->rules, &count);
    fprintf(out, "rules      %s loaded, %s skipped, %s bad%s\n", cli_count(count.loaded, loaded),
            cli_count(count.skipped, skipped), cli_count(count.bad, bad),
            count.skipped + count.bad != 0 ? " (sluice rules FILE... says why)" : "");
}

static void print_details(const struct report *report, FILE *out)
{
    const struct sl_pipeline_stats *stats = report->stats;
    const double wall = seconds(report);
    char text[32];

    fprintf(out, "pipeline   %s batches, %u workers", cli_count(stats->batches, text),
            stats->n_workers);
    if (stats->n_loaders != 0)
        fprintf(out, ", %u loaders", stats->n_loaders);
    fputc('\n', out);
    fprintf(out, "  read in order               %8.3f s busy of %.3f s\n",
            (double)stats->fill_ns / 1e9, wall);
    fprintf(out, "  load, dissect               %8.3f s, all threads\n",
            (double)stats->load_ns / 1e9);
    fprintf(out, "  join, track flows in order  %8.3f s\n", (double)stats->order_ns / 1e9);
    fprintf(out, "  engines                     %8.3f s, all workers\n",
            (double)stats->work_ns / 1e9);
    for (uint32_t e = 0; e < report->config->n_engines; e++)
        fprintf(out, "    %-10s %-14s %8.3f s, %s hits\n", report->config->engines[e].engine->name,
                stats->backend[e], (double)stats->engine_ns[e] / 1e9,
                cli_count(stats->engine_hits[e], text));
    fprintf(out, "  evaluate, make events       %8.3f s, all workers\n",
            (double)stats->digest_ns / 1e9);
    fprintf(out, "  write in order              %8.3f s\n", (double)stats->drain_ns / 1e9);
    if (report->matcher.algorithm != NULL)
        fprintf(out, "matcher    %s: %s literals, table of %s\n", report->matcher.algorithm,
                cli_count(report->matcher.n_literals, text),
                cli_bytes((double)report->matcher.table_len, (char[32]){0}));
}

void report_text(const struct report *report, FILE *out)
{
    print_device(report, out);
    print_devices(report, out);
    print_totals(report, out);
    print_latency(report, out);
    print_protocols(report, out);
    print_flows(report, out);
    print_rules(report, out);
    print_anomalies(report, out);
    print_alerts(report, out);
    virus_report(&report->findings->virus, report->details, out);
    run_names_report(report->names, report->details, out);
    redundancy_report(report->redundancy, out);
    if (report->details)
        print_details(report, out);
}
