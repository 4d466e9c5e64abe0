/* SPDX-License-Identifier: MIT */
#include "scan_cache.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 1 << 16, READ_LEN = 1 << 16 };

struct scan_cache {
    pthread_mutex_t lock;
    uint8_t slots[SLOTS][SCAN_DIGEST_LEN]; /* zeros: an empty one */
};

struct scan_cache *scan_cache_create(void)
{
    struct scan_cache *cache = calloc(1, sizeof *cache);

    if (cache != NULL)
        pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void scan_cache_free(struct scan_cache *cache)
{
    if (cache != NULL)
        pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static uint8_t *slot_of(struct scan_cache *cache, const uint8_t *digest)
{
    return cache->slots[(size_t)digest[0] << 8 | digest[1]];
}

bool scan_cache_has(struct scan_cache *cache, const uint8_t digest[SCAN_DIGEST_LEN])
{
    pthread_mutex_lock(&cache->lock);
    const bool found = memcmp(slot_of(cache, digest), digest, SCAN_DIGEST_LEN) == 0;
    pthread_mutex_unlock(&cache->lock);
    return found;
}

void scan_cache_add(struct scan_cache *cache, const uint8_t digest[SCAN_DIGEST_LEN])
{
    pthread_mutex_lock(&cache->lock);
    memcpy(slot_of(cache, digest), digest, SCAN_DIGEST_LEN);
    pthread_mutex_unlock(&cache->lock);
}

bool scan_digest_file(int fd, uint8_t digest[SCAN_DIGEST_LEN])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool made = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    uint8_t bytes[READ_LEN];
    off_t at = 0;
    ssize_t n = 0;

    while (made && (n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        made = EVP_DigestUpdate(context, bytes, (size_t)n) == 1;
        at += n;
    }
    made = made && n == 0 && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    return made;
}
