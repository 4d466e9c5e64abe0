#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/repeat-captures: packets in order, times that go on, and what is left out.

usage: test_repeat_captures.py REPEAT_CAPTURES
"""
import struct
import sys

from case import Case, main, run

TOOL = sys.argv[1]


def capture(packets, order="<", fraction=1, link=1):
    """A pcap file of (seconds, part, bytes)."""
    magic = 0xA1B2C3D4 if fraction == 1 else 0xA1B23C4D
    return struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link) + b"".join(
        struct.pack(order + "IIII", seconds, part, len(data), len(data) + 7) + data
        for seconds, part, data in packets)


def packets_of(data):
    """(seconds, microseconds, length on the wire, bytes)."""
    found, at = [], 24
    while at < len(data):
        seconds, part, captured, wire = struct.unpack_from("<IIII", data, at)
        found.append((seconds, part, wire, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return found


class RepeatCaptures(Case):
    def test_packets_are_repeated_while_time_goes_on(self):
        first = self.path("a", capture([(100, 5, b"one"), (100, 9, b"two")]))
        second = self.path("b", capture([(50, 3000, b"3"), (40, 0, b"4"), (900, 0, b"5")], ">",
                                        1000))
        result = run(TOOL, "2", first, second)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(packets_of(result.stdout), [
            (1, 0, 10, b"one"), (1, 4, 10, b"two"), (2, 4, 8, b"3"), (2, 4, 8, b"4"),
            (62, 4, 8, b"5"), (63, 4, 10, b"one"), (63, 8, 10, b"two"), (64, 8, 8, b"3"),
            (64, 8, 8, b"4"), (124, 8, 8, b"5")])

    def test_what_is_left_out_is_counted(self):
        whole = capture([(1, 0, b"whole"), (2, 0, b"damaged")])
        result = run(TOOL, "1", self.path("cut", whole[:-1]), self.path("no", b"no capture"),
                     self.path("raw", capture([(1, 0, b"raw")], link=101)))
        self.assertEqual(packets_of(result.stdout), [(1, 0, 12, b"whole")])
        self.assertIn(b"1 files with 1 packets; left out: 2 files, and the end of 1 damaged",
                      result.stderr)

    def test_errors(self):
        self.assertIn(b"usage", run(TOOL, "many", "file").stderr)
        result = run(TOOL, "1", self.path("none"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"No such file", result.stderr)


if __name__ == "__main__":
    main()
