#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares, packet by packet, the protocols that dissect_table and tshark find in real captures.

usage: tshark_agrees.py DISSECT_TABLE [N_FILES]

Captures are taken from $SLUICE_TEST_DATA/pcap, N_FILES of them (60): some with each protocol, the
others evenly spread over the sorted names. Both programs must find the same packets, and in each
packet the same of PROTOCOLS. tshark runs with only the layers enabled that the dissector knows, and
without defragmentation. What they still see differently by design is written down in comparable(),
stopped() and compare(), each difference as narrowly as possible.
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

PROTOCOLS = {
    "IPv4": "ip", "IPv6": "ipv6", "TCP": "tcp", "UDP": "udp", "ICMP": "icmp",
    "ICMPv6": "icmpv6", "SCTP": "sctp", "ARP": "arp", "GRE": "gre", "VXLAN": "vxlan",
    "Geneve": "geneve", "Teredo": "teredo",
}
LAYERS = set(PROTOCOLS.values()) | {
    "frame", "data", "eth", "ethertype", "vlan", "ieee8021ad", "mpls", "nsh", "ppp", "pppoes",
    "chdlc", "llc", "null", "raw", "sll", "sll2", "ah", "hip", "mipv6", "shim6", "ipv6.hopopts",
    "ipv6.routing", "ipv6.fraghdr", "ipv6.dstopts",
}
OPTIONS = ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "ipv6.tso_support:TRUE"]
FIELDS = [
    "frame.protocols", "_ws.malformed", "_ws.expert.message", "ip.flags.mf", "ip.frag_offset",
    "ipv6.fraghdr.more", "ipv6.fraghdr.offset", "gre.proto", "eth.type", "udp.dstport",
]
ERSPAN = 0x88be
GRE_FOLLOWED = {0x0800, 0x86DD, 0x6558, 0x880B}
TUNNELS_MAX = 4
TO_PORT = {"vxlan": "4789", "geneve": "6081"}  # tshark takes those from it, too
RARP = "0x8035"
FILE_BYTES_MAX = 300000

Ours = collections.namedtuple("Ours", "protocols defect kind")


def configure(folder):
    """Disables all of tshark's protocols but LAYERS, where the environment then points to."""
    env = dict(os.environ, XDG_CONFIG_HOME=folder)
    lines = tshark.run(["tshark", "-G", "protocols"], env=env).stdout.splitlines()
    names = [line.split("\t")[2] for line in lines]
    os.mkdir(os.path.join(folder, "wireshark"))
    with open(os.path.join(folder, "wireshark", "disabled_protos"), "w", encoding="utf-8") as out:
        for name in names:
            if name not in LAYERS and not name.startswith("_ws"):
                out.write(name + "\n")
    return env


def rows_of(path, env):
    """A dictionary of FIELDS for each packet; None where tshark does not know the link type."""
    result = tshark.run(tshark.fields(path, OPTIONS, FIELDS), env=env)
    if "unknown or unsupported" in result.stderr:
        return None
    rows = [line.split("\t") for line in result.stdout.split("\n")[:-1]]
    return [dict(zip(FIELDS, row + [""] * len(FIELDS))) for row in rows]


def table(program, path):
    """What the dissector finds in each packet of a capture; None where the file is none."""
    result = tshark.run([program, path])
    if result.returncode != 0:
        return None
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    return [Ours([PROTOCOLS[p] for p in row[1].split(",") if p in PROTOCOLS], row[2], row[3])
            for row in rows]


def is_fragment(layers, packet):
    """Whether the last IP header of the layers is that of a fragment."""
    last = max(i for i, layer in enumerate(layers) if layer in ("ip", "ipv6"))
    if layers[last] == "ip":
        fields, n = ("ip.flags.mf", "ip.frag_offset"), layers[:last].count("ip")
    elif "ipv6.fraghdr" in layers[last:]:
        fields = "ipv6.fraghdr.more", "ipv6.fraghdr.offset"
        n = layers[:last].count("ipv6.fraghdr")
    else:
        return False
    return any(packet[field].split(",")[n] not in ("", "0") for field in fields)


def comparable(packet):
    """tshark's layers without those that the dissector leaves aside by design, and why."""
    layers = packet["frame.protocols"].split(":")
    kept = []
    n_ip = 0
    for i, layer in enumerate(layers):
        if layer in ("ip", "ipv6"):
            n_ip += 1
            if n_ip == TUNNELS_MAX + 2:
                return kept, "deep tunnel"
            if n_ip >= 2 and is_fragment(kept, packet):
                return kept, "tunnel in a fragment"
        if layer == "arp" and RARP in packet["eth.type"].split(","):
            return kept, "RARP"
        if layer == "ah" and layers[i - 1] == "ip":
            return kept, "AH in IPv4"
        if layer in ("vxlan", "geneve", "teredo") and is_fragment(kept, packet):
            return kept, "tunnel in a fragment"
        if layer in TO_PORT and TO_PORT[layer] != \
                packet["udp.dstport"].split(",")[kept.count("udp") - 1]:
            return kept, "from a tunnel's port"
        kept.append(layer)
        if layer in ("icmp", "icmpv6"):
            quoted = "ip" in layers[i:] or "ipv6" in layers[i:]
            return kept, "quoted in ICMP" if quoted else None
        if layer == "gre":
            if n_ip == TUNNELS_MAX + 1:
                return kept, "deep tunnel"
            if is_fragment(kept, packet):
                return kept, "tunnel in a fragment"
            if int(packet["gre.proto"].split(",")[0] or "0", 0) not in GRE_FOLLOWED:
                return kept, "GRE of another type"
    return kept, None


# The defects behind which tshark goes on, and what it says of them.
GOES_ON = {
    "ipv4-total-length": r"IPv4 total length exceeds packet length|Bogus IPv4|less than header",
    "ipv6-payload-length": r"IPv6 payload length exceeds framing length",
    "ipv4-header-length": r"[Bb]ogus.*header length|less than header",
}


def stopped(layers, packet, ours):
    """tshark's layers up to where a defect stops the dissector, and why; tshark must see it too."""
    said = packet["_ws.expert.message"] + packet["_ws.malformed"]
    ip = [i for i, layer in enumerate(layers) if layer in ("ip", "ipv6")]
    if ip and ours.defect in GOES_ON and re.search(GOES_ON[ours.defect], said):
        last = ip[min(len(ip), 2 if ours.kind == "tunnel" else 1) - 1]
        return layers[:last + 1], ours.defect
    return layers, None


def compare(packet, ours):
    """By what design the layers differ (None: they do not), and what is different still."""
    layers, why = comparable(packet)
    layers, defect = stopped(layers, packet, ours)
    theirs = set(layers) & set(PROTOCOLS.values())
    mine = set(ours.protocols)
    in_options = packet["_ws.malformed"].startswith("[Malformed Packet: IPv4]")
    if in_options and layers[-1] == "ip" and theirs <= mine:
        return "tshark stops in IPv4 options", None
    erspan = int(packet["gre.proto"].split(",")[0] or "0", 0) == ERSPAN
    if erspan and packet["frame.protocols"].endswith("gre:data") and theirs <= mine:
        return "tshark stops in ERSPAN of type I", None
    # Each names the version that the layer before does, or the one that the header has.
    version = {"ipv4-version": "ip", "ipv6-version": "ipv6"}.get(ours.defect)
    if version and (re.search("Bogus IPv[46] version", packet["_ws.expert.message"]) or
                    re.search("^raw:ip:ipv6|^ip:ipv6", packet["frame.protocols"])):
        return ours.defect, None if mine - {version} <= theirs else mine ^ theirs
    return defect or why, mine ^ theirs or None


def compare_file(path, mine, env):
    """Packets, counts of each protocol and reason, differences; None: tshark cannot read it."""
    theirs = rows_of(path, env)
    if theirs is None:
        return None
    counts, reasons, differences = collections.Counter(), collections.Counter(), []
    if len(mine) != len(theirs):
        differences.append(f"{len(mine)} packets, and {len(theirs)} of tshark's")
    for number, (ours, packet) in enumerate(zip(mine, theirs), 1):
        reason, difference = compare(packet, ours)
        counts.update(set(ours.protocols))
        reasons.update([reason] if reason else [])
        if difference:
            differences.append(f"packet {number}: {','.join(sorted(difference))} "
                               f"({ours.protocols}, {ours.defect}; {packet['frame.protocols']})")
    return len(mine), counts, reasons, differences


def choose(folder, n, program, pool):
    """n captures of the folder that the dissector can read, with what it finds in each."""
    paths = tshark.captures(folder, FILE_BYTES_MAX)
    all_rows = pool.map(lambda path: table(program, path), paths)
    tables = {path: rows for path, rows in zip(paths, all_rows) if rows}
    chosen = {}
    for protocol in PROTOCOLS.values():
        having = [path for path, rows in tables.items()
                  if any(protocol in row.protocols for row in rows)]
        chosen.update((path, tables[path]) for path in having[:n // 20])
    rest = [path for path in tables if path not in chosen]
    n = min(n - len(chosen), len(rest))
    chosen.update((rest[i * len(rest) // n], tables[rest[i * len(rest) // n]]) for i in range(n))
    return chosen


def main():
    captures = tshark.captures_folder()
    n_files = tshark.how_many(2, 60)
    packets, n_compared, failed = 0, 0, 0
    counts, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        env = configure(folder)
        chosen = choose(captures, n_files, sys.argv[1], pool)
        results = pool.map(lambda item: compare_file(*item, env), chosen.items())
        for path, result in zip(chosen, results):
            if result is None:
                print(f"{os.path.basename(path)}: not compared, tshark does not know its link type")
                continue
            n_compared += 1
            packets += result[0]
            counts += result[1]
            reasons += result[2]
            failed += bool(result[3])
            for difference in result[3][:5]:
                print(f"{os.path.basename(path)}: {difference}")
    print(f"{n_compared} captures, {packets} packets:",
          ", ".join(f"{counts[p]} {p}" for p in PROTOCOLS.values()))
    print("different by design:",
          ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items())) or "nothing")
    print(f"{failed} captures differ" if failed else "tshark agrees")
    return 1 if failed or n_compared < len(chosen) * 9 // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
