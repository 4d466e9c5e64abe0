/* SPDX-License-Identifier: MIT */
#include "app_digest.h"

#include <openssl/evp.h>
#include <pthread.h>

/* Fetched once: EVP_md5 and its like are looked up at each use, under a lock of all threads. */
static EVP_MD *md[APP_N_HASHES];

static void fetch(void)
{
    static const char *const names[APP_N_HASHES] = {"MD5", "SHA1", "SHA256"};

    for (int i = 0; i < APP_N_HASHES; i++)
        md[i] = EVP_MD_fetch(NULL, names[i], NULL);
}

bool app_digest(uint8_t *digest, enum app_hash hash, const void *bytes, uint32_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    return pthread_once(&once, fetch) == 0 && md[hash] != NULL &&
           EVP_Digest(bytes, len, digest, NULL, md[hash], NULL) == 1;
}
