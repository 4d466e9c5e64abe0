/* SPDX-License-Identifier: MIT */
/* The grammar of rules: malformed.rules has rules that the manuals do not allow, wellformed.rules
 * has rules that look odd and are allowed. */
#include "test.h"

#include "sluice/detect.h"

static const char *folder;

static char *read_rules(const char *name)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", folder, name);

    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
    fclose(file);
    return text;
}

static struct sl_rules *load(const char *text, size_t len, struct sl_rules_count *count)
{
    struct sl_rules *rules;
    struct sl_diag diag;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    const enum sl_status status = sl_rules_load_text(rules, "x.rules", text, len, &diag);
    sl_rules_count(rules, count);
    assert_int_equal(status, count->bad != 0 && count->loaded == 0 ? SL_EFORMAT : SL_OK);
    return rules;
}

/* The end of the line that begins at `at`, behind its '\n'. */
static const char *line_end(const char *at)
{
    const char *end = strchr(at, '\n');

    return end != NULL ? end + 1 : at + strlen(at);
}

static bool is_caret(const char *line, const char *end)
{
    return line[0] == '#' && end - line >= 2 && end[-2] == '^';
}

/* Each rule is bad, at the byte over the caret. */
static void test_malformed_rules_are_bad(void **state)
{
    char *text = read_rules("malformed.rules");
    struct sl_rules_count count;
    struct sl_rules *rules = load(text, strlen(text), &count);
    size_t n = 0, n_wrong = 0;
    uint32_t number = 1;

    (void)state;
    for (const char *line = text; *line != '\0'; line = line_end(line), number++) {
        const char *end = line_end(line);

        if (!is_caret(line, end))
            continue;

        const struct sl_diag *diag = sl_rules_bad_line(rules, n++);
        if (diag == NULL || diag->line != number - 1 || diag->column != end - line - 1) {
            print_error("line %u: %.*s", number, (int)(end - line), line);
            if (diag != NULL)
                print_error("%u:%u: %s\n", diag->line, diag->column, diag->text);
            n_wrong++;
        }
    }
    assert_int_equal(n_wrong, 0);
    assert_in_range(n, 140, SIZE_MAX);
    assert_int_equal(count.bad, n);
    assert_int_equal(count.lines, n);
    sl_rules_free(rules);
    free(text);
}

/* Each rule is bad alone, too: no rule before or behind it makes it so. */
static void test_each_malformed_rule_is_bad(void **state)
{
    char *text = read_rules("malformed.rules");
    const char *begin = text;
    size_t n = 0;

    (void)state;
    while (*begin != '\0') {
        const char *gap = strstr(begin, "\n\n");
        const size_t len = gap != NULL ? (size_t)(gap - begin) : strlen(begin);
        struct sl_rules_count count;

        if (memmem(begin, len, "^", 1) != NULL) {
            sl_rules_free(load(begin, len, &count));
            assert_int_equal(count.lines, 1);
            assert_int_equal(count.bad, 1);
            n++;
        }
        begin += gap != NULL ? len + 2 : len;
    }
    assert_in_range(n, 140, SIZE_MAX);
    free(text);
}

static void test_well_formed_rules_are_loaded(void **state)
{
    char *text = read_rules("wellformed.rules");
    struct sl_rules_count count;
    struct sl_rules *rules = load(text, strlen(text), &count);
    const struct sl_diag *diag;

    (void)state;
    for (size_t i = 0; (diag = sl_rules_bad_line(rules, i)) != NULL; i++)
        print_error("%u:%u: %s\n", diag->line, diag->column, diag->text);
    for (size_t i = 0; (diag = sl_rules_skipped_rule(rules, i)) != NULL; i++)
        print_error("%u: skipped for %s\n", diag->line, diag->text);
    assert_in_range(count.loaded, 79, SIZE_MAX);
    assert_int_equal(count.loaded, count.lines);
    sl_rules_free(rules);
    free(text);
}

/* Whether this byte of a rule is a quote or semicolon of its syntax. */
static bool is_mark(const char *text, size_t i)
{
    return (text[i] == '"' || text[i] == ';') && (i == 0 || text[i - 1] != '\\');
}

/* A rule without one of its quotes or semicolons is never loaded. */
static void test_no_mark_can_be_left_out(void **state)
{
    static const char *const rules[] = {
        "alert tcp any any -> any any (msg:\"a b\"; content:\"c\"; depth:9; nocase; sid:1; rev:2;)",
        "alert tcp any any -> any any (sid:1; content:!\"a|20|b\"; content:\"c\"; msg:\"d\";)",
        "alert tcp any any -> any any (msg:\"a\"; metadata:b c, d e; reference:url,f.g/h; "
        "classtype:misc-attack; content:\"i\"; priority:3; sid:1;)",
        "alert tcp any any -> any 80 (flow:established,to_server; flags:A; dsize:>9; ttl:<9; "
        "isdataat:9,relative; target:src_ip; content:\"a\"; fast_pattern; gid:1; sid:1;)",
        "alert tcp (msg:\"a\"; content:\"b\",nocase,depth 9; service:http; rem; sid:1;)",
        "alert http any any -> any any (msg:\"a\"; http.uri; content:\"b\"; pcre:\"/c/\"; sid:1;)",
    };
    struct sl_rules_count count;
    char text[512];

    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        const size_t len = strlen(rules[r]);

        for (size_t i = 0; i < len; i++) {
            if (!is_mark(rules[r], i))
                continue;
            memcpy(text, rules[r], i);
            memcpy(text + i, rules[r] + i + 1, len - i - 1);
            sl_rules_free(load(text, len - 1, &count));
            if (count.bad != 1)
                print_error("%.*s\n", (int)len - 1, text);
            assert_int_equal(count.bad, 1);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_rules_are_bad),
        cmocka_unit_test(test_each_malformed_rule_is_bad),
        cmocka_unit_test(test_well_formed_rules_are_loaded),
        cmocka_unit_test(test_no_mark_can_be_left_out),
    };

    if (argc != 2)
        return 1;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
