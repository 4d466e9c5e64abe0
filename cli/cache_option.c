/* SPDX-License-Identifier: MIT */
#include "cache_option.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

bool kept_cache_open(struct kept_cache *cache, struct sl_redundancy_file_config *config)
{
    struct sl_diag diag;

    if (cache->path == NULL)
        return true;
    cache->in = open(cache->path, O_RDONLY | O_CLOEXEC);
    if (cache->in < 0 && errno != ENOENT) {
        cli_error("%s: %s", cache->path, strerror(errno));
        return false;
    }
    if (new_file_create(&cache->file, cache->path, &diag) != SL_OK) {
        cli_diag(&diag);
        if (cache->in >= 0)
            close(cache->in);
        return false;
    }
    config->cache_in = cache->in;
    config->cache_out = cache->file.fd;
    return true;
}

bool kept_cache_close(struct kept_cache *cache, bool keeps)
{
    struct sl_diag diag;

    if (cache->path == NULL)
        return true;
    if (cache->in >= 0)
        close(cache->in);
    if (!keeps) {
        new_file_drop(&cache->file);
        return true;
    }
    if (new_file_end(&cache->file, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}
