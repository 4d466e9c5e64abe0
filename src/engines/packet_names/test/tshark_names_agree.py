#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares, packet by packet, the names that packet_names_table and tshark find in real captures.

usage: tshark_names_agree.py PACKET_NAMES_TABLE [N_FILES]

Captures are taken from $SLUICE_TEST_DATA/pcap, N_FILES of them (40; 0: all), evenly spread over
those with a name and the others, five to one. tshark runs without reassembly of segments and
fragments. In each packet both must find the same names of DNS questions, the same hosts and targets
of HTTP requests, and the same server names of TLS. What tshark sees differently by design is
in missing() and extra(), as narrowly as it can be stated, and counted.
"""
import collections
import concurrent.futures
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder of tests stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../tests"))
import tshark

OPTIONS = ["tcp.desegment_tcp_streams:FALSE", "ip.defragment:FALSE", "ipv6.defragment:FALSE",
           "tls.desegment_ssl_records:FALSE", "http.desegment_headers:FALSE",
           "http.desegment_body:FALSE", "dns.desegment_dns_messages:FALSE"]
FIELDS = ["frame.number", "frame.protocols", "dns.qry.name", "http.host", "http.request.uri",
          "http.request.method", "http.request.version", "tls.handshake.type",
          "tls.handshake.extensions_server_name", "udp.port", "tcp.port", "_ws.malformed",
          "_ws.expert.message"]
# What may stand before a name: the dissector's layers and the protocols themselves.
FOLLOWED = {"eth", "ethertype", "vlan", "ieee8021ad", "mpls", "ppp", "pppoes", "chdlc", "llc",
            "null", "raw", "sll", "sll2", "ip", "ipv6", "ah", "ipv6.hopopts", "ipv6.routing",
            "ipv6.fraghdr", "ipv6.dstopts", "udp", "tcp", "dns", "mdns", "http", "tls", "gre",
            "data", "json", "xml", "mime_multipart", "urlencoded-form", "data-text-lines",
            "media", "image-gif", "x509sat", "pkix1explicit"}
DNS_PORTS = {"53", "5353"}
FILE_BYTES_MAX = 3000000

Name = collections.namedtuple("Name", "protocol name detail")


CONTROLS = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def readable(data):
    """Bytes as tshark prints them, with one sign for all that is beyond ASCII: UTF-8 or not."""
    text = "".join(CONTROLS.get(byte, "\\%03o" % byte) if byte < 0x20 or byte == 0x7F else
                   chr(byte) if byte < 0x80 else "\xff" for byte in data.lower())
    return re.sub("\xff+", "?", text)


def unescaped(text):
    """A name of DNS as the table writes it, in tshark's form."""
    data = re.sub(rb"\\(\d\d\d|.)", lambda match: bytes([int(match[1])]) if len(match[1]) == 3
                  else match[1], text.encode("utf-8", "surrogateescape"))
    return readable(data)


def target(text):
    """A request target with odd bytes as the table writes them."""
    return re.sub(r"[^\x21-\x7e]", lambda match: "".join(
        "\\x%02x" % byte for byte in match[0].encode("utf-8", "surrogateescape")), text)


def host(text):
    """A Host field or authority as the table writes it."""
    text = text.rpartition("@")[2].strip().lower()
    return re.sub(r":\d*$", "", text).rstrip(".")


def table(program, path):
    """Names and reasons of each packet; None where the file is no capture."""
    result = tshark.run([program, path], errors="surrogateescape")
    if result.returncode != 0:
        return None
    names, reasons = collections.defaultdict(list), {}
    for line in result.stdout.split("\n")[:-1]:
        number, protocol, name, detail = line.split("\t")
        if protocol == "-":
            reasons[int(number)] = detail.split()
        elif protocol == "dns":
            names[int(number)].append(Name("dns", unescaped(name), ""))
        elif protocol == "http":
            names[int(number)].append(Name("http", re.split(r"[/?]", name)[0], detail))
        elif protocol == "tls":
            names[int(number)].append(Name("tls", name, ""))
    return names, reasons


def requests(row):
    """Hosts with their targets. A target may say the host itself; without any there is no name."""
    hosts, found = list(row["http.host"]), []
    for i, uri in enumerate(row["http.request.uri"]):
        method = row["http.request.method"][i] if i < len(row["http.request.method"]) else ""
        absolute = re.match(r"[A-Za-z0-9.+_~-]+://([^/?#]*)", uri)
        field = hosts[i] if i < len(hosts) else ""
        of = absolute[1] if absolute else uri if method == "CONNECT" else field
        if of:
            found.append(Name("http", host(of), target(uri)))
    return found


def theirs(row):
    names = [Name("dns", "." if name == "<Root>" else
                  re.sub("[^\x00-\x7f]+", "?", name.lower()), "") for name in row["dns.qry.name"]]
    return names + requests(row) + [Name("tls", host(name), "") for name in
                                    row["tls.handshake.extensions_server_name"]]


def missing(name, row, reasons, mine):
    """Why tshark finds a name that the table does not; None: it should."""
    layers = row["layers"]
    if reasons:
        return "said: " + reasons[0]
    strange = [layer for layer in layers if layer not in FOLLOWED]
    if strange:
        return "in a layer that is not followed"
    if layers.count("ip") + layers.count("ipv6") > 2:
        return "in a second tunnel"
    if "tls" in layers and name.protocol != "tls":
        return "decrypted"
    if name.protocol == "dns" and not DNS_PORTS & set(row["udp.port"] + row["tcp.port"]):
        return "DNS on another port"
    if name.protocol == "http" and not row["http.request.version"]:
        return "HTTP/0.9"
    if name.protocol == "http" and any(other.protocol == "http" for other in mine):
        return "behind a body whose length is not said"
    said = "".join(row["_ws.expert.message"])
    if re.search(r"length exceeds|[Bb]ogus|less than header|Bad length value", said):
        return "behind a header that lies"
    return None


def extra(name, row):
    """Why the table finds a name that tshark does not; None: it should not."""
    layers = row["layers"]
    if name.protocol not in layers and not (name.protocol == "dns" and "mdns" in layers):
        return "tshark does not look into the segment"
    if name.protocol == "http" and "\\x20" in name.detail:
        return "tshark takes no target with a blank"
    if name.protocol == "tls" and "1" not in row["tls.handshake.type"]:
        return "tshark does not look into a ClientHello that is cut off"
    if name.protocol == "dns" and row["_ws.malformed"]:
        return "tshark stops in a malformed message"
    return None


def compare_file(path, mine):
    """Names that agree by protocol, counts of reasons, differences."""
    names, reasons = mine
    agreed, designed, differences = collections.Counter(), collections.Counter(), []
    for number, row in tshark.packets(path, OPTIONS, FIELDS,
                                       errors="surrogateescape").items():
        ours = collections.Counter(names.get(number, []))
        other = collections.Counter(theirs(row))
        agreed.update(name.protocol for name in (ours & other).elements())
        for name in (other - ours).elements():
            why = missing(name, row, reasons.get(number), list(ours))
            if why:
                designed["not ours: " + why] += 1
            else:
                differences.append((number, "tshark alone", name, row["frame.protocols"]))
        for name in (ours - other).elements():
            why = extra(name, row)
            if why:
                designed["not tshark's: " + why] += 1
            else:
                differences.append((number, "we alone", name, row["frame.protocols"]))
    return agreed, designed, differences


def choose(folder, n, program, pool):
    """n captures of the folder with what the table finds in each."""
    paths = tshark.captures(folder, FILE_BYTES_MAX)
    tables = dict(zip(paths, pool.map(lambda path: table(program, path), paths)))
    having = [path for path in paths if tables[path] and tables[path][0]]
    others = [path for path in paths if tables[path] and not tables[path][0]]
    return {path: tables[path] for path in tshark.spread(having, others, n)}


def main():
    folder = tshark.captures_folder()
    n_files = tshark.how_many(2, 40)
    agreed, designed, failed = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = choose(folder, n_files, sys.argv[1], pool)
        for path, result in zip(chosen, pool.map(lambda item: compare_file(*item),
                                                 chosen.items())):
            agreed += result[0]
            designed += result[1]
            failed += bool(result[2])
            for number, who, name, layers in result[2][:5]:
                print(f"{os.path.basename(path)}: packet {number}: {who}: "
                      f"{tuple(name)!r:.200} ({layers})")
    print(f"{len(chosen)} captures, names that agree:",
          ", ".join(f"{agreed[p]} {p}" for p in ("dns", "http", "tls")))
    for why, n in sorted(designed.items()):
        print(f"{n:8} {why}")
    print(f"{failed} captures differ" if failed else "tshark agrees")
    return 1 if failed or min(agreed[p] for p in ("dns", "http", "tls")) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
