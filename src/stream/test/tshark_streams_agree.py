#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the bytes of each half of TCP conversations with `tshark -z follow,tcp,raw`.

usage: tshark_streams_agree.py STREAM_LINES [PERCENT]

Takes each capture of $SLUICE_TEST_DATA/pcap of at most 1 MB, or PERCENT of them (1), evenly spread.
The first 40 conversations of tshark are compared, by the bytes that each end sent to the other.
tshark does without checksums, windows, timestamps and the order of handshakes: where it calls a
segment out of order, lost, retransmitted, urgent or a reset of a conversation that goes on, it may
find other bytes. Such conversations are counted apart.
"""
import collections
import concurrent.futures
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder of tests stays as it is
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../dissect/test")]
import tshark
from tshark_agrees import OPTIONS, configure

STREAMS, BYTES = 40, 1 << 20
GAP = re.compile("5b(3.)+" + " bytes missing in capture file]".encode().hex())
NODE = re.compile(r"Node [01]: \[?([^]]*)\]?:(\d+)$")
ODD = ("tcp.analysis.retransmission || tcp.analysis.out_of_order || tcp.analysis.lost_segment || "
       "tcp.analysis.ack_lost_segment || tcp.analysis.keep_alive || tcp.flags.urg == 1 || "
       "tcp.flags.reset == 1 || tcp.analysis.window_full || tcp.analysis.zero_window || "
       "tcp.analysis.reused_ports || (tcp.flags.syn == 1 && tcp.len > 0) || _ws.malformed || "
       "tcp.analysis.duplicate_ack || tcp.connection.synack && tcp.analysis.retransmission")


def streams(program, path):
    """All bytes that one end sent to the other, as digits; None where the file is no capture."""
    result = tshark.run([program, path])
    if result.returncode != 0:
        return None
    sent = collections.defaultdict(str)
    for line in result.stdout.splitlines():
        *ends, digits = line.split("\t")
        sent[tuple(ends)] += digits
    return sent


def follow(path, env):
    """The same of tshark, with the numbers of the conversations."""
    more = ["-q"]
    for stream in range(STREAMS):
        more += ["-z", f"follow,tcp,raw,{stream}"]
    result = tshark.run(tshark.command(path, OPTIONS) + more, env=env)
    if result.returncode != 0:
        return None
    sent, numbers = collections.defaultdict(list), {}
    stream, nodes = None, []
    for line in result.stdout.splitlines():
        match = NODE.match(line)
        if line.startswith("Filter: tcp.stream eq"):
            stream, nodes = int(line.split()[-1]), []
        elif match:
            nodes.append((match[1], match[2]))
        elif stream is not None and re.fullmatch(r"\t?[0-9a-f]+", line):
            ends = nodes if line[0] != "\t" else nodes[::-1]
            key = (*ends[0], *ends[1])
            sent[key].append((stream, line.strip()))
            numbers.setdefault(frozenset(ends), set()).add(stream)
    found = {key: "".join(digits for _, digits in sorted(parts, key=lambda part: part[0]))
             for key, parts in sent.items()}
    return found, numbers


def compare(program, path, env):
    """Counts of equal, odd and different halves, and the different ones; None: not read."""
    mine, theirs = streams(program, path), follow(path, env)
    if mine is None or theirs is None:
        return None
    sent, numbers = theirs
    # tshark does not tell of every gap.
    different = [key for key in sent if GAP.sub("", mine[key]) != GAP.sub("", sent[key])]
    odd = set()
    if different:
        rows = tshark.run(tshark.fields(path, OPTIONS, ["tcp.stream"]) + ["-Y", ODD], env=env)
        odd = {int(number) for number in re.findall(r"\d+", rows.stdout)}
    explained = [key for key in different
                 if numbers[frozenset((key[:2], key[2:]))] & odd]
    return len(sent) - len(different), len(explained), [k for k in different if k not in explained]


def main():
    folder = tshark.captures_folder()
    paths = tshark.percent_of(tshark.captures(folder, BYTES), tshark.how_many(2, 1))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as config, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        env = configure(config)
        for path, result in zip(paths, pool.map(lambda p: compare(sys.argv[1], p, env), paths)):
            if result is None:
                counts["captures not read"] += 1
                continue
            equal, explained, different = result
            counts["captures"] += 1
            counts["halves equal"] += equal
            counts["different and odd"] += explained
            counts["different"] += len(different)
            if os.environ.get("SLUICE_TEST_VERBOSE") and explained:
                print(f"{os.path.basename(path)}: {explained} odd")
            if different:
                print(f"{os.path.basename(path)}: {different[:2]}")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["different"] or counts["captures not read"] > counts["captures"] else 0


if __name__ == "__main__":
    sys.exit(main())
