/* SPDX-License-Identifier: MIT */
/* After Microsoft's "Windows Authenticode Portable Executable Signature Format". Certificates are
 * taken as they are now: one that has expired leads to no trust, also with a timestamp. */
#include "clamav/authenticode.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pkcs7.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/least.h"
#include "clamav/signature.h"

enum {
    TABLE_LEN_MAX = 4 << 20,
    CERTIFICATES_MAX = 32, /* that a chain is sought in */
    CHAIN_MAX = 8,
    KEY_BITS_MAX = 8192,
    SHA1_LEN = 20
};

/* What the digest of a program leaves out. */
struct layout {
    uint64_t sum_at, entry_at, table_at, table_len;
};

struct clam_authenticode {
    struct layout layout;
    PKCS7 *pkcs7;
};

/* ---- the program ----------------------------------------------------------------------------- */

static bool read_layout(struct clam_object *object, struct layout *layout)
{
    enum { DOS_LEN = 64, HEAD_LEN = 26, SUM = 88, PE32 = 0x10B, PE32_PLUS = 0x20B, FIFTH = 32 };
    const uint8_t *head = clam_object_at(object, 0, DOS_LEN);

    if (head == NULL || memcmp(head, "MZ", 2) != 0)
        return false;
    const uint64_t at = get_le(head + 60, 4);
    head = clam_object_at(object, at, HEAD_LEN);
    if (head == NULL || memcmp(head, "PE\0\0", 4) != 0)
        return false;
    const uint64_t magic = get_le(head + 24, 2);
    if (magic != PE32 && magic != PE32_PLUS)
        return false;
    layout->sum_at = at + SUM;
    layout->entry_at = at + 24 + (magic == PE32 ? 96 : 112) + FIFTH;
    const uint8_t *entry = clam_object_at(object, layout->entry_at - FIFTH - 4, 4 + FIFTH + 8);
    if (entry == NULL || get_le(entry, 4) < 5)
        return false;
    layout->table_at = get_le(entry + 4 + FIFTH, 4);
    layout->table_len = get_le(entry + 4 + FIFTH + 4, 4);
    return layout->table_at >= layout->entry_at + 8 && layout->table_at <= object->len &&
           layout->table_len <= object->len - layout->table_at;
}

/* False: bytes are missing, or OpenSSL has no memory. */
static bool hash_range(struct clam_object *object, uint64_t at, uint64_t end, EVP_MD_CTX *context)
{
    while (at < end) {
        const size_t n = least(end - at, CLAM_WINDOW_LEN / 2);
        const uint8_t *bytes = clam_object_at(object, at, n);

        if (bytes == NULL || EVP_DigestUpdate(context, bytes, n) != 1)
            return false;
        at += n;
    }
    return true;
}

static bool hash_program(struct clam_object *object, const struct layout *layout, const EVP_MD *md,
                         uint8_t digest[EVP_MAX_MD_SIZE])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool made = context != NULL && EVP_DigestInit_ex(context, md, NULL) == 1 &&
                      hash_range(object, 0, layout->sum_at, context) &&
                      hash_range(object, layout->sum_at + 4, layout->entry_at, context) &&
                      hash_range(object, layout->entry_at + 8, layout->table_at, context) &&
                      EVP_DigestFinal_ex(context, digest, NULL) == 1;

    EVP_MD_CTX_free(context);
    return made;
}

/* ---- its signature --------------------------------------------------------------------------- */

static bool lacked_memory(void)
{
    bool lacked = false;

    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        lacked |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    return lacked;
}

/* A copy of the first certificate table's contents. NULL: no memory. */
static uint8_t *copy_table(struct clam_object *object, const struct layout *layout)
{
    uint8_t *table = malloc((size_t)layout->table_len);

    for (uint64_t at = 0; table != NULL && at < layout->table_len;) {
        const size_t n = least(layout->table_len - at, CLAM_WINDOW_LEN / 2);
        const uint8_t *bytes = clam_object_at(object, layout->table_at + at, n);

        if (bytes != NULL)
            memcpy(table + at, bytes, n);
        else
            memset(table + at, 0, n);
        at += n;
    }
    return table;
}

static PKCS7 *read_table(const uint8_t *table, uint64_t len)
{
    enum { HEAD_LEN = 8, PKCS_SIGNED = 2 };
    const uint64_t stated = get_le(table, 4);
    const uint8_t *at = table + HEAD_LEN;

    if (stated <= HEAD_LEN || stated > len || get_le(table + 6, 2) != PKCS_SIGNED)
        return NULL;
    PKCS7 *pkcs7 = d2i_PKCS7(NULL, &at, (long)(stated - HEAD_LEN));
    if (pkcs7 != NULL && (!PKCS7_type_is_signed(pkcs7) || pkcs7->d.sign == NULL)) {
        PKCS7_free(pkcs7);
        return NULL;
    }
    return pkcs7;
}

struct clam_authenticode *clam_authenticode_read(struct clam_object *object)
{
    struct layout layout;

    if (!read_layout(object, &layout) || layout.table_len < 16 || layout.table_len > TABLE_LEN_MAX)
        return NULL;
    uint8_t *table = copy_table(object, &layout);
    struct clam_authenticode *signature = table != NULL ? calloc(1, sizeof *signature) : NULL;
    ERR_clear_error();
    if (signature != NULL) {
        signature->layout = layout;
        signature->pkcs7 = read_table(table, layout.table_len);
    }
    if (signature == NULL || (signature->pkcs7 == NULL && lacked_memory()))
        object->error = ENOMEM;
    free(table);
    if (signature != NULL && signature->pkcs7 == NULL) {
        free(signature);
        return NULL;
    }
    return signature;
}

void clam_authenticode_free(struct clam_authenticode *signature)
{
    if (signature != NULL)
        PKCS7_free(signature->pkcs7);
    free(signature);
}

/* ---- certificates ---------------------------------------------------------------------------- */

/* The SHA-1 of what an element of ASN.1 holds. */
static bool hash_content(const uint8_t *der, long len, uint8_t digest[SHA1_LEN])
{
    const uint8_t *at = der;
    long held;
    int tag, class;

    return (ASN1_get_object(&at, &held, &tag, &class, len) & 0x80) == 0 &&
           EVP_Digest(at, (size_t)held, digest, NULL, EVP_sha1(), NULL) == 1;
}

static bool hash_name(const X509_NAME *name, uint8_t digest[SHA1_LEN])
{
    const uint8_t *der;
    size_t len;

    return X509_NAME_get0_der(name, &der, &len) == 1 && hash_content(der, (long)len, digest);
}

static bool has_serial(const X509 *certificate, const uint8_t serial[SHA1_LEN])
{
    uint8_t digest[SHA1_LEN], *der = NULL;
    const int len = i2d_ASN1_INTEGER(X509_get0_serialNumber(certificate), &der);
    const bool same =
        len > 0 && hash_content(der, len, digest) && memcmp(digest, serial, SHA1_LEN) == 0;

    OPENSSL_free(der);
    return same;
}

static bool has_key(X509 *certificate, const struct clam_block *block,
                    const struct clam_certificate *entry)
{
    const uint8_t *key = (const uint8_t *)clam_at(block, CLAM_A_BYTES) + entry->key;
    const EVP_PKEY *pkey = X509_get0_pubkey(certificate);
    BIGNUM *modulus = NULL, *right = BN_bin2bn(key, (int)entry->key_len, NULL);
    const bool same = pkey != NULL && right != NULL &&
                      EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1 &&
                      BN_cmp(modulus, right) == 0;

    BN_free(modulus);
    BN_free(right);
    return same;
}

/* The entry of a certificate among those that are trusted, or that are blocked. */
static const struct clam_certificate *find_entry(const struct clam_block *block, X509 *certificate,
                                                 bool trusted)
{
    const struct clam_certificate *entries = clam_at(block, CLAM_A_CERTIFICATES);
    uint8_t subject[SHA1_LEN];

    if (!hash_name(X509_get_subject_name(certificate), subject))
        return NULL;
    for (uint64_t i = 0; i < block->n[CLAM_A_CERTIFICATES]; i++) {
        const struct clam_certificate *entry = &entries[i];

        if ((entry->trusted != 0) == trusted && memcmp(entry->subject, subject, SHA1_LEN) == 0 &&
            (entry->signs != 0 || !trusted) &&
            (entry->has_serial == 0 || has_serial(certificate, entry->serial)) &&
            has_key(certificate, block, entry))
            return entry;
    }
    return NULL;
}

const struct clam_certificate *clam_authenticode_blocked(const struct clam_authenticode *signature,
                                                         const struct clam_block *block, int *at)
{
    const STACK_OF(X509) *certificates = signature->pkcs7->d.sign->cert;
    const struct clam_certificate *found = NULL;

    while (found == NULL && *at < sk_X509_num(certificates))
        found = find_entry(block, sk_X509_value(certificates, (*at)++), false);
    ERR_clear_error();
    return found;
}

/* ---- trust ----------------------------------------------------------------------------------- */

/* Whether a key is one that is worth its time, and signed the certificate. */
static bool is_signed_by(X509 *certificate, EVP_PKEY *key)
{
    return key != NULL && EVP_PKEY_get_bits(key) <= KEY_BITS_MAX &&
           X509_verify(certificate, key) == 1;
}

static bool is_valid_now(const X509 *certificate)
{
    return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 &&
           X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0;
}

static EVP_PKEY *key_of(const struct clam_block *block, const struct clam_certificate *entry)
{
    const uint8_t *bytes = (const uint8_t *)clam_at(block, CLAM_A_BYTES) + entry->key;
    BIGNUM *modulus = BN_bin2bn(bytes, (int)entry->key_len, NULL), *exponent = BN_new();
    EVP_PKEY *key = NULL;

    if (modulus != NULL && exponent != NULL && BN_set_word(exponent, 65537) == 1)
        key = clam_rsa_key(modulus, exponent);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

/* Whether a trusted certificate that the signature need not hold is the issuer. */
static bool has_trusted_issuer(const struct clam_block *block, X509 *certificate)
{
    const struct clam_certificate *entries = clam_at(block, CLAM_A_CERTIFICATES);
    uint8_t issuer[SHA1_LEN];
    bool found = false;

    if (!hash_name(X509_get_issuer_name(certificate), issuer))
        return false;
    for (uint64_t i = 0; i < block->n[CLAM_A_CERTIFICATES] && !found; i++) {
        if (entries[i].trusted == 0 || entries[i].signs == 0 ||
            memcmp(entries[i].subject, issuer, SHA1_LEN) != 0)
            continue;
        EVP_PKEY *key = key_of(block, &entries[i]);
        found = is_signed_by(certificate, key);
        EVP_PKEY_free(key);
    }
    return found;
}

/* An authority in the signature that issued the certificate. NULL: there is none. */
static X509 *find_issuer(const STACK_OF(X509) * certificates, X509 *certificate)
{
    for (int i = 0; i < sk_X509_num(certificates); i++) {
        X509 *const other = sk_X509_value(certificates, i);

        if (other != certificate && X509_check_ca(other) == 1 &&
            X509_NAME_cmp(X509_get_subject_name(other), X509_get_issuer_name(certificate)) == 0 &&
            is_signed_by(certificate, X509_get0_pubkey(other)))
            return other;
    }
    return NULL;
}

static bool leads_to_trust(const struct clam_block *block, const STACK_OF(X509) * certificates,
                           X509 *signer)
{
    X509 *at = signer;

    for (int i = 0; at != NULL && i < CHAIN_MAX && is_valid_now(at); i++) {
        if (find_entry(block, at, true) != NULL || has_trusted_issuer(block, at))
            return true;
        at = find_issuer(certificates, at);
    }
    return false;
}

static bool may_sign_code(X509 *certificate)
{
    const uint32_t uses = X509_get_extended_key_usage(certificate);

    return uses != UINT32_MAX && (uses & XKU_CODE_SIGN) != 0; /* UINT32_MAX: it states none */
}

/* The statement that is signed (SpcIndirectDataContent). False: there is none. */
static bool find_statement(const PKCS7 *pkcs7, const uint8_t **at, long *len)
{
    const PKCS7 *contents = pkcs7->d.sign->contents;
    char type[32];
    int tag, class;

    if (contents == NULL || contents->d.other == NULL ||
        contents->d.other->type != V_ASN1_SEQUENCE ||
        OBJ_obj2txt(type, sizeof type, contents->type, 1) <= 0 ||
        strcmp(type, "1.3.6.1.4.1.311.2.1.4") != 0)
        return false;
    *at = contents->d.other->value.sequence->data;
    return (ASN1_get_object(at, len, &tag, &class, contents->d.other->value.sequence->length) &
            0x80) == 0;
}

/* Digests that are strong enough, or were when programs were signed. */
static const EVP_MD *digest_of(const X509_ALGOR *algorithm)
{
    switch (OBJ_obj2nid(algorithm->algorithm)) {
    case NID_sha1:
        return EVP_sha1();
    case NID_sha256:
        return EVP_sha256();
    case NID_sha384:
        return EVP_sha384();
    case NID_sha512:
        return EVP_sha512();
    default:
        return NULL;
    }
}

/* Whether the digest in the statement is the program's. */
static bool is_of_program(const struct layout *layout, struct clam_object *object,
                          const uint8_t *statement, long len)
{
    const uint8_t *at = statement;
    uint8_t digest[EVP_MAX_MD_SIZE];
    const ASN1_OCTET_STRING *stated;
    const X509_ALGOR *algorithm;
    long skipped;
    int tag, class;

    if ((ASN1_get_object(&at, &skipped, &tag, &class, len) & 0x80) != 0)
        return false;
    at += skipped;
    X509_SIG *info = d2i_X509_SIG(NULL, &at, statement + len - at);
    if (info == NULL)
        return false;
    X509_SIG_get0(info, &algorithm, &stated);
    const EVP_MD *md = digest_of(algorithm);
    const bool same = md != NULL && stated->length == EVP_MD_get_size(md) &&
                      hash_program(object, layout, md, digest) &&
                      memcmp(digest, stated->data, (size_t)stated->length) == 0;
    X509_SIG_free(info);
    return same;
}

static bool is_signed_statement(PKCS7 *pkcs7, PKCS7_SIGNER_INFO *signer, X509 *certificate,
                                const uint8_t *statement, long len)
{
    const EVP_MD *md = digest_of(signer->digest_alg);
    BIO *sink = BIO_new(BIO_s_null()), *hash = BIO_new(BIO_f_md());
    bool good = md != NULL && sink != NULL && hash != NULL && BIO_set_md(hash, md) == 1;

    if (good) {
        BIO_push(hash, sink);
        good = BIO_write(hash, statement, (int)len) == len &&
               PKCS7_signatureVerify(hash, pkcs7, signer, certificate) == 1;
        BIO_pop(hash);
    }
    BIO_free(hash);
    BIO_free(sink);
    return good;
}

bool clam_authenticode_trusted(const struct clam_authenticode *signature,
                               const struct clam_block *block, struct clam_object *object)
{
    const struct layout *layout = &signature->layout;
    PKCS7 *const pkcs7 = signature->pkcs7;
    const STACK_OF(X509) *certificates = pkcs7->d.sign->cert;
    STACK_OF(PKCS7_SIGNER_INFO) *signers = PKCS7_get_signer_info(pkcs7);
    const uint8_t *statement;
    bool trusted = false;
    long len;

    if (layout->table_at + layout->table_len != object->len ||
        sk_PKCS7_SIGNER_INFO_num(signers) != 1 || sk_X509_num(certificates) > CERTIFICATES_MAX)
        return false;
    PKCS7_SIGNER_INFO *signer = sk_PKCS7_SIGNER_INFO_value(signers, 0);
    X509 *certificate = PKCS7_cert_from_signer_info(pkcs7, signer);
    if (certificate != NULL && may_sign_code(certificate) &&
        EVP_PKEY_get_bits(X509_get0_pubkey(certificate)) <= KEY_BITS_MAX &&
        find_statement(pkcs7, &statement, &len))
        trusted = is_signed_statement(pkcs7, signer, certificate, statement, len) &&
                  is_of_program(layout, object, statement, len) &&
                  leads_to_trust(block, certificates, certificate);
    ERR_clear_error();
    return trusted;
}
