#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signatures and files that are made to cost much.

CASES: each signature's literals lie everywhere in its file, and it matches nowhere. BOMBS: small
files that hold much, or themselves.

usage: hostile_scan.py FOLDER [MIB]   writes each signature with its file, and bombs, into FOLDER
"""
import io
import os
import struct
import sys
import tarfile
import zipfile

import quines

# Name, kind of database, signature, the bytes that its file repeats.
CASES = (
    ("gap", "ndb", "Gap:0:*:41414141{0-60000}42424242", b"A"),
    ("mixed", "ndb", "Mixed:0:*:41414141{0-60000}42424242{0-60000}43434343", b"AAAABBB xyzw"),
    ("middle", "ndb", "Middle:0:*:41414141{0-60000}42424242{0-60000}43434343", b"BBBBCCCC"),
    ("far", "ndb", "Far:0:*:41414141*42424242*43434343*44", b"AAAABBBBCCCC"),
    ("count", "ldb", "Count;Engine:51-255,Target:0;0>9;61616161{0-60000}62626262", b"a"),
    ("wide", "ldb", "Wide;Engine:51-255,Target:0;0>9;6161{0-200000}6161{0-200000}6162", b"a"),
    ("alternates", "ndb", "Alternates:0:*:6161(61|62)(61|62){0-5000}(61|62)61(61|62)63", b"a"),
    ("behind", "ndb", "Behind:0:*:6161(61|62){0-5000}(61|62)(61|62){0-5000}(62|63)", b"a"),
    ("lengths", "ndb", "Lengths:0:*:6161(61|6161|616161){0-5000}(61|6161)62", b"a"),
    ("chain", "ndb", "Chain:0:*:616161(61|6161|616161)(61|6161)(61|6161|62)(61|6161)63", b"a"),
    ("long", "ndb",
     "Long:0:*:6161(" + "|".join("61" * 200 + f"{i:x}" for i in range(98, 128)) + ")", b"a"),
)


LEVELS = 10000


def zip_of(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return file.getvalue()


def copies(member=bytes(2 << 20), levels=5):
    """As 42.zip: 16 copies of 16 copies, and so on: 2 TiB."""
    for _ in range(levels):
        member = zip_of({str(i): member for i in range(16)})
    return member


def overlapping(members=2000, length=1 << 20):
    """A directory of members, all of which are one."""
    one = zip_of({"a": bytes(length)})
    at = one.index(b"PK\1\2")
    entry = one[at:one.index(b"PK\5\6")]
    return one[:at] + members * entry + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, members, members,
                                                    members * len(entry), at, 0)


def nested_mails():
    return b"From: a\nContent-Type: message/rfc822\n\n" * LEVELS


def nested_parts():
    return b"From: a\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (i, i) for i in range(LEVELS))


def nested_tars():
    head = tarfile.TarInfo("a").tobuf()
    fixed = sum(head[:124]) + sum(head[136:148]) + 256 + sum(head[156:])
    return b"".join(head[:124] + size + head[135:148] + b"%06o\0 " % (fixed + sum(size)) +
                    head[156:] for size in (b"%011o" % (512 * i) for i in range(LEVELS, 0, -1))
                    ) + bytes(512)


# By name, what makes it, and the limit that ends its scan.
BOMBS = (
    ("quine.gz", quines.gzip_quine, "MaxRecursion"),
    ("quine.zip", quines.zip_quine, "MaxRecursion"),
    ("copies.zip", copies, None),
    ("overlapping.zip", overlapping, "MaxScanSize"),
    ("mails.eml", nested_mails, "MaxRecursion"),
    ("parts.eml", nested_parts, "MaxRecursion"),
    ("tars.tar", nested_tars, "MaxRecursion"),
)


def content(repeated, length):
    return (repeated * (length // len(repeated) + 1))[:length]


def main(folder, mib="1"):
    os.makedirs(folder, exist_ok=True)
    for name, ending, signature, repeated in CASES:
        with open(os.path.join(folder, f"{name}.{ending}"), "w", encoding="ascii") as file:
            file.write(signature + "\n")
        with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
            file.write(content(repeated, int(mib) << 20))
    for name, make, _ in BOMBS:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(make())


if __name__ == "__main__":
    main(*sys.argv[1:])
