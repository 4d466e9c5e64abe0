#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice scan as a person starts it: databases, what is not looked into, limits, options.

usage: test_scan.py SLUICE SAMPLES
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")


def sluice(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SLUICE, *arguments], capture_output=True, timeout=300, **options)


class Databases(case.Case):
    def compiled(self, name, text, *more):
        """The path of a compiled database; its name is `name`."""
        source = self.path("source." + name.split(".")[0] + ".ndb", text)
        result = sluice("scan", "-d", source, *more, "--compile", self.path(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.path(name)

    def found(self, *arguments):
        """The names that are found in files which hold one of the words each."""
        files = [self.path(word, word.encode()) for word in ("first", "second", "third", "fourth")]
        result = sluice("scan", "-z", "-i", "--no-summary", *arguments, *files)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return sorted(line.split(": ")[1].removesuffix(".UNOFFICIAL FOUND")
                      for line in result.stdout.decode().splitlines())

    def test_compiled_databases_combine(self):
        first = self.compiled("first.sluicedb", b"First:0:*:6669727374\n")
        second = self.compiled("second.cdb", b"Second:0:*:7365636f6e64\n")
        third = self.path("third.ndb", b"Third:0:*:7468697264\n")
        fourth = self.path("fourth.hdb", hashlib.md5(b"fourth").hexdigest().encode() +
                           b":6:Fourth\n")
        self.assertEqual(self.found("-d", first), ["First"])
        self.assertEqual(self.found("-d", first, "-d", third), ["First", "Third"])
        self.assertEqual(self.found("-d", third, "-d", first), ["First", "Third"])
        self.assertEqual(self.found("-d", first, "-d", second, "-d", third, "-d", fourth),
                         ["First", "Fourth", "Second", "Third"])
        self.assertEqual(sluice("scan", "-d", first, "-d", second, "-d", fourth, "--compile",
                                self.path("again.sluicedb")).returncode, 0)
        self.assertEqual(self.found("-d", self.path("again.sluicedb"), "-d", third),
                         ["First", "Fourth", "Second", "Third"])

    def test_compiled_databases_of_any_name_in_directories(self):
        os.mkdir(self.path("set"))
        for name in ("a", "b.sluicedb", "c.ndb", "d.cdb"):
            shutil.move(self.compiled("moved", b"First:0:*:6669727374\n"),
                        self.path("set/" + name))
            self.assertEqual(self.found("-d", self.path("set")), ["First"], name)
            self.path("set/e.ndb", b"Second:0:*:7365636f6e64\n")
            self.path("set/README", b"no database\n")
            self.assertEqual(self.found("-d", self.path("set")), ["First", "Second"], name)
            for entry in os.listdir(self.path("set")):
                os.remove(self.path("set/" + entry))

    def test_ignored_names_stay_ignored(self):
        ignore = self.path("a.ign2", b"Second\n")
        both = self.compiled("both", b"First:0:*:6669727374\nSecond:0:*:7365636f6e64\n", "-d",
                             ignore)
        third = self.path("third.ndb", b"Third:0:*:7468697264\n")
        self.assertEqual(self.found("-d", both, "-d", third), ["First", "Third"])
        self.assertEqual(self.found("-d", both, "-d", third, "-d", self.path("b.ign2", b"Third\n")),
                         ["First"])

    def test_what_cannot_be_combined_is_an_error(self):
        line = b"First:0:*:6669727374"
        digest = hashlib.md5(line).hexdigest().encode()
        compiled = self.compiled("first.sluicedb", line + b"\n")
        text = self.path("first.ndb", line + b"\n")
        ignore = self.path("a.ign2", b"First:" + digest + b"\n")
        self.assertEqual(self.found("-d", text, "-d", ignore), [])
        self.assert_refused(sluice("scan", "-d", compiled, "-d", ignore, text), compiled, "First",
                            "MD5")
        other = self.path("b.ign2", b"Other:" + digest + b"\n")
        self.assertEqual(self.found("-d", compiled, "-d", other), ["First"])
        with open(compiled, "r+b") as file:
            file.seek(8)
            file.write(b"\x01")
        for others in ([], ["-d", text]):
            self.assert_refused(sluice("scan", "-d", compiled, *others, text), compiled, "version")

    def test_container_signatures_are_no_compiled_database(self):
        cdb = self.path("a.cdb", b"Zip:CL_TYPE_ZIP:*:*:*:*:*:*:*:*\n")
        text = self.path("first.ndb", b"First:0:*:6669727374\n")
        result = sluice("scan", "--debug", "-d", cdb, "-d", text, self.path("first", b"first"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"format .cdb is not supported", result.stderr)
        self.assertIn(b"Skipped signatures: 1\n", result.stdout)

    def test_runs_combine_them(self):
        with open(CAPTURE, "rb") as file:
            words = sorted({w for w in file.read().split(b" ") if w.isalpha() and len(w) > 5})[:2]
        lines = [b"Word%d:0:*:%s\n" % (i, word.hex().encode()) for i, word in enumerate(words)]
        compiled = self.compiled("a", lines[0])
        both = self.path("both.ndb", b"".join(lines))
        other = self.path("other.ndb", lines[1])
        events = [sluice("run", "-r", CAPTURE, "--alerts", "eve:-", *databases).stdout
                  for databases in (["--scan", both], ["--scan", compiled, "--scan", other],
                                    ["--scan", other, "--scan", compiled])]
        self.assertIn(b"Word0", events[0])
        self.assertIn(b"Word1", events[0])
        for one in events[1:]:
            self.assertEqual(sorted(one.splitlines()), sorted(events[0].splitlines()))

    def test_a_database_of_wrong_lines_is_an_error(self):
        file = self.path("first", b"first")
        text = self.path("first.ndb", b"First:0:*:6669727374\n")
        for name, content in (("bad.ndb", b"# comment\n\nno signature\n" * 1000),
                              ("bad.ldb", b"a;Engine:51-255,Target:0;0;zz\n" +
                                          b"b;Engine:51-255,Target:0;0;${macro}\n"),
                              ("bad.hdb", b"abc:1:x\n"), ("bad.ign2", b":\n")):
            bad = self.path(name, content)
            first = 1 + [bool(line) and line[:1] != b"#" for line in content.split(b"\n")].index(1)
            for arguments in (["-d", bad, file], ["-d", text, "-d", bad, file],
                              ["-d", bad, "--compile", self.path("out")]):
                self.assert_refused(sluice("scan", *arguments), f"{bad}:{first}: ", "no line")
            self.assert_refused(sluice("run", "-r", CAPTURE, "--scan", bad), f"{bad}:{first}: ")
            self.assertFalse(os.path.exists(self.path("out")))

    def test_unsupported_lines_are_skipped(self):
        file = self.path("first", b"first")
        skipped = self.path("skipped.ldb", b"b;Engine:51-255,Target:0;0;${macro}\n")
        result = sluice("scan", "-d", skipped, file)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"Skipped signatures: 1\n", result.stdout)
        self.assertEqual(sluice("scan", "-d", self.path("none.ndb", b"# nothing\n"),
                                file).returncode, 0)
        mixed = self.path("mixed.ndb", b"First:0:*:6669727374\nwrong\n")
        self.assertEqual(sluice("scan", "-d", mixed, "-d", skipped, "--compile",
                                self.path("out")).returncode, 0)
        result = sluice("scan", "-d", self.path("out"), file)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"Skipped signatures: 1\nWrong lines in databases: 1\n", result.stdout)
        rows = sluice("scan", "-d", self.path("out"), "--json", file).stdout.splitlines()
        summary = json.loads(rows[-1])["summary"]
        self.assertEqual((summary["skipped_signatures"], summary["wrong_lines"]), (1, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
