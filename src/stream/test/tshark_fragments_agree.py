#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the number of datagrams that fragments make with tshark's.

usage: tshark_fragments_agree.py DEFRAG_LINES [PERCENT]

Takes PERCENT of the captures of $SLUICE_TEST_DATA/pcap of at most 1 MB (20), evenly spread, and of
these those that have fragments.
"""
import os
import sys

sys.dont_write_bytecode = True  # the folder of tests stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import tshark

BYTES = 1 << 20
JOINED = "ip.reassembled.length || ipv6.reassembled.length"


def main():
    captures = fragments = datagrams = different = 0
    paths = tshark.captures(tshark.captures_folder(), BYTES)
    for path in tshark.percent_of(paths, tshark.how_many(2, 20)):
        result = tshark.run([sys.argv[1], path])
        numbers = [int(number) for number in result.stdout.split()]
        if result.returncode != 0 or not numbers or numbers[0] == 0:
            continue
        theirs = len(tshark.run(tshark.command(path, []) + ["-Y", JOINED]).stdout.splitlines())
        captures += 1
        fragments += numbers[0]
        datagrams += numbers[1]
        if theirs != numbers[1]:
            different += 1
            print(f"{os.path.basename(path)}: {numbers[1]} datagrams, tshark {theirs}")
    print(f"{captures} captures, {fragments} fragments, {datagrams} datagrams, "
          f"{different} captures different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
