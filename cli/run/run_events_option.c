/* SPDX-License-Identifier: MIT */
#include "run_events_option.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "sluice/event.h"

enum { WORD_LEN = 32, WORDS_MAX = SL_N_EVENT_KINDS + 2 };

static bool has_word(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* The types of all kinds, some of which share one, and the option's other values. Returns their
 * number. */
static size_t list_words(const char *words[WORDS_MAX + 1])
{
    size_t n = 0;

    for (int k = 0; k < SL_N_EVENT_KINDS; k++) {
        const char *type = sl_event_type((enum sl_event_kind)k);

        if (!has_word(words, n, type))
            words[n++] = type;
    }
    words[n++] = "stats";
    words[n++] = "all";
    words[n] = NULL;
    return n;
}

static bool unknown_type(const char *word, size_t len)
{
    const char *words[WORDS_MAX + 1];
    char text[WORD_LEN], known[256];
    size_t known_len = 0;

    const size_t n_words = list_words(words);
    for (size_t k = 0; k < n_words && known_len < sizeof known; k++)
        known_len += (size_t)snprintf(known + known_len, sizeof known - known_len, "%s%s",
                                      k > 0 ? ", " : "", words[k]);
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    const char *const nearest = cli_nearest(text, words);
    cli_error("--events '%.*s' is no type of event%s%s%s (expected some of: %s)", (int)len, word,
              nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
              nearest != NULL ? "'?" : "", known);
    return false;
}

static bool add_type(struct run_events_option *option, uint32_t *events, const char *word,
                     size_t len)
{
    uint32_t kinds = 0; /* a type may have two */

    for (int k = 0; k < SL_N_EVENT_KINDS; k++) {
        const char *type = sl_event_type((enum sl_event_kind)k);

        if (strlen(type) == len && memcmp(type, word, len) == 0)
            kinds |= 1u << k;
    }
    *events |= kinds;
    if (kinds != 0)
        return true;
    if (len == 5 && memcmp(word, "stats", len) == 0)
        option->stats = true;
    else if (len == 3 && memcmp(word, "all", len) == 0)
        option->all = true;
    else
        return unknown_type(word, len);
    return true;
}

/* Counters are written by time, which --stats says. */
static bool check_stats(const struct run_events_option *option, uint32_t stats_seconds)
{
    if (option->stats && stats_seconds == 0)
        cli_error("--events stats needs --stats=SECONDS: how often");
    else if (!option->stats && !option->all && stats_seconds != 0)
        cli_error("--stats=%u writes events of type stats, which --events leaves out",
                  stats_seconds);
    else
        return true;
    return false;
}

bool run_events_option_parse(struct run_events_option *option, uint32_t *events,
                             uint32_t stats_seconds)
{
    const char *list = option->list;

    if (list == NULL)
        return true;
    *events = 0;
    for (;;) {
        const size_t len = strcspn(list, ",");

        if (!add_type(option, events, list, len))
            return false;
        if (list[len] == '\0')
            break;
        list += len + 1;
    }
    if (option->all)
        *events = (1u << SL_N_EVENT_KINDS) - 1;
    return check_stats(option, stats_seconds);
}
