/* SPDX-License-Identifier: MIT */
/* Virus signatures that were found in payloads, as text and as JSON. */
#include <string.h>

#include "cli.h"
#include "run_report.h"

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
