/* SPDX-License-Identifier: MIT */
#include "quic.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/bytes.h"

enum {
    VERSION_1 = 1,
    LONG_HEADER = 0xC0,
    SECRET_LEN = 32,
    TAG_LEN = 16,
    SAMPLE_AT = 4, /* bytes from the packet's number to the sample of its protection */
    PACKET_MAX = 65536,
    FRAME_PADDING = 0,
    FRAME_PING = 1,
    FRAME_ACK = 2,
    FRAME_ACK_ECN = 3,
    FRAME_CRYPTO = 6,
    CLIENT_HELLO = 1
};

#define VERSION_2 UINT32_C(0x6B3343CF)
#define DRAFTS UINT32_C(0xFF000000)   /* and the draft's number */
#define MVFST_27 UINT32_C(0xFACEB002) /* draft 27 of mvfst */

/* An initial packet, whose number and payload are protected. */
struct packet {
    uint32_t version, number_at, len; /* len: from its first byte to its end */
    struct app_span id;
};

/* ---- headers --------------------------------------------------------------------------------- */

static bool cut_varint(struct app_span *from, uint64_t *number)
{
    struct app_span part;

    if (from->len == 0 || !tls_cut(from, 1U << (from->bytes[0] >> 6), &part))
        return false;
    *number = part.bytes[0] & 0x3F;
    for (uint32_t i = 1; i < part.len; i++)
        *number = *number << 8 | part.bytes[i];
    return true;
}

static bool is_initial(uint8_t first, uint32_t version)
{
    const uint8_t type = version == VERSION_2 ? 0x10 : 0;

    return (first & LONG_HEADER) == LONG_HEADER && (first & 0x30) == type &&
           (version == VERSION_1 || version == VERSION_2 || version == MVFST_27 ||
            (version >= DRAFTS + 23 && version <= DRAFTS + 34));
}

static bool read_packet(struct packet *packet, struct app_span datagram)
{
    struct app_span left = datagram, head, part;
    uint64_t token_len, len;

    if (!tls_cut(&left, 5, &head) || !is_initial(head.bytes[0], load_be32(head.bytes + 1)))
        return false;
    packet->version = load_be32(head.bytes + 1);
    if (!tls_cut_vector(&left, 1, &packet->id) || packet->id.len > QUIC_ID_MAX ||
        !tls_cut_vector(&left, 1, &part) || !cut_varint(&left, &token_len) ||
        token_len > left.len || !tls_cut(&left, (uint32_t)token_len, &part) ||
        !cut_varint(&left, &len) || len > left.len || len < SAMPLE_AT + TAG_LEN)
        return false;
    packet->number_at = (uint32_t)(left.bytes - datagram.bytes);
    packet->len = packet->number_at + (uint32_t)len;
    return true;
}

uint32_t quic_probe(const uint8_t *bytes, uint32_t len)
{
    struct packet packet;

    return read_packet(&packet, (struct app_span){bytes, len}) ? packet.version : 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* HKDF-Expand-Label of TLS 1.3 for at most 32 bytes. */
static bool expand(const uint8_t secret[SECRET_LEN], const char *label, uint8_t *to, uint8_t len)
{
    uint8_t info[64], digest[EVP_MAX_MD_SIZE];
    const size_t label_len = strlen(label);
    unsigned digest_len;

    info[0] = 0;
    info[1] = len;
    info[2] = (uint8_t)(6 + label_len);
    memcpy(info + 3, "tls13 ", 6);
    memcpy(info + 9, label, label_len);
    info[9 + label_len] = 0;     /* no context */
    info[9 + label_len + 1] = 1; /* the first block */
    if (HMAC(EVP_sha256(), secret, SECRET_LEN, info, 11 + label_len, digest, &digest_len) == NULL)
        return false;
    memcpy(to, digest, len);
    return true;
}

static bool make_keys(struct quic_keys *keys, uint32_t version, struct app_span id)
{
    static const uint8_t salt_1[] = {0x38, 0x76, 0x2C, 0xF7, 0xF5, 0x59, 0x34, 0xB3, 0x4D, 0x17,
                                     0x9A, 0xE6, 0xA4, 0xC8, 0x0C, 0xAD, 0xCC, 0xBB, 0x7F, 0x0A};
    static const uint8_t salt_2[] = {0x0D, 0xED, 0xE3, 0xDE, 0xF7, 0x00, 0xA6, 0xDB, 0x81, 0x93,
                                     0x81, 0xBE, 0x6E, 0x26, 0x9D, 0xCB, 0xF9, 0xBD, 0x2E, 0xD9};
    static const uint8_t salt_29[] = {0xAF, 0xBF, 0xEC, 0x28, 0x99, 0x93, 0xD2, 0x4C, 0x9E, 0x97,
                                      0x86, 0xF1, 0x9C, 0x61, 0x11, 0xE0, 0x43, 0x90, 0xA8, 0x99};
    static const uint8_t salt_23[] = {0xC3, 0xEE, 0xF7, 0x12, 0xC7, 0x2E, 0xBB, 0x5A, 0x11, 0xA7,
                                      0xD2, 0x43, 0x2B, 0xB4, 0x63, 0x65, 0xBE, 0xF9, 0xF5, 0x02};
    const bool is_2 = version == VERSION_2;
    const uint8_t *salt = is_2                                             ? salt_2
                          : version == VERSION_1 || version >= DRAFTS + 33 ? salt_1
                          : version >= DRAFTS + 29                         ? salt_29
                                                                           : salt_23;
    uint8_t secret[EVP_MAX_MD_SIZE], client[SECRET_LEN];
    unsigned len;

    return HMAC(EVP_sha256(), salt, sizeof salt_1, id.bytes, id.len, secret, &len) != NULL &&
           expand(secret, "client in", client, SECRET_LEN) &&
           expand(client, is_2 ? "quicv2 key" : "quic key", keys->key, QUIC_KEY_LEN) &&
           expand(client, is_2 ? "quicv2 iv" : "quic iv", keys->iv, QUIC_IV_LEN) &&
           expand(client, is_2 ? "quicv2 hp" : "quic hp", keys->header, QUIC_KEY_LEN);
}

/* ---- protection ------------------------------------------------------------------------------ */

/* The five bytes that hide the first byte and the number. */
static bool make_mask(EVP_CIPHER_CTX *cipher, const struct quic_keys *keys, const uint8_t *sample,
                      uint8_t mask[2 * QUIC_KEY_LEN])
{
    int len;

    return EVP_EncryptInit_ex(cipher, EVP_aes_128_ecb(), NULL, keys->header, NULL) == 1 &&
           EVP_EncryptUpdate(cipher, mask, &len, sample, QUIC_KEY_LEN) == 1 && len >= 5;
}

/* Opens a packet in place: its bytes are the caller's copy. *payload lies in it. */
static bool open_packet(EVP_CIPHER_CTX *cipher, const struct quic_keys *keys, uint8_t *bytes,
                        const struct packet *packet, struct app_span *payload)
{
    uint8_t mask[2 * QUIC_KEY_LEN], nonce[QUIC_IV_LEN];
    uint8_t *const number = bytes + packet->number_at;
    int len, rest;

    if (!make_mask(cipher, keys, number + SAMPLE_AT, mask))
        return false;
    bytes[0] ^= mask[0] & 0x0F;
    const uint32_t number_len = (bytes[0] & 3) + 1U;
    const uint32_t head_len = packet->number_at + number_len;

    memcpy(nonce, keys->iv, sizeof nonce);
    for (uint32_t i = 0; i < number_len; i++) {
        number[i] ^= mask[1 + i];
        nonce[QUIC_IV_LEN - number_len + i] ^= number[i];
    }
    if (packet->len < head_len + TAG_LEN)
        return false;
    *payload = (struct app_span){bytes + head_len, packet->len - head_len - TAG_LEN};
    return EVP_DecryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, keys->key, nonce) == 1 &&
           EVP_DecryptUpdate(cipher, NULL, &len, bytes, (int)head_len) == 1 &&
           EVP_DecryptUpdate(cipher, bytes + head_len, &len, payload->bytes, (int)payload->len) ==
               1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_LEN,
                               bytes + packet->len - TAG_LEN) == 1 &&
           EVP_DecryptFinal_ex(cipher, bytes + head_len + len, &rest) == 1;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool has_byte(const struct quic_flow *flow, uint32_t at)
{
    return (flow->hello[QUIC_HELLO_MAX + at / 8] >> at % 8 & 1) != 0;
}

/* The bytes that came first stay. */
static void keep_bytes(struct quic_flow *flow, uint64_t at, struct app_span bytes)
{
    for (uint32_t i = 0; i < bytes.len && at + i < QUIC_HELLO_MAX; i++) {
        const uint32_t to = (uint32_t)at + i;

        if (has_byte(flow, to))
            continue;
        flow->hello[to] = bytes.bytes[i];
        flow->hello[QUIC_HELLO_MAX + to / 8] |= (uint8_t)(1 << to % 8);
    }
}

static bool skip_varints(struct app_span *left, uint64_t n)
{
    uint64_t number;

    while (n != 0 && cut_varint(left, &number))
        n--;
    return n == 0;
}

/* An acknowledgement says nothing here: two numbers, how many ranges of two there are, and the
 * first of them. */
static bool skip_ack(struct app_span *left, bool has_ecn)
{
    uint64_t ranges;

    return skip_varints(left, 2) && cut_varint(left, &ranges) && ranges <= left->len &&
           skip_varints(left, 1 + 2 * ranges + (has_ecn ? 3 : 0));
}

static void read_frames(struct quic_flow *flow, struct app_span left)
{
    uint64_t type, at, len;
    struct app_span bytes;
    bool good = true;

    while (good && cut_varint(&left, &type)) {
        if (type == FRAME_CRYPTO) {
            good = cut_varint(&left, &at) && cut_varint(&left, &len) && len <= left.len &&
                   tls_cut(&left, (uint32_t)len, &bytes);
            if (good)
                keep_bytes(flow, at, bytes);
        } else if (type == FRAME_ACK || type == FRAME_ACK_ECN) {
            good = skip_ack(&left, type == FRAME_ACK_ECN);
        } else {
            good = type == FRAME_PADDING || type == FRAME_PING;
        }
    }
}

/* The hello, where all of it has come. */
static enum quic_result read_hello(struct quic_flow *flow, struct tls_session *session)
{
    uint32_t n = 0;

    while (n < QUIC_HELLO_MAX && has_byte(flow, n))
        n++;
    struct app_span left = {flow->hello, n}, type, body;

    if (n < 4 || !tls_cut(&left, 1, &type) || type.bytes[0] != CLIENT_HELLO ||
        !tls_cut_vector(&left, 3, &body))
        return QUIC_PART;
    (void)tls_read_client_hello(session, body);
    (void)tls_read_ja4(session->ja4, body, 'q');
    quic_flow_free(flow);
    return QUIC_HELLO;
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* The first packet gives the keys of all. */
static bool begin_flow(struct quic_flow *flow, const struct packet *packet)
{
    flow->hello = calloc(QUIC_HELLO_MAX + QUIC_HELLO_MAX / 8, 1);
    if (flow->hello == NULL || !make_keys(&flow->keys, packet->version, packet->id))
        return false;
    flow->version = packet->version;
    return true;
}

static enum quic_result read_copy(struct quic_flow *flow, struct tls_session *session,
                                  EVP_CIPHER_CTX *cipher, uint8_t *copy, uint32_t len)
{
    enum quic_result result = QUIC_NOTHING;
    struct packet packet;

    for (uint32_t at = 0; read_packet(&packet, (struct app_span){copy + at, len - at});
         at += packet.len) {
        struct app_span payload;

        if (flow->version == 0 && !begin_flow(flow, &packet))
            return QUIC_NO_MEMORY;
        if (flow->hello == NULL || !open_packet(cipher, &flow->keys, copy + at, &packet, &payload))
            continue;
        read_frames(flow, payload);
        result = read_hello(flow, session);
    }
    return result;
}

enum quic_result quic_read(struct quic_flow *flow, struct tls_session *session,
                           const uint8_t *bytes, uint32_t len)
{
    if ((flow->version != 0 && flow->hello == NULL) || len > PACKET_MAX ||
        quic_probe(bytes, len) == 0)
        return QUIC_NOTHING;
    uint8_t *copy = malloc(len);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    enum quic_result result = QUIC_NO_MEMORY;

    if (copy != NULL && cipher != NULL)
        result = read_copy(flow, session, cipher, memcpy(copy, bytes, len), len);
    EVP_CIPHER_CTX_free(cipher);
    free(copy);
    return result;
}

void quic_flow_free(struct quic_flow *flow)
{
    free(flow->hello);
    flow->hello = NULL;
}
