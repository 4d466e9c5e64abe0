/* SPDX-License-Identifier: MIT */
/* --cache FILE of encode and decode: the cache of the run before, and of the next one. */
#ifndef CLI_CACHE_OPTION_H
#define CLI_CACHE_OPTION_H

#include "base/new_file.h"
#include "sluice/redundancy.h"

struct kept_cache {
    const char *path; /* NULL: none is kept */
    int in;           /* -1: there was none */
    struct new_file file;
};

/* Opens both descriptors of the config. False: the reason was printed. */
bool kept_cache_open(struct kept_cache *cache, struct sl_redundancy_file_config *config);

/* The new cache takes the path where `keeps`. False: the reason was printed. */
bool kept_cache_close(struct kept_cache *cache, bool keeps);

#endif
