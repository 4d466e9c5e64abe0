#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares dns_table with a parser that is written here from the RFCs and shares nothing with it.

usage: dns_oracle_agrees.py DNS_TABLE [N_MESSAGES [SEED]]

Messages are made at random: whole ones of all types with compressed names, then with bytes changed,
cut off, appended or moved. For each, verdict, damage and the object `dns`, with the order of its
members, must be the same.
"""
import collections
import json
import random
import struct
import subprocess
import sys

TYPES = {
    1: "A", 2: "NS", 3: "MD", 4: "MF", 5: "CNAME", 6: "SOA", 7: "MB", 8: "MG", 9: "MR", 10: "NULL",
    11: "WKS", 12: "PTR", 13: "HINFO", 14: "MINFO", 15: "MX", 16: "TXT", 17: "RP", 18: "AFSDB",
    19: "X25", 20: "ISDN", 21: "RT", 22: "NSAP", 23: "NSAPPTR", 24: "SIG", 25: "KEY", 26: "PX",
    27: "GPOS", 28: "AAAA", 29: "LOC", 30: "NXT", 31: "EID", 32: "NIMLOC", 33: "SRV", 34: "ATMA",
    35: "NAPTR", 36: "KX", 37: "CERT", 38: "A6", 39: "DNAME", 40: "SINK", 41: "OPT", 42: "APL",
    43: "DS", 44: "SSHFP", 45: "IPSECKEY", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY", 49: "DHCID",
    50: "NSEC3", 51: "NSEC3PARAM", 52: "TLSA", 53: "SMIMEA", 55: "HIP", 56: "NINFO", 57: "RKEY",
    58: "TALINK", 59: "CDS", 60: "CDNSKEY", 61: "OPENPGPKEY", 62: "CSYNC", 63: "ZONEMD",
    64: "SVCB", 65: "HTTPS", 99: "SPF", 108: "EUI48", 109: "EUI64", 249: "TKEY", 250: "TSIG",
    251: "IXFR", 252: "AXFR", 253: "MAILB", 254: "MAILA", 255: "ANY", 256: "URI", 257: "CAA",
}
RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN",
          "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE"]
LISTS = ["queries", "answers", "authorities", "additionals"]
GROUPED = ["A", "AAAA", "CNAME", "MX", "NS", "NULL", "PTR", "SOA", "SRV", "SSHFP", "TXT"]
SOME_TYPES = [1, 2, 5, 6, 10, 12, 15, 16, 28, 33, 35, 41, 44, 46, 64, 65, 257, 65280]


# ---- the oracle ----------------------------------------------------------------------------------

class Damage(Exception):
    """What ends reading; its text is the reason."""


def number(data, at, n, reason):
    if at + n > len(data):
        raise Damage(reason)
    return int.from_bytes(data[at:at + n], "big")


def read_name(message, at, end):
    """The labels of a name, and where it ends."""
    labels, behind, starts = [], None, [at]
    while True:
        if at >= end:
            raise Damage("name-cut")
        head = message[at]
        if head == 0:
            return labels, at + 1 if behind is None else behind
        kind = head >> 6
        if kind in (1, 2):
            raise Damage("name-label")
        if kind == 3:
            if at + 1 >= end:
                raise Damage("name-cut")
            target = (head & 63) << 8 | message[at + 1]
            if behind is None:
                behind = at + 2
            if len(starts) > 127:
                raise Damage("name-pointers")
            starts.append(target)
            at, end = target, len(message)
            continue
        labels.append((at + 1, head))
        if sum(1 + len_ for _, len_ in labels) + 1 > 255:
            raise Damage("name-long")
        at += 1 + head


def text(data):
    return data.decode("utf-8", "backslashreplace")


def name(message, labels):
    return text(b".".join(message[at:at + len_] for at, len_ in labels))


def hexed(data, between):
    return between.join(f"{byte:02x}" for byte in data)


def data_of(message, rrtype, at, end):
    """A list of what each record of the event has beside name, type and lifetime."""
    data = message[at:end]

    def one_name(key, begin):
        labels, _ = read_name(message, begin, end)
        return {key: name(message, labels)}

    if rrtype == 1:
        if len(data) != 4:
            raise Damage("data")
        return [{"rdata": ".".join(map(str, data))}]
    if rrtype == 28:
        if len(data) != 16:
            raise Damage("data")
        return [{"rdata": ":".join("%04x" % group for group in struct.unpack(">8H", data))}]
    if rrtype in (2, 5, 12):
        return [one_name("rdata", at)]
    if rrtype == 15:
        number(data, 0, 2, "data")
        return [one_name("rdata", at + 2)]
    if rrtype == 6:
        mname, at = read_name(message, at, end)
        rname, at = read_name(message, at, end)
        if end - at < 20:
            raise Damage("data")
        fields = struct.unpack(">5I", message[at:at + 20])
        keys = ("serial", "refresh", "retry", "expire", "minimum")
        return [{"soa": {"mname": name(message, mname), "rname": name(message, rname),
                         **dict(zip(keys, fields))}}]
    if rrtype == 33:
        number(data, 0, 6, "data")
        fields = dict(zip(("priority", "weight", "port"), struct.unpack(">3H", data[:6])))
        return [{"srv": {**fields, **one_name("name", at + 6)}}]
    if rrtype == 44:
        number(data, 0, 2, "data")
        return [{"sshfp": {"fingerprint": hexed(data[2:], ":"), "algo": data[0], "type": data[1]}}]
    if rrtype == 10:
        return [{"rdata": text(data)}]
    found = []
    if rrtype == 16:
        while data:
            string = data[1:1 + data[0]]
            if len(string) != data[0]:
                raise Damage("data")
            found.append({"rdata": text(string)})
            data = data[1 + data[0]:]
        return found
    if rrtype == 41:
        while data:
            code, len_ = number(data, 0, 2, "data"), number(data, 2, 2, "data")
            if len(data) < 4 + len_:
                raise Damage("data")
            found.append({"code": code, "data": hexed(data[4:4 + len_], "")})
            data = data[4 + len_:]
        return [{"opt": found}]
    return [{}]


def read_record(message, at, section):
    """What a record adds to the event, whether it is usual, its labels and type, and its end."""
    labels, at = read_name(message, at, len(message))
    fixed = message[at:at + (4 if section == 0 else 10)]
    if len(fixed) != (4 if section == 0 else 10):
        raise Damage("record-cut")
    at += len(fixed)
    rrtype, rrclass = struct.unpack(">2H", fixed[:4])
    shown = {"rrname": name(message, labels), "rrtype": TYPES.get(rrtype, str(rrtype))}
    usual = rrtype != 0 and rrclass & 0x7FFF in (1, 3, 4, 254, 255)
    if section == 0:
        return [shown], usual, labels, rrtype, at
    ttl, len_ = struct.unpack(">IH", fixed[4:])
    if at + len_ > len(message):
        raise Damage("record-cut")
    end = at + len_
    shown["ttl"] = ttl
    if rrtype == 41:
        usual = section == 3 and not labels
    rest = data_of(message, rrtype, at, end) if len_ else [] if rrtype == 41 else [{}]
    if rrtype == 33 and section != 1:
        rest = [{}]  # the schema has SRV's data in answers alone
    return [{**shown, **one} for one in rest], usual, labels, rrtype, end


def is_netbios(message, labels, rrtype):
    if not labels or labels[0][1] != 32:
        return False
    at = labels[0][0]
    return rrtype == 32 or set(message[at:at + 32]) <= set(b"ABCDEFGHIJKLMNOP")


def grouped(answers):
    """The data of answers by type."""
    found = {}
    for key in GROUPED:
        for one in answers:
            data = [one[of] for of in one if of not in ("rrname", "rrtype", "ttl")]
            if one["rrtype"] == key and data:
                found.setdefault(key, []).extend(data)
    return found


def expected(message, sent_len):
    """The line of dns_table for a message."""
    if len(message) < 12:
        return {"verdict": "no", "damage": "header-cut"}
    id_, flags, *counts = struct.unpack(">6H", message[:12])
    opcode, rcode = flags >> 11 & 15, flags & 15
    dns = {"version": 3, "type": "response" if flags >> 15 else "request", "tx_id": 0, "id": id_,
           "flags": "%x" % flags}
    for i, key in enumerate(("qr", None, None, None, None, "aa", "tc", "rd", "ra", "z")):
        if key and flags >> 15 - i & 1:
            dns[key] = True
    dns["opcode"] = opcode
    dns["rcode"] = RCODES[rcode] if rcode < len(RCODES) else str(rcode)

    at, damage, n_read, usual, netbios = 12, "none", 0, opcode in (0, 1, 2, 4, 5, 6), False
    try:
        for section, count in enumerate(counts):
            for _ in range(count):
                shown, is_usual, labels, rrtype, at = read_record(message, at, section)
                usual = usual and is_usual
                netbios = netbios or n_read == 0 and is_netbios(message, labels, rrtype)
                n_read += 1
                if shown:
                    dns.setdefault(LISTS[section], []).extend(shown)
    except Damage as reason:
        damage = str(reason)
    if grouped(dns.get("answers", [])):
        dns["grouped"] = grouped(dns["answers"])
    whole = damage == "none" and at == sent_len
    least = 12 + 5 * counts[0] + 11 * sum(counts[1:])
    if least > sent_len or (not flags >> 15 and counts[0] == 0) or netbios:
        verdict = "no"
    elif sum(counts) == 0:
        verdict = "maybe" if sent_len == 12 and rcode and opcode in (0, 1, 2, 4, 5, 6) else "no"
    elif n_read == 0 or not (whole or usual):
        verdict = "no"
    else:
        verdict = "yes" if whole and usual else "maybe"
    return {"verdict": verdict, "dns": dns, "damage": damage}


# ---- messages ------------------------------------------------------------------------------------

class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.message = bytearray()
        self.names = []  # where names and their tails begin

    def label(self):
        some = self.random
        if some.random() < 0.02:
            return bytes(some.choice(b"ABCDEFGHIJKLMNOP") for _ in range(32))
        len_ = some.choice((1, 2, 3, 3, 7, 12, 63)) if some.random() < 0.2 else some.randint(1, 9)
        if some.random() < 0.1:
            return some.randbytes(len_)
        return bytes(some.choice(b"abcdefXYZ019-_") for _ in range(len_))

    def name(self, at):
        """A name that lies at this offset, mostly with a tail that was there before."""
        some, out = self.random, b""
        for _ in range(some.choice((0, 0, 1, 1, 2, 2, 3, 9, 40 if some.random() < 0.1 else 2))):
            if at + len(out) < 0x4000 and some.random() < 0.7:
                self.names.append(at + len(out))
            label = self.label()
            out += bytes([len(label)]) + label
        before = [one for one in self.names if one < at]
        if before and some.random() < 0.6:
            target = some.choice(before) if some.random() < 0.97 else some.randrange(0x4000)
            if at + len(out) < 0x4000:
                self.names.append(at + len(out))
            return out + struct.pack(">H", 0xC000 | target)
        return out + b"\0"

    def data(self, rrtype, at):
        some = self.random
        if some.random() < 0.05:
            return b""
        if rrtype == 1:
            return some.randbytes(4)
        if rrtype == 28:
            return some.randbytes(16)
        if rrtype in (2, 5, 12):
            return self.name(at)
        if rrtype == 15:
            return some.randbytes(2) + self.name(at + 2)
        if rrtype == 6:
            mname = self.name(at)
            return mname + self.name(at + len(mname)) + some.randbytes(20)
        if rrtype == 33:
            return some.randbytes(6) + self.name(at + 6)
        if rrtype == 16:
            strings = [self.label() for _ in range(some.randint(1, 4))] + [b""]
            some.shuffle(strings)
            return b"".join(bytes([len(one)]) + one for one in strings)
        if rrtype == 41:
            return b"".join(struct.pack(">HH", some.randint(0, 20), len(one)) + one
                            for one in (self.label() for _ in range(some.randint(0, 3))))
        return some.randbytes(some.choice((0, 1, 2, 3, 22, 300)))

    def record(self, section):
        some, at = self.random, len(self.message)
        rrtype = some.choice(SOME_TYPES) if some.random() < 0.95 else some.randrange(270)
        rrclass = some.choice((1, 1, 1, 1, 1, 1, 0x8001, 3, 254, 255)) if some.random() < 0.98 \
            else some.randrange(65536)
        owner = b"\0" if rrtype == 41 and some.random() < 0.9 else self.name(at)
        self.message += owner + struct.pack(">HH", rrtype, rrclass)
        if section == 0:
            return
        data = self.data(rrtype, len(self.message) + 6)
        self.message += struct.pack(">IH", some.getrandbits(32), len(data)) + data

    def whole(self):
        some = self.random
        counts = [some.choice((0, 1, 1, 1, 1, 2)), some.choice((0, 0, 1, 2, 4)),
                  some.choice((0, 0, 0, 1, 2)), some.choice((0, 0, 1, 2))]
        flags = some.choice((0x0100, 0x8180, 0x8400, 0x8583, 0x0010, 0x2800)) \
            if some.random() < 0.9 else some.getrandbits(16)
        self.names.clear()
        self.message[:] = struct.pack(">6H", some.getrandbits(16), flags, *counts)
        for section, count in enumerate(counts):
            for _ in range(count):
                self.record(section)
        return bytes(self.message)

    def changed(self, message):
        some, message = self.random, bytearray(message)
        for _ in range(some.choice((1, 1, 1, 2, 5))):
            at = some.randrange(len(message)) if message else 0
            what = some.randrange(6)
            if what == 0 and message:
                message[at] = some.choice((0, 1, 63, 64, 0xC0, 0xFF, some.randrange(256)))
            elif what == 1 and message:
                message[at] ^= 1 << some.randrange(8)
            elif what == 2:
                del message[at:]
            elif what == 3:
                message += some.randbytes(some.randint(1, 4))
            elif what == 4:
                del message[at:at + some.randint(1, 4)]
            else:
                message[at:at] = struct.pack(">H", 0xC000 | some.randrange(64))
        return bytes(message)

    def next(self):
        """A message with the length that was sent."""
        some = self.random
        message = self.whole()
        if some.random() < 0.6:
            message = self.changed(message)
        if some.random() < 0.02:
            message = some.randbytes(some.randrange(80))
        return message, len(message) + (some.randint(1, 50) if some.random() < 0.05 else 0)


# ---- the comparison ------------------------------------------------------------------------------

def main():
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
    maker = Maker(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    messages = [maker.next() for _ in range(n)]
    lines = "".join(f"{message.hex()} {sent_len}\n" for message, sent_len in messages)
    output = subprocess.run([sys.argv[1], "-"], input=lines, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    counts, failed = collections.Counter(), 0
    for (message, sent_len), line in zip(messages, output):
        wanted = expected(message, sent_len)
        counts.update([wanted["verdict"], "damage " + wanted["damage"]])
        if json.dumps(json.loads(line)) != json.dumps(wanted):
            failed += 1
            if failed <= 3:
                print(f"{message.hex()} {sent_len}\n  got    {line}\n  wanted {json.dumps(wanted)}")
    print(f"{len(output)} of {n} messages:",
          ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    missed = [reason for reason in ("header-cut", "name-cut", "name-label", "name-long", "data",
                                    "name-pointers", "record-cut")
              if not counts["damage " + reason]]
    if failed or len(output) != n or missed:
        print(f"{failed} differ; never seen: {missed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
