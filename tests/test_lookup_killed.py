#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice lookup --build, killed before each of its steps: the old table or the new one is there,
whole, and the next build leaves nothing else behind.

usage: test_lookup_killed.py SLUICE KILLED: KILLED is preloaded
"""
import fcntl
import os
import subprocess
import sys

import case
import killed

SLUICE, KILLED = sys.argv[1:3]


class Killed(case.Case):
    def build(self, lines, table):
        command = [SLUICE, "lookup", "--table", lines, "--force", "--build", table]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       timeout=120)

    def answers(self, table):
        result = subprocess.run([SLUICE, "lookup", "--table", table, "old.test", "new.test"],
                                capture_output=True, check=True, timeout=120)
        return [line.split(b"\t")[2] for line in result.stdout.splitlines()]

    def test_each_step(self):
        old = self.path("old", b"old.test\n")
        new = self.path("new", b"new.test\n")
        folder = self.path("out")
        os.mkdir(folder)
        table = os.path.join(folder, "table")
        self.build(old, table)
        n_old = n_left = 0
        for step in killed.at_each_step(KILLED, [SLUICE, "lookup", "--table", new, "--force",
                                                 "--build", table]):
            answers = self.answers(table)
            self.assertIn(answers, ([b"block", b"none"], [b"none", b"block"]), step)
            n_old += answers[0] == b"block"
            n_left += os.listdir(folder) != ["table"]
            self.build(old, table)
            self.assertEqual(os.listdir(folder), ["table"])
        self.assertEqual(self.answers(table), [b"none", b"block"])
        self.assertGreater(n_old, 4)
        self.assertGreater(n_left, 3)

    def test_a_living_maker_keeps_its_file(self):
        """What is locked belongs to somebody; what is named otherwise is no file of ours."""
        table = self.path("table")
        kept = [self.path("table." + end, b"x") for end in
                ("sluice-new-0", "2024-11", "sluice-new", "sluice-new-1.old")]
        dead = self.path("table.sluice-new-3", b"x")
        with open(kept[0], "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.build(self.path("lines", b"a.test\n"), table)
        self.assertFalse(os.path.exists(dead))
        for path in kept:
            self.assertTrue(os.path.exists(path), path)


if __name__ == "__main__":
    if case.is_sanitized(SLUICE):
        print("skipped: a sanitizer must be the first library")
        sys.exit(77)
    case.main()
