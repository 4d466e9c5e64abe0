/* SPDX-License-Identifier: MIT */
/* The report on rules, header checks and signatures of viruses, as text and as JSON. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "run_report.h"

enum { SHOWN = 25 }; /* signatures without --stats */

/* ---- rules ----------------------------------------------------------------------------------- */

void run_rules_text(const struct sl_run_result *result, FILE *out)
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

json_t *run_rules_json(const struct sl_run_result *result)
{
    struct sl_rules_count count = {0};

    if (result->rules != NULL)
        sl_rules_count(result->rules, &count);
    json_t *object = json_pack("{s:I, s:I, s:I}", "loaded", (json_int_t)count.loaded, "skipped",
                               (json_int_t)count.skipped, "bad", (json_int_t)count.bad);
    if (result->home_missed)
        json_object_set_new(object, "home_missed", json_true());
    return object;
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

void run_alerts_text(const struct sl_run_result *result, bool details, FILE *out)
{
    char text[32], safe[200];
    size_t n;

    if (result->rules == NULL)
        return;
    fprintf(out, "alerts     %s\n", cli_count(result->alerts, text));
    if (result->rules_stopped != 0)
        fprintf(out, "  %10s  rules on packets that took too many steps\n",
                cli_count(result->rules_stopped, text));

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

json_t *run_alerts_json(const struct sl_run_result *result)
{
    struct sl_rules_count count;
    json_t *array = json_array();

    if (result->rules == NULL)
        return array;
    sl_rules_count(result->rules, &count);
    for (size_t i = 0; i < count.loaded; i++) {
        const struct sl_signature *signature = sl_rules_signature(result->rules, i);
        json_t *entry;

        if (result->by_signature[i] == 0)
            continue;
        entry = json_pack("{s:I, s:I, s:I, s:o}", "gid", (json_int_t)signature->gid, "signature_id",
                          (json_int_t)signature->sid, "rev", (json_int_t)signature->rev, "count",
                          cli_json_uint(result->by_signature[i]));
        /* A message of any bytes: left out where it is no UTF-8. */
        json_object_set_new(entry, "signature", json_string(signature->msg));
        json_array_append_new(array, entry);
    }
    return array;
}

/* ---- header checks --------------------------------------------------------------------------- */

void run_anomalies_text(const struct sl_run_result *result, FILE *out)
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

json_t *run_anomalies_json(const struct sl_run_result *result)
{
    json_t *object = json_object();

    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (result->by_check[c] != 0)
            json_object_set_new(object, sl_header_check_name((enum sl_header_check)c),
                                cli_json_uint(result->by_check[c]));
    return object;
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
    struct sl_clamav_info info;
    char text[32], more[32], name[NAME_LEN], safe[200];

    if (result->database == NULL)
        return;
    sl_clamav_info(result->database, &info);
    fprintf(out, "viruses    %s in ", cli_count(result->viruses, text));
    fprintf(out, "%s payloads and %s files, of %s signatures; not looked for in payloads: %s\n",
            cli_count(result->virus_payloads, text), cli_count(result->virus_files, (char[32]){0}),
            cli_count(info.in_parts, more),
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
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "signatures", (json_int_t)info.in_parts,
                     "not_in_payloads", (json_int_t)(info.signatures - info.in_parts), "matches",
                     (json_int_t)result->viruses, "payloads", (json_int_t)result->virus_payloads,
                     "files", (json_int_t)result->virus_files, "names", names);
}
