/* SPDX-License-Identifier: MIT */
/* Automata, required literals and possessive repeats against PCRE2: of each construct, and of
 * random expressions. Texts are random, over so few bytes that expressions match. */
#include "automaton_judge.h"
#include "test.h"

enum { EXPRESSION_MAX = 64, TEXTS = 40, TEXT_MAX = 24, EXPRESSIONS = 4000 };

static uint64_t seed = 88172645463325252;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

/* Tries random texts. */
static void judge_texts(struct judge *judge, const char *expression)
{
    static const char bytes[] = "aaaabbbcA1 \n\n-\x80";

    for (int i = 0; i < TEXTS; i++) {
        uint8_t text[TEXT_MAX];
        const uint32_t len = below(TEXT_MAX);

        for (uint32_t k = 0; k < len; k++)
            text[k] = (uint8_t)bytes[below(sizeof bytes - 1)];
        if (judge_try(judge, text, len) != 0)
            fail_msg("/%s/ is wrong in \"%.*s\"", expression, (int)len, (const char *)text);
    }
}

static void test_constructs_are_followed(void **state)
{
    static const struct {
        const char *expression;
        uint32_t options;
        bool made, exact;
    } cases[] = {
        {"ab", 0, true, true},
        {"a|bc|", 0, false, false}, /* matches everywhere */
        {"(?:a|bb)+c", RULE_CASELESS, true, true},
        {"a{2}b{1,3}c{0,2}1{2,}", 0, true, true},
        {"(?:a?b*){2,4}c", 0, true, true},
        {"a{300}", 0, true, false},
        {"a{,2}", 0, false, false}, /* as PCRE2's version has it */
        {"x{", 0, true, true},
        {".", 0, true, true},
        {".", RULE_DOTALL, true, true},
        {"[^a-c\\d\\n]", 0, true, true},
        {"[]a-]|[^]a]", 0, true, true},
        {"[[:alpha:]b-][[:^digit:]]", RULE_CASELESS, true, true},
        {"\\x61\\x{62}\\W\\S\\D|\\h\\v|\\061", 0, true, true},
        {"^a|b$", 0, true, true},
        {"^a$", RULE_MULTILINE, true, true},
        {"b$", RULE_DOLLAR_ENDONLY, true, true},
        {"^$|a", 0, true, true},
        {"a^b|\\na$\\n", RULE_MULTILINE, true, false},
        {"(?i)a(?-i)b|A(?s:.)b", 0, true, true},
        {"a b # c", RULE_EXTENDED, true, true},
        {"a\x85?b\\  #\n*c+ ?b", RULE_EXTENDED, true, true},
        {"a+ +b", RULE_EXTENDED, true, false},
        {"ab(?#text)*c|b(?x)(?#text) \\n+(?#text)?b", 0, true, true},
        {"(?xx)[^ a]b", 0, false, false},
        {"(?#text)a(?<name>b)(?P<n2>c)?(?'n3'a)", 0, true, true},
        {"a++b|(?>a|ab)b", 0, true, false},
        {"a(?=b)|(?<!a)b|\\bc|a\\B", 0, true, false},
        {"(a|b)\\1|(?P<n>a)(?P=n)", 0, true, false},
        {"(a(?1)?b)", 0, false, false},
        {"(?(?=a)ab|b)", 0, false, false},
        {"a(*SKIP)b", 0, false, false},
        {"\\Qa.b\\E", 0, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct judge judge;

        assert_true(
            judge_open(&judge, cases[i].expression, strlen(cases[i].expression), cases[i].options));
        print_message("/%s/\n", cases[i].expression);
        assert_int_equal(judge.automaton != NULL, cases[i].made);
        if (judge.automaton != NULL)
            assert_int_equal(automaton_is_exact(judge.automaton, false), cases[i].exact);
        judge_texts(&judge, cases[i].expression);
        judge_close(&judge);
    }
}

/* Pieces that stand side by side, inside groups, and before quantifiers. */
static void write_expression(char *text)
{
    static const char *const pieces[] = {
        "a",    "b",   "c",    "1",   "[ab]", "[^a]", ".",      "\\w",  "\\s",   "\\n",  "(",  ")",
        "(?:",  "|",   "^",    "$",   "*",    "+",    "?",      "{2}",  "{0,3}", "{2,}", "*?", "++",
        "(?i)", "(?=", "(?<!", "\\b", "\\1",  "(?>",  "[\\d-]", "(?m)", "\\x80", "(?#)",
    };

    char *end = text;

    for (uint32_t n = 1 + below(9); n > 0; n--)
        end = stpcpy(end, pieces[below(sizeof pieces / sizeof pieces[0])]);
    memset(end, ')', 2);
    end[below(3)] = '\0';
}

static void test_random_expressions_are_followed(void **state)
{
    uint32_t n_made = 0, n_exact = 0;
    size_t n_matches = 0, n_denied = 0;

    (void)state;
    for (uint32_t i = 0; i < EXPRESSIONS;) {
        char text[EXPRESSION_MAX];
        struct judge judge;

        write_expression(text);
        if (!judge_open(&judge, text, strlen(text), below(128) & ~(uint32_t)RULE_ANCHORED))
            continue;
        i++;
        n_made += judge.automaton != NULL;
        n_exact += judge.automaton != NULL && automaton_is_exact(judge.automaton, false);
        judge_texts(&judge, text);
        n_matches += judge.n_matches;
        n_denied += judge.n_denied;
        judge_close(&judge);
    }
    print_message("%u automata, %u exact\n", n_made, n_exact);
    print_message("%zu matches with required literals, %zu places without\n", n_matches, n_denied);
    assert_in_range(n_matches, 10000, SIZE_MAX);
    assert_in_range(n_denied, 10000, SIZE_MAX);
    assert_in_range(n_made, EXPRESSIONS / 4, EXPRESSIONS);
    assert_in_range(n_exact, EXPRESSIONS / 8, EXPRESSIONS);
}

/* The repeats that give nothing back, and no others. */
static void test_repeats_are_made_possessive(void **state)
{
    static const struct {
        const char *text, *made;
    } cases[] = {
        {"\\w+=", "\\w++="},
        {"\\w+1", "\\w+1"}, /* a word may end with it */
        {"\\w+", "\\w+"},   /* anything may follow the match */
        {"\\w+\\s*;", "\\w++\\s*+;"},
        {"\\w+\\b;", "\\w+\\b;"}, /* an assertion sees what is before it */
        {"a*?b", "a*?b"},
        {"a{2,}b{3}c?d", "a{2,}+b{3}+c?+d"},
        {"a+b.*c+d", "a++b.*c+d"}, /* the second is tried behind each byte */
        {"(a+b|ac+d)e*f", "(a++b|ac++d)e*f"},
        {"(a+b|c+d)e*f", "(a++b|c++d)e*+f"},
        {"(?:a+b)+c", "(?:a+b)+c"},
        {"(a+)x\\1", "(a++)x\\1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len;
        char *made = possessive_text(cases[i].text, strlen(cases[i].text), 0, &len);

        assert_non_null(made);
        assert_int_equal(len, strlen(cases[i].made));
        assert_memory_equal(made, cases[i].made, len);
        free(made);
    }
}

/* A text lacks the literals that each match holds, or has them in another order. */
static void test_literals_are_required(void **state)
{
    enum { HAS_NONE, MISSES, ALLOWS };
    static const struct {
        const char *expression, *text;
        uint32_t options;
        int expected;
    } cases[] = {
        {"ab\\s*cd", "-ab-cd-", 0, ALLOWS},
        {"ab\\s*cd", "-ab-", 0, MISSES},
        {"ab\\s*cd", "-cd-ab-", 0, MISSES}, /* each is behind the one before, */
        {"ab\\s*bc", "-abc-", 0, MISSES},   /* and shares no byte with it */
        {"ab\\s*ab", "-ab-ab", 0, ALLOWS},
        {"ab\\s*ab", "-ab-a", 0, MISSES},
        {"aB-", "Ab-", 0, MISSES},
        {"aB-", "Ab-", RULE_CASELESS, ALLOWS},
        {"aB[-_]", "Ab", RULE_CASELESS, ALLOWS},
        {"(?i)a(?-i)B", "A-b", 0, MISSES},
        {"[aA]B", "AB", 0, ALLOWS},
        {"[aA][[]", "A[", 0, ALLOWS},
        {"[aA][[]", "A{", 0, MISSES},
        {"ab+c", "abbbc", 0, ALLOWS},
        {"ab+c", "aabb", 0, MISSES},
        {"a{2}b", "a-b", 0, ALLOWS}, /* a repeat counts once */
        {"0123456789012345678901234567890123456789", "-0123456789012345678901234567890123456789", 0,
         ALLOWS},
        {"0123456789012345678901234567890123456789", "-012345678901234567890123456789012345678", 0,
         MISSES},
        {"a.b.c.d.e.f.g.h.i", "abcdefgh", 0, ALLOWS}, /* the first eight count */
        {"a.b.c.d.e.f.g.h.i", "abcdefgi", 0, MISSES},
        {"ab|cd", "", 0, HAS_NONE},
        {"(?:ab|cd)e?f*g{0,2}(?:hi)*(?=j)(?<!k)[lm]", "", 0, HAS_NONE},
        {"ab\\Kcd", "", 0, HAS_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t len = strlen(cases[i].text);
        uint64_t effort = UINT64_MAX;
        struct judge judge;

        print_message("/%s/ in \"%s\"\n", cases[i].expression, cases[i].text);
        assert_true(
            judge_open(&judge, cases[i].expression, strlen(cases[i].expression), cases[i].options));
        assert_int_equal(judge.required == NULL, cases[i].expected == HAS_NONE);
        if (judge.required != NULL)
            assert_int_equal(
                required_allow(judge.required, (const uint8_t *)cases[i].text, len, &effort),
                cases[i].expected == ALLOWS);
        judge_close(&judge);
    }
}

/* A search for literals that may not go on says nothing. */
static void test_effort_ends_a_search(void **state)
{
    static uint8_t text[4000];
    uint64_t effort = 4000;
    struct judge judge;

    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(judge_open(&judge, "ab\\s*c", 7, 0));
    assert_false(required_allow(judge.required, text, sizeof text, &effort));
    assert_in_range(effort, 2000, 3000);
    effort = 400;
    assert_true(required_allow(judge.required, text, sizeof text, &effort));
    assert_int_equal(effort, 0);
    judge_close(&judge);
}

/* The effort of a run is bounded. */
static void test_effort_ends_a_run(void **state)
{
    static const char text[] = "abababababababab";
    uint64_t starts[1], effort = 100;
    struct judge judge;

    (void)state;
    assert_true(judge_open(&judge, "(?:a|b|ab|ba)+c", 15, 0));
    starts[0] = 0;
    assert_true(
        automaton_run(judge.automaton, (const uint8_t *)text, 0, 1, false, starts, &effort));
    assert_in_range(effort, 1, 99);
    effort = 10;
    assert_false(
        automaton_run(judge.automaton, (const uint8_t *)text, 0, 16, false, starts, &effort));
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructs_are_followed),
        cmocka_unit_test(test_random_expressions_are_followed),
        cmocka_unit_test(test_repeats_are_made_possessive),
        cmocka_unit_test(test_literals_are_required),
        cmocka_unit_test(test_effort_ends_a_search),
        cmocka_unit_test(test_effort_ends_a_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
