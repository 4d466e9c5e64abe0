/* SPDX-License-Identifier: MIT */
/* Scripts in ClamAV's normal form. The expected texts are those that clamscan 1.4.6 writes
 * (--leave-temps) for the same scripts. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "unpack/script.h"

static const struct {
    const char *script, *normal;
} cases[] = {
    {"", ""},
    {"{\"A\": 1, b: 2.50}", "{\"a\":1,b:2.5}"},
    {"var a=1;function f(b){var a=2;var c=a+b;g(function(d){var e=d;return e+a+h;});return c}"
     "var h=a;f(h);function k(){return a;}",
     "var n000=1;function n001(n002){var n003=2;var n004=n003+n002;g(function(n005){var "
     "n006=n005;return n006+n003+n007;});return n004}var n007=n000;f(n007);function "
     "n008(){return n000;}"},
    {"for(var i in z){} do{}while(x) var q, r=2, s=(1,t), u={v:1,w:2}, y=[1,2];",
     "for(var n000 in z){}do{}while(x)var n001,n002=2,n003=(1,n004),n005={v:1,w:2},n006=[1,2];"},
    {"var s=\"a\"+\"b\"+c+\"d\"+\"e\";s+=\"f\"+'g'; \"x\"+(\"y\"+\"z\");",
     "var n000=\"ab\"+c+\"de\";n000+=\"fg\";\"x\"+(\"yz\");"},
    {"unescape(\"%u0041%u4242%43\"); a=unescape(\"x\"+\"%41\");", "\"a\xE4\x89\x82"
                                                                  "c\";a=\"xa\";"},
    {"10 20 1.25 1e5 0777 .5 5.x 1234567.5 0.00001", "10 20 1.25 1 e5 777.5 5 x 1.23457e+06 1e-05"},
    {"/* a\nb */ x /* c */ y // d\nz", "x y d z"},
    {"\"a b   c\nd\" \"\\t\\x41\\u0042\\q\\101\"", "\"a b   c d\"\" abq101\""},
    {"function foo(a){bar(foo);} foo(a); x.a; function(y){y} z;",
     "function n000(n001){bar(n000);}foo(a);x.a;function(n002){n002}z;"},
    {"var o=f(a,b); h(b);", "var n000=f(a,n001);h(n001);"},
};

static void test_normal_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct unpack_buffer buffer = {.max = 4096};
        const char *script = cases[i].script;

        assert_true(script_normalize((const uint8_t *)script, strlen(script), &buffer));
        (void)unpack_buffer_add(&buffer, "", 1);
        assert_string_equal((const char *)buffer.bytes, cases[i].normal);
        unpack_buffer_free(&buffer);
    }
}

/* Nested scopes and names beyond the bounds are kept as they are, in linear time. */
static void test_bounds(void **state)
{
    enum { N = 100000 };
    static char script[N * 20];
    struct unpack_buffer buffer = {.max = SIZE_MAX / 4};
    size_t n = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(script + n, sizeof script - n, "function(v%d){", i);
    assert_true(script_normalize((const uint8_t *)script, n, &buffer));
    assert_true(buffer.len > N);
    buffer.len = n = 0;
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(script + n, sizeof script - n, "var v%d;", i);
    assert_true(script_normalize((const uint8_t *)script, n, &buffer));
    assert_non_null(memmem(buffer.bytes, buffer.len, "var v99999;", 11));
    unpack_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_form),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
