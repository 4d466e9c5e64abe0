#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules alert on packets that match them, and not on twins that violate one option each.

usage: test_rule_twins.py SLUICE SAMPLES RULE-TWINS PARTS

Of outside rule sets one of so many parts is tried, or of SLUICE_TEST_PARTS."""
import glob
import os
import re
import sys

import case

SLUICE, SAMPLES, TWINS = sys.argv[1:4]
OWN = os.path.join(SAMPLES, "twins.rules")
PARTS = int(os.environ.get("SLUICE_TEST_PARTS", sys.argv[4]))


def judged(*arguments):
    """Status and report of the generator. It has no end of its own where sluice has none."""
    return case.subprocess.run([TWINS, SLUICE, *arguments], capture_output=True, text=True,
                               timeout=3000, check=False)


class RuleTwins(case.Case):
    def test_each_option(self):
        result = judged("--verbose", OWN)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn(" have none: ", result.stdout)

    def test_a_wrong_answer_is_found(self):
        """Of a sluice that reads other rules than the generator."""
        with open(OWN, encoding="utf-8") as file:
            rules = file.read()
        other = self.path("other.rules", rules.replace("depth:20", "depth:21").encode())
        script = self.path("sluice", b'#!/bin/sh\n[ "$1" = run ] || exec "'
                           + os.path.abspath(SLUICE).encode()
                           + b'" "$@"\nfor word; do\n  shift\n  [ "$word" != "'
                           + OWN.encode() + b'" ] || word="' + other.encode()
                           + b'"\n  set -- "$@" "$word"\ndone\nexec "'
                           + os.path.abspath(SLUICE).encode() + b'" "$@"\n')
        os.chmod(script, 0o755)
        result = case.run(TWINS, script, OWN)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(b"false: 1:9100002 ", result.stdout)
        self.assertEqual(len(re.findall(rb"^(false|missed): ", result.stdout, re.M)), 1)

    def test_outside_rules(self):
        data = os.environ.get("SLUICE_TEST_DATA", "")
        sets = glob.glob(os.path.join(data, "rules", "*")) if data else []
        if not sets:
            self.skipTest("no outside rules (SLUICE_TEST_DATA)")
        for rules in sets:
            with self.subTest(rules):
                files = sorted(glob.glob(os.path.join(rules, "*.rules")))
                result = judged("--part", f"0/{PARTS}", *files)
                print(f"{os.path.basename(rules)}:\n{result.stdout}", flush=True)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    case.main()
