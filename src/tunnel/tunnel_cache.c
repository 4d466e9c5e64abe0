/* SPDX-License-Identifier: MIT */
/* CacheFile: the caches that a tunnel keeps when it ends, and goes on with when it begins. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/new_file.h"
#include "tunnel_state.h"

static void say(const struct sl_tunnel *t, const struct tunnel_peer *peer, const char *what,
                const char *why)
{
    char line[512];

    snprintf(line, sizeof line, "%s: peer %s: %s: %s%s%s", t->config.interface, peer->config->name,
             peer->config->cache_file, what, why[0] != '\0' ? ": " : "", why);
    if (t->say != NULL)
        t->say(t->user, line);
}

static void load(const struct sl_tunnel *t, const struct tunnel_peer *peer)
{
    const int fd = open(peer->config->cache_file, O_RDONLY | O_CLOEXEC);
    struct sl_diag diag = {0};
    bool sends = false;

    if (fd < 0 && errno == ENOENT)
        return;
    if (fd < 0)
        say(t, peer, "the cache begins empty", strerror(errno));
    else if (pair_load(peer->pair, fd, &sends, &diag) == SL_OK)
        say(t, peer, "the cache goes on", "");
    else
        say(t, peer, sends ? "the cache goes on, but for what comes" : "the cache begins empty",
            diag.text);
    if (fd >= 0)
        close(fd);
}

/* The content of packets is for nobody else to read. */
static void save(const struct sl_tunnel *t, const struct tunnel_peer *peer)
{
    struct new_file file;
    struct sl_diag diag = {0};
    enum sl_status status = new_file_create(&file, peer->config->cache_file, &diag);

    if (status == SL_OK) {
        if (fchmod(file.fd, S_IRUSR | S_IWUSR) != 0)
            status =
                diag_set(&diag, SL_EIO, NULL, 0, "its mode cannot be set: %s", strerror(errno));
        if (status == SL_OK)
            status = pair_save(peer->pair, file.fd, &diag);
        if (status == SL_OK)
            status = new_file_end(&file, &diag);
        else
            new_file_drop(&file);
    }
    if (status != SL_OK)
        say(t, peer, "the cache is not kept", diag.text);
}

void tunnel_load_caches(struct sl_tunnel *tunnel)
{
    for (size_t i = 0; i < tunnel->config.n_peers; i++)
        if (tunnel->peers[i].config->cache_file[0] != '\0')
            load(tunnel, &tunnel->peers[i]);
}

void tunnel_save_caches(struct sl_tunnel *tunnel)
{
    for (size_t i = 0; i < tunnel->config.n_peers; i++)
        if (tunnel->peers[i].config->cache_file[0] != '\0')
            save(tunnel, &tunnel->peers[i]);
}
