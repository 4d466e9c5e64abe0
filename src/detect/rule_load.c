/* SPDX-License-Identifier: MIT */
/* Loading: rules from a text, a file, or the files of a folder or a pattern into the set. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "detect/parse/classification.h"
#include "detect/parse/filter_config.h"
#include "detect/parse/rule_config.h"
#include "detect/parse/rule_lex.h"
#include "detect/parse/rule_parse.h"
#include "rule_block.h"
#include "rule_set.h"

enum { FILE_MAX = 256 << 20 /* bytes of a file of rules */ };

/* The state of a load. */
struct loader {
    struct sl_rules *rules;
    struct rule_parser parser;
    const char *file; /* the set's copy */
    uint32_t line;
    struct rule_lexer lexer;
    struct sl_diag diag; /* why a line does not load */
    struct rule_block block;
};

static enum sl_status add_note(struct loader *loader, struct rule_notes *notes, const char *text,
                               struct rule_place place)
{
    struct rule_note *grown = rule_grow(notes->note, &notes->cap, notes->n, sizeof *grown);

    if (grown == NULL)
        return SL_ENOMEM;
    notes->note = grown;
    if (text == NULL)
        return SL_ENOMEM;
    notes->note[notes->n++] = (struct rule_note){loader->file, text, place.line, place.column};
    return SL_OK;
}

/* Counts a rule that is wrong at this byte. */
static enum sl_status count_bad(struct loader *loader, const char *at)
{
    struct sl_rules *rules = loader->rules;
    const char *reason = loader->diag.text;

    rules->count.bad++;
    return add_note(loader, &rules->bad, rule_arena_text(&rules->shared, reason, strlen(reason)),
                    rule_lexer_place(&loader->lexer, loader->line, at));
}

static struct sl_rules_lack *add_skip(struct sl_rules *rules, const char *keyword)
{
    const size_t len = strlen(keyword);
    struct sl_rules_lack *skip = rule_arena_alloc(&rules->shared, sizeof *skip);
    struct sl_rules_lack **grown =
        rule_grow(rules->skip, &rules->cap_skips, rules->n_skips, sizeof(void *));

    if (grown == NULL)
        return NULL;
    rules->skip = grown;
    if (skip == NULL)
        return NULL;
    skip->keyword = rule_arena_text(&rules->shared, keyword, len);
    if (skip->keyword == NULL || !rule_map_put(&rules->skips, skip->keyword, len, skip))
        return NULL;
    rules->skip[rules->n_skips++] = skip;
    return skip;
}

/* The keywords with commas between them, one text for all rules that have them. NULL: no memory. */
static const char *join(struct loader *loader, const struct rule_strings *lacks)
{
    struct sl_rules *rules = loader->rules;
    char *const text = loader->diag.text;
    size_t len = 0;

    for (size_t i = 0; i < lacks->n && len < sizeof loader->diag.text; i++)
        len += (size_t)snprintf(text + len, sizeof loader->diag.text - len, "%s%s",
                                i == 0 ? "" : ", ", lacks->text[i]);
    len = strlen(text);

    char *known = rule_map_get(&rules->lacks, text, len);

    if (known != NULL)
        return known;
    known = rule_arena_text(&rules->shared, text, len);
    return known != NULL && rule_map_put(&rules->lacks, known, len, known) ? known : NULL;
}

static enum sl_status count_skipped(struct loader *loader)
{
    const struct rule_strings *lacks = &loader->parser.lacks;
    struct sl_rules *rules = loader->rules;

    for (size_t i = 0; i < lacks->n; i++) {
        struct sl_rules_lack *skip =
            rule_map_get(&rules->skips, lacks->text[i], strlen(lacks->text[i]));

        if (skip == NULL)
            skip = add_skip(rules, lacks->text[i]);
        if (skip == NULL)
            return SL_ENOMEM;
        skip->rules++;
        skip->alone += lacks->n == 1;
    }
    rules->count.skipped++;
    return add_note(loader, &rules->skipped, join(loader, lacks),
                    (struct rule_place){loader->line, 0});
}

/* Adds a rule, and sets *kept, unless the set has one of its gid and sid and of no lower rev. */
static enum sl_status add_rule(struct loader *loader, struct rule *rule, bool *kept)
{
    struct sl_rules *rules = loader->rules;
    struct rule *before = rule_map_get(&rules->by_sid, rule->key, sizeof rule->key);

    *kept = before == NULL || before->signature.rev < rule->signature.rev;
    rules->count.duplicates += before != NULL;
    if (!*kept)
        return SL_OK;

    struct rule **grown = rule_grow(rules->rule, &rules->cap_rules, rules->n_rules, sizeof(void *));

    if (grown == NULL)
        return SL_ENOMEM;
    rules->rule = grown;
    if (!rule_map_put(&rules->by_sid, rule->key, sizeof rule->key, rule))
        return SL_ENOMEM;
    if (before != NULL) {
        before->replaced = true;
        rules->n_replaced++;
        rules->count.loaded--;
        rules->count.without_literal -= before->literal == NULL;
    }
    rules->count.loaded++;
    rules->count.without_literal += rule->literal == NULL;
    rule->signature.file = loader->file;
    rule->signature.line = loader->line;
    rules->rule[rules->n_rules++] = rule;
    return SL_OK;
}

/* Counts a rule that was loaded, and whose class is not known. */
static enum sl_status check_class(struct loader *loader, struct rule_text class)
{
    struct sl_rules *rules = loader->rules;

    if (class.len == 0 || rule_class_find(rules, class) != NULL)
        return SL_OK;
    rules->count.unknown_class++;
    return add_note(loader, &rules->unclassed, rule_arena_text(&rules->shared, class.at, class.len),
                    rule_lexer_place(&loader->lexer, loader->line, class.at));
}

static enum sl_status load_rule(struct loader *loader, struct rule_text line)
{
    struct rule_arena *arena = &loader->rules->arena;
    const struct rule_mark mark = rule_arena_mark(arena);
    const char *const zero = memchr(line.at, '\0', line.len);
    struct rule *rule;
    bool kept = false;

    loader->rules->count.lines++;
    if (zero != NULL) { /* a text would end there */
        (void)diag_set(&loader->diag, SL_EFORMAT, NULL, 0, "a NUL byte");
        return count_bad(loader, zero);
    }
    enum sl_status status = rule_parse(&loader->parser, line, &rule);
    if (status == SL_OK)
        status = add_rule(loader, rule, &kept);
    if (status == SL_OK && kept)
        status = check_class(loader, loader->parser.class);
    else if (status == SL_EFORMAT)
        status = count_bad(loader, loader->parser.where);
    else if (status == SL_EUNSUPPORTED)
        status = count_skipped(loader);
    if (!kept)
        rule_arena_release(arena, mark);
    return status;
}

/* Takes a rule that was read beside others. */
static enum sl_status take_rule(struct loader *loader, const struct rule_read *read)
{
    bool kept;

    loader->rules->count.lines++;
    const enum sl_status status = add_rule(loader, read->rule, &kept);
    return status == SL_OK && kept ? check_class(loader, read->class) : status;
}

/* Loads the rules of the block, which may be full or not, in their order. */
static enum sl_status load_block(struct loader *loader)
{
    struct rule_block *block = &loader->block;
    const uint32_t line = loader->line;
    enum sl_status status = SL_OK;

    rule_block_read(block, loader->rules);
    for (size_t i = 0; i < block->n && status == SL_OK; i++) {
        const struct rule_read *read = &block->rule[i];

        loader->line = read->number;
        status = read->rule != NULL ? take_rule(loader, read) : load_rule(loader, read->line);
    }
    block->n = 0;
    loader->line = line;
    return status;
}

/* A rule that lies in the text waits for others. */
static enum sl_status add_to_block(struct loader *loader, struct rule_text line)
{
    if (!rule_block_add(&loader->block, line, loader->line))
        return SL_ENOMEM;
    return loader->block.n < RULE_BLOCK_MAX ? SL_OK : load_block(loader);
}

/* A line of configuration; `known`: it has its form. */
static enum sl_status load_config(struct loader *loader, struct rule_text line, bool known)
{
    const enum sl_status status =
        known ? rule_config_read(loader->rules, line, &loader->diag)
              : diag_set(&loader->diag, SL_EFORMAT, NULL, 0, "no line of configuration");

    if (status != SL_EFORMAT)
        return status;
    loader->rules->count.lines++;
    return count_bad(loader, line.at);
}

/* A filter that is not supported is skipped as a rule is. */
static enum sl_status load_filter(struct loader *loader, struct rule_text line)
{
    const enum sl_status status = rule_filter_line_read(&loader->parser, line);

    loader->rules->count.lines += status == SL_EFORMAT || status == SL_EUNSUPPORTED;
    if (status == SL_EFORMAT)
        return count_bad(loader, loader->parser.where);
    return status == SL_EUNSUPPORTED ? count_skipped(loader) : status;
}

/* Takes the replaced rules out. */
static void drop_replaced(struct sl_rules *rules)
{
    size_t n = 0;

    if (rules->n_replaced == 0)
        return;
    for (size_t i = 0; i < rules->n_rules; i++)
        if (!rules->rule[i]->replaced)
            rules->rule[n++] = rules->rule[i];
    rules->n_rules = n;
    rules->n_replaced = 0;
}

static int compare_skips(const void *a, const void *b)
{
    const struct sl_rules_lack *left = *(struct sl_rules_lack *const *)a;
    const struct sl_rules_lack *right = *(struct sl_rules_lack *const *)b;

    if (left->rules != right->rules)
        return left->rules < right->rules ? 1 : -1;
    return strcmp(left->keyword, right->keyword);
}

static enum sl_status load_line(struct loader *loader, struct rule_text line, bool config_only)
{
    const bool config = rule_config_line(line), filter = rule_filter_line(line);

    if (!config && !filter && !config_only && loader->lexer.n_lines == 0)
        return add_to_block(loader, line);

    const enum sl_status status = load_block(loader); /* the line may change what rules mean */

    if (status != SL_OK)
        return status;
    if (config)
        return load_config(loader, line, true);
    if (filter)
        return load_filter(loader, line);
    return config_only ? load_config(loader, line, false) : load_rule(loader, line);
}

static enum sl_status load_lines(struct loader *loader, const char *text, size_t text_len,
                                 bool config_only)
{
    struct rule_text line;
    enum sl_status status;

    rule_lexer_init(&loader->lexer, text, text_len);
    while ((status = rule_lexer_next(&loader->lexer, &line, &loader->line)) == SL_OK) {
        status = load_line(loader, line, config_only);
        if (status != SL_OK)
            break;
    }
    if (status == SL_END)
        status = load_block(loader);
    rule_lexer_free(&loader->lexer);
    rule_block_free(&loader->block);
    return status;
}

static enum sl_status load_text(struct sl_rules *rules, const char *name, const char *text,
                                size_t text_len, bool config_only, struct sl_diag *diag)
{
    struct loader loader = {.rules = rules,
                            .file = rule_arena_text(&rules->shared, name, strlen(name))};

    if (loader.file == NULL)
        return rule_set_no_memory(diag);
    loader.parser.rules = rules;
    loader.parser.arena = &rules->arena;
    loader.parser.diag = &loader.diag;
    loader.parser.file = loader.file;

    const enum sl_status status = load_lines(&loader, text, text_len, config_only);

    rule_parser_free(&loader.parser);
    drop_replaced(rules);
    if (rules->n_skips != 0)
        qsort(rules->skip, rules->n_skips, sizeof(void *), compare_skips);
    return status == SL_OK ? SL_OK : rule_set_no_memory(diag);
}

/* Loads a text of rules; none that can be used, and one that is wrong, are an error. */
static enum sl_status load_rules(struct sl_rules *rules, const char *name, const char *text,
                                 size_t text_len, struct sl_diag *diag)
{
    const struct sl_rules_count before = rules->count;
    const size_t first = rules->bad.n;
    const enum sl_status status = load_text(rules, name, text, text_len, false, diag);
    const struct sl_rules_count *after = &rules->count;

    if (status != SL_OK || after->bad == before.bad ||
        after->loaded + after->duplicates != before.loaded + before.duplicates)
        return status;

    const struct rule_note *note = &rules->bad.note[first];

    (void)diag_set(diag, SL_EFORMAT, note->file, note->line,
                   "%s (none of its rules can be used: %zu bad, %zu skipped)", note->text,
                   after->bad - before.bad, after->skipped - before.skipped);
    if (diag != NULL)
        diag->column = note->column;
    return SL_EFORMAT;
}

enum sl_status sl_rules_load_text(struct sl_rules *rules, const char *name, const char *text,
                                  size_t text_len, struct sl_diag *diag)
{
    if (rules->compiled)
        return rule_set_compiled(diag);
    return load_rules(rules, name, text, text_len, diag);
}

/* Reads all of a file into *text, malloc'ed. */
static enum sl_status read_file(const char *path, char **text, size_t *text_len,
                                struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    size_t cap = 0, len = 0;
    char *bytes = NULL;
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        return diag_set(diag, SL_EIO, path, 0, "cannot be opened: %s", strerror(errno));
    for (;;) {
        char *grown = rule_grow(bytes, &cap, len, 1);

        if (grown == NULL) {
            status = diag_set(diag, SL_ENOMEM, path, 0, "out of memory");
            break;
        }
        bytes = grown;

        const size_t n = fread(bytes + len, 1, cap - len, file);

        len += n;
        if (n == 0)
            break;
        if (len > FILE_MAX) {
            status = diag_set(diag, SL_EIO, path, 0, "is longer than %d MiB", FILE_MAX >> 20);
            break;
        }
    }
    if (status == SL_OK && ferror(file))
        status = diag_set(diag, SL_EIO, path, 0, "cannot be read: %s", strerror(errno));
    fclose(file);
    if (status != SL_OK) {
        free(bytes);
        return status;
    }
    *text = bytes;
    *text_len = len;
    return SL_OK;
}

/* Reads a file of configuration beside the rule file, where there is one. It is read once for all
 * files of a folder that are loaded one after the other. */
static enum sl_status load_beside(struct sl_rules *rules, const char *path, enum rule_beside kind,
                                  struct sl_diag *diag)
{
    static const char *const names[RULE_N_BESIDE] = {[RULE_CLASSES] = "classification.config",
                                                     [RULE_REFERENCES] = "reference.config",
                                                     [RULE_FILTERS] = "threshold.config"};
    const char *slash = strrchr(path, '/');
    const size_t folder_len = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    const size_t name_len = strlen(names[kind]);
    char *beside = rule_arena_alloc(&rules->shared, folder_len + name_len + 1);
    struct stat found;
    char *text = NULL;
    size_t text_len = 0;

    if (beside == NULL)
        return rule_set_no_memory(diag);
    memcpy(beside, path, folder_len);
    memcpy(beside + folder_len, names[kind], name_len + 1);
    if (strcmp(path, beside) == 0 ||
        (rules->beside[kind] != NULL && strcmp(rules->beside[kind], beside) == 0) ||
        (stat(beside, &found) != 0 && (errno == ENOENT || errno == ENOTDIR)))
        return SL_OK;
    rules->beside[kind] = beside;

    enum sl_status status = read_file(beside, &text, &text_len, diag);
    if (status != SL_OK)
        return status;
    status = load_text(rules, beside, text, text_len, true, diag);
    free(text);
    return status;
}

enum sl_status sl_rules_configure(struct sl_rules *rules, const char *path, struct sl_diag *diag)
{
    char *text = NULL;
    size_t text_len = 0;

    if (rules->compiled)
        return rule_set_compiled(diag);
    enum sl_status status = read_file(path, &text, &text_len, diag);
    if (status != SL_OK)
        return status;
    rules->configured = true;
    status = load_text(rules, path, text, text_len, true, diag);
    free(text);
    return status;
}

static enum sl_status load_file(struct sl_rules *rules, const char *path, struct sl_diag *diag)
{
    char *text = NULL;
    size_t text_len = 0;
    enum sl_status status = read_file(path, &text, &text_len, diag);
    if (status != SL_OK)
        return status;
    for (int kind = 0; kind < RULE_N_BESIDE && status == SL_OK && !rules->configured; kind++)
        status = load_beside(rules, path, (enum rule_beside)kind, diag);
    if (status == SL_OK)
        status = load_rules(rules, path, text, text_len, diag);
    free(text);
    return status;
}

/* Loads one more of several files, where no other failed for good. The first file of which no rule
 * can be used is the one that is named, after all of them were loaded. */
static enum sl_status load_next(struct sl_rules *rules, const char *path, enum sl_status before,
                                struct sl_diag *diag)
{
    struct sl_diag other;

    if (before != SL_OK && before != SL_EFORMAT)
        return before;

    const enum sl_status status = load_file(rules, path, before == SL_OK ? diag : &other);

    if (status != SL_OK && status != SL_EFORMAT && before == SL_EFORMAT && diag != NULL)
        *diag = other;
    return status == SL_OK ? before : status;
}

static int is_rule_file(const struct dirent *entry)
{
    static const char ending[] = ".rules";
    const size_t len = strlen(entry->d_name);

    return len > strlen(ending) && strcmp(entry->d_name + len - strlen(ending), ending) == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A pipe in a folder would be waited for. */
static enum sl_status load_entry(struct sl_rules *rules, const char *path, enum sl_status before,
                                 struct sl_diag *diag)
{
    struct stat found;

    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return diag_set(diag, SL_EIO, path, 0, "is no regular file");
    return load_next(rules, path, before, diag);
}

static enum sl_status load_folder(struct sl_rules *rules, const char *folder, struct sl_diag *diag)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_rule_file, compare_names);
    enum sl_status status = SL_OK;

    if (n < 0)
        return diag_set(diag, SL_EIO, folder, 0, "cannot be read: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path;

        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0) {
            if (status == SL_OK || status == SL_EFORMAT)
                status = load_entry(rules, path, status, diag);
            free(path);
        } else {
            status = rule_set_no_memory(diag);
        }
        free(entries[i]);
    }
    free(entries);
    if (n == 0)
        return diag_set(diag, SL_EINVAL, folder, 0,
                        "holds no file that ends in .rules (folders in it are not searched)");
    return status;
}

/* Loads the files that a pattern of the shell matches, in the order of their names. */
static enum sl_status load_pattern(struct sl_rules *rules, const char *pattern,
                                   struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    glob_t found;
    const int failed = glob(pattern, 0, NULL, &found);

    if (failed == GLOB_NOMATCH)
        return diag_set(diag, SL_EIO, pattern, 0, "matches no file");
    if (failed != 0)
        return diag_set(diag, failed == GLOB_NOSPACE ? SL_ENOMEM : SL_EIO, pattern, 0,
                        "cannot be read");
    for (size_t i = 0; i < found.gl_pathc; i++)
        status = load_next(rules, found.gl_pathv[i], status, diag);
    globfree(&found);
    return status;
}

enum sl_status sl_rules_load(struct sl_rules *rules, const char *path, struct sl_diag *diag)
{
    struct stat found;

    if (rules->compiled)
        return rule_set_compiled(diag);
    if (stat(path, &found) != 0)
        return strpbrk(path, "*?[") != NULL ? load_pattern(rules, path, diag)
                                            : load_file(rules, path, diag);
    return S_ISDIR(found.st_mode) ? load_folder(rules, path, diag) : load_file(rules, path, diag);
}
