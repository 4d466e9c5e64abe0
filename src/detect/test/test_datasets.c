/* SPDX-License-Identifier: MIT */
/* Sets of data: against a list, their files, and the options of rules on them. */
#include "detect_fixture.h"

#include <unistd.h>

#include "data_ref.h"
#include "detect/data/rule_data.h"

static char folder[] = "/tmp/sluice-datasets-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "wb");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static const char *read_text(const char *name)
{
    static char text[4096];
    FILE *file = fopen(path_of(name), "rb");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* The sets have the same values, in the same order. */
static void compare(const struct data_set *set, const struct data_ref *ref)
{
    struct data_value value;
    size_t at = 0;
    uint32_t n = 0;

    for (; data_set_next(set, &at, &value); n++) {
        assert_in_range(n, 0, ref->n - 1);
        assert_int_equal(value.len, ref->value[n].len);
        assert_memory_equal(value.bytes, ref->value[n].bytes, value.len);
        assert_int_equal(value.reputation, ref->value[n].reputation);
    }
    assert_int_equal(n, ref->n);
    assert_int_equal(set->n, ref->n);
}

/* A value of few that there are, so that adding meets known ones. */
static uint32_t draw(uint64_t *seed, uint8_t bytes[DATA_REF_LEN])
{
    const uint32_t number = test_below(seed, 300), len = 1 + number % DATA_REF_LEN;

    memset(bytes, (int)(number / DATA_REF_LEN), len);
    bytes[0] = (uint8_t)number;
    return len;
}

static void change(struct data_set *set, struct data_ref *ref, uint64_t *seed)
{
    uint8_t bytes[DATA_REF_LEN];
    uint16_t reputation;
    const uint32_t len = draw(seed, bytes), i = data_ref_find(ref, bytes, len);

    assert_int_equal(data_set_find(set, bytes, len, &reputation), i != ref->n);
    assert_int_equal(reputation, i != ref->n ? ref->value[i].reputation : 0);
    if (test_below(seed, 2) == 0)
        assert_int_equal(data_set_remove(set, bytes, len), data_ref_remove(ref, bytes, len));
    else
        assert_int_equal(data_set_add(set, bytes, len, (uint16_t)i),
                         data_ref_add(ref, bytes, len, (uint16_t)i) ? DATA_ADDED : DATA_KNOWN);
}

static void test_set_is_a_list_without_repetition(void **state)
{
    struct data_ref *ref = calloc(1, sizeof *ref);
    struct data_set set = {.type = DATA_STRING, .memory_max = 1 << 20, .secret = 7}, copy;
    uint64_t seed = 42;

    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        change(&set, ref, &seed);
        if (i % 997 == 0) {
            compare(&set, ref);
            assert_true(data_set_copy(&copy, &set, seed));
            compare(&copy, ref);
            data_set_free(&set);
            set = copy;
        }
    }
    compare(&set, ref);
    data_set_free(&set);
    free(ref);
}

/* Values set and unset for ever take no more memory than those in the set. */
static void test_removed_values_give_their_memory_back(void **state)
{
    struct data_set set = {.type = DATA_STRING, .memory_max = 1 << 20};
    char text[32];

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const uint32_t len = (uint32_t)snprintf(text, sizeof text, "value %d", i);

        assert_int_equal(data_set_add(&set, (uint8_t *)text, len, 0), DATA_ADDED);
        assert_true(data_set_remove(&set, (uint8_t *)text, len));
    }
    assert_int_equal(set.memory, 0);
    assert_in_range(set.cap_units, 0, 256);
    assert_in_range(set.n_slots, 16, 64);
    data_set_free(&set);
}

static void test_memory_is_bounded(void **state)
{
    struct data_set set = {.type = DATA_STRING, .memory_max = 100};

    (void)state;
    assert_int_equal(data_set_add(&set, (const uint8_t *)"12345678", 8, 0), DATA_ADDED); /* 32 */
    assert_int_equal(data_set_add(&set, (const uint8_t *)"a", 1, 0), DATA_ADDED);        /* 32 */
    assert_int_equal(data_set_add(&set, (const uint8_t *)"123456789", 9, 0), DATA_NO_ROOM);
    assert_int_equal(data_set_add(&set, (const uint8_t *)"b", 1, 0), DATA_ADDED);
    assert_int_equal(data_set_add(&set, (const uint8_t *)"c", 1, 0), DATA_NO_ROOM);
    assert_int_equal(data_set_add(&set, (const uint8_t *)"a", 1, 0), DATA_KNOWN);
    assert_true(data_set_remove(&set, (const uint8_t *)"a", 1));
    assert_int_equal(data_set_add(&set, (const uint8_t *)"c", 1, 0), DATA_ADDED);
    data_set_free(&set);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct data_form lines = {.format = DATA_LINES};

#define MD5 "00112233445566778899aabbccddeeff"
#define SHA256 MD5 MD5

/* Reading and writing a text gives it again. */
static void test_written_files_are_those_that_were_read(void **state)
{
    static const struct {
        enum data_type type;
        const char *text, *written; /* NULL: the same */
    } files[] = {
        {DATA_STRING, "YQ==\nYWI=\nYWJj\nAP8=\n", NULL},
        {DATA_STRING, "YQ==,1\nYWI=,65535\nYWJj,0\n", NULL},
        {DATA_STRING, "YQ==\r\n\nYQ==  \nYWI=", "YQ==\nYWI=\n"},
        {DATA_MD5, MD5 "\n", NULL},
        {DATA_MD5, "00112233445566778899AABBCCDDEEFF,7\n", MD5 ",7\n"},
        {DATA_SHA256, SHA256 "\n", NULL},
        {DATA_IPV4, "192.0.2.1\n255.255.255.255\n", NULL},
        {DATA_IP, "192.0.2.1\n::ffff:192.0.2.2\n2001:DB8::1\n",
         "192.0.2.1\n192.0.2.2\n2001:db8::1\n"},
        {DATA_STRING, "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data_set set = {.type = files[i].type, .memory_max = 1 << 20};
        struct sl_diag diag = {0};

        write_text("in", files[i].text);
        if (data_file_read(&set, &lines, path_of("in"), false, &diag) != SL_OK)
            fail_msg("%s:%u: %s", diag.file, diag.line, diag.text);
        assert_int_equal(data_file_write(&set, path_of("out"), &diag), SL_OK);
        assert_string_equal(read_text("out"),
                            files[i].written != NULL ? files[i].written : files[i].text);
        data_set_free(&set);
    }
}

static void test_bad_lines_have_a_line_and_a_reason(void **state)
{
    static const struct {
        enum data_type type;
        uint32_t line;
        const char *text, *reason;
    } files[] = {
        {DATA_STRING, 2, "YQ==\nY!==\n", "'Y!==' is not base64"},
        {DATA_STRING, 3, "YQ==\n\nYQ", "'YQ' is not base64"},
        {DATA_STRING, 1, "YQ==,-1\n", "'YQ==,-1' does not end in a reputation of 0 to 65535"},
        {DATA_STRING, 1, "YQ==,65536\n", "'YQ==,65536' does not end in a reputation of 0 to 65535"},
        {DATA_STRING, 1, "YQ==,\n", "'YQ==,' does not end in a reputation of 0 to 65535"},
        {DATA_STRING, 2, "YQ==,1\nYWI=\n", "'YWI=' has no reputation, as lines before have"},
        {DATA_STRING, 2, "YQ==\nYWI=,1\n", "'YWI=,1' has a reputation, as lines before have not"},
        {DATA_MD5, 1, MD5 "00\n", "'" MD5 "00' is not a MD5 digest of 32 hexadecimal digits"},
        {DATA_MD5, 1, "0011223344556677889Gaabbccddeeff\n",
         "'0011223344556677889Gaabbccddeeff' is not a MD5 digest of 32 hexadecimal digits"},
        {DATA_SHA256, 1, MD5 "\n", "'" MD5 "' is not a SHA-256 digest of 64 hexadecimal digits"},
        {DATA_IPV4, 1, "::1\n", "'::1' is not an IPv4 address"},
        {DATA_IP, 1, "192.0.2.256\n", "'192.0.2.256' is not an IPv4 or IPv6 address"},
        {DATA_IP, 1, "10.0.0.0/8\n", "'10.0.0.0/8' is not an IPv4 or IPv6 address"},
        {DATA_IP, 3, "10.0.0.1\n10.0.0.2\n10.0.0.3\n", "does not fit the memcap of 100 bytes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data_set set = {.type = files[i].type, .memory_max = 100};
        struct sl_diag diag = {0};

        assert_int_equal(
            data_text_read(&set, &lines, "a file", files[i].text, strlen(files[i].text), &diag),
            SL_EFORMAT);
        assert_string_equal(diag.file, "a file");
        assert_string_equal(diag.text, files[i].reason);
        assert_int_equal(diag.line, files[i].line);
        data_set_free(&set);
    }
}

static void test_json_has_values_at_keys(void **state)
{
    static const struct {
        enum data_type type;
        struct data_form form;
        const char *text, *written, *reason; /* one of both */
    } files[] = {
        {DATA_STRING,
         {DATA_JSON, "h", NULL},
         "[{\"h\":\"a\"},{\"g\":\"b\"},{\"h\":\"\\u0063\"}]",
         "YQ==\nYw==\n",
         NULL},
        {DATA_STRING,
         {DATA_JSON_LINES, "h", NULL},
         "{\"h\":\"a,b\"}\r\n\n{\"h\":\"a,b\"}",
         "YSxi\n",
         NULL},
        {DATA_STRING,
         {DATA_JSON_LINES, "h.i", NULL},
         "{\"h\":{\"i\":\"a\"}}\n{\"h\":1}\n",
         "YQ==\n",
         NULL},
        {DATA_IP, {DATA_JSON, "ip", "x.y"}, "{\"x\":{\"y\":[{\"ip\":\"::1\"}]}}", "::1\n", NULL},
        {DATA_MD5, {DATA_JSON, "d", NULL}, "[{\"d\":\"" MD5 "\"}]", MD5 "\n", NULL},
        {DATA_STRING,
         {DATA_JSON, "h", NULL},
         "[{\"g\":\"b\"}]",
         NULL,
         "0 no object has the key 'h'"},
        {DATA_STRING, {DATA_JSON_LINES, "h", NULL}, "", NULL, "0 no object has the key 'h'"},
        {DATA_STRING, {DATA_JSON, "h", NULL}, "[{\"h\":1}]", NULL, "0 'h' is no text"},
        {DATA_STRING, {DATA_JSON, "h", NULL}, "{\"h\":\"a\"}", NULL, "0 has no array of objects"},
        {DATA_STRING, {DATA_JSON, "h", "x"}, "{\"x\":{}}", NULL, "0 has no array of objects at x"},
        {DATA_IP,
         {DATA_JSON_LINES, "i", NULL},
         "{\"i\":\"::1\"}\n{\"i\":\"x\"}",
         NULL,
         "2 'x' is not an IPv4 or IPv6 address"},
        {DATA_STRING, {DATA_JSON_LINES, "h", NULL}, "{\"h\":\"\"}", NULL, "1 '' is not a text"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data_set set = {.type = files[i].type, .memory_max = 1 << 20};
        struct sl_diag diag = {0};
        char reason[600] = "";

        write_text("in", files[i].text);
        if (data_file_read(&set, &files[i].form, path_of("in"), false, &diag) != SL_OK)
            snprintf(reason, sizeof reason, "%u %s", diag.line, diag.text);
        assert_string_equal(reason, files[i].reason != NULL ? files[i].reason : "");
        assert_int_equal(data_file_write(&set, path_of("out"), &diag), SL_OK);
        if (files[i].written != NULL)
            assert_string_equal(read_text("out"), files[i].written);
        data_set_free(&set);
    }
}

static void test_bad_json_has_its_line(void **state)
{
    static const struct data_form forms[] = {{DATA_JSON, "h", NULL}, {DATA_JSON_LINES, "h", NULL}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static const char *const texts[] = {"[\n{]", "{}\n{\n"};
        struct data_set set = {.type = DATA_STRING, .memory_max = 100};
        struct sl_diag diag = {0};

        assert_int_equal(data_text_read(&set, &forms[i], "a", texts[i], strlen(texts[i]), &diag),
                         SL_EFORMAT);
        assert_int_equal(diag.line, 2);
        assert_memory_equal(diag.text, "is no JSON: ", 12);
        data_set_free(&set);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Loads one rule as if it stood in the folder. */
static struct sl_rules *load_options(const char *header, const char *options)
{
    char text[1024], name[256];
    struct sl_rules *rules;
    struct sl_diag diag;

    snprintf(text, sizeof text, "%s (%s sid:1;)", header, options);
    snprintf(name, sizeof name, "%s/a.rules", folder);
    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    if (sl_rules_load_text(rules, name, text, strlen(text), &diag) == SL_ENOMEM)
        fail();
    return rules;
}

static bool holds(const char *options, const struct packet *packet)
{
    struct sl_rules *rules = load_options("alert ip any any -> any any", options);
    struct sl_batch *batch = fixture_batch(1);
    struct sl_rules_count count;
    size_t n;

    sl_rules_count(rules, &count);
    if (count.loaded != 1)
        fail_msg("%s: %s", options, sl_rules_bad_line(rules, 0)->text);
    add_packet(batch, packet);
    dissect_batch(batch);
    free(alerts_of(rules, batch, &n));
    sl_batch_free(batch);
    sl_rules_free(rules);
    return n == 1;
}

static void test_options_look_values_up(void **state)
{
    static const struct packet packet = {.kind = UDP, .src = 0xC0000201, .payload = "a"};
    static const struct packet other = {.kind = UDP, .src = 0xC0000202, .payload = "a"};
    static const struct packet ipv6 = {.kind = TCP6};
    static const struct packet no_ip = {.kind = ARP};

    (void)state;
    write_text("hosts", "192.0.2.1\n2001:db8::1\n");
    write_text("reputations", "192.0.2.1,200\n");
    write_text("strings", "/////w==\nwAACAQ==\n"); /* FF FF FF FF, C0 00 02 01 */
    write_text("digests", "2e91aecd8152cd6b3d6c6c3b0fe8d0d7\n");
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts;", &packet));
    assert_false(holds("ip.src; dataset:isset,h,type ip,load hosts;", &other));
    assert_false(holds("ip.dst; dataset:isset,h,type ip,load hosts;", &packet));
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts;", &ipv6));
    assert_false(holds("ip.src; dataset:isnotset,h,type ip,load hosts;", &packet));
    assert_true(holds("ip.src; dataset: isnotset , H , type ip, load hosts;", &other));
    assert_false(holds("ip.src; dataset:isnotset,h,type ip,load hosts;", &no_ip));
    assert_true(holds("ip.src; dataset:isnotset,e,type ip;", &packet));
    assert_true(holds("ip.src; dataset:isset,s,type string,load strings;", &packet));
    assert_true(holds("ip.src; dataset:isnotset,s,type string,load strings;", &other));
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts,memcap 1mb,hashsize 16; "
                      "dataset:isset,s,type string,load strings;",
                      &packet));
    assert_true(holds("ip.src; datarep:r,>,199,type ip,load reputations;", &packet));
    assert_false(holds("ip.src; datarep:r,>,200,type ip,load reputations;", &packet));
    assert_true(holds("ip.src; datarep:r,<,201,type ip,load reputations;", &packet));
    assert_false(holds("ip.src; datarep:r,<,200,type ip,load reputations;", &packet));
    assert_true(holds("ip.src; datarep:r,==,200,type ip,load reputations;", &packet));
    assert_false(holds("ip.src; datarep:r,<,65535,type ip,load reputations;", &other));
    assert_true(holds("ip.src; dataset:isset,r,type ip,load reputations;", &packet));
    assert_true(holds("ip.src; dataset:isset,r,type ip,load reputations; datarep:r,>,1;", &packet));
    /* A digest of other bytes, and an option for digests on an address. */
    assert_true(holds("ip.src; to_md5; dataset:isnotset,m,type md5,load digests;", &packet));
    assert_true(holds("ip.src; dataset:isnotset,m,type md5,load digests;", &packet));
}

static void test_options_take_json(void **state)
{
    static const struct packet packet = {.kind = UDP, .src = 0xC0000201, .payload = "a"};
    static const struct packet other = {.kind = UDP, .src = 0xC0000202, .payload = "a"};

    (void)state;
    write_text("hosts", "{\"x\":[{\"ip\":\"192.0.2.1\"}]}");
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts,format json,array_key x,"
                      "context_key c,value_key ip, remove_key;",
                      &packet));
    assert_false(holds("ip.src; dataset:isset,h,type ip,load hosts,format json,array_key x,"
                       "context_key c,value_key ip;",
                       &other));
    write_text("hosts", "{\"x\":{\"ip\":\"192.0.2.1\"}}\n");
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts,format ndjson,context_key c,"
                      "value_key x.ip;",
                      &packet));
    write_text("hosts", "192.0.2.1\n");
    assert_true(holds("ip.src; dataset:isset,h,type ip,load hosts,format csv;", &packet));
}

/* A domain is looked up with those above it, dots in front. */
static void test_parents_are_looked_up(void **state)
{
    static const struct {
        const char *value;
        bool found, by_parents;
    } values[] = {
        {".evil.example", true, true},
        {"evil.example", false, false},
        {".a.evil.example", false, true},
        {"a.b.evil.example", false, true},
        {".anevil.example", false, false},
        {".evil.example.", false, false},
        {".", false, false},
    };
    struct data_set set = {.type = DATA_STRING, .memory_max = 1 << 20};

    (void)state;
    assert_int_equal(data_set_add(&set, (const uint8_t *)".evil.example", 13, 0), DATA_ADDED);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const uint8_t *value = (const uint8_t *)values[i].value;
        const uint32_t len = (uint32_t)strlen(values[i].value);
        struct rule_data data = {.act = DATA_IS_SET};

        assert_int_equal(rule_data_holds(&data, &set, value, len), values[i].found);
        data.by_parents = true;
        assert_int_equal(rule_data_holds(&data, &set, value, len), values[i].by_parents);
        data.act = DATA_IS_NOT_SET;
        assert_int_equal(rule_data_holds(&data, &set, value, len), !values[i].by_parents);
    }
    data_set_free(&set);
}

static void test_bad_options_have_a_reason(void **state)
{
    static const struct {
        const char *options, *reason; /* with the folder in front where it begins with '/' */
    } rules[] = {
        {"ip.src; dataset:isin,a,type ip;", "dataset is 'isin', not isset, isnotset, set or unset"},
        {"ip.src; dataset:isset,,type ip;", "a set of data has no name of 1 to 63 bytes"},
        {"ip.src; dataset:isset,a;", "the set of data 'a' has no type yet"},
        {"ip.src; dataset:isset,a,type sha1;",
         "type is 'sha1', not string, md5, sha256, ipv4 or ip"},
        {"ip.src; dataset:isset,a,type ip,type ip;", "a set of data has more than one type"},
        {"ip.src; dataset:isset,a,typ ip;", "a set of data does not know 'typ ip'"},
        {"ip.src; dataset:isset,a,type ip,memcap 1tb;",
         "memcap is '1tb', not 1 to 17179869184 bytes, kb, mb or gb"},
        {"ip.src; dataset:isset,a,type ip,memcap 17gb;",
         "memcap is '17gb', not 1 to 17179869184 bytes, kb, mb or gb"},
        {"ip.src; dataset:isset,a,type ip,state x,load y;",
         "a set of data has state and load or save"},
        {"ip.src; dataset:isset,a,type ip,state /x;", "'/x' is no file below the folder of data"},
        {"ip.src; dataset:isset,a,type ip,save x/../../y;",
         "'x/../../y' is no file below the folder of data"},
        {"ip.src; dataset:isset,a,type ip; dataset:isset,A,type md5;",
         "the set of data 'A' has another type or file in a rule before"},
        {"dataset:isset,a,type ip;", "dataset does not stand behind a buffer"},
        {"ip.src; dataset:isset,a,type ip,load none;",
         "/none: cannot be opened: No such file or directory"},
        {"ip.src; dataset:isset,a,type ip,load bad;", "/bad:2: 'x' is not an IPv4 or IPv6 address"},
        {"ip.src; dataset:isset,a,type ip,load plain,format yaml;",
         "format is 'yaml', not csv, json or ndjson"},
        {"ip.src; dataset:isset,a,type ip,load plain,format json,value_key a;",
         "JSON comes without load, value_key or context_key"},
        {"ip.src; dataset:isset,a,type ip,load plain,save b,format json,value_key a,context_key b;",
         "JSON is not saved"},
        {"ip.src; dataset:isset,a,type ip,load plain,remove_key a;",
         "a set of data does not know 'remove_key a'"},
        {"ip.src; dataset:set,a,type ip,load array,format json,value_key a,context_key b;",
         "a set of JSON is not changed"},
        {"ip.src; dataset:isset,a,type ip,load array,format json,value_key a,context_key b; "
         "dataset:isset,a,type ip,load array;",
         "the set of data 'a' has another type or file in a rule before"},
        {"ip.src; dataset:isset,a,type ip,match subdomain;",
         "match is subdomain, and looks strings up with isset or isnotset"},
        {"ip.src; dataset:set,a,type string,match subdomain;",
         "match is subdomain, and looks strings up with isset or isnotset"},
        {"ip.src; datarep:a,!,1,type ip;", "datarep has no <, > or == behind the name"},
        {"ip.src; datarep:a,=,1,type ip;", "datarep has no <, > or == behind the name"},
        {"ip.src; datarep:a,>,65536,type ip;", "datarep has no reputation of 0 to 65535"},
        {"ip.src; datarep:a,>,1,type ip,load plain;", "the set of data 'a' has no reputations"},
    };

    (void)state;
    write_text("bad", "192.0.2.1\nx\n");
    write_text("plain", "192.0.2.1\n");
    write_text("array", "[{\"a\":\"192.0.2.1\"}]");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct sl_rules *loaded = load_options("alert ip any any -> any any", rules[i].options);
        const struct sl_diag *diag = sl_rules_bad_line(loaded, 0);
        char reason[512];

        snprintf(reason, sizeof reason, "%s%s", rules[i].reason[0] == '/' ? folder : "",
                 rules[i].reason);
        if (diag == NULL) {
            fail_msg("is not bad: %s", rules[i].options);
            return;
        }
        assert_string_equal(diag->text, reason);
        assert_int_equal(diag->line, 1);
        sl_rules_free(loaded);
    }
}

/* A rule that lacks another keyword does not read files. */
static void test_files_of_skipped_rules_are_not_read(void **state)
{
    struct sl_rules *rules = load_options("alert nfs any any -> any any",
                                          "smb.share; dataset:isset,a,type string,load none;");
    struct sl_rules_count count;

    (void)state;
    sl_rules_count(rules, &count);
    assert_int_equal(count.skipped, 1);
    assert_int_equal(count.bad, 0);
    sl_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_is_a_list_without_repetition),
        cmocka_unit_test(test_removed_values_give_their_memory_back),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_written_files_are_those_that_were_read),
        cmocka_unit_test(test_bad_lines_have_a_line_and_a_reason),
        cmocka_unit_test(test_json_has_values_at_keys),
        cmocka_unit_test(test_bad_json_has_its_line),
        cmocka_unit_test(test_options_look_values_up),
        cmocka_unit_test(test_options_take_json),
        cmocka_unit_test(test_parents_are_looked_up),
        cmocka_unit_test(test_bad_options_have_a_reason),
        cmocka_unit_test(test_files_of_skipped_rules_are_not_read),
    };
    static const char *const names[] = {"in",      "out", "hosts", "reputations", "strings",
                                        "digests", "bad", "plain", "array"};

    if (mkdtemp(folder) == NULL)
        return 1;

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(path_of(names[i]));
    (void)rmdir(folder);
    return failed;
}
