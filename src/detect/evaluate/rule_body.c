/* SPDX-License-Identifier: MIT */
#include "rule_body.h"

#include <stdlib.h>

#include "app/app_body.h"

void rule_body_begin(struct rule_body *body)
{
    body->first = NULL;
    body->no_memory = false;
}

const uint8_t *rule_body_join(struct rule_body *body, const struct sl_app_part *parts, uint32_t len)
{
    if (body->bytes == NULL)
        body->bytes = malloc(SL_APP_BODY_MAX);
    body->no_memory |= body->bytes == NULL;
    if (body->bytes == NULL)
        return NULL;
    if (body->first != parts)
        body->len = 0;
    body->first = parts;
    if (body->len < len) {
        app_parts_read(parts, body->len, len - body->len, body->bytes + body->len);
        body->len = len;
    }
    return body->bytes;
}

void rule_body_free(struct rule_body *body)
{
    free(body->bytes);
}
