#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is left out: the list is the same in the help, the summary, its JSON and the docs.

usage: test_left_out.py SLUICE DOCS
"""
import json
import os
import re
import struct
import sys
import unittest

import case

SLUICE, DOCS = sys.argv[1:3]
# Those that no input of a test makes.
SYN, ACK = 2, 16
NOT_HERE = {"dropped_packets", "unevaluated_bytes_of_streams", "forgotten_ends_of_streams",
            "flows_read_in_part", "messages_of_flows", "cut_bodies", "files_not_kept_whole",
            "files_not_stored", "packets_not_in_captures_of_alerts",
            "captures_of_alerts_without_begin", "suspect"}


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


def list_of(page, begin):
    """What a paragraph of the docs, from this text on, has between backticks."""
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        text = file.read().split(begin)[1].split("\n\n")[0]
    return [word.replace("\n", " ") for word in re.findall("`([^`]*)`", text)]


def udp(port, payload):
    header = struct.pack(">HHHH", port, 53, 8 + len(payload), 0)
    packet = struct.pack(">BBHIBBH4s4s", 0x45, 0, 28 + len(payload), 0, 64, 17, 0, bytes(4),
                         bytes(4)) + header + payload
    return b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + packet


def first_fragment():
    packet = bytearray(udp(9, bytes(16)))
    packet[14 + 6] = 0x20
    return bytes(packet)


def tcp(source, port, flags, seq, ack, payload=b"", wrong=0):
    """The checksum is off by `wrong`."""
    header = struct.pack(">HHIIBBHHH", source, port, seq, ack, 0x50, flags, 999, 0, 0)
    segment = header + payload + bytes(len(payload) % 2)
    total = 6 + 20 + len(payload) + sum(struct.unpack(f">{len(segment) // 2}H", segment))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    header = header[:16] + struct.pack(">H", total ^ wrong) + header[18:]
    packet = struct.pack(">BBHIBBH4s4s", 0x45, 0, 40 + len(payload), 0, 64, 6,
                         0xFFFF - 0x4500 - 40 - len(payload) - 0x4006, bytes(4),
                         bytes(4)) + header + payload
    return b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + packet


def waiting(port):
    """A flow with four bytes behind a hole of nine, and two that nobody acknowledges."""
    return [tcp(port, 80, SYN, 100, 0), tcp(80, port, SYN | ACK, 500, 101),
            tcp(port, 80, ACK, 101, 501), tcp(port, 80, ACK, 110, 501, b"late"),
            tcp(port, 80, 0, 120, 0, b"no")]


def flood(port):
    """A flow with the first words of 40 signatures, whose second word does not come."""
    words = b"".join(b"Flood%02d" % i for i in range(40))
    return [tcp(port, 80, SYN, 100, 0), tcp(80, port, SYN | ACK, 500, 101),
            tcp(port, 80, ACK, 101, 501, words), tcp(80, port, ACK, 501, 101 + len(words))]


def capture(packets, link_type=1):
    return struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link_type) + b"".join(
        struct.pack("<IIII", 1, 0, len(packet), len(packet)) + packet for packet in packets)


class Run(case.Case):
    def arguments(self):
        """Of a run that leaves out something of each kind."""
        query = b"\0\1\1\0\0\1\0\0\0\0\0\0" + b"\7example"
        flows = [*waiting(7), *flood(5), *[udp(port, b"") for port in range(1, 60001)],
                 *waiting(8), tcp(6, 80, SYN, 100, 0), tcp(80, 6, ACK, 500, 101)]
        rule = b'alert udp any any -> any any (msg:"%s"; content:"x"; sid:%d;)\n'
        return (
            "-r", self.path("flows.pcap", capture([udp(9, query), udp(9, b"")[:36],
                                                 first_fragment(), *flows])),
            self.path("user.pcap", capture([b"x"] * 3, 147)),
            self.path("cut.pcap", capture([udp(9, b"")])[:-1]),
            "--rules", self.path("a.rules", rule % (b"a", 1) + rule % (b"b", 1)
                                 + rule.replace(b"sid", b"lua:x; sid") % (b"c", 2) + b"alert\n"
                                 + rule.replace(b"udp", b"tcp") % (b"d", 4)),
            "--scan", self.path("a.ndb", b"World:0:*:776f726c64\nWrong:0:*\n"
                                + b"".join(b"F:0:*:466c6f6f643%d3%d{300-400}2121\n"
                                           % divmod(i, 10) for i in range(40))),
            "--scan", self.path("a.hdb", b"d41d8cd98f00b204e9800998ecf8427e:5:Five\n"),
            "--scan", self.path("a.ldb", b"I;Engine:51-255,Target:1,IconGroup1:a;0;4142434445\n"),
            "--names-format", "adblock",
            "--names", self.path("names", b"||example.com^\n||a.example^$third-party\n||a b^\n"),
            "--flow-memory", "400K", "--device", "cpu")

    def test_help_summary_and_docs_have_one_list(self):
        names = list_of("counters.md", "has them in `left_out`:")
        helped = sluice("run", "--help").stdout.decode().split("left out, and counted")[1]
        self.assertEqual([line.strip() for line in helped.splitlines()[1:]],
                         [name.replace("_", " ") for name in names])
        arguments = self.arguments()
        counts = json.loads(sluice("run", *arguments, "--json").stdout)["left_out"]
        self.assertEqual(list(counts), names)
        self.assertEqual({name for name, n in counts.items() if n == 0}, NOT_HERE & set(counts))
        text = sluice("run", *arguments, "--alerts", "eve:/dev/null").stdout.decode()
        told = re.findall(r"^ +([0-9,]+)  (.*)$", text.split("\nleft out\n")[1], re.MULTILINE)
        self.assertEqual([(n.replace(",", ""), what) for n, what in told],
                         [(str(counts[name]), name.replace("_", " ")) for name in names
                          if counts[name] != 0])
        self.assertEqual((counts["undissected_packets"], counts["bad_rules"],
                          counts["skipped_rules"], counts["repeated_rules"]), (3, 1, 1, 1))
        self.assertEqual([n for name, n in counts.items() if "stream" in name], [18, 1, 4, 0, 0])
        ends = 2  # of waiting flows: what their ends give is in no window
        self.assertEqual(counts["virus_parts_not_followed"], 40 - 32 + ends)

    def test_segments_with_wrong_checksums(self):
        packets = [tcp(7, 80, SYN, 100, 0), tcp(80, 7, SYN | ACK, 500, 101),
                   tcp(7, 80, ACK, 101, 501, b"sec"), tcp(7, 80, ACK, 104, 501, b"ZZZ", 1),
                   tcp(7, 80, ACK, 104, 501, b"ret"), tcp(80, 7, ACK, 501, 107)]
        rule = b'alert tcp any any -> any any (msg:"a"; content:"secret"; sid:1;)\n'
        arguments = ("-r", self.path("decoy.pcap", capture(packets)), "--rules",
                     self.path("a.rules", rule), "--device", "cpu", "--json")
        for more, alerts, left_out, conflicts in (
                (("--header-checks",), 1, 1, 0), (("--header-checks", "-k", "none"), 0, 0, 1),
                (("--header-checks=all,-tcp-checksum",), 0, 0, 1), ((), 0, 0, 1)):
            result = json.loads(sluice("run", *arguments, *more).stdout)
            self.assertEqual((result["alerts_total"], result["left_out"]["segments_not_in_streams"],
                              result["streams"]["conflicts"]), (alerts, left_out, conflicts), more)

    def test_nothing_is_left_out(self):
        path = self.path("one.pcap", capture([udp(9, b"")]))
        self.assertNotIn(b"left out", sluice("run", "-r", path).stdout)
        counts = json.loads(sluice("run", "-r", path, "--json").stdout)["left_out"]
        self.assertEqual(set(counts.values()), {0})


class Scan(case.Case):
    def test_help_summary_and_docs_have_one_list(self):
        listed = list_of("virus-scan.md", "The summary counts what was left out:")
        titles = [title for title in listed if title[0].isupper()]
        names = [name for name in listed if name[0].islower() and name[0] != "-"]
        self.assertEqual(len(titles), len(names))
        helped = sluice("scan", "--help").stdout.decode().split("Left out, and counted")[1]
        self.assertEqual([line.split("(")[0].strip() for line in helped.splitlines()[1:]], titles)
        base = self.path("a.ndb", b"World:0:*:776f726c64\nWrong:0:*\nLater:0:VI:6162636465\n")
        arguments = ("-d", base, "--max-filesize", "1000", self.path("large", b"x" * 1001),
                     self.path("a.7z", b"7z\xbc\xaf'\x1c" + b"x" * 60), self.path("none"))
        text = sluice("scan", *arguments).stdout.decode()
        summary = json.loads(sluice("scan", "--json", *arguments).stdout.splitlines()[-1])
        counts = {name: summary["summary"][name] for name in names}
        self.assertEqual({name for name, n in counts.items() if n == 0}, NOT_HERE & set(counts))
        told = re.findall(r"^([A-Z][a-z ]*): ([0-9]+)(?: \(.*\))?$", text, re.MULTILINE)
        self.assertEqual([pair for pair in told if pair[0] in titles],
                         [(title, str(counts[name])) for title, name in zip(titles, names)
                          if counts[name] != 0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
