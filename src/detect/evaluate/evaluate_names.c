/* SPDX-License-Identifier: MIT */
#include "evaluate_names.h"

#include <stdlib.h>

#include "app/dns_buffers.h"
#include "detect/rule_memory.h"

enum { TEXT_MAX = 1 + DNS_NAME_TEXT_MAX };

/* Makes room for a further name. False: no memory. */
static bool grow(struct rule_names *names)
{
    struct rule_name *name = rule_grow(names->name, &names->cap, names->n, sizeof *name);

    if (name == NULL)
        return false;
    names->name = name;
    if (names->text_cap - names->text_len >= TEXT_MAX)
        return true;
    const size_t cap = 2 * names->text_cap + TEXT_MAX;
    uint8_t *text = realloc(names->text, cap);

    if (text == NULL)
        return false;
    names->text = text;
    names->text_cap = cap;
    return true;
}

bool rule_names_read(struct rule_names *names, const uint8_t *message, uint32_t len)
{
    struct dns_reader reader;
    struct dns_record record;

    names->n = names->text_len = 0;
    if (!dns_open(&reader, message, len))
        return true;
    while (dns_next(&reader, &record)) {
        if (!grow(names))
            return false;
        uint8_t *text = names->text + names->text_len;

        text[0] = '.';
        names->name[names->n++] = (struct rule_name){
            .buffers = dns_buffers_of(&reader.header, record.section),
            .at = (uint32_t)names->text_len,
            .len = 1 + dns_name_text(message, record.name, (char *)text + 1),
        };
        names->text_len += names->name[names->n - 1].len;
    }
    return true;
}

void rule_names_free(struct rule_names *names)
{
    free(names->name);
    free(names->text);
}
