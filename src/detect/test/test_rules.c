/* SPDX-License-Identifier: MIT */
/* Rule files: which rules are loaded, skipped and bad, and where. */
#include "detect_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#define HEAD "alert tcp any any -> any any "

static struct sl_rules_count count_of(const struct sl_rules *rules)
{
    struct sl_rules_count count;

    sl_rules_count(rules, &count);
    assert_int_equal(count.lines, count.loaded + count.skipped + count.bad + count.duplicates);
    return count;
}

/* The one rule of a text. */
static const struct sl_signature *only_rule(struct sl_rules *rules)
{
    assert_int_equal(count_of(rules).loaded, 1);
    assert_int_equal(count_of(rules).lines, 1);
    assert_null(sl_rules_signature(rules, 1));
    return sl_rules_signature(rules, 0);
}

static void test_signature(void **state)
{
    struct sl_rules *rules = load_rules(
        "\n# a comment\nrejectboth tcp any any -> any any (msg:\"a \\\"b\\\" \\; c\\\\\"; "
        "reference:url,example.org/x(y)\\;z\"; reference:cve,2024-1 ; "
        "classtype:trojan-activity; metadata:created 2024, deployment x,; "
        "metadata:k v; target:src_ip; sid:4000000000; gid:3; rev:7;)\n");
    const struct sl_signature *signature = only_rule(rules);

    (void)state;
    assert_string_equal(signature->action, "rejectboth");
    assert_string_equal(signature->msg, "a \"b\" ; c\\");
    assert_string_equal(signature->classtype, "trojan-activity");
    assert_string_not_equal(signature->category, "trojan-activity");
    assert_int_equal(signature->sid, 4000000000);
    assert_int_equal(signature->gid, 3);
    assert_int_equal(signature->rev, 7);
    assert_int_equal(signature->priority, 1);
    assert_string_equal(signature->references[0], "https://example.org/x(y);z\"");
    assert_string_equal(signature->references[1],
                        "https://cve.mitre.org/cgi-bin/cvename.cgi?name=2024-1");
    assert_null(signature->references[2]);
    assert_string_equal(signature->metadata[0], "created 2024");
    assert_string_equal(signature->metadata[1], "deployment x");
    assert_string_equal(signature->metadata[2], "k v");
    assert_null(signature->metadata[3]);
    assert_string_equal(signature->file, "test.rules");
    assert_int_equal(signature->line, 3);
    sl_rules_free(rules);
}

static void test_defaults(void **state)
{
    struct sl_rules *rules = load_rules(HEAD "(sid:1;)");
    const struct sl_signature *signature = only_rule(rules);

    (void)state;
    assert_string_equal(signature->action, "alert");
    assert_string_equal(signature->msg, "");
    assert_string_equal(signature->classtype, "");
    assert_string_equal(signature->category, "");
    assert_int_equal(signature->gid, 1);
    assert_int_equal(signature->rev, 0);
    assert_int_equal(signature->priority, 3);
    assert_null(signature->references[0]);
    assert_null(signature->metadata[0]);
    sl_rules_free(rules);
}

static void test_classes(void **state)
{
    struct sl_rules *rules = load_rules(
        "config classification: own-class,Its Description, 2\n"
        "config classification:tcp-connection,Mine,1\r\n" HEAD
        "(classtype:own-class; sid:1;)\n" HEAD "(classtype:tcp-connection; sid:2;)\n" HEAD
        "(classtype:own-class; priority:9; sid:3;)\n" HEAD "(classtype:nobody-knows; sid:4;)\n");
    static const struct {
        const char *category;
        uint32_t priority;
    } expected[] = {
        {"Its Description", 2}, {"Mine", 1}, {"Its Description", 9}, {"nobody-knows", 3}};

    (void)state;
    assert_int_equal(count_of(rules).lines, 4);
    assert_int_equal(count_of(rules).unknown_class, 1);
    assert_string_equal(sl_rules_unknown_class(rules, 0)->text, "nobody-knows");
    assert_int_equal(sl_rules_unknown_class(rules, 0)->line, 6);
    assert_int_equal(sl_rules_unknown_class(rules, 0)->column,
                     strlen(HEAD) + strlen("(classtype:") + 1);
    assert_null(sl_rules_unknown_class(rules, 1));
    for (size_t i = 0; i < 4; i++) {
        const struct sl_signature *signature = sl_rules_signature(rules, i);

        assert_string_equal(signature->category, expected[i].category);
        assert_int_equal(signature->priority, expected[i].priority);
    }
    sl_rules_free(rules);
}

/* Whether a text holds one rule that is refused as expected: bad with this in the reason, or
 * skipped for just these keywords. */
static bool is_refused(const char *text, const char *expected, bool bad)
{
    struct sl_rules *rules = load_rules(text);
    const struct sl_rules_count count = count_of(rules);
    const struct sl_diag *diag =
        bad ? sl_rules_bad_line(rules, 0) : sl_rules_skipped_rule(rules, 0);
    const bool refused =
        count.lines == 1 && diag != NULL && diag->line == 1 &&
        strcmp(diag->file, "test.rules") == 0 &&
        (bad ? strstr(diag->text, expected) != NULL : strcmp(diag->text, expected) == 0);

    if (!refused)
        print_error("%s: %zu bad, %zu skipped: %s, not '%s'\n", text, count.bad, count.skipped,
                    diag != NULL ? diag->text : "", expected);
    sl_rules_free(rules);
    return refused;
}

static void test_bad_rules(void **state)
{
    static const char *const lines[][2] = {
        {"nonsense", "no action"},
        {"alert", "protocol is missing"},
        {"alert tcp", "header ends early"},
        {"alert (sid:1;)", "protocol is missing"},
        {"alert $x any any -> any any (sid:1;)", "no protocol"},
        {"alert tcp any any -> any (sid:1;)", "header ends early"},
        {"alert tcp any any any any (sid:1;)", "direction"},
        {"alert tcp any any <- any any (sid:1;)", "direction"},
        {HEAD, "options are missing"},
        {HEAD "sid:1;)", "options are missing"},
        {HEAD "(sid:1;", "no ')'"},
        {HEAD "(sid:1;) x", "behind the rule"},
        {HEAD "(absent; sid:1;)", "not the first option of a buffer"},
        {"alert dns any any -> any any (dns.query; content:\"a\"; absent; sid:1;)",
         "not the first option of a buffer"},
        {"alert udp any any -> any any (sip_method:a1; sid:1;)", "sip_method is 'a1', no method"},
        {"alert udp any any -> any any (sip_method:; sid:1;)", "sip_method"},
        {"alert tcp any any -> any any (sip_stat_code:40; sid:1;)", "no digit or three"},
        {"alert tls any any -> any any (tls_cert_notafter:2024-13; sid:1;)", "has no date such as"},
        {"alert tls any any -> any any (tls_cert_notafter:2024-01-; sid:1;)",
         "has no date such as"},
        {"alert tls any any -> any any (tls_cert_notafter:2024-01-02T; sid:1;)", "has no date"},
        {"alert tls any any -> any any (tls_cert_notafter:<>; sid:1;)", "has no date such as"},
        {"alert tls any any -> any any (tls_cert_notbefore:2024-02<>2024-01; sid:1;)",
         "has no date"},
        {"alert dns any any -> any any (tls_cert_expired; sid:1;)", "protocol is not tls"},
        {"alert tls any any -> any any (tls.cert_chain_len:a; sid:1;)", "tls.cert_chain_len"},
        {"alert dns any any -> any any (dns.query; absent:x; sid:1;)", "absent takes or_else"},
        {"alert dns any any -> any any (dns.query; absent:or_else; sid:1;)",
         "no option of its buffer behind it"},
        {"alert dns any any -> any any (dns.query; absent; bsize:1; sid:1;)",
         "beside other options"},
        {HEAD "(base64_data; content:\"a\"; sid:1;)", "no base64_decode before it"},
        {HEAD "(base64_decode:offset 1, offset 2; base64_data; sid:1;)", "once each"},
        {HEAD "(base64_decode:bytes 0; base64_data; sid:1;)", "no number of 1 to 65535"},
        {HEAD "(base64_decode:relative 4; base64_data; sid:1;)", "once each"},
        {HEAD "(sid:1)", "no ';'"},
        {HEAD "()", "no sid"},
        {HEAD "(msg:\"x\";)", "no sid"},
        {HEAD "(sid:0;)", "sid is '0'"},
        {HEAD "(sid:4294967296;)", "sid is"},
        {HEAD "(sid:1x;)", "sid is"},
        {HEAD "(sid:;)", "sid needs a value"},
        {HEAD "(two words; sid:1;)", "neither ':' nor ';'"},
        {HEAD "(: sid:1;)", "no option"},
        {HEAD "(priority:0; sid:1;)", "priority is"},
        {HEAD "(content:abc; sid:1;)", "not in quotes"},
        {HEAD "(content:\"abc; sid:1;)", "no '\"'"},
        {HEAD "(content:\"\"; sid:1;)", "empty"},
        {HEAD "(content:\"||\"; sid:1;)", "empty"},
        {HEAD "(content:\"|4|\"; sid:1;)", "half"},
        {HEAD "(content:\"|41\"; sid:1;)", "no other"},
        {HEAD "(content:\"|4g|\"; sid:1;)", "hexadecimal"},
        {HEAD "(content:\"a\\nb\"; sid:1;)", "backslash"},
        {HEAD "(content:\"a\" b; sid:1;)", "no ';'"},
        {HEAD "(nocase; sid:1;)", "no content before"},
        {HEAD "(depth:1; content:\"a\"; sid:1;)", "no content before"},
        {HEAD "(content:\"a\"; nocase:1; sid:1;)", "takes no value"},
        {HEAD "(content:\"a\"; depth; sid:1;)", "needs a value"},
        {HEAD "(content:\"a\"; depth:x; sid:1;)", "depth is 'x'"},
        {HEAD "(content:\"a\"; offset:-1; sid:1;)", "offset is"},
        {HEAD "(content:\"a\"; offset:65536; sid:1;)", "offset is"},
        {HEAD "(content:\"abc\"; depth:2; sid:1;)", "less than"},
        {HEAD "(content:\"abc\"; within:2; sid:1;)", "less than"},
        {HEAD "(content:\"a\"; depth:2; depth:2; sid:1;)", "beside another"},
        {HEAD "(content:\"a\"; offset:2; distance:2; sid:1;)", "beside another"},
        {HEAD "(content:\"a\"; within:2; depth:2; sid:1;)", "beside another"},
        {HEAD "(content:\"a\"; offset:1; startswith; sid:1;)", "beside another"},
        {HEAD "(content:\"abc\"; fast_pattern:2,2; sid:1;)", "inside its content"},
        {HEAD "(content:\"abc\"; fast_pattern:x; sid:1;)", "inside its content"},
        {HEAD "(content:\"abc\",fast_pattern_offset 3; sid:1;)", "outside its content"},
        {HEAD "(content:\"a\"; fast_pattern:only; depth:9; sid:1;)", "beside a place"},
        {HEAD "(content:\"a\"; fast_pattern:only; content:\"b\"; within:9; sid:1;)", "relative to"},
        {HEAD "(isdataat:x; sid:1;)", "isdataat is"},
        {HEAD "(isdataat:!; sid:1;)", "isdataat is"},
        {HEAD "(isdataat:1,backwards; sid:1;)", "isdataat does not know"},
        {HEAD "(dsize:<0; sid:1;)", "no number meets"},
        {HEAD "(dsize:1<>2; sid:1;)", "no number meets"},
        {HEAD "(dsize:65536; sid:1;)", "dsize is"},
        {HEAD "(dsize:<1<>5; sid:1;)", "dsize is"},
        {HEAD "(ttl:256; sid:1;)", "ttl is"},
        {HEAD "(ip_proto:nobody; sid:1;)", "ip_proto is"},
        {HEAD "(flags:X; sid:1;)", "flags are"},
        {HEAD "(flags:S+!; sid:1;)", "flags are"},
        {HEAD "(flags:S,1+; sid:1;)", "flags are"},
        {HEAD "(flags:0+; sid:1;)", "flags are"},
        {HEAD "(fragbits:Z; sid:1;)", "fragbits are"},
        {HEAD "(flow:sideways; sid:1;)", "flow does not know"},
        {HEAD "(flow:to_server,to_client; sid:1;)", "contradicts"},
        {HEAD "(flow:established,not_established; sid:1;)", "contradicts"},
        {HEAD "(flow:established; flow:to_server; sid:1;)", "more than one flow"},
        {"alert tcp 1.2.3 any -> any any (sid:1;)", "'1.2.3' is no address"},
        {"alert tcp 1.2.3.4/33 any -> any any (sid:1;)", "is no address"},
        {"alert tcp 1.2.3.4/255.0.255.0 any -> any any (sid:1;)", "is no address"},
        {"alert tcp 1.2.3.5-1.2.3.4 any -> any any (sid:1;)", "is no address"},
        {"alert tcp [1.2.3.4 any -> any any (sid:1;)", "'[' has no ']'"},
        {"alert tcp 1.2.3.4] any -> any any (sid:1;)", "brackets"},
        {"alert tcp [1.2.3.4,] any -> any any (sid:1;)", "empty place"},
        {"alert tcp !any any -> any any (sid:1;)", "nothing is left"},
        {"alert tcp [1.2.3.4,!1.2.0.0/16] any -> any any (sid:1;)", "nothing is left"},
        {"alert tcp $NOBODY any -> any any (sid:1;)", "$NOBODY is not set"},
        {"alert tcp any 65536 -> any any (sid:1;)", "no port"},
        {"alert tcp any 2:1 -> any any (sid:1;)", "no port"},
        {"alert tcp any : -> any any (sid:1;)", "no port"},
        {"alert tcp any $HOME_NET -> any any (sid:1;)", "no port"},
        {"alert tcpp any any -> any any (sid:1;)", "'tcpp' is no protocol of"},
        {"alert tpc:hook any any -> any any (sid:1;)", "'tpc:hook' is no protocol of"},
        {HEAD "(contnet:\"x\"; sid:1;)", "'contnet' is no option of"},
        {HEAD "(pcre:\"/a/\"; http.uris; sid:1;)", "'http.uris' is no option of"},
        {HEAD "(http; sid:1;)", "'http' is no option of"},
        {"alert http any any -> any any (contnet:\"x\"; sid:1;)", "'contnet' is no option of"},
        {HEAD "(content:\"a\",dpeth 5; sid:1;)", "'dpeth' is no modifier"},
        {"config classification: x,y", "a name, a description and a priority"},
        {"config something: x", "not known"},
        {"/* no end", "no action"},
    };
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        n_wrong += !is_refused(lines[i][0], lines[i][1], true);
    assert_int_equal(n_wrong, 0);
}

static void test_skipped_rules(void **state)
{
    static const char *const lines[][2] = {
        {"alert http any any -> any any (content:\"a\"; lua:\"/a/\"; sid:1;)", "lua"},
        {HEAD "(decode-event:IPv4.trunc_pkt; sid:1;)", "decode-event:ipv4.trunc_pkt"},
        {HEAD "(stream-event:wrong_thread; sid:1;)", "stream-event:wrong_thread"},
        {"alert http any any -> any any (http.uri; gunzip:max-size 8193; content:\"a\"; sid:1;)",
         "a large max-size of gunzip"},
        {"alert dns any any -> any any (dns.query; gunzip; content:\"a\"; sid:1;)",
         "names behind gunzip"},
        {HEAD "(app-layer-event:dnp3.flooded; sid:1;)", "app-layer-event:dnp3.flooded"},
        {"alert tls any any -> any any (app-layer-event:tls.invalid_certificate; tls.sni; "
         "content:\"a\"; sid:1;)",
         "app-layer-event in a rule with more"},
        {HEAD "(app-layer-protocol:!nfs; sid:1;)", "app-layer-protocol:nfs"},
        {HEAD "(app-layer-protocol:dns|tls; sid:1;)", "app-layer-protocol:dns|tls"},
        {HEAD "(vlan.id:5,or_absent; sid:1;)", "index or_absent"},
        {HEAD "(ip.src; xor:extract 1 0; content:\"a\"; sid:1;)", "xor extract"},
        {"alert ldap ( msg:\"x\"; sid:1; )", "protocol ldap"},
        {"alert smb any any -> any any (file.data; content:\"a\"; sid:1;)", "file.data"},
        {"alert ftp-data $NOBODY any -> any any (sid:1;)", "protocol ftp-data"},
        {"react tcp any any -> any any (sid:1;)", "action react"},
        {"pass:flow tcp any any -> any any (sid:1;)", "action pass:flow"},
        {"accept:hook tls:client_hello_done any any -> any any (sid:1;)", "action accept:hook"},
        {"config:packet ip:pre_flow any any <> any 443 (sid:1;)", "action config:packet"},
        {"alert tls:client_hello_done any any -> any any (sid:1;)",
         "protocol tls:client_hello_done"},
        {"config dns any any -> any 53 (dns.query; content:\"a\"; sid:1;)", "action config"},
        {HEAD "(content:\"a\"; smb_share; lua:\"/;)/\"; sid:1;)", "smb_share, lua"},
        {HEAD "(SMB.Share; content:\"a\"; sid:1;)", "smb.share"},
        {HEAD "(content:\"a\",width 16; sid:1;)", "content width"},
        {HEAD "(flow:established,only_frag; sid:1;)", "flow only_frag"},
        {HEAD "(flow:only_frag; sid:1;)", "flow only_frag"},
        {HEAD "(flowbits:setx,a,b; sid:1;)", "flowbits group"},
        {HEAD "(flowbits:isset,any,b; sid:1;)", "flowbits group"},
        {HEAD "(flowbits:unset,all,b; sid:1;)", "flowbits group"},
        {HEAD "(flowbits:reset,b; sid:1;)", "flowbits group"},
        {HEAD "(lua:\"/a;b\\\"/\"; sid:1;)", "lua"},
        {HEAD "(byte_test:1,=,2,0,dce; sid:1;)", "dce in byte_test"},
        {"alert ip any any -> any any (ip.src; absent; sid:1;)", "absent for a header"},
        {"alert dns any any -> any any (dns.query; absent:or_else; dataset:isset,a,type string; "
         "sid:1;)",
         "a set of data or a name behind absent"},
        {"alert dns any any -> any any (dns.query; absent:or_else; byte_extract:1,0,n; sid:1;)",
         "a set of data or a name behind absent"},
        {HEAD "(base64_decode; base64_data; base64_decode; sid:1;)",
         "base64_decode in base64_data"},
        {HEAD "(base64_decode; base64_data; dotprefix; content:\"a\"; sid:1;)",
         "a transform of base64_data"},
        {HEAD "(base64_decode; base64_data; content:\"a\"; pkt_data; content:\"b\"; sid:1;)",
         "options of the buffer behind base64_decode"},
        {HEAD "(base64_decode; base64_data; dataset:isset,a,type string; sid:1;)",
         "a set of data in base64_data"},
        {"alert icmp any any -> any any (dns.query; sid:1;)", "dns.query"},
        {HEAD "(krb5_cname; sid:1;)", "krb5_cname"},
        {HEAD "(dce_opnum:1,2-3; sid:1;)", "a list in dce_opnum"},
        {"alert dcerpc any any -> any any (file.data; content:\"a\"; sid:1;)", "file.data"},
        {HEAD "(ftp.reply_received:yes; sid:1;)", "ftp.reply_received"},
        {HEAD "(s7commplus_func:explore; sid:1;)", "s7commplus_func"},
        {"alert http ( http_header:field a; content:\"b\"; sid:1; )", "a value of http_header"},
        {"alert http ( http_uri; bufferlen:>5,relative; sid:1; )", "a relative bufferlen"},
        {HEAD "(content:\"a\",endian little; sid:1;)", "content endian"},
        {HEAD "(requires:version >= 8.1; sid:1;)", "requires version"},
        {HEAD "(requires:version < 8 | >= 9.0.9, keyword msg; sid:1;)", "requires version"},
        {HEAD "(requires:version >= 7 < 9, feature ja4, keyword lua; sid:1;)", "requires keyword"},
        {HEAD "(requires:feature none; sid:1;)", "requires feature"},
        {"alert arp any any -> any any (sid:1;)", "protocol arp"},
        {"alert WINS any any -> any any (sid:1;)", "protocol wins"},
        {"file_id (msg:\"a\"; file_meta:type PDF, id 1; content:\"%PDF\"; sid:1;)",
         "action file_id, file_meta"},
    };
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        n_wrong += !is_refused(lines[i][0], lines[i][1], false);
    assert_int_equal(n_wrong, 0);
}

/* The literal that the matcher gets of a rule without a content, "" where there is none. */
static void test_literals_of_expressions(void **state)
{
    static const char *const pairs[][2] = {
        {"/abcd/", "abcd"},
        {"/ab+cde/", "cde"},
        {"/abcd?e/", "abc"},
        {"/abcd{0,2}e/", "abc"},
        {"/a*bcd*/", "bc"},
        {"/abcd|efgh/", ""},
        {"/abcd(e|f)ghijk/", "ghijk"},
        {"/abc(d(e\\)|f)[)(]ghij)klm/", "abc"},
        {"/[]abc]defg[^]]h/", "defg"},
        {"/[[:alpha:]]abcd/", ""},
        {"/\\x41\\.\\/\\r\\nB/", "A./\r\nB"},
        {"/abc\\d+wxyz\\b/", "wxyz"},
        {"/abc\\x{41}/", ""},
        {"/ABcd/i", "abcd"},
        {"/(?i)abcd/", ""},
        {"/a(?i:b|c)defg/", ""},
        {"/abc(?#()|defg/", ""},
        {"/abc(d\\Q(\\E)|efgh/", ""},
        {"/ab cd/x", ""},
        {"/(*COMMIT)abcd/", ""},
        {"/^abc.def$/", "abc"},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct sl_literal *literals;
        struct sl_rules *rules;
        struct sl_diag diag;
        size_t n;

        snprintf(text, sizeof text, HEAD "(pcre:\"%s\"; sid:1;)", pairs[i][0]);
        rules = load_rules(text);
        assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
        if (n != (pairs[i][1][0] != '\0') ||
            (n != 0 && (literals[0].len != strlen(pairs[i][1]) ||
                        memcmp(literals[0].bytes, pairs[i][1], literals[0].len) != 0)))
            fail_msg("%s: %.*s", pairs[i][0], n != 0 ? (int)literals[0].len : 0,
                     n != 0 ? (const char *)literals[0].bytes : "");
        sl_rules_free(rules);
    }
}

static void test_skip_reasons(void **state)
{
    struct sl_rules *rules =
        load_rules(HEAD "(lua:\"/a/\"; sid:1;)\n" HEAD "(cvs:x; sid:2;)\n" HEAD
                        "(LUA:\"/a/\"; sid:3;)\n" HEAD "(asn1:x; sid:4;)\n"
                        "alert nfs any any -> any any (smb.share; content:\"a\"; bsize:1; "
                        "lua:\"/a/\"; lua:\"/b/\"; sid:5;)\n");
    static const struct {
        const char *keyword;
        size_t rules, alone;
    } expected[] = {
        {"lua", 3, 2}, {"asn1", 1, 1}, {"cvs", 1, 1}, {"protocol nfs", 1, 0}, {"smb.share", 1, 0}};
    struct sl_rules_lack lack;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_true(sl_rules_skip_reason(rules, i, &lack));
        assert_string_equal(lack.keyword, expected[i].keyword);
        assert_int_equal(lack.rules, expected[i].rules);
        assert_int_equal(lack.alone, expected[i].alone);
    }
    assert_false(sl_rules_skip_reason(rules, 5, &lack));
    assert_int_equal(sl_rules_skipped_rule(rules, 2)->line, 3);
    assert_string_equal(sl_rules_skipped_rule(rules, 2)->text, "lua");
    assert_string_equal(sl_rules_skipped_rule(rules, 4)->text, "protocol nfs, smb.share, lua");
    sl_rules_free(rules);
}

/* One bad line costs that line alone, wherever rules begin and end. */
static void test_lines(void **state)
{
    static const char text[] = "\xEF\xBB\xBF" HEAD "(sid:1;)\r\n"           /* 1 */
                               "#" HEAD "(sid:99;)\n"                       /* 2 */
                               "   # alert tcp any any -> any any (\n"      /* 3 */
                               "\t" HEAD "\\\n  (msg:\"x\"; \\  \r\n"       /* 4, 5 */
                               " sid:2;)\n"                                 /* 6 */
        HEAD "\n(\n    msg:\"y (z)\"\n"                                     /* 7 to 9 */
                               "#   sid:98;)\n\n    ;sid:3;\n)\n"           /* 10 to 13 */
        HEAD "(sid:4; # never closed\n"                                     /* 14 */
        HEAD "(sid:5;) # closed\n"                                          /* 15 */
                               "garbage (\n"                                /* 16 */
                               "/* " HEAD "(sid:97;)\n"                     /* 17 */
                               "   " HEAD "(sid:96;) */ " HEAD "(sid:6;)\n" /* 18 */
        HEAD "(sid:7; \\\n"                                                 /* 19 */
        HEAD "(sid:8;)\n"                                                   /* 20 */
                               "/* no end\n"                                /* 21 */
        HEAD "(msg:\"\001\377\"; sid:9;)";                                  /* 22 */
    static const uint32_t sids[][2] = {{1, 1}, {2, 4}, {3, 7}, {5, 15}, {6, 18}, {8, 20}, {9, 22}};
    static const uint32_t bad[] = {14, 16, 19, 21};
    struct sl_rules *rules = load_rules(text);

    (void)state;
    assert_int_equal(count_of(rules).loaded, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(sl_rules_signature(rules, i)->sid, sids[i][0]);
        assert_int_equal(sl_rules_signature(rules, i)->line, sids[i][1]);
    }
    assert_int_equal(count_of(rules).bad, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sl_rules_bad_line(rules, i)->line, bad[i]);
    assert_string_equal(sl_rules_signature(rules, 6)->msg, "\001\377");
    sl_rules_free(rules);
}

static void test_duplicates(void **state)
{
    struct sl_rules *rules =
        load_rules(HEAD "(msg:\"a\"; sid:1; rev:2;)\n" HEAD "(msg:\"b\"; sid:2;)\n" HEAD
                        "(msg:\"c\"; sid:1; rev:3; content:\"xy\";)\n" HEAD
                        "(msg:\"d\"; sid:1; gid:2;)\n" HEAD "(msg:\"e\"; sid:2;)\n");
    struct sl_diag diag;
    static const char again[] =
        HEAD "(msg:\"f\"; sid:1; rev:1;)\n" HEAD "(msg:\"g\"; sid:2; rev:1;)";
    static const char *const expected[] = {"c", "d", "g"};

    (void)state;
    assert_int_equal(count_of(rules).duplicates, 2);
    assert_int_equal(count_of(rules).loaded, 3);
    assert_int_equal(count_of(rules).without_literal, 2);
    assert_string_equal(sl_rules_signature(rules, 0)->msg, "b");
    assert_int_equal(sl_rules_load_text(rules, "other", again, strlen(again), &diag), SL_OK);
    assert_int_equal(count_of(rules).duplicates, 4);
    assert_int_equal(count_of(rules).loaded, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(sl_rules_signature(rules, i)->msg, expected[i]);
    assert_string_equal(sl_rules_signature(rules, 2)->file, "other");
    assert_null(sl_rules_signature(rules, 3));
    sl_rules_free(rules);
}

static void test_variables(void **state)
{
    struct sl_rules *rules = load_rules("alert tcp $HOME_NET any -> any any (sid:1;)");
    struct sl_batch *batch = fixture_batch(2);
    static const char text[] = "alert tcp $HOME_NET any -> $EXTERNAL_NET $MINE (sid:2;)\n"
                               "alert tcp any any -> $EXTERNAL_NET [$MINE,!2001] (sid:3;)\n";
    struct sl_diag diag;
    size_t n;

    (void)state;
    assert_int_equal(sl_rules_set(rules, "HOME_NET", "9.9.9.0/24", &diag), SL_OK);
    assert_int_equal(sl_rules_set(rules, "MINE", "[2000,2001]", &diag), SL_OK);
    assert_int_equal(sl_rules_set(rules, "MINE", "1:x", &diag), SL_EINVAL);
    assert_int_equal(sl_rules_set(rules, "MINE", "", &diag), SL_EINVAL);
    assert_int_equal(sl_rules_set(rules, "SELF", "$SELF", &diag), SL_EINVAL);
    assert_int_equal(sl_rules_set(rules, "HTTP_PORTS", "[1,$FILE_DATA_PORTS]", &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "nested"));
    assert_int_equal(sl_rules_load_text(rules, "x", text, strlen(text), &diag), SL_OK);
    assert_int_equal(count_of(rules).loaded, 3);
    add_packet(batch, &(struct packet){.src = 0x09090901});                   /* 2, 3 */
    add_packet(batch, &(struct packet){.src = 0xC0A80001, .dst_port = 2001}); /* 1 */
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    assert_int_equal(n, 3);
    assert_int_equal(sl_rules_signature(rules, alerts[0].signature)->sid, 2);
    assert_int_equal(sl_rules_signature(rules, alerts[1].signature)->sid, 3);
    assert_int_equal(sl_rules_signature(rules, alerts[2].signature)->sid, 1);
    assert_int_equal(sl_rules_set(rules, "MINE", "1", &diag), SL_EINVAL);
    assert_int_equal(sl_rules_load_text(rules, "x", text, strlen(text), &diag), SL_EINVAL);
    assert_int_equal(sl_rules_load(rules, "/nowhere", &diag), SL_EINVAL);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

/* Whether the default of HOME_NET is assumed, and a packet with such an address is seen: the first
 * of its flow, unless rules look at its header. */
static void test_home_by_default(void **state)
{
    static const struct {
        const char *rule, *home;
        uint32_t src;
        bool later, assumed, seen;
    } cases[] = {
        {"alert tcp any any -> any any (content:\"word\"; sid:1;)", NULL, 0, false, false, false},
        {"alert tcp $HOME_NET any -> any any (content:\"word\"; sid:1;)", NULL, 0, false, true,
         true},
        {"alert tcp $HOME_NET any -> any any (content:\"word\"; sid:1;)", NULL, 0, true, true,
         false},
        {"alert tcp $HOME_NET any -> any any (sid:1;)", NULL, 0, false, true, true},
        {"alert tcp $HOME_NET any -> any any (content:\"word\"; sid:1;)", NULL, 0x09090901, false,
         true, false},
        {"alert tcp !$HTTP_SERVERS any -> any any (sid:1;)", NULL, 0x09090901, false, true, false},
        {"alert tcp $HOME_NET any -> any any (sid:1;)", "9.9.9.0/24", 0x09090901, false, false,
         false},
        {"alert tcp $HOME_NET any -> any any (sid:1;)", "9.9.9.0/24", 0, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_rules *rules = load_rules("");
        struct sl_batch *batch = fixture_batch(1);
        static const struct sl_hits no_hits;
        const struct sl_literal *literals;
        const struct sl_alert *alerts;
        struct sl_evaluator *evaluator;
        struct sl_diag diag;
        size_t n;

        if (cases[i].home != NULL)
            assert_int_equal(sl_rules_set(rules, "HOME_NET", cases[i].home, &diag), SL_OK);
        assert_int_equal(
            sl_rules_load_text(rules, "x", cases[i].rule, strlen(cases[i].rule), &diag), SL_OK);
        assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
        assert_int_equal(sl_rules_assume_home(rules), cases[i].assumed);
        add_packet(batch, &(struct packet){.src = cases[i].src, .later = cases[i].later});
        dissect_batch(batch);
        assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
        assert_false(sl_evaluator_saw_home(evaluator));
        assert_int_equal(sl_evaluator_run(evaluator, batch, &no_hits, &alerts, &n), SL_OK);
        assert_int_equal(sl_evaluator_saw_home(evaluator), cases[i].seen);
        sl_evaluator_free(evaluator);
        sl_batch_free(batch);
        sl_rules_free(rules);
    }
}

/* Nothing is outside of a home of "any": rules that name the outside are bad, others are not. */
static void test_home_is_everywhere(void **state)
{
    struct sl_rules *rules = load_rules("");
    static const char text[] = "alert tcp $HOME_NET any -> any any (sid:1;)\n"
                               "alert tcp $EXTERNAL_NET any -> any any (sid:2;)\n";
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_rules_set(rules, "HOME_NET", "any", &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "x", text, strlen(text), &diag), SL_OK);
    assert_int_equal(count_of(rules).loaded, 1);
    assert_int_equal(count_of(rules).bad, 1);
    sl_rules_free(rules);
}

/* Lists that would take for ever, or all of the stack, are refused. */
static void test_endless_lists(void **state)
{
    struct sl_rules *rules = load_rules("");
    enum sl_status status = sl_rules_set(rules, "A0", "1.2.3.4", NULL);
    char name[16], value[40], text[400], open[150], close[150];
    struct sl_diag diag;
    int n = 0;

    (void)state;
    /* Each holds the one before twice: the n-th takes 2^n steps. */
    while (status == SL_OK && n < 40) {
        n++;
        snprintf(name, sizeof name, "A%d", n);
        snprintf(value, sizeof value, "[$A%d,$A%d]", n - 1, n - 1);
        status = sl_rules_set(rules, name, value, &diag);
    }
    assert_int_equal(status, SL_EINVAL);
    assert_in_range(n, 10, 20);

    memset(open, '[', sizeof open);
    memset(close, ']', sizeof close);
    snprintf(text, sizeof text, "alert tcp %.*sany%.*s any -> any any (sid:1;)", (int)sizeof open,
             open, (int)sizeof close, close);
    assert_int_equal(sl_rules_load_text(rules, "x", text, strlen(text), &diag), SL_EFORMAT);
    assert_non_null(strstr(sl_rules_bad_line(rules, 0)->text, "nested"));
    sl_rules_free(rules);
}

static void test_literals(void **state)
{
    struct sl_rules *rules = load_rules(
        HEAD
        "(content:\"common\"; sid:1;)\n" HEAD "(content:\"xy\"; content:\"common\"; sid:2;)\n" HEAD
        "(content:\"Common\"; nocase; sid:3;)\n" HEAD "(content:\"COMMON\"; nocase; sid:4;)\n" HEAD
        "(content:\"common\"; content:\"xy\"; fast_pattern; sid:5;)\n" HEAD
        "(content:\"zzcommonzz\"; fast_pattern:2,6; sid:6;)\n" HEAD
        "(content:!\"longer than the other\"; content:\"qr\"; sid:7;)\n" HEAD
        "(content:!\"common\"; sid:8;)\n" HEAD
        "(content:\"|00 00 00 00 00|\"; content:\"ab\"; sid:9;)\n");
    static const struct {
        const char *text;
        uint32_t flags;
    } expected[] = {{"common", 0}, {"common", SL_LITERAL_NOCASE}, {"xy", 0}, {"qr", 0}, {"ab", 0}};
    const struct sl_literal *literals;
    struct sl_diag diag;
    size_t n;

    (void)state;
    assert_int_equal(count_of(rules).without_literal, 1);
    assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(literals[i].len, strlen(expected[i].text));
        assert_memory_equal(literals[i].bytes, expected[i].text, literals[i].len);
        assert_int_equal(literals[i].flags, expected[i].flags);
    }
    assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_EINVAL);
    sl_rules_free(rules);
}

/* Literals that fill traffic stand for no rule whose header finds it as well. */
static void test_common_literals(void **state)
{
    static const struct {
        const char *rule;
        bool without;
    } rules[] = {
        {"alert tcp any any -> any 80 (content:\"xy\"; sid:1;)", true},
        {"alert tcp any 80 -> any any (content:\"xy\"; sid:1;)", true},
        {"alert tcp any any -> any 80 (content:\"aaaaaaaa\"; sid:1;)", true},
        {"alert tcp any any -> any 80 (content:\"aaaaaaaaaaaaaaaa\"; sid:1;)", false},
        {"alert tcp any any -> any 80 (content:\"                \"; sid:1;)", true},
        {"alert icmp any any -> any any (itype:8; content:\"x\"; sid:1;)", true},
        {"alert udp any any -> any any (content:\"x\"; sid:1;)", true},
        {"alert tcp any any -> any 80 (content:\"xyz\"; sid:1;)", false},
        {"alert tcp any any -> any any (content:\"xy\"; sid:1;)", false},
        {"alert tcp any any <> any 80 (content:\"xy\"; sid:1;)", true},
        {"alert tcp any any <> any 1024: (content:\"xy\"; sid:1;)", false},
        {"alert tcp any any -> any 1024: (content:\"xy\"; sid:1;)", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct sl_rules *set = load_rules(rules[i].rule);

        assert_int_equal(count_of(set).loaded, 1);
        assert_int_equal(count_of(set).without_literal, rules[i].without);
        sl_rules_free(set);
    }
}

/* A content longer than any literal: its beginning stands for it. */
static void test_long_content(void **state)
{
    enum { LEN = 5000 };
    char *text = malloc(LEN + 200), *payload = malloc(LEN + 1);
    struct packet packet = {.payload = payload, .payload_len = LEN};

    (void)state;
    memset(payload, 'a', LEN);
    payload[LEN] = '\0';
    sprintf(text, HEAD "(content:\"%s\"; nocase; sid:1;)", payload);
    assert_true(rule_matches(text, &packet));
    payload[LEN - 1] = 'b';
    assert_false(rule_matches(text, &packet));
    free(text);
    free(payload);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void test_files(void **state)
{
    char folder[] = "/tmp/sluice-rules-XXXXXX", path[512];
    struct sl_rules *rules = load_rules("");
    struct sl_diag diag;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "a.rules", HEAD "(classtype:beside; reference:bug,5; sid:1;)\n");
    write_file(folder, "b.rules", HEAD "(classtype:beside; sid:2;)\nbad\n");
    write_file(folder, "classification.config",
               "# comment\nconfig classification: beside,From Beside,7\nwhatever else\n");
    write_file(folder, "reference.config", "config reference: Bug  http://b.example/?\n");
    snprintf(path, sizeof path, "%s/a.rules", folder);
    assert_int_equal(sl_rules_load(rules, path, &diag), SL_OK);
    snprintf(path, sizeof path, "%s/b.rules", folder);
    assert_int_equal(sl_rules_load(rules, path, &diag), SL_OK);
    assert_int_equal(count_of(rules).loaded, 2);
    assert_int_equal(count_of(rules).bad, 2);
    assert_int_equal(sl_rules_signature(rules, 0)->priority, 7);
    assert_string_equal(sl_rules_signature(rules, 0)->references[0], "http://b.example/?5");
    assert_string_equal(sl_rules_signature(rules, 1)->category, "From Beside");
    assert_int_equal(sl_rules_bad_line(rules, 0)->line, 3); /* of the configuration */
    assert_string_equal(sl_rules_bad_line(rules, 1)->file, path);

    snprintf(path, sizeof path, "%s/none.rules", folder);
    assert_int_equal(sl_rules_load(rules, path, &diag), SL_EIO);
    assert_string_equal(diag.file, path);
    sl_rules_free(rules);

    static const char *const names[] = {"a.rules", "b.rules", "classification.config",
                                        "reference.config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* A named configuration takes the place of those beside the rules. */
static void test_configure(void **state)
{
    char folder[] = "/tmp/sluice-rules-XXXXXX", rule_file[512], beside[512], named[512];
    struct sl_rules *rules = load_rules("");
    struct sl_diag diag;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "a.rules",
               HEAD "(classtype:mine; reference:URL,\"c.example\"; reference:d,1; sid:1;)\n");
    write_file(folder, "classification.config", "config classification: mine,From Beside,7\n");
    write_file(folder, "all.conf",
               "config classification: mine,Mine,9\nconfig reference: url http://\n"
               "suppress gen_id 1, sig_id 1\nconfig reference: no-address\n");
    snprintf(rule_file, sizeof rule_file, "%s/a.rules", folder);
    snprintf(beside, sizeof beside, "%s/classification.config", folder);
    snprintf(named, sizeof named, "%s/all.conf", folder);
    assert_int_equal(sl_rules_configure(rules, "/nowhere/x", &diag), SL_EIO);
    assert_int_equal(sl_rules_configure(rules, named, &diag), SL_OK);
    assert_int_equal(sl_rules_load(rules, rule_file, &diag), SL_OK);

    const struct sl_signature *signature = sl_rules_signature(rules, 0);

    assert_int_equal(count_of(rules).bad, 1);
    assert_string_equal(sl_rules_bad_line(rules, 0)->file, named);
    assert_int_equal(sl_rules_bad_line(rules, 0)->line, 4);
    assert_int_equal(signature->priority, 9);
    assert_string_equal(signature->category, "Mine");
    assert_string_equal(signature->references[0], "http://c.example");
    assert_string_equal(signature->references[1], "d,1");
    sl_rules_free(rules);
    assert_int_equal(unlink(rule_file) + unlink(beside) + unlink(named) + rmdir(folder), 0);
}

static struct sl_rules *load_path(const char *path, enum sl_status expected, struct sl_diag *diag)
{
    struct sl_rules *rules;

    assert_int_equal(sl_rules_create(&rules, diag), SL_OK);
    assert_int_equal(sl_rules_load(rules, path, diag), expected);
    return rules;
}

/* A file without a usable rule is an error where one of its rules is bad, and only there. */
static void test_files_without_usable_rules(void **state)
{
    static const char bad[] = "# comment\n" HEAD "(lua:\"/a/\"; sid:1;)\n" HEAD
                              "(content:\"a; sid:2;)\n" HEAD "(sid:0;)\n";
    static const char *const good[] = {
        "", "# comment\n", HEAD "(lua:\"/a/\"; sid:1;)\n", HEAD "(sid:1;)\nbad\n",
        HEAD "(sid:7;)\n" HEAD "(sid:0;)\n" /* of the set already */};
    struct sl_rules *rules = load_rules(HEAD "(sid:7;)");
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_rules_load_text(rules, "b.rules", bad, strlen(bad), &diag), SL_EFORMAT);
    assert_string_equal(diag.file, "b.rules");
    assert_int_equal(diag.line, 3);
    assert_int_equal(diag.column, strlen(HEAD) + strlen("(content:") + 1);
    assert_non_null(strstr(diag.text, "no '\"' ends the text of the option content"));
    assert_non_null(strstr(diag.text, "2 bad, 1 skipped"));
    assert_int_equal(count_of(rules).loaded, 1);
    assert_int_equal(count_of(rules).bad, 2);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(sl_rules_load_text(rules, "g", good[i], strlen(good[i]), &diag), SL_OK);
    assert_int_equal(sl_rules_require(rules, "g", &diag), SL_OK);
    sl_rules_free(rules);

    rules = load_rules(HEAD "(lua:\"/a/\"; sid:1;)");
    assert_int_equal(sl_rules_require(rules, "g", &diag), SL_EINVAL);
    assert_string_equal(diag.text,
                        "no rule was loaded: 1 were read, 0 bad, 1 skipped, by keyword: lua 1");
    sl_rules_free(rules);
}

/* A folder stands for its *.rules, a pattern for its matches, in the order of names. */
static void test_folders_and_patterns(void **state)
{
    static const char *const names[] = {"b.rules", "a.rules", "c.rules", "d.txt", "e[1].rules"};
    char folder[] = "/tmp/sluice-rules-XXXXXX", path[512], text[128];
    struct sl_rules *rules;
    struct sl_diag diag;

    (void)state;
    assert_non_null(mkdtemp(folder));
    rules = load_path(folder, SL_EINVAL, &diag);
    assert_string_equal(diag.file, folder);
    assert_non_null(strstr(diag.text, "no file that ends in .rules"));
    sl_rules_free(rules);

    for (size_t i = 0; i < 5; i++) {
        snprintf(text, sizeof text, HEAD "(msg:\"%s\"; sid:%zu;)\n", names[i], i + 1);
        write_file(folder, names[i], text);
    }
    rules = load_path(folder, SL_OK, &diag);
    assert_int_equal(count_of(rules).loaded, 4);
    assert_string_equal(sl_rules_signature(rules, 0)->msg, "a.rules");
    assert_string_equal(sl_rules_signature(rules, 1)->msg, "b.rules");
    sl_rules_free(rules);

    snprintf(path, sizeof path, "%s/[ab].rules", folder);
    rules = load_path(path, SL_OK, &diag);
    assert_int_equal(count_of(rules).loaded, 2);
    assert_string_equal(sl_rules_signature(rules, 0)->msg, "a.rules");
    sl_rules_free(rules);
    snprintf(path, sizeof path, "%s/e[1].rules", folder); /* a name, though it holds brackets */
    sl_rules_free(load_path(path, SL_OK, &diag));
    snprintf(path, sizeof path, "%s/x*.rules", folder);
    sl_rules_free(load_path(path, SL_EIO, &diag));
    assert_string_equal(diag.file, path);

    /* One file that cannot be used is named, and the others are loaded. */
    write_file(folder, "b.rules", "bad\n");
    rules = load_path(folder, SL_EFORMAT, &diag);
    assert_int_equal(count_of(rules).loaded, 3);
    snprintf(path, sizeof path, "%s/b.rules", folder);
    assert_string_equal(diag.file, path);
    sl_rules_free(rules);
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Large and hostile files cost no more than their length: were one of these read in the square of
 * it, the test would not end. */
static void test_large_files(void **state)
{
    static const char *const lines[] = {
        "alert tcp any any -> any any (\n",  "/* x\n", "(\\\n",
        "alert tcp any any -> any any \\\n", "x)\n",   "config x: y\n"};
    const size_t max = test_fewer(1000000, 100000);
    char *text = malloc(max + 64);
    struct sl_diag diag;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct sl_rules *rules = load_rules("");
        const size_t line_len = strlen(lines[i]);
        size_t len = 0;

        for (; len < max; len += line_len)
            memcpy(text + len, lines[i], line_len);
        assert_int_equal(sl_rules_load_text(rules, "x", text, len, &diag), SL_EFORMAT);
        assert_int_equal(count_of(rules).loaded, 0);
        sl_rules_free(rules);
    }

    /* A rule that never ends. */
    struct sl_rules *rules = load_rules("");
    memset(text, '\n', max);
    memcpy(text, lines[0], strlen(lines[0]));
    assert_int_equal(sl_rules_load_text(rules, "x", text, max, &diag), SL_EFORMAT);
    assert_int_equal(count_of(rules).bad, 1);
    sl_rules_free(rules);
    free(text);
}

/* How rules are evaluated, as text. Literals and keys of each kind are among them, and each kind of
 * state. */
static const struct {
    const char *rule, *text;
} explanations[] = {
    {"alert tcp any any -> any 80 (msg:\"m\"; flow:established,to_server; content:\"aB|00 "
     "3b|\"; "
     "nocase; offset:1; depth:9; content:!\"x\"; ttl:<9; sid:7; rev:3;)",
     "test.rules:1: 1:7:3 m\n"
     "found by the literal \"ab|00 3b|\", case ignored, in the payload: of the contents that "
     "are fit it should be the rarest, with rarity 13\n"
     "  not by \"x\" in the payload: it is negated\n"
     "check: flow is to the server\n"
     "check: flow is established\n"
     "check: ttl is 0 to 8\n"
     "check: destination port, of 1 ranges\n"
     "buffer: the payload\n"
     "  content \"ab|00 3b|\", case ignored, offset 1, depth 9\n"
     "  content !\"x\"\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert dns any any -> any any (dns.query; to_lowercase; xor:0a; content:\"b\"; bsize:1; "
     "sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the application protocol: no content is fit, or the one that is is common\n"
     "  not by \"b\" in dns.query: its transforms hide it\n"
     "check: application protocol is dns\n"
     "buffer: dns.query, transformed by to_lowercase;xor:0a\n"
     "  content \"b\"\n"
     "  1 to 1 bytes\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert icmp any any -> any any (itype:8; sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the ICMP type: no content must be there\n"
     "check: itype is 8\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert tcp any any -> any any (content:\"abc\"; content:\"abcdef\"; pcre:\"/g+/R\"; "
     "flowbits:isset,f|g; flowbits:unset,h; "
     "threshold:type limit, track by_src, count 2, seconds 9; sid:7;)\n"
     "drop tcp any any -> any any (flowbits:set,g; noalert; sid:8;)",
     "test.rules:1: 1:7:0 \n"
     "found by the literal \"abcdef\" in the payload: of the contents that are fit it should "
     "be the rarest, with rarity 24\n"
     "  not by \"abc\" in the payload: its rarity is 12\n"
     "buffer: the payload\n"
     "  content \"abc\"\n"
     "  content \"abcdef\"\n"
     "  pcre, relative\n"
     "state: flowbits:isset,f|g; set by 1:8\n"
     "state: flowbits:unset,h; read by no rule\n"
     "state: the first 2 alerts in 9 s of a source\n"
     "order: 2 of 2 rules; by action, setters of state, priority 3 and place\n"},
    {"alert tcp any any -> any any (content:\"abcdef\"; content:\"abc\"; fast_pattern; distance:4; "
     "within:9; isdataat:!4,relative; byte_extract:2,0,n,relative; byte_test:2,>,n,2,relative; "
     "sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the literal \"abc\" in the payload: it is the content with fast_pattern\n"
     "  not by \"abcdef\" in the payload: its rarity is 24\n"
     "buffer: the payload\n"
     "  content \"abcdef\"\n"
     "  content \"abc\", distance 4, within 9\n"
     "  !isdataat, relative\n"
     "  a number is read, relative\n"
     "  byte_test, relative\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert http any any -> any any (http.uri; content:\"/a\"; startswith; http.header; "
     "content:\"X-Long-Name\"; flowint:n,+,1; flowint:n,>,3; sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the literal \"X-Long-Name\" in http.header: of the contents that are fit it "
     "should be the rarest, with rarity 65577\n"
     "  not by \"/a\" in http.uri: its rarity is 65544\n"
     "check: application protocol is http\n"
     "buffer: http.uri\n"
     "  content \"/a\", offset 0, depth 2\n"
     "buffer: http.header\n"
     "  content \"X-Long-Name\"\n"
     "state: flowint:n,>,3; set by 1:7\n"
     "state: flowint:n,+,1; read by 1:7\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert tcp any any -> any any (pcre:\"/GET x[ab]+y/\"; tag:session,5,packets; sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the literal \"GET x\" in the payload: each match of an expression has it, and "
     "no content is fit\n"
     "buffer: the payload\n"
     "  pcre\n"
     "state: tags 5 packets of its flow\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert udp 192.0.2.0/24 any -> any any (xbits:set,b,track ip_src,expire 60; "
     "detection_filter:track by_dst, count 5, seconds 60; sid:7;)\n"
     "alert udp any any -> any any (xbits:isset,b,track ip_src; sid:8;)",
     "test.rules:1: 1:7:0 \n"
     "found by the source address: no content must be there\n"
     "check: flow is new to the sender\n"
     "check: source address, of 1 ranges\n"
     "state: xbits:set,b,track ip_src,expire 60; read by 1:8\n"
     "state: alerts behind the first 5 in 60 s of a destination\n"
     "state: decided in the order of all packets\n"
     "order: 1 of 2 rules; by action, setters of state, priority 3 and place\n"},
    {"alert dns any any -> any any (dns.query; dataset:isset,d,type string; sid:7;)\n"
     "alert dns any any -> any any (dns.query; dataset:set,d,type string; sid:8;)",
     "test.rules:1: 1:7:0 \n"
     "found by the application protocol: no content must be there\n"
     "check: application protocol is dns\n"
     "buffer: dns.query\n"
     "  the value is in the data set d, changed by 1:8\n"
     "state: decided in the order of all packets\n"
     "order: 1 of 2 rules; by action, setters of state, priority 3 and place\n"},
    {"alert tcp any any -> any any (stream-event:reassembly_seq_gap; flags:S; sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the flags of TCP: no content must be there\n"
     "check: stream-event is reassembly_seq_gap\n"
     "check: flags & 0xff is 2\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert http any any -> any any (file.data; content:\"MZ\"; startswith; sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the side and kind of the message: no content is fit, or the one that is is "
     "common\n"
     "  not by \"MZ\" in file.data: its rarity is 65544\n"
     "check: application protocol is http\n"
     "buffer: file.data\n"
     "  content \"MZ\", offset 0, depth 2\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
    {"alert tcp any any -> any any (base64_decode:bytes 9; base64_data; content:\"abc\"; "
     "sid:7;)",
     "test.rules:1: 1:7:0 \n"
     "found by the protocol of the packet: no content is fit, or the one that is is common\n"
     "  not by \"abc\" in the payload: it is in base64\n"
     "buffer: the payload\n"
     "  base64_decode\n"
     "  content \"abc\", in what is decoded\n"
     "order: 1 of 1 rules; by action, setters of state, priority 3 and place\n"},
};

static void test_explanations(void **state)
{
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        struct sl_rules *rules = load_rules(explanations[i].rule);
        const struct sl_literal *literals;
        size_t n;

        assert_int_equal(sl_rules_compile(rules, &literals, &n, NULL), SL_OK);
        assert_true(sl_rules_explain(rules, 1, 7, text, sizeof text));
        assert_string_equal(text, explanations[i].text);
        for (size_t cap = 0; cap < 64; cap++) { /* cut off where it does not fit */
            char *small = malloc(cap + 1);

            assert_int_equal(sl_rules_explain(rules, 1, 7, small, cap), cap != 0);
            if (cap != 0) {
                assert_int_equal(strlen(small), cap - 1 < strlen(text) ? cap - 1 : strlen(text));
                assert_memory_equal(small, text, strlen(small));
            }
            free(small);
        }
        assert_false(sl_rules_explain(rules, 2, 7, text, sizeof text));
        assert_false(sl_rules_explain(rules, 1, 9, text, sizeof text));
        sl_rules_free(rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_skipped_rules),
        cmocka_unit_test(test_literals_of_expressions),
        cmocka_unit_test(test_skip_reasons),
        cmocka_unit_test(test_explanations),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_home_by_default),
        cmocka_unit_test(test_home_is_everywhere),
        cmocka_unit_test(test_endless_lists),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_common_literals),
        cmocka_unit_test(test_long_content),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_configure),
        cmocka_unit_test(test_files_without_usable_rules),
        cmocka_unit_test(test_folders_and_patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
