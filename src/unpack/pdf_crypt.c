/* SPDX-License-Identifier: MIT */
#include "unpack/pdf_crypt.h"

#include <string.h>

#include "unpack/aes.h"

enum {
    PAD_LEN = 32,
    OWNER_MAX = 48,
    MD5_LEN = 16,
    SHA256_LEN = 32,
    SALT_LEN = 8,
    DICTIONARY_MAX = 1 << 14
};

/* The bytes that stand for a password that is empty. */
static const uint8_t pad[PAD_LEN] = {
    0x28, 0xBF, 0x4E, 0x5E, 0x4E, 0x75, 0x8A, 0x41, 0x64, 0x00, 0x4E, 0x56, 0xFF, 0xFA, 0x01, 0x08,
    0x2E, 0x2E, 0x00, 0xB6, 0xD0, 0x68, 0x3E, 0x80, 0x2F, 0x0C, 0xA9, 0xFE, 0x64, 0x53, 0x69, 0x7A};

/* The values of the dictionary. */
struct handler {
    int64_t version, revision, permissions, bits;
    uint8_t owner[OWNER_MAX], user[OWNER_MAX], user_key[PAD_LEN], id[PAD_LEN];
    size_t id_len;
    bool is_aes, clears_metadata;
};

/* ---- algorithms ------------------------------------------------------------------------------ */

static void rc4(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len, uint8_t *out)
{
    uint8_t state[256];
    uint8_t i = 0, j = 0;

    for (unsigned k = 0; k < 256; k++)
        state[k] = (uint8_t)k;
    for (unsigned k = 0; k < 256; k++) {
        const uint8_t held = state[k];

        j = (uint8_t)(j + held + key[k % key_len]);
        state[k] = state[j];
        state[j] = held;
    }
    j = 0;
    for (size_t n = 0; n < len; n++) {
        const uint8_t held = state[++i];

        j = (uint8_t)(j + held);
        state[i] = state[j];
        state[j] = held;
        out[n] = in[n] ^ state[(uint8_t)(state[i] + held)];
    }
}

static bool digest(const EVP_MD *type, const uint8_t *in, size_t len, uint8_t *out)
{
    return EVP_Digest(in, len, out, NULL, type, NULL) == 1;
}

/* ---- the key --------------------------------------------------------------------------------- */

/* Algorithm 2. */
static bool make_key(const struct handler *handler, struct pdf_crypt *crypt)
{
    uint8_t text[2 * PAD_LEN + 4 + PAD_LEN + 4], sum[MD5_LEN];
    size_t n = 0;

    memcpy(text, pad, PAD_LEN);
    memcpy(text + PAD_LEN, handler->owner, PAD_LEN);
    n = 2 * PAD_LEN;
    for (unsigned i = 0; i < 4; i++)
        text[n++] = (uint8_t)((uint32_t)handler->permissions >> 8 * i);
    memcpy(text + n, handler->id, handler->id_len);
    n += handler->id_len;
    if (handler->revision >= 4 && handler->clears_metadata) {
        memset(text + n, 0xFF, 4);
        n += 4;
    }
    crypt->key_len = handler->revision >= 3 ? (size_t)handler->bits / 8 : 5;
    if (!digest(EVP_md5(), text, n, sum))
        return false;
    for (int i = 0; i < 50 && handler->revision >= 3; i++)
        if (!digest(EVP_md5(), sum, crypt->key_len, sum))
            return false;
    memcpy(crypt->key, sum, crypt->key_len);
    return true;
}

/* Algorithms 4 and 5: whether the key is that of an empty password. */
static bool opens(const struct handler *handler, const struct pdf_crypt *crypt)
{
    uint8_t text[2 * PAD_LEN], key[MD5_LEN], sum[PAD_LEN];

    if (handler->revision < 3) {
        rc4(crypt->key, crypt->key_len, pad, PAD_LEN, sum);
        return memcmp(sum, handler->user, PAD_LEN) == 0;
    }
    memcpy(text, pad, PAD_LEN);
    memcpy(text + PAD_LEN, handler->id, handler->id_len);
    if (!digest(EVP_md5(), text, PAD_LEN + handler->id_len, sum))
        return false;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < crypt->key_len; i++)
            key[i] = (uint8_t)(crypt->key[i] ^ round);
        rc4(key, crypt->key_len, sum, MD5_LEN, sum);
    }
    return memcmp(sum, handler->user, MD5_LEN) == 0;
}

/* Algorithm 2.B, of an empty password and a salt. */
static bool hash_salt(const struct handler *handler, const uint8_t *salt, uint8_t sum[64])
{
    enum { COPIES = 64, SUM_MAX = 64 };
    const EVP_MD *const types[3] = {EVP_sha256(), EVP_sha384(), EVP_sha512()};
    uint8_t text[COPIES * SUM_MAX];
    size_t len = SHA256_LEN;

    if (!digest(EVP_sha256(), salt, SALT_LEN, sum))
        return false;
    for (unsigned round = 0; handler->revision >= 6; round++) {
        unsigned rest = 0;

        for (size_t i = 0; i < COPIES; i++)
            memcpy(text + i * len, sum, len);
        if (!aes_run(EVP_aes_128_cbc(), true, sum, sum + AES_BLOCK_LEN, text, COPIES * len, text))
            return false;
        for (size_t i = 0; i < AES_BLOCK_LEN; i++)
            rest += text[i];
        const size_t text_len = COPIES * len;
        len = SHA256_LEN + 16 * (size_t)(rest % 3);
        if (!digest(types[rest % 3], text, text_len, sum))
            return false;
        if (round >= 63 && text[text_len - 1] <= round - 31)
            break;
    }
    return true;
}

/* Algorithm 2.A. */
static bool take_key(const struct handler *handler, struct pdf_crypt *crypt)
{
    static const uint8_t iv[AES_BLOCK_LEN] = {0};
    const uint8_t *const checked = handler->user + SHA256_LEN;
    uint8_t sum[64];

    crypt->key_len = SHA256_LEN;
    crypt->is_whole_key = true;
    return hash_salt(handler, checked, sum) && memcmp(sum, handler->user, SHA256_LEN) == 0 &&
           hash_salt(handler, checked + SALT_LEN, sum) &&
           aes_run(EVP_aes_256_cbc(), false, sum, iv, handler->user_key, SHA256_LEN, crypt->key);
}

/* ---- the dictionary -------------------------------------------------------------------------- */

/* A text of a dictionary. Returns its length, at most max. */
static size_t take_text(const uint8_t *at, const uint8_t *end, const char *key, uint8_t *to,
                        size_t max)
{
    struct unpack_buffer buffer = {.max = DICTIONARY_MAX};
    const uint8_t *value = pdf_find_key(at, end, key);

    if (value != NULL && value < end && *value == '[')
        value = pdf_skip_blanks(value + 1, end);
    if (value != NULL)
        (void)pdf_text(value, end, &buffer);
    const size_t n = buffer.len < max ? buffer.len : max;
    if (n > 0)
        memcpy(to, buffer.bytes, n);
    unpack_buffer_free(&buffer);
    return n;
}

/* The dictionary that a value is, or refers to ("8 0 R"). */
static const uint8_t *follow(const uint8_t *bytes, const uint8_t *value, const uint8_t *end)
{
    const int64_t number = pdf_number(value, end, -1);

    if (number < 0)
        return value;
    for (const uint8_t *at = bytes; (at = pdf_find(at, end, "obj")) != NULL; at += 3) {
        uint32_t found = 0, generation = 0;

        if (pdf_object_number(bytes, at, &found, &generation) && found == (uint64_t)number)
            return at + 3;
    }
    return NULL;
}

static bool is_name_at(const uint8_t *at, const uint8_t *end, const char *name)
{
    return at != NULL && at < end && *at == '/' &&
           pdf_is_name(at + 1, pdf_name_len(at + 1, end), name);
}

/* The method of the filter for streams. False: it is none of these, or streams are not encrypted.
 */
static bool take_method(struct handler *handler, const uint8_t *at, const uint8_t *end)
{
    const uint8_t *method = pdf_find_key(at, end, "CFM");

    handler->is_aes = is_name_at(method, end, "AESV2") || is_name_at(method, end, "AESV3");
    if (handler->version == 4)
        handler->bits = 128;
    return handler->is_aes || is_name_at(method, end, "V2");
}

static bool take_handler(struct handler *handler, const uint8_t *bytes, const uint8_t *end)
{
    const uint8_t *value = pdf_find_key(bytes, end, "Encrypt");
    const uint8_t *at = value != NULL ? follow(bytes, value, end) : NULL;
    const uint8_t *metadata;

    if (at == NULL)
        return false;
    handler->id_len = take_text(bytes, end, "ID", handler->id, sizeof handler->id);
    if (end - at > DICTIONARY_MAX)
        end = at + DICTIONARY_MAX;
    const uint8_t *last = pdf_find(at, end, "endobj");
    end = last != NULL ? last : end;
    handler->version = pdf_number(pdf_find_key(at, end, "V"), end, 0);
    handler->revision = pdf_number(pdf_find_key(at, end, "R"), end, 0);
    handler->permissions = pdf_number(pdf_find_key(at, end, "P"), end, 0);
    handler->bits = pdf_number(pdf_find_key(at, end, "Length"), end, 40);
    metadata = pdf_find_key(at, end, "EncryptMetadata");
    handler->clears_metadata =
        metadata != NULL && end - metadata >= 5 && memcmp(metadata, "false", 5) == 0;
    (void)take_text(at, end, "O", handler->owner, sizeof handler->owner);
    (void)take_text(at, end, "U", handler->user, sizeof handler->user);
    (void)take_text(at, end, "UE", handler->user_key, sizeof handler->user_key);
    return handler->version < 4 || take_method(handler, at, end);
}

bool pdf_crypt_open(struct pdf_crypt *crypt, const uint8_t *bytes, const uint8_t *end)
{
    struct handler handler = {0};

    if (!take_handler(&handler, bytes, end))
        return false;
    *crypt = (struct pdf_crypt){.is_aes = handler.is_aes,
                                .has_id = handler.id_len > 0,
                                .clears_metadata = handler.clears_metadata};
    if (handler.revision >= 5)
        return handler.version == 5 && take_key(&handler, crypt);
    return handler.version >= 1 && handler.version <= 4 && handler.revision >= 2 &&
           handler.bits >= 40 && handler.bits <= 128 && handler.bits % 8 == 0 &&
           make_key(&handler, crypt) && opens(&handler, crypt);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Algorithm 1: the key of an object. */
static size_t object_key(const struct pdf_crypt *crypt, uint32_t number, uint32_t generation,
                         uint8_t key[PDF_KEY_MAX])
{
    uint8_t text[PDF_KEY_MAX + 9];
    size_t n = crypt->key_len;

    memcpy(key, crypt->key, n);
    if (crypt->is_whole_key)
        return n;
    memcpy(text, crypt->key, n);
    for (unsigned i = 0; i < 3; i++)
        text[n++] = (uint8_t)(number >> 8 * i);
    for (unsigned i = 0; i < 2; i++)
        text[n++] = (uint8_t)(generation >> 8 * i);
    if (crypt->is_aes) {
        memcpy(text + n, "sAlT", 4);
        n += 4;
    }
    if (!digest(EVP_md5(), text, n, key))
        return 0;
    return crypt->key_len + 5 < MD5_LEN ? crypt->key_len + 5 : MD5_LEN;
}

void pdf_crypt_run(const struct pdf_crypt *crypt, uint32_t number, uint32_t generation,
                   const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    const size_t head = crypt->is_aes ? AES_BLOCK_LEN : 0;
    uint8_t key[PDF_KEY_MAX];
    const size_t key_len = object_key(crypt, number, generation, key);
    size_t room = len > head ? len - head : 0;

    if (crypt->is_aes)
        room -= room % AES_BLOCK_LEN;
    uint8_t *to = room > 0 && key_len > 0 ? unpack_buffer_room(buffer, &room) : NULL;
    if (to == NULL)
        return;
    if (!crypt->is_aes) {
        rc4(key, key_len, in, room, to);
        buffer->len += room;
        return;
    }
    room -= room % AES_BLOCK_LEN;
    const EVP_CIPHER *const type = key_len == PDF_KEY_MAX ? EVP_aes_256_cbc() : EVP_aes_128_cbc();
    if (room > 0 && aes_run(type, false, key, in, in + AES_BLOCK_LEN, room, to)) {
        const uint8_t padding = to[room - 1];

        buffer->len += padding >= 1 && padding <= AES_BLOCK_LEN ? room - padding : room;
    }
}
