#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares facts of HTTP and TLS in captures with tshark's fields.

usage: tshark_app_agrees.py STREAM_LINES APP_LINES [PERCENT]

Takes each capture of $SLUICE_TEST_DATA/pcap of at most 1 MB, or PERCENT of them (1), evenly spread.
What tshark finds must be found as often here, but for LEAST parts of a hundred: tshark reads
tunnels of SOCKS, STARTTLS and damaged streams, too. tshark looks on known ports alone, so more
may be found here.
"""
import collections
import concurrent.futures
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder of tests stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import tshark

BYTES, LEAST = 1 << 20, 90
FIELDS = ["http.request.method", "http.request.uri", "http.host", "http.user_agent", "http.referer",
          "http.response.code", "http.server", "http.location",
          "tls.handshake.extensions_server_name", "tls.handshake.ja3", "tls.handshake.ja3s"]
# Of TCP from its handshake on, and without what another protocol opens: SOCKS, STARTTLS.
FILTER = ("tcp && (http || tls.handshake) && !eap && !quic && !websocket && !socks && !ftp && "
          "!smtp && !mysql && !pop && !imap && tcp.ack > 0 && tcp.seq > 0")


def plain(value):
    return "".join(c if " " <= c < "\x7f" else "." for c in value)


def theirs(path):
    result = tshark.run(tshark.fields(path, [], FIELDS, "-Y", FILTER, "-E", "aggregator=\x1f",
                                      "-E", "separator=\x1e"), errors="replace")
    found = collections.Counter()
    for line in result.stdout.split("\n") if result.returncode == 0 else []:
        for name, values in zip(FIELDS, line.split("\x1e")):
            for value in values.split("\x1f"):
                if value:
                    found[name, plain(value).strip()] += 1
    return found


def mine(programs, path):
    with subprocess.Popen([programs[0], path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as streams:
        result = subprocess.run([programs[1]], stdin=streams.stdout, capture_output=True,
                                text=True, errors="replace", check=False)
    found = collections.Counter()
    for line in result.stdout.split("\n")[:-1]:
        name, value = line.split("\t", 1)
        found[name, value.strip()] += 1
    return found if result.returncode == 0 else None


def main():
    folder = tshark.captures_folder()
    programs = sys.argv[1:3]
    paths = tshark.percent_of(tshark.captures(folder, BYTES), tshark.how_many(3, 1))
    wanted, met, more, failed = (collections.Counter() for _ in range(4))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, here, there in zip(paths, pool.map(lambda p: mine(programs, p), paths),
                                     pool.map(theirs, paths)):
            if here is None:
                failed[path] += 1
                continue
            for key in here.keys() | there.keys():
                wanted[key[0]] += there[key]
                met[key[0]] += min(here[key], there[key])
                more[key[0]] += max(0, here[key] - there[key])
                if os.environ.get("SLUICE_TEST_VERBOSE") and here[key] != there[key]:
                    print(f"{os.path.basename(path)}: {here[key]} of {there[key]}: {key}")
    for name in FIELDS:
        print(f"{name}: {met[name]} of {wanted[name]}, and {more[name]} more")
    total = sum(wanted[name] for name in FIELDS)
    print(f"{len(paths)} captures, {sum(met[name] for name in FIELDS)} of {total} facts")
    if failed:
        print(f"not read: {sorted(failed)}")
    return 1 if failed or sum(met[name] for name in FIELDS) * 100 < LEAST * total else 0


if __name__ == "__main__":
    sys.exit(main())
