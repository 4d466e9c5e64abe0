#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What files of events keep: of the runs before, of a run that is killed, and of a full disk.

usage: test_kept_events.py SLUICE SAMPLES
"""
import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")
EVENTS = 18  # of a run over the sample
KILLS = int(os.environ.get("SLUICE_TEST_TRIES", "8"))


def run(*arguments, source=CAPTURE, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SLUICE, "run", "-r", source, "--rules", RULES, *arguments],
                          capture_output=True, timeout=300, **options)


def rows_in(path):
    """-1: the file is damaged. A run that was killed at its start leaves no table."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        whole = base.execute("PRAGMA integrity_check").fetchone()
        if whole != ("ok",):
            return -1
        tables = base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'alerts'").fetchone()
        return base.execute("SELECT count(*) FROM alerts").fetchone()[0] if tables == (1,) else 0


class Kept(case.Case):
    def lines_in(self, path, torn=0):
        """Events of the file, of which so many lines are none."""
        with open(path, "rb") as file:
            text = file.read()
        lines = text.splitlines()
        events = []
        for line in lines:
            try:
                events.append(json.loads(line))
            except ValueError:
                torn -= 1
        self.assertGreaterEqual(torn, 0, path)
        return events

    def test_a_second_run_adds_to_the_first(self):
        eve, base = self.path("eve.json"), self.path("events.db")
        for runs in (1, 2, 3):
            result = run("--alerts", "eve:" + eve, "--alerts", "sqlite:" + base)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertEqual(len(self.lines_in(eve)), runs * EVENTS)
            self.assertEqual(rows_in(base), runs * EVENTS)

    def test_a_full_disk_tears_one_line_and_the_next_run_ends_it(self):
        """As on a full disk: the file may not grow."""
        eve = self.path("eve.json")
        run("--alerts", "eve:" + eve)
        size = os.path.getsize(eve)
        for limit in (size + 1, 2 * size + 100):
            before = os.path.getsize(eve)
            full = run("--alerts", "eve:" + eve, preexec_fn=lambda limit=limit: (
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
            self.assertEqual(full.returncode, 2)
            self.assertIn(b"too large", full.stderr)
            self.assertEqual(os.path.getsize(eve), limit)
            whole = len(self.lines_in(eve, torn=2))
            self.assertEqual(run("--alerts", "eve:" + eve).returncode, 0)
            self.assertGreater(os.path.getsize(eve), before + size)
            self.assertEqual(len(self.lines_in(eve, torn=2)), whole + EVENTS)

    def write_to_pipe(self, pipe, content):
        with contextlib.suppress(BrokenPipeError):
            pipe.write(content)
            pipe.flush()

    def test_a_kill_costs_the_events_of_the_last_moment(self):
        """All events of a second ago are in both files, though the source is quiet since."""
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        eve, base = self.path("eve.json"), self.path("events.db")
        with subprocess.Popen([SLUICE, "run", "-r", "-", "--rules", RULES, "--alerts", "eve:" + eve,
                               "--alerts", "sqlite:" + base], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            self.write_to_pipe(process.stdin, capture)
            case.wait_until_read(process.stdin)
            end = time.monotonic() + 30  # of a machine that has other things to do
            while time.monotonic() < end and (
                    not os.path.exists(base) or rows_in(base) < EVENTS or
                    len(self.lines_in(eve, torn=1)) < EVENTS):
                time.sleep(0.1)
            process.kill()
            process.wait()
        self.assertEqual(len(self.lines_in(eve)), EVENTS)
        self.assertEqual(rows_in(base), EVENTS)

    def test_kills_at_any_time(self):
        """Files of runs that were killed have whole events, and the next run goes on."""
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        source = self.path("long.pcap", capture + capture[24:] * 400)
        eve, base = self.path("eve.json"), self.path("events.db")
        moment, before = random.Random(1), 0
        for kill in range(KILLS):
            with subprocess.Popen([SLUICE, "run", "-r", source, "--rules", RULES, "--alerts",
                                   "eve:" + eve, "--alerts", "sqlite:" + base],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                time.sleep(moment.uniform(0, 0.4))
                process.kill()
                process.wait()
            if not os.path.exists(base):
                continue
            rows = rows_in(base)
            self.assertGreaterEqual(rows, before)
            before = rows
            self.lines_in(eve, torn=kill + 1)
        events = len(self.lines_in(eve, torn=KILLS)) if os.path.exists(eve) else 0
        self.assertEqual(run("--alerts", "eve:" + eve, "--alerts", "sqlite:" + base).returncode, 0)
        self.assertEqual(rows_in(base), before + EVENTS)
        self.assertEqual(len(self.lines_in(eve, torn=KILLS)), events + EVENTS)


if __name__ == "__main__":
    case.main()
