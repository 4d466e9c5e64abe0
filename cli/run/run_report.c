/* SPDX-License-Identifier: MIT */
/* The summary as text. */
#include "run_report.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "sluice/version.h"

static double seconds(const struct sl_run_result *result)
{
    return (double)result->pipeline->seconds_ns / 1e9;
}

static void print_device(const struct sl_run_result *result, FILE *out)
{
    const struct sl_device *devices = result->devices;
    const bool cuda = devices[0].kind == SL_DEVICE_CUDA;

    fprintf(out, "sluice %s on ", sl_version());
    const bool both = cuda && devices[result->n_devices - 1].kind == SL_DEVICE_CPU;

    if (both)
        fprintf(out, "%s and %s", devices[0].name, devices[1].name);
    else if (result->n_devices > 1)
        fprintf(out, "%u GPUs", result->n_devices);
    else
        fputs(devices[0].name, out);
    fprintf(out, " (%s: %s)\n", both ? "cuda and cpu" : cuda ? "cuda" : "cpu", result->why);
}

/* Where there is more to say than the first line says. */
static void print_devices(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    char batches[32], redone[32], name[16];

    for (uint32_t i = 0; stats->n_devices > 1 && i < stats->n_devices; i++) {
        const struct sl_pipeline_device *device = &stats->devices[i];
        const bool cuda = device->device.kind == SL_DEVICE_CUDA;

        snprintf(name, sizeof name, cuda ? "cuda:%d" : "cpu", device->device.index);
        fprintf(out, "  %-9s %s, %s batches%s\n", name, device->device.name,
                cli_count(device->batches, batches), i >= result->n_devices ? ", took over" : "");
        if (device->dropped)
            fprintf(out, "            dropped: %s; %s batches were done again elsewhere\n",
                    device->why, cli_count(device->redone, redone));
    }
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void print_latency(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;

    if (result->latency)
        fprintf(out,
                "latency    from arrival to result: p50 %.1f us, p99 %.1f us, p99.9 %.1f us, "
                "at most %.1f us\n",
                us(stats->latency.p50_ns), us(stats->latency.p99_ns), us(stats->latency.p999_ns),
                us(stats->latency.max_ns));
}

static void print_totals(const struct sl_run_result *result, FILE *out)
{
    const struct sl_capture_stats *captured = &result->captured;
    const double s = seconds(result);
    char packets[32], bytes[32], rate[32], drops[32], of_interface[32];

    fprintf(out, "packets    %s, %s, in %.3f s: %s/s (%.2f Gbit/s), %.2f M packets/s\n",
            cli_count(captured->packets, packets), cli_bytes((double)captured->bytes, bytes), s,
            cli_bytes(s > 0 ? (double)captured->bytes / s : 0, rate),
            s > 0 ? (double)captured->bytes * 8 / s / 1e9 : 0,
            s > 0 ? (double)captured->packets / s / 1e6 : 0);
    if (result->live)
        fprintf(out, "dropped    %s by the kernel, %s by the interface\n",
                cli_count(captured->kernel_drops, drops),
                cli_count(captured->interface_drops, of_interface));
}

static void print_protocols(const struct sl_run_result *result, FILE *out)
{
    const struct sl_dissect_stats *stats = &result->dissected;
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

static void print_flows(const struct sl_run_result *result, FILE *out)
{
    const struct sl_flow_stats *stats = &result->flows;
    char flows[32], tcp[32], udp[32], other[32], midstream[32], evicted[32];

    fprintf(out, "flows      %s: %s TCP (%s picked up midstream), %s UDP, %s other; %s evicted\n",
            cli_count(stats->flows, flows), cli_count(stats->tcp, tcp),
            cli_count(stats->midstream, midstream), cli_count(stats->udp, udp),
            cli_count(stats->other, other), cli_count(stats->evicted, evicted));
}

static void print_anomalies(const struct sl_run_result *result, FILE *out)
{
    char text[32];

    if (!result->has_header_checks)
        return;
    fprintf(out, "anomalies  %s\n", cli_count(result->anomalies, text));
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (result->by_check[c] != 0)
            fprintf(out, "  %10s  %-22s %s\n", cli_count(result->by_check[c], text),
                    sl_header_check_name((enum sl_header_check)c),
                    sl_header_check_text((enum sl_header_check)c));
}

/* Signatures by alerts, largest first; equal ones in rule order. */
static size_t *rank_signatures(const struct sl_run_result *result, size_t *n)
{
    struct sl_rules_count count;

    sl_rules_count(result->rules, &count);
    size_t *ranked = malloc((count.loaded + 1) * sizeof *ranked);
    *n = 0;
    for (size_t i = 0; ranked != NULL && i < count.loaded; i++) {
        const uint64_t *by = result->by_signature;
        size_t at;

        if (by[i] == 0)
            continue;
        for (at = (*n)++; at > 0 && by[ranked[at - 1]] < by[i]; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = i;
    }
    return ranked;
}

static void print_alerts(const struct sl_run_result *result, bool details, FILE *out)
{
    enum { SHOWN = 25 };
    char text[32], safe[200];
    size_t n;

    if (result->rules == NULL)
        return;
    fprintf(out, "alerts     %s\n", cli_count(result->alerts, text));

    size_t *ranked = rank_signatures(result, &n);
    for (size_t i = 0; i < n && (i < SHOWN || details); i++) {
        const struct sl_signature *signature = sl_rules_signature(result->rules, ranked[i]);

        fprintf(out, "  %10s  [%u:%u:%u] %s\n", cli_count(result->by_signature[ranked[i]], text),
                signature->gid, signature->sid, signature->rev,
                cli_printable(signature->msg, safe, sizeof safe));
    }
    if (n > SHOWN && !details)
        fprintf(out, "  more signatures that alerted: %s (--stats lists all)\n",
                cli_count(n - SHOWN, text));
    free(ranked);
}

static void print_rules(const struct sl_run_result *result, FILE *out)
{
    struct sl_rules_count count;
    char loaded[32], skipped[32], bad[32];

    if (result->rules == NULL)
        return;
    sl_rules_count(result->rules, &count);
    fprintf(out, "rules      %s loaded, %s skipped, %s bad%s\n", cli_count(count.loaded, loaded),
            cli_count(count.skipped, skipped), cli_count(count.bad, bad),
            count.skipped + count.bad != 0 ? " (sluice rules FILE... says why)" : "");
    if (result->home_missed)
        fputs("notice     no packet has an address of HOME_NET (private networks): --home sets "
              "yours\n",
              out);
}

static void print_details(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    const double wall = seconds(result);
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
    for (uint32_t e = 0; e < result->n_engines; e++)
        fprintf(out, "    %-10s %-14s %8.3f s, %s hits\n", result->engines[e], stats->backend[e],
                (double)stats->engine_ns[e] / 1e9, cli_count(stats->engine_hits[e], text));
    fprintf(out, "  evaluate, make events       %8.3f s, all workers\n",
            (double)stats->digest_ns / 1e9);
    fprintf(out, "  write in order              %8.3f s\n", (double)stats->drain_ns / 1e9);
    if (result->matcher.algorithm != NULL)
        fprintf(out, "matcher    %s: %s literals, table of %s\n", result->matcher.algorithm,
                cli_count(result->matcher.n_literals, text),
                cli_bytes((double)result->matcher.table_len, (char[32]){0}));
}

/* The variants that the run took in place of the defaults. */
static void print_variants(const struct sl_run_result *result, FILE *out)
{
    if (result->variants != NULL)
        fprintf(out, "variants   %s\n", result->variants);
}

/* ---- viruses --------------------------------------------------------------------------------- */

enum { NAME_LEN = 1024 };

/* As clamscan prints it. */
static char *name_text(const struct sl_run_virus *virus, char text[NAME_LEN])
{
    snprintf(text, NAME_LEN, "%s%s", virus->name, virus->official ? "" : ".UNOFFICIAL");
    return text;
}

void run_viruses_text(const struct sl_run_result *result, bool details, FILE *out)
{
    enum { SHOWN = 25 };
    struct sl_clamav_info info;
    char text[32], more[32], name[NAME_LEN], safe[200];

    if (result->database == NULL)
        return;
    sl_clamav_info(result->database, &info);
    fprintf(out, "viruses    %s in ", cli_count(result->viruses, text));
    fprintf(out, "%s payloads, of %s signatures; not looked for in payloads: %s\n",
            cli_count(result->virus_payloads, text), cli_count(info.in_parts, more),
            cli_count(info.signatures - info.in_parts, (char[32]){0}));
    for (size_t i = 0; i < result->n_by_virus && (i < SHOWN || details); i++)
        fprintf(out, "  %10s  %s\n", cli_count(result->by_virus[i].n, text),
                cli_printable(name_text(&result->by_virus[i], name), safe, sizeof safe));
    if (result->n_by_virus > SHOWN && !details)
        fprintf(out, "  more signatures that matched: %s (--stats lists all)\n",
                cli_count(result->n_by_virus - SHOWN, text));
}

json_t *run_viruses_json(const struct sl_run_result *result)
{
    struct sl_clamav_info info;
    json_t *names = json_array();

    sl_clamav_info(result->database, &info);
    for (size_t i = 0; i < result->n_by_virus; i++) {
        const struct sl_run_virus *virus = &result->by_virus[i];
        char text[NAME_LEN];
        json_t *entry = json_pack("{s:I, s:I}", "signature_id", (json_int_t)virus->sid, "count",
                                  (json_int_t)virus->n);

        /* A name of any bytes: left out where it is no UTF-8. */
        json_object_set_new(entry, "signature", json_string(name_text(virus, text)));
        json_array_append_new(names, entry);
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "signatures", (json_int_t)info.in_parts,
                     "not_in_payloads", (json_int_t)(info.signatures - info.in_parts), "matches",
                     (json_int_t)result->viruses, "payloads", (json_int_t)result->virus_payloads,
                     "names", names);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void run_report_text(const struct sl_run_result *result, bool details, FILE *out)
{
    print_device(result, out);
    print_devices(result, out);
    print_variants(result, out);
    print_totals(result, out);
    print_latency(result, out);
    print_protocols(result, out);
    print_flows(result, out);
    print_rules(result, out);
    print_anomalies(result, out);
    print_alerts(result, details, out);
    run_viruses_text(result, details, out);
    run_names_text(result, details, out);
    run_redundancy_text(result, out);
    if (details)
        print_details(result, out);
}
