/* SPDX-License-Identifier: MIT */
/* The hook of the matcher makes a peer an algorithm like the others: the same tables in files, the
 * same trials, the same rows.
 *
 * Literals go through its expression compiler, every byte escaped. Its literal compiler loses
 * matches: with 5.4.9 and 5,000 literals 6 of 210,901 payloads had other results. Expressions have
 * at most 16,000 characters, so a literal of more than 3,999 bytes is not supported. Block mode:
 * one call an item. */
#include "vectorscan.h"

#include <hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"

/* The body of the block. */
struct vectorscan_table {
    uint64_t database_len;
    uint8_t database[]; /* serialized */
};

struct vectorscan {
    struct cpu_context cpu;
    hs_database_t *database;
    hs_scratch_t *scratch;
};

/* ---- build ----------------------------------------------------------------------------------- */

/* Expressions in one block of memory: each byte is \xNN. */
struct expressions {
    char *text;
    const char **expression;
    unsigned *flags;
    unsigned *id;
};

static void clear_expressions(struct expressions *expressions)
{
    free(expressions->text);
    free(expressions->expression);
    free(expressions->flags);
    free(expressions->id);
}

static bool write_expressions(struct expressions *to, const struct mpm_set *set)
{
    static const char hex[] = "0123456789abcdef";
    const size_t n = set->n_literals;

    to->text = (char *)malloc(4 * set->bytes_len + n + 1);
    to->expression = (const char **)calloc(n + 1, sizeof *to->expression);
    to->flags = (unsigned *)calloc(n + 1, sizeof *to->flags);
    to->id = (unsigned *)calloc(n + 1, sizeof *to->id);
    if (to->text == NULL || to->expression == NULL || to->flags == NULL || to->id == NULL)
        return false;

    char *text = to->text;
    for (unsigned id = 0; id < n; id++) {
        const struct sl_literal *literal = &set->literals[id];

        to->expression[id] = text;
        to->id[id] = id;
        to->flags[id] = HS_FLAG_DOTALL;
        if ((literal->flags & SL_LITERAL_NOCASE) != 0)
            to->flags[id] |= HS_FLAG_CASELESS;
        for (uint32_t i = 0; i < literal->len; i++) {
            *text++ = '\\';
            *text++ = 'x';
            *text++ = hex[literal->bytes[i] >> 4];
            *text++ = hex[literal->bytes[i] & 15];
        }
        *text++ = '\0';
    }
    return true;
}

static enum sl_status compile(hs_database_t **database, const struct mpm_set *set,
                              struct sl_diag *diag)
{
    struct expressions expressions = {0};
    hs_compile_error_t *error = NULL;
    enum sl_status status = SL_OK;

    if (!write_expressions(&expressions, set))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u literals", set->n_literals);
    else if (hs_compile_multi(expressions.expression, expressions.flags, expressions.id,
                              set->n_literals, HS_MODE_BLOCK, NULL, database, &error) != HS_SUCCESS)
        status = diag_set(diag, SL_EUNSUPPORTED, NULL,
                          error->expression < 0 ? 0 : (uint32_t)error->expression + 1,
                          "vectorscan: %s", error->message);
    if (error != NULL)
        hs_free_compile_error(error);
    clear_expressions(&expressions);
    return status;
}

static enum sl_status store(struct sl_mpm_table **table, const struct mpm_set *set,
                            const hs_database_t *database, struct sl_diag *diag)
{
    char *bytes = NULL;
    size_t len = 0;
    struct sl_mpm_table *made = NULL;

    if (database == NULL || hs_serialize_database(database, &bytes, &len) == HS_SUCCESS)
        made = mpm_table_create(set, "vectorscan", 0, sizeof(struct vectorscan_table) + len);
    if (made != NULL) {
        struct vectorscan_table *body = (struct vectorscan_table *)((uint8_t *)made + made->body);

        body->database_len = len;
        if (len != 0)
            memcpy(body->database, bytes, len);
        *table = made;
    }
    free(bytes);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for vectorscan's database");
    return SL_OK;
}

/* An empty set has no database: there are no expressions to compile. */
static enum sl_status vectorscan_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                       const struct sl_mpm_config *config, struct sl_diag *diag)
{
    hs_database_t *database = NULL;

    (void)config;
    if (set->n_literals != 0) {
        const enum sl_status status = compile(&database, set, diag);
        if (status != SL_OK)
            return status;
    }

    const enum sl_status status = store(table, set, database, diag);
    hs_free_database(database);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------- */

/* The database has a checksum of its own, which the library checks. */
static const char *vectorscan_check(const struct sl_mpm_table *table)
{
    const struct vectorscan_table *body =
        (const struct vectorscan_table *)mpm_at(table, table->body);
    hs_database_t *database = NULL;

    if (!mpm_part_fits(table, 0, 1, sizeof *body) ||
        table->head.len - table->body - sizeof *body < body->database_len)
        return "its database lies outside the table";
    if (body->database_len == 0)
        return NULL;
    switch (hs_deserialize_database((const char *)body->database, body->database_len, &database)) {
    case HS_SUCCESS:
        hs_free_database(database);
        return NULL;
    case HS_DB_PLATFORM_ERROR:
        return "vectorscan's database was compiled for another CPU";
    case HS_DB_VERSION_ERROR:
        return "vectorscan's database was compiled by another version of it";
    case HS_NOMEM:
        return "no memory for vectorscan's database";
    default:
        return "vectorscan's database is damaged";
    }
}

/* ---- scan ------------------------------------------------------------------------------------ */

static bool vectorscan_usable(char why[SL_WHY_LEN])
{
    if (hs_valid_platform() == HS_SUCCESS)
        return true;
    snprintf(why, SL_WHY_LEN, "vectorscan does not run on this CPU");
    return false;
}

static void vectorscan_close(void *context)
{
    struct vectorscan *vectorscan = (struct vectorscan *)context;

    if (vectorscan == NULL)
        return;
    hs_free_scratch(vectorscan->scratch);
    hs_free_database(vectorscan->database);
    free(vectorscan);
}

static enum sl_status vectorscan_open(void **context, const void *table,
                                      const struct sl_limits *limits, struct sl_diag *diag)
{
    struct vectorscan *made = (struct vectorscan *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    made->cpu.table = table;
    made->cpu.limits = *limits;

    const struct vectorscan_table *body =
        (const struct vectorscan_table *)mpm_at(table, ((const struct sl_mpm_table *)table)->body);
    if (body->database_len != 0 &&
        (hs_deserialize_database((const char *)body->database, body->database_len,
                                 &made->database) != HS_SUCCESS ||
         hs_alloc_scratch(made->database, &made->scratch) != HS_SUCCESS)) {
        vectorscan_close(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for vectorscan's database");
    }
    *context = made;
    return SL_OK;
}

struct item_hits {
    struct sl_hits *hits;
    uint32_t item;
    uint32_t overlap;
};

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                    void *context)
{
    const struct item_hits *at = (const struct item_hits *)context;

    (void)from;
    (void)flags;
    if (to > at->overlap)
        cpu_hits_append(at->hits, at->item, (uint32_t)to, id);
    return 0;
}

static enum sl_status vectorscan_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                      struct sl_hits *hits)
{
    const struct vectorscan *vectorscan = (const struct vectorscan *)cpu;

    for (uint32_t item = 0; item < batch->n_items && vectorscan->database != NULL; item++) {
        const struct sl_span span = batch->payload[item];
        struct item_hits at = {hits, item, mpm_overlap(batch, item)};

        if (hs_scan(vectorscan->database, (const char *)batch->bytes + span.offset, span.len, 0,
                    vectorscan->scratch, on_match, &at) != HS_SUCCESS)
            return SL_EDEVICE;
    }
    return SL_OK;
}

static enum sl_status vectorscan_submit(void *context, const struct sl_batch *batch,
                                        struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, vectorscan_scan);
}

static const struct sl_backend block = {.name = "block",
                                        .device = SL_DEVICE_CPU,
                                        .usable = vectorscan_usable,
                                        .open = vectorscan_open,
                                        .submit = vectorscan_submit,
                                        .wait = cpu_backend_wait,
                                        .close = vectorscan_close};

static const struct sl_backend *const backends[] = {&block, NULL};

static const struct sl_engine engine = {
    .name = "mpm.vectorscan", .backends = backends, .takes = mpm_takes};

static const struct mpm_algorithm algorithm = {
    .name = "vectorscan", .build = vectorscan_build, .check = vectorscan_check, .engine = &engine};

void vectorscan_add(void)
{
    mpm_add_peer(&algorithm);
}
