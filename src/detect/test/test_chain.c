/* SPDX-License-Identifier: MIT */
/* The walk over a payload against its definition: all combinations of occurrences are tried. Rules
 * and payloads are random, over an alphabet so small that contents occur in many places. */
#include "detect_fixture.h"

enum { STEPS_MAX = 5, PAYLOAD_MAX = 14, ROUNDS = 6000, PAYLOADS = 8, NAMES_MAX = 2 };

enum step_kind {
    CONTENT,
    DATA_AT,
    BYTE_TEST,
    BYTE_JUMP,
    BYTE_EXTRACT,
    BYTE_MATH,
    EXPRESSION,
    BASE64
};

/* An option of the rule's text. */
struct step {
    enum step_kind kind;
    bool negated, nocase, relative, has_begin, has_end, at_end;
    int begin; /* offset, distance, or isdataat's number */
    int reach; /* depth or within */
    char text[4];
    /* A name in place of `begin`, of `reach` or of `operand`: 0 or 1; -1: none. */
    int begin_name, reach_name, operand_name;
    int count; /* bytes of a number */
    bool digits, little, from_begin, from_end;
    const char *sign; /* of a comparison or a calculation */
    int operand;      /* what is compared, post_offset, or the right side */
    int result;       /* the name that is set */
    const char *expression;
};

struct chain {
    struct step step[STEPS_MAX];
    size_t n;
    bool snort3;
};

/* A payload while options are tried on it. */
struct trial {
    const char *payload;
    int len, cursor;
    int64_t named[NAMES_MAX];
};

static bool same_byte(char a, char b, bool nocase)
{
    if (nocase) {
        a = (char)(a >= 'A' && a <= 'Z' ? a + 32 : a);
        b = (char)(b >= 'A' && b <= 'Z' ? b + 32 : b);
    }
    return a == b;
}

static int64_t named(const struct trial *trial, int name, int number)
{
    return name >= 0 ? trial->named[name] : number;
}

/* Whether the content occurs at `at`. */
static bool occurs(const struct step *step, const struct trial *trial, int at)
{
    const int n = (int)strlen(step->text);
    const int64_t begin = (step->relative ? trial->cursor : 0) +
                          (step->has_begin ? named(trial, step->begin_name, step->begin) : 0);

    if (at + n > trial->len || at < begin ||
        (step->has_end && at + n > begin + named(trial, step->reach_name, step->reach)) ||
        (step->at_end && at + n != trial->len))
        return false;
    for (int i = 0; i < n; i++)
        if (!same_byte(trial->payload[at + i], step->text[i], step->nocase))
            return false;
    return true;
}

static bool data_is_at(const struct chain *chain, const struct step *step,
                       const struct trial *trial)
{
    const int64_t number = named(trial, step->begin_name, step->begin);

    if (number < 0)
        return false;
    if (!step->relative)
        return number < trial->len;
    if (chain->snort3 || (step->begin_name < 0 && number == 0))
        return trial->cursor + number < trial->len;
    return trial->cursor + number <= trial->len;
}

/* The number of a byte option; `taken` are its bytes. False: there is none. */
static bool number_at(const struct chain *chain, const struct step *step, const struct trial *trial,
                      int64_t *at, int *taken, int64_t *number)
{
    int n = step->count;

    *at = (step->relative ? trial->cursor : 0) + named(trial, step->begin_name, step->begin);
    *number = *taken = 0;
    if (chain->snort3 && step->digits && *at + n > trial->len)
        n = (int)(trial->len - *at);
    if (*at < 0 || n <= 0 || *at + n > trial->len)
        return false;
    if (!step->digits) {
        for (int i = 0; i < n; i++)
            *number = *number * 256 + (uint8_t)trial->payload[*at + (step->little ? n - 1 - i : i)];
        *taken = n;
        return true;
    }
    for (; *taken < n; ++*taken) {
        const char c = trial->payload[*at + *taken];

        if (c < '0' || c > '9')
            break;
        *number = *number * 10 + (c - '0');
    }
    return *taken != 0;
}

static bool compares(const struct step *step, int64_t left, int64_t right)
{
    switch (step->sign[0]) { /* without a sign bit */
    case '<':
        return (uint64_t)left < (uint64_t)right;
    case '>':
        return (uint64_t)left > (uint64_t)right;
    case '&':
        return (left & right) != 0;
    }
    return left == right;
}

/* Whether the byte is the character, or of the class "[ab]", that begins an expression. */
static bool takes_byte(const char *expression, size_t n, char byte)
{
    return memchr(expression, byte, n) != NULL && strchr("[]", byte) == NULL;
}

/* The end of the first match, in the order of trials of Perl, that begins at `at`; -1: none. */
static int match_end(const char *expression, const char *subject, int len, int at)
{
    const size_t n = expression[0] == '[' ? strcspn(expression, "]") + 1 : 1;
    const char quantifier = expression[0] != '\0' ? expression[n] : '\0';
    const bool many = quantifier == '+', maybe = quantifier == '?';

    if (expression[0] == '\0')
        return at;
    if (expression[0] == '<') /* here for "(?<=[ab])" */
        return at > 0 && (subject[at - 1] == 'a' || subject[at - 1] == 'b')
                   ? match_end(expression + 1, subject, len, at)
                   : -1;
    if (expression[0] == '^')
        return at == 0 ? match_end(expression + 1, subject, len, at) : -1;
    if (at < len && takes_byte(expression, n, subject[at])) {
        const int more = many ? match_end(expression, subject, len, at + 1) : -1;
        const int end =
            more >= 0 ? more : match_end(expression + n + (many || maybe), subject, len, at + 1);

        if (end >= 0)
            return end;
    }
    return maybe ? match_end(expression + n + 1, subject, len, at) : -1;
}

static bool holds(const struct chain *chain, size_t i, struct trial trial);

/* Whether step i, an expression, and all later ones hold. */
static bool expression_holds(const struct chain *chain, size_t i, struct trial trial)
{
    const struct step *step = &chain->step[i];
    const int base = step->relative ? trial.cursor : 0;
    bool found = false;

    for (int at = base; at <= trial.len; at++) {
        const int end =
            match_end(step->expression, trial.payload + base, trial.len - base, at - base);
        struct trial next = trial;

        if (end < 0)
            continue;
        found = true;
        next.cursor = base + end;
        if (!step->negated && holds(chain, i + 1, next))
            return true;
    }
    return step->negated && !found && holds(chain, i + 1, trial);
}

/* Whether step i, which reads a number, and all later ones hold. */
static bool number_holds(const struct chain *chain, size_t i, struct trial trial)
{
    const struct step *step = &chain->step[i];
    int64_t at, number;
    int taken;

    if (!number_at(chain, step, &trial, &at, &taken, &number))
        return false;

    const int64_t operand = named(&trial, step->operand_name, step->operand);

    if (step->kind == BYTE_TEST)
        return compares(step, number, operand) != step->negated && holds(chain, i + 1, trial);
    if (step->kind == BYTE_JUMP) {
        int64_t to = step->from_begin ? 0 : step->from_end ? trial.len : at + taken;

        to += number + operand;
        if (to > trial.len || (to < 0 && chain->snort3))
            return false;
        trial.cursor = to < 0 ? 0 : (int)to;
        return holds(chain, i + 1, trial);
    }
    if (step->kind == BYTE_MATH) {
        if (step->sign[0] == '-' && chain->snort3 && number < operand)
            return false;
        number = step->sign[0] == '-' ? number - operand : number + operand;
    }
    trial.named[step->result] = number;
    if (step->kind != BYTE_MATH || !chain->snort3)
        trial.cursor = (int)at + taken;
    return holds(chain, i + 1, trial);
}

/* Whether the byte `reach` of what is decoded is above `operand`. It is the last step. */
static bool base64_holds(const struct chain *chain, const struct step *step,
                         const struct trial *trial)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const int begin = (step->relative ? trial->cursor : 0) + step->begin;
    int value[PAYLOAD_MAX], n = 0, byte = 0;

    for (int at = begin; at < trial->len && (step->count == 0 || at < begin + step->count); at++) {
        const char *letter = strchr(letters, trial->payload[at]);

        if (letter == NULL && !chain->snort3)
            break;
        if (letter != NULL)
            value[n++] = (int)(letter - letters);
    }
    const int n_bytes = chain->snort3 ? n / 4 * 3 : n % 4 == 1 ? 0 : n * 6 / 8;

    for (int bit = 8 * step->reach; step->reach < n_bytes && bit < 8 * step->reach + 8; bit++)
        byte = byte << 1 | (value[bit / 6] >> (5 - bit % 6) & 1);
    return step->reach < n_bytes && byte > step->operand;
}

static bool holds(const struct chain *chain, size_t i, struct trial trial)
{
    const struct step *step = &chain->step[i];
    bool found = false;

    if (i == chain->n)
        return true;
    if (step->kind == DATA_AT)
        return data_is_at(chain, step, &trial) != step->negated && holds(chain, i + 1, trial);
    if (step->kind == EXPRESSION)
        return expression_holds(chain, i, trial);
    if (step->kind == BASE64)
        return base64_holds(chain, step, &trial);
    if (step->kind != CONTENT)
        return number_holds(chain, i, trial);
    for (int at = 0; at < trial.len; at++) {
        struct trial next = trial;

        if (!occurs(step, &trial, at))
            continue;
        found = true;
        next.cursor = at + (int)strlen(step->text);
        if (!step->negated && holds(chain, i + 1, next))
            return true;
    }
    return step->negated && !found && holds(chain, i + 1, trial);
}

static void random_text(uint64_t *seed, char *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        text[i] = "aaabbA123\1\2\3"[test_below(seed, 12)];
    text[len] = '\0';
}

static void random_content(uint64_t *seed, struct step *step)
{
    for (uint32_t i = 0, n = 1 + test_below(seed, 3); i < n; i++)
        step->text[i] = "aaabbA"[test_below(seed, 6)];
    step->negated = test_below(seed, 3) == 0;
    step->has_begin = step->relative || test_below(seed, 2) == 0;
    step->has_end = test_below(seed, 2) == 0;
    step->at_end = test_below(seed, 6) == 0;
    step->begin = (int)test_below(seed, 5) - (step->relative ? 3 : 0);
    step->reach = (int)strlen(step->text) + (int)test_below(seed, 4);
    if (step->relative && step->has_end && test_below(seed, 2) == 0) {
        step->has_begin = false;
        step->begin = 0;
    }
}

static void random_number(uint64_t *seed, struct step *step)
{
    static const char *const comparisons[] = {"<", ">", "=", "&"};

    step->digits = test_below(seed, 2) == 0;
    step->count = 1 + (int)test_below(seed, 2);
    step->little = !step->digits && test_below(seed, 2) == 0;
    step->begin = (int)test_below(seed, 4) - (step->relative ? 2 : 0);
    if (step->kind == BYTE_TEST) {
        step->negated = test_below(seed, 3) == 0;
        step->sign = comparisons[test_below(seed, 4)];
        step->operand = (int)test_below(seed, 4);
    } else if (step->kind == BYTE_JUMP) {
        step->operand = (int)test_below(seed, 4) - 2;
        step->from_begin = test_below(seed, 4) == 0;
        step->from_end = !step->from_begin && test_below(seed, 4) == 0;
        step->operand -= step->from_end ? 5 : 0;
    } else {
        step->sign = test_below(seed, 2) == 0 ? "+" : "-";
        step->operand = (int)test_below(seed, 3);
    }
}

/* `set` are the names that are set, a bit each. */
static int random_name(uint64_t *seed, unsigned set)
{
    const int name = (int)test_below(seed, NAMES_MAX);

    return (set >> name & 1) != 0 && test_below(seed, 2) == 0 ? name : -1;
}

static void random_step(uint64_t *seed, struct step *step, unsigned *set)
{
    static const enum step_kind kinds[] = {CONTENT,   CONTENT,    CONTENT,   CONTENT,
                                           DATA_AT,   BYTE_TEST,  BYTE_JUMP, BYTE_EXTRACT,
                                           BYTE_MATH, EXPRESSION, EXPRESSION};
    static const char *const expressions[] = {"a",   "ab?",    "[ab]+b", "^[ab]", "^A?a", "b?",
                                              "a+b", "[ab]?a", "1?2?3",  "b[12]", "<a",   "<b+a"};

    *step = (struct step){.kind = kinds[test_below(seed, sizeof kinds / sizeof kinds[0])],
                          .nocase = test_below(seed, 3) == 0,
                          .relative = test_below(seed, 4) != 0,
                          .begin_name = random_name(seed, *set),
                          .reach_name = random_name(seed, *set),
                          .operand_name = random_name(seed, *set)};
    if (step->kind == CONTENT) {
        random_content(seed, step);
    } else if (step->kind == EXPRESSION) {
        step->negated = test_below(seed, 3) == 0;
        step->expression = expressions[test_below(seed, 12)];
    } else if (step->kind == DATA_AT) {
        step->negated = test_below(seed, 3) == 0;
        step->begin = (int)test_below(seed, 5);
    } else {
        random_number(seed, step);
    }
    if (step->kind == BYTE_JUMP)
        step->operand_name = -1;
    if (step->kind == BYTE_EXTRACT)
        step->begin_name = -1;
    if (step->kind == BYTE_EXTRACT || step->kind == BYTE_MATH) {
        step->result = (int)test_below(seed, NAMES_MAX);
        *set |= 1u << step->result;
    }
}

static void random_base64(uint64_t *seed, struct step *step)
{
    *step = (struct step){.kind = BASE64,
                          .relative = test_below(seed, 2) == 0,
                          .begin = (int)test_below(seed, 3),
                          .count = (int)test_below(seed, 12),
                          .reach = (int)test_below(seed, 4),
                          .operand = 60 + (int)test_below(seed, 120)};
}

/* A number, or the name in its place. */
static const char *value_text(char *text, int name, int number)
{
    if (name >= 0)
        sprintf(text, "n%d", name);
    else
        sprintf(text, "%d", number);
    return text;
}

static char *put_content(char *at, const struct step *step, bool snort3)
{
    const char *open = snort3 ? "," : "; ", *colon = snort3 ? " " : ":";
    char text[16];

    at += sprintf(at, "content:%s\"%s\"", step->negated ? "!" : "", step->text);
    if (step->nocase)
        at += sprintf(at, "%snocase", open);
    if (step->has_begin)
        at += sprintf(at, "%s%s%s%s", open, step->relative ? "distance" : "offset", colon,
                      value_text(text, step->begin_name, step->begin));
    if (step->has_end)
        at += sprintf(at, "%s%s%s%s", open, step->relative ? "within" : "depth", colon,
                      value_text(text, step->reach_name, step->reach));
    if (step->at_end)
        at += sprintf(at, "; endswith");
    return at + sprintf(at, "; ");
}

static char *put_number(char *at, const struct step *step)
{
    char begin[16], operand[16];

    value_text(begin, step->begin_name, step->begin);
    value_text(operand, step->operand_name, step->operand);
    if (step->kind == BYTE_TEST)
        at += sprintf(at, "byte_test:%d,%s%s,%s,%s", step->count, step->negated ? "!" : "",
                      step->sign, operand, begin);
    else if (step->kind == BYTE_JUMP)
        at += sprintf(at, "byte_jump:%d,%s,post_offset %s%s%s", step->count, begin, operand,
                      step->from_begin ? ",from_beginning" : "", step->from_end ? ",from_end" : "");
    else if (step->kind == BYTE_EXTRACT)
        at += sprintf(at, "byte_extract:%d,%s,n%d", step->count, begin, step->result);
    else
        at += sprintf(at, "byte_math:bytes %d,offset %s,oper %s,rvalue %s,result n%d", step->count,
                      begin, step->sign, operand, step->result);
    if (step->digits)
        at += sprintf(at, step->kind == BYTE_MATH ? ",string dec" : ",string,dec");
    if (step->little)
        at += sprintf(at, step->kind == BYTE_MATH ? ",endian little" : ",little");
    return at + sprintf(at, "%s; ", step->relative ? ",relative" : "");
}

static char *put_base64(char *at, const struct step *step)
{
    at += sprintf(at, "base64_decode:offset %d%s", step->begin, step->relative ? ",relative" : "");
    if (step->count != 0)
        at += sprintf(at, ", bytes %d", step->count);
    return at + sprintf(at, "; base64_data; byte_test:1,>,%d,%d; ", step->operand, step->reach);
}

/* An option's text, of Suricata or of Snort 3. */
static char *put_step(char *at, const struct step *step, bool snort3)
{
    char text[16];

    if (step->kind == CONTENT)
        return put_content(at, step, snort3);
    if (step->kind == EXPRESSION)
        return at + sprintf(at, "pcre:%s\"/%s%s/%s\"; ", step->negated ? "!" : "",
                            step->expression[0] == '<' ? "(?<=[ab])" : "",
                            step->expression + (step->expression[0] == '<'),
                            step->relative ? "R" : "");
    if (step->kind == BASE64)
        return put_base64(at, step);
    if (step->kind == DATA_AT)
        return at + sprintf(at, "isdataat:%s%s%s; ", step->negated ? "!" : "",
                            value_text(text, step->begin_name, step->begin),
                            step->relative ? ",relative" : "");
    return put_number(at, step);
}

static void put_rule(char *at, const struct chain *chain)
{
    at += sprintf(at, "alert tcp any any -> any any (");
    if (chain->snort3)
        at += sprintf(at, "service:x; ");
    for (size_t i = 0; i < chain->n; i++)
        at = put_step(at, &chain->step[i], chain->snort3);
    sprintf(at, "sid:1;)");
}

static void test_random_chains(void **state)
{
    uint64_t seed = 20240501;
    size_t n_matches = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct chain chain = {.n = 1 + test_below(&seed, STEPS_MAX),
                              .snort3 = test_below(&seed, 2) == 0};
        struct sl_batch *batch = fixture_batch(PAYLOADS);
        char rule[1024], payload[PAYLOADS][PAYLOAD_MAX + 1];
        size_t n, at = 0;

        unsigned set = 0;

        for (size_t i = 0; i < chain.n; i++)
            random_step(&seed, &chain.step[i], &set);
        if (test_below(&seed, 4) == 0)
            random_base64(&seed, &chain.step[chain.n - 1]);
        put_rule(rule, &chain);
        for (uint32_t i = 0; i < PAYLOADS; i++) {
            random_text(&seed, payload[i], test_below(&seed, PAYLOAD_MAX + 1));
            add_packet(batch, &(struct packet){.payload = payload[i]});
        }
        dissect_batch(batch);

        struct sl_rules *rules = load_rules(rule);
        struct sl_alert *alerts = alerts_of(rules, batch, &n);

        for (uint32_t i = 0; i < PAYLOADS; i++) {
            const struct trial trial = {.payload = payload[i], .len = (int)strlen(payload[i])};
            const bool expected = holds(&chain, 0, trial);
            const bool found = at < n && alerts[at].item == i;

            if (found != expected)
                fail_msg("%s on \"%s\": %s", rule, payload[i],
                         expected ? "does not match" : "matches");
            at += found;
            n_matches += found;
        }
        free(alerts);
        sl_batch_free(batch);
        sl_rules_free(rules);
    }
    /* Random rules that never or always match would prove nothing. */
    assert_in_range(n_matches, ROUNDS * PAYLOADS / 10, ROUNDS * PAYLOADS * 9 / 10);
}

/* ---- many occurrences ------------------------------------------------------------------------ */

enum { LONG_STEPS = 4, LONG_MAX = 400, LONG_ROUNDS = 3000 };

/* The same for contents in a long payload. What failed from a cursor is not tried again. */
static bool holds_far(const struct chain *chain, size_t i, struct trial trial,
                      bool failed[LONG_STEPS][LONG_MAX + 1])
{
    const struct step *step = &chain->step[i];
    bool found = false;

    if (i == chain->n)
        return true;
    if (failed[i][trial.cursor])
        return false;
    failed[i][trial.cursor] = true;
    if (step->kind == DATA_AT)
        return data_is_at(chain, step, &trial) != step->negated &&
               holds_far(chain, i + 1, trial, failed);
    for (int at = 0; at < trial.len; at++) {
        struct trial next = trial;

        if (!occurs(step, &trial, at))
            continue;
        found = true;
        next.cursor = at + (int)strlen(step->text);
        if (!step->negated && holds_far(chain, i + 1, next, failed))
            return true;
    }
    return step->negated && !found && holds_far(chain, i + 1, trial, failed);
}

/* A text of mostly one letter, and of letters that are rarer: they end a chain, or do not. */
static uint32_t random_long_text(uint64_t *seed, char *text)
{
    const uint32_t len = LONG_MAX / 4 + test_below(seed, LONG_MAX * 3 / 4);
    const uint32_t rarity = 2 + test_below(seed, 60);

    for (uint32_t i = 0; i < len; i++)
        text[i] = test_below(seed, rarity) != 0 ? 'a' : "bbA"[test_below(seed, 3)];
    text[len] = '\0';
    return len;
}

static void random_far_step(uint64_t *seed, struct step *step)
{
    *step = (struct step){.kind = test_below(seed, 8) == 0 ? DATA_AT : CONTENT,
                          .nocase = test_below(seed, 3) == 0,
                          .relative = test_below(seed, 8) != 0,
                          .begin_name = -1,
                          .reach_name = -1,
                          .operand_name = -1};
    if (step->kind == DATA_AT) {
        step->negated = test_below(seed, 3) == 0;
        step->begin = (int)test_below(seed, 200);
        return;
    }
    random_content(seed, step);
    if (test_below(seed, 2) == 0) { /* and windows of several words */
        step->begin += (int)test_below(seed, 150) - (step->relative ? 70 : 0);
        step->reach += (int)test_below(seed, 200);
        step->has_begin |= step->begin != 0;
    }
}

static void test_chains_of_many_occurrences(void **state)
{
    static char payload[LONG_MAX + 1];
    uint64_t seed = 20261127;
    size_t n_matches = 0;

    (void)state;
    for (int round = 0; round < LONG_ROUNDS; round++) {
        struct chain chain = {.n = 2 + test_below(&seed, LONG_STEPS - 1)};
        bool failed[LONG_STEPS][LONG_MAX + 1] = {{false}};
        const uint32_t len = random_long_text(&seed, payload);
        const struct packet packet = {.payload = payload, .payload_len = len};
        char rule[1024];

        for (size_t i = 0; i < chain.n; i++)
            random_far_step(&seed, &chain.step[i]);
        put_rule(rule, &chain);

        const struct trial trial = {.payload = payload, .len = (int)len};
        const bool expected = holds_far(&chain, 0, trial, failed);

        if (rule_matches(rule, &packet) != expected)
            fail_msg("%s on \"%s\": %s", rule, payload, expected ? "does not match" : "matches");
        n_matches += expected;
    }
    assert_in_range(n_matches, LONG_ROUNDS / 10, LONG_ROUNDS * 9 / 10);
}

static void write_chain(char *rule, const char *step, int n)
{
    rule += sprintf(rule, "alert tcp any any -> any any (content:\"a\"; ");
    while (n-- > 0)
        rule += sprintf(rule, "%s", step);
    sprintf(rule, "content:\"b\"; within:1; sid:1;)");
}

/* Each of these costs time beyond any patience if combinations are tried one after the other, and
 * more than a packet may cost if cursors are walked over one by one. */
static void test_many_occurrences_cost_little(void **state)
{
    enum { USUAL = 1460, LONGEST = 65000, CUT_STEPS = 60 };
    static const struct {
        const char *step;
        int usual, longest; /* so many steps are whole in a payload of this length */
    } steps[] = {
        {"content:\"a\"; within:3; ", 20, 3},
        {"content:\"aa\"; distance:0; ", 50, 50},
        {"content:!\"b\"; within:9; ", 20, 3},
        {"content:\"aaaaaaaaaaaa\"; within:40; ", 4, 0},
        {"content:\"A\"; nocase; distance:-5; within:9; ", 20, 3},
    };
    char rule[4096], *payload = malloc(LONGEST);
    struct packet packet = {.payload = payload};

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof steps / sizeof steps[0]); i++) {
        const char *step = steps[i / 2].step;
        const uint32_t len = i % 2 == 0 ? USUAL : LONGEST;

        memset(payload, 'a', len);
        packet.payload_len = len;
        write_chain(rule, step, i % 2 == 0 ? steps[i / 2].usual : steps[i / 2].longest);
        assert_false(rule_matches(rule, &packet));
        payload[len - 1] = 'b';
        if (rule_matches(rule, &packet) != (strchr(step, '!') == NULL))
            fail_msg("%u bytes: %s", len, rule);
    }
    /* A bound of steps cuts longer chains, which miss a match. */
    write_chain(rule, steps[0].step, CUT_STEPS);
    assert_false(rule_matches(rule, &packet));
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_chains),
        cmocka_unit_test(test_chains_of_many_occurrences),
        cmocka_unit_test(test_many_occurrences_cost_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
