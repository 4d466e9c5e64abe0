/* SPDX-License-Identifier: MIT */
/* Tables of names: each format's lines, and look-ups against a scan over all rules. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <xxhash.h>

#include "fib_planes.h"
#include "names/fib/fib_table.h"
#include "names/lists/list_parse.h"
#include "names/table/names_internal.h"
#include "sluice/names.h"
#include "test.h"

static struct sl_names *make(const char *format, const char *text)
{
    struct sl_diag diag = {0};
    struct sl_names *names;

    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    if (sl_names_load_text(names, "list", format, text, strlen(text), &diag) != SL_OK ||
        sl_names_build(names, NULL, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    return names;
}

/* Appends; bytes that do not fit are cut. */
static void append(char *text, size_t cap, const char *more)
{
    const size_t len = strlen(text);

    snprintf(text + len, cap - len, "%s", more);
}

/* "ACTION [VALUE,...]" of a name, or "none". */
static const char *query(struct sl_names *names, const char *text)
{
    static char found[512];
    uint8_t bytes[SL_NAME_LEN_MAX];
    struct sl_names_reader *reader;
    struct sl_names_answer answer;
    struct sl_diag diag = {0};
    struct sl_name name;
    const char *value;
    size_t len;

    assert_null(sl_name_read(&name, SL_NAME_AUTO, bytes, sizeof bytes, text, strlen(text)));
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", &diag), SL_OK);
    assert_int_equal(sl_names_lookup(reader, &name, 1, &answer), SL_OK);
    found[0] = '\0';
    append(found, sizeof found, sl_names_action_name(answer.action));
    for (uint32_t i = 0; (value = sl_names_value(names, &answer, i, &len)) != NULL; i++) {
        append(found, sizeof found, i == 0 ? " " : ",");
        strncat(found, value, len);
    }
    sl_names_reader_close(reader);
    return found;
}

struct question {
    const char *name, *answer;
};

/* n_not: the lines that are wrong or not supported. */
static void check(const char *format, const char *text, uint64_t n_not,
                  const struct question *questions)
{
    struct sl_names *names = make(format, text);
    struct sl_names_count count;
    const char *detected;

    assert_non_null(sl_names_list(names, 0, &detected));
    if (format != NULL)
        assert_string_equal(detected, format);
    sl_names_count(names, &count);
    assert_int_equal(count.ignored + count.skipped, n_not);
    assert_int_equal(count.rules + count.ignored + count.skipped, count.lines);
    for (; questions->name != NULL; questions++) {
        const char *found = query(names, questions->name);
        if (strcmp(found, questions->answer) != 0)
            fail_msg("%s: %s: '%s', not '%s'", format, questions->name, found, questions->answer);
    }
    sl_names_free(names);
}

/* Read by its name, and found out. */
static void check_both(const char *format, const char *text, uint64_t n_not,
                       const struct question *questions)
{
    struct sl_names *names = make(NULL, text);
    const char *detected;

    check(format, text, n_not, questions);
    assert_non_null(sl_names_list(names, 0, &detected));
    assert_string_equal(detected, format);
    sl_names_free(names);
}

static void test_prefix(void **state)
{
    (void)state;
    check_both("prefix",
               "# comment\n/com/parc\t1\r\n/com/parc/www\t2,3\n/\t0\n/x\n/y\t\n/z\t1 2\nfoo\n", 4,
               (const struct question[]){{"/com/parc", "forward 1"},
                                         {"/com/parcel", "forward 0"},
                                         {"www.parc.com", "forward 2,3"},
                                         {"/com/parc/www/a", "forward 2,3"},
                                         {"http://parc.com/www", "forward 2,3"},
                                         {"/x", "forward 0"},
                                         {NULL, NULL}});
}

static void test_nfdc(void **state)
{
    static const struct question questions[] = {{"/localhop/ndn", "none"},
                                                {"/a/x", "forward 262 10,263 5"},
                                                {"/b", "forward 264 0"},
                                                {NULL, NULL}};
    (void)state;
    check_both("nfdc",
               "prefix=/a nexthop=262 origin=static cost=10 flags=child-inherit expires=never\n"
               "prefix=/a nexthop=263 origin=app cost=5 flags=none expires=50s\n"
               "prefix=/b nexthop=264 origin=255 cost=0 flags=capture\n"
               "prefix=/c nexthop=1 cost=x\n",
               1, questions);
    check_both("nfdc",
               "FIB:\n  /a nexthops={faceid=262 (cost=10), faceid=263 (cost=5)}\n"
               "  /b nexthops={faceid=264 (cost=0)}\n  /c nexthops={faceid=1}\n",
               1, questions);
    check_both("nfdc",
               "nfdc route add /a 262 cost 10\nroute add prefix /a nexthop 263 origin 128 cost 5\n"
               "nfdc route add /b 264 no-inherit capture expires 1000\nnfdc route remove /b 264\n",
               1, questions);
}

static void test_hosts(void **state)
{
    (void)state;
    check_both("hosts",
               "127.0.0.1 localhost localhost.localdomain\n::1 ip6-localhost\n"
               "0.0.0.0 0.0.0.0\n0.0.0.0\tads.test  track.test # both\n127.0.0.1 old.test\n"
               "192.0.2.7 v.test\n2001:db8::7 v.test\nfe80::1%lo0 l.test\n# c\n\n"
               "0.0.0.0 *.w.test\n0.0.0.0\nnonsense\n",
               4,
               (const struct question[]){{"localhost", "address 127.0.0.1"},
                                         {"ads.test", "block"},
                                         {"TRACK.test.", "block"},
                                         {"x.ads.test", "none"},
                                         {"http://ads.test/x", "block"},
                                         {"old.test", "block"},
                                         {"v.test", "address 192.0.2.7,2001:db8::7"},
                                         {"l.test", "address fe80::1"},
                                         {NULL, NULL}});
}

static void test_domains(void **state)
{
    static const char text[] = "a.test\n*.b.test # c\n.c.test\nm\xC3\xBCnchen.de\nx*.test\na b\n";

    (void)state;
    check_both("domains", text, 3,
               (const struct question[]){{"a.test", "block"},
                                         {"x.a.test", "none"},
                                         {"b.test", "none"},
                                         {"y.x.b.test", "block"},
                                         {"c.test", "block"},
                                         {"x.c.test", "block"},
                                         {"test", "none"},
                                         {NULL, NULL}});
    check("subdomains", text, 3,
          (const struct question[]){{"a.test", "block"},
                                    {"x.a.test", "block"},
                                    {"b.test", "none"},
                                    {"x.b.test", "block"},
                                    {"xa.test", "none"},
                                    {NULL, NULL}});
}

static void test_urls(void **state)
{
    (void)state;
    check_both("urls",
               "http://s.test/ads/\tadverts,bad\ns.test/ads/ok good\nd.test\tshop\n"
               "https://p.test/login?x=1\nq.test/a\tx,\n/local\tz\n",
               2,
               (const struct question[]){{"http://s.test/ads/a.gif", "category adverts,bad"},
                                         {"https://S.test:443/ads?y", "category adverts,bad"},
                                         {"s.test/ads/ok/1", "category good"},
                                         {"s.test/adsx", "none"},
                                         {"ads.s.test", "none"},
                                         {"ads.s.test/x", "none"},
                                         {"x.d.test/y", "category shop"},
                                         {"p.test/login?x=1", "block"},
                                         {"p.test/login", "none"},
                                         {NULL, NULL}});
}

static void test_adblock(void **state)
{
    (void)state;
    check_both(
        "adblock",
        "[Adblock Plus 2.0]\n! Title: t\n||ads.test^\n@@||good.ads.test^\n||worse.good.ads.test^\n"
        "||bad.good.ads.test^$important\n@@||fine.test^$important\n||fine.test^$important\n"
        "|exact.test^\n||*.below.test^\nplain.test\n0.0.0.0 host.test\n||x.test^|\n"
        "||doc.test^$document,all\n"
        "||third.test^$third-party\n||path.test/ads^\n||open.test\nt.test##.ad\n/ads[0-9]/\n"
        "-banner-\n||a*.test^\n||bf.test^$badfilter\n",
        8,
        (const struct question[]){{"ads.test", "block"},
                                  {"x.ads.test", "block"},
                                  {"xads.test", "none"},
                                  {"good.ads.test", "allow"},
                                  {"worse.good.ads.test", "allow"},
                                  {"bad.good.ads.test", "block"},
                                  {"fine.test", "allow"},
                                  {"exact.test", "block"},
                                  {"x.exact.test", "none"},
                                  {"below.test", "none"},
                                  {"x.below.test", "block"},
                                  {"plain.test", "block"},
                                  {"x.plain.test", "none"},
                                  {"host.test", "block"},
                                  {"x.test", "block"},
                                  {"doc.test", "block"},
                                  {"third.test", "none"},
                                  {NULL, NULL}});
}

static void test_dnsmasq(void **state)
{
    (void)state;
    check_both(
        "dnsmasq",
        "# c\naddress=/ads.test/\naddress=/a.test/.b.test/192.0.2.1\naddress=/a.test/2001:db8::1\n"
        "--address=/null.test/#\nserver=/corp.test/10.0.0.1#5353\nserver=/ads.test/x/#\n"
        "server=/pub.corp.test/#\nlocal=/lan/\nserver=8.8.8.8\naddress=//192.0.2.1\n"
        "address=/*glob.test/192.0.2.1\naddress=/z.test/nowhere\nno-resolv=1\n"
        "address=/c.test/192.0.2.9 # why\n",
        5,
        (const struct question[]){{"x.ads.test", "nxdomain"},
                                  {"a.test", "address 192.0.2.1,2001:db8::1"},
                                  {"x.b.test", "address 192.0.2.1"},
                                  {"null.test", "address 0.0.0.0,::"},
                                  {"h.corp.test", "server 10.0.0.1#5353"},
                                  {"h.pub.corp.test", "allow"},
                                  {"printer.lan", "nxdomain"},
                                  {"c.test", "address 192.0.2.9"},
                                  {"other.test", "none"},
                                  {NULL, NULL}});
    check("dnsmasq", "address=/#/192.0.2.1\n", 0,
          (const struct question[]){
              {"any.test", "address 192.0.2.1"}, {"/", "address 192.0.2.1"}, {NULL, NULL}});
}

static void test_unbound(void **state)
{
    (void)state;
    check_both("unbound",
               "server:\n  local-zone: \"n.test\" always_nxdomain\n local-zone: r.test. refuse\n"
               "local-zone: \"d.test\" deny\nlocal-zone: \"t.n.test\" transparent\n"
               "local-zone: \"re.test\" redirect\nlocal-data: \"re.test A 192.0.2.1\"\n"
               "local-zone: \"s.test\" static\nlocal-data: 'h.s.test. 3600 IN AAAA 2001:db8::2'\n"
               "local-zone: \"z.test\" always_null\nlocal-zone: \"x.test\" unknown\n"
               "local-data: \"m.test MX 10 a.test\"\nverbosity: 1\n# c\n",
               3,
               (const struct question[]){{"n.test", "nxdomain"},
                                         {"x.n.test", "nxdomain"},
                                         {"x.t.n.test", "allow"},
                                         {"r.test", "refuse"},
                                         {"d.test", "drop"},
                                         {"re.test", "address 192.0.2.1"},
                                         {"x.re.test", "address 192.0.2.1"},
                                         {"h.s.test", "address 2001:db8::2"},
                                         {"i.s.test", "nxdomain"},
                                         {"z.test", "block"},
                                         {NULL, NULL}});
}

static void test_rpz(void **state)
{
    (void)state;
    check_both("rpz",
               "$TTL 2h\n$ORIGIN rpz.example.\n@ SOA ns.example. root.example. ( 1 ; serial\n"
               " 12h 15m\n 3w 2h )\n  NS ns.example.\n"
               "nx.test CNAME .\n*.nx.test CNAME .\nok.nx.test 300 IN CNAME rpz-passthru.\n"
               "nodata.test IN 300 CNAME *.\ndrop.test.rpz.example. CNAME rpz-drop.\n"
               "tcp.test CNAME rpz-tcp-only.\na.test A 192.0.2.1\n         AAAA 2001:db8::1\n"
               "*.a.test A 192.0.2.2\nwall.test CNAME garden.example.\n"
               "$ORIGIN sub.rpz.example.\nhere CNAME .\n$ORIGIN rpz.example.\n"
               "24.0.0.0.127.rpz-client-ip CNAME rpz-drop.\nns.test.rpz-nsdname CNAME .\n"
               "text.test TXT \"a;b (\"\nelse.test. CNAME .\n"
               "typo.test CNAME rpz-drop\n",
               5,
               (const struct question[]){{"nx.test", "nxdomain"},
                                         {"x.y.nx.test", "nxdomain"},
                                         {"ok.nx.test", "allow"},
                                         {"x.ok.nx.test", "nxdomain"},
                                         {"nodata.test", "nodata"},
                                         {"x.nodata.test", "none"},
                                         {"drop.test", "drop"},
                                         {"tcp.test", "truncate"},
                                         {"a.test", "address 192.0.2.1,2001:db8::1"},
                                         {"x.a.test", "address 192.0.2.2"},
                                         {"wall.test", "redirect garden.example"},
                                         {"here.sub", "nxdomain"},
                                         {"else.test", "none"},
                                         {NULL, NULL}});
}

static void test_formats_are_named(void **state)
{
    struct sl_names *names;
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "l", "fancy", "a", 1, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "fancy"));
    assert_non_null(strstr(diag.text, "dnsmasq"));
    assert_int_equal(sl_names_load_text(names, "l", NULL, "{\n}\n?", 5, &diag), SL_EFORMAT);
    assert_non_null(strstr(diag.text, "adblock"));
    assert_string_equal(diag.file, "l");
    assert_int_equal(sl_names_load_text(names, "l", NULL, "", 0, &diag), SL_EFORMAT);
    assert_int_equal(sl_names_load(names, "/nonexistent/x", NULL, &diag), SL_EIO);
    sl_names_free(names);
}

static void test_ignored_lines_are_reported(void **state)
{
    struct sl_names *names = make("hosts", "0.0.0.0 a\nx\n0.0.0.0 b..c\ny\n");
    struct sl_diag diag = {0};
    struct sl_names_reason reason;

    (void)state;
    assert_true(sl_names_ignored(names, 1, &diag));
    assert_string_equal(diag.file, "list");
    assert_int_equal(diag.line, 3);
    assert_string_equal(diag.text, "an empty label");
    assert_false(sl_names_ignored(names, 3, &diag));
    assert_true(sl_names_ignore_reason(names, 0, &reason));
    assert_int_equal(reason.n_lines, 2);
    assert_false(reason.skipped);
    assert_true(sl_names_ignore_reason(names, 1, &reason));
    assert_false(sl_names_ignore_reason(names, 2, &reason));
    sl_names_free(names);
}

/* By the documentation of each format: lines that its own readers take, and lines that they refuse.
 */
static void test_wrong_lines_are_not_skipped(void **state)
{
    static const struct {
        const char *format, *line;
        bool skipped;
    } lines[] = {
        {"prefix", "com/parc\t1", false},
        {"prefix", "/com/parc", false},
        {"prefix", "/com/parc\t1,,2", false},
        {"nfdc", "nfdc route show /a", true},
        {"nfdc", "route remove /a 262", true},
        {"nfdc", "route destroy /a 262", false},
        {"nfdc", "prefix=/a cost=1", false},
        {"hosts", "ads.test", false},
        {"hosts", "0.0.0.0", false},
        {"hosts", "0.0.0.0 a_b..c", false},
        {"domains", "two words", false},
        {"domains", "ads*.test", true},
        {"domains", "-\\-", false},
        {"subdomains", "a..b", false},
        {"urls", "/path/alone", false},
        {"urls", "x.test/a\t,", false},
        {"adblock", "||x.test^$third-party", true},
        {"adblock", "||x.test/banner", true},
        {"adblock", "x.test##.ad", true},
        {"adblock", "/banner[0-9]+/", true},
        {"adblock", "/banner/x.gif", true},
        {"adblock", "-ads-728.", true},
        {"adblock", "ads-.gif", true},
        {"adblock", "&ad.box=", true},
        {"adblock", "_ads.js", true},
        {"adblock", "x.test:8080", true},
        {"adblock", "||x..test^", false},
        {"adblock", "x..test", false},
        {"adblock", "1.2.3 x.test", false},
        {"dnsmasq", "domain-needed", true},
        {"dnsmasq", "server=192.0.2.1", true},
        {"dnsmasq", "address=/*x.test/192.0.2.1", true},
        {"dnsmasq", "cache-size=1000", true},
        {"dnsmasq", "0.0.0.0 ads.test", false},
        {"dnsmasq", "address=/x.test/nowhere", false},
        {"dnsmasq", "address=nowhere", false},
        {"dnsmasq", "local=/x.test", false},
        {"unbound", "do-ip6: no", true},
        {"unbound", "local-data: \"x.test TXT text\"", true},
        {"unbound", "local-data: \"x.test WHAT text\"", false},
        {"unbound", "local-zone: x.test", false},
        {"unbound", "local-zone: x.test sometimes", false},
        {"unbound", "ads.test", false},
        {"unbound", "http://ads.test/", false},
        {"rpz", "32.1.2.0.192.rpz-ip CNAME .", true},
        {"rpz", "x.test TXT text", true},
        {"rpz", "$INCLUDE other", true},
        {"rpz", "$NOTHING", false},
        {"rpz", "x.test WHAT .", false},
        {"rpz", "x.test CNAME", false},
        {"rpz", "x.test A nowhere", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct sl_names *names;
        struct sl_names_count count;
        struct sl_diag diag = {0};

        assert_int_equal(sl_names_create(&names, NULL), SL_OK);
        const enum sl_status status = sl_names_load_text(
            names, "list", lines[i].format, lines[i].line, strlen(lines[i].line), &diag);
        sl_names_count(names, &count);
        if (status != (lines[i].skipped ? SL_OK : SL_EFORMAT) ||
            count.skipped != lines[i].skipped || count.ignored != !lines[i].skipped ||
            count.lines != 1)
            fail_msg("%s: '%s': %s", lines[i].format, lines[i].line, diag.text);
        sl_names_free(names);
    }
}

/* Filters without an anchor are lines of Adblock, also where the format is found out. */
static void test_unanchored_filters_show_adblock(void **state)
{
    static const char text[] = "! Title\n-ads-728.\n&ad.box=\n/banner/x.gif\n||a.test^\n";
    struct sl_names *names = NULL;
    struct sl_names_count count;
    const char *format;

    (void)state;
    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_load_text(names, "l", NULL, text, sizeof text - 1, NULL), SL_OK);
    assert_non_null(sl_names_list(names, 0, &format));
    assert_string_equal(format, "adblock");
    sl_names_count(names, &count);
    assert_int_equal(count.rules, 1);
    assert_int_equal(count.skipped, 3);
    sl_names_free(names);
}

/* A list without a rule fails where one of its lines is wrong, whatever other lists hold. */
static void test_lists_without_a_rule(void **state)
{
    static const char skipped[] = "! title\n\n##.ad\n||x.test^$third-party\n";
    static const char wrong[] = "! title\n##.ad\n||a..b^\n||c..d^\n";
    struct sl_names *names = NULL;
    struct sl_names_count count;
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "good", "hosts", "0.0.0.0 a\n", 10, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "s", "adblock", skipped, sizeof skipped - 1, &diag),
                     SL_OK);
    sl_names_count(names, &count);
    assert_int_equal(count.skipped, 2);
    assert_int_equal(count.ignored, 0);
    assert_int_equal(sl_names_load_text(names, "w", "adblock", wrong, sizeof wrong - 1, &diag),
                     SL_EFORMAT);
    assert_string_equal(diag.file, "w");
    assert_int_equal(diag.line, 3);
    assert_string_equal(diag.text, "an empty label; none of 3 lines of the format 'adblock' can be "
                                   "used");
    assert_int_equal(sl_names_load_text(names, "none", "hosts", "# a\n", 4, &diag), SL_OK);
    sl_names_free(names);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

/* A rule as the documentation has it, over texts: a host and how it matches. */
struct plain_rule {
    char host[32], path[16];
    enum sl_names_match match;
    uint32_t rank, list, line;
    bool gone;
};

static bool ends_with(const char *host, const char *zone)
{
    const size_t a = strlen(host), b = strlen(zone);

    return a > b && host[a - b - 1] == '.' && strcmp(host + a - b, zone) == 0;
}

static bool path_begins(const char *path, const char *with)
{
    const size_t n = strlen(with);

    return strncmp(path, with, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool plain_applies(const struct plain_rule *rule, const char *host, const char *path)
{
    const bool same = strcmp(rule->host, host) == 0, below = ends_with(host, rule->host);

    switch (rule->match) {
    case SL_NAMES_EXACT:
        return same;
    case SL_NAMES_SUBTREE:
        return same || below;
    case SL_NAMES_BELOW:
        return below;
    default:
        return same && path_begins(path, rule->path);
    }
}

static int slashes(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == '/' || *text == '.';
    return n;
}

/* Is a before b, as sluice/names.h orders rules? */
static bool plain_before(const struct plain_rule *a, const struct plain_rule *b)
{
    const int a_len = slashes(a->host) + slashes(a->path),
              b_len = slashes(b->host) + slashes(b->path);

    if (a->rank != b->rank)
        return a->rank > b->rank;
    if (a_len != b_len)
        return a_len > b_len;
    if ((a->match == SL_NAMES_EXACT) != (b->match == SL_NAMES_EXACT))
        return a->match == SL_NAMES_EXACT;
    return a->list != b->list ? a->list < b->list : a->line < b->line;
}

static const struct plain_rule *plain_answer(const struct plain_rule *rules, uint32_t n,
                                             const char *host, const char *path)
{
    const struct plain_rule *best = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (!rules[i].gone && plain_applies(&rules[i], host, path) &&
            (best == NULL || plain_before(&rules[i], best)))
            best = &rules[i];
    return best;
}

static void random_host(uint64_t *random, char host[32])
{
    uint32_t n = 1 + test_below(random, 4);

    *host = '\0';
    while (n-- > 0) {
        const char label[] = {(char)('a' + test_below(random, 3)), n > 0 ? '.' : '\0', '\0'};
        append(host, 32, label);
    }
}

/* The rule as a line of Adblock or URL syntax. */
static void rule_line(const struct plain_rule *rule, char line[64])
{
    if (rule->match == SL_NAMES_PATH)
        snprintf(line, 64, "%s%s", rule->host, rule->path);
    else
        snprintf(line, 64, "%s%s%s%s^%s", rule->rank % 2 ? "@@" : "",
                 rule->match == SL_NAMES_EXACT ? "|" : "||",
                 rule->match == SL_NAMES_BELOW ? "*." : "", rule->host,
                 rule->rank >= SL_NAMES_RANK_IMPORTANT ? "$important" : "");
}

static void random_rule(uint64_t *random, struct plain_rule *rule)
{
    static const char *const paths[] = {"/a", "/a/b", "/c"};

    memset(rule, 0, sizeof *rule);
    random_host(random, rule->host);
    rule->match = (enum sl_names_match)(SL_NAMES_EXACT + test_below(random, 4));
    if (rule->match == SL_NAMES_PATH)
        append(rule->path, sizeof rule->path, paths[test_below(random, 3)]);
    else
        rule->rank = test_below(random, 3) ? 0 : test_below(random, 4);
}

static bool is_same(const struct plain_rule *a, const struct plain_rule *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->path, b->path) == 0 && a->match == b->match &&
           a->rank == b->rank;
}

static void compare(struct sl_names *names, uint64_t *random, const struct plain_rule *rules,
                    uint32_t n_rules)
{
    static const char *const paths[] = {"", "", "/a", "/a/b", "/a/b/c", "/ab", "/c", "/b/a"};
    enum { N = 300 };
    static uint8_t bytes[N][128];
    static char hosts[N][32];
    static const char *path[N];
    static struct sl_name name[N];
    static struct sl_names_answer answers[N];
    struct sl_names_reader *reader;
    struct sl_diag diag = {0};

    for (uint32_t i = 0; i < N; i++) {
        char text[128];

        random_host(random, hosts[i]);
        path[i] = paths[test_below(random, 8)];
        snprintf(text, sizeof text, "%.31s%.15s", hosts[i], path[i]);
        assert_null(
            sl_name_read(&name[i], SL_NAME_URL, bytes[i], sizeof *bytes, text, strlen(text)));
    }
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", &diag), SL_OK);
    assert_int_equal(sl_names_lookup(reader, name, N, answers), SL_OK);
    for (uint32_t i = 0; i < N; i++) {
        const struct plain_rule *rule = plain_answer(rules, n_rules, hosts[i], path[i]);

        if (rule == NULL) {
            assert_int_equal(answers[i].action, SL_NAMES_NONE);
            continue;
        }
        if (answers[i].list != rule->list || answers[i].line != rule->line)
            fail_msg("%s%s: %u:%u, not %u:%u", hosts[i], path[i], answers[i].list, answers[i].line,
                     rule->list, rule->line);
        assert_int_equal(answers[i].action, rule->rank % 2 ? SL_NAMES_ALLOW : SL_NAMES_BLOCK);
    }
    sl_names_reader_close(reader);
}

/* Rules with a path are a list of URLs, all others one of Adblock filters. */
static uint32_t list_of(const struct plain_rule *rule)
{
    return rule->match == SL_NAMES_PATH;
}

static void test_lookups_equal_a_scan(void **state)
{
    static struct plain_rule rules[600];
    static char text[2][600 * 96];
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct sl_diag diag = {0};
        struct sl_names *names;
        uint32_t n = 0, lines[2] = {0};
        const uint32_t n_wanted = 1 + test_below(&random, round < 20 ? 20 : 150);

        text[0][0] = text[1][0] = '\0';
        for (uint32_t i = 0; i < n_wanted; i++) {
            struct plain_rule *rule = &rules[n];
            char line[96];
            bool known = false;

            random_rule(&random, rule);
            for (uint32_t k = 0; k < n; k++)
                known |= is_same(&rules[k], rule);
            if (known)
                continue;
            rule->list = list_of(rule);
            rule->line = ++lines[rule->list];
            rule_line(rule, line);
            append(text[rule->list], sizeof *text, line);
            append(text[rule->list], sizeof *text, "\n");
            n++;
        }
        assert_int_equal(sl_names_create(&names, &diag), SL_OK);
        assert_int_equal(sl_names_load_text(names, "f", "adblock", text[0], strlen(text[0]), &diag),
                         SL_OK);
        assert_int_equal(sl_names_load_text(names, "u", "urls", text[1], strlen(text[1]), &diag),
                         SL_OK);
        assert_int_equal(sl_names_build(names, NULL, &diag), SL_OK);
        compare(names, &random, rules, n);

        /* Rules come and go; those that come are lines of one more list each format. */
        uint32_t updates = 0;
        for (int step = 0; step < 200 && n < 600; step++) {
            struct sl_names_updated updated = {0};
            struct plain_rule rule;
            char line[96];
            uint32_t at;

            random_rule(&random, &rule);
            for (at = 0; at < n && (rules[at].gone || !is_same(&rules[at], &rule)); at++)
                ;
            *line = at < n ? '-' : '+';
            rule_line(at < n ? &rules[at] : &rule, line + 1);
            updates++;
            if (at < n) {
                rules[at].gone = true;
            } else {
                rule.list = 1 + updates; /* each label is a list, behind the first two */
                rule.line = updates;
                rules[n++] = rule;
            }
            char label[16];
            snprintf(label, sizeof label, "%u", updates);
            assert_int_equal(sl_names_update(names, label, list_of(&rule) ? "urls" : "adblock",
                                             line, strlen(line), updates, &updated, &diag),
                             SL_OK);
            assert_int_equal(updated.added + updated.removed, 1);
            if (step % 20 == 19)
                compare(names, &random, rules, n);
        }
        sl_names_free(names);
    }
}

/* ---- updates while look-ups go on ------------------------------------------------------------ */

struct flip {
    struct sl_names *names;
    atomic_bool stop;
};

static void *flip(void *user)
{
    struct flip *flip = user;
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};

    while (!atomic_load(&flip->stop)) {
        static const char text[] = "+/a/b\t3\n-/a/b\t2\n+/a/b/c\t9\n-/a/b/c\n+/a/b\t2\n-/a/b\t3\n";
        if (sl_names_update(flip->names, "u", "prefix", text, sizeof text - 1, 1, &updated,
                            &diag) != SL_OK)
            break;
    }
    return NULL;
}

static void test_lookups_during_updates(void **state)
{
    struct flip flipping = {.names = make("prefix", "/a\t1\n/a/b\t2\n/x\t7\n")};
    uint8_t bytes[3][64];
    struct sl_names_answer answers[3];
    struct sl_names_reader *reader;
    struct sl_name name[3];
    struct sl_diag diag = {0};
    pthread_t thread;

    (void)state;
    assert_null(sl_name_read(&name[0], SL_NAME_NDN, bytes[0], 64, "/a/b/c/d", 8));
    assert_null(sl_name_read(&name[1], SL_NAME_NDN, bytes[1], 64, "/a/c", 4));
    assert_null(sl_name_read(&name[2], SL_NAME_NDN, bytes[2], 64, "/x/y", 4));
    assert_int_equal(sl_names_reader_open(&reader, flipping.names, "cpu", &diag), SL_OK);
    assert_int_equal(pthread_create(&thread, NULL, flip, &flipping), 0);
    for (int i = 0; i < 20000; i++) {
        size_t len;

        assert_int_equal(sl_names_lookup(reader, name, 3, answers), SL_OK);
        const char *value = sl_names_value(flipping.names, &answers[0], 0, &len);
        assert_true(value[0] == '2' || value[0] == '3' || value[0] == '9');
        value = sl_names_value(flipping.names, &answers[1], 0, &len);
        assert_int_equal(value[0], '1');
        value = sl_names_value(flipping.names, &answers[2], 0, &len);
        assert_int_equal(value[0], '7');
    }
    atomic_store(&flipping.stop, true);
    pthread_join(thread, NULL);
    sl_names_reader_close(reader);
    sl_names_free(flipping.names);
}

/* The targets of a GPU's copy of the table that was made before an update. */
enum { SEEN = 2000 /* names: several times what goes to the engine at once */ };

static struct {
    struct sl_names *names;
    uint32_t node[SEEN];
    struct names_rule rule[SEEN];
    uint32_t n_published, n_changed;
} seen;

/* Until it is published, readers on GPUs read nodes that the update has retired. */
static enum sl_status check_seen(struct sl_fib_table *table, const struct fib_view *view,
                                 struct sl_diag *diag)
{
    (void)table;
    (void)view;
    (void)diag;
    seen.n_published++;
    for (uint32_t i = 0; i < SEEN; i++)
        seen.n_changed += memcmp(pool_at(&seen.names->rules, seen.node[i]), &seen.rule[i],
                                 sizeof seen.rule[i]) != 0;
    return SL_OK;
}

static void see(void)
{
    char text[32];
    struct sl_name name;
    uint8_t bytes[64];

    for (uint32_t i = 0; i < SEEN; i++) {
        snprintf(text, sizeof text, "/n/%u", i);
        assert_null(sl_name_read(&name, SL_NAME_NDN, bytes, sizeof bytes, text, strlen(text)));
        seen.node[i] = sl_fib_find(seen.names->fib, name.bytes, name.len).next_hop;
        seen.rule[i] = *(struct names_rule *)pool_at(&seen.names->rules, seen.node[i]);
    }
}

static size_t write_lines(char *text, const char *format)
{
    char *at = text;

    for (uint32_t i = 0; i < SEEN; i++)
        at += sprintf(at, format, i);
    return (size_t)(at - text);
}

static void test_what_gpus_see_stays_until_it_is_published(void **state)
{
    static char text[SEEN * 32];
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};

    (void)state;
    (void)write_lines(text, "/n/%u\t1\n");
    seen.names = make("prefix", text);
    fib_table_set_copies(seen.names->table, NULL, check_seen);
    atomic_store(&seen.names->n_gpu_readers, 1);
    for (uint32_t round = 1; round <= 3; round++) {
        see();
        const size_t len = write_lines(text, round % 2 != 0 ? "+/n/%u\t2\n" : "-/n/%u\t2\n");
        assert_int_equal(sl_names_update(seen.names, "u", "prefix", text, len, 1, &updated, &diag),
                         SL_OK);
        assert_int_equal(seen.n_published, round);
        assert_int_equal(seen.n_changed, 0);
        assert_int_equal(seen.names->n_retired, 0); /* nobody reads it any more */
    }
    assert_int_equal(updated.added, 2 * SEEN);
    assert_int_equal(updated.removed, SEEN);
    atomic_store(&seen.names->n_gpu_readers, 0);
    sl_names_free(seen.names);
}

static void test_updates(void **state)
{
    struct sl_names *names = make("prefix", "/a\t1,2\n/b\t5\n");
    static const char text[] =
        "-/a\t2\n+/c\t7\n/d\t1\n+\n-/e\t1\n-/b\n+/c\t8\n+bad\n\n# c\n-/a\t9\n";
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(
        sl_names_update(names, "u", "prefix", text, sizeof text - 1, 1, &updated, &diag), SL_OK);
    assert_int_equal(updated.added, 2);
    assert_int_equal(updated.removed, 2);
    assert_int_equal(updated.absent, 2);
    assert_int_equal(updated.ignored, 3);
    assert_string_equal(query(names, "/a"), "forward 1");
    assert_string_equal(query(names, "/b"), "none");
    assert_string_equal(query(names, "/c/x"), "forward 7,8");
    assert_int_equal(sl_names_update(names, "u", "no", "", 0, 1, &updated, &diag), SL_EINVAL);
    sl_names_free(names);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void flip_byte(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

/* Into a folder that is made. */
static void save_and_free(struct sl_names *names, char *folder, char path[64])
{
    assert_non_null(mkdtemp(folder));
    snprintf(path, 64, "%s/t", folder);
    assert_int_equal(sl_names_save(names, path, NULL), SL_OK);
    sl_names_free(names);
}

static void test_saved_tables(void **state)
{
    char folder[] = "/tmp/sluice-names-XXXXXX", path[64];
    struct sl_names *names =
        make("adblock", "||a.test^\n@@||b.a.test^\n||c.test^$important\nx..y\n");
    struct sl_names *opened;
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};
    long len;

    (void)state;
    save_and_free(names, folder, path);
    assert_true(sl_names_is_saved(path));
    for (int updates = 0; updates < 2; updates++) {
        assert_int_equal(sl_names_open(&opened, path, updates == 1, &diag), SL_OK);
        assert_string_equal(query(opened, "x.a.test"), "block");
        assert_string_equal(query(opened, "x.b.a.test"), "allow");
        assert_string_equal(query(opened, "c.test"), "block");
        assert_string_equal(query(opened, "d.test"), "none");
        assert_int_equal(sl_names_update(opened, "u", "adblock", "+||d.test^\n-@@||b.a.test^\n", 27,
                                         1, &updated, &diag),
                         updates == 1 ? SL_OK : SL_EINVAL);
        if (updates == 1) {
            assert_string_equal(query(opened, "d.test"), "block");
            assert_string_equal(query(opened, "x.b.a.test"), "block");
        }
        sl_names_free(opened);
    }
    /* Any byte that changes is found. */
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    len = ftell(file);
    fclose(file);
    for (long at = 0; at < len; at++) {
        flip_byte(path, at);
        if (sl_names_open(&opened, path, false, &diag) != SL_EFORMAT)
            fail_msg("byte %ld", at);
        flip_byte(path, at);
    }
    assert_int_equal(sl_names_open(&opened, path, false, &diag), SL_OK);
    sl_names_free(opened);
    assert_int_equal(truncate(path, len - 1), 0);
    assert_int_equal(sl_names_open(&opened, path, false, &diag), SL_EFORMAT);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- forged files ---------------------------------------------------------------------------- */

enum { /* where they lie in a saved table */
       CHECKSUM = 16,
       LEN = 24,
       INDEX = 32,
       N_RULES = 40,
       N_NAMES = 64,
       RULES = 8 * (18 + SL_N_NAMES_RANKS) /* behind the head */
};

struct image {
    uint8_t bytes[1 << 16];
    size_t len;
};

static void read_image(struct image *image, const char *path)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    image->len = fread(image->bytes, 1, sizeof image->bytes, file);
    assert_true(image->len < sizeof image->bytes);
    fclose(file);
}

static void put64(struct image *image, size_t at, uint64_t value)
{
    memcpy(image->bytes + at, &value, sizeof value);
}

/* Where the index of a saved table begins, which has a checksum of its own. */
static uint64_t index_at(const struct image *image)
{
    uint64_t at;

    memcpy(&at, image->bytes + INDEX, sizeof at);
    return at;
}

/* With a checksum that is right. */
static void write_image(struct image *image, const char *path)
{
    const size_t begin = CHECKSUM + sizeof(uint64_t);
    const uint64_t body = XXH3_64bits(image->bytes + RULES, index_at(image) - RULES);
    FILE *file = fopen(path, "wb");

    put64(image, CHECKSUM, XXH3_64bits_withSeed(image->bytes + begin, RULES - begin, body));
    assert_non_null(file);
    assert_int_equal(fwrite(image->bytes, 1, image->len, file), image->len);
    assert_int_equal(fclose(file), 0);
}

/* An index that leads to more rules than there are, with all checksums right. */
static void test_forged_tables(void **state)
{
    static const char *const texts[] = {"a.test\n", "b.test\nc.test\nd.test\ne.test\nf.test\n"};
    static struct image image[2];
    char folder[] = "/tmp/sluice-names-XXXXXX", path[64];
    struct sl_diag diag = {0};
    struct sl_names *names;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t", folder);
    for (int i = 0; i < 2; i++) {
        names = make("domains", texts[i]);
        assert_int_equal(sl_names_save(names, path, &diag), SL_OK);
        sl_names_free(names);
        read_image(&image[i], path);
    }
    write_image(&image[0], path); /* which changes nothing */
    assert_int_equal(sl_names_open(&names, path, false, &diag), SL_OK);
    sl_names_free(names);

    const size_t begin = index_at(&image[0]), other = index_at(&image[1]);
    memcpy(image[0].bytes + begin, image[1].bytes + other, image[1].len - other);
    image[0].len = begin + image[1].len - other;
    put64(&image[0], LEN, image[0].len);
    write_image(&image[0], path);
    assert_int_equal(sl_names_open(&names, path, false, &diag), SL_EFORMAT);
    assert_string_equal(diag.file, path);
    assert_non_null(strstr(diag.text, "next hop that there is none of"));
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void check_forged(const struct image *forged, const char *path)
{
    static struct image image;
    struct sl_diag diag = {0};
    struct sl_names *names;

    image = *forged;
    write_image(&image, path);
    for (int updates = 0; updates < 2; updates++) {
        assert_int_equal(sl_names_open(&names, path, updates != 0, &diag), SL_EFORMAT);
        assert_string_equal(diag.text, "is damaged (parts)");
    }
}

/* Of a table without values the end of all rules is the only one, and no name leads to it. */
static void test_forged_empty_tables(void **state)
{
    static struct image good, forged;
    static const struct names_rule ends[2] = {{.last = 1}, {.last = 1}};
    enum { ONE = 16, TWO = 24 }; /* bytes that one rule and two take, padded */
    char folder[] = "/tmp/sluice-names-XXXXXX", path[64];
    struct sl_names *names = make("domains", "");
    struct sl_diag diag = {0};

    (void)state;
    save_and_free(names, folder, path);
    read_image(&good, path);
    write_image(&good, path); /* which changes nothing */
    for (int updates = 0; updates < 2; updates++) {
        assert_int_equal(sl_names_open(&names, path, updates != 0, &diag), SL_OK);
        assert_string_equal(query(names, "a.test"), "none");
        sl_names_free(names);
    }

    forged = good;
    put64(&forged, N_NAMES, 1);
    check_forged(&forged, path);
    forged = good;
    memset(forged.bytes + RULES, 0, sizeof ends[0]);
    check_forged(&forged, path);
    forged = good;
    /* The padding before the index has room for one more. */
    memmove(forged.bytes + RULES + TWO, good.bytes + RULES + ONE, index_at(&good) - RULES - TWO);
    memcpy(forged.bytes + RULES, ends, sizeof ends);
    put64(&forged, N_RULES, 2);
    check_forged(&forged, path);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* The updates of a saved table are saved again, twice. */
static void test_saved_tables_that_grow(void **state)
{
    char folder[] = "/tmp/sluice-names-XXXXXX", path[64];
    static const char *const lines[] = {"+b.test\n", "+c.test\n"};
    struct sl_names *names = make("domains", "a.test\n");
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t", folder);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sl_names_save(names, path, &diag), SL_OK);
        sl_names_free(names);
        assert_int_equal(sl_names_open(&names, path, true, &diag), SL_OK);
        assert_int_equal(sl_names_update(names, "u", "domains", lines[i], 8, 1, &updated, &diag),
                         SL_OK);
    }
    assert_int_equal(sl_names_save(names, path, &diag), SL_OK);
    sl_names_free(names);
    assert_int_equal(sl_names_open(&names, path, false, &diag), SL_OK);
    assert_string_equal(query(names, "a.test"), "block");
    assert_string_equal(query(names, "b.test"), "block");
    assert_string_equal(query(names, "c.test"), "block");
    assert_string_equal(query(names, "d.test"), "none");
    sl_names_free(names);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* Rules hold a list's number in 16 bits. */
static void test_lists_beyond_the_last(void **state)
{
    enum { LISTS = 65535 };
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};
    struct sl_names *names;

    (void)state;
    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    for (int i = 0; i < LISTS; i++)
        assert_int_equal(sl_names_load_text(names, "list", "domains", "a.test\n", 7, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "more", "domains", "b.test\n", 7, &diag), SL_EINVAL);
    assert_string_equal(diag.file, "more");
    assert_string_equal(diag.text, "a table has 65535 lists at most");
    assert_int_equal(sl_names_build(names, NULL, &diag), SL_OK);
    assert_int_equal(sl_names_update(names, "u", "domains", "+b.test\n", 8, 1, &updated, &diag),
                     SL_EINVAL);
    assert_string_equal(diag.text, "a table has 65535 lists at most");
    assert_string_equal(query(names, "a.test"), "block");
    assert_string_equal(query(names, "b.test"), "none");
    sl_names_free(names);
}

/* ---- memory ---------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY = 2000 }; /* their own memory is more than the table */
#else
enum { MANY = 300000 };
#define MEMORY_IS_THE_TABLE
#endif

/* Building takes no more than was foretold, and not much less, of names as domains are. */
static void check_estimate(const char *plane, uint32_t n_rules)
{
    const size_t cap = (size_t)n_rules * 32;
    char *text = malloc(cap);
    struct sl_diag diag = {0};
    struct sl_names *names;
    size_t len = 0;

    assert_non_null(text);
    for (uint32_t i = 0; i < n_rules; i++)
        len += (size_t)snprintf(text + len, cap - len, "/com/%012x%s\t%u\n",
                                i * UINT32_C(0x9E3779B1), i % 5 == 0 ? "/www" : "", i % 251);
    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "many", "prefix", text, len, &diag), SL_OK);
    free(text);
    const uint64_t estimate = sl_names_estimate(names, plane);
    const size_t before = test_memory_of("VmRSS:");
    test_forget_peak();
    assert_int_equal(sl_names_build(names, plane, &diag), SL_OK);
#ifdef MEMORY_IS_THE_TABLE
    const size_t taken = test_memory_of("VmHWM:") - before;

    if (taken > estimate || taken < estimate / 2)
        fail_msg("%s: %zu bytes taken, %" PRIu64 " foretold", plane, taken, estimate);
#else
    (void)estimate;
    (void)before;
#endif
    sl_names_free(names);
}

static void test_estimates(void **state)
{
    (void)state;
    check_estimate("hash", MANY);
    check_estimate("mata", MANY);
}

static void test_estimates_of_ata(void **state)
{
    (void)state;
    if (!fib_planes_has("ata"))
        test_skip("this build leaves the papers out");
    check_estimate("ata", MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_nfdc),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_adblock),
        cmocka_unit_test(test_dnsmasq),
        cmocka_unit_test(test_unbound),
        cmocka_unit_test(test_rpz),
        cmocka_unit_test(test_formats_are_named),
        cmocka_unit_test(test_ignored_lines_are_reported),
        cmocka_unit_test(test_wrong_lines_are_not_skipped),
        cmocka_unit_test(test_unanchored_filters_show_adblock),
        cmocka_unit_test(test_lists_without_a_rule),
        cmocka_unit_test(test_lookups_equal_a_scan),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_lookups_during_updates),
        cmocka_unit_test(test_what_gpus_see_stays_until_it_is_published),
        cmocka_unit_test(test_saved_tables),
        cmocka_unit_test(test_forged_tables),
        cmocka_unit_test(test_forged_empty_tables),
        cmocka_unit_test(test_saved_tables_that_grow),
        cmocka_unit_test(test_lists_beyond_the_last),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_estimates_of_ata),
    };

    test_threaded("test_lookups_during_updates");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
