# SPDX-License-Identifier: MIT
"""A gzip file and a zip that unpack to themselves.

Two steps make the output: L(n) writes the n bytes that follow it, a stored block, and R(n) writes
the last n bytes again, a match in a fixed block. P and S are what lies around the steps.
"""
import struct
import zlib

STEP = 5  # bytes of L(n), and of the R(n) that others count
NAME = b"q" * 30  # so that R(n) of the head has that length
COMMENT = b"c" * 8


def literal(n):
    return struct.pack("<BHH", 0, n, n ^ 0xFFFF)


def code_of(value, first, n_first, per_width):
    """The code, its extra bits and their number, for a length or a distance."""
    code = width = 0
    base = first
    while value >= base + (1 << width):
        base += 1 << width
        code += 1
        width = max(0, (code - n_first) // per_width + 1) if code >= n_first else 0
    return code, value - base, width


class Bits:
    def __init__(self):
        self.bits = []

    def number(self, value, width):
        self.bits += [value >> i & 1 for i in range(width)]

    def code(self, value, width):
        self.bits += [value >> i & 1 for i in reversed(range(width))]

    def match(self, length, distance):
        code, extra, width = code_of(length, 3, 8, 4)
        self.code(*((code + 1, 7) if code < 23 else (0xC0 + code - 23, 8)))
        self.number(extra, width)
        code, extra, width = code_of(distance, 1, 4, 2)
        self.code(code, 5)
        self.number(extra, width)


def block(n, parts):
    """A block of matches; empty ones fill the last byte."""
    bits = Bits()
    bits.number(2, 3)
    for part in parts:
        bits.match(part, n)
    bits.code(0, 7)
    if len(bits.bits) % 2 != 0:  # no number of empty blocks, of 10 bits each, fills it
        return None
    while len(bits.bits) % 8 != 0:
        bits.number(2, 3)
        bits.code(0, 7)
    return bytes(sum(bit << i for i, bit in enumerate(bits.bits[at:at + 8]))
                 for at in range(0, len(bits.bits), 8))


def repeat(n):
    """One match, or two: what takes fewer bytes."""
    blocks = [block(n, [n]), block(n, [n // 2, n - n // 2])]
    return min((one for one in blocks if one is not None), key=len)


def steps(head, tail):
    """What writes itself between the head and the tail, which it writes, too."""
    begin, four = literal(len(head) + STEP), literal(4 * STEP)
    again, four_again = repeat(len(head) + STEP), repeat(4 * STEP)
    behind = next(one for n in range(4, 9) for one in [repeat(len(tail) + n)] if len(one) == n)
    end = literal(len(behind) + len(tail))
    one = literal(STEP)
    assert len(again) == len(four_again) == STEP
    return b"".join((begin, head, begin, again, one, again, one, one,
                     four, again, one, one, four, four_again,
                     four, four_again, four, four_again, four, four_again,
                     four, four_again, literal(0), literal(0), end,
                     four_again, literal(0), literal(0), end, behind, tail, behind))


def with_its_sum(make):
    """make(sum) for the CRC-32 that the result has: the sum of bytes is linear in their bits."""
    base = zlib.crc32(make(0))
    rows = [zlib.crc32(make(1 << i)) ^ base ^ 1 << i for i in range(32)]
    known, total = base, 0
    basis = {}
    for i, row in enumerate(rows):  # each value with the bits of the sum that make it
        bits = 1 << i
        for top in sorted(basis, reverse=True):
            if row >> top & 1:
                row, bits = row ^ basis[top][0], bits ^ basis[top][1]
        if row:
            basis[row.bit_length() - 1] = row, bits
    for top in sorted(basis, reverse=True):
        if known >> top & 1:
            known, total = known ^ basis[top][0], total ^ basis[top][1]
    if known:
        raise ValueError("no such sum")
    return make(total)


def gzip_quine():
    head = b"\x1f\x8b\x08\x08" + bytes(6) + b"quin" + b"\0"

    def make(length):
        def of_sum(value):
            tail = b"\1\0\0\xff\xff" + struct.pack("<II", value, length)
            return head + steps(head, tail) + tail
        return of_sum

    return with_its_sum(make(len(make(0)(0))))


def zip_quine():
    def make(length):
        def of_sum(value):
            fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, value, length - 46 - len(NAME) - 22
                                 - len(COMMENT) - 30 - len(NAME) if length else 0, length,
                                 len(NAME), 0)
            head = b"PK\3\4" + fields + NAME
            at = length - 46 - len(NAME) - 22 - len(COMMENT)
            tail = (b"\1\0\0\xff\xff" + b"PK\1\2" + struct.pack("<H", 20) + fields +
                    struct.pack("<HHHII", 0, 0, 0, 0, 0) + NAME + b"PK\5\6" +
                    struct.pack("<HHHHIIH", 0, 0, 1, 1, 46 + len(NAME), max(at, 0), len(COMMENT)) +
                    COMMENT)
            return head + steps(head, tail) + tail
        return of_sum

    return with_its_sum(make(len(make(0)(0))))
