/* SPDX-License-Identifier: MIT */
/* Initial packets of QUIC, sealed with the keys that RFC 9001, A.1, gives for a connection's id. */
#include "test.h"

#include <openssl/evp.h>

#include "app/quic.h"

static const uint8_t key[] = {0x1f, 0x36, 0x96, 0x13, 0xdd, 0x76, 0xd5, 0x46,
                              0x77, 0x30, 0xef, 0xcb, 0xe3, 0xb1, 0xa2, 0x2d};
static const uint8_t iv[] = {0xfa, 0x04, 0x4b, 0x2f, 0x42, 0xa3,
                             0xfd, 0x3b, 0x46, 0xfb, 0x25, 0x5c};
static const uint8_t header[] = {0x9f, 0x50, 0x44, 0x9e, 0x04, 0xa0, 0xe8, 0x10,
                                 0x28, 0x3a, 0x1e, 0x99, 0x33, 0xad, 0xed, 0xd2};

static const uint8_t hello[] = "\x01\0\0\x45\x03\x03"
                               "0123456789abcdef0123456789abcdef\0"
                               "\0\x02\x13\x01\x01\0\0\x1a"
                               "\0\0\0\x0f\0\x0d\0\0\x0awww.quic.x"
                               "\0\x2b\0\x03\x02\x03\x04";

enum { HEAD_LEN = 20, PAYLOAD_LEN = 200, PACKET_LEN = HEAD_LEN + PAYLOAD_LEN + 16 };

/* A packet with this payload, and padding behind it. */
static void seal(uint8_t packet[PACKET_LEN], uint8_t number, const uint8_t *frames, size_t len)
{
    /* Two bytes of length, of a number of two bytes and what is behind it. */
    static const uint8_t head[HEAD_LEN] = {0xc1, 0,    0,    0,    1,    8,
                                           0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51,
                                           0x57, 0x08, 0,    0,    0x40, 2 + PAYLOAD_LEN + 16};
    uint8_t payload[PAYLOAD_LEN] = {0}, nonce[12], mask[32];
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int n;

    memcpy(payload, frames, len);
    memcpy(packet, head, HEAD_LEN);
    packet[19] = number;
    memcpy(nonce, iv, sizeof nonce);
    nonce[11] ^= number;
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, nonce), 1);
    assert_int_equal(EVP_EncryptUpdate(cipher, NULL, &n, packet, HEAD_LEN), 1);
    assert_int_equal(EVP_EncryptUpdate(cipher, packet + HEAD_LEN, &n, payload, PAYLOAD_LEN), 1);
    assert_int_equal(EVP_EncryptFinal_ex(cipher, packet + HEAD_LEN + n, &n), 1);
    assert_int_equal(
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, 16, packet + PACKET_LEN - 16), 1);
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_aes_128_ecb(), NULL, header, NULL), 1);
    assert_int_equal(EVP_EncryptUpdate(cipher, mask, &n, packet + 18 + 4, 16), 1);
    EVP_CIPHER_CTX_free(cipher);
    packet[0] ^= mask[0] & 0x0f;
    packet[18] ^= mask[1];
    packet[19] ^= mask[2];
}

/* A frame of kind CRYPTO. Returns its bytes. */
static size_t put_crypto(uint8_t *to, size_t at, size_t len)
{
    to[0] = 6;
    to[1] = (uint8_t)at;
    to[2] = 0x40;
    to[3] = (uint8_t)len;
    memcpy(to + 4, hello + at, len);
    return len + 4;
}

static void test_hello(void **state)
{
    uint8_t frames[PAYLOAD_LEN], packet[2][PACKET_LEN];
    const size_t len = sizeof hello - 1;
    struct tls_session session = {.seen = 0};
    struct quic_flow flow = {.version = 0};
    struct app_span value;
    size_t n;

    (void)state;
    frames[0] = 1; /* PING, the end of the hello, and its middle once more */
    n = 1 + put_crypto(frames + 1, 50, len - 50);
    n += put_crypto(frames + n, 45, 20);
    seal(packet[0], 0, frames, n);
    n = put_crypto(frames, 0, 50);
    seal(packet[1], 1, frames, n);

    packet[1][100] ^= 1; /* a packet that its tag refuses */
    assert_int_equal(quic_read(&flow, &session, packet[0], PACKET_LEN), QUIC_PART);
    assert_int_equal(quic_read(&flow, &session, packet[1], PACKET_LEN), QUIC_NOTHING);
    packet[1][100] ^= 1;
    assert_int_equal(quic_read(&flow, &session, packet[1], PACKET_LEN), QUIC_HELLO);
    assert_int_equal(quic_read(&flow, &session, packet[1], PACKET_LEN), QUIC_NOTHING);
    assert_true(tls_value_get(&value, &session, SL_TLS_SNI));
    assert_int_equal(value.len, 10);
    assert_memory_equal(value.bytes, "www.quic.x", 10);
    assert_true(tls_value_get(&value, &session, SL_TLS_JA4));
    assert_memory_equal(value.bytes, "q13d010200_", 11);
    assert_null(flow.hello);
    tls_session_free(&session);
}

static void test_cut(void **state)
{
    uint8_t frames[PAYLOAD_LEN], packet[PACKET_LEN];

    (void)state;
    seal(packet, 0, frames, put_crypto(frames, 0, 50));
    for (uint32_t len = 0; len < PACKET_LEN; len++) {
        struct tls_session session = {.seen = 0};
        struct quic_flow flow = {.version = 0};

        assert_int_equal(quic_read(&flow, &session, packet, len), QUIC_NOTHING);
        quic_flow_free(&flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hello), cmocka_unit_test(test_cut)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
