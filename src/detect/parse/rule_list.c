/* SPDX-License-Identifier: MIT */
#include "rule_list.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum {
    DEPTH_MAX = 64, /* lists and variables inside one another */
    EXPANSIONS_MAX =
        10000 /* variables of one list: "[$A,$A]" of "[$B,$B]" of ... doubles each time */
};

const char rule_home_variable[] = "HOME_NET";

/* A list that is being read. */
struct reader {
    struct sl_rules *rules;
    enum rule_list_kind kind;
    struct rule_range_list with, without;
    size_t *n_expansions;
    bool *names_home;   /* set where HOME_NET is among the variables */
    const char **where; /* the item that is read; NULL: it is a variable's, not the text's */
    struct sl_diag *diag;
};

/* The set that a text stands for. */
struct rule_list {
    const struct rule_ranges *ranges;
};

static unsigned __int128 largest(enum rule_list_kind kind)
{
    return kind == RULE_PORTS ? 65535 : ~(unsigned __int128)0;
}

static enum sl_status out_of_memory(struct sl_diag *diag)
{
    return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
}

static enum sl_status add(struct reader *reader, bool negated, struct rule_range range)
{
    if (!rule_range_add(negated ? &reader->without : &reader->with, range))
        return out_of_memory(reader->diag);
    return SL_OK;
}

static enum sl_status read_items(struct reader *reader, struct rule_text text, unsigned depth);

/* Makes the set of the items that were read. */
static enum sl_status close_reader(struct reader *reader, struct rule_text text,
                                   struct rule_ranges **made)
{
    if (reader->with.n == 0) {
        const struct rule_range all = {0, largest(reader->kind)};
        const enum sl_status status = add(reader, false, all);

        if (status != SL_OK)
            return status;
    }
    *made = rule_ranges_make(&reader->rules->shared, &reader->with, &reader->without);
    if (*made == NULL)
        return out_of_memory(reader->diag);
    if ((*made)->n == 0) {
        if (reader->where != NULL)
            *reader->where = text.at;
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "nothing is left of the list '%.*s'",
                        RULE_QUOTE(text));
    }
    return SL_OK;
}

static enum sl_status read_negated(struct reader *outer, struct rule_text text, unsigned depth)
{
    struct reader reader = {.rules = outer->rules,
                            .kind = outer->kind,
                            .n_expansions = outer->n_expansions,
                            .names_home = outer->names_home,
                            .where = outer->where,
                            .diag = outer->diag};
    struct rule_ranges *made = NULL;
    enum sl_status status = read_items(&reader, text, depth);

    if (status == SL_OK)
        status = close_reader(&reader, text, &made);
    for (size_t i = 0; status == SL_OK && i < made->n; i++)
        status = add(outer, true, made->range[i]);
    free(reader.with.range);
    free(reader.without.range);
    return status;
}

static enum sl_status read_nested(struct reader *reader, struct rule_text text, bool negated,
                                  unsigned depth)
{
    if (depth >= DEPTH_MAX)
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0,
                        "lists or variables are nested more than %d deep", DEPTH_MAX);
    return negated ? read_negated(reader, text, depth + 1) : read_items(reader, text, depth + 1);
}

static enum sl_status read_variable(struct reader *reader, struct rule_text name, bool negated,
                                    unsigned depth)
{
    const char *value = rule_map_get(&reader->rules->variables, name.at, name.len);
    const char **where = reader->where;

    if (value == NULL || *value == '\0')
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "the variable $%.*s is not set",
                        RULE_QUOTE(name));
    if (++*reader->n_expansions > EXPANSIONS_MAX)
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "a list of more than %d variables",
                        EXPANSIONS_MAX);
    *reader->names_home |= rule_text_is(name, rule_home_variable);
    reader->where = NULL;

    const enum sl_status status =
        read_nested(reader, (struct rule_text){value, strlen(value)}, negated, depth);

    reader->where = where;
    return status;
}

static enum sl_status read_number(struct reader *reader, struct rule_text text, bool negated)
{
    struct rule_range range = {0, largest(reader->kind)};
    const bool ports = reader->kind == RULE_PORTS;

    if (!rule_text_is(text, "any") &&
        !(ports ? rule_port_read(text, &range) : rule_address_read(text, &range)))
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "'%.*s' is no %s", RULE_QUOTE(text),
                        ports ? "port or range of ports" : "address, network or range");
    return add(reader, negated, range);
}

static enum sl_status read_item(struct reader *reader, struct rule_text item, unsigned depth)
{
    const bool negated = item.len != 0 && item.at[0] == '!';

    if (reader->where != NULL)
        *reader->where = item.at;
    if (negated)
        item = rule_trim((struct rule_text){item.at + 1, item.len - 1});
    if (item.len == 0)
        return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "an empty place in a list");
    if (item.at[0] == '$')
        return read_variable(reader, (struct rule_text){item.at + 1, item.len - 1}, negated, depth);
    if (item.at[0] == '[' && item.at[item.len - 1] == ']')
        return read_nested(reader, (struct rule_text){item.at + 1, item.len - 2}, negated, depth);
    return read_number(reader, item, negated);
}

/* Where the item that begins here ends: at a comma outside of brackets, or the text's end. */
static bool item_len(struct rule_text text, size_t *len)
{
    size_t open = 0, i = 0;

    for (; i < text.len && (open != 0 || text.at[i] != ','); i++) {
        if (text.at[i] == '[')
            open++;
        else if (text.at[i] == ']' && open-- == 0)
            return false;
    }
    *len = i;
    return open == 0;
}

static enum sl_status read_items(struct reader *reader, struct rule_text text, unsigned depth)
{
    for (;;) {
        size_t len;

        if (!item_len(text, &len))
            return diag_set(reader->diag, SL_EFORMAT, NULL, 0, "brackets do not match in '%.*s'",
                            RULE_QUOTE(text));

        const enum sl_status status =
            read_item(reader, rule_trim((struct rule_text){text.at, len}), depth);

        if (status != SL_OK || len == text.len)
            return status;
        text.at += len + 1;
        text.len -= len + 1;
    }
}

static enum sl_status read_list(struct sl_rules *rules, enum rule_list_kind kind,
                                struct rule_text text, const struct rule_ranges **ranges,
                                const char **where, struct sl_diag *diag)
{
    size_t n_expansions = 0;
    bool names_home = false;
    struct reader reader = {.rules = rules,
                            .kind = kind,
                            .n_expansions = &n_expansions,
                            .names_home = &names_home,
                            .where = where,
                            .diag = diag};
    struct rule_ranges *made = NULL;
    enum sl_status status = read_items(&reader, text, 0);

    if (status == SL_OK)
        status = close_reader(&reader, text, &made);
    if (status == SL_OK)
        made->of_variables = n_expansions != 0;
    if (status == SL_OK)
        *ranges = made->range[0].first == 0 && made->range[0].last == largest(kind) ? NULL : made;
    free(reader.with.range);
    free(reader.without.range);
    rules->names_home |= names_home && where != NULL;
    return status;
}

static enum sl_status find_list(struct sl_rules *rules, enum rule_list_kind kind,
                                struct rule_text text, const struct rule_ranges **ranges,
                                const char **where, struct sl_diag *diag)
{
    const struct rule_list *known = rule_map_get(&rules->lists[kind], text.at, text.len);

    if (known != NULL) {
        *ranges = known->ranges;
        return SL_OK;
    }

    *where = text.at;

    enum sl_status status = read_list(rules, kind, text, ranges, where, diag);
    if (status != SL_OK)
        return status;

    struct rule_list *list = rule_arena_alloc(&rules->shared, sizeof *list);
    const char *key = rule_arena_text(&rules->shared, text.at, text.len);

    if (list == NULL || key == NULL || !rule_map_put(&rules->lists[kind], key, text.len, list))
        return out_of_memory(diag);
    list->ranges = *ranges;
    return SL_OK;
}

enum sl_status rule_list_read(struct sl_rules *rules, enum rule_list_kind kind,
                              struct rule_text text, const struct rule_ranges **ranges,
                              const char **where, struct sl_diag *diag)
{
    pthread_mutex_lock(&rules->lock);

    const enum sl_status status = find_list(rules, kind, text, ranges, where, diag);

    pthread_mutex_unlock(&rules->lock);
    return status;
}

enum sl_status rule_variable_set(struct sl_rules *rules, const char *name, const char *value,
                                 struct sl_diag *diag)
{
    const size_t name_len = strlen(name);
    void *before = rule_map_get(&rules->variables, name, name_len);
    const char *key = rule_arena_text(&rules->shared, name, name_len);
    char *copy = rule_arena_text(&rules->shared, value, strlen(value));

    if (key == NULL || copy == NULL || !rule_map_put(&rules->variables, key, name_len, copy))
        return out_of_memory(diag);
    rule_map_free(&rules->lists[RULE_ADDRESSES]);
    rule_map_free(&rules->lists[RULE_PORTS]);

    /* With the value in place, one that names itself, by whatever way, is nested without end. */
    const struct rule_text text = {copy, strlen(copy)};
    const struct rule_ranges *ranges;
    struct sl_diag as_ports, as_addresses;
    const enum sl_status ports = read_list(rules, RULE_PORTS, text, &ranges, NULL, &as_ports);
    const enum sl_status addresses =
        read_list(rules, RULE_ADDRESSES, text, &ranges, NULL, &as_addresses);

    if (ports == SL_OK || addresses == SL_OK)
        return SL_OK;
    *copy = '\0'; /* counts as not set */
    if (before != NULL && !rule_map_put(&rules->variables, key, name_len, before))
        return out_of_memory(diag);
    if (ports == SL_ENOMEM || addresses == SL_ENOMEM)
        return out_of_memory(diag);
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "%s is '%.80s', no list of addresses (%.150s) or ports (%.150s)", name, value,
                    as_addresses.text, as_ports.text);
}

enum sl_status rule_variable_defaults(struct sl_rules *rules, struct sl_diag *diag)
{
    static const char *const variables[][2] = {
        {rule_home_variable, "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]"},
        {"EXTERNAL_NET", "!$HOME_NET"},
        {"HTTP_SERVERS", "$HOME_NET"},
        {"SMTP_SERVERS", "$HOME_NET"},
        {"SQL_SERVERS", "$HOME_NET"},
        {"DNS_SERVERS", "$HOME_NET"},
        {"TELNET_SERVERS", "$HOME_NET"},
        {"FTP_SERVERS", "$HOME_NET"},
        {"SSH_SERVERS", "$HOME_NET"},
        {"SIP_SERVERS", "$HOME_NET"},
        {"AIM_SERVERS", "$EXTERNAL_NET"},
        {"DC_SERVERS", "$HOME_NET"},
        {"DNP3_SERVER", "$HOME_NET"},
        {"DNP3_CLIENT", "$HOME_NET"},
        {"MODBUS_CLIENT", "$HOME_NET"},
        {"MODBUS_SERVER", "$HOME_NET"},
        {"ENIP_CLIENT", "$HOME_NET"},
        {"ENIP_SERVER", "$HOME_NET"},
        {"HTTP_PORTS", "80"},
        {"SHELLCODE_PORTS", "!80"},
        {"ORACLE_PORTS", "1521"},
        {"SSH_PORTS", "22"},
        {"FTP_PORTS", "21"},
        {"SIP_PORTS", "[5060,5061,5600]"},
        {"DNP3_PORTS", "20000"},
        {"MODBUS_PORTS", "502"},
        {"FILE_DATA_PORTS", "[$HTTP_PORTS,110,143]"},
        {"GENEVE_PORTS", "6081"},
        {"VXLAN_PORTS", "4789"},
        {"TEREDO_PORTS", "3544"},
    };

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const enum sl_status status =
            rule_variable_set(rules, variables[i][0], variables[i][1], diag);

        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}
