#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What sluice run reads: packed files, folders, filters, and what it prints of them.

usage: test_sources.py SLUICE SAMPLES
"""
import gzip
import json
import lzma
import os
import struct
import subprocess
import sys

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
MIXED = os.path.join(SAMPLES, "mixed.pcapng")
RULES = os.path.join(SAMPLES, "sample.rules")


def run(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SLUICE, "run", *arguments], capture_output=True, timeout=300, **options)


def content(path=CAPTURE):
    with open(path, "rb") as file:
        return file.read()


def capture(*seconds):
    """A capture of packets with these times."""
    records = b"".join(struct.pack("<IIII", second, 0, 4, 4) + b"abcd" for second in seconds)
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + records


class Sources(case.Case):
    def summary(self, *arguments, **options):
        result = run("--json", *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout)

    # ---- packed files

    def test_xz(self):
        plain = self.summary("-r", CAPTURE, "--rules", RULES)
        packed = lzma.compress(content())
        half = len(content()) // 2
        for name, data in (
                ("whole", packed), ("padded", packed + bytes(8)),
                ("two", lzma.compress(content()[:half]) + lzma.compress(content()[half:])),
                ("crc", lzma.compress(content(), check=lzma.CHECK_CRC32, preset=9))):
            path = self.path(name + ".pcap.xz", data)
            found = self.summary("-r", path, "--rules", RULES)
            for key in ("packets", "bytes", "alerts", "protocols", "flows"):
                self.assertEqual(found[key], plain[key], name)
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            self.assertEqual(self.summary("-r", "-", stdin=cat.stdout)["packets"], plain["packets"])

    def test_xz_that_is_damaged(self):
        packed = lzma.compress(content())
        for name, data, reason in (
                ("cut", packed[:len(packed) // 2], b"ends early"),
                ("flipped", packed[:2000] + bytes([packed[2000] ^ 255]) + packed[2001:],
                 b"corrupt xz data"),
                ("followed", packed + b"garbage", b"something else follows")):
            result = run("-r", self.path(name, data), "--json")
            self.assertEqual(result.returncode, 2, name)
            self.assertIn(reason, result.stderr)

    # ---- folders

    def test_a_folder_in_the_order_of_time(self):
        os.mkdir(self.path("folder"))
        for name, data in (("a", capture(30, 31)), ("b.pcap.gz", gzip.compress(capture(10))),
                           ("c", capture(20)), ("d", capture()), ("notes.txt", b"no capture")):
            self.path("folder/" + name, data)
        os.mkdir(self.path("folder/below"))
        self.path("folder/below/e", capture(1))
        os.mkfifo(self.path("folder/pipe"))
        os.symlink("nowhere", self.path("folder/dangling.pcap"))
        eve = self.path("eve.json")
        result = run("-r", self.path("folder"), "--header-checks", "--json", "--alerts",
                     "eve:" + eve)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.decode().count("\n"), 1)
        self.assertIn(b"files in it that are no captures: 3, folders, which are not searched: 1\n",
                      result.stderr)
        self.assertEqual(json.loads(result.stdout)["packets"], 4)
        with open(eve, encoding="utf-8") as lines:
            files = [os.path.basename(json.loads(line)["pcap_filename"]) for line in lines]
        self.assertEqual(files, ["b.pcap.gz", "c", "a", "a"])

    def test_a_folder_without_captures(self):
        self.assert_refused(run("-r", self.folder.name), self.folder.name, "no capture")
        self.path("text", b"no capture")
        self.assert_refused(run("-r", self.folder.name), "no capture", "1")

    def test_a_cut_capture_in_a_folder_is_said(self):
        self.path("cut", content()[:-3])
        result = run("-r", self.folder.name, "--json")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"ends inside", result.stderr)

    # ---- filters

    def test_filters_of_files(self):
        large = self.path("large.pcap", content() + content()[24:] * 99)
        all_of = self.summary("-r", CAPTURE)
        for words, name in ((["udp"], "UDP"), (["icmp", "or", "icmp6"], None), (["tcp"], "TCP")):
            ways = (["-f", " ".join(words), "-r", CAPTURE], ["-r", CAPTURE, "--", *words],
                    ["-r", CAPTURE, CAPTURE, "--", " ".join(words)],
                    ["-f", " ".join(words), "-r", large])
            for arguments, times in zip(ways, (1, 1, 2, 100)):
                found = self.summary(*arguments)
                wanted = (all_of["protocols"][name]["packets"] if name else
                          sum(all_of["protocols"][of]["packets"] for of in ("ICMP", "ICMPv6")))
                # BPF follows no extension headers and sees no ports of later fragments.
                self.assertAlmostEqual(found["packets"], wanted * times, delta=8 * times)
                self.assertLess(found["packets"], all_of["packets"] * times)
        self.assertEqual(self.summary("-r", CAPTURE, "-f", "port 1 and port 2")["packets"], 0)

    def test_packets_keep_their_numbers(self):
        def numbers(*arguments):
            result = run("-r", CAPTURE, "--rules", RULES, "--alerts", "eve:-", *arguments)
            events = [json.loads(line) for line in result.stdout.splitlines()]
            return {event["pcap_cnt"] for event in events if event["proto"] == "UDP"}
        self.assertTrue(numbers())
        self.assertEqual(numbers("-f", "udp"), numbers())

    def test_a_filter_of_several_link_types(self):
        every = self.summary("-r", MIXED)["packets"]
        self.assertEqual(self.summary("-r", MIXED, "-f", "len >= 0")["packets"], every)
        self.assertEqual(self.summary("-r", MIXED, "-f", "less 0")["packets"], 0)

    def test_bad_filters(self):
        self.assert_refused(run("-r", CAPTURE, "-f", "tcp prot 80"), "tcp prot 80", "syntax")
        self.assert_refused(run("-r", CAPTURE, "-f", "tcp", "--", "udp"), "two filters", "'tcp'",
                            "'udp'")
        result = run("-r", MIXED, "-f", "tcp prot 80", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"syntax", result.stderr)
        self.assert_refused(run("tcp", "-r", CAPTURE), "'tcp'", "--")

    # ---- what is printed

    def test_quiet(self):
        for option in ("-q", "--quiet"):
            result = run("-r", CAPTURE, "--rules", RULES, option)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertEqual(len(result.stdout.splitlines()), 18)
            self.assertNotIn(b"packets ", result.stdout)
        self.assert_refused(run("-r", CAPTURE, "-q", "--json"), "-q", "--json")

    def test_settings_of_suricata(self):
        """Variables among them count; the others have no effect."""
        without = self.summary("-r", CAPTURE, "--rules", RULES)["alerts"]
        of_suricata = self.summary("-r", CAPTURE, "--rules", RULES, "-k", "none", "--set",
                                   "outputs.0.fast.enabled=no")
        self.assertEqual(of_suricata["alerts"], without)
        sets = [self.summary("-r", CAPTURE, "--rules", RULES, "--set", prefix +
                             "HOME_NET=[192.0.2.77]")["alerts"]
                for prefix in ("", "vars.address-groups.")]
        self.assertEqual(sets[0], sets[1])
        self.assert_refused(run("-r", CAPTURE, "--rules", RULES, "--set",
                                "vars.address-groups.HOME_NET=x"), "HOME_NET=x")


class WhatNeverEnds(case.Case):
    """Each reader of a file is bounded, or refuses it. Its address space shows what it holds."""

    def setUp(self):
        super().setUp()
        if self.sluice("--version").returncode != 0:
            self.skipTest("a sanitizer needs more address space")

    def sluice(self, *arguments, **options):
        return case.run("sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", SLUICE, *arguments,
                        **options)

    def test_endless_files_are_refused(self):
        rules = os.path.join(SAMPLES, "sample.rules")
        names = self.path("names", b"a.example\n")
        base = self.path("a.ndb", b"World:0:*:776f726c64\n")
        out = self.path("out")
        run = ("run", "-r", CAPTURE)
        for arguments, why in (
                (("lookup", "--table", "/dev/zero", "a"), "is a device"),
                (("lookup", "--table", "/dev/urandom", "--build", out), "is a device"),
                (("lookup", "--table", names, "--update", "/dev/zero"), "is longer than 1048576"),
                (("rules", "/dev/zero"), "is longer than 256 MiB"),
                (("scan", "-d", "/dev/zero", names), "is no compiled database"),
                (("encode", "/dev/zero", out), "is a device"),
                (("decode", "/dev/urandom", out), "is a device"),
                (("run", "-r", "/dev/zero"), "not a pcap or pcapng capture"),
                ((*run, "--rules", "/dev/zero"), "is longer than 256 MiB"),
                ((*run, "--rules", rules, "--compiled", "/dev/zero"), "cannot be read"),
                ((*run, "--names", "/dev/zero"), "is a device"),
                ((*run, "--scan", "/dev/zero"), "is no compiled database"),
                ((*run, "--redundancy", "samplebyte", "--train", "/dev/zero"),
                 "not a pcap or pcapng capture")):
            device = next(word for word in arguments if word.startswith("/dev/"))
            self.assert_refused(self.sluice(*arguments), device, why)
        self.assertFalse(os.path.exists(out))
        result = self.sluice("scan", "-d", base, "--no-summary", "-f", "/dev/zero")
        self.assertEqual((result.returncode, result.stdout),
                         (2, b"/dev/zero: holds a NUL byte (expected a path a line)\n"))

    def test_lines_are_bounded(self):
        def table(text):
            return self.sluice("lookup", "--format", "domains", "--table", self.path("names", text),
                               "a.example")

        limit = 1 << 20
        self.assertEqual(table(b"a.example\n#" + b"x" * (limit - 1) + b"\n").returncode, 0)
        self.assert_refused(table(b"a.example\n\n#" + b"x" * limit + b"\nb.example\n"),
                            "names:3: the line is longer than 1048576 bytes")
        base = self.path("a.ndb", b"World:0:*:00776f726c64\n")
        list_of_files = self.path("list", base.encode() + b"\n" + b"x" * 4096 + b"\n")
        result = self.sluice("scan", "-d", base, "--no-summary", "-f", list_of_files)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"a.ndb: OK\n", result.stdout)
        self.assertIn(b"list: holds a line that is longer than a path", result.stdout)


if __name__ == "__main__":
    case.main()
