#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares, packet by packet, the DNS messages that dns_table and tshark find in real captures.

usage: tshark_dns_agrees.py DNS_TABLE [N_FILES]

Captures are taken from $SLUICE_TEST_DATA/pcap, N_FILES of them (10; 0: all), evenly spread over
those with a message and the others, five to one. tshark runs without reassembly of fragments.
- Where tshark finds DNS, mDNS or LLMNR over UDP, the probe must not say no; in a message that
  tshark does not call malformed and that has nothing behind it, the probe must say yes.
- Where the probe says yes, tshark must find one of the three, on ports that it knows.
- In messages of both: identifier, flags, questions, records of all sections, and their data.
What differs by design is in missing(), doubted() and extra(), and counted.
"""
import collections
import concurrent.futures
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder of tests stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import tshark
from dns_oracle_agrees import TYPES

OPTIONS = ["ip.defragment:FALSE", "ipv6.defragment:FALSE"]
DATA = ["dns.a", "dns.aaaa", "dns.cname", "dns.ns", "dns.ptr.domain_name", "dns.mx.mail_exchange",
        "dns.srv.target", "dns.srv.port", "dns.soa.mname", "dns.soa.rname",
        "dns.soa.serial_number", "dns.txt"]
FIELDS = ["frame.number", "frame.protocols", "udp.srcport", "udp.dstport", "_ws.malformed",
          "_ws.expert.message", "dns.id", "dns.flags", "dns.qry.name", "dns.qry.type",
          "dns.resp.name", "dns.resp.type", "dns.resp.ttl"] + DATA
FOUND = ("dns", "mdns", "llmnr")
PORTS = {"53", "5353", "5355"}
# What may stand before a message: the dissector's layers.
FOLLOWED = {"eth", "ethertype", "vlan", "ieee8021ad", "mpls", "ppp", "pppoes", "chdlc", "llc",
            "null", "raw", "sll", "sll2", "ip", "ipv6", "ah", "ipv6.hopopts", "ipv6.routing",
            "ipv6.fraghdr", "ipv6.dstopts", "gre", "udp", "dns", "mdns", "llmnr"}
NUMBERS = {text: str(number) for number, text in TYPES.items()}
FILE_BYTES_MAX = 3000000


def plain(text):
    """One sign for all that the programs write in ways of their own."""
    text = "" if text == "<Root>" else text
    text = re.sub(r"\\(x[0-9a-f]{2}|\d{3}|.)|[^\x21-\x7e]", "?", text)
    return re.sub(r"\?+", "?", text)


def table(program, path):
    """The messages by packet number; None where the file is no capture."""
    result = tshark.run([program, path])
    if result.returncode != 0:
        return None
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {line["pcap_cnt"]: line for line in lines}


# ---- what both found -----------------------------------------------------------------------------

def compressed(address):
    return ":".join(f"{int(group, 16):x}" for group in address.split(":"))


def expanded(address):
    """An IPv6 address with all its groups, each without leading zeros."""
    if "." in address:
        address, _, last = address.rpartition(":")
        four = [int(byte) for byte in last.split(".")]
        address += f":{four[0] << 8 | four[1]:x}:{four[2] << 8 | four[3]:x}"
    head, _, tail = address.partition("::")
    groups, behind = head.split(":") if head else [], tail.split(":") if tail else []
    if "::" in address:
        groups += ["0"] * (8 - len(groups) - len(behind)) + behind
    return compressed(":".join(groups))


def data_of(records):
    """What each of DATA has, in our event."""
    found = collections.defaultdict(list)
    for record in records:
        kind = record["rrtype"]
        if "rdata" in record and kind in ("A", "CNAME", "NS", "TXT"):
            found["dns." + kind.lower()].append(plain(record["rdata"]))
        elif "rdata" in record and kind == "AAAA":
            found["dns.aaaa"].append(compressed(record["rdata"]))
        elif "rdata" in record and kind in ("PTR", "MX"):
            key = "dns.ptr.domain_name" if kind == "PTR" else "dns.mx.mail_exchange"
            found[key].append(plain(record["rdata"]))
        elif "srv" in record:
            found["dns.srv.target"].append(plain(record["srv"]["name"]))
            found["dns.srv.port"].append(str(record["srv"]["port"]))
        elif "soa" in record:
            found["dns.soa.mname"].append(plain(record["soa"]["mname"]))
            found["dns.soa.rname"].append(plain(record["soa"]["rname"]))
            found["dns.soa.serial_number"].append(str(record["soa"]["serial"]))
    return {field: found[field] for field in DATA}


def before_bitmaps(records):
    """tshark lists the types in bit maps of NSEC and NSEC3 as if they were records."""
    first = next((i for i, one in enumerate(records) if one[0] in ("47", "50", "62")), None)
    return records if first is None else records[:first + 1]


def before_nul(text):
    """tshark ends strings there."""
    return text.partition("\0")[0]


def ours(dns):
    """A message as both write it. TXT records are split in the event, and OPT has no lifetime.
    tshark names no owner of SRV records, so that these are left out, as is the root, OPT's."""
    records = sum((dns.get(key, []) for key in ("answers", "authorities", "additionals")), [])
    for one in records:
        if one["rrtype"] == "TXT":
            one["rdata"] = before_nul(one["rdata"])
    owners = [(plain(one["rrname"]), one["rrtype"]) for one in records]
    left_out = {""} | {name for name, kind in owners if kind in ("SRV", "TXT", "OPT")}
    return {"id": dns["id"], "flags": int(dns["flags"], 16), "left out": left_out,
            "questions": [(plain(one["rrname"]), NUMBERS.get(one["rrtype"], one["rrtype"]))
                          for one in dns.get("queries", [])],
            "records": before_bitmaps(
                [(NUMBERS.get(one["rrtype"], one["rrtype"]), str(one["ttl"]))
                 for one in records if one["rrtype"] not in ("TXT", "OPT")]),
            "names": [name for name, _ in owners if name not in left_out], **data_of(records)}


def theirs(row, left_out):
    types = [one for one in row["dns.resp.type"] if one != "41"]
    data = {field: [plain(one) for one in row[field]] for field in DATA}
    data["dns.aaaa"] = [expanded(one) for one in row["dns.aaaa"]]
    names = [plain(one) for one in row["dns.resp.name"]]
    return {"id": int(row["dns.id"][0], 16), "flags": int(row["dns.flags"][0], 16),
            "questions": list(zip(map(plain, row["dns.qry.name"]), row["dns.qry.type"])),
            "records": before_bitmaps(
                [one for one in zip(types, row["dns.resp.ttl"]) if one[0] != "16"]),
            "names": [one for one in names if one not in left_out], **data}


# ---- differences by design -----------------------------------------------------------------------

def missing(row, mine):
    """Why the probe says no where tshark finds a message; None: it should not."""
    strange = [layer for layer in row["layers"] if layer not in FOLLOWED]
    if strange or row["layers"].count("udp") > 1:
        return "in a layer that is not followed"
    if row["layers"][:2] == ["ip", "ipv6"]:
        return "IPv6 on a link of IPv4"
    said = "".join(row["_ws.expert.message"])
    if re.search(r"Extraneous data|length exceeds|[Bb]ogus|less than header", said):
        return "bytes behind an odd message, or a header that lies"
    if row["_ws.malformed"]:
        return "malformed for both"
    if mine and mine["damage"] == "name-label":
        return "damage name-label, which tshark reads"
    return None


def doubted(row, mine):
    """Why the probe says maybe where tshark finds a message; None: it should say yes."""
    if mine["damage"] != "none":
        return "damage " + mine["damage"]
    if dns_bits(row) & 0x7800 not in (0, 0x0800, 0x1000, 0x2000, 0x2800, 0x3000):
        return "an opcode that is not assigned"
    return "bytes behind the message, or an odd record"


def dns_bits(row):
    return int(row["dns.flags"][0], 16)


def extra(row):
    """Why tshark finds no message where the probe says yes; None: it should."""
    if not PORTS & set(row["udp.srcport"] + row["udp.dstport"]):
        return "on another port"
    if row["_ws.malformed"]:
        return "tshark stops in a malformed packet"
    return None


def is_found(row):
    return any(layer in FOUND for layer in row["layers"])


def compare_packet(row, mine):
    """What agrees ("messages", or None), a reason, a difference."""
    verdict = mine["verdict"] if mine else "no"
    if not is_found(row):
        if verdict != "yes":
            return None, None, None
        why = extra(row)
        return None, why and "yes alone: " + why, None if why else "the probe says yes"
    if verdict == "no":
        why = missing(row, mine)
        return None, why and "tshark alone: " + why, None if why else "the probe says no"
    if verdict == "maybe":
        return None, "maybe: " + doubted(row, mine), None
    if row["_ws.malformed"] or len(row["dns.id"]) != 1:
        return None, "malformed for tshark, or two messages", None
    left = ours(mine["dns"])
    right = theirs(row, left["left out"])
    for side in (left, right):  # tshark leaves some of the empty strings out
        side["dns.txt"] = [string for string in side["dns.txt"] if string]
    different = [(key, left[key], right[key]) for key in right if left[key] != right[key]]
    return "messages", None, different[:2] or None


def compare_file(path, mine):
    agreed, reasons, differences = collections.Counter(), collections.Counter(), []
    for number, row in tshark.packets(path, OPTIONS, FIELDS, "-Y", "udp").items():
        verdict = mine[number]["verdict"] if number in mine else "no"
        agreed["found" if is_found(row) else "other", verdict] += 1
        same, reason, difference = compare_packet(row, mine.get(number))
        if reason:
            reasons.update([reason])
        if difference:
            differences.append((number, difference))
        elif same:
            agreed.update([same])
            agreed["records"] += len(row["dns.resp.name"])
    return agreed, reasons, differences


def choose(folder, n, program, pool):
    """n captures of the folder with what the table finds in each."""
    paths = tshark.captures(folder, FILE_BYTES_MAX)
    tables = dict(zip(paths, pool.map(lambda path: table(program, path), paths)))
    having = [path for path in paths if tables[path]]
    others = [path for path in paths if tables[path] == {}]
    return {path: tables[path] for path in tshark.spread(having, others, n)}


def main():
    folder = tshark.captures_folder()
    n_files = tshark.how_many(2, 10)
    agreed, reasons, failed = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = choose(folder, n_files, sys.argv[1], pool)
        for path, result in zip(chosen, pool.map(lambda item: compare_file(*item),
                                                 chosen.items())):
            agreed += result[0]
            reasons += result[1]
            failed += bool(result[2])
            for number, difference in result[2][:3]:
                print(f"{os.path.basename(path)}: packet {number}: {difference!r:.400}")
    print(f"{len(chosen)} captures: {agreed['messages']} messages with {agreed['records']} records "
          "agree")
    for of, text in (("found", "datagrams that are DNS for tshark"), ("other", "other datagrams")):
        print(f"{text}:", ", ".join(f"{agreed[of, verdict]} {verdict}"
                                    for verdict in ("yes", "maybe", "no")))
    for why, n in sorted(reasons.items()):
        print(f"{n:8} {why}")
    print(f"{failed} captures differ" if failed else "tshark agrees")
    return 1 if failed or agreed["messages"] < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
