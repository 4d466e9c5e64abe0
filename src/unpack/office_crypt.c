/* SPDX-License-Identifier: MIT */
#include "unpack/office_crypt.h"

#include <string.h>

#include "unpack/aes.h"
#include "unpack/little.h"

enum { SHA1_LEN = 20, SALT_LEN = 16, INFO_MAX = 4096, ROUNDS = 50000 };

static const char password[] = "V\0e\0l\0v\0e\0t\0S\0w\0e\0a\0t\0s\0h\0o\0p"; /* its zero ends it */

struct info {
    uint8_t bytes[INFO_MAX];
    size_t len;
};

static bool sha1(const uint8_t *in, size_t len, uint8_t out[SHA1_LEN])
{
    return EVP_Digest(in, len, out, NULL, EVP_sha1(), NULL) == 1;
}

static bool decrypt(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len, uint8_t *out)
{
    const EVP_CIPHER *type = key_len == 32   ? EVP_aes_256_ecb()
                             : key_len == 24 ? EVP_aes_192_ecb()
                                             : EVP_aes_128_ecb();

    return aes_run(type, false, key, NULL, in, len, out);
}

/* The digest of a key block (2.3.4.7): a byte in all of 64, with the hash. */
static bool derive(const uint8_t hash[SHA1_LEN], uint8_t with, uint8_t out[SHA1_LEN])
{
    uint8_t block[64];

    memset(block, with, sizeof block);
    for (size_t i = 0; i < SHA1_LEN; i++)
        block[i] ^= hash[i];
    return sha1(block, sizeof block, out);
}

static bool make_key(const uint8_t salt[SALT_LEN], uint8_t key[2 * SHA1_LEN])
{
    uint8_t text[SALT_LEN + sizeof password], hash[4 + SHA1_LEN + 4];
    bool ok;

    memcpy(text, salt, SALT_LEN);
    memcpy(text + SALT_LEN, password, sizeof password);
    ok = sha1(text, sizeof text, hash + 4);
    for (uint32_t round = 0; round < ROUNDS && ok; round++) {
        for (unsigned i = 0; i < 4; i++)
            hash[i] = (uint8_t)(round >> 8 * i);
        ok = sha1(hash, 4 + SHA1_LEN, hash + 4);
    }
    memset(hash + 4 + SHA1_LEN, 0, 4);
    return ok && sha1(hash + 4, SHA1_LEN + 4, hash) && derive(hash, 0x36, key) &&
           derive(hash, 0x5C, key + SHA1_LEN);
}

/* Reads what is said of the key, and checks the password with it. Returns the key's length, or 0.
 */
static size_t open_info(const struct info *info, uint8_t key[2 * SHA1_LEN])
{
    enum { HEAD = 12, KEY_BITS_AT = 16, VERIFIER_LEN = 4 + SALT_LEN + AES_BLOCK_LEN + 4 + 32 };
    const uint8_t *const bytes = info->bytes;
    uint8_t verifier[AES_BLOCK_LEN], hash[2 * AES_BLOCK_LEN], sum[SHA1_LEN];

    if (info->len < HEAD || little16(bytes + 2) != 2)
        return 0;
    const uint64_t header_len = little32(bytes + 8);
    if (header_len < KEY_BITS_AT + 4 || HEAD + header_len + VERIFIER_LEN > info->len)
        return 0;
    const uint32_t bits = little32(bytes + HEAD + KEY_BITS_AT);
    const uint8_t *const salt = bytes + HEAD + header_len + 4;
    const uint8_t *const locked = salt + SALT_LEN;
    if ((bits != 128 && bits != 192 && bits != 256) || !make_key(salt, key) ||
        !decrypt(key, bits / 8, locked, AES_BLOCK_LEN, verifier) ||
        !decrypt(key, bits / 8, locked + AES_BLOCK_LEN + 4, sizeof hash, hash) ||
        !sha1(verifier, AES_BLOCK_LEN, sum) || memcmp(sum, hash, SHA1_LEN) != 0)
        return 0;
    return bits / 8;
}

static void read_info(const struct ole2 *ole2, struct info *info)
{
    struct unpack_buffer buffer = {.max = INFO_MAX};
    struct ole2_entry entry;

    info->len = 0;
    for (size_t i = 0; ole2_entry(ole2, i, &entry) && info->len == 0; i++)
        if (strcmp(entry.name, "EncryptionInfo") == 0) {
            (void)ole2_read(ole2, &entry, &buffer);
            info->len = buffer.len;
            if (buffer.len > 0)
                memcpy(info->bytes, buffer.bytes, buffer.len);
        }
    unpack_buffer_free(&buffer);
}

bool office_decrypt(const struct ole2 *ole2, const uint8_t *in, size_t len,
                    struct unpack_buffer *buffer)
{
    enum { LEN_LEN = 8 };
    uint8_t key[2 * SHA1_LEN];
    struct info info;

    if (len < LEN_LEN + AES_BLOCK_LEN)
        return false;
    read_info(ole2, &info);
    const size_t key_len = open_info(&info, key);
    if (key_len == 0)
        return false;
    const uint64_t stated = little64(in);
    size_t room = (len - LEN_LEN) / AES_BLOCK_LEN * AES_BLOCK_LEN;
    uint8_t *to = unpack_buffer_room(buffer, &room);
    room -= room % AES_BLOCK_LEN;
    if (to == NULL || !decrypt(key, key_len, in + LEN_LEN, room, to))
        return false;
    buffer->len += stated < room ? (size_t)stated : room;
    return true;
}
