/* SPDX-License-Identifier: MIT */
#include "virus_scanner.h"

#include <stdlib.h>

void virus_scanners_init(struct virus_scanners *scanners, const struct sl_clamav_db *database)
{
    pthread_mutex_init(&scanners->lock, NULL);
    scanners->database = database;
    scanners->idle = NULL;
}

static void free_scanner(struct virus_scanner *scanner)
{
    sl_clamav_close(scanner->scanner);
    clam_open_free(&scanner->open);
    free(scanner->hits.hit);
    free(scanner->bytes);
    free(scanner->match);
    free(scanner);
}

void virus_scanners_clear(struct virus_scanners *scanners)
{
    for (struct virus_scanner *at = scanners->idle, *next; at != NULL; at = next) {
        next = at->next;
        free_scanner(at);
    }
    pthread_mutex_destroy(&scanners->lock);
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct virus_scanner *const scanner = user;

    (void)token;
    if (scanner->n == scanner->max) {
        const size_t max = 2 * scanner->max + 16;
        struct sl_clamav_match *more = reallocarray(scanner->match, max, sizeof *more);

        scanner->no_memory |= more == NULL;
        if (more == NULL)
            return;
        scanner->match = more;
        scanner->max = max;
    }
    scanner->match[scanner->n++] = *match;
}

static struct virus_scanner *make_scanner(const struct sl_clamav_db *database)
{
    struct virus_scanner *made = calloc(1, sizeof *made);
    struct sl_clamav_scan_config config;

    if (made == NULL)
        return NULL;
    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1; /* the least: windows need none */
    config.match = on_match;
    config.user = made;
    if (sl_clamav_open(&made->scanner, database, &config, NULL) == SL_OK)
        return made;
    free(made);
    return NULL;
}

struct virus_scanner *virus_scanner_take(struct virus_scanners *scanners)
{
    struct virus_scanner *taken;

    pthread_mutex_lock(&scanners->lock);
    taken = scanners->idle;
    if (taken != NULL)
        scanners->idle = taken->next;
    pthread_mutex_unlock(&scanners->lock);
    return taken != NULL ? taken : make_scanner(scanners->database);
}

void virus_scanner_return(struct virus_scanners *scanners, struct virus_scanner *scanner)
{
    if (scanner == NULL)
        return;
    pthread_mutex_lock(&scanners->lock);
    scanner->next = scanners->idle;
    scanners->idle = scanner;
    pthread_mutex_unlock(&scanners->lock);
}
