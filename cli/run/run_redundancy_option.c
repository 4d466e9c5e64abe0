/* SPDX-License-Identifier: MIT */
#include "run_redundancy_option.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define NS_PER_SECOND INT64_C(1000000000)

static bool known_sampler(const char *name, size_t len, const char **known)
{
    for (size_t i = 0; sl_samplers()[i] != NULL; i++)
        if (strlen(sl_samplers()[i]) == len && memcmp(sl_samplers()[i], name, len) == 0) {
            *known = sl_samplers()[i];
            return true;
        }
    return false;
}

/* Reads bytes as cli_parse_bytes does or, where it ends in s, seconds that fit nanoseconds. */
static bool read_value(const char *text, size_t len, uint64_t *value, bool *seconds)
{
    char copy[32];

    *seconds = len > 0 && text[len - 1] == 's';
    len -= *seconds;
    if (len == 0 || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return cli_parse_bytes(copy, value) && (!*seconds || *value <= INT64_MAX / NS_PER_SECOND);
}

static bool set_value(struct sl_run_redundancy *redundancy, const char *name, size_t len,
                      uint64_t value, bool seconds)
{
    struct sl_savings_config *config = &redundancy->savings;

    if (len == 8 && memcmp(name, "interval", len) == 0) {
        config->interval_len = seconds ? 0 : value;
        config->interval_ns = seconds ? (int64_t)value * NS_PER_SECOND : 0;
    } else if (seconds || len == 0) {
        return false;
    } else if (len == 5 && memcmp(name, "cache", len) == 0) {
        config->redundancy.cache_len = value;
    } else if (value > 0 && value <= 60000 && len == 3 && memcmp(name, "rtt", len) == 0) {
        config->rtt_ms = (uint32_t)value;
    } else if (value <= UINT32_MAX && len == 1 && *name == 'p') {
        redundancy->sampling.period = (uint32_t)value;
    } else if (value <= UINT32_MAX && len == 1 && *name == 'w') {
        redundancy->sampling.window = (uint32_t)value;
    } else {
        return false;
    }
    return true;
}

/* One of the parts between commas behind the sampler's name. */
static bool parse_part(struct sl_run_redundancy *redundancy, const char *part, size_t len)
{
    const char *const equals = memchr(part, '=', len);
    uint64_t value;
    bool seconds;

    if (len == 6 && memcmp(part, "chunks", len) == 0) {
        redundancy->savings.redundancy.chunks = true;
        return true;
    }
    if (len == 8 && memcmp(part, "no-raise", len) == 0) {
        redundancy->no_raise = true;
        return true;
    }
    if (equals != NULL &&
        read_value(equals + 1, len - (size_t)(equals + 1 - part), &value, &seconds) &&
        set_value(redundancy, part, (size_t)(equals - part), value, seconds))
        return true;
    cli_error(
        "--redundancy: '%.*s' (expected p=N, w=N, cache=N, interval=N or interval=Ns, with K, "
        "M or G, or rtt=MS, or chunks, or no-raise)",
        (int)len, part);
    return false;
}

static bool parse_sampler(struct sl_run_redundancy *redundancy, const char *name, size_t len)
{
    char list[256] = "";

    if (known_sampler(name, len, &redundancy->sampling.sampler))
        return true;
    for (size_t i = 0, n = 0; sl_samplers()[i] != NULL; i++)
        n += (size_t)snprintf(list + n, n < sizeof list ? sizeof list - n : 0, "%s%s",
                              i > 0 ? ", " : "", sl_samplers()[i]);
    cli_error("--redundancy: unknown sampler '%.*s' (expected one of %s)", (int)len, name, list);
    return false;
}

/* An option that --redundancy is needed for; NULL: none was given. */
static const char *lone_option(const struct run_redundancy_option *option, bool compare)
{
    return compare                 ? "--compare"
           : option->plot != NULL  ? "--plot"
           : option->train != NULL ? "--train"
                                   : NULL;
}

static bool parse_spec(struct sl_run_redundancy *redundancy, const char *spec)
{
    bool first = true;

    for (const char *part = spec; part != NULL; first = false) {
        const size_t len = strcspn(part, ",");

        if (!(first ? parse_sampler : parse_part)(redundancy, part, len))
            return false;
        part = part[len] == ',' ? part + len + 1 : NULL;
    }
    return true;
}

bool run_redundancy_option_parse(const struct run_redundancy_option *option,
                                 struct sl_run_redundancy *redundancy)
{
    if (option->spec == NULL) {
        const char *const lone = lone_option(option, redundancy->compare);

        if (lone != NULL)
            cli_error("%s needs --redundancy", lone);
        return lone == NULL;
    }
    redundancy->on = true;
    if (!parse_spec(redundancy, option->spec))
        return false;
    if (redundancy->no_raise && !redundancy->compare &&
        strcmp(redundancy->sampling.sampler, "dynabyte") != 0) {
        cli_error("--redundancy: no-raise is for dynabyte");
        return false;
    }
    if (!redundancy->compare && strcmp(redundancy->sampling.sampler, "every") == 0 &&
        strstr(option->spec, ",p=") != NULL) {
        cli_error("--redundancy: p=N has no effect on the sampler every");
        return false;
    }
    if (option->train == NULL || redundancy->compare ||
        strcmp(redundancy->sampling.sampler, "samplebyte") == 0)
        return true;
    cli_error("--train '%s' is for samplebyte (--redundancy samplebyte, or --compare)",
              option->train);
    return false;
}
