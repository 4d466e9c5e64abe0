/* SPDX-License-Identifier: MIT */
/* suricata.yaml. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "settings_reader.h"

/* A document of one file. */
struct document {
    struct settings_reader *reader;
    const char *file;
    yaml_document_t yaml;
};

typedef enum sl_status take(struct document *document, yaml_node_t *node, const char *key,
                            struct settings_place place);

static struct settings_place place_of(const struct document *document, const yaml_node_t *node)
{
    return (struct settings_place){document->file, (uint32_t)node->start_mark.line + 1};
}

/* The text of a scalar. NULL: it is none, or has a NUL. */
static const char *text_of(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;

    const char *text = (const char *)node->data.scalar.value;

    return strlen(text) == node->data.scalar.length ? text : NULL;
}

static enum sl_status wrong(struct document *document, const yaml_node_t *node, const char *key,
                            const char *expected)
{
    return settings_fail(document->reader, place_of(document, node), "%.80s is no %s", key,
                         expected);
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum sl_status fail_parse(struct settings_reader *reader, const char *file,
                                 const yaml_parser_t *parser)
{
    const struct settings_place place = {file, (uint32_t)parser->problem_mark.line + 1};
    const enum sl_status status =
        parser->error == YAML_MEMORY_ERROR
            ? settings_no_memory(reader)
            : settings_fail(reader, place, "is no YAML: %.150s",
                            parser->problem != NULL ? parser->problem : "it cannot be read");

    if (status == SL_EFORMAT && reader->diag != NULL)
        reader->diag->column = (uint32_t)parser->problem_mark.column + 1;
    return status;
}

/* Parses a text, and gives its root to a function. A text without one has nothing to take. */
static enum sl_status take_text(struct settings_reader *reader, const char *file, const char *text,
                                size_t len, take *takes, const char *key)
{
    struct document document = {.reader = reader, .file = file};
    yaml_parser_t parser;
    enum sl_status status = SL_OK;

    if (!yaml_parser_initialize(&parser))
        return settings_no_memory(reader);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (!yaml_parser_load(&parser, &document.yaml)) {
        status = fail_parse(reader, file, &parser);
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&document.yaml);

        if (root != NULL)
            status = takes(&document, root, key, place_of(&document, root));
        yaml_document_delete(&document.yaml);
    }
    yaml_parser_delete(&parser);
    return status;
}

/* Takes the root of another file. */
static enum sl_status take_file(struct document *document, const yaml_node_t *node, take *takes,
                                const char *key)
{
    struct settings_reader *reader = document->reader;
    const char *path = text_of(node), *name;
    char *text = NULL;
    size_t len;

    if (path == NULL || *path == '\0')
        return wrong(document, node, "include", "name of a file");
    enum sl_status status =
        settings_read_file(reader, place_of(document, node), path, &name, &text, &len);
    if (status != SL_OK)
        return status;
    reader->depth++;
    status = take_text(reader, name, text, len, takes, key);
    reader->depth--;
    free(text);
    return status;
}

/* Takes a value, or that of the file that it includes ("!include FILE"). */
static enum sl_status take_value(struct document *document, yaml_node_t *node, take *takes,
                                 const char *key, struct settings_place place)
{
    if (node->tag != NULL && strcmp((const char *)node->tag, "!include") == 0)
        return take_file(document, node, takes, key);
    return takes(document, node, key, place);
}

/* Takes each pair of a mapping. */
static enum sl_status take_pairs(struct document *document, yaml_node_t *node, take *takes)
{
    enum sl_status status = SL_OK;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;

    for (; status == SL_OK && pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *name = yaml_document_get_node(&document->yaml, pair->key);
        yaml_node_t *value = yaml_document_get_node(&document->yaml, pair->value);
        const char *key = text_of(name);

        if (key == NULL)
            return wrong(document, name, "a key", "text");
        status = take_value(document, value, takes, key, place_of(document, name));
    }
    return status;
}

/* Takes each value of a list, or one that stands alone. A key without a value has none. */
static enum sl_status take_list(struct document *document, yaml_node_t *node, take *takes,
                                const char *key, struct settings_place place)
{
    enum sl_status status = SL_OK;

    if (node->type == YAML_SCALAR_NODE)
        return node->data.scalar.length == 0 ? SL_OK : takes(document, node, key, place);
    if (node->type != YAML_SEQUENCE_NODE)
        return wrong(document, node, key, "list");
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         status == SL_OK && item < node->data.sequence.items.top; item++) {
        yaml_node_t *value = yaml_document_get_node(&document->yaml, *item);

        status = takes(document, value, key, place_of(document, value));
    }
    return status;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static enum sl_status take_member(struct document *document, yaml_node_t *node, const char *key,
                                  struct settings_place place);
static enum sl_status take_root(struct document *document, yaml_node_t *node, const char *key,
                                struct settings_place place);

/* Writes a list as rules have it: "[a,b]". NULL: no memory, or a member is no text. */
static char *join(struct document *document, const yaml_node_t *node)
{
    size_t len = 3;
    const yaml_node_item_t *const first = node->data.sequence.items.start;
    const yaml_node_item_t *const end = node->data.sequence.items.top;

    for (const yaml_node_item_t *item = first; item < end; item++) {
        const char *text = text_of(yaml_document_get_node(&document->yaml, *item));

        if (text == NULL)
            return NULL;
        len += strlen(text) + 1;
    }

    char *joined = malloc(len), *at = joined;

    if (joined == NULL)
        return NULL;
    *at++ = '[';
    for (const yaml_node_item_t *item = first; item < end; item++) {
        if (item != first)
            *at++ = ',';
        at = stpcpy(at, text_of(yaml_document_get_node(&document->yaml, *item)));
    }
    memcpy(at, "]", sizeof "]");
    return joined;
}

static enum sl_status take_variable(struct document *document, yaml_node_t *node, const char *key,
                                    struct settings_place place)
{
    const bool list = node->type == YAML_SEQUENCE_NODE;
    char *joined = list ? join(document, node) : NULL;
    const char *value = list ? joined : text_of(node);

    if (value == NULL || strchr(key, '=') != NULL) {
        free(joined);
        return wrong(document, node, key, "variable with a text");
    }
    const enum sl_status status = settings_add_variable(document->reader, place, key, value);
    free(joined);
    return status;
}

static enum sl_status take_variables(struct document *document, yaml_node_t *node, const char *key,
                                     struct settings_place place)
{
    (void)place;
    if (node->type != YAML_MAPPING_NODE)
        return wrong(document, node, key, "mapping of variables");
    return take_pairs(document, node, take_variable);
}

static enum sl_status take_group(struct document *document, yaml_node_t *node, const char *key,
                                 struct settings_place place)
{
    if (strcmp(key, "address-groups") == 0 || strcmp(key, "port-groups") == 0)
        return take_variables(document, node, key, place);
    return settings_add(document->reader, SL_SETTING_LEFT_OUT, place, key);
}

static enum sl_status take_groups(struct document *document, yaml_node_t *node, const char *key,
                                  struct settings_place place)
{
    (void)place;
    if (node->type != YAML_MAPPING_NODE)
        return wrong(document, node, key, "mapping of groups");
    return take_pairs(document, node, take_group);
}

static enum sl_status take_rule_file(struct document *document, yaml_node_t *node, const char *key,
                                     struct settings_place place)
{
    const char *path = text_of(node);

    if (path == NULL || *path == '\0')
        return wrong(document, node, key, "name of a file");
    return settings_add(document->reader, SL_SETTING_RULES, place, path);
}

static enum sl_status take_rule_files(struct document *document, yaml_node_t *node, const char *key,
                                      struct settings_place place)
{
    settings_forget(document->reader->settings, SL_SETTING_RULES); /* a later list is the list */
    return take_list(document, node, take_rule_file, key, place);
}

static enum sl_status take_rule_path(struct document *document, yaml_node_t *node, const char *key,
                                     struct settings_place place)
{
    const char *path = text_of(node);

    (void)place;
    if (path == NULL || *path == '\0')
        return wrong(document, node, key, "name of a folder");
    free(document->reader->rule_path);
    document->reader->rule_path = settings_path(document->reader, path);
    return document->reader->rule_path != NULL ? SL_OK : settings_no_memory(document->reader);
}

static enum sl_status take_configuration(struct document *document, yaml_node_t *node,
                                         const char *key, struct settings_place place)
{
    const char *path = text_of(node);

    if (path == NULL)
        return wrong(document, node, key, "name of a file");
    if (*path == '\0')
        return SL_OK;
    return settings_add_path(document->reader, SL_SETTING_CONFIGURE, place, path);
}

static enum sl_status take_actions(struct document *document, yaml_node_t *node, const char *key,
                                   struct settings_place place)
{
    char *joined = node->type == YAML_SEQUENCE_NODE ? join(document, node) : NULL;

    if (joined == NULL)
        return wrong(document, node, key, "list of texts");
    settings_forget(document->reader->settings, SL_SETTING_ACTIONS);
    joined[strlen(joined) - 1] = '\0'; /* without brackets */
    const enum sl_status status =
        settings_add(document->reader, SL_SETTING_ACTIONS, place, joined + 1);
    free(joined);
    return status;
}

static enum sl_status take_included(struct document *document, yaml_node_t *node, const char *key,
                                    struct settings_place place)
{
    (void)place;
    return take_file(document, node, take_root, key);
}

static enum sl_status take_include(struct document *document, yaml_node_t *node, const char *key,
                                   struct settings_place place)
{
    return take_list(document, node, take_included, key, place);
}

/* Keys that steer output, capture or threads: the alerts are the same without them. */
static bool is_other(const char *key)
{
    static const char *const keys[] = {
        "af-packet",
        "af-xdp",
        "autofp-scheduler",
        "capture",
        "coredump",
        "cuda",
        "default-log-dir",
        "dpdk",
        "dump-all",
        "heartbeat",
        "host-mode",
        "ipfw",
        "legacy",
        "logging",
        "luajit",
        "magic-file",
        "max-pending-packets",
        "mpm-algo",
        "napatech",
        "netmap",
        "nflog",
        "nfq",
        "outputs",
        "pcap",
        "pcap-file",
        "pcap-log",
        "pfring",
        "pid-file",
        "plugins",
        "profiling",
        "run-as",
        "runmode",
        "security",
        "sensor-name",
        "spm-algo",
        "stats",
        "suricata-version",
        "threading",
        "unix-command",
        "windivert",
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static enum sl_status take_member(struct document *document, yaml_node_t *node, const char *key,
                                  struct settings_place place)
{
    static const struct {
        const char *key;
        take *takes;
    } keys[] = {
        {"vars", take_groups},
        {"rule-files", take_rule_files},
        {"default-rule-path", take_rule_path},
        {"classification-file", take_configuration},
        {"reference-config-file", take_configuration},
        {"threshold-file", take_configuration},
        {"action-order", take_actions},
        {"include", take_include},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].takes(document, node, key, place);
    return settings_add(document->reader, is_other(key) ? SL_SETTING_OTHER : SL_SETTING_LEFT_OUT,
                        place, key);
}

static enum sl_status take_root(struct document *document, yaml_node_t *node, const char *key,
                                struct settings_place place)
{
    (void)place;
    if (node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0)
        return SL_OK;
    if (node->type != YAML_MAPPING_NODE)
        return wrong(document, node, key, "mapping of settings");
    return take_pairs(document, node, take_member);
}

enum sl_status settings_read_yaml(struct settings_reader *reader, const char *name,
                                  const char *text, size_t len)
{
    return take_text(reader, name, text, len, take_root, "the file");
}
