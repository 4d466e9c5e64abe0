#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/rules.md lists the options that are understood, and docs/rule-events.csv the events:
both agree with the tables, and the command with both.

usage: test_rule_options.py RULE_OPTIONS SLUICE
"""
import csv
import os
import re
import shutil
import sys
import unittest

import case

RULE_OPTIONS, SLUICE = sys.argv[1:3]
ROOT = os.path.join(os.path.dirname(os.path.abspath(RULE_OPTIONS)), "..")
FILES = ("docs/rules.md", "src/detect/parse/option_table.c", "src/detect/parse/option_content.c",
         "src/detect/parse/option_event.c", "src/stream/stream_names.c", "docs/rule-events.csv")


def expanded(pattern):
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [name for part in found.group(1).split(",")
            for name in expanded(pattern[:found.start()] + part + pattern[found.end():])]


def listed():
    with open(os.path.join(ROOT, FILES[0])) as file:
        block = re.search(r"<!-- The options.*?<!-- end of the tables -->", file.read(), re.S)
    return [name for span in re.findall(r"`([^`]+)`", block.group()) for name in expanded(span)]


def listed_events(option, root=ROOT):
    """The events of an option: whether each is understood."""
    with open(os.path.join(root, FILES[5])) as file:
        return {row["event"]: row["understood"] == "yes" for row in csv.DictReader(file)
                if row["option"] == option}


class RuleOptions(case.Case):
    def plant(self):
        """A copy of the files, and its folder."""
        for path in FILES:
            target = os.path.join(self.folder.name, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), target)
        return self.folder.name

    def test_the_page_is_that_of_the_tables(self):
        self.assertEqual(case.run(RULE_OPTIONS, "--check").returncode, 0)

    def test_an_option_that_the_page_lacks_is_a_fault(self):
        root = self.plant()
        self.assertEqual(case.run(RULE_OPTIONS, "--check", root).returncode, 0)
        path = os.path.join(root, FILES[1])
        with open(path) as file:
            text = file.read()
        self.assertIn('    {"content",', text)
        with open(path, "w") as file:
            added = '    {"new.one", rule_read_x, RULE_NO_VALUE},\n'
            file.write(text.replace('    {"content",', added + '    {"content",', 1))
        result = case.run(RULE_OPTIONS, "--check", root)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"docs/rules.md:", result.stderr)
        self.assertEqual(case.run(RULE_OPTIONS, root).returncode, 0)
        self.assertEqual(case.run(RULE_OPTIONS, "--check", root).returncode, 0)
        with open(os.path.join(root, FILES[0])) as file:
            self.assertIn("`new.one`", file.read())

    def test_an_event_that_is_new_is_no_longer_skipped(self):
        root = self.plant()
        path = os.path.join(root, FILES[3])
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace('    {"ipv4.icmpv6",',
                                    '    {"ipv4.opt_invalid", RULE_X, 1, 0},\n'
                                    '    {"ipv4.icmpv6",', 1))
        self.assertEqual(case.run(RULE_OPTIONS, "--check", root).returncode, 1)
        self.assertEqual(case.run(RULE_OPTIONS, root).returncode, 0)
        self.assertFalse(listed_events("decode-event")["ipv4.opt_invalid"])
        self.assertTrue(listed_events("decode-event", root)["ipv4.opt_invalid"])

    def test_the_command_skips_the_events_that_the_list_says(self):
        for option, least in (("decode-event", 100), ("stream-event", 60)):
            events = listed_events(option)
            self.assertGreater(len(events), least)
            rules = "".join(f"alert ip any any -> any any ({option}:{name}; sid:{sid};)\n"
                            for sid, name in enumerate(events, 1))
            output = case.run(SLUICE, "rules", "--list",
                              self.path(option, rules.encode())).stdout.decode()
            for name, understood in events.items():
                self.assertEqual(output.count(f": {option}:{name}\n"), int(not understood), name)
            self.assertIn(f" {sum(events.values())} understood", output)

    def test_the_command_understands_what_the_page_lists(self):
        names = listed()
        self.assertGreater(len(names), 80)
        rules = "".join(f'alert ip any any -> any any (content:"a"; {name}; sid:{sid};)\n'
                        for sid, name in enumerate(names + ["lua"], 1))
        rules = self.path("a.rules", rules.encode() + b"alert ip any any -> any any (sid:9999;)\n")
        output = case.run(SLUICE, "rules", "--list", rules).stdout.decode()
        for name in names + ["lua"]:
            lacks = [line for line in output.split("\n") if line.endswith(": " + name)]
            self.assertEqual(bool(lacks), name == "lua", name)
        self.assertNotIn("is no option", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
