#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are cut or overwritten in place while a command reads them.

usage: test_changed_files.py SLUICE SAMPLES

SLUICE_TEST_TRIES: how many times at random moments, for each kind of file (8, and 3 under
    a sanitizer).
SLUICE_TEST_SEED: what the changes and the moments depend on (1).
"""
import os
import random
import shutil
import subprocess
import sys
import time

import case

SLUICE, SAMPLES = sys.argv[1:3]
TRIES = int(os.environ.get("SLUICE_TEST_TRIES", "3" if case.is_sanitized(SLUICE) else "8"))
random.seed(int(os.environ.get("SLUICE_TEST_SEED", "1")))
RULES = os.path.join(SAMPLES, "sample.rules")


def cut(path):
    os.truncate(path, random.choice((0, 1, os.path.getsize(path) // 2)))


def overwrite(path):
    """Puts other bytes, at random and of the file itself, into the file as it lies there."""
    with open(path, "r+b") as file:
        length = os.path.getsize(path)
        for _ in range(16):
            block = min(length, 1 << random.randrange(2, 18))
            file.seek(random.randrange(length - block + 1))
            moved = file.read(block)
            file.seek(random.randrange(length - block + 1))
            file.write(random.choice((random.randbytes(block), moved, b"\xff" * block)))
            file.flush()


class ChangedFiles(case.Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SAMPLES, "sample.pcap"), "rb") as file:
            capture = file.read()
        self.traffic = capture[:24] + capture[24:] * 8

    def make_list(self):
        names = b"".join(b"0.0.0.0 name%d.test\n" % i for i in range(30000))
        return self.path("list", names + b"0.0.0.0 example.com\n")

    def make_table(self):
        self.make("lookup", "--table", self.make_list(), "--build", self.path("table"))
        return self.path("table")

    def make_literals(self):
        self.make("rules", RULES, "--compile", self.path("literals"))
        return self.path("literals")

    def make_database(self, n=1000):
        signatures = b"".join(b"Test.%d:0:*:%s\n" % (i, random.randbytes(12).hex().encode())
                              for i in range(n))
        text = self.path("text.ndb", signatures + b"Hello:0:*:68656c6c6f20\n")
        self.make("scan", "-d", text, "--compile", self.path("database"))
        return self.path("database")

    def make(self, *arguments):
        result = subprocess.run([SLUICE, *arguments], capture_output=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    # ---- tables, after they were loaded

    def answers(self, arguments, stdin, change=None, path=None):
        """What a command prints that gets one half of its input before the change."""
        half = len(stdin) // 2
        with open(self.path("answers"), "wb") as out, \
                subprocess.Popen([SLUICE, *arguments], stdin=subprocess.PIPE, stdout=out,
                                 stderr=subprocess.PIPE) as process:
            process.stdin.write(stdin[:half])
            process.stdin.flush()
            case.wait_until_read(process.stdin)
            if change is not None:
                change(path)
            _, stderr = process.communicate(stdin[half:], timeout=120)
        with open(self.path("answers"), "rb") as out:
            return process.returncode, out.read(), stderr

    def assert_keeps(self, path, arguments, stdin):
        saved = path + ".saved"
        shutil.copyfile(path, saved)
        expected = self.answers(arguments, stdin)
        self.assertIn(expected[0], (0, 1), expected[2])
        for change in (cut, overwrite):
            self.assertEqual(self.answers(arguments, stdin, change, path), expected)
            shutil.copyfile(saved, path)

    def run_arguments(self, *tables):
        return ["run", "-r", "-", "--alerts", "eve:" + self.path("alerts"), "--rules", RULES,
                "--device", "cpu", *tables]

    def test_a_table_of_names_stays_as_it_was_checked(self):
        queries = b"".join(b"name%d.test\n" % i for i in range(30000)) * 2
        table = self.make_table()
        self.assert_keeps(table, ["lookup", "--table", table, "-"], queries)

    def test_a_database_stays_as_it_was_checked(self):
        stdin = random.randbytes(1 << 20) + b"hello hello " + random.randbytes(1 << 20) + b"hello "
        database = self.make_database()
        self.assert_keeps(database, ["scan", "-d", database, "--no-summary", "-"], stdin)

    def test_a_mapped_database_that_is_cut_is_an_error(self):
        database = self.make_database(8000)
        self.assertGreater(os.path.getsize(database), 16 << 20)
        answers = self.answers(["scan", "-d", database, "-"], random.randbytes(1 << 20),
                               lambda path: os.truncate(path, 0), database)
        error = f"sluice: {database}: was cut while it was read\n"
        self.assertEqual(answers, (2, b"", error.encode()))

    def test_tables_of_a_run_stay_as_they_were_checked(self):
        for path, option in ((self.make_literals(), "--compiled"),
                             (self.make_database(), "--scan"), (self.make_table(), "--names")):
            arguments = ["run", "-r", "-", "--alerts", "eve:" + self.path("alerts"), "--rules",
                         RULES, "--device", "cpu", option, path]
            alerts = []
            shutil.copyfile(path, path + ".saved")
            for change in (None, cut, overwrite):
                status, _, stderr = self.answers(arguments, self.traffic, change, path)
                shutil.copyfile(path + ".saved", path)
                self.assertEqual(status, 0, stderr)
                with open(self.path("alerts"), "rb") as file:
                    alerts.append(sorted(file))
                os.unlink(self.path("alerts"))
            self.assertTrue(alerts[0])
            self.assertEqual(alerts[1], alerts[0])
            self.assertEqual(alerts[2], alerts[0])

    # ---- at random moments

    def assert_never_killed(self, path, *arguments, checked=False):
        """Each trial ends with an answer, or with an error that names the file. Where the file has
        a checksum, the answer is that of the unchanged file."""
        saved = path + ".saved"
        shutil.copyfile(path, saved)
        begin = time.monotonic()
        answer = self.make(*arguments)
        took = time.monotonic() - begin
        if checked:
            self.assertTrue(answer)
        for trial in range(TRIES):
            with subprocess.Popen([SLUICE, *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                time.sleep(random.uniform(0, took))
                (cut, overwrite)[trial % 2](path)
                stdout, stderr = process.communicate(timeout=120)
            shutil.copyfile(saved, path)
            self.assertIn(process.returncode, (0, 2), stderr[-2000:])
            if process.returncode == 2:
                self.assertIn(path.encode(), stderr)
            elif checked and trial % 2 == 1:  # a cut table may be an empty list
                self.assertEqual(stdout, answer)

    def test_tables_at_any_moment(self):
        capture, table = os.path.join(SAMPLES, "sample.pcap"), self.make_table()
        self.assert_never_killed(table, "lookup", "--table", table, "name1.test", checked=True)
        database = self.make_database()
        self.assert_never_killed(database, "scan", "-d", database, "--no-summary", capture,
                                 checked=True)
        literals = self.make_literals()
        self.assert_never_killed(literals, "run", "-r", capture, "--rules", RULES, "--compiled",
                                 literals, "--alerts", "eve:-", checked=True)
        names = self.make_list()
        self.assert_never_killed(names, "lookup", "--table", names, "name1.test")
        self.assert_never_killed(names, "run", "-r", capture, "--names", names)

    def test_captures_at_any_moment(self):
        """pcap is read in parts by many threads where it is large; pcapng in order."""
        pcap = self.path("traffic.pcap", self.traffic)
        with open(os.path.join(SAMPLES, "mixed.pcapng"), "rb") as file:
            pcapng = self.path("traffic.pcapng", file.read() * 100)
        for path in (pcap, pcapng):
            self.assert_never_killed(path, "run", "-r", path, "--header-checks", "--alerts",
                                     "eve:/dev/null")
            self.assert_never_killed(path, "encode", "--quiet", path, "-")


if __name__ == "__main__":
    case.main()
