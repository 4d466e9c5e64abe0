/* SPDX-License-Identifier: MIT */
/* Omissions of a run: one list for the help, the summary and its JSON. docs/counters.md has it,
 * too. */
#include "cli/cli.h"
#include "cli/json_text.h"
#include "run_report.h"

static uint64_t dropped(const struct sl_run_result *result)
{
    return result->captured.kernel_drops + result->captured.interface_drops;
}

static uint64_t failed_files(const struct sl_run_result *result)
{
    return result->failed_sources;
}

static uint64_t not_dissected(const struct sl_run_result *result)
{
    uint64_t n = 0;

    for (uint16_t l = 0; l < 256; l++)
        n += result->dissected.unknown_links[l];
    return n;
}

static uint64_t dissected_in_part(const struct sl_run_result *result)
{
    uint64_t n = 0;

    for (int d = 1; d < SL_N_DEFECTS; d++)
        n += result->dissected.defects[d];
    return n;
}

static uint64_t evicted(const struct sl_run_result *result)
{
    return result->flows.evicted;
}

static uint64_t unjoined(const struct sl_run_result *result)
{
    const struct sl_fragment_stats *stats = &result->fragments;

    return stats->timed_out + stats->evicted + stats->waiting + stats->left_out;
}

static uint64_t missing_bytes(const struct sl_run_result *result)
{
    uint64_t n = 0;

    for (int g = 0; g < SL_N_GAPS; g++)
        n += result->streams.gap_bytes[g];
    return n;
}

static uint64_t left_out_segments(const struct sl_run_result *result)
{
    const uint64_t *doubts = result->streams.doubts;

    return doubts[SL_DOUBT_CHECKSUM] + doubts[SL_DOUBT_TTL] + doubts[SL_DOUBT_EARLY];
}

static uint64_t dropped_bytes(const struct sl_run_result *result)
{
    return result->streams.dropped;
}

static uint64_t unevaluated(const struct sl_run_result *result)
{
    return result->streams.unevaluated;
}

static uint64_t forgotten(const struct sl_run_result *result)
{
    return result->streams.contexts_lost;
}

static uint64_t evicted_talk(const struct sl_run_result *result)
{
    return result->apps.flows_evicted;
}

static uint64_t lost_messages(const struct sl_run_result *result)
{
    return result->apps.left_out;
}

static uint64_t cut_bodies(const struct sl_run_result *result)
{
    return result->apps.bodies_cut;
}

static uint64_t cut_files(const struct sl_run_result *result)
{
    return result->apps.files_cut;
}

static uint64_t not_stored(const struct sl_run_result *result)
{
    return result->filestore.left_out + result->filestore.failed;
}

static struct sl_rules_count rules(const struct sl_run_result *result)
{
    struct sl_rules_count count = {0};

    if (result->rules != NULL)
        sl_rules_count(result->rules, &count);
    return count;
}

static uint64_t skipped_rules(const struct sl_run_result *result)
{
    return rules(result).skipped;
}

static uint64_t bad_rules(const struct sl_run_result *result)
{
    return rules(result).bad;
}

static uint64_t repeated_rules(const struct sl_run_result *result)
{
    return rules(result).duplicates;
}

static struct sl_clamav_info database(const struct sl_run_result *result)
{
    struct sl_clamav_info info = {0};

    if (result->database != NULL)
        sl_clamav_info(result->database, &info);
    return info;
}

static uint64_t skipped_signatures(const struct sl_run_result *result)
{
    return database(result).skipped;
}

static uint64_t wrong_signatures(const struct sl_run_result *result)
{
    return database(result).bad;
}

static uint64_t signatures_of_files(const struct sl_run_result *result)
{
    const struct sl_clamav_info info = database(result);

    return info.signatures - info.in_parts;
}

static uint64_t left_out_hits(const struct sl_run_result *result)
{
    return result->virus_hits_left_out;
}

static struct sl_names_count names(const struct sl_run_result *result)
{
    struct sl_names_count count = {0};

    if (result->names != NULL)
        sl_names_count(result->names, &count);
    return count;
}

static uint64_t skipped_lines(const struct sl_run_result *result)
{
    return names(result).skipped;
}

static uint64_t wrong_lines(const struct sl_run_result *result)
{
    return names(result).ignored;
}

static uint64_t missed_names(const struct sl_run_result *result)
{
    uint64_t n = 0;

    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        n += result->watched.missed[m];
    return n;
}

static uint64_t not_in_evidence(const struct sl_run_result *result)
{
    return result->evidence.packets_left_out + result->evidence.packets_without_flow;
}

static uint64_t without_begin(const struct sl_run_result *result)
{
    return result->evidence.flows_without_begin;
}

/* In text a space takes the place of each '_'. */
static const struct {
    const char *name;
    uint64_t (*count)(const struct sl_run_result *result);
} kinds[] = {
    {"dropped_packets", dropped},
    {"unreadable_captures", failed_files},
    {"undissected_packets", not_dissected},
    {"partly_dissected_packets", dissected_in_part},
    {"evicted_flows", evicted},
    {"unjoined_datagrams", unjoined},
    {"missing_bytes_of_streams", missing_bytes},
    {"segments_not_in_streams", left_out_segments},
    {"unacknowledged_bytes_of_streams", dropped_bytes},
    {"unevaluated_bytes_of_streams", unevaluated},
    {"forgotten_ends_of_streams", forgotten},
    {"flows_read_in_part", evicted_talk},
    {"messages_of_flows", lost_messages},
    {"cut_bodies", cut_bodies},
    {"files_not_kept_whole", cut_files},
    {"files_not_stored", not_stored},
    {"packets_not_in_captures_of_alerts", not_in_evidence},
    {"captures_of_alerts_without_begin", without_begin},
    {"skipped_rules", skipped_rules},
    {"bad_rules", bad_rules},
    {"repeated_rules", repeated_rules},
    {"skipped_signatures", skipped_signatures},
    {"wrong_lines_of_databases", wrong_signatures},
    {"signatures_not_for_payloads", signatures_of_files},
    {"virus_parts_not_followed", left_out_hits},
    {"skipped_lines_of_tables", skipped_lines},
    {"wrong_lines_of_tables", wrong_lines},
    {"unreadable_names_in_packets", missed_names},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds, TEXT_LEN = 64 };

static const char *text_of(const char *name, char text[TEXT_LEN])
{
    snprintf(text, TEXT_LEN, "%s", name);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

void run_left_out_help(FILE *out)
{
    char text[TEXT_LEN];

    fputs("left out, and counted in the summary:\n", out);
    for (int k = 0; k < N_KINDS; k++)
        fprintf(out, "  %s\n", text_of(kinds[k].name, text));
}

void run_left_out_text(const struct sl_run_result *result, FILE *out)
{
    bool any = false;
    char count[32], text[TEXT_LEN];

    for (int k = 0; k < N_KINDS; k++) {
        const uint64_t n = kinds[k].count(result);

        if (n == 0)
            continue;
        if (!any)
            fputs("left out\n", out);
        any = true;
        fprintf(out, "  %10s  %s\n", cli_count(n, count), text_of(kinds[k].name, text));
    }
}

json_t *run_left_out_json(const struct sl_run_result *result)
{
    json_t *object = json_object();

    for (int k = 0; k < N_KINDS; k++)
        json_object_set_new(object, kinds[k].name, cli_json_uint(kinds[k].count(result)));
    return object;
}
