/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <stdio.h>

#include "cli/console.h"
#include "results.h"

static const char *const roles[] = {[BENCH_CEILING] = "ceiling",
                                    [BENCH_ENGINE] = "engine",
                                    [BENCH_TOGETHER] = "together",
                                    [BENCH_PEER] = "peer"};

static void set_number(json_t *line, const char *name, double number)
{
    if (number > 0)
        json_object_set_new(line, name, json_real(number));
}

static json_t *stages_json(const struct bench_stage *stages)
{
    json_t *all = json_object();

    for (unsigned i = 0; i < BENCH_STAGES && stages[i].name != NULL; i++)
        json_object_set_new(all, stages[i].name, json_real(stages[i].ns));
    return all;
}

static json_t *row_json(const struct bench_row *row)
{
    const struct bench_rate *rate = &row->rate;
    const bool several = rate->n_runs > 0;
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:i}", "bench", row->what, "variant",
        row->variant, "data", row->data, "unit", row->unit_name, "median", rate->median / row->unit,
        "min", rate->min / row->unit, "q1", (several ? rate->q1 : rate->median) / row->unit, "q3",
        (several ? rate->q3 : rate->median) / row->unit, "max", rate->max / row->unit, "runs",
        several ? (int)rate->n_runs : 1);

    set_number(line, "ceiling", row->ceiling / row->unit);
    set_number(line, "share", row->ceiling > 0 ? rate->median / row->ceiling : 0);
    set_number(line, "best_ceiling", row->best_ceiling / row->unit);
    set_number(line, "scaling", row->scaling);
    set_number(line, "items_per_s", row->items);
    if (row->peer > 0) {
        set_number(line, "times_peer", rate->median / row->peer);
        json_object_set_new(line, "peer", json_string(row->peer_name));
    }
    set_number(line, "p50_us", row->p50_us);
    set_number(line, "p99_us", row->p99_us);
    if (row->hits != NULL)
        json_object_set_new(line, "hits", json_integer((json_int_t)*row->hits));
    if (row->role != BENCH_ALONE)
        json_object_set_new(line, "role", json_string(roles[row->role]));
    if (row->ceiling_of != NULL)
        json_object_set_new(line, "ceiling_of", json_string(row->ceiling_of));
    if (row->series != NULL)
        json_object_set_new(line, "series", json_string(row->series));
    if (row->cores != 0)
        json_object_set_new(line, "cores", json_integer(row->cores));
    if (row->stages != NULL)
        json_object_set_new(line, "stages_ns", stages_json(row->stages));
    return line;
}

static void print_share(const json_t *row, const char *ceiling, const char *before)
{
    const double of = bench_number_of(row, ceiling);

    if (of > 0)
        printf("%s%.0f %% of %.2f", before, bench_number_of(row, "median") / of * 100, of);
}

static void print_stages(json_t *stages)
{
    const char *name, *before = "  ";
    json_t *ns;

    json_object_foreach(stages, name, ns)
    {
        printf("%s%s %.0f", before, name, json_number_value(ns));
        before = ", ";
    }
    if (json_object_size(stages) != 0)
        printf(" ns a packet");
}

static void print_text(const json_t *row)
{
    const json_t *hits = json_object_get(row, "hits");
    char count[32];

    printf("%-18s %-34s ", bench_text_of(row, "bench"), bench_text_of(row, "variant"));
    if (json_object_get(row, "why") != NULL) {
        printf("not run: %s\n", bench_text_of(row, "why"));
        return;
    }
    printf("%9.3f %-11s (%.3f to %.3f)", bench_number_of(row, "median"), bench_text_of(row, "unit"),
           bench_number_of(row, "min"), bench_number_of(row, "max"));
    print_share(row, "ceiling", "  ");
    if (bench_number_of(row, "ceiling") > 0 && *bench_text_of(row, "ceiling_of") != '\0')
        printf(" (%s)", bench_text_of(row, "ceiling_of"));
    print_share(row, "best_ceiling", ", ");
    if (bench_number_of(row, "scaling") > 0)
        printf("  %.2f x one %s", bench_number_of(row, "scaling"),
               json_object_get(row, "cores") != NULL ? "core" : "GPU");
    if (bench_number_of(row, "times_peer") > 0)
        printf("  %.1f x %s", bench_number_of(row, "times_peer"), bench_text_of(row, "peer"));
    if (bench_number_of(row, "items_per_s") > 0)
        printf("  %.2f M items/s", bench_number_of(row, "items_per_s") / 1e6);
    if (bench_number_of(row, "p99_us") > 0)
        printf("  p50 %.0f us, p99 %.0f us", bench_number_of(row, "p50_us"),
               bench_number_of(row, "p99_us"));
    print_stages(json_object_get(row, "stages_ns"));
    if (hits != NULL)
        printf("  %s hits", cli_count((uint64_t)json_integer_value(hits), count));
    printf("  %s\n", bench_text_of(row, "data"));
}

void bench_print_line(const struct bench_frame *frame, const struct json_t *line)
{
    bench_print_head(frame);
    if (frame->json) {
        bench_print_json(line);
    } else {
        print_text(line);
    }
    fflush(stdout);
}

static void print_and_keep(const struct bench_frame *frame, json_t *line)
{
    bench_print_line(frame, line);
    json_array_append_new(json_object_get(frame->results, "rows"), line);
}

void bench_print(const struct bench_frame *frame, const struct bench_row *row)
{
    print_and_keep(frame, row_json(row));
}

void bench_print_why(const struct bench_frame *frame, const char *what, const char *variant,
                     const char *why)
{
    print_and_keep(frame,
                   json_pack("{s:s, s:s, s:s}", "bench", what, "variant", variant, "why", why));
}
