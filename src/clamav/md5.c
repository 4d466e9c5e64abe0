/* SPDX-License-Identifier: MIT */
#include <openssl/evp.h>

#include "clamav/md5.h"

bool clam_md5_is_refused(void)
{
    EVP_MD *md5 = EVP_MD_fetch(NULL, "MD5", NULL);

    EVP_MD_free(md5);
    return md5 == NULL;
}

bool clam_md5(const void *bytes, size_t len, uint8_t digest[16])
{
    return EVP_Digest(bytes, len, digest, NULL, EVP_md5(), NULL) == 1;
}
