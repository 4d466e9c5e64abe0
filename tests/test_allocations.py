#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Once it runs the command asks for no memory: as often for a long capture as for a short one, but
for what a worker or a batch's place asks for when it first meets something. Runs use two cores, so
that few of them are there, and all have met all in the short one. What flows say takes memory of
each flow, and is left out: viruses are looked for where no streams are.

usage: test_allocations.py SLUICE COUNTED SAMPLES: COUNTED is preloaded
"""
import json
import os
import re
import subprocess
import sys

import case

SLUICE, COUNTED, SAMPLES = sys.argv[1:4]
# times the sample capture, 90 and 224 MB
SHORT, LONG = 400, 1000
PACKETS = 1139           # of it
TRIES = 15               # of each length, as few as agree
CORE = min(os.sched_getaffinity(0))


class Allocations(case.Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SAMPLES, "sample.pcap"), "rb") as file:
            self.capture = file.read()
        names = self.path("routes", b"/\t1\n/com\t2\n")
        self.everything = ["--rules", os.path.join(SAMPLES, "sample.rules"), "--header-checks",
                           "--names", names, "--device", "cpu", "--json",
                           "--alerts", "eve:" + self.path("eve.json")]

    def run_on(self, times, *source, sampler="rabin", **how):
        """How often it asked for memory, and how many batches there were."""
        result = subprocess.run([SLUICE, "run", *source, "--redundancy", sampler + ",interval=1G",
                                 *self.everything], capture_output=True, timeout=120,
                                env=dict(os.environ, LD_PRELOAD=COUNTED), check=True,
                                preexec_fn=lambda: os.sched_setaffinity(0, {CORE}), **how)
        counted = re.search(rb"^allocations (\d+)$", result.stderr, re.M)
        summary = json.loads(result.stdout)
        self.assertEqual(summary["packets"], PACKETS * times)
        for found in (summary["alerts_total"], summary["anomalies_total"],
                      summary["names"]["matched"],
                      summary.get("viruses", {"matches": 1})["matches"],
                      summary["redundancy"][0]["gross"]):
            self.assertGreater(found, 0)
        return int(counted[1]), summary["devices"][0]["batches"]

    def check(self, run_on):
        """`run_on` runs so many times the sample, on one core: of several workers some may have no
        batch of the short capture. A run uses a further slot where it has none free, so some short
        run is compared with some long one: memory for each batch shows between any two."""
        runs = {SHORT: [], LONG: []}
        for _ in range(TRIES):
            for times in runs:
                runs[times].append(run_on(times))
            self.assertGreater(runs[SHORT][-1][0], 100)
            more = runs[LONG][-1][1] - runs[SHORT][-1][1]
            self.assertGreater(more, 30)
            if any(abs(long - short) < more for short, _ in runs[SHORT] for long, _ in runs[LONG]):
                return  # none a batch
        self.fail(f"allocations and batches: {runs}")

    def test_captures_in_parts(self):
        paths = {times: self.path(f"{times}.pcap", self.capture + self.capture[24:] * (times - 1))
                 for times in (SHORT, LONG)}
        for sampler in "rabin", "dynabyte":  # the second is sampled by the thread that drains
            self.check(lambda times: self.run_on(times, "-r", paths[times], sampler=sampler))

    def test_pipes(self):
        viruses = self.path("a.ndb", b"A:0:*:474554202f\n")
        self.everything += ["--scan", viruses, "--stream-memory", "0"]
        self.check(lambda times: self.run_on(times, "-r", "-", input=self.capture
                                             + self.capture[24:] * (times - 1)))


if __name__ == "__main__":
    if case.is_sanitized(SLUICE):
        print("skipped: the sanitizer has an allocator of its own")
        sys.exit(77)
    case.main()
