/* SPDX-License-Identifier: MIT */
/* Building and checking the Aho-Corasick automaton (thesis, section 2.4.2): goto, failure and
 * output functions give one next state for each state and byte, and the failure function is gone
 * when the build ends. */
#include <stdlib.h>
#include <string.h>

#include "ac_table.h"
#include "base/diag.h"
#include "mpm_internal.h"

static const char name[] = "ac";

/* All states are the trie's, breadth-first; a state's failure is always a state before it. */
struct builder {
    struct mpm_trie trie;
    uint32_t *failure; /* longest proper suffix that is a state */
    uint32_t *report;  /* longest group that is a suffix, or MPM_NONE */
    uint16_t *depth;   /* bytes of the prefix that the state stands for */
    uint32_t n_rows;
    uint32_t n_plain;
    uint32_t first_record; /* no state before has an exception */
    uint16_t *rows;
    uint16_t *renumbered; /* states with a row: their number in the block */
    struct ac_record *records;
    uint32_t *targets;
    uint32_t n_targets;
    uint32_t max_targets;
    struct ac_output *outputs;
};

static void builder_clear(struct builder *builder)
{
    mpm_trie_clear(&builder->trie);
    free(builder->failure);
    free(builder->report);
    free(builder->depth);
    free(builder->rows);
    free(builder->renumbered);
    free(builder->records);
    free(builder->targets);
    free(builder->outputs);
}

/* A state's children have larger numbers than those of the states before it, so the states with a
 * child that has no row are the last ones. */
static uint32_t find_first_record(const struct builder *builder)
{
    uint32_t state = 0;

    while (state < builder->trie.n_states &&
           builder->trie.first_child[state + 1] <= builder->n_rows)
        state++;
    return state;
}

static bool builder_init(struct builder *builder, const struct mpm_set *set)
{
    const size_t n_states = builder->trie.n_states;

    builder->n_rows = n_states < AC_ROWS_MAX ? (uint32_t)n_states : AC_ROWS_MAX;
    builder->first_record = find_first_record(builder);
    builder->failure = (uint32_t *)calloc(n_states, sizeof *builder->failure);
    builder->report = (uint32_t *)calloc(n_states, sizeof *builder->report);
    builder->depth = (uint16_t *)calloc(n_states, sizeof *builder->depth);
    builder->rows =
        (uint16_t *)calloc((size_t)builder->n_rows << AC_ROW_SHIFT, sizeof *builder->rows);
    builder->renumbered = (uint16_t *)calloc(builder->n_rows, sizeof *builder->renumbered);
    builder->records =
        (struct ac_record *)calloc(n_states - builder->first_record + 1, sizeof *builder->records);
    builder->outputs =
        (struct ac_output *)calloc(set->n_groups + (size_t)1, sizeof *builder->outputs);
    return builder->failure != NULL && builder->report != NULL && builder->depth != NULL &&
           builder->rows != NULL && builder->renumbered != NULL && builder->records != NULL &&
           builder->outputs != NULL;
}

static const struct ac_record *find_record(const struct builder *builder, uint32_t state)
{
    return state < builder->first_record ? NULL : &builder->records[state - builder->first_record];
}

static uint32_t next_state(const struct builder *builder, uint32_t state, uint8_t byte)
{
    const struct ac_record *record = find_record(builder, state);

    if (record == NULL)
        return builder->rows[state << AC_ROW_SHIFT | byte];
    if (ac_has_exception(record, byte))
        return builder->targets[ac_exception(record, byte)];
    return builder->rows[record->row << AC_ROW_SHIFT | byte];
}

/* Sets what the state reports, and where its children lie and fall back to. */
static void link_state(struct builder *builder, const struct mpm_set *set, uint32_t state)
{
    const struct mpm_trie *trie = &builder->trie;
    const uint32_t failure = builder->failure[state];
    const uint32_t inherited = state == 0 ? MPM_NONE : builder->report[failure];
    const uint32_t group = trie->group[state];

    builder->report[state] = group != MPM_NONE ? group : inherited;
    if (group != MPM_NONE)
        builder->outputs[group] = (struct ac_output){
            .literal = set->groups[group], .end = set->groups[group + 1], .suffix = inherited};
    for (uint32_t child = trie->first_child[state]; child < trie->first_child[state + 1]; child++) {
        builder->depth[child] = (uint16_t)(builder->depth[state] + 1);
        builder->failure[child] = state == 0 ? 0 : next_state(builder, failure, trie->byte[child]);
    }
}

/* The row of the failure, but for the children. Both cases of a letter lead to the same child. */
static void make_row(struct builder *builder, uint32_t state)
{
    const struct mpm_trie *trie = &builder->trie;
    uint16_t *row = &builder->rows[state << AC_ROW_SHIFT];

    if (state != 0)
        memcpy(row, &builder->rows[builder->failure[state] << AC_ROW_SHIFT], 256 * sizeof *row);
    for (uint32_t child = trie->first_child[state];
         child < trie->first_child[state + 1] && child < builder->n_rows; child++) {
        const uint8_t byte = trie->byte[child];

        row[byte] = (uint16_t)child;
        if (byte >= 'a' && byte <= 'z')
            row[byte - 'a' + 'A'] = (uint16_t)child;
    }
}

/* The failure's exceptions, but for the children without a row. A child with a row never meets one
 * of them: the exception's target is a suffix of the child, so it is a state before and has a row
 * too. */
static void collect_exceptions(const struct builder *builder, uint32_t state,
                               struct ac_record *record, uint32_t target[256])
{
    const struct mpm_trie *trie = &builder->trie;
    const struct ac_record *inherited = find_record(builder, builder->failure[state]);

    for (int word = 0; inherited != NULL && word < 4; word++) {
        const uint32_t *from = &builder->targets[inherited->first + inherited->rank[word]];

        record->exception[word] = inherited->exception[word];
        for (uint64_t rest = record->exception[word]; rest != 0; rest &= rest - 1)
            target[word * 64 + __builtin_ctzll(rest)] = *from++;
    }
    for (uint32_t child = trie->first_child[state]; child < trie->first_child[state + 1]; child++) {
        const uint8_t byte = trie->byte[child];

        if (child < builder->n_rows)
            continue;
        record->exception[byte / 64] |= UINT64_C(1) << byte % 64;
        target[byte] = child;
    }
}

static bool reserve_targets(struct builder *builder)
{
    if (builder->n_targets + 256 <= builder->max_targets)
        return true;
    if (builder->max_targets > UINT32_MAX / 2 - 65536)
        return false;

    const uint32_t max = builder->max_targets * 2 + 65536;
    uint32_t *targets = (uint32_t *)realloc(builder->targets, max * sizeof *targets);
    if (targets == NULL)
        return false;
    builder->targets = targets;
    builder->max_targets = max;
    return true;
}

static bool make_record(struct builder *builder, uint32_t state)
{
    struct ac_record *record = &builder->records[state - builder->first_record];
    const uint32_t failure = builder->failure[state];
    uint32_t target[256];

    if (!reserve_targets(builder))
        return false;
    collect_exceptions(builder, state, record, target);
    record->first = builder->n_targets;
    if (state < builder->n_rows)
        record->row = state;
    else
        record->row = failure < builder->n_rows ? failure : find_record(builder, failure)->row;
    for (int word = 0; word < 4; word++) {
        record->rank[word] = (uint8_t)(builder->n_targets - record->first);
        for (uint64_t rest = record->exception[word]; rest != 0; rest &= rest - 1)
            builder->targets[builder->n_targets++] = target[word * 64 + __builtin_ctzll(rest)];
    }
    return true;
}

static bool make_states(struct builder *builder, const struct mpm_set *set)
{
    for (uint32_t state = 0; state < builder->trie.n_states; state++) {
        link_state(builder, set, state);
        if (state < builder->n_rows)
            make_row(builder, state);
        if (state >= builder->first_record && !make_record(builder, state))
            return false;
    }
    return true;
}

static bool is_plain(const struct builder *builder, uint32_t state)
{
    const struct ac_record *record = find_record(builder, state);

    if (builder->report[state] != MPM_NONE)
        return false;
    return record == NULL || (record->exception[0] | record->exception[1] | record->exception[2] |
                              record->exception[3]) == 0;
}

/* Plain states first. The root is plain and stays 0. */
static void renumber(struct builder *builder)
{
    uint32_t plain = 0;
    uint32_t marked = 0;

    for (uint32_t state = 0; state < builder->n_rows; state++)
        builder->n_plain += is_plain(builder, state);
    marked = builder->n_plain;
    for (uint32_t state = 0; state < builder->n_rows; state++)
        builder->renumbered[state] = (uint16_t)(is_plain(builder, state) ? plain++ : marked++);
}

static void write_record(const struct builder *builder, uint32_t state, struct ac_record *to)
{
    const struct ac_record *from = find_record(builder, state);

    if (from != NULL)
        *to = *from;
    to->row = builder->renumbered[from != NULL ? from->row : state];
    to->report = builder->report[state];
}

static void write_block(const struct builder *builder, struct ac_table *body,
                        const struct mpm_set *set)
{
    uint16_t *rows = (uint16_t *)((uint8_t *)body + body->rows);
    struct ac_record *records = (struct ac_record *)((uint8_t *)body + body->records);
    uint16_t *depths = (uint16_t *)((uint8_t *)body + body->depths);

    for (uint32_t state = 0; state < builder->trie.n_states; state++) {
        const bool has_row = state < builder->n_rows;
        const uint32_t number = has_row ? builder->renumbered[state] : state;

        depths[number] = builder->depth[state];
        for (uint32_t byte = 0; has_row && byte < 256; byte++)
            rows[number << AC_ROW_SHIFT | byte] =
                builder->renumbered[builder->rows[state << AC_ROW_SHIFT | byte]];
        if (number >= builder->n_plain)
            write_record(builder, state, &records[number - builder->n_plain]);
    }
    if (builder->n_targets != 0)
        memcpy((uint8_t *)body + body->targets, builder->targets,
               builder->n_targets * sizeof *builder->targets);
    memcpy((uint8_t *)body + body->outputs, builder->outputs,
           set->n_groups * sizeof *builder->outputs);
}

static struct sl_mpm_table *make_table(struct builder *builder, const struct mpm_set *set)
{
    const uint32_t n_states = builder->trie.n_states;
    struct ac_table head = {
        .n_rows = builder->n_rows, .n_plain = builder->n_plain, .n_targets = builder->n_targets};
    uint64_t end = sizeof head;

    head.rows = mpm_place(&end, ((uint64_t)head.n_rows << AC_ROW_SHIFT) * sizeof *builder->rows);
    head.records = mpm_place(&end, (n_states - (uint64_t)head.n_plain) * sizeof *builder->records);
    head.targets = mpm_place(&end, builder->n_targets * (uint64_t)sizeof *builder->targets);
    head.outputs = mpm_place(&end, set->n_groups * (uint64_t)sizeof *builder->outputs);
    head.depths = mpm_place(&end, n_states * (uint64_t)sizeof *builder->depth);

    struct sl_mpm_table *table = mpm_table_create(set, name, n_states, end);
    if (table == NULL)
        return NULL;
    struct ac_table *body = (struct ac_table *)((uint8_t *)table + table->body);
    *body = head;
    write_block(builder, body, set);
    return table;
}

static enum sl_status ac_build(struct sl_mpm_table **table, const struct mpm_set *set,
                               const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct builder builder = {0};
    struct sl_mpm_table *made = NULL;
    enum sl_status status = mpm_trie_init(&builder.trie, set, diag);

    (void)config;
    if (status != SL_OK)
        return status;
    if (builder_init(&builder, set) && make_states(&builder, set)) {
        renumber(&builder);
        made = make_table(&builder, set);
    }
    if (made == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an automaton of %u states",
                          set->n_states);
    else
        *table = made;
    builder_clear(&builder);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool check_parts(const struct sl_mpm_table *table, const struct ac_table *body)
{
    return body->n_rows <= AC_ROWS_MAX && body->n_rows <= table->n_states && body->n_plain >= 1 &&
           body->n_plain <= body->n_rows &&
           mpm_part_fits(table, body->rows, body->n_rows, sizeof(uint16_t) << AC_ROW_SHIFT) &&
           mpm_part_fits(table, body->records, table->n_states - body->n_plain,
                         sizeof(struct ac_record)) &&
           mpm_part_fits(table, body->targets, body->n_targets, sizeof(uint32_t)) &&
           mpm_part_fits(table, body->outputs, table->n_groups, sizeof(struct ac_output)) &&
           mpm_part_fits(table, body->depths, table->n_states, sizeof(uint16_t));
}

/* All rows have next states below n_rows; where all 16 bits name rows, that is so whatever they
 * hold. */
static bool check_rows(const uint16_t *rows, uint32_t n_rows)
{
    for (uint32_t state = 0; state < n_rows && n_rows < AC_ROWS_MAX; state++) {
        const uint16_t *row = &rows[(size_t)state << AC_ROW_SHIFT];
        uint16_t max = 0;

        for (int byte = 0; byte < 256; byte++)
            max = row[byte] > max ? row[byte] : max;
        if (max >= n_rows)
            return false;
    }
    return true;
}

static bool check_record(const struct sl_mpm_table *table, const struct ac_table *body,
                         const struct ac_record *record)
{
    for (int word = 0; word < 4; word++) {
        const uint64_t exceptions = record->exception[word];

        if (exceptions != 0 && (uint64_t)record->first + record->rank[word] +
                                       (uint32_t)__builtin_popcountll(exceptions) >
                                   body->n_targets)
            return false;
    }
    return record->row < body->n_rows &&
           (record->report == MPM_NONE || record->report < table->n_groups);
}

/* The groups that end together become shorter, so that the list of them ends. */
static bool check_output(const struct sl_mpm_table *table, const struct ac_view *view,
                         const struct ac_output *output)
{
    if (output->literal >= output->end || output->end > table->n_literals)
        return false;
    if (output->suffix == MPM_NONE)
        return true;
    if (output->suffix >= table->n_groups)
        return false;

    const uint32_t shorter = view->outputs[output->suffix].literal;
    return shorter < table->n_literals &&
           view->literals[shorter].len < view->literals[output->literal].len;
}

/* An exception leads to a state without a row. */
static const char *ac_check(const struct sl_mpm_table *table)
{
    static const char wrong[] = "its automaton leads out of the table";
    const struct ac_table *body = (const struct ac_table *)mpm_at(table, table->body);

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || !check_parts(table, body))
        return wrong;

    const struct ac_view view = ac_view(table);
    if (!check_rows(view.rows, body->n_rows))
        return wrong;
    for (uint32_t i = 0; i < table->n_states - body->n_plain; i++)
        if (!check_record(table, body, &view.records[i]))
            return wrong;
    for (uint32_t i = 0; i < body->n_targets; i++)
        if (view.targets[i] < body->n_rows || view.targets[i] >= table->n_states)
            return wrong;
    for (uint32_t i = 0; i < table->n_groups; i++)
        if (!check_output(table, &view, &view.outputs[i]))
            return wrong;
    return NULL;
}

extern const struct sl_backend mpm_ac_cuda;
extern const struct sl_backend mpm_ac_scalar;
extern const struct sl_backend mpm_ac_tiled;

static const struct sl_backend *const backends[] = {&mpm_ac_cuda, &mpm_ac_scalar, &mpm_ac_tiled,
                                                    NULL};

static const struct sl_engine engine = {.name = "mpm.ac", .backends = backends};

extern const struct mpm_algorithm mpm_ac;
const struct mpm_algorithm mpm_ac = {
    .name = name, .build = ac_build, .check = ac_check, .engine = &engine};
