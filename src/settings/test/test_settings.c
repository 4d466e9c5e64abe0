/* SPDX-License-Identifier: MIT */
/* Configurations, and the parts taken of them. */
#include <stdbool.h>
#include <unistd.h>

#include "sluice/settings.h"
#include "test.h"

static char folder[] = "/tmp/sluice-settings-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* All settings as lines "KIND VALUE LINE"; the folder in values is left out. */
static const char *listed(const struct sl_settings *settings)
{
    static const char *const kinds[] = {"variable", "actions", "configure",
                                        "rules",    "left",    "other"};
    static char text[8192];
    const struct sl_setting *setting;
    const size_t folder_len = strlen(folder);
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; i++) {
        const bool inside = strncmp(setting->value, folder, folder_len) == 0;

        len += (size_t)snprintf(text + len, sizeof text - len, "%s %s %u\n", kinds[setting->kind],
                                setting->value + (inside ? folder_len + 1 : 0), setting->line);
    }
    return text;
}

static void check(const char *name, const char *text, const char *expected)
{
    struct sl_settings *settings;
    struct sl_diag diag = {0};

    write_file(name, text);
    if (sl_settings_open(&settings, path_of(name), &diag) != SL_OK)
        fail_msg("%s:%u: %s", diag.file, diag.line, diag.text);
    assert_string_equal(listed(settings), expected);
    sl_settings_close(settings);
}

static void check_refused(const char *name, const char *text, enum sl_status status, uint32_t line,
                          const char *reason)
{
    struct sl_settings *settings;
    struct sl_diag diag = {0};

    write_file(name, text);
    assert_int_equal(sl_settings_open(&settings, path_of(name), &diag), status);
    sl_settings_close(settings);
    if (strstr(diag.text, reason) == NULL || diag.line != line)
        fail_msg("line %u: '%s', not line %u: '%s'", diag.line, diag.text, line, reason);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static void test_yaml(void **state)
{
    (void)state;
    check("a.yaml", "", "");
    check("a.yaml", "%YAML 1.1\n---\n# nothing\n", "");
    check("a.yaml",
          "%YAML 1.1\n---\n"
          "vars:\n"
          "  address-groups:\n"
          "    DMZ: \"[$INNER,!$OUTER]\"\n"
          "    HOME_NET: \"[10.0.0.0/8,!10.1.0.0/16]\"\n"
          "    OUTER: \"!$HOME_NET\"\n"
          "    INNER: [ 192.0.2.1, '$HOME_NET' ]\n"
          "  port-groups:\n"
          "    HTTP_PORTS: 80\n"
          "  odd-groups: {}\n"
          "rule-files:\n"
          "  - a.rules\n"
          "  - /b/*.rules\n"
          "default-rule-path: rules\n"
          "classification-file: /c/classification.config\n"
          "reference-config-file: reference.config\n"
          "threshold-file:\n"
          "action-order: [alert, drop, reject, pass]\n"
          "action-order: [alert, pass, drop, reject]\n"
          "outputs:\n"
          "  - fast: {enabled: no}\n"
          "stream: {midstream: true}\n",
          "variable HOME_NET=[10.0.0.0/8,!10.1.0.0/16] 6\n"
          "variable INNER=[192.0.2.1,$HOME_NET] 8\n"
          "variable OUTER=!$HOME_NET 7\n"
          "variable DMZ=[$INNER,!$OUTER] 5\n"
          "variable HTTP_PORTS=80 10\n"
          "actions alert,pass,drop,reject 20\n"
          "configure /c/classification.config 16\n"
          "configure reference.config 17\n"
          "rules rules/a.rules 13\n"
          "rules /b/*.rules 14\n"
          "left odd-groups 11\n"
          "left stream 23\n"
          "other outputs 21\n");
}

static void test_yaml_includes(void **state)
{
    (void)state;
    write_file("groups.yaml", "HOME_NET: 192.0.2.0/24\nA: $B\nB: $A\n");
    write_file("more.yaml", "rule-files:\n  - c.rules\nflow: {}\n");
    check("a.yaml",
          "rule-files: [a.rules, b.rules]\n"
          "include: more.yaml\n"
          "include:\n  - more.yaml\n"
          "vars:\n  address-groups: !include groups.yaml\n",
          "variable HOME_NET=192.0.2.0/24 1\n"
          "variable B=$A 3\n"
          "variable A=$B 2\n"
          "rules c.rules 2\n"
          "left flow 3\nleft flow 3\n");
}

static void test_yaml_refused(void **state)
{
    (void)state;
    check_refused("a.yaml", "a: [\nb: c\n", SL_EFORMAT, 3, "is no YAML");
    check_refused("a.yaml", "- a\n", SL_EFORMAT, 1, "the file is no mapping");
    check_refused("a.yaml", "\nvars:\n  address-groups: 5\n", SL_EFORMAT, 3,
                  "address-groups is no mapping");
    check_refused("a.yaml", "vars:\n  address-groups:\n    A: {b: c}\n", SL_EFORMAT, 3,
                  "A is no variable");
    check_refused("a.yaml", "action-order: pass\n", SL_EFORMAT, 1, "action-order is no list");
    check_refused("a.yaml", "rule-files: {a: b}\n", SL_EFORMAT, 1, "rule-files is no list");
    check_refused("a.yaml", "rule-files: [[a]]\n", SL_EFORMAT, 1, "no name of a file");
    check_refused("a.yaml", "default-rule-path: \"a\\0b\"\n", SL_EFORMAT, 1, "no name of a folder");
    check_refused("a.yaml", "include: none.yaml\n", SL_EIO, 0, "cannot be opened");
    check_refused("a.yaml", "x: y\ninclude: a.yaml\n", SL_EFORMAT, 2, "include one another");
    check_refused("a.yaml", "include: [a.yaml, a.yaml]\n", SL_EFORMAT, 1, "include one another");
}

/* ---- Lua ------------------------------------------------------------------------------------- */

static void test_lua(void **state)
{
    (void)state;
    write_file("defaults.lua", "RULE_PATH = '../rules'\n"
                               "HTTP_PORTS = [[ 80 81\n  8000:8080 ]]\n"
                               "FILE_DATA_PORTS = HTTP_PORTS .. [[ 110 143 ]]\n"
                               "default_variables = { nets = { HOME_NET = HOME_NET,\n"
                               "    MORE = [[ 192.0.2.1 !192.0.2.2 ]], ODD = f(1, {2}) },\n"
                               "  paths = { RULE_PATH = RULE_PATH, } }\n");
    check("snort.lua",
          "-- a comment\n--[[ HOME_NET = '192.0.2.9' ]]\n"
          "HOME_NET = [[ 10.0.0.0/8 192.168.0.0/16 ]]\n"
          "EXTERNAL_NET = '!$HOME_NET'\n"
          "include 'defaults.lua'\n"
          "DNS_SERVERS = HOME_NET; ONE = \"1\\057\\116\"\n"
          "stream_tcp = { policy = 'linux', if_ = function() return {} end }\n"
          "binder = { { when = { ports = '53' } }, }\n"
          "if tweaks ~= nil then\n  include(tweaks .. '.lua')\nend\n"
          "ips =\n{\n  mode = tap,\n  variables = default_variables,\n"
          "  rules = [[\n    # rules\n    include $RULE_PATH/community.rules\n"
          "    alert tcp any any -> any any ( sid:1; )\n  ]],\n"
          "  include = RULE_PATH .. '/local.rules'\n}\n"
          "alert_fast = { }\n"
          "local MINE = tonumber('5')\n"
          "LAST = 'any'\n",
          "variable HOME_NET=[10.0.0.0/8,192.168.0.0/16] 5\n"
          "variable EXTERNAL_NET=!$HOME_NET 4\n"
          "variable HTTP_PORTS=[80,81,8000:8080] 2\n"
          "variable FILE_DATA_PORTS=[80,81,8000:8080,110,143] 4\n"
          "variable MORE=[192.0.2.1,!192.0.2.2] 6\n"
          "variable DNS_SERVERS=[10.0.0.0/8,192.168.0.0/16] 6\n"
          "variable LAST=any 25\n"
          "rules ../rules/community.rules 16\n"
          "rules ../rules/local.rules 21\n"
          "left ips.variables.ODD 6\n"
          "left ONE 6\n"
          "left stream_tcp 7\n"
          "left binder 8\n"
          "left if 9\n"
          "left ips.mode 14\n"
          "left ips.rules 16\n"
          "left MINE 24\n"
          "other alert_fast 23\n");
}

static void test_lua_refused(void **state)
{
    (void)state;
    check_refused("snort.lua", "\nA = [[ 1\n", SL_EFORMAT, 2, "does not end");
    check_refused("snort.lua", "A = '1\n'", SL_EFORMAT, 1, "does not end");
    check_refused("snort.lua", "A = 1 --[==[ ]=] \n", SL_EFORMAT, 1, "does not end");
    check_refused("snort.lua", "\ninclude 'none.lua'", SL_EIO, 0, "cannot be opened");
    check_refused("snort.lua", "\ninclude 'snort.lua'", SL_EFORMAT, 2, "include one another");
}

static void test_missing(void **state)
{
    struct sl_settings *settings;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_settings_open(&settings, path_of("none.yaml"), &diag), SL_EIO);
    sl_settings_close(settings);
    assert_string_equal(diag.file, path_of("none.yaml"));
    sl_settings_close(NULL);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.yaml", "groups.yaml", "more.yaml", "defaults.lua",
                                        "snort.lua"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),         cmocka_unit_test(test_yaml_includes),
        cmocka_unit_test(test_yaml_refused), cmocka_unit_test(test_lua),
        cmocka_unit_test(test_lua_refused),  cmocka_unit_test(test_missing),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
