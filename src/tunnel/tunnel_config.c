/* SPDX-License-Identifier: MIT */
/* Each line is a section, a key with its value, a comment, or an error. */
#include "tunnel_config.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sluice/redundancy.h"

enum {
    TEXT_MAX = 1 << 20, /* bytes of a file */
    LINE_MAX_LEN = 4096,
    DEFAULT_PORT = 5182,
    DEFAULT_DEAD = 10,   /* seconds */
    DEFAULT_CACHE = 256, /* MiB */
    DEFAULT_PERIOD = 32, /* bytes */
    DEFAULT_WINDOW = 32, /* bytes */
    KEYS = 32
};

#define RATE_LEAST UINT64_C(64000)
#define RATE_MOST UINT64_C(1000000000000) /* bits a second */

enum section { SECTION_NONE, SECTION_TUNNEL, SECTION_PEER };

struct reader {
    struct tunnel_config *config;
    const char *path;
    struct sl_diag *diag;
    uint32_t line;
    enum section section;
    uint32_t given; /* keys of the section so far, by bit */
    uint32_t tunnel_line, peer_line;
    bool has_underlay;
};

/* Returns false, with the reason. */
#define REFUSE(r, ...) (diag_set((r)->diag, SL_EFORMAT, (r)->path, (r)->line, __VA_ARGS__), false)

static struct peer_config *peer_of(const struct reader *r)
{
    return &r->config->peers[r->config->n_peers - 1];
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool take_number(struct reader *r, const char *key, const char *value, uint64_t lowest,
                        uint64_t highest, uint64_t *number)
{
    const size_t len = strlen(value);

    if (len > 0 && len < 19 && strspn(value, "0123456789") == len) {
        *number = strtoull(value, NULL, 10);
        if (*number >= lowest && *number <= highest)
            return true;
    }
    return REFUSE(r, "%s = '%s' (expected a number from %llu to %llu)", key, value,
                  (unsigned long long)lowest, (unsigned long long)highest);
}

static bool take_bytes(struct reader *r, const char *key, const char *value, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;

    errno = 0;
    const unsigned long long n = strtoull(value, &end, 10);
    const char *const unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == value || !isdigit((unsigned char)value[0]) || errno != 0 ||
        (*end != '\0' && (unit == NULL || end[1] != '\0')) || n > UINT64_MAX >> 8 >> shift ||
        n << shift < SL_REDUNDANCY_CACHE_MIN)
        return REFUSE(r, "%s = '%s' (expected bytes, or with K, M or G, at least 1M)", key, value);
    *bytes = n << shift;
    return true;
}

/* Calls `take` with each part of a list between commas. */
static bool take_list(struct reader *r, const char *key, char *value,
                      bool (*take)(struct reader *r, const char *key, const char *part))
{
    char *rest = NULL;

    if (value[0] == '\0' || value[strlen(value) - 1] == ',')
        return REFUSE(r, "%s has an empty value", key);
    for (char *part = strtok_r(value, ", \t", &rest); part != NULL;
         part = strtok_r(NULL, ", \t", &rest))
        if (!take(r, key, part))
            return false;
    return true;
}

static bool add_network(struct reader *r, const char *key, const char *part,
                        struct network *networks, size_t *n)
{
    if (*n == TUNNEL_NETWORKS)
        return REFUSE(r, "%s has more than %d networks", key, TUNNEL_NETWORKS);
    if (!network_parse(&networks[*n], part))
        return REFUSE(r, "%s '%s' (expected a network such as 192.0.2.0/24 or 2001:db8::/32)", key,
                      part);
    ++*n;
    return true;
}

static bool add_address(struct reader *r, const char *key, const char *part)
{
    return add_network(r, key, part, r->config->address, &r->config->n_addresses);
}

static bool add_allowed(struct reader *r, const char *key, const char *part)
{
    return add_network(r, key, part, peer_of(r)->allowed, &peer_of(r)->n_allowed);
}

static bool add_bypass(struct reader *r, const char *key, const char *part)
{
    struct peer_config *const peer = peer_of(r);
    const bool is_tcp = strncmp(part, "tcp/", 4) == 0;
    uint64_t port;

    if (peer->n_bypass == PAIR_BYPASS_PORTS)
        return REFUSE(r, "%s has more than %d ports", key, PAIR_BYPASS_PORTS);
    if (!is_tcp && strncmp(part, "udp/", 4) != 0)
        return REFUSE(r, "%s '%s' (expected tcp/PORT or udp/PORT)", key, part);
    if (!take_number(r, key, part + 4, 1, 65535, &port))
        return false;
    peer->bypass[peer->n_bypass++] =
        (struct pair_port){is_tcp ? IPPROTO_TCP : IPPROTO_UDP, (uint16_t)port};
    return true;
}

static bool take_device(struct reader *r, const char *key, const char *value, char name[IFNAMSIZ])
{
    const size_t len = strlen(value);

    if (len == 0 || len >= IFNAMSIZ || strpbrk(value, "/ \t%:") != NULL ||
        strcmp(value, ".") == 0 || strcmp(value, "..") == 0)
        return REFUSE(r, "%s = '%s' (expected a device's name of 1 to %d bytes)", key, value,
                      IFNAMSIZ - 1);
    memcpy(name, value, len + 1);
    return true;
}

static bool take_text(struct reader *r, const char *key, const char *value, char *out, size_t cap)
{
    if (value[0] == '\0' || strlen(value) >= cap)
        return REFUSE(r, "%s = '%s' (expected 1 to %zu bytes)", key, value, cap - 1);
    memcpy(out, value, strlen(value) + 1);
    return true;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool set_interface(struct reader *r, const char *key, char *value)
{
    return take_device(r, key, value, r->config->interface);
}

static bool set_address(struct reader *r, const char *key, char *value)
{
    return take_list(r, key, value, add_address);
}

static bool set_underlay(struct reader *r, const char *key, char *value)
{
    r->has_underlay = true;
    return strcmp(value, "trusted") == 0 || take_device(r, key, value, r->config->underlay);
}

static bool set_listen(struct reader *r, const char *key, char *value)
{
    uint64_t port;
    const bool taken = take_number(r, key, value, 1, 65535, &port);

    r->config->port = taken ? (uint16_t)port : 0;
    return taken;
}

static bool set_mtu(struct reader *r, const char *key, char *value)
{
    uint64_t mtu;
    const bool taken = take_number(r, key, value, 1280, PAIR_PACKET_MAX, &mtu);

    r->config->mtu = taken ? (uint32_t)mtu : 0;
    return taken;
}

static bool set_path_mtu(struct reader *r, const char *key, char *value)
{
    uint64_t mtu;
    const bool taken = take_number(r, key, value, 1280, 65535, &mtu);

    r->config->path_mtu = taken ? (uint32_t)mtu : 0;
    return taken;
}

static bool set_dead_after(struct reader *r, const char *key, char *value)
{
    uint64_t seconds;
    const bool taken = take_number(r, key, value, 1, 3600, &seconds);

    r->config->dead_after = taken ? seconds * UINT64_C(1000000000) : 0;
    return taken;
}

static bool take_choice(struct reader *r, const char *key, const char *value, bool *choice)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return REFUSE(r, "%s = '%s' (expected yes or no)", key, value);
    *choice = strcmp(value, "yes") == 0;
    return true;
}

static bool set_routes(struct reader *r, const char *key, char *value)
{
    return take_choice(r, key, value, &r->config->routes);
}

static bool set_control(struct reader *r, const char *key, char *value)
{
    return take_text(r, key, value, r->config->control, sizeof r->config->control);
}

static bool set_metrics(struct reader *r, const char *key, char *value)
{
    struct sockaddr_storage endpoint;

    if (!endpoint_parse(&endpoint, value))
        return REFUSE(r, "%s = '%s' (expected ADDRESS:PORT)", key, value);
    return take_text(r, key, value, r->config->metrics, sizeof r->config->metrics);
}

/* A name that may stand in counters. */
static bool take_name(struct reader *r, const char *key, const char *value, char name[TUNNEL_NAME])
{
    for (const char *at = value; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("-_.", *at) == NULL)
            return REFUSE(r, "%s = '%s' (expected letters, digits, '-', '_' and '.')", key, value);
    return take_text(r, key, value, name, TUNNEL_NAME);
}

static bool set_name(struct reader *r, const char *key, char *value)
{
    for (size_t i = 0; i + 1 < r->config->n_peers; i++)
        if (strcmp(r->config->peers[i].name, value) == 0)
            return REFUSE(r, "two peers have the name '%s'", value);
    return take_name(r, key, value, peer_of(r)->name);
}

static bool set_tenant(struct reader *r, const char *key, char *value)
{
    return take_name(r, key, value, peer_of(r)->tenant);
}

static bool set_endpoint(struct reader *r, const char *key, char *value)
{
    return endpoint_parse(&peer_of(r)->endpoint, value) ||
           REFUSE(r, "%s = '%s' (expected ADDRESS:PORT or [ADDRESS]:PORT)", key, value);
}

static bool set_allowed(struct reader *r, const char *key, char *value)
{
    return take_list(r, key, value, add_allowed);
}

static bool set_cache(struct reader *r, const char *key, char *value)
{
    return take_bytes(r, key, value, &peer_of(r)->cache_len);
}

static bool set_cache_file(struct reader *r, const char *key, char *value)
{
    for (size_t i = 0; i + 1 < r->config->n_peers; i++)
        if (strcmp(r->config->peers[i].cache_file, value) == 0)
            return REFUSE(r, "two peers have the %s '%s'", key, value);
    return take_text(r, key, value, peer_of(r)->cache_file, sizeof peer_of(r)->cache_file);
}

static bool set_compress(struct reader *r, const char *key, char *value)
{
    return take_choice(r, key, value, &peer_of(r)->compresses);
}

static bool set_pad(struct reader *r, const char *key, char *value)
{
    return take_choice(r, key, value, &peer_of(r)->pads);
}

/* Bits a second, in units of 1,000. */
static bool set_rate(struct reader *r, const char *key, char *value)
{
    static const char units[] = "KMG";
    const size_t digits = strspn(value, "0123456789");
    const char *const unit = value[digits] != '\0' ? strchr(units, value[digits]) : NULL;
    uint64_t bits = digits > 0 && digits < 13 ? strtoull(value, NULL, 10) : 0;

    if (value[digits] != '\0' && (unit == NULL || value[digits + 1] != '\0'))
        bits = 0;
    for (const char *at = unit; at != NULL && at >= units; at--)
        bits *= 1000;
    if (bits < RATE_LEAST || bits > RATE_MOST)
        return REFUSE(r, "%s = '%s' (expected bits a second such as 20M, at least 64K)", key,
                      value);
    peer_of(r)->rate = bits / 8;
    return true;
}

static bool set_sampler(struct reader *r, const char *key, char *value)
{
    (void)key;
    for (const char *const *name = sl_samplers(); *name != NULL; name++) {
        if (strcmp(*name, value) == 0) {
            peer_of(r)->sampler = *name;
            return true;
        }
    }
    struct sl_diag why;
    const char *found;
    (void)!sl_sampling_variant(&found, "", &why);
    return REFUSE(r, "Sampler = '%s': %s", value, why.text);
}

static bool set_period(struct reader *r, const char *key, char *value)
{
    uint64_t period;
    const bool taken = take_number(r, key, value, 1, SL_SAMPLING_PERIOD_MAX, &period);

    peer_of(r)->period = taken ? (uint32_t)period : 0;
    return taken;
}

static bool set_window(struct reader *r, const char *key, char *value)
{
    uint64_t window;
    const bool taken =
        take_number(r, key, value, SL_SAMPLING_WINDOW_MIN, SL_SAMPLING_WINDOW_MAX, &window);

    peer_of(r)->window = taken ? (uint32_t)window : 0;
    return taken;
}

static bool set_bypass(struct reader *r, const char *key, char *value)
{
    return take_list(r, key, value, add_bypass);
}

static const struct {
    const char *key;
    bool (*set)(struct reader *r, const char *key, char *value);
    enum section section;
    bool repeats;
} keys[] = {
    {"Interface", set_interface, SECTION_TUNNEL, false},
    {"Address", set_address, SECTION_TUNNEL, true},
    {"Underlay", set_underlay, SECTION_TUNNEL, false},
    {"ListenPort", set_listen, SECTION_TUNNEL, false},
    {"MTU", set_mtu, SECTION_TUNNEL, false},
    {"PathMTU", set_path_mtu, SECTION_TUNNEL, false},
    {"DeadAfter", set_dead_after, SECTION_TUNNEL, false},
    {"Routes", set_routes, SECTION_TUNNEL, false},
    {"Control", set_control, SECTION_TUNNEL, false},
    {"Metrics", set_metrics, SECTION_TUNNEL, false},
    {"Name", set_name, SECTION_PEER, false},
    {"Endpoint", set_endpoint, SECTION_PEER, false},
    {"AllowedIPs", set_allowed, SECTION_PEER, true},
    {"Cache", set_cache, SECTION_PEER, false},
    {"Tenant", set_tenant, SECTION_PEER, false},
    {"CacheFile", set_cache_file, SECTION_PEER, false},
    {"Compress", set_compress, SECTION_PEER, false},
    {"Pad", set_pad, SECTION_PEER, false},
    {"Rate", set_rate, SECTION_PEER, false},
    {"Sampler", set_sampler, SECTION_PEER, false},
    {"Period", set_period, SECTION_PEER, false},
    {"Window", set_window, SECTION_PEER, false},
    {"Bypass", set_bypass, SECTION_PEER, true},
};

enum { N_KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)N_KEYS <= (int)KEYS, "a bit for each key");

/* ---- sections -------------------------------------------------------------------------------- */

bool tunnel_config_shares(const struct peer_config *peer, const struct peer_config *other)
{
    return peer == other || (peer->tenant[0] != '\0' && strcmp(peer->tenant, other->tenant) == 0);
}

static bool end_peer(struct reader *r)
{
    if (r->section != SECTION_PEER)
        return true;
    r->line = r->peer_line;
    if (peer_of(r)->n_allowed == 0)
        return REFUSE(r, "the peer has no AllowedIPs: no packet could come from it");
    for (size_t i = 0; i + 1 < r->config->n_peers; i++)
        if (tunnel_config_shares(&r->config->peers[i], peer_of(r)) &&
            r->config->peers[i].cache_len != peer_of(r)->cache_len)
            return REFUSE(r, "another Cache than that of tenant '%s' before", peer_of(r)->tenant);
    return true;
}

static bool begin_peer(struct reader *r)
{
    struct tunnel_config *const config = r->config;

    if (config->n_peers == TUNNEL_PEERS)
        return REFUSE(r, "more than %d peers", TUNNEL_PEERS);

    struct peer_config *const more =
        realloc(config->peers, (config->n_peers + 1) * sizeof *config->peers);
    if (more == NULL)
        return REFUSE(r, "no memory for a peer");
    config->peers = more;
    more[config->n_peers++] = (struct peer_config){.cache_len = (uint64_t)DEFAULT_CACHE << 20,
                                                   .sampler = "rabin",
                                                   .period = DEFAULT_PERIOD,
                                                   .window = DEFAULT_WINDOW};
    snprintf(peer_of(r)->name, TUNNEL_NAME, "peer%zu", config->n_peers);
    r->peer_line = r->line;
    return true;
}

static bool begin_section(struct reader *r, const char *name)
{
    const uint32_t line = r->line;

    if (!end_peer(r))
        return false;
    r->line = line;
    r->given = 0;
    if (strcasecmp(name, "[Tunnel]") == 0) {
        if (r->tunnel_line != 0)
            return REFUSE(r, "[Tunnel] is there twice, first in line %u", r->tunnel_line);
        r->tunnel_line = line;
        r->section = SECTION_TUNNEL;
        return true;
    }
    if (strcasecmp(name, "[Peer]") != 0)
        return REFUSE(r, "'%s' is no section (expected [Tunnel] or [Peer])", name);
    r->section = SECTION_PEER;
    return begin_peer(r);
}

static bool set_key(struct reader *r, const char *key, char *value)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].section != r->section || strcasecmp(keys[i].key, key) != 0)
            continue;
        if ((r->given & 1u << i) != 0 && !keys[i].repeats)
            return REFUSE(r, "%s is there twice", keys[i].key);
        r->given |= 1u << i;
        return keys[i].set(r, keys[i].key, value);
    }
    for (size_t i = 0; i < N_KEYS; i++)
        if (r->section != SECTION_NONE && strcasecmp(keys[i].key, key) == 0)
            return REFUSE(r, "%s belongs to [%s]", keys[i].key,
                          keys[i].section == SECTION_PEER ? "Peer" : "Tunnel");
    return r->section == SECTION_NONE ? REFUSE(r, "'%s' is in no section", key)
                                      : REFUSE(r, "'%s' is no key", key);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static bool take_line(struct reader *r, char *line)
{
    line[strcspn(line, "#")] = '\0';
    line = trim(line);
    if (line[0] == '\0')
        return true;
    if (line[0] == '[')
        return begin_section(r, line);

    char *const sign = strchr(line, '=');
    if (sign == NULL)
        return REFUSE(r, "'%s' (expected [SECTION] or KEY = VALUE)", line);
    *sign = '\0';
    return set_key(r, trim(line), trim(sign + 1));
}

/* The faults that no line alone shows. */
static bool check_whole(struct reader *r)
{
    struct tunnel_config *const config = r->config;

    r->line = r->tunnel_line;
    if (r->tunnel_line == 0)
        return REFUSE(r, "there is no [Tunnel]");
    if (config->interface[0] == '\0')
        return REFUSE(r, "[Tunnel] has no Interface");
    if (!r->has_underlay)
        return REFUSE(r, "[Tunnel] has no Underlay (a WireGuard device, or 'trusted' where the way "
                         "to the peer is authenticated by other means)");
    if (config->n_peers == 0)
        return REFUSE(r, "there is no [Peer]");
    if (config->control[0] == '\0')
        snprintf(config->control, sizeof config->control, "/run/sluice/%s.sock", config->interface);

    size_t n_callers = 0;
    for (size_t i = 0; i < config->n_peers; i++)
        n_callers += config->peers[i].endpoint.ss_family == AF_UNSPEC ? 1 : 0;
    if (n_callers > 1)
        return REFUSE(r, "%zu peers have no Endpoint: they could not be told apart (at most 1)",
                      n_callers);
    return true;
}

enum sl_status tunnel_config_parse(struct tunnel_config *config, const char *path, const char *text,
                                   size_t len, struct sl_diag *diag)
{
    struct reader r = {.config = config, .path = path, .diag = diag};

    *config = (struct tunnel_config){
        .port = DEFAULT_PORT, .dead_after = DEFAULT_DEAD * UINT64_C(1000000000), .routes = true};
    for (size_t at = 0; at < len;) {
        const char *const newline = memchr(text + at, '\n', len - at);
        const size_t line_len = (newline != NULL ? (size_t)(newline - text) : len) - at;
        char line[LINE_MAX_LEN];

        r.line++;
        if (line_len >= sizeof line)
            return diag_set(diag, SL_EFORMAT, path, r.line, "a line of %zu bytes (at most %zu)",
                            line_len, sizeof line - 1);
        memcpy(line, text + at, line_len);
        line[line_len] = '\0';
        if (strlen(line) != line_len)
            return diag_set(diag, SL_EFORMAT, path, r.line, "a NUL byte");
        if (!take_line(&r, line))
            return SL_EFORMAT;
        at += line_len + 1;
    }
    return end_peer(&r) && check_whole(&r) ? SL_OK : SL_EFORMAT;
}

enum sl_status tunnel_config_read(struct tunnel_config *config, const char *path,
                                  struct sl_diag *diag)
{
    FILE *const file = fopen(path, "re");
    char *const text = malloc(TEXT_MAX);
    enum sl_status status;

    *config = (struct tunnel_config){0};
    if (file == NULL) {
        free(text);
        return diag_set(diag, SL_EIO, path, 0, "%s", strerror(errno));
    }
    const size_t len = text != NULL ? fread(text, 1, TEXT_MAX, file) : 0;
    if (text == NULL)
        status = diag_set(diag, SL_ENOMEM, path, 0, "no memory");
    else if (ferror(file))
        status = diag_set(diag, SL_EIO, path, 0, "%s", strerror(errno));
    else if (len == TEXT_MAX)
        status = diag_set(diag, SL_EFORMAT, path, 0, "longer than %d bytes", TEXT_MAX - 1);
    else
        status = tunnel_config_parse(config, path, text, len, diag);
    (void)fclose(file);
    free(text);
    return status;
}

void tunnel_config_clear(struct tunnel_config *config)
{
    free(config->peers);
    *config = (struct tunnel_config){0};
}
