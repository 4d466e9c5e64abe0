#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares, packet by packet, the names that name_extract_table and tshark find in real captures.

usage: tshark_names_agree.py NAME_EXTRACT_TABLE [N_FILES]

Captures are taken from $SLUICE_TEST_DATA/pcap, N_FILES of them (200), evenly spread over those in
which either program may find a name. tshark runs without reassembly of segments and fragments. In
each packet both must find the same names of DNS questions, the same hosts and targets of HTTP
requests, and the same server names of TLS. What they see differently by design is told by
by_design(), as narrowly as it can be told.
"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

OPTIONS = ["tcp.desegment_tcp_streams:FALSE", "ip.defragment:FALSE", "ipv6.defragment:FALSE",
           "tls.desegment_ssl_records:FALSE", "http.desegment_headers:FALSE",
           "http.desegment_body:FALSE", "dns.desegment_dns_messages:FALSE"]
FIELDS = ["frame.number", "frame.protocols", "dns.qry.name", "dns.qry.type", "http.host",
          "http.request.uri", "http.request.version", "tls.handshake.extensions_server_name",
          "udp.port", "tcp.port", "_ws.malformed", "tcp.payload", "udp.payload", "dns.flags",
          "dns.count.queries"]
BETWEEN = "\x1f"
FILE_BYTES_MAX = 2000000
SKIPPED = 77

Name = collections.namedtuple("Name", "protocol name detail")


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape",
                          check=False)


def escaped(text):
    """Bytes beyond ASCII and controls as our table writes them, whatever tshark makes of them."""
    return re.sub(r"[^\x21-\x7e]", lambda match: "".join(
        "\\x%02x" % byte for byte in match.group().encode("utf-8", "surrogateescape")), text)


def ours(program, path):
    """Names and reasons of each packet; None where the file is no capture."""
    result = run([program, path])
    if result.returncode != 0:
        return None
    names, reasons = collections.defaultdict(list), {}
    for line in result.stdout.split("\n")[:-1]:
        number, protocol, name, detail = line.split("\t")
        if protocol == "-":
            reasons[int(number)] = detail.split()
        elif protocol != "ndn":
            names[int(number)].append(Name(protocol, name, detail))
    return names, reasons


def domain(text):
    """A name of DNS as we write it: tshark has the labels' bytes as they are, but for blanks."""
    if text == "<Root>":
        return "."
    return re.sub(r"\\(\d\d\d|.)", r"\\\1", text.lower())


def host(text):
    """A Host field or authority without user and port, as we write it."""
    text = text.rpartition("@")[2].strip().lower()
    return re.sub(r":\d*$", "", text).rstrip(".")


def requests(row):
    """Pairs of host and target: the target says the host where it holds one."""
    uris, hosts = row["http.request.uri"], row["http.host"]
    found = []
    for i, uri in enumerate(uris):
        absolute = re.match(r"[A-Za-z0-9.+_~-]+://([^/?#]*)", uri)
        of = absolute.group(1) if absolute else hosts[i] if i < len(hosts) else ""
        found.append(Name("http", host(of), escaped(uri)))
    return found


def theirs(row):
    names = [Name("dns", domain(name), "") for name in row["dns.qry.name"]]
    names += requests(row)
    names += [Name("tls", host(name), "")
              for name in row["tls.handshake.extensions_server_name"]]
    return names


def plain(name):
    """Our name in the form in which tshark's are compared."""
    if name.protocol == "http":
        return Name("http", re.split(r"[/?]", name.name)[0], name.detail)
    if name.protocol == "dns":
        return Name("dns", name.name, "")
    return Name(name.protocol, name.name, "")


def tshark(path):
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=a", "-E",
               "aggregator=" + BETWEEN]
    for option in OPTIONS:
        command += ["-o", option]
    for field in FIELDS:
        command += ["-e", field]
    result = run(command)
    rows = {}
    for line in result.stdout.split("\n")[:-1]:
        values = line.split("\t")
        values += [""] * (len(FIELDS) - len(values))
        row = {field: value.split(BETWEEN) if value else []
               for field, value in zip(FIELDS, values)}
        rows[int(row["frame.number"][0])] = row
    return rows


def main():
    pass


if __name__ == "__main__":
    sys.exit(main())
