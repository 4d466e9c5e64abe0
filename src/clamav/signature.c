/* SPDX-License-Identifier: MIT */
#include "clamav/signature.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <string.h>

enum { MODULUS_LEN_MAX = 512 };

const struct clam_key clam_header_key = {"118640995551645342603070001658453189751527774412027743746"
                                         "599405743243142607464144767361060640655"
                                         "844749760788890022283424922762488917565551002467771109669"
                                         "598189410434699034532232228621591089508"
                                         "178591428456220796841621637175567590476666928698770143328"
                                         "137383952820383197532047771780196576957"
                                         "695822641224262693037",
                                         "100001027"};

const struct clam_key clam_list_key = {"11088894983048545473659556106627194923928941791795047620591"
                                       "6586974135810433227159121724968065253"
                                       "81055880964520618400224333320534660299233983755341740679502"
                                       "8668299096799557343913926683783612215"
                                       "24205396631090105151641270857277080310734320951653700508941"
                                       "7174191687239425078907029047027075874"
                                       "51621691050754307850383399865346487203798464178537392211402"
                                       "7864813598244611972311028954150937703"
                                       "94216666324484593935762408468516826633192140826667923494822"
                                       "0458053478099328484548458869717064243"
                                       "60558667862775876072059437703365380209101697738577515476935"
                                       "0854694552799941131459779940846183284"
                                       "82151013142393373316337519977244732747977",
                                       "100002049"};

/* The value of a digit: a to z, A to Z, 0 to 9, "+", "/"; 64: it is none. */
static unsigned digit_value(char digit)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;

    return found != NULL ? (unsigned)(found - digits) : 64;
}

/* Writes a number of `len` bytes, the greatest first. False: it is none, or does not fit. */
static bool read_number(struct clam_text text, uint8_t *number, size_t len)
{
    memset(number, 0, len);
    for (size_t i = 0; i < text.len; i++) {
        const unsigned value = digit_value(text.at[i]);

        if (value > 63)
            return false;
        for (unsigned bit = 0; bit < 6; bit++) {
            const size_t at = 6 * i + bit;

            if ((value >> bit & 1) == 0)
                continue;
            if (at / 8 >= len)
                return false;
            number[len - 1 - at / 8] |= (uint8_t)(1u << at % 8);
        }
    }
    return text.len > 0;
}

EVP_PKEY *clam_rsa_key(const BIGNUM *modulus, const BIGNUM *exponent)
{
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;

    if (builder != NULL && context != NULL &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    if (parameters == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *make_key(const struct clam_key *from)
{
    BIGNUM *modulus = NULL, *exponent = NULL;
    EVP_PKEY *key = NULL;

    if (BN_dec2bn(&modulus, from->modulus) > 0 && BN_dec2bn(&exponent, from->exponent) > 0)
        key = clam_rsa_key(modulus, exponent);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

/* Why OpenSSL did not verify: its functions return the same where they have no memory. */
static enum clam_signed refusal(void)
{
    enum clam_signed found = CLAM_SIGNED_UNKNOWN;

    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
            found = CLAM_SIGNED_NO_MEMORY;
        else if (found != CLAM_SIGNED_NO_MEMORY && ERR_GET_LIB(error) == ERR_LIB_RSA &&
                 ERR_GET_REASON(error) < ERR_R_FATAL)
            found = CLAM_NOT_SIGNED;
    return found;
}

/* Whether the number that a signature is a power of has the MD5, and zeros before it. */
static enum clam_signed is_md5(EVP_PKEY_CTX *context, const uint8_t *number, size_t len,
                               const uint8_t *md5)
{
    static const uint8_t zeros[MODULUS_LEN_MAX];
    uint8_t plain[MODULUS_LEN_MAX];
    size_t plain_len = sizeof plain;

    if (EVP_PKEY_verify_recover_init(context) != 1 ||
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) != 1)
        return CLAM_SIGNED_UNKNOWN;
    if (EVP_PKEY_verify_recover(context, plain, &plain_len, number, len) != 1)
        return refusal();
    return plain_len == len && memcmp(plain, zeros, len - 16) == 0 &&
                   memcmp(plain + len - 16, md5, 16) == 0
               ? CLAM_SIGNED
               : CLAM_NOT_SIGNED;
}

static enum clam_signed is_sha256(EVP_PKEY_CTX *context, const uint8_t *number, size_t len,
                                  const uint8_t *sha256)
{
    enum { DIGEST = 32 }; /* bytes, and of the salt */

    if (EVP_PKEY_verify_init(context) != 1 ||
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) != 1 ||
        EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) != 1 ||
        EVP_PKEY_CTX_set_rsa_pss_saltlen(context, DIGEST) != 1)
        return CLAM_SIGNED_UNKNOWN;
    return EVP_PKEY_verify(context, number, len, sha256, DIGEST) == 1 ? CLAM_SIGNED : refusal();
}

static enum clam_signed
check(const struct clam_key *from, struct clam_text signature, const uint8_t *digest,
      enum clam_signed (*is_of)(EVP_PKEY_CTX *, const uint8_t *, size_t, const uint8_t *))
{
    uint8_t number[MODULUS_LEN_MAX];
    enum clam_signed found = CLAM_SIGNED_UNKNOWN;

    ERR_clear_error();
    EVP_PKEY *key = make_key(from);
    const int len = key != NULL ? EVP_PKEY_get_size(key) : 0;
    EVP_PKEY_CTX *context =
        len >= 64 && len <= MODULUS_LEN_MAX ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;

    if (context != NULL)
        found = read_number(signature, number, (size_t)len)
                    ? is_of(context, number, (size_t)len, digest)
                    : CLAM_NOT_SIGNED;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(key);
    return found == CLAM_SIGNED_UNKNOWN && refusal() == CLAM_SIGNED_NO_MEMORY
               ? CLAM_SIGNED_NO_MEMORY
               : found;
}

enum clam_signed clam_signature_of_md5(const struct clam_key *key, struct clam_text signature,
                                       const uint8_t md5[16])
{
    return check(key, signature, md5, is_md5);
}

enum clam_signed clam_signature_of_sha256(const struct clam_key *key, struct clam_text signature,
                                          const uint8_t sha256[32])
{
    return check(key, signature, sha256, is_sha256);
}
