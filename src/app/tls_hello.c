/* SPDX-License-Identifier: MIT */
/* Hellos of TLS (RFC 8446, 4.1), and their fingerprints JA3, JA3S and JA4. */
#include <stdio.h>

#include "app_digest.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "tls.h"

enum {
    EXT_SNI = 0,
    EXT_GROUPS = 10,
    EXT_POINTS = 11,
    EXT_SIGNATURES = 13,
    EXT_ALPN = 16,
    EXT_VERSIONS = 43,
    DRAFT = 0x7F, /* the high byte of the versions of TLS 1.3 before it was done */
    TLS_1_3 = 0x0304,
    RANDOM_LEN = 32,
    NUMBERS_MAX = 512, /* ciphers, extensions and signatures that JA4 sorts */
    JA4_HASH_LEN = 12
};

/* Parts of a hello, without the values of extensions. */
struct hello {
    uint16_t version;
    struct app_span random, ciphers, extensions;
};

/* Numbers that clients make up to keep servers tolerant (RFC 8701). */
static bool is_grease(uint16_t number)
{
    return (number & 0x0F0F) == 0x0A0A && number >> 8 == (number & 0xFF);
}

static bool cut_client(struct hello *hello, struct app_span body)
{
    struct app_span part;

    *hello = (struct hello){0};
    if (!tls_cut_number(&body, &hello->version) || !tls_cut(&body, RANDOM_LEN, &hello->random) ||
        !tls_cut_vector(&body, 1, &part) || !tls_cut_vector(&body, 2, &hello->ciphers) ||
        !tls_cut_vector(&body, 1, &part))
        return false;
    return body.len == 0 || tls_cut_vector(&body, 2, &hello->extensions);
}

static bool next_extension(struct app_span *left, uint16_t *type, struct app_span *value)
{
    return left->len != 0 && tls_cut_number(left, type) && tls_cut_vector(left, 2, value);
}

/* The value of the first extension of a type. False: there is none. */
static bool find_extension(const struct hello *hello, uint16_t wanted, struct app_span *value)
{
    struct app_span left = hello->extensions;
    uint16_t type;

    while (next_extension(&left, &type, value))
        if (type == wanted)
            return true;
    return false;
}

/* ---- JA3 and JA3S ---------------------------------------------------------------------------- */

static void add_number(struct app_text *text, uint32_t number, bool *first)
{
    char *const begin = (char *)app_text_room(text, 1 + DECIMAL_LEN);

    if (begin == NULL)
        return;
    *begin = '-';
    text->len += (uint32_t)(decimal_write(begin + !*first, number) - begin);
    *first = false;
}

static void add_list(struct app_text *text, struct app_span list)
{
    uint16_t number;
    bool first = true;

    while (tls_cut_number(&list, &number))
        if (!is_grease(number))
            add_number(text, number, &first);
}

static void add_extensions(struct app_text *text, struct app_span left)
{
    struct app_span value;
    uint16_t type;
    bool first = true;

    app_text_add_byte(text, ',');
    while (next_extension(&left, &type, &value))
        if (!is_grease(type))
            add_number(text, type, &first);
}

static void hash_ja3(char hash[33], const struct app_text *text)
{
    uint8_t digest[APP_MD5_LEN];

    if (app_digest(digest, APP_MD5, text->bytes, text->len))
        hex_write(hash, digest, APP_MD5_LEN);
}

static void make_ja3(struct tls_session *session, const struct hello *hello)
{
    struct app_text *const text = &session->ja3;
    struct app_span value, list;
    bool first = true;

    text->len = 0;
    add_number(text, hello->version, &first);
    app_text_add_byte(text, ',');
    add_list(text, hello->ciphers);
    add_extensions(text, hello->extensions);
    app_text_add_byte(text, ',');
    if (find_extension(hello, EXT_GROUPS, &value) && tls_cut_vector(&value, 2, &list))
        add_list(text, list);
    app_text_add_byte(text, ',');
    first = true;
    if (find_extension(hello, EXT_POINTS, &value) && tls_cut_vector(&value, 1, &list))
        for (uint32_t i = 0; i < list.len; i++)
            add_number(text, list.bytes[i], &first);
    hash_ja3(session->ja3_hash, text);
}

/* ---- JA4 ------------------------------------------------------------------------------------- */

struct numbers {
    uint16_t number[NUMBERS_MAX];
    uint32_t n, n_all; /* n_all: with those that do not fit, and those left out of the hash */
};

static int compare_numbers(const void *a, const void *b)
{
    const uint16_t one = *(const uint16_t *)a, other = *(const uint16_t *)b;

    return (one > other) - (one < other);
}

static void keep_number(struct numbers *numbers, uint16_t number)
{
    if (numbers->n < NUMBERS_MAX)
        numbers->number[numbers->n++] = number;
}

static void list_ciphers(struct numbers *numbers, struct app_span list)
{
    uint16_t number;

    while (tls_cut_number(&list, &number))
        if (!is_grease(number)) {
            numbers->n_all++;
            keep_number(numbers, number);
        }
}

static void list_extensions(struct numbers *numbers, struct app_span left)
{
    struct app_span value;
    uint16_t type;

    while (next_extension(&left, &type, &value))
        if (!is_grease(type)) {
            numbers->n_all++;
            if (type != EXT_SNI && type != EXT_ALPN)
                keep_number(numbers, type);
        }
}

static void write_numbers(struct app_text *text, const struct numbers *numbers)
{
    char digits[] = ",0123";

    for (uint32_t i = 0; i < numbers->n; i++) {
        const uint8_t bytes[2] = {(uint8_t)(numbers->number[i] >> 8), (uint8_t)numbers->number[i]};

        hex_write(digits + 1, bytes, sizeof bytes);
        app_text_add(text, digits + (i == 0), i == 0 ? 4 : 5);
    }
}

/* The first 12 digits of the SHA-256 of a text; zeros for one that is empty. */
static void hash_ja4(char hash[JA4_HASH_LEN + 1], const struct app_text *text)
{
    uint8_t digest[APP_SHA256_LEN];

    memcpy(hash, "000000000000", JA4_HASH_LEN + 1);
    if (text->len != 0 && app_digest(digest, APP_SHA256, text->bytes, text->len))
        hex_write(hash, digest, JA4_HASH_LEN / 2);
}

static bool is_letter_or_digit(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* The first and last character of the first protocol of ALPN; digits of theirs, if they are none.
 */
static void ja4_alpn(char alpn[3], const struct hello *hello)
{
    struct app_span value, list, name;
    char digits[3];

    (void)snprintf(alpn, 3, "00");
    if (!find_extension(hello, EXT_ALPN, &value) || !tls_cut_vector(&value, 2, &list) ||
        !tls_cut_vector(&list, 1, &name) || name.len == 0)
        return;
    const uint8_t first = name.bytes[0], last = name.bytes[name.len - 1];

    if (is_letter_or_digit(first) && is_letter_or_digit(last)) {
        alpn[0] = (char)first;
        alpn[1] = (char)last;
        return;
    }
    (void)snprintf(digits, sizeof digits, "%02x", first);
    alpn[0] = digits[0];
    (void)snprintf(digits, sizeof digits, "%02x", last);
    alpn[1] = digits[1];
}

/* The highest version that the extension offers, else that of the head. */
static uint16_t best_version(const struct hello *hello)
{
    struct app_span value, list;
    uint16_t best = 0, number;

    if (!find_extension(hello, EXT_VERSIONS, &value) || !tls_cut_vector(&value, 1, &list))
        return hello->version;
    while (tls_cut_number(&list, &number))
        if (!is_grease(number) && number > best)
            best = number;
    return best;
}

static const char *ja4_version(uint16_t version)
{
    static const struct {
        uint16_t version;
        const char *text;
    } versions[] = {{0x0304, "13"}, {0x0303, "12"}, {0x0302, "11"}, {0x0301, "10"}, {0x0300, "s3"},
                    {0x0002, "s2"}, {0xFEFF, "d1"}, {0xFEFD, "d2"}, {0xFEFC, "d3"}};

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (versions[i].version == version)
            return versions[i].text;
    return "00";
}

/* The extensions, sorted, and the algorithms of signatures as they are. */
static void write_extensions(struct app_text *text, const struct hello *hello,
                             struct numbers *extensions)
{
    struct numbers signatures = {.n = 0};
    struct app_span value, list;

    list_extensions(extensions, hello->extensions);
    qsort(extensions->number, extensions->n, sizeof *extensions->number, compare_numbers);
    write_numbers(text, extensions);
    if (find_extension(hello, EXT_SIGNATURES, &value) && tls_cut_vector(&value, 2, &list))
        list_ciphers(&signatures, list);
    if (signatures.n != 0)
        app_text_add_byte(text, '_');
    write_numbers(text, &signatures);
}

static uint32_t two_digits(uint32_t n)
{
    return n < 99 ? n : 99;
}

static void make_ja4(char ja4[TLS_JA4_LEN + 1], const struct hello *hello, char kind)
{
    struct numbers ciphers = {.n = 0}, extensions = {.n = 0};
    char cipher_hash[JA4_HASH_LEN + 1], extension_hash[JA4_HASH_LEN + 1], alpn[3];
    struct app_text text = {0};
    struct app_span sni;

    list_ciphers(&ciphers, hello->ciphers);
    qsort(ciphers.number, ciphers.n, sizeof *ciphers.number, compare_numbers);
    write_numbers(&text, &ciphers);
    hash_ja4(cipher_hash, &text);
    text.len = 0;
    write_extensions(&text, hello, &extensions);
    hash_ja4(extension_hash, &text);
    app_text_free(&text);
    ja4_alpn(alpn, hello);
    (void)snprintf(ja4, TLS_JA4_LEN + 1, "%c%s%c%02u%02u%s_%s_%s", kind,
                   ja4_version(best_version(hello)),
                   find_extension(hello, EXT_SNI, &sni) ? 'd' : 'i', two_digits(ciphers.n_all),
                   two_digits(extensions.n_all), alpn, cipher_hash, extension_hash);
}

bool tls_read_ja4(char ja4[TLS_JA4_LEN + 1], struct app_span body, char kind)
{
    struct hello hello;

    if (!cut_client(&hello, body))
        return false;
    make_ja4(ja4, &hello, kind);
    return true;
}

/* ---- hellos ---------------------------------------------------------------------------------- */

static void read_alpns(struct app_text *to, const struct hello *hello)
{
    struct app_span value, list, name;

    to->len = 0;
    if (!find_extension(hello, EXT_ALPN, &value) || !tls_cut_vector(&value, 2, &list))
        return;
    while (list.len != 0 && tls_cut_vector(&list, 1, &name))
        app_text_add_ended(to, name);
}

/* The first name of kind host. */
static void read_sni(struct app_text *sni, const struct hello *hello)
{
    struct app_span value, list, kind, name;

    sni->len = 0;
    if (find_extension(hello, EXT_SNI, &value) && tls_cut_vector(&value, 2, &list) &&
        tls_cut(&list, 1, &kind) && kind.bytes[0] == 0 && tls_cut_vector(&list, 2, &name))
        app_text_add(sni, name.bytes, name.len);
}

bool tls_read_client_hello(struct tls_session *session, struct app_span body)
{
    struct hello hello;
    const bool whole = cut_client(&hello, body);
    const bool is_first = (session->seen & SL_TLS_SEEN_CLIENT_HELLO) == 0;

    if (hello.random.len != RANDOM_LEN || hello.ciphers.len == 0)
        return false;
    session->seen |= SL_TLS_SEEN_CLIENT_HELLO;
    session->client_version = best_version(&hello);
    memcpy(session->random[APP_CLIENT], hello.random.bytes, RANDOM_LEN);
    read_sni(&session->sni, &hello);
    read_alpns(&session->client_alpns, &hello);
    if (!is_first) /* a server asked for another: fingerprints are those of what the client chose */
        return whole;
    make_ja3(session, &hello);
    make_ja4(session->ja4, &hello, 't');
    return whole;
}

bool tls_read_server_hello(struct tls_session *session, struct app_span body)
{
    struct app_text *const text = &session->ja3s;
    struct hello hello = {0};
    struct app_span part;
    uint16_t cipher;
    bool first = true;

    if (!tls_cut_number(&body, &hello.version) || !tls_cut(&body, RANDOM_LEN, &hello.random))
        return false;
    /* Early drafts sent the version of TLS 1.3 here. They have no session and no compression. */
    const bool is_early = hello.version == TLS_1_3,
               is_draft = is_early || hello.version >> 8 == DRAFT;

    if ((!is_draft && !tls_cut_vector(&body, 1, &part)) || !tls_cut_number(&body, &cipher) ||
        (!is_draft && !tls_cut(&body, 1, &part)))
        return false;
    const bool whole = body.len == 0 || tls_cut_vector(&body, 2, &hello.extensions);

    session->seen |= SL_TLS_SEEN_SERVER_HELLO;
    session->version = is_early ? DRAFT << 8 : hello.version;
    if (find_extension(&hello, EXT_VERSIONS, &part))
        (void)tls_cut_number(&part, &session->version);
    memcpy(session->random[APP_SERVER], hello.random.bytes, RANDOM_LEN);
    read_alpns(&session->server_alpns, &hello);
    text->len = 0;
    add_number(text, hello.version, &first);
    app_text_add_byte(text, ',');
    first = true;
    add_number(text, cipher, &first);
    add_extensions(text, hello.extensions);
    hash_ja3(session->ja3s_hash, text);
    return whole;
}
