/* SPDX-License-Identifier: MIT */
/* Building and checking the Aho-Corasick automaton (thesis, section 2.4.2). Goto, failure and
 * output functions give one next state for each state and byte. The failure function is gone when
 * the build ends. */
#include <stdlib.h>
#include <string.h>

#include "ac.h"
#include "base/diag.h"
#include "base/mapped_file.h"
#include "base/pages.h"

static const char name[] = "ac";

/* All states are the trie's, breadth-first; a state's failure is always a state before it. */
struct ac_automaton {
    const struct mpm_set *set;
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

void ac_automaton_free(struct ac_automaton *automaton)
{
    if (automaton == NULL)
        return;
    mpm_trie_clear(&automaton->trie);
    free(automaton->failure);
    free(automaton->report);
    free(automaton->depth);
    free(automaton->rows);
    free(automaton->renumbered);
    free(automaton->records);
    free(automaton->targets);
    free(automaton->outputs);
    free(automaton);
}

/* A state's children have larger numbers than those of the states before it. So the states with a
 * child that has no row are the last ones. */
static uint32_t find_first_record(const struct ac_automaton *automaton)
{
    uint32_t state = 0;

    while (state < automaton->trie.n_states &&
           automaton->trie.first_child[state + 1] <= automaton->n_rows)
        state++;
    return state;
}

static bool take_memory(struct ac_automaton *automaton, uint32_t max_rows)
{
    const size_t n_states = automaton->trie.n_states;

    automaton->n_rows = n_states < max_rows ? (uint32_t)n_states : max_rows;
    automaton->first_record = find_first_record(automaton);
    automaton->failure = (uint32_t *)calloc(n_states, sizeof *automaton->failure);
    automaton->report = (uint32_t *)calloc(n_states, sizeof *automaton->report);
    automaton->depth = (uint16_t *)calloc(n_states, sizeof *automaton->depth);
    automaton->rows =
        (uint16_t *)calloc((size_t)automaton->n_rows << AC_ROW_SHIFT, sizeof *automaton->rows);
    automaton->renumbered = (uint16_t *)calloc(automaton->n_rows, sizeof *automaton->renumbered);
    automaton->records = (struct ac_record *)calloc(n_states - automaton->first_record + 1,
                                                    sizeof *automaton->records);
    automaton->outputs = (struct ac_output *)calloc(automaton->set->n_groups + (size_t)1,
                                                    sizeof *automaton->outputs);
    return automaton->failure != NULL && automaton->report != NULL && automaton->depth != NULL &&
           automaton->rows != NULL && automaton->renumbered != NULL && automaton->records != NULL &&
           automaton->outputs != NULL;
}

static const struct ac_record *find_record(const struct ac_automaton *automaton, uint32_t state)
{
    return state < automaton->first_record ? NULL
                                           : &automaton->records[state - automaton->first_record];
}

static uint32_t next_state(const struct ac_automaton *automaton, uint32_t state, uint8_t byte)
{
    const struct ac_record *record = find_record(automaton, state);

    if (record == NULL)
        return automaton->rows[state << AC_ROW_SHIFT | byte];
    if (ac_has_exception(record, byte))
        return automaton->targets[ac_exception(record, byte)];
    return automaton->rows[record->row << AC_ROW_SHIFT | byte];
}

/* Sets what the state reports, and where its children lie and fall back to. */
static void link_state(struct ac_automaton *automaton, uint32_t state)
{
    const struct mpm_set *set = automaton->set;
    const struct mpm_trie *trie = &automaton->trie;
    const uint32_t failure = automaton->failure[state];
    const uint32_t inherited = state == 0 ? MPM_NONE : automaton->report[failure];
    const uint32_t group = trie->group[state];

    automaton->report[state] = group != MPM_NONE ? group : inherited;
    if (group != MPM_NONE)
        automaton->outputs[group] =
            (struct ac_output){.literal = set->keys[set->groups[group]].place,
                               .end = set->keys[set->groups[group + 1] - 1].place + 1,
                               .suffix = inherited};
    for (uint32_t child = trie->first_child[state]; child < trie->first_child[state + 1]; child++) {
        automaton->depth[child] = (uint16_t)(automaton->depth[state] + 1);
        automaton->failure[child] =
            state == 0 ? 0 : next_state(automaton, failure, trie->byte[child]);
    }
}

/* The row of the failure, but for the children. Both cases of a letter lead to the same child. */
static void make_row(struct ac_automaton *automaton, uint32_t state)
{
    const struct mpm_trie *trie = &automaton->trie;
    uint16_t *row = &automaton->rows[state << AC_ROW_SHIFT];

    if (state != 0)
        memcpy(row, &automaton->rows[automaton->failure[state] << AC_ROW_SHIFT], 256 * sizeof *row);
    for (uint32_t child = trie->first_child[state];
         child < trie->first_child[state + 1] && child < automaton->n_rows; child++) {
        const uint8_t byte = trie->byte[child];

        row[byte] = (uint16_t)child;
        if (byte >= 'a' && byte <= 'z')
            row[byte - 'a' + 'A'] = (uint16_t)child;
    }
}

/* The failure's exceptions, but for the children without a row. A child with a row never meets one
 * of them. The exception's target is a suffix of the child, so it is a state before and has a row
 * too. */
static void collect_exceptions(const struct ac_automaton *automaton, uint32_t state,
                               struct ac_record *record, uint32_t target[256])
{
    const struct mpm_trie *trie = &automaton->trie;
    const struct ac_record *inherited = find_record(automaton, automaton->failure[state]);

    for (int word = 0; inherited != NULL && word < 4; word++) {
        const uint32_t *from = &automaton->targets[inherited->first + inherited->rank[word]];

        record->exception[word] = inherited->exception[word];
        for (uint64_t rest = record->exception[word]; rest != 0; rest &= rest - 1)
            target[word * 64 + __builtin_ctzll(rest)] = *from++;
    }
    for (uint32_t child = trie->first_child[state]; child < trie->first_child[state + 1]; child++) {
        const uint8_t byte = trie->byte[child];

        if (child < automaton->n_rows)
            continue;
        record->exception[byte / 64] |= UINT64_C(1) << byte % 64;
        target[byte] = child;
    }
}

static bool reserve_targets(struct ac_automaton *automaton)
{
    if (automaton->n_targets + 256 <= automaton->max_targets)
        return true;
    if (automaton->max_targets > UINT32_MAX / 2 - 65536)
        return false;

    const uint32_t max = automaton->max_targets * 2 + 65536;
    uint32_t *targets = (uint32_t *)realloc(automaton->targets, max * sizeof *targets);
    if (targets == NULL)
        return false;
    automaton->targets = targets;
    automaton->max_targets = max;
    return true;
}

static bool make_record(struct ac_automaton *automaton, uint32_t state)
{
    struct ac_record *record = &automaton->records[state - automaton->first_record];
    const uint32_t failure = automaton->failure[state];
    uint32_t target[256];

    if (!reserve_targets(automaton))
        return false;
    collect_exceptions(automaton, state, record, target);
    record->first = automaton->n_targets;
    if (state < automaton->n_rows)
        record->row = state;
    else
        record->row = failure < automaton->n_rows ? failure : find_record(automaton, failure)->row;
    for (int word = 0; word < 4; word++) {
        record->rank[word] = (uint8_t)(automaton->n_targets - record->first);
        for (uint64_t rest = record->exception[word]; rest != 0; rest &= rest - 1)
            automaton->targets[automaton->n_targets++] = target[word * 64 + __builtin_ctzll(rest)];
    }
    return true;
}

static bool make_states(struct ac_automaton *automaton)
{
    for (uint32_t state = 0; state < automaton->trie.n_states; state++) {
        link_state(automaton, state);
        if (state < automaton->n_rows)
            make_row(automaton, state);
        if (state >= automaton->first_record && !make_record(automaton, state))
            return false;
    }
    return true;
}

static bool is_plain(const struct ac_automaton *automaton, uint32_t state)
{
    const struct ac_record *record = find_record(automaton, state);

    if (automaton->report[state] != MPM_NONE)
        return false;
    return record == NULL || (record->exception[0] | record->exception[1] | record->exception[2] |
                              record->exception[3]) == 0;
}

/* Plain states first. The root is plain and stays 0. */
static void renumber(struct ac_automaton *automaton)
{
    uint32_t plain = 0;
    uint32_t marked = 0;

    for (uint32_t state = 0; state < automaton->n_rows; state++)
        automaton->n_plain += is_plain(automaton, state);
    marked = automaton->n_plain;
    for (uint32_t state = 0; state < automaton->n_rows; state++)
        automaton->renumbered[state] = (uint16_t)(is_plain(automaton, state) ? plain++ : marked++);
}

static void write_record(const struct ac_automaton *automaton, uint32_t state, struct ac_record *to)
{
    const struct ac_record *from = find_record(automaton, state);

    if (from != NULL)
        *to = *from;
    to->row = automaton->renumbered[from != NULL ? from->row : state];
    to->report = automaton->report[state];
}

/* Gives the memory back that holds the rows and records of states up to `end`. */
static void discard_states(const struct ac_automaton *automaton, uint32_t begin, uint32_t end)
{
    const uint32_t n_rows = automaton->n_rows, first = automaton->first_record;
    const uint32_t row = begin < n_rows ? begin : n_rows, rows_end = end < n_rows ? end : n_rows;
    const uint32_t record = begin > first ? begin : first, records_end = end > first ? end : first;

    pages_discard(&automaton->rows[(size_t)row << AC_ROW_SHIFT],
                  ((size_t)(rows_end - row) << AC_ROW_SHIFT) * sizeof *automaton->rows);
    pages_discard(&automaton->records[record - first],
                  (records_end - record) * sizeof *automaton->records);
}

static void write_states(const struct ac_automaton *automaton, struct ac_table *body)
{
    enum { STEP = 1 << 10 };
    uint16_t *rows = (uint16_t *)((uint8_t *)body + body->rows);
    struct ac_record *records = (struct ac_record *)((uint8_t *)body + body->records);
    uint16_t *depths = (uint16_t *)((uint8_t *)body + body->depths);

    for (uint32_t state = 0; state < automaton->trie.n_states; state++) {
        const bool has_row = state < automaton->n_rows;
        const uint32_t number = has_row ? automaton->renumbered[state] : state;

        depths[number] = automaton->depth[state];
        for (uint32_t byte = 0; has_row && byte < 256; byte++)
            rows[number << AC_ROW_SHIFT | byte] =
                automaton->renumbered[automaton->rows[state << AC_ROW_SHIFT | byte]];
        if (number >= automaton->n_plain)
            write_record(automaton, state, &records[number - automaton->n_plain]);
        if (state % STEP == STEP - 1)
            discard_states(automaton, state + 1 - STEP, state + 1);
    }
}

/* The body's first struct; returns the bytes of all of it. */
static uint64_t lay_out(const struct ac_automaton *automaton, struct ac_table *head)
{
    const uint64_t n_states = automaton->trie.n_states;
    uint64_t end = sizeof *head;

    *head = (struct ac_table){.n_rows = automaton->n_rows,
                              .n_plain = automaton->n_plain,
                              .n_targets = automaton->n_targets,
                              .n_states = automaton->trie.n_states,
                              .n_groups = automaton->set->n_groups};
    head->rows =
        mpm_place(&end, ((uint64_t)head->n_rows << AC_ROW_SHIFT) * sizeof *automaton->rows);
    head->records = mpm_place(&end, (n_states - head->n_plain) * sizeof *automaton->records);
    head->targets = mpm_place(&end, head->n_targets * (uint64_t)sizeof *automaton->targets);
    head->outputs =
        mpm_place(&end, automaton->set->n_groups * (uint64_t)sizeof *automaton->outputs);
    head->depths = mpm_place(&end, n_states * sizeof *automaton->depth);
    return end;
}

uint64_t ac_automaton_len(const struct ac_automaton *automaton)
{
    struct ac_table head;

    return lay_out(automaton, &head);
}

void ac_automaton_write(const struct ac_automaton *automaton, struct ac_table *body)
{
    (void)lay_out(automaton, body);
    write_states(automaton, body);
    if (automaton->n_targets != 0)
        memcpy((uint8_t *)body + body->targets, automaton->targets,
               automaton->n_targets * sizeof *automaton->targets);
    memcpy((uint8_t *)body + body->outputs, automaton->outputs,
           automaton->set->n_groups * sizeof *automaton->outputs);
}

static void no_memory(const struct mpm_set *set, struct sl_diag *diag)
{
    (void)diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an automaton of %u states",
                   set->n_states);
}

struct ac_automaton *ac_automaton_create(const struct mpm_set *set, uint32_t max_rows,
                                         struct sl_diag *diag)
{
    struct ac_automaton *automaton = (struct ac_automaton *)calloc(1, sizeof *automaton);

    if (automaton != NULL) {
        automaton->set = set;
        if (mpm_trie_init(&automaton->trie, set, NULL) == SL_OK &&
            take_memory(automaton, max_rows) && make_states(automaton)) {
            renumber(automaton);
            return automaton;
        }
    }
    ac_automaton_free(automaton);
    no_memory(set, diag);
    return NULL;
}

static enum sl_status ac_build(struct sl_mpm_table **table, const struct mpm_set *set,
                               const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct ac_automaton *automaton = ac_automaton_create(set, AC_ROWS_MAX, diag);

    (void)config;
    if (automaton == NULL)
        return SL_ENOMEM;

    struct sl_mpm_table *made =
        mpm_table_create(set, name, set->n_states, ac_automaton_len(automaton));
    if (made == NULL)
        no_memory(set, diag);
    else
        ac_automaton_write(automaton, (struct ac_table *)((uint8_t *)made + made->body));
    ac_automaton_free(automaton);
    if (made == NULL)
        return SL_ENOMEM;
    *table = made;
    return SL_OK;
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool part_fits(const struct sl_mpm_table *table, uint64_t at, uint64_t part, uint64_t n,
                      size_t size)
{
    return part <= table->head.len && mpm_part_fits(table, at + part, n, size);
}

static bool check_parts(const struct sl_mpm_table *table, uint64_t at, const struct ac_table *body)
{
    return body->n_states == table->n_states && body->n_rows <= AC_ROWS_MAX &&
           body->n_rows <= body->n_states && body->n_plain >= 1 && body->n_plain <= body->n_rows &&
           part_fits(table, at, body->rows, body->n_rows, sizeof(uint16_t) << AC_ROW_SHIFT) &&
           part_fits(table, at, body->records, body->n_states - body->n_plain,
                     sizeof(struct ac_record)) &&
           part_fits(table, at, body->targets, body->n_targets, sizeof(uint32_t)) &&
           part_fits(table, at, body->outputs, body->n_groups, sizeof(struct ac_output)) &&
           part_fits(table, at, body->depths, body->n_states, sizeof(uint16_t));
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

static bool check_record(const struct ac_table *body, const struct ac_record *record)
{
    for (int word = 0; word < 4; word++) {
        const uint64_t exceptions = record->exception[word];

        if (exceptions != 0 && (uint64_t)record->first + record->rank[word] +
                                       (uint32_t)__builtin_popcountll(exceptions) >
                                   body->n_targets)
            return false;
    }
    return record->row < body->n_rows &&
           (record->report == MPM_NONE || record->report < body->n_groups);
}

/* Pages of a mapped file leave memory again step by step: records are most of a large table. */
static bool check_records(const struct ac_table *body, const struct ac_record *records)
{
    enum { STEP = 1 << 14 };
    const uint32_t n = body->n_states - body->n_plain;

    for (uint32_t i = 0; i < n; i++) {
        if (!check_record(body, &records[i]))
            return false;
        if (i % STEP == STEP - 1)
            mapped_file_discard(&records[i + 1 - STEP], STEP * sizeof *records);
    }
    return true;
}

/* The groups that end together become shorter, so that the list of them ends. */
static bool check_output(const struct sl_mpm_table *table, const struct ac_table *body,
                         const struct ac_view *view, const struct ac_output *output)
{
    if (output->literal >= output->end || output->end > table->n_literals)
        return false;
    if (output->suffix == MPM_NONE)
        return true;
    if (output->suffix >= body->n_groups)
        return false;

    const uint32_t shorter = view->outputs[output->suffix].literal;
    return shorter < table->n_literals &&
           view->literals[shorter].len < view->literals[output->literal].len;
}

/* An exception leads to a state without a row. */
const char *ac_check_at(const struct sl_mpm_table *table, uint64_t at)
{
    static const char wrong[] = "its automaton leads out of the table";

    if (!mpm_part_fits(table, at, 1, sizeof(struct ac_table)))
        return wrong;

    const struct ac_table *body = (const struct ac_table *)mpm_at(table, table->body + at);
    if (!check_parts(table, at, body))
        return wrong;

    const struct ac_view view = ac_view_at(table, at);
    if (!check_rows(view.rows, body->n_rows) || !check_records(body, view.records))
        return wrong;
    for (uint32_t i = 0; i < body->n_targets; i++)
        if (view.targets[i] < body->n_rows || view.targets[i] >= body->n_states)
            return wrong;
    for (uint32_t i = 0; i < body->n_groups; i++)
        if (!check_output(table, body, &view, &view.outputs[i]))
            return wrong;
    return NULL;
}

static const char *ac_check(const struct sl_mpm_table *table)
{
    return ac_check_at(table, 0);
}

extern const struct sl_backend mpm_ac_cuda;
extern const struct sl_backend mpm_ac_scalar;
extern const struct sl_backend mpm_ac_tiled;

static const struct sl_backend *const backends[] = {&mpm_ac_cuda, &mpm_ac_scalar, &mpm_ac_tiled,
                                                    NULL};

static const struct sl_engine engine = {.name = "mpm.ac", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_ac;
const struct mpm_algorithm mpm_ac = {
    .name = name, .build = ac_build, .check = ac_check, .engine = &engine};
