#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signatures and files that are made to cost much: each signature's literals lie everywhere in its
file, and it matches nowhere.

usage: hostile_scan.py FOLDER [MIB]   writes each signature and its file into FOLDER
"""
import os
import sys

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


def content(repeated, length):
    return (repeated * (length // len(repeated) + 1))[:length]


def main(folder, mib="1"):
    os.makedirs(folder, exist_ok=True)
    for name, ending, signature, repeated in CASES:
        with open(os.path.join(folder, f"{name}.{ending}"), "w", encoding="ascii") as file:
            file.write(signature + "\n")
        with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
            file.write(content(repeated, int(mib) << 20))


if __name__ == "__main__":
    main(*sys.argv[1:])
