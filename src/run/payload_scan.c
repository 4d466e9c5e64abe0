/* SPDX-License-Identifier: MIT */
#include "payload_scan.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"
#include "cli.h"

enum { NAME_LEN = 1024 };

/* A signature that matched. */
struct virus_name {
    struct sl_clamav_match match; /* the name is the database's string: one for each signature */
    uint64_t n;
};

struct found {
    uint32_t item;
    struct sl_clamav_match match;
};

struct virus_batch {
    struct sl_clamav_scanner *scanner;
    struct found *found;
    size_t n, max;
    bool no_memory;
    char text[NAME_LEN]; /* of the signature that is lent */
    struct sl_signature signature;
};

static const char *const nothing[] = {NULL};

/* As clamscan prints it. */
static void name_text(const struct sl_clamav_match *match, char text[NAME_LEN])
{
    snprintf(text, NAME_LEN, "%s%s", match->name, match->official ? "" : ".UNOFFICIAL");
}

/* ClamAV's signatures have names and no numbers. */
static uint32_t number_of(const char *text)
{
    return (uint32_t)XXH3_64bits(text, strlen(text)) >> 1;
}

/* ---- a batch --------------------------------------------------------------------------------- */

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct virus_batch *found = user;

    if (found->n == found->max) {
        const size_t max = found->max * 2 + 64;
        struct found *more = reallocarray(found->found, max, sizeof *more);

        found->no_memory |= more == NULL;
        if (more == NULL)
            return;
        found->found = more;
        found->max = max;
    }
    found->found[found->n++] = (struct found){(uint32_t)(uintptr_t)token, *match};
}

enum sl_status virus_batch_create(struct virus_batch **found, const struct virus *virus,
                                  struct sl_diag *diag)
{
    struct sl_clamav_scan_config config;

    *found = NULL;
    if (virus->n_databases == 0)
        return SL_OK;
    struct virus_batch *made = calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what is found in payloads");
    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1; /* the least: batches are the pipeline's */
    config.match = on_match;
    config.user = made;
    const enum sl_status status = sl_clamav_open(&made->scanner, virus->db, &config, diag);
    if (status == SL_OK)
        *found = made;
    else
        free(made);
    return status;
}

void virus_batch_free(struct virus_batch *found)
{
    if (found == NULL)
        return;
    sl_clamav_close(found->scanner);
    free(found->found);
    free(found);
}

enum sl_status virus_batch_scan(struct virus_batch *found, const struct virus *virus,
                                const struct sl_batch *batch, const struct sl_hits *hits,
                                struct sl_diag *diag)
{
    if (found == NULL)
        return SL_OK;
    found->n = 0;
    enum sl_status status = sl_clamav_scan_hits(found->scanner, batch, &hits[virus->engine]);
    if (status == SL_OK && found->no_memory)
        status = SL_ENOMEM;
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "scanning payloads: %s", sl_status_text(status));
}

size_t virus_batch_count(const struct virus_batch *found)
{
    return found != NULL ? found->n : 0;
}

uint32_t virus_batch_item(const struct virus_batch *found, size_t i)
{
    return found->found[i].item;
}

const struct sl_signature *virus_batch_signature(struct virus_batch *found, size_t i)
{
    name_text(&found->found[i].match, found->text);
    found->signature = (struct sl_signature){.action = "alert",
                                             .msg = found->text,
                                             .classtype = "virus",
                                             .category = "virus",
                                             .gid = VIRUS_GID,
                                             .sid = number_of(found->text),
                                             .priority = 1,
                                             .references = nothing,
                                             .metadata = nothing,
                                             .file = ""};
    return &found->signature;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct virus_name *x = a, *y = b;

    return x->match.name < y->match.name ? -1 : x->match.name > y->match.name;
}

static struct virus_name *find_name(struct virus *virus, const struct sl_clamav_match *match)
{
    const struct virus_name wanted = {.match = *match};
    struct virus_name **known = tfind(&wanted, &virus->names, compare_names);

    if (known != NULL)
        return *known;
    struct virus_name *name = calloc(1, sizeof *name);
    if (name == NULL)
        return NULL;
    name->match = *match;
    if (tsearch(name, &virus->names, compare_names) == NULL) {
        free(name);
        return NULL;
    }
    virus->n_names++;
    return name;
}

bool virus_count(struct virus *virus, const struct virus_batch *found)
{
    for (size_t i = 0; i < virus_batch_count(found); i++) {
        struct virus_name *name = find_name(virus, &found->found[i].match);

        if (name == NULL)
            return false;
        name->n++;
        virus->n_found++;
        virus->n_payloads += i == 0 || found->found[i - 1].item != found->found[i].item;
    }
    return true;
}

/* ---- open and close -------------------------------------------------------------------------- */

bool virus_open(struct virus *virus, struct sl_pipeline_config *config)
{
    struct sl_clamav_set *set = NULL;
    struct sl_clamav_count count;
    struct sl_diag diag = {0};

    if (virus->n_databases == 0)
        return true;
    const enum sl_status status = sl_clamav_load_paths(
        &virus->db, &set, virus->databases, virus->n_databases, config->devices[0].kind, &diag);
    if (status != SL_OK) {
        sl_clamav_set_free(set);
        cli_diag(&diag);
        return false;
    }
    if (set != NULL) {
        sl_clamav_set_count(set, &count);
        if (count.bad + count.skipped > 0)
            cli_error("%zu wrong lines and %zu signatures that are not supported are left out "
                      "(--debug lists them)",
                      count.bad, count.skipped);
    }
    sl_clamav_set_free(set);
    virus->engine = (int)config->n_engines++;
    sl_clamav_engine(virus->db, &config->engines[virus->engine].engine,
                     &config->engines[virus->engine].table);
    return true;
}

void virus_close(struct virus *virus)
{
    tdestroy(virus->names, free);
    sl_clamav_free(virus->db);
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

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->match.name, y->match.name);
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
    char text[32], more[32], name[NAME_LEN], safe[200];

    if (virus->n_databases == 0)
        return;
    sl_clamav_info(virus->db, &info);
    fprintf(out, "viruses    %s in ", cli_count(virus->n_found, text));
    fprintf(out, "%s payloads, of %s signatures; not looked for in payloads: %s\n",
            cli_count(virus->n_payloads, text), cli_count(info.in_parts, more),
            cli_count(info.signatures - info.in_parts, (char[32]){0}));
    struct ranking ranking = rank(virus);
    for (size_t i = 0; i < ranking.n && (i < SHOWN || details); i++) {
        name_text(&ranking.names[i]->match, name);
        fprintf(out, "  %10s  %s\n", cli_count(ranking.names[i]->n, text),
                cli_printable(name, safe, sizeof safe));
    }
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
        char text[NAME_LEN];

        name_text(&ranking.names[i]->match, text);
        json_t *entry = json_pack("{s:I, s:I}", "signature_id", (json_int_t)number_of(text),
                                  "count", (json_int_t)ranking.names[i]->n);
        /* A name of any bytes: left out where it is no UTF-8. */
        json_object_set_new(entry, "signature", json_string(text));
        json_array_append_new(names, entry);
    }
    free(ranking.names);
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "signatures", (json_int_t)info.in_parts,
                     "not_in_payloads", (json_int_t)(info.signatures - info.in_parts), "matches",
                     (json_int_t)virus->n_found, "payloads", (json_int_t)virus->n_payloads, "names",
                     names);
}
