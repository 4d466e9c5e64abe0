/* SPDX-License-Identifier: MIT */
#include "name_build.h"
#include "name_text.h"

/* Whether one of them is in no domain. */
static bool has_url4(uint32_t four)
{
    return name_has4(four, '/') || name_has4(four, ':') || name_has4(four, '?') ||
           name_has4(four, '[');
}

static enum sl_name_syntax guess(const char *text, size_t len)
{
    if (text[0] == '/' || (len >= 4 && memcmp(text, "ndn:", 4) == 0))
        return SL_NAME_NDN;
    size_t i = 0;
    while (i + 4 <= len && !has_url4(name_load4(text + i)))
        i += 4;
    for (; i < len; i++)
        if (text[i] == '/' || text[i] == ':' || text[i] == '?' || text[i] == '[')
            return SL_NAME_URL;
    return SL_NAME_DOMAIN;
}

const char *sl_name_read(struct sl_name *name, enum sl_name_syntax syntax, uint8_t *bytes,
                         uint32_t bytes_cap, const char *text, size_t text_len)
{
    struct name_build build = {.bytes = bytes, .cap = bytes_cap};
    const char *why;

    if (text_len == 0)
        return "an empty name";
    if (bytes_cap > SL_NAME_LEN_MAX)
        build.cap = SL_NAME_LEN_MAX;
    if (syntax == SL_NAME_AUTO)
        syntax = guess(text, text_len);
    uint32_t host_len = UINT32_MAX;
    if (syntax == SL_NAME_NDN)
        why = name_read_ndn(&build, text, text_len);
    else if (syntax == SL_NAME_DOMAIN)
        why = name_read_domain(&build, text, text_len);
    else
        why = name_read_url(&build, &host_len, text, text_len);
    if (why != NULL)
        return why;
    name->bytes = bytes;
    name->len = build.len;
    name->host_len = host_len == UINT32_MAX ? build.len : host_len;
    name->syntax = syntax;
    return NULL;
}

size_t sl_name_write(const struct sl_name *name, char *text, size_t text_cap)
{
    struct text_out out = {.text = text, .cap = text_cap == 0 ? 0 : text_cap - 1};
    struct sl_name_component component;
    size_t at = name->host_len;

    if (name->syntax == SL_NAME_NDN || name->syntax == SL_NAME_AUTO) {
        name_write_ndn(&out, name);
    } else {
        name_write_host(&out, name);
        while (sl_name_next(name->bytes, name->len, &at, &component)) {
            if (component.len == 0 || component.bytes[0] != '?')
                text_put(&out, "/", 1);
            text_put(&out, (const char *)component.bytes, component.len);
        }
    }
    if (text_cap != 0)
        text[out.len < text_cap ? out.len : text_cap - 1] = '\0';
    return out.len;
}
