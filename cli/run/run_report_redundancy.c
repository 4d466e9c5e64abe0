/* SPDX-License-Identifier: MIT */
/* Savings as text, as JSON and as a picture. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plot.h"
#include "run_report.h"
#include "sluice/dissect.h"

enum { LISTED = 10 /* rows of a list */ };

typedef size_t list_rows(const struct sl_savings *savings, struct sl_savings_row *rows, size_t max);

static double percent(double part, uint64_t whole)
{
    return whole > 0 ? 100 * part / (double)whole : 0;
}

static double net(const struct sl_savings_count *count)
{
    return (double)count->matched_bytes - (double)count->reference_bytes;
}

static double framed(const struct sl_savings_count *count)
{
    return net(count) - (double)count->packets * SL_FRAME_HEADER_LEN;
}

static const char *protocol_name(uint8_t protocol, char text[16])
{
    snprintf(text, 16, "protocol %u", protocol);
    return protocol == SL_IP_TCP      ? "TCP"
           : protocol == SL_IP_UDP    ? "UDP"
           : protocol == SL_IP_SCTP   ? "SCTP"
           : protocol == SL_IP_ICMP   ? "ICMP"
           : protocol == SL_IP_ICMPV6 ? "ICMPv6"
                                      : text;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_row(const struct sl_savings_row *row, const char *name, FILE *out)
{
    char packets[32], bytes[32];

    fprintf(out, "    %-22s %12s packets %12s  gross %5.1f %%  net %5.1f %%\n", name,
            cli_count(row->count.packets, packets), cli_bytes((double)row->count.bytes, bytes),
            percent((double)row->count.matched_bytes, row->count.bytes),
            percent(net(&row->count), row->count.bytes));
}

static void print_list(const struct sl_savings *savings, const char *title, list_rows *list,
                       FILE *out)
{
    struct sl_savings_row rows[LISTED];
    const size_t n = list(savings, rows, LISTED);

    if (n > 0)
        fprintf(out, "  by %s\n", title);
    for (size_t i = 0; i < n; i++) {
        char name[64], protocol[16];

        protocol_name(rows[i].protocol, protocol);
        if (list == sl_savings_protocols)
            snprintf(name, sizeof name, "%s", protocol_name(rows[i].protocol, protocol));
        else if (list == sl_savings_ports)
            snprintf(name, sizeof name, "%s port %u", protocol_name(rows[i].protocol, protocol),
                     rows[i].port);
        else
            snprintf(name, sizeof name, "flow %llu, %s %u", (unsigned long long)rows[i].flow,
                     protocol_name(rows[i].protocol, protocol), rows[i].port);
        print_row(&rows[i], name, out);
    }
}

static void print_samplers(const struct sl_run_result *result, FILE *out)
{
    fprintf(out, "  %-12s %10s %8s %8s %8s %14s\n", "sampler", "one in", "gross", "net", "frames",
            "samples");
    for (unsigned i = 0; i < result->n_samplers; i++) {
        const struct sl_run_sampler *sampler = &result->samplers[i];
        struct sl_savings_row total;
        char samples[32];

        sl_savings_total(sampler->savings, &total);
        fprintf(out, "  %-12s %8.2f B %6.1f %% %6.1f %% %6.1f %% %14s\n", sampler->name,
                total.samples > 0 ? (double)total.eligible / (double)total.samples : 0,
                percent((double)total.count.matched_bytes, total.count.bytes),
                percent(net(&total.count), total.count.bytes),
                percent(framed(&total.count), total.count.bytes),
                cli_count(total.samples, samples));
    }
}

void run_redundancy_text(const struct sl_run_result *result, FILE *out)
{
    struct sl_savings_row total;
    char bytes[32], packets[32], cache[32], rtt[32] = "";

    if (result->n_samplers == 0)
        return;
    if (result->redundancy->savings.rtt_ms > 0)
        snprintf(rtt, sizeof rtt, ", round trip %u ms", result->redundancy->savings.rtt_ms);
    sl_savings_total(result->samplers[0].savings, &total);
    fprintf(out, "redundancy %s of payload in %s packets; period %u, window %u, cache %s%s%s\n",
            cli_bytes((double)total.count.bytes, bytes), cli_count(total.count.packets, packets),
            result->redundancy->sampling.period, result->redundancy->sampling.window,
            cli_bytes((double)result->redundancy->savings.redundancy.cache_len, cache),
            result->redundancy->savings.redundancy.chunks ? ", chunks" : "", rtt);
    print_samplers(result, out);
    if (result->n_samplers > 1)
        return;
    print_list(result->samplers[0].savings, "protocol", sl_savings_protocols, out);
    print_list(result->samplers[0].savings, "port", sl_savings_ports, out);
    print_list(result->samplers[0].savings, "flow", sl_savings_flows, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *count_json(const struct sl_savings_count *count)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "packets", (json_int_t)count->packets, "bytes",
                     (json_int_t)count->bytes, "gross", (json_int_t)count->matched_bytes, "net",
                     (json_int_t)net(count), "frames", (json_int_t)framed(count));
}

static json_t *list_json(const struct sl_savings *savings, list_rows *list)
{
    struct sl_savings_row rows[LISTED];
    const size_t n = list(savings, rows, LISTED);
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = count_json(&rows[i].count);

        json_object_set_new(row, "protocol", json_integer(rows[i].protocol));
        if (list != sl_savings_protocols)
            json_object_set_new(row, "port", json_integer(rows[i].port));
        if (list == sl_savings_flows)
            json_object_set_new(row, "flow", json_integer((json_int_t)rows[i].flow));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *intervals_json(const struct sl_savings *savings)
{
    size_t n;
    const struct sl_savings_row *rows = sl_savings_intervals(savings, &n);
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = count_json(&rows[i].count);

        json_object_set_new(row, "time", json_real((double)rows[i].time_ns / 1e9));
        json_object_set_new(row, "samples", json_integer((json_int_t)rows[i].samples));
        json_object_set_new(row, "eligible", json_integer((json_int_t)rows[i].eligible));
        json_array_append_new(array, row);
    }
    return array;
}

json_t *run_redundancy_json(const struct sl_run_result *result)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < result->n_samplers; i++) {
        const struct sl_run_sampler *sampler = &result->samplers[i];
        struct sl_savings_row total;
        json_t *object;

        sl_savings_total(sampler->savings, &total);
        object = count_json(&total.count);
        json_object_set_new(object, "sampler", json_string(sampler->name));
        json_object_set_new(object, "period", json_integer(result->redundancy->sampling.period));
        json_object_set_new(object, "window", json_integer(result->redundancy->sampling.window));
        json_object_set_new(
            object, "cache",
            json_integer((json_int_t)result->redundancy->savings.redundancy.cache_len));
        if (result->redundancy->savings.rtt_ms > 0)
            json_object_set_new(object, "rtt_ms", json_integer(result->redundancy->savings.rtt_ms));
        json_object_set_new(object, "samples", json_integer((json_int_t)total.samples));
        json_object_set_new(object, "eligible", json_integer((json_int_t)total.eligible));
        json_object_set_new(object, "protocols", list_json(sampler->savings, sl_savings_protocols));
        json_object_set_new(object, "ports", list_json(sampler->savings, sl_savings_ports));
        json_object_set_new(object, "flows", list_json(sampler->savings, sl_savings_flows));
        json_object_set_new(object, "intervals", intervals_json(sampler->savings));
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* One line an interval: payload so far in MB, net savings in percent, bytes a sample. */
static void put_data(FILE *to, const struct sl_run_result *result)
{
    for (unsigned i = 0; i < result->n_samplers; i++) {
        size_t n;
        const struct sl_savings_row *rows = sl_savings_intervals(result->samplers[i].savings, &n);
        double bytes = 0;

        fprintf(to, "$data%u << EOD\n", i);
        for (size_t k = 0; k < n; k++) {
            bytes += (double)rows[k].count.bytes;
            fprintf(to, "%.3f %.3f %.3f\n", bytes / 1e6,
                    percent(net(&rows[k].count), rows[k].count.bytes),
                    rows[k].samples > 0 ? (double)rows[k].eligible / (double)rows[k].samples : 0);
        }
        fputs("EOD\n", to);
    }
}

static void put_panel(FILE *to, const struct sl_run_result *result, int column)
{
    const char *separator = "plot ";

    for (unsigned i = 0; i < result->n_samplers; i++) {
        if (column == 3 && strcmp(result->samplers[i].name, "every") == 0)
            continue; /* one in one, by definition */
        fprintf(to, "%s$data%u using 1:%d with linespoints lw 2 pt 7 ps 0.4 title ", separator, i,
                column);
        plot_quoted(to, result->samplers[i].name);
        separator = ", ";
    }
    if (column == 3)
        fprintf(to, "%s%u with lines dt 2 lc rgb 'gray40' title 'period'", separator,
                result->redundancy->sampling.period);
    fputc('\n', to);
}

bool run_redundancy_plot(const struct sl_run_result *result, const char *path)
{
    struct plot picture;

    if (path == NULL)
        return true;
    if (!plot_begin(&picture, path, 900, 700))
        return false;
    FILE *const script = picture.script;
    put_data(script, result);
    fputs("set multiplot layout 2,1\nset lmargin 8\nset grid lc rgb 'gray85'\nset key outside "
          "right\n"
          "set xlabel 'payload (MB)'\nset xrange [0:*]\nset ylabel 'net savings (%)'\n"
          "set yrange [0:*]\n",
          script);
    put_panel(script, result, 2);
    fputs("set ylabel 'bytes a sample'\n", script);
    put_panel(script, result, 3);
    fputs("unset multiplot\n", script);
    return plot_end(&picture);
}
