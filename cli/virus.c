/* SPDX-License-Identifier: MIT */
#include "virus.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"
#include "cli.h"
#include "scan.h"

/* A signature that matched. */
struct virus_name {
    const char *key; /* the database's string: one for each signature */
    char *text;      /* as clamscan prints it */
    uint64_t n;
};

static const char *const nothing[] = {NULL};

/* ---- a batch --------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const struct virus_name *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static struct virus_name *find_name(struct virus *virus, const struct sl_clamav_match *match)
{
    const struct virus_name wanted = {.key = match->name};
    struct virus_name **known = tfind(&wanted, &virus->names, compare_keys);

    if (known != NULL)
        return *known;
    struct virus_name *name = calloc(1, sizeof *name);
    if (name == NULL)
        return NULL;
    name->key = match->name;
    if (asprintf(&name->text, "%s%s", match->name, match->official ? "" : ".UNOFFICIAL") < 0) {
        free(name);
        return NULL;
    }
    if (tsearch(name, &virus->names, compare_keys) == NULL) {
        free(name->text);
        free(name);
        return NULL;
    }
    virus->n_names++;
    return name;
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct virus *virus = user;
    const uint32_t item = (uint32_t)(uintptr_t)token;
    struct virus_name *name = find_name(virus, match);

    if (virus->n_matches == virus->max_matches) {
        const size_t max = virus->max_matches * 2 + 64;
        struct virus_match *more = reallocarray(virus->matches, max, sizeof *more);

        virus->no_memory |= more == NULL;
        if (more == NULL)
            return;
        virus->matches = more;
        virus->max_matches = max;
    }
    virus->no_memory |= name == NULL;
    if (name == NULL)
        return;
    name->n++;
    virus->n_found++;
    virus->n_payloads += virus->n_matches == 0 || virus->matches[virus->n_matches - 1].item != item;
    virus->matches[virus->n_matches++] = (struct virus_match){item, name};
}

enum sl_status virus_drain(struct virus *virus, const struct sl_batch *batch,
                           const struct sl_hits *hits, struct sl_diag *diag)
{
    virus->n_matches = 0;
    if (virus->n_databases == 0)
        return SL_OK;
    enum sl_status status = sl_clamav_scan_hits(virus->scanner, batch, &hits[virus->engine]);
    if (status == SL_OK && virus->no_memory)
        status = SL_ENOMEM;
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "scanning payloads: %s", sl_status_text(status));
}

void virus_signature(const struct virus_match *match, struct sl_signature *signature)
{
    const char *text = match->name->text;

    /* ClamAV's signatures have names and no numbers. */
    *signature = (struct sl_signature){.action = "alert",
                                       .msg = text,
                                       .classtype = "virus",
                                       .category = "virus",
                                       .gid = VIRUS_GID,
                                       .sid = (uint32_t)XXH3_64bits(text, strlen(text)) >> 1,
                                       .priority = 1,
                                       .references = nothing,
                                       .metadata = nothing,
                                       .file = ""};
}

/* ---- open and close -------------------------------------------------------------------------- */

bool virus_open(struct virus *virus, struct sl_pipeline_config *config)
{
    const struct scan_options options = {.databases = virus->databases,
                                         .n_databases = virus->n_databases};
    struct sl_clamav_scan_config scan;
    struct sl_diag diag = {0};

    if (virus->n_databases == 0)
        return true;
    sl_clamav_scan_config_init(&scan);
    scan.all_matches = true;
    scan.batch_len = 1; /* the least: batches are the pipeline's */
    scan.match = on_match;
    scan.user = virus;
    if (scan_open_database(&options, &config->device, &virus->db, &diag) != SL_OK ||
        sl_clamav_open(&virus->scanner, virus->db, &scan, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    virus->engine = (int)config->n_engines++;
    sl_clamav_engine(virus->db, &config->engines[virus->engine].engine,
                     &config->engines[virus->engine].table);
    return true;
}

static void free_name(void *node)
{
    struct virus_name *name = node;

    free(name->text);
    free(name);
}

void virus_close(struct virus *virus)
{
    tdestroy(virus->names, free_name);
    sl_clamav_close(virus->scanner);
    sl_clamav_free(virus->db);
    free(virus->matches);
}

/* ---- the summary ----------------------------------------------------------------------------- */

struct ranking {
    const struct virus_name **names;
    size_t n;
};

static void rank_name(const void *node, VISIT visit, void *user)
{
    struct ranking *ranking = user;

    if (visit == postorder || visit == leaf)
        ranking->names[ranking->n++] = *(const struct virus_name *const *)node;
}

static int compare_counts(const void *a, const void *b)
{
    const struct virus_name *x = *(const struct virus_name *const *)a,
                            *y = *(const struct virus_name *const *)b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->text, y->text);
}

/* Most frequent first; the caller frees names. */
static struct ranking rank(const struct virus *virus)
{
    struct ranking ranking = {calloc(virus->n_names + 1, sizeof *ranking.names), 0};

    if (ranking.names == NULL)
        return ranking;
    twalk_r(virus->names, rank_name, &ranking);
    qsort(ranking.names, ranking.n, sizeof *ranking.names, compare_counts);
    return ranking;
}

void virus_report(const struct virus *virus, bool details, FILE *out)
{
    enum { SHOWN = 25 };
    struct sl_clamav_info info;
    char text[32], more[32], safe[200];

    if (virus->n_databases == 0)
        return;
    sl_clamav_info(virus->db, &info);
    fprintf(out, "viruses    %s in ", cli_count(virus->n_found, text));
    fprintf(out, "%s payloads, of %s signatures; not looked for in payloads: %s\n",
            cli_count(virus->n_payloads, text), cli_count(info.in_parts, more),
            cli_count(info.signatures - info.in_parts, (char[32]){0}));
    struct ranking ranking = rank(virus);
    for (size_t i = 0; i < ranking.n && (i < SHOWN || details); i++)
        fprintf(out, "  %10s  %s\n", cli_count(ranking.names[i]->n, text),
                cli_printable(ranking.names[i]->text, safe, sizeof safe));
    if (ranking.n > SHOWN && !details)
        fprintf(out, "  more signatures that matched: %s (--stats lists all)\n",
                cli_count(ranking.n - SHOWN, text));
    free(ranking.names);
}

json_t *virus_json(const struct virus *virus)
{
    struct sl_clamav_info info;
    struct ranking ranking = rank(virus);
    json_t *names = json_array();

    sl_clamav_info(virus->db, &info);
    for (size_t i = 0; i < ranking.n; i++) {
        struct virus_match match = {.name = (struct virus_name *)(uintptr_t)ranking.names[i]};
        struct sl_signature signature;

        virus_signature(&match, &signature);
        json_t *entry = json_pack("{s:I, s:I}", "signature_id", (json_int_t)signature.sid, "count",
                                  (json_int_t)ranking.names[i]->n);
        /* A name of any bytes: left out where it is no UTF-8. */
        json_object_set_new(entry, "signature", json_string(signature.msg));
        json_array_append_new(names, entry);
    }
    free(ranking.names);
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "signatures", (json_int_t)info.in_parts,
                     "not_in_payloads", (json_int_t)(info.signatures - info.in_parts), "matches",
                     (json_int_t)virus->n_found, "payloads", (json_int_t)virus->n_payloads, "names",
                     names);
}
