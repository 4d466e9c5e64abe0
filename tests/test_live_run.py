#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run on an interface of this host prints while it goes on. Needs the right to capture.

usage: test_live_run.py SLUICE SAMPLES
"""
import os
import re
import signal
import socket
import subprocess
import sys
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
RULES = os.path.join(SAMPLES, "sample.rules")


class Live(case.Case):
    def run_on_lo(self, n_packets, *options):
        """Standard error of a run that sees so many datagrams on lo, without the metrics' line."""
        port = case.own_port(self)
        with subprocess.Popen([SLUICE, "run", "-i", "lo", "-f", f"udp port {port}", "--metrics",
                               "0", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            said = process.stderr.readline().decode()
            if not case.serves(said):
                self.skipTest("cannot capture on lo: " + process.stderr.read().decode())
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for _ in range(n_packets):
                    sender.sendto(b"hello", ("127.0.0.1", port))
            process.send_signal(signal.SIGINT)
            self.summary, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
        self.assertIn(f"packets    {n_packets},".encode(), self.summary)
        return errors.decode()

    def test_checksums_that_the_interface_writes(self):
        """Packets on lo have no checksums: one line says so, and how to turn the check off."""
        errors = self.run_on_lo(60, "--header-checks", "--alerts", "eve:/dev/null")
        self.assertEqual(errors.count("\n"), 1, errors)
        found = re.fullmatch(r"sluice: lo: (\d+) of the first (\d+) packets that this host sent "
                             r"have wrong checksums, .* \(-k none turns their check off\)\n",
                             errors)
        self.assertTrue(found, errors)
        self.assertEqual(found[1], found[2])
        self.assertGreaterEqual(int(found[1]), 16)
        self.assertIn(b"udp-checksum", self.summary)

    def test_no_line_without_reason(self):
        for n_packets, options in ((60, ["--header-checks", "-k", "none"]), (60, []),
                                   (15, ["--header-checks"])):
            errors = self.run_on_lo(n_packets, "--alerts", "eve:/dev/null", *options)
            self.assertEqual(errors, "", options)

    def test_rules_at_the_begin(self):
        errors = self.run_on_lo(1, "--rules", RULES, "--alerts", "eve:/dev/null")
        self.assertRegex(errors, r"^sluice: rules: \d+ loaded, \d+ skipped, \d+ bad")


if __name__ == "__main__":
    case.main()
