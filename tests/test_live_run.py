#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run on an interface of this host prints while it goes on. Needs the right to capture.

usage: test_live_run.py SLUICE SAMPLES
"""
import ctypes
import fcntl
import os
import re
import signal
import socket
import struct
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


class OwnLink(case.Case):
    """A pair of Ethernet interfaces in a network of this test's own."""

    CLONE_NEWNET, SIOCETHTOOL, ETHTOOL_STXCSUM = 0x40000000, 0x8946, 0x17

    def setUp(self):
        super().setUp()
        libc = ctypes.CDLL(None, use_errno=True)
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.addCleanup(os.close, before)
        if libc.unshare(self.CLONE_NEWNET) != 0:
            self.skipTest("no network of its own: " + os.strerror(ctypes.get_errno()))
        self.addCleanup(libc.setns, before, self.CLONE_NEWNET)
        for command in ("link set lo up", "link add one type veth peer name other",
                        "link set one up", "link set other up",
                        "addr add 192.0.2.1/24 dev one",
                        "neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev one"):
            made = subprocess.run(["ip", *command.split()], capture_output=True, check=False)
            if made.returncode != 0:
                self.skipTest(f"ip {command}: {made.stderr.decode()}")

    def run_on(self, interface):
        """What a run says of 60 datagrams that leave by `one`, and how many were wrong."""
        with subprocess.Popen([SLUICE, "run", "-i", interface, "-f", "udp port 9", "--metrics", "0",
                               "--header-checks=checksums", "--alerts", "eve:/dev/null"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            said = process.stderr.readline().decode()
            self.assertTrue(case.serves(said), said)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for _ in range(60):
                    sender.sendto(b"hello", ("192.0.2.2", 9))
            process.send_signal(signal.SIGINT)
            summary, errors = process.communicate(timeout=60)
        self.assertIn(b"packets    60,", summary)
        wrong = re.search(rb"(\d+)  udp-checksum", summary)
        return errors.decode(), int(wrong[1]) if wrong else 0

    def test_checksums_of_an_ethernet_interface(self):
        """Only packets of its own address are laid to an interface, and only wrong ones."""
        errors, wrong = self.run_on("one")
        self.assertRegex(errors, r"^sluice: one: (\d+) of the first \1 packets that this host sent")
        self.assertEqual(wrong, 60)
        self.assertEqual(self.run_on("other"), ("", 60))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            value = ctypes.create_string_buffer(struct.pack("II", self.ETHTOOL_STXCSUM, 0))
            fcntl.ioctl(any_socket, self.SIOCETHTOOL,
                        struct.pack("16sP16x", b"one", ctypes.addressof(value)))
        self.assertEqual(self.run_on("one"), ("", 0))


if __name__ == "__main__":
    case.main()
