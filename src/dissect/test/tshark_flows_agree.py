#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the packets and bytes of each TCP and UDP conversation with `tshark -z conv`.

usage: tshark_flows_agree.py FLOW_LINES [PERCENT]

Takes PERCENT of the captures of $SLUICE_TEST_DATA/pcap (2), evenly spread. A conversation
is all flows between two ends. tshark gives numbers of 10,000 bytes and more in kB, and so they are
compared. It runs with only the layers enabled that the dissector knows, and without
defragmentation. Captures may differ in as many packets as have a header that one of the two calls
malformed, or GRE, or a header of IPv6 that gives tshark another address: then one conversation has
a packet less, and another one more. So may they in tunnels in UDP, where tshark counts the outer
conversation too. They are counted apart, as are captures that tshark does not
read to their end.
"""
import collections
import concurrent.futures
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder of tests stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import tshark
from tshark_agrees import OPTIONS, configure

PROTOCOLS = {"6": "TCP", "17": "UDP"}
ROW = re.compile(r"^(\S+):(\d+) +<-> (\S+):(\d+) +(\d+) (\d+ \S+) +(\d+) (\d+ \S+) ")
ODD = "_ws.malformed || gre || vxlan || geneve || teredo || ipv6.routing || ipv6.dstopts || " \
      "_ws.expert.severity == error"
UNITS = {"bytes": 1, "kB": 1000, "MB": 1000000}


def conversations(program, path):
    """Packets and bytes by protocol, sender and receiver, and the number of packets with defects;
    None where the file is no capture."""
    result = tshark.run([program, path])
    if result.returncode != 0:
        return None
    sent = collections.Counter()
    *lines, defects = result.stdout.splitlines()
    for line in lines:
        protocol, *ends = line.split("\t")[:5]
        client, server = tuple(ends[:2]), tuple(ends[2:])
        numbers = [int(number) for number in line.split("\t")[5:]]
        if protocol in PROTOCOLS:
            for key, packets, bytes_ in (((client, server), *numbers[:2]),
                                         ((server, client), *numbers[2:])):
                sent[PROTOCOLS[protocol], *key, "packets"] += packets
                sent[PROTOCOLS[protocol], *key, "bytes"] += bytes_
    return +sent, int(defects)


def tshark_conversations(path, env):
    """The same of tshark, where bytes may be of a coarser unit: a dictionary of (number, unit).
    None where tshark does not read it to its end, or counts below 0."""
    more = ["-q", "-z", "conv,tcp", "-z", "conv,udp"]
    result = tshark.run(tshark.command(path, OPTIONS) + more, env=env)
    if result.returncode != 0:
        return None
    sent, protocol = {}, None
    for line in result.stdout.splitlines():
        match = ROW.match(line)
        if line.endswith("Conversations"):
            protocol = line.split()[0]
        elif "<->" in line and not match:
            return None  # a packet of 2^31 bytes or more
        elif match:
            ends = (match[1], match[2]), (match[3], match[4])
            for a, b, packets, size in ((ends[1], ends[0], match[5], match[6]),
                                        (ends[0], ends[1], match[7], match[8])):
                number, unit = size.split()
                for what, more, scale in (("packets", int(packets), 1),
                                          ("bytes", int(number) * UNITS[unit], UNITS[unit])):
                    before = sent.get((protocol, a, b, what), (0, 0))
                    sent[protocol, a, b, what] = before[0] + more, before[1] + scale
    return {key: value for key, value in sent.items() if value[0]}


def compare(program, path, env):
    """The number of conversations, differences, and whether packets that are odd may explain them.
    None where one of the two does not read the capture."""
    result, theirs = conversations(program, path), tshark_conversations(path, env)
    if result is None or theirs is None:
        return None
    mine, odd = result
    differences, packets = [], 0
    for key in sorted(set(mine) | set(theirs)):
        number, unit = theirs.get(key, (0, 1))
        if not number <= mine[key] < number + unit:
            differences.append(f"{key}: {mine[key]}, tshark {number} in {unit}")
            packets += abs(mine[key] - number) if key[-1] == "packets" else 0
    n = len({(key[0], *sorted(key[1:3])) for key in mine})
    if differences:
        odd += len(tshark.run(tshark.command(path, []) + ["-Y", ODD],
                              env=env).stdout.splitlines())
    return n, differences, packets <= 2 * odd


def main():
    folder = tshark.captures_folder()
    names = tshark.percent_of(sorted(os.listdir(folder)), tshark.how_many(2, 2))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as config, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        env = configure(config)
        paths = [os.path.join(folder, name) for name in names]
        for name, result in zip(names, pool.map(lambda p: compare(sys.argv[1], p, env), paths)):
            if result is None:
                counts["not read"] += 1
                continue
            n_conversations, differences, by_odd = result
            counts["conversations"] += n_conversations
            counts["captures"] += 1
            if differences and by_odd:
                counts["different in odd packets"] += 1
            elif differences:
                counts["different"] += 1
                print(f"{name}: " + "; ".join(differences[:3]))
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["different"] or counts["not read"] * 4 > counts["captures"] else 0


if __name__ == "__main__":
    sys.exit(main())
