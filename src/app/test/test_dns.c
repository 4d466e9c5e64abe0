/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <sys/mman.h>

#include "app/dns.h"

/* A message that is written by hand, byte by byte. It ends where the next page may not be read. */
enum { PAGES_LEN = 32 * 4096, MESSAGE_MAX = 0xFFFF };

static uint8_t *guard;
static uint8_t built[MESSAGE_MAX];
static uint32_t built_len;

static int make_guard(void **state)
{
    uint8_t *pages =
        mmap(NULL, PAGES_LEN + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (pages == MAP_FAILED)
        return -1;
    guard = pages + PAGES_LEN;
    return mprotect(guard, 4096, PROT_NONE);
}

static int free_guard(void **state)
{
    (void)state;
    return munmap(guard - PAGES_LEN, PAGES_LEN + 4096);
}

/* ---- building -------------------------------------------------------------------------------- */

static void add(const void *bytes, size_t len)
{
    assert_true(len <= MESSAGE_MAX - built_len);
    memcpy(built + built_len, bytes, len);
    built_len += (uint32_t)len;
}

#define ADD(text) add(text, sizeof text - 1)

static void add16(uint32_t value)
{
    const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};

    add(bytes, sizeof bytes);
}

static void add_header(uint16_t flags, uint16_t questions, uint16_t answers, uint16_t authorities,
                       uint16_t additionals)
{
    built_len = 0;
    add16(0x1234);
    add16(flags);
    add16(questions);
    add16(answers);
    add16(authorities);
    add16(additionals);
}

/* www.example.org, which begins at byte 12; its "example.org" at 16. */
#define WWW "\3www\7example\3org\0"

/* Of class IN, with 300 seconds, behind its name. */
static void add_record(uint16_t type, const void *data, size_t len)
{
    add16(type);
    ADD("\0\1\0\0\1\x2c");
    add16((uint32_t)len);
    add(data, len);
}

#define ADD_RECORD(type, data) add_record(type, data, sizeof data - 1)

/* A response to a question of that type, with one answer, whose data is given. */
static void build_answer(uint16_t type, const void *data, size_t len)
{
    add_header(0x8180, 1, 1, 0, 0);
    ADD(WWW);
    add16(type);
    add16(1);
    ADD("\xc0\x0c");
    add_record(type, data, len);
}

#define BUILD_ANSWER(type, data) build_answer(type, data, sizeof data - 1)

static const uint8_t *message_of(uint32_t len)
{
    memcpy(guard - len, built, len);
    return guard - len;
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct dns_reader reader;
static struct dns_record record;

static void open_message(void)
{
    assert_true(dns_open(&reader, message_of(built_len), built_len));
}

static void next(enum dns_section section, uint16_t type, enum dns_form form)
{
    assert_true(dns_next(&reader, &record));
    assert_int_equal(record.section, section);
    assert_int_equal(record.type, type);
    assert_int_equal(record.form, form);
}

static void end(enum dns_damage damage)
{
    assert_false(dns_next(&reader, &record));
    assert_string_equal(dns_damage_name(reader.damage), dns_damage_name(damage));
    assert_false(dns_next(&reader, &record));
}

static void assert_name(struct dns_name name, const char *expected)
{
    char text[DNS_NAME_TEXT_MAX];

    assert_int_equal(dns_name_text(reader.message.bytes, name, text), strlen(expected));
    assert_int_equal(name.text_len, strlen(expected));
    assert_memory_equal(text, expected, strlen(expected));
}

static void assert_bytes(struct dns_bytes bytes, const void *expected, size_t len)
{
    assert_int_equal(bytes.len, len);
    assert_memory_equal(bytes.bytes, expected, len);
}

#define ASSERT_BYTES(bytes, text) assert_bytes(bytes, text, sizeof text - 1)

/* Reads the question and the answer of build_answer. */
static void read_answer(uint16_t type, enum dns_form form)
{
    open_message();
    next(DNS_QUESTION, type, DNS_FORM_NONE);
    assert_name(record.name, "www.example.org");
    next(DNS_ANSWER, type, form);
    assert_name(record.name, "www.example.org");
    assert_int_equal(record.rrclass, 1);
    assert_int_equal(record.ttl, 300);
}

static enum dns_verdict probe(void)
{
    return dns_probe(message_of(built_len), built_len, built_len);
}

/* Damage in the data ends the message behind its question. */
static void assert_bad_answer(enum dns_damage damage)
{
    open_message();
    next(DNS_QUESTION, reader.header.n[0] == 1 ? (uint16_t)(built[29] << 8 | built[30]) : 0,
         DNS_FORM_NONE);
    end(damage);
    assert_int_equal(reader.section, DNS_ANSWER);
    assert_int_equal(probe(), DNS_MAYBE);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void reads_the_header(void **state)
{
    (void)state;
    add_header(0xAFF5, 0, 0, 0, 0);
    open_message();
    assert_int_equal(reader.header.id, 0x1234);
    assert_int_equal(reader.header.flags,
                     DNS_QR | DNS_AA | DNS_TC | DNS_RD | DNS_RA | DNS_Z | DNS_AD | DNS_CD | 0x2805);
    assert_int_equal(dns_opcode(reader.header.flags), 5);
    assert_int_equal(dns_rcode(reader.header.flags), 5);
    end(DNS_WHOLE);
    for (uint32_t len = 0; len < DNS_HEADER_LEN; len++) {
        assert_false(dns_open(&reader, message_of(len), len));
        end(DNS_HEADER_CUT);
        assert_int_equal(dns_probe(message_of(len), len, len), DNS_NO);
    }
}

static void reads_sections_in_order(void **state)
{
    (void)state;
    add_header(0x8180, 2, 1, 1, 2);
    ADD("\0\0\1\0\1" WWW "\0\x1c\0\1");
    ADD("\xc0\x11");
    ADD_RECORD(1, "\1\2\3\4");
    ADD("\xc0\x15");
    ADD_RECORD(2, "\2ns\xc0\x15");
    ADD("\0");
    ADD_RECORD(41, "");
    ADD("\1x\xc0\x1d");
    ADD_RECORD(99, "any");
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    assert_name(record.name, "");
    next(DNS_QUESTION, 28, DNS_FORM_NONE);
    assert_name(record.name, "www.example.org");
    next(DNS_ANSWER, 1, DNS_FORM_ADDRESS);
    ASSERT_BYTES(record.data, "\1\2\3\4");
    next(DNS_AUTHORITY, 2, DNS_FORM_NAME);
    assert_name(record.name, "example.org");
    assert_name(record.target, "ns.example.org");
    next(DNS_ADDITIONAL, 41, DNS_FORM_NONE);
    next(DNS_ADDITIONAL, 99, DNS_FORM_RAW);
    ASSERT_BYTES(record.data, "any");
    end(DNS_WHOLE);
    assert_int_equal(reader.at, built_len);
    assert_int_equal(probe(), DNS_YES);
}

static void reads_data_of_names(void **state)
{
    static const uint16_t types[] = {DNS_TYPE_NS, DNS_TYPE_CNAME, DNS_TYPE_PTR};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        BUILD_ANSWER(types[i], "\4mail\xc0\x10");
        read_answer(types[i], DNS_FORM_NAME);
        assert_name(record.target, "mail.example.org");
        end(DNS_WHOLE);
        assert_int_equal(probe(), DNS_YES);

        BUILD_ANSWER(types[i], "\4mail");
        assert_bad_answer(DNS_NAME_CUT);
        BUILD_ANSWER(types[i], "\4mail\xc0");
        assert_bad_answer(DNS_NAME_CUT);
        BUILD_ANSWER(types[i], "\5mail");
        assert_bad_answer(DNS_NAME_CUT);
    }
    BUILD_ANSWER(DNS_TYPE_MX, "\0\x0a\4mail\xc0\x10");
    read_answer(DNS_TYPE_MX, DNS_FORM_MX);
    assert_int_equal(record.mx.preference, 10);
    assert_name(record.mx.exchange, "mail.example.org");
    BUILD_ANSWER(DNS_TYPE_MX, "\0");
    assert_bad_answer(DNS_DATA);
    BUILD_ANSWER(DNS_TYPE_MX, "\0\x0a");
    assert_bad_answer(DNS_NAME_CUT);

    BUILD_ANSWER(DNS_TYPE_SRV, "\0\1\0\2\x13\xc4\3sip\xc0\x10");
    read_answer(DNS_TYPE_SRV, DNS_FORM_SRV);
    assert_int_equal(record.srv.priority, 1);
    assert_int_equal(record.srv.weight, 2);
    assert_int_equal(record.srv.port, 5060);
    assert_name(record.srv.target, "sip.example.org");
    BUILD_ANSWER(DNS_TYPE_SRV, "\0\1\0\2\x13");
    assert_bad_answer(DNS_DATA);
    BUILD_ANSWER(DNS_TYPE_SRV, "\0\1\0\2\x13\xc4");
    assert_bad_answer(DNS_NAME_CUT);
}

#define SOA_NUMBERS "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\xff\xff\xff"

static void reads_soa(void **state)
{
    (void)state;
    BUILD_ANSWER(DNS_TYPE_SOA, "\2ns\xc0\x10\5admin\xc0\x10" SOA_NUMBERS "\xfe");
    read_answer(DNS_TYPE_SOA, DNS_FORM_SOA);
    assert_name(record.soa.mname, "ns.example.org");
    assert_name(record.soa.rname, "admin.example.org");
    assert_int_equal(record.soa.serial, 1);
    assert_int_equal(record.soa.refresh, 2);
    assert_int_equal(record.soa.retry, 3);
    assert_int_equal(record.soa.expire, 4);
    assert_int_equal(record.soa.minimum, 0xFFFFFFFE);
    end(DNS_WHOLE);
    BUILD_ANSWER(DNS_TYPE_SOA, "\2ns\xc0\x10\5admin\xc0\x10" SOA_NUMBERS);
    assert_bad_answer(DNS_DATA);
    BUILD_ANSWER(DNS_TYPE_SOA, "\2ns\xc0\x10");
    assert_bad_answer(DNS_NAME_CUT);
    BUILD_ANSWER(DNS_TYPE_SOA, "\2ns\x80\x10");
    assert_bad_answer(DNS_NAME_LABEL);
}

static void reads_data_of_bytes(void **state)
{
    (void)state;
    BUILD_ANSWER(DNS_TYPE_A, "\x7f\0\0\1");
    read_answer(DNS_TYPE_A, DNS_FORM_ADDRESS);
    ASSERT_BYTES(record.data, "\x7f\0\0\1");
    BUILD_ANSWER(DNS_TYPE_A, "\x7f\0\0");
    assert_bad_answer(DNS_DATA);
    BUILD_ANSWER(DNS_TYPE_A, "\x7f\0\0\1\1");
    assert_bad_answer(DNS_DATA);

    BUILD_ANSWER(DNS_TYPE_AAAA, "0123456789abcdef");
    read_answer(DNS_TYPE_AAAA, DNS_FORM_ADDRESS);
    ASSERT_BYTES(record.data, "0123456789abcdef");
    BUILD_ANSWER(DNS_TYPE_AAAA, "\x7f\0\0\1");
    assert_bad_answer(DNS_DATA);

    BUILD_ANSWER(DNS_TYPE_NULL, "\0\xff");
    read_answer(DNS_TYPE_NULL, DNS_FORM_RAW);
    ASSERT_BYTES(record.data, "\0\xff");

    BUILD_ANSWER(DNS_TYPE_SSHFP, "\4\2fingerprint");
    read_answer(DNS_TYPE_SSHFP, DNS_FORM_SSHFP);
    assert_int_equal(record.sshfp.algorithm, 4);
    assert_int_equal(record.sshfp.type, 2);
    ASSERT_BYTES(record.sshfp.fingerprint, "fingerprint");
    BUILD_ANSWER(DNS_TYPE_SSHFP, "\4");
    assert_bad_answer(DNS_DATA);
}

/* Types without a form keep their bytes: DNAME, NAPTR, DS, RRSIG, NSEC, DNSKEY, NSEC3, TLSA, SVCB,
 * HTTPS, CAA, and one that is not assigned. */
static void keeps_data_of_other_types(void **state)
{
    static const uint16_t types[] = {39, 35, 43, 46, 47, 48, 50, 52, 64, 65, 257, 65280};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        BUILD_ANSWER(types[i], "\xff\xff");
        read_answer(types[i], DNS_FORM_RAW);
        ASSERT_BYTES(record.data, "\xff\xff");
        end(DNS_WHOLE);
        assert_int_equal(probe(), DNS_YES);
    }
    BUILD_ANSWER(DNS_TYPE_SOA, ""); /* as in updates */
    read_answer(DNS_TYPE_SOA, DNS_FORM_NONE);
    end(DNS_WHOLE);
}

static void reads_strings_and_options(void **state)
{
    struct dns_option option;
    struct dns_bytes string;

    (void)state;
    BUILD_ANSWER(DNS_TYPE_TXT, "\3one\0\3two");
    read_answer(DNS_TYPE_TXT, DNS_FORM_TXT);
    assert_true(dns_next_string(&record.data, &string));
    ASSERT_BYTES(string, "one");
    assert_true(dns_next_string(&record.data, &string));
    ASSERT_BYTES(string, "");
    assert_true(dns_next_string(&record.data, &string));
    ASSERT_BYTES(string, "two");
    assert_false(dns_next_string(&record.data, &string));
    BUILD_ANSWER(DNS_TYPE_TXT, "\3one\4two");
    assert_bad_answer(DNS_DATA);

    BUILD_ANSWER(DNS_TYPE_OPT, "\0\x0a\0\3abc\0\3\0\0");
    read_answer(DNS_TYPE_OPT, DNS_FORM_OPT);
    assert_true(dns_next_option(&record.data, &option));
    assert_int_equal(option.code, 10);
    ASSERT_BYTES(option.data, "abc");
    assert_true(dns_next_option(&record.data, &option));
    assert_int_equal(option.code, 3);
    ASSERT_BYTES(option.data, "");
    assert_false(dns_next_option(&record.data, &option));
    BUILD_ANSWER(DNS_TYPE_OPT, "\0\x0a\0\3ab");
    assert_bad_answer(DNS_DATA);
    BUILD_ANSWER(DNS_TYPE_OPT, "\0\x0a\0");
    assert_bad_answer(DNS_DATA);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void build_name(const void *name, size_t len)
{
    add_header(0x0100, 1, 0, 0, 0);
    add(name, len);
    ADD("\0\1\0\1");
}

static void assert_bad_name(enum dns_damage damage)
{
    open_message();
    end(damage);
    assert_int_equal(probe(), DNS_NO);
}

static void bounds_names(void **state)
{
    char name[512];
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 4; i++) { /* 64 + 64 + 64 + 62 + 1 = 255 */
        name[len] = (char)(i < 3 ? 63 : 61);
        memset(name + len + 1, 'a' + i, 63);
        len += 1 + (size_t)name[len];
    }
    name[len] = 0;
    build_name(name, len + 1);
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    assert_int_equal(record.name.text_len, DNS_NAME_TEXT_MAX);
    assert_int_equal(probe(), DNS_YES);

    name[192] = 62;
    name[255] = 0;
    build_name(name, 256);
    assert_bad_name(DNS_NAME_LONG);

    for (int i = 0; i < 127; i++)
        memcpy(name + 2 * i, "\1a", 2);
    name[254] = 0;
    build_name(name, 255);
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    assert_int_equal(record.name.text_len, DNS_NAME_TEXT_MAX);

    build_name("\x40", 1);
    assert_bad_name(DNS_NAME_LABEL);
    build_name("\x80", 1);
    assert_bad_name(DNS_NAME_LABEL);
    build_name("\x0a"
               "abc",
               4);
    assert_bad_name(DNS_NAME_CUT);
}

static void keeps_bytes_of_labels(void **state)
{
    (void)state;
    build_name("\5a.B\0\xff\1\"\0", 9);
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    char text[DNS_NAME_TEXT_MAX];
    assert_int_equal(dns_name_text(reader.message.bytes, record.name, text), 7);
    assert_memory_equal(text, "a.B\0\xff.\"", 7);
}

static void follows_pointers_in_the_message(void **state)
{
    (void)state;
    build_name("\xc0\x0c", 2); /* to itself */
    assert_bad_name(DNS_NAME_POINTERS);
    build_name("\1a\xc0\x0c", 4); /* to its own beginning */
    assert_bad_name(DNS_NAME_LONG);
    build_name("\xff\xff", 2);
    assert_bad_name(DNS_NAME_CUT);

    build_name("\1a\xc0\x0b", 4); /* into the header, to its last byte */
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    assert_name(record.name, "a");
    end(DNS_WHOLE);

    /* Ahead, to the name of the answer. */
    add_header(0x8180, 1, 1, 0, 0);
    ADD("\1a\xc0\x14\0\1\0\1"
        "\1b\0\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4");
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    assert_name(record.name, "a.b");
    next(DNS_ANSWER, 1, DNS_FORM_ADDRESS);
    assert_name(record.name, "b");
    end(DNS_WHOLE);

    /* Pointers that alternate: to each other. */
    add_header(0x8180, 1, 1, 0, 0);
    ADD("\1a\0\0\1\0\1"
        "\xc0\x15"
        "\xc0\x13");
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    end(DNS_NAME_POINTERS);
}

/* A chain of n pointers behind the question, and a record whose name is the last of them. */
static void build_pointers(uint32_t n)
{
    uint32_t target = DNS_HEADER_LEN;

    add_header(0x8180, 1, 2, 0, 0);
    ADD("\1a\0\0\1\0\1\0\0\x0a\0\1\0\0\0\0");
    add16(2 * (n - 1));
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t at = built_len;

        add16(0xC000 | target);
        target = at;
    }
    add16(0xC000 | target);
    ADD_RECORD(1, "\1\2\3\4");
}

static void bounds_pointers(void **state)
{
    (void)state;
    build_pointers(DNS_NAME_POINTERS_MAX);
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    next(DNS_ANSWER, DNS_TYPE_NULL, DNS_FORM_RAW);
    next(DNS_ANSWER, 1, DNS_FORM_ADDRESS);
    assert_name(record.name, "a");
    end(DNS_WHOLE);

    build_pointers(DNS_NAME_POINTERS_MAX + 1);
    open_message();
    next(DNS_QUESTION, 1, DNS_FORM_NONE);
    next(DNS_ANSWER, DNS_TYPE_NULL, DNS_FORM_RAW);
    end(DNS_NAME_POINTERS);
}

/* Every prefix of a message ends with a reason, and the parts read of it are as of the whole. */
static void reads_prefixes(void **state)
{
    (void)state;
    add_header(0x8180, 1, 2, 1, 1);
    ADD(WWW "\0\1\0\1");
    ADD("\xc0\x0c");
    ADD_RECORD(5, "\3web\xc0\x10");
    ADD("\3web\xc0\x10");
    ADD_RECORD(16, "\3abc");
    ADD("\0");
    ADD_RECORD(6, "\2ns\0\1a\0" SOA_NUMBERS "\0");
    ADD("\0");
    ADD_RECORD(41, "\0\x0a\0\2ab");
    for (uint32_t len = DNS_HEADER_LEN; len <= built_len; len++) {
        uint32_t n = 0;

        assert_true(dns_open(&reader, message_of(len), len));
        while (dns_next(&reader, &record))
            n++;
        assert_int_equal(reader.damage == DNS_WHOLE, len == built_len);
        assert_true(n == 5 || len < built_len);
        assert_true(reader.at <= len);

        const enum dns_verdict here = dns_probe(message_of(len), len, built_len);
        assert_int_equal(here, len == built_len ? DNS_YES : n == 0 ? DNS_NO : DNS_MAYBE);
    }
}

/* ---- the probe ------------------------------------------------------------------------------- */

static void build_query(uint16_t flags, uint16_t rrclass)
{
    add_header(flags, 1, 0, 0, 0);
    ADD(WWW "\0\1");
    add16(rrclass);
}

static uint32_t events_of(bool to_server)
{
    return dns_events(message_of(built_len), built_len, to_server);
}

static void names_events(void **state)
{
    (void)state;
    build_query(0x0100, 1);
    assert_int_equal(events_of(true), 0);
    assert_int_equal(events_of(false), 1u << DNS_NOT_A_RESPONSE);
    built_len -= 1;
    assert_int_equal(events_of(true), 1u << DNS_MALFORMED_DATA);
    build_query(0x3840, 1);
    assert_int_equal(events_of(true), 1u << DNS_INVALID_OPCODE | 1u << DNS_Z_FLAG_SET);
    build_query(0x3000, 1);
    assert_int_equal(events_of(true), 0);
    for (uint32_t section = 1; section < DNS_N_SECTIONS; section++) {
        add_header(0x8180, 0, section == 1, section == 2, section == 3);
        ADD(WWW "\0\1");
        assert_int_equal(events_of(false), 1u << (section == 1   ? DNS_MALFORMED_DATA
                                                  : section == 2 ? DNS_INVALID_AUTHORITIES
                                                                 : DNS_INVALID_ADDITIONALS));
        assert_true((events_of(true) & 1u << DNS_NOT_A_REQUEST) != 0);
    }
    built_len = 3;
    assert_int_equal(events_of(true), 0);
    assert_string_equal(dns_event_name(DNS_NOT_A_REQUEST), "not_a_request");
}

static void probes_messages(void **state)
{
    (void)state;
    build_query(0x0100, 1);
    assert_int_equal(probe(), DNS_YES);
    ADD("\0");
    assert_int_equal(probe(), DNS_MAYBE); /* a byte behind it */
    build_query(0x0000, 0x8001);
    assert_int_equal(probe(), DNS_YES); /* multicast: answer to me alone */
    build_query(0x0000, 2);
    assert_int_equal(probe(), DNS_MAYBE);
    ADD("\0");
    assert_int_equal(probe(), DNS_NO);
    build_query(0x1800, 1);
    assert_int_equal(probe(), DNS_MAYBE); /* opcode 3 */
    build_query(0x3800, 1);
    assert_int_equal(probe(), DNS_MAYBE); /* opcode 7 */

    add_header(0x8181, 0, 0, 0, 0);
    assert_int_equal(probe(), DNS_MAYBE); /* an error that is a header alone */
    ADD("\0");
    assert_int_equal(probe(), DNS_NO);
    add_header(0x8180, 0, 0, 0, 0);
    assert_int_equal(probe(), DNS_NO);
    add_header(0x0001, 0, 0, 0, 0);
    assert_int_equal(probe(), DNS_NO);

    add_header(0x0000, 0, 1, 0, 0);
    ADD("\0");
    ADD_RECORD(1, "\1\2\3\4");
    assert_int_equal(probe(), DNS_NO); /* a request without a question */
    built[2] = 0x84;
    assert_int_equal(probe(), DNS_YES); /* an answer of multicast DNS */
    built[5] = 1;
    assert_int_equal(probe(), DNS_NO); /* more than fits */
}

static void probes_opt(void **state)
{
    (void)state;
    build_query(0x0100, 1);
    built[11] = 1;
    ADD("\0\0\x29\x10\0\0\0\0\0\0\0");
    assert_int_equal(probe(), DNS_YES);
    build_query(0x0100, 1);
    built[11] = 1;
    ADD("\1a\0\0\x29\x10\0\0\0\0\0\0\0");
    assert_int_equal(probe(), DNS_MAYBE);
    build_query(0x0100, 1);
    built[7] = 1;
    ADD("\0\0\x29\x10\0\0\0\0\0\0\0");
    assert_int_equal(probe(), DNS_MAYBE);
}

static void probes_netbios(void **state)
{
    (void)state;
    add_header(0x0110, 1, 0, 0, 0);
    ADD("\x20"
        "EFEDEJFPEEEPENEBEJEOCACACACACABM\0"
        "\0\x20\0\1");
    assert_int_equal(probe(), DNS_NO);
    built[47] = 0x21;
    assert_int_equal(probe(), DNS_NO);
    built[20] = 'Q';
    assert_int_equal(probe(), DNS_YES); /* SRV of a label of 32 letters */
    built[47] = 0x20;
    assert_int_equal(probe(), DNS_NO);
}

/* Random bytes are never a message, also where their header is of one. */
static void probes_random_bytes(void **state)
{
    uint64_t seed = 0x5EED;
    uint32_t n_maybe = 0;

    (void)state;
    for (int i = 0; i < 300000; i++) {
        const bool has_header = i % 2 == 0;

        built_len = 12 + test_below(&seed, 500);
        for (uint32_t at = 0; at < built_len; at++)
            built[at] = (uint8_t)test_random(&seed);
        if (has_header)
            memcpy(built + 4, "\0\1\0\0\0\0\0", 8);
        const enum dns_verdict verdict = probe();
        assert_int_not_equal(verdict, DNS_YES);
        assert_true(has_header || verdict == DNS_NO);
        n_maybe += verdict == DNS_MAYBE;
    }
    assert_true(n_maybe < 300);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void names_numbers(void **state)
{
    char number[DNS_NUMBER_LEN];

    (void)state;
    assert_string_equal(dns_type_text(1, number), "A");
    assert_string_equal(dns_type_text(10, number), "NULL");
    assert_string_equal(dns_type_text(257, number), "CAA");
    assert_string_equal(dns_type_text(0, number), "0");
    assert_string_equal(dns_type_text(54, number), "54");
    assert_string_equal(dns_type_text(258, number), "258");
    assert_string_equal(dns_type_text(65535, number), "65535");
    assert_string_equal(dns_rcode_text(0x8180, number), "NOERROR");
    assert_string_equal(dns_rcode_text(0x8183, number), "NXDOMAIN");
    assert_string_equal(dns_rcode_text(0x000A, number), "NOTZONE");
    assert_string_equal(dns_rcode_text(0x818B, number), "11");
    for (int i = 0; i < DNS_N_DAMAGES; i++)
        assert_non_null(dns_damage_name((enum dns_damage)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_header),
        cmocka_unit_test(reads_sections_in_order),
        cmocka_unit_test(reads_data_of_names),
        cmocka_unit_test(reads_soa),
        cmocka_unit_test(reads_data_of_bytes),
        cmocka_unit_test(keeps_data_of_other_types),
        cmocka_unit_test(reads_strings_and_options),
        cmocka_unit_test(bounds_names),
        cmocka_unit_test(keeps_bytes_of_labels),
        cmocka_unit_test(follows_pointers_in_the_message),
        cmocka_unit_test(bounds_pointers),
        cmocka_unit_test(reads_prefixes),
        cmocka_unit_test(names_events),
        cmocka_unit_test(probes_messages),
        cmocka_unit_test(probes_opt),
        cmocka_unit_test(probes_netbios),
        cmocka_unit_test(probes_random_bytes),
        cmocka_unit_test(names_numbers),
    };

    return cmocka_run_group_tests(tests, make_guard, free_guard);
}
