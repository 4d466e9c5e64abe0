#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where an allocation fails a command says so and ends with 2, or gives all of its answers.

usage: test_no_memory.py SLUICE FAILED SAMPLES: FAILED is preloaded
"""
import os
import re
import subprocess
import sys
import unittest

import case

SLUICE, FAILED, SAMPLES = sys.argv[1:4]
CAPTURE, RULES = (os.path.join(SAMPLES, name) for name in ("sample.pcap", "sample.rules"))
TRIES = 40       # of each command
LARGE = 1 << 16  # bytes: libcrypto asks for less, and does not survive a failure


@unittest.skipIf(case.is_sanitized(SLUICE), "sanitizers have an own malloc")
class NoMemory(case.Case):
    def start(self, command, at, length=0):
        """Of a run whose allocation `at` fails, 0 none: the result, and how many there were."""
        count = self.path("count", b"0")
        result = subprocess.run([SLUICE, *command], capture_output=True, timeout=120, check=False,
                                stdin=subprocess.DEVNULL,
                                env={**os.environ, "LD_PRELOAD": FAILED, "FAIL_AT": str(at),
                                     "FAIL_LEN": str(length), "FAIL_COUNT": count})
        with open(count, encoding="ascii") as file:
            return result, int(file.read())

    def check(self, *command, length=0):
        def answers(result):  # but for seconds, and memory that could not be given back
            return re.sub(rb"[0-9.e-]+ s\b|[0-9]+ B of index|seconds\": [0-9.e-]+", b"",
                          result.stdout)
        whole, n = self.start(command, 0, length)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertGreater(n, 0)
        for at in range(1, n + 1, max(1, n // TRIES)):
            result, _ = self.start(command, at, length)
            said = f"allocation {at} of {n}: {result.stderr.decode()}"
            self.assertIn(result.returncode, (0, 2), said)
            if result.returncode == 0:
                self.assertEqual(answers(result), answers(whole), said)
            else:
                self.assertNotEqual(result.stderr, b"", said)

    def test_reports(self):
        self.check("rules", RULES, "--json", "--list")
        self.check("rules", RULES)
        self.check("devices", "--json")

    def test_names(self):
        table = self.path("hosts", b"0.0.0.0 a.test b.test\n")
        self.check("lookup", "--table", table, "--explain", "a.test", "c.test")
        self.check("lookup", "--table", table, "--json", "a.test")
        self.check("lookup", "--table", table, "--force", "--build", self.path("saved"))

    def test_files(self):
        encoded = self.path("encoded")
        self.check("encode", "-f", "-q", "--cache", "1M", CAPTURE, encoded)
        self.check("decode", "-f", "-q", encoded, self.path("decoded"))
        self.check("rules", RULES, "--device", "cpu", "--force", "--compile", self.path("compiled"))

    def test_large_allocations(self):
        base = self.path("a.ndb", b"Hello:0:*:68656c6c6f20\n")
        self.check("run", "-r", CAPTURE, "--rules", RULES, "-q", length=LARGE)
        self.check("run", "-r", CAPTURE, "--scan", base, "--names",
                   self.path("hosts", b"0.0.0.0 beacon.example\n"), "--header-checks", "-q",
                   "--alerts", "eve:-", length=LARGE)
        self.check("run", "-r", CAPTURE, "--redundancy", "dynabyte", "-q", length=LARGE)
        self.check("scan", "-d", base, "--no-summary", CAPTURE, length=LARGE)


if __name__ == "__main__":
    case.main()
