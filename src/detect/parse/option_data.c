/* SPDX-License-Identifier: MIT */
/* The options on sets of data. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "detect/data/data_file.h"
#include "detect/data/rule_data.h"
#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum { NAME_MAX_LEN = 63, REPUTATION_MAX = 65535, FILE_MAX_LEN = 1024 };

#define MEMORY_DEFAULT (UINT64_C(100) << 20)
#define MEMORY_MAX (UINT64_C(16) << 30)

/* The words of an option on its set; `at` is NULL where one is absent. */
struct words {
    struct rule_text name, type, load, save, state, memcap, hashsize;
    struct rule_text format, value_key, array_key, context_key, remove_key, match;
};

/* Reads the words behind the command. */
static enum sl_status read_words(struct rule_parser *parser, struct rule_text rest,
                                 struct words *words)
{
    const struct {
        const char *name;
        struct rule_text *word;
    } names[] = {
        {"type", &words->type},
        {"load", &words->load},
        {"save", &words->save},
        {"state", &words->state},
        {"memcap", &words->memcap},
        {"hashsize", &words->hashsize},
        {"format", &words->format},
        {"value_key", &words->value_key},
        {"array_key", &words->array_key},
        {"context_key", &words->context_key},
        {"remove_key", &words->remove_key},
        {"match", &words->match},
    };
    struct rule_text piece, name;

    while (rule_text_split(&rest, ',', &piece)) {
        const struct rule_text whole = piece;
        size_t i = 0;

        rule_text_split(&piece, ' ', &name);
        while (i < sizeof names / sizeof names[0] && !rule_text_is(name, names[i].name))
            i++;
        piece = rule_trim(piece);
        if (i == sizeof names / sizeof names[0] || piece.len > FILE_MAX_LEN ||
            (piece.len == 0) != (names[i].word == &words->remove_key))
            return rule_bad_at(parser, whole.at, "a set of data does not know '%.*s'",
                               RULE_QUOTE(whole));
        if (names[i].word->at != NULL)
            return rule_bad_at(parser, whole.at, "a set of data has more than one %s",
                               names[i].name);
        *names[i].word = piece;
    }
    return SL_OK;
}

/* ---- settings of a set ----------------------------------------------------------------------- */

static enum sl_status read_type(struct rule_parser *parser, struct rule_text word,
                                enum data_type *type)
{
    static const char *const types[] = {[DATA_STRING] = "string",
                                        [DATA_MD5] = "md5",
                                        [DATA_SHA256] = "sha256",
                                        [DATA_IPV4] = "ipv4",
                                        [DATA_IP] = "ip"};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (rule_text_is(word, types[i])) {
            *type = (enum data_type)i;
            return SL_OK;
        }
    return rule_bad_at(parser, word.at, "type is '%.*s', not string, md5, sha256, ipv4 or ip",
                       RULE_QUOTE(word));
}

/* A number of bytes, with kb, mb or gb behind it, or nothing. */
static enum sl_status read_memcap(struct rule_parser *parser, struct rule_text word,
                                  uint64_t *memory)
{
    static const char *const units[] = {"b", "kb", "mb", "gb"};
    const struct rule_text whole = word;
    struct rule_text unit = {word.at + word.len, 0};
    int64_t number = 0;
    uint32_t shift = 0;

    while (word.len != 0 && (word.at[word.len - 1] < '0' || word.at[word.len - 1] > '9'))
        unit = (struct rule_text){word.at + --word.len, unit.len + 1};
    unit = rule_trim(unit);
    while (unit.len != 0 && shift < 4 && !rule_text_is(unit, units[shift]))
        shift++;
    if (shift == 4 || !rule_text_number(word, 1, (int64_t)(MEMORY_MAX >> 10 * shift), &number))
        return rule_bad_at(parser, whole.at, "memcap is '%.*s', not 1 to %llu bytes, kb, mb or gb",
                           RULE_QUOTE(whole), (unsigned long long)MEMORY_MAX);
    *memory = (uint64_t)number << 10 * shift;
    return SL_OK;
}

/* A name below the folder of data: a rule of others writes nowhere else. */
static bool is_below(struct rule_text path)
{
    struct rule_text part;

    if (path.at[0] == '/' || memchr(path.at, '\0', path.len) != NULL)
        return false;
    while (rule_text_split(&path, '/', &part))
        if (rule_text_is(part, ".."))
            return false;
    return true;
}

/* `folder` and a name in it, or the name where it is absolute. NULL: no memory. */
static const char *path_in(struct rule_parser *parser, struct rule_text folder,
                           struct rule_text name)
{
    const bool whole = name.at[0] == '/';
    char *path = rule_arena_alloc(&parser->rules->shared, folder.len + name.len + 1);

    if (path == NULL)
        return NULL;
    if (!whole)
        memcpy(path, folder.at, folder.len);
    memcpy(path + (whole ? 0 : folder.len), name.at, name.len);
    return path;
}

/* The folder of the rule file, with a slash behind it, or nothing. */
static struct rule_text rule_folder(const struct rule_parser *parser)
{
    const char *slash = strrchr(parser->file, '/');

    return (struct rule_text){parser->file, slash != NULL ? (size_t)(slash + 1 - parser->file) : 0};
}

static enum sl_status read_files(struct rule_parser *parser, const struct words *words,
                                 struct rule_dataset *dataset)
{
    const char *folder = parser->rules->data_folder;
    const struct rule_text saved = words->state.at != NULL ? words->state : words->save;

    if (words->state.at != NULL && (words->load.at != NULL || words->save.at != NULL))
        return rule_bad_at(parser, words->state.at, "a set of data has state and load or save");
    if (saved.at != NULL && !is_below(saved))
        return rule_bad_at(parser, saved.at, "'%.*s' is no file below the folder of data",
                           RULE_QUOTE(saved));
    dataset->state = words->state.at != NULL;
    if (words->load.at != NULL) {
        dataset->load = path_in(parser, rule_folder(parser), words->load);
        if (dataset->load == NULL)
            return rule_no_memory(parser);
    }
    dataset->unsaved = saved.at != NULL && folder == NULL;
    if (saved.at == NULL || folder == NULL)
        return SL_OK;
    dataset->save = path_in(parser, (struct rule_text){folder, strlen(folder)}, saved);
    if (dataset->save == NULL)
        return rule_no_memory(parser);
    if (dataset->state)
        dataset->load = dataset->save;
    return SL_OK;
}

/* A key, kept with the rules. NULL: there is none, or no memory. */
static const char *kept(struct rule_parser *parser, struct rule_text key)
{
    return key.at != NULL ? rule_arena_text(&parser->rules->shared, key.at, key.len) : NULL;
}

static enum sl_status read_form(struct rule_parser *parser, const struct words *words,
                                struct data_form *form)
{
    static const char *const formats[] = {
        [DATA_LINES] = "csv", [DATA_JSON] = "json", [DATA_JSON_LINES] = "ndjson"};
    const struct rule_text word = words->format;
    size_t i = 0;

    while (i < sizeof formats / sizeof formats[0] && word.at != NULL &&
           !rule_text_is(word, formats[i]))
        i++;
    if (i == sizeof formats / sizeof formats[0])
        return rule_bad_at(parser, word.at, "format is '%.*s', not csv, json or ndjson",
                           RULE_QUOTE(word));
    form->format = (enum data_format)i;
    if (form->format == DATA_LINES)
        return SL_OK;
    if (words->value_key.at == NULL || words->context_key.at == NULL || words->load.at == NULL)
        return rule_bad_at(parser, word.at, "JSON comes without load, value_key or context_key");
    if (words->save.at != NULL)
        return rule_bad_at(parser, word.at, "JSON is not saved");
    form->value = kept(parser, words->value_key);
    form->array = form->format == DATA_JSON ? kept(parser, words->array_key) : NULL;
    return form->value != NULL && (form->array == NULL) ==
                                      (form->format != DATA_JSON || words->array_key.at == NULL)
               ? SL_OK
               : rule_no_memory(parser);
}

static enum sl_status read_set(struct rule_parser *parser, const struct words *words,
                               struct rule_dataset *dataset)
{
    enum sl_status status;

    dataset->set.memory_max = MEMORY_DEFAULT;
    if (words->type.at == NULL)
        return rule_bad_at(parser, words->name.at, "the set of data '%.*s' has no type yet",
                           RULE_QUOTE(words->name));
    status = read_type(parser, words->type, &dataset->set.type);
    if (status == SL_OK && words->memcap.at != NULL)
        status = read_memcap(parser, words->memcap, &dataset->set.memory_max);
    if (status == SL_OK)
        status = read_form(parser, words, &dataset->form);
    return status == SL_OK ? read_files(parser, words, dataset) : status;
}

/* ---- the set of an option -------------------------------------------------------------------- */

static enum sl_status add_set(struct rule_parser *parser, struct rule_dataset set, const char *name,
                              struct rule_dataset **dataset)
{
    struct sl_rules *rules = parser->rules;

    set.name = rule_arena_text(&rules->shared, name, strlen(name));
    set.key = state_key(STATE_DATA, name, strlen(name));
    set.next = rules->dataset;
    *dataset = rule_arena_copy(&rules->shared, &set, sizeof set);
    if (set.name == NULL || *dataset == NULL ||
        !rule_map_put(&rules->datasets, (*dataset)->name, strlen(name), *dataset))
        return rule_no_memory(parser);
    rules->dataset = *dataset;
    return SL_OK;
}

static bool same_text(const char *left, const char *right)
{
    return left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
}

/* A set that was named before is the same, as far as an option says what it is. */
static enum sl_status compare_sets(struct rule_parser *parser, const struct words *words,
                                   const struct rule_dataset *known)
{
    struct rule_dataset again = {.load = NULL};

    if (words->type.at == NULL && words->load.at == NULL && words->save.at == NULL &&
        words->state.at == NULL)
        return SL_OK;

    const enum sl_status status = read_set(parser, words, &again);

    if (status != SL_OK)
        return status;
    if (again.set.type != known->set.type || !same_text(again.load, known->load) ||
        !same_text(again.save, known->save) || again.form.format != known->form.format ||
        !same_text(again.form.value, known->form.value) ||
        !same_text(again.form.array, known->form.array))
        return rule_bad_at(parser, words->name.at,
                           "the set of data '%.*s' has another type or file in a rule before",
                           RULE_QUOTE(words->name));
    return SL_OK;
}

/* Reads the file that a set begins with, once. */
static enum sl_status load_set(struct rule_parser *parser, struct rule_dataset *dataset)
{
    struct sl_diag why = {0};

    if (dataset->failed)
        return rule_bad(parser, "the set of data '%s' was not loaded", dataset->name);
    if (dataset->loaded || dataset->load == NULL)
        return SL_OK;
    dataset->loaded = true;

    const enum sl_status status =
        data_file_read(&dataset->set, &dataset->form, dataset->load, dataset->state, &why);

    if (status == SL_OK || status == SL_ENOMEM)
        return status == SL_OK ? SL_OK : rule_no_memory(parser);
    dataset->failed = true;
    return why.line != 0 ? rule_bad(parser, "%s:%u: %s", why.file, why.line, why.text)
                         : rule_bad(parser, "%s: %s", why.file, why.text);
}

/* The set that an option names. */
static enum sl_status find_set(struct rule_parser *parser, const struct words *words,
                               struct rule_dataset **dataset)
{
    char name[NAME_MAX_LEN + 1] = {0};
    enum sl_status status;

    if (parser->helps) /* the first rule that names a set says what it is */
        return rule_skip(parser, "", parser->option.name);
    if (words->name.len == 0 || words->name.len > NAME_MAX_LEN)
        return rule_bad(parser, "a set of data has no name of 1 to %d bytes", NAME_MAX_LEN);
    for (size_t i = 0; i < words->name.len; i++) {
        const char c = words->name.at[i];

        name[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    *dataset = rule_map_get(&parser->rules->datasets, name, words->name.len);
    if (*dataset != NULL) {
        status = compare_sets(parser, words, *dataset);
    } else {
        struct rule_dataset set = {.load = NULL};

        status = read_set(parser, words, &set);
        if (status == SL_OK)
            status = add_set(parser, set, name, dataset);
    }
    if (status != SL_OK || *dataset == NULL)
        return status;
    /* The files of a rule that is skipped may not be there. */
    return parser->lacks.n == 0 ? load_set(parser, *dataset) : SL_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool changes(enum rule_data_act act)
{
    return act == DATA_SET || act == DATA_UNSET;
}

static enum sl_status add_step(struct rule_parser *parser, const struct words *words,
                               struct rule_data data)
{
    const enum sl_status status = find_set(parser, words, &data.dataset);
    struct rule_payload *step;

    if (status != SL_OK || data.dataset == NULL)
        return status;
    if (words->match.at != NULL && (!rule_text_is(words->match, "subdomain") ||
                                    data.dataset->set.type != DATA_STRING || changes(data.act)))
        return rule_bad_at(parser, words->match.at,
                           "match is subdomain, and looks strings up with isset or isnotset");
    if (data.dataset->form.format != DATA_LINES && changes(data.act))
        return rule_bad_at(parser, words->name.at, "a set of JSON is not changed");
    data.by_parents = words->match.at != NULL;
    if (parser->section.section == 0 && !parser->section.decoded)
        return rule_bad_at(parser, parser->name, "%.*s does not stand behind a buffer",
                           RULE_QUOTE(parser->option.name));
    step = rule_payload_add(parser, RULE_DATA);
    if (step == NULL)
        return rule_no_memory(parser);
    step->data = rule_arena_copy(parser->arena, &data, sizeof data);
    return step->data != NULL ? SL_OK : rule_no_memory(parser);
}

/* "isset,NAME,type string,load FILE" */
enum sl_status rule_read_dataset(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *word;
        enum rule_data_act act;
    } acts[] = {{"isset", DATA_IS_SET},
                {"isnotset", DATA_IS_NOT_SET},
                {"set", DATA_SET},
                {"unset", DATA_UNSET}};
    struct words words = {.name = {NULL, 0}};
    struct rule_text rest = value, word;
    size_t i = 0;

    rule_text_split(&rest, ',', &word);
    while (i < sizeof acts / sizeof acts[0] && !rule_text_is(word, acts[i].word))
        i++;
    if (i == sizeof acts / sizeof acts[0])
        return rule_bad_at(parser, word.at, "dataset is '%.*s', not isset, isnotset, set or unset",
                           RULE_QUOTE(word));
    rule_text_split(&rest, ',', &words.name);

    const enum sl_status status = read_words(parser, rest, &words);

    return status == SL_OK ? add_step(parser, &words, (struct rule_data){.act = acts[i].act})
                           : status;
}

/* "NAME,>,200,type string,load FILE" */
enum sl_status rule_read_datarep(struct rule_parser *parser, struct rule_text value)
{
    struct words words = {.name = {NULL, 0}};
    struct rule_text rest = value, relation, number;
    struct rule_data data;
    int64_t reputation = 0;

    rule_text_split(&rest, ',', &words.name);
    if (!rule_text_split(&rest, ',', &relation) || relation.len == 0 ||
        strchr("<>=", relation.at[0]) == NULL || relation.len != 1u + (relation.at[0] == '=') ||
        relation.at[relation.len - 1] != relation.at[0])
        return rule_bad(parser, "datarep has no <, > or == behind the name");
    if (!rule_text_split(&rest, ',', &number) ||
        !rule_text_number(number, 0, REPUTATION_MAX, &reputation))
        return rule_bad(parser, "datarep has no reputation of 0 to %d", REPUTATION_MAX);
    data = (struct rule_data){.act = relation.at[0] == '<'   ? DATA_LESS
                                     : relation.at[0] == '>' ? DATA_GREATER
                                                             : DATA_EQUAL,
                              .reputation = (uint16_t)reputation};

    enum sl_status status = read_words(parser, rest, &words);

    if (status == SL_OK)
        status = add_step(parser, &words, data);
    if (status != SL_OK)
        return status;

    const struct data_set *set = &parser->payload[parser->n_payloads - 1].data->dataset->set;

    return set->n == 0 || set->has_reputations
               ? SL_OK
               : rule_bad(parser, "the set of data '%.*s' has no reputations",
                          RULE_QUOTE(words.name));
}

enum sl_status rule_data_list(struct rule_parser *parser, struct rule_text file, const char *type,
                              bool negated)
{
    const struct words words = {.name = file, .type = {type, strlen(type)}, .load = file};

    return add_step(parser, &words,
                    (struct rule_data){.act = negated ? DATA_IS_NOT_SET : DATA_IS_SET});
}
