/* SPDX-License-Identifier: MIT */
/* Containers, signed by keys that the test makes: proofs that vouch for them, and proofs that do
 * not. */
#include "test.h"

#include "counted_malloc.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <unistd.h>
#include <zlib.h>

#include "clamav/signature.h"
#include "sluice/clamav.h"

enum { HEADER_LEN = 512, CONTAINER_MAX = 16384, SIGNATURE_MAX = 400 };

/* ---- keys ------------------------------------------------------------------------------------ */

static EVP_PKEY *pair;
static struct clam_key key;

static int make_keys(void **state)
{
    BIGNUM *modulus = NULL;

    (void)state;
    pair = EVP_RSA_gen(1024);
    if (EVP_PKEY_get_bn_param(pair, OSSL_PKEY_PARAM_RSA_N, &modulus) != 1)
        return -1;
    key = (struct clam_key){BN_bn2dec(modulus), "65537"};
    BN_free(modulus);
    return 0;
}

static int free_keys(void **state)
{
    (void)state;
    OPENSSL_free((void *)(uintptr_t)key.modulus);
    EVP_PKEY_free(pair);
    return 0;
}

/* Digits of six bits, the least one first. */
static void write_number(const uint8_t *number, size_t len, char *text)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
    size_t n = 0;

    for (size_t bit = 0; bit < 8 * len; bit += 6) {
        unsigned value = 0;

        for (size_t i = bit; i < bit + 6 && i < 8 * len; i++)
            value |= (number[len - 1 - i / 8] >> i % 8 & 1u) << (i - bit);
        text[n++] = digits[value];
    }
    text[n] = '\0';
}

/* The signature of an MD5 as it is, or of a SHA-256 by PSS. */
static const char *sign(const uint8_t *digest, size_t digest_len)
{
    static char text[SIGNATURE_MAX];
    uint8_t block[128] = {0}, number[128];
    size_t len = sizeof number;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, pair, NULL);
    const bool is_md5 = digest_len == 16;

    assert_int_equal(EVP_PKEY_sign_init(context), 1);
    assert_int_equal(
        EVP_PKEY_CTX_set_rsa_padding(context, is_md5 ? RSA_NO_PADDING : RSA_PKCS1_PSS_PADDING), 1);
    if (is_md5) {
        memcpy(block + sizeof block - 16, digest, 16);
        assert_int_equal(EVP_PKEY_sign(context, number, &len, block, sizeof block), 1);
    } else {
        assert_int_equal(EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()), 1);
        assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, 32), 1);
        assert_int_equal(EVP_PKEY_sign(context, number, &len, digest, digest_len), 1);
    }
    EVP_PKEY_CTX_free(context);
    write_number(number, len, text);
    return text;
}

static const char *hex(const uint8_t *digest, size_t len)
{
    static char text[65];

    for (size_t i = 0; i < len; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    return text;
}

/* ---- containers ------------------------------------------------------------------------------ */

static const char *const names[] = {"x.ndb", "x.ign2", "x.info"};

static size_t add_member(uint8_t *tar, size_t at, const char *name, const char *text)
{
    strcpy((char *)tar + at, name);
    sprintf((char *)tar + at + 124, "%011zo", strlen(text));
    tar[at + 156] = '0';
    memcpy(tar + at + 512, text, strlen(text));
    return at + 512 + (strlen(text) + 511) / 512 * 512;
}

/* A list of the first n members, which is signed. */
static void write_list(char *list, const char *const member_texts[], int n)
{
    uint8_t digest[32];
    size_t len = (size_t)sprintf(list, "ClamAV-VDB:21 Nov 2026 10-00 +0000:1:1:90:X:X:me:1\n");

    for (int i = 0; i < n; i++) {
        assert_int_equal(
            EVP_Digest(member_texts[i], strlen(member_texts[i]), digest, NULL, EVP_sha256(), NULL),
            1);
        len += (size_t)sprintf(list + len, "%s:%zu:%s\n", names[i], strlen(member_texts[i]),
                               hex(digest, 32));
    }
    assert_int_equal(EVP_Digest(list, len, digest, NULL, EVP_sha256(), NULL), 1);
    sprintf(list + len, "DSIG:%s\n", sign(digest, 32));
}

/* A tar of members, gzipped, behind a header with its MD5 and the signature of that. */
static size_t make_container(uint8_t *out, const char *const member_texts[], int n)
{
    static uint8_t tar[CONTAINER_MAX];
    uint8_t digest[16];
    size_t tar_len = 0;
    z_stream stream = {0};

    memset(tar, 0, sizeof tar);
    for (int i = 0; i < n; i++)
        tar_len = add_member(tar, tar_len, names[i], member_texts[i]);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = tar;
    stream.avail_in = (uInt)tar_len + 1024;
    stream.next_out = out + HEADER_LEN;
    stream.avail_out = CONTAINER_MAX - HEADER_LEN;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t len = stream.total_out;
    deflateEnd(&stream);
    assert_int_equal(EVP_Digest(out + HEADER_LEN, len, digest, NULL, EVP_md5(), NULL), 1);
    memset(out, ' ', HEADER_LEN);
    const int header = sprintf((char *)out, "ClamAV-VDB:21 Nov 2026 10-00 +0000:1:1:90:%s:%s:me:1",
                               hex(digest, 16), sign(digest, 16));
    out[header] = ' ';
    return HEADER_LEN + len;
}

static enum sl_status read_container(const char *name, uint8_t *bytes, size_t len,
                                     struct sl_clamav_count *count)
{
    struct sl_clamav_set *set;
    struct sl_diag diag;
    enum sl_status status;

    assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
    set->header_key = set->list_key = &key;
    status = clam_container_read(set, name, bytes, len, true, &diag);
    if (status == SL_OK)
        status = clam_container_read(set, name, bytes, len, false, &diag);
    sl_clamav_set_count(set, count);
    sl_clamav_set_free(set);
    return status;
}

static const char *const texts[] = {"A:0:*:61626364\nB:0:*:62636465\n", "B\n"};

static void test_header(void **state)
{
    static uint8_t bytes[CONTAINER_MAX];
    const size_t len = make_container(bytes, texts, 2);
    struct sl_clamav_count count;

    (void)state;
    assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_OK);
    assert_int_equal(count.signatures, 2);
    assert_int_equal(count.unchecked, 0);
    for (size_t cut = 0; cut < len; cut += 13)
        assert_int_equal(read_container("x.cvd", bytes, cut, &count), SL_EFORMAT);
    for (size_t at = HEADER_LEN; at < len; at += 11) {
        bytes[at] ^= 4;
        assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EFORMAT);
        bytes[at] ^= 4;
    }
    assert_int_equal(EVP_set_default_properties(NULL, "provider=none"), 1); /* as in FIPS mode */
    assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EUNSUPPORTED);
    assert_int_equal(EVP_set_default_properties(NULL, ""), 1);
    char *signature = strstr((char *)bytes, ":90:") + 4 + 33;
    for (int i = 0; i < 170; i += 17) {
        const char before = signature[i];

        signature[i] = before == 'b' ? 'c' : 'b';
        assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EFORMAT);
        signature[i] = before;
    }
    memcpy(signature, "none", 4);
    assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EFORMAT);
    assert_int_equal(count.signatures, 0);
    assert_int_equal(read_container("x.cud", bytes, len, &count), SL_OK);
    assert_int_equal(count.signatures, 2);
    assert_int_equal(count.unchecked, 1);
}

static void test_list(void **state)
{
    static uint8_t bytes[CONTAINER_MAX];
    char list[2048];
    const char *const all[] = {texts[0], texts[1], list};
    const char *const changed[] = {"A:0:*:61626364\nB:0:*:62636466\n", texts[1], list};
    struct sl_clamav_count count;

    (void)state;
    write_list(list, texts, 2);
    size_t len = make_container(bytes, all, 3);
    memset(strstr((char *)bytes, ":90:") + 4, 'X', 32); /* as it is in such a file */
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_OK);
    assert_int_equal(count.signatures, 2);
    assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EFORMAT);

    len = make_container(bytes, changed, 3);
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);
    assert_int_equal(read_container("x.cvd", bytes, len, &count), SL_EFORMAT);
    write_list(list, texts, 1); /* a member is not in it */
    len = make_container(bytes, all, 3);
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);
    char line[200];
    uint8_t digest[32];

    EVP_Digest(texts[1], strlen(texts[1]), digest, NULL, EVP_sha256(), NULL);
    sprintf(line, "%s:%zu:%s\n", names[1], strlen(texts[1]), hex(digest, 32));
    strcat(list, line); /* it is, behind the signature */
    len = make_container(bytes, all, 3);
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);
    len = make_container(bytes, texts, 2); /* no list */
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);

    write_list(list, texts, 2);
    list[20] ^= 1; /* in the year, say */
    len = make_container(bytes, all, 3);
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);
    strcpy(strstr(list, "DSIG:"), "");
    len = make_container(bytes, all, 3);
    assert_int_equal(read_container("x.cld", bytes, len, &count), SL_EFORMAT);
}

/* The header of daily.cvd, version 25784. */
static void test_clamavs_key(void **state)
{
    static const char signature[] =
        "4Jp9JtGJY6nUk8JHDQQpQeBwlfXqskvhXL+vesDNqAeWCmjbudU+Hy/Nj4/BH2vl70c/R5B/VYY+eqqCQo6o7VGLqL"
        "Jr/E+19gejqMp/iRcuHrtnLw6V/x3UjO3/qYVSlcJvAjtMI7FK32wjB+Sp8kaS/ZbfaFQp6trRQhisjqf";
    uint8_t md5[16] = {0x92, 0xBA, 0xAC, 0xD5, 0x9F, 0xD2, 0x6E, 0x6B,
                       0xCF, 0x03, 0x07, 0x7A, 0xDD, 0x78, 0xD2, 0x09};
    const struct clam_text text = {signature, sizeof signature - 1};

    (void)state;
    assert_int_equal(clam_signature_of_md5(&clam_header_key, text, md5), CLAM_SIGNED);
    assert_int_equal(clam_signature_of_md5(&clam_list_key, text, md5), CLAM_NOT_SIGNED);
    md5[15] ^= 1;
    assert_int_equal(clam_signature_of_md5(&clam_header_key, text, md5), CLAM_NOT_SIGNED);
}

/* The SHA-256 of the key for lists as ClamAV's readdb.c has it: no signature of one is published.
 */
static void test_key_of_lists(void **state)
{
    char text[700];
    uint8_t digest[32];

    (void)state;
    const int len =
        snprintf(text, sizeof text, "%s %s", clam_list_key.modulus, clam_list_key.exponent);
    assert_int_equal(EVP_Digest(text, (size_t)len, digest, NULL, EVP_sha256(), NULL), 1);
    assert_string_equal(hex(digest, 32),
                        "96ea819f06a98ac491676b8304931a221a1da7c0211e4fb3962aebec7f356316");
}

/* Where OpenSSL has no memory, nothing is called a forgery. */
static void test_no_memory(void **state)
{
    const uint8_t digest[32] = {1, 2, 3};
    char text[SIGNATURE_MAX];
    bool refused = true;

    (void)state;
    snprintf(text, sizeof text, "%s", sign(digest, 32));
    const struct clam_text signature = {text, strlen(text)};
    assert_int_equal(clam_signature_of_sha256(&key, signature, digest), CLAM_SIGNED);
    for (unsigned long long n = 1; refused; n++) {
        refuse_allocation(n);
        const enum clam_signed found = clam_signature_of_sha256(&key, signature, digest);
        refused = allocation_was_refused();
        assert_true(found == CLAM_SIGNED || (refused && found != CLAM_NOT_SIGNED));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),      cmocka_unit_test(test_list),
        cmocka_unit_test(test_clamavs_key), cmocka_unit_test(test_key_of_lists),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_keys, free_keys);
}
