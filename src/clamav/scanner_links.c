/* SPDX-License-Identifier: MIT */
/* Links of mails that pretend to lead to a protected domain, and addresses with a hash. */
#include <ctype.h>
#include <openssl/evp.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "clamav/hash_name.h"
#include "clamav/place.h"
#include "clamav/scanner_internal.h"
#include "clamav/url.h"
#include "unpack/message.h"

struct scanner_domains {
    regex_t regex;
    bool made;
};

/* A link that is checked. Hosts have a dot before them, as ClamAV's. */
struct link {
    enum unpack_link kind;
    char real[URL_ROOM], shown[URL_ROOM]; /* its address, and what is shown of it */
    char before[URL_ROOM];                /* what was shown before blanks were taken out */
    size_t host_at;                       /* of what is shown */
    char real_host[URL_ROOM], shown_host[URL_ROOM];
};

/* Two addresses or hosts with ":" between and "/" behind them, or one with "/". */
enum { TEXT_ROOM = 2 * URL_ROOM };

bool clam_has_links(const struct sl_clamav_db *db)
{
    const struct clam_block *block = db->block;

    return block->n[CLAM_A_PROTECTED] > 0 || block->hashes[CLAM_OF_URL][CLAM_SHA256][1] > 0;
}

/* ---- lists of domains ------------------------------------------------------------------------ */

/* The expressions of one list lie behind those of the other. */
static uint64_t n_domains(const struct clam_block *block)
{
    return block->n[CLAM_A_PROTECTED] + block->n[CLAM_A_HARMLESS];
}

void scanner_free_domains(struct sl_clamav_scanner *scanner)
{
    for (uint64_t i = 0; scanner->domains != NULL && i < n_domains(scanner->db->block); i++)
        if (scanner->domains[i].made)
            regfree(&scanner->domains[i].regex);
    free(scanner->domains);
}

/* Expressions are compiled when they are first needed. Most lack their tail. */
static bool matches(struct sl_clamav_scanner *scanner, const struct clam_domain *domain,
                    uint64_t number, const char *text)
{
    const struct clam_block *block = scanner->db->block;

    if (strstr(text, scanner->match.text + domain->tail) == NULL)
        return false;
    if (scanner->domains == NULL)
        scanner->domains = calloc(n_domains(block), sizeof *scanner->domains);
    if (scanner->domains == NULL)
        return false;
    struct scanner_domains *const expression = &scanner->domains[number];
    if (!expression->made)
        expression->made = regcomp(&expression->regex, scanner->match.text + domain->text,
                                   REG_EXTENDED | REG_NOSUB) == 0;
    return expression->made && regexec(&expression->regex, text, 0, NULL, 0) == 0;
}

/* The byte at the n-th place of the shown host, from 1, in what was shown before blanks were taken
 * out: a blank where one stands behind that place. */
static char shown_before(const struct link *link, size_t n)
{
    const char *const text = link->before;
    const size_t end = strlen(text);
    size_t at = 0;

    n += link->host_at;
    while (at < end && !isalnum((unsigned char)text[at]))
        at++;
    for (; at < end && n > 0; n--) {
        while (at < end && text[at] == ' ')
            at++;
        at += at < end;
    }
    while (at < end && text[at] == ' ')
        at++;
    return n > 0 && at == end ? '\0' : text[at > 0 ? at - 1 : 0];
}

/* Whether a text ends with the names, behind a dot, a blank or nothing. `link`: of the shown host
 * alone, where the blanks count that were taken out. */
static bool ends_with(const char *text, const char *names, const struct link *link)
{
    const size_t len = strlen(text), n = strlen(names);

    if (n > len || memcmp(text + len - n, names, n) != 0)
        return false;
    if (link != NULL) {
        const char behind = shown_before(link, len + 1);

        if (behind != '\0' && strchr(" /?", behind) == NULL)
            return false;
    }
    if (n == len)
        return true;
    const char before = link != NULL ? shown_before(link, len - n) : text[len - n - 1];
    return before == '.' || before == ' ';
}

/* The entry of a list that a text has. NULL: none. */
static const struct clam_domain *find(struct sl_clamav_scanner *scanner, enum clam_array list,
                                      const char *text, const struct link *link)
{
    const struct clam_block *block = scanner->db->block;
    const struct clam_domain *const domains = clam_at(block, list);
    const uint64_t base = list == CLAM_A_PROTECTED ? 0 : block->n[CLAM_A_PROTECTED];

    for (uint64_t i = 0; i < block->n[list]; i++)
        if (domains[i].is_expression ? matches(scanner, &domains[i], base + i, text)
                                     : ends_with(text, scanner->match.text + domains[i].text, link))
            return &domains[i];
    return NULL;
}

static const struct clam_domain *find_pair(struct sl_clamav_scanner *scanner, enum clam_array list,
                                           const char *real, const char *shown)
{
    char text[TEXT_ROOM];

    real += *real == '.';
    shown += *shown == '.';
    const size_t real_len = strlen(real), shown_len = strlen(shown);
    memcpy(text, real, real_len);
    text[real_len] = ':';
    memcpy(text + real_len + 1, shown, shown_len);
    memcpy(text + real_len + 1 + shown_len, "/", 2);
    return find(scanner, list, text, NULL);
}

/* Where blanks were taken out before the domain, its subdomains become that: "seepaypal.com" is
 * "see.paypal.com". */
static void part_domain(char host[URL_ROOM], const char *names)
{
    const size_t len = strlen(host), n = strlen(names) - 1;

    if (len < n + 2 || host[len - n - 1] == '.')
        return;
    memmove(host, host + 1, len - n - 1);
    host[len - n - 1] = '.';
}

static bool is_protected_host(struct sl_clamav_scanner *scanner, struct link *link)
{
    const char *const host = link->shown_host + 1;
    const size_t len = strlen(host);
    char text[TEXT_ROOM];

    if (len < 2)
        return false;
    memcpy(text, host, len);
    memcpy(text + len, "/", 2);
    const struct clam_domain *domain = find(scanner, CLAM_A_PROTECTED, text, link);
    if (domain != NULL && !domain->is_expression)
        part_domain(link->shown_host, scanner->match.text + domain->text);
    return domain != NULL;
}

/* ---- hashes of addresses --------------------------------------------------------------------- */

/* Of equal hashes the last one that was read counts, as for ClamAV. */
static const struct clam_hash *find_hash(const struct clam_block *block, uint64_t size,
                                         const uint8_t digest[32])
{
    const uint64_t *const range = block->hashes[CLAM_OF_URL][CLAM_SHA256];
    const uint8_t *const hashes = (const uint8_t *)clam_at(block, CLAM_A_HASHES) + range[0];
    uint64_t from = 0, to = range[1];

    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        const struct clam_hash *const hash = clam_hash_in(hashes, CLAM_SHA256, middle);

        if (hash->size < size || (hash->size == size && memcmp(hash->digest, digest, 32) <= 0))
            from = middle + 1;
        else
            to = middle;
    }
    const struct clam_hash *const last =
        from > 0 ? clam_hash_in(hashes, CLAM_SHA256, from - 1) : NULL;
    return last != NULL && last->size == size && memcmp(last->digest, digest, 32) == 0 ? last
                                                                                       : NULL;
}

/* The name of what an address, or the start of one, is known for. NULL: nothing. */
static const char *look_up(const struct sl_clamav_scanner *scanner, const char *host,
                           const struct url_form *form, size_t path_len)
{
    const struct clam_block *block = scanner->db->block;
    char text[URL_ROOM + URL_LEN_MAX];
    const size_t host_len = (size_t)(form->host + form->host_len - host);
    uint8_t digest[32];

    memcpy(text, host, host_len);
    memcpy(text + host_len, form->path, path_len);
    if (EVP_Digest(text, host_len + path_len, digest, NULL, EVP_sha256(), NULL) != 1 ||
        find_hash(block, CLAM_URL_ALLOWED, digest) != NULL)
        return NULL;
    const struct clam_hash *found = find_hash(block, CLAM_URL_FOUND, digest);
    return found != NULL ? clam_hash_name(scanner->db, found) : NULL;
}

/* Without a scheme, an address is not looked at further where the database has hashes. */
static const char *find_address(const struct sl_clamav_scanner *scanner, const char *url,
                                bool *is_over)
{
    const char *hosts[URL_HOSTS], *name = NULL;
    size_t paths[URL_PATHS];
    struct url_form form;

    *is_over = false;
    if (scanner->db->block->hashes[CLAM_OF_URL][CLAM_SHA256][1] == 0)
        return NULL;
    *is_over = !url_canonical(url, &form);
    if (*is_over)
        return NULL;
    const size_t n_hosts = url_hosts(&form, hosts), n_paths = url_paths(&form, paths);
    for (size_t p = 0; p < n_paths && name == NULL; p++)
        for (size_t h = 0; h < n_hosts && name == NULL; h++)
            name = look_up(scanner, hosts[h], &form, paths[p]);
    return name;
}

/* ---- a link ---------------------------------------------------------------------------------- */

/* False: the host of what is shown, or of the link, is none. */
static bool take_hosts(struct link *link)
{
    size_t from, to;

    if (!url_find_host(link->shown, true, &from, &to))
        return false;
    link->host_at = from;
    link->before[to] = '\0';
    link->shown_host[0] = link->real_host[0] = '.';
    memcpy(link->shown_host + 1, link->shown + from, to - from);
    link->shown_host[to - from + 1] = '\0';
    if (!url_find_host(link->real, false, &from, &to))
        return false;
    memcpy(link->real_host + 1, link->real + from, to - from);
    link->real_host[to - from + 1] = '\0';
    return strchr(link->shown_host, ' ') == NULL && strchr(link->real_host, ' ') == NULL &&
           strstr(link->real_host, "..") == NULL;
}

static bool has_tls(const char *url)
{
    return strncmp(url, "https:", 6) == 0;
}

/* What a link is whose addresses differ. */
static const char *compare(struct sl_clamav_scanner *scanner, struct link *link,
                           const struct clam_links *links)
{
    bool is_listed = find_pair(scanner, CLAM_A_PROTECTED, link->real, link->shown) != NULL;

    if (!take_hosts(link) || strcmp(link->real, link->shown) == 0 ||
        find_pair(scanner, CLAM_A_HARMLESS, link->real_host, link->shown_host) != NULL)
        return NULL;
    const bool is_protected = is_protected_host(scanner, link);
    is_listed |= is_protected;
    if (link->kind == UNPACK_LINK_IMAGE && !is_protected)
        return NULL;
    if ((is_protected || links->finds_cloak) && strchr(link->real, 1) != NULL)
        return "Heuristics.Phishing.Email.Cloaked.Null";
    if ((is_protected || links->finds_ssl) && link->kind == UNPACK_LINK_TEXT &&
        has_tls(link->shown) && !has_tls(link->real))
        return "Heuristics.Phishing.Email.SSL-Spoof";
    return is_listed && strcmp(url_domain(link->real_host), url_domain(link->shown_host)) != 0
               ? "Heuristics.Phishing.Email.SpoofedDomain"
               : NULL;
}

/* The name of what a link is. NULL: harmless. */
static const char *check(struct sl_clamav_scanner *scanner, struct link *link,
                         const struct clam_links *links)
{
    bool is_over;

    if (!url_is_link(link->real, false))
        return NULL;
    const char *const name = find_address(scanner, link->real, &is_over);
    if (name != NULL || is_over || link->shown[0] == '\0' || strcmp(link->real, link->shown) == 0)
        return name;
    url_reduce(link->real, NULL);
    url_reduce(link->shown, link->before);
    if (strcmp(link->real, link->shown) == 0 || !url_is_link(link->shown, true) ||
        find_pair(scanner, CLAM_A_HARMLESS, link->real, link->shown) != NULL)
        return NULL;
    return compare(scanner, link, links);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Copies a text of a record. False: it has no end, or is too long. */
static bool take_text(const uint8_t **at, const uint8_t *end, char text[URL_ROOM])
{
    const uint8_t *const nul = memchr(*at, 0, (size_t)(end - *at));

    if (nul == NULL || nul - *at > URL_LEN_MAX)
        return false;
    memcpy(text, *at, (size_t)(nul - *at) + 1);
    *at = nul + 1;
    return true;
}

bool clam_scan_links(struct sl_clamav_scanner *scanner, const struct clam_links *links,
                     void (*found)(void *user, const char *name), void *user)
{
    const uint8_t *at = links->records, *const end = at + links->len;

    while (at < end && *at < UNPACK_LINK_KINDS) {
        struct link link = {.kind = (enum unpack_link) * at++};

        if (!take_text(&at, end, link.real) || !take_text(&at, end, link.shown))
            return true;
        const char *const name = check(scanner, &link, links);
        if (name != NULL)
            found(user, name);
        if (links->deadline_ns > 0 && clock_ns() >= links->deadline_ns)
            return false;
    }
    return true;
}
