/* SPDX-License-Identifier: MIT */
#include "unpack/aes.h"

bool aes_run(const EVP_CIPHER *type, bool encrypts, const uint8_t *key, const uint8_t *iv,
             const uint8_t *in, size_t len, uint8_t *out)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int n = 0;
    const bool ok = context != NULL && len <= INT32_MAX &&
                    EVP_CipherInit_ex(context, type, NULL, key, iv, encrypts) == 1 &&
                    EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
                    EVP_CipherUpdate(context, out, &n, in, (int)len) == 1;

    EVP_CIPHER_CTX_free(context);
    return ok;
}
