#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The published catalogues of evasion as captures: the receiver's bytes raise the alert, and bytes
that it does not take raise none.

Sources: Ptacek and Newsham, Insertion, Evasion, and Denial of Service, 1998 (PN); Handley, Paxson
and Kreibich, Network Intrusion Detection: Evasion, Traffic Normalization, and End-to-End Protocol
Semantics, 2001 (HPK).

usage: test_evasions.py SLUICE
"""
import json
import struct
import sys

import case

SLUICE = sys.argv[1]
FIN, SYN, RST, ACK, URG = 1, 2, 4, 16, 32
CLIENT = b"\x0a\0\0\1"
TRUTH = b"GET /attack-signature HTTP/1.0"
DECOY = b"??? decoys-are-no-signature ??"
RULES = (b'alert tcp-stream any any -> any any (flow:established,to_server; '
         b'content:"/attack-signature"; sid:1;)\n'
         b'alert tcp-stream any any -> any any (content:"decoys-are-no"; sid:2;)\n')
FIRST_PORT = 20000
ISN = 0xFFFFFFF0  # its numbers wrap within the signature
SERVER_ISN = 7000


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


class Connection:
    """A client's connection. Offsets are of the client's stream."""

    def __init__(self, port, server):
        self.port, self.server, self.ident, self.packets = port, server, port << 8, []
        self.isn, self.time = ISN, 1000

    def ip(self, payload, back=False, **how):
        """A packet of IPv4, or a fragment that begins at this offset."""
        ends = (self.server, CLIENT) if back else (CLIENT, self.server)
        options = how.get("options", b"")
        version = how.get("version", 4) << 4 | how.get("words", 5 + len(options) // 4)
        length = 20 + len(options) + len(payload) + how.get("longer", 0)
        part = how.get("fragment", 0) // 8 | (0x2000 if how.get("more") else 0)
        header = struct.pack(">BBHHHBBH4s4s", version, how.get("tos", 0), length,
                             self.ident & 0xFFFF, part, how.get("ttl", 64),
                             how.get("protocol", 6), 0, *ends) + options
        total = checksum(header) ^ how.get("ip_sum", 0)
        header = header[:10] + struct.pack(">H", total) + header[12:]
        self.packets.append(b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + header + payload)

    def segment(self, offset, payload=b"", flags=ACK, back=False, **how):
        """The bytes of a segment; 0 is the first behind the SYN, in both directions."""
        ports = (80, self.port) if back else (self.port, 80)
        seq, ack = (SERVER_ISN, self.isn) if back else (self.isn, SERVER_ISN)
        time = how.get("time", 500 if back else self.time)
        options = how.get("tcp_options")
        if options is None:
            options = b"\1\1\x08\x0a" + struct.pack(">II", time, 0)
        seq, ack = (seq + 1 + offset) & 0xFFFFFFFF, (ack + 1 + how.get("ack", 0)) & 0xFFFFFFFF
        header = struct.pack(">HHIIBBHHH", *ports, seq, ack if flags & ACK else 0,
                             how.get("data_offset", 5 + len(options) // 4) << 4 |
                             how.get("reserved", 0),
                             flags, how.get("window", 8000), 0, how.get("urgent", 0)) + options
        ends = (self.server, CLIENT) if back else (CLIENT, self.server)
        pseudo = ends[0] + ends[1] + struct.pack(">HH", 6, len(header) + len(payload))
        total = checksum(pseudo + header + payload) ^ how.get("tcp_sum", 0)
        return header[:16] + struct.pack(">H", total) + header[18:] + payload

    def send(self, offset, payload=b"", flags=ACK, back=False, **how):
        self.ident += 1
        self.ip(self.segment(offset, payload, flags, back, **how), back, **how)

    def shake(self):
        self.send(-1, b"", SYN)
        self.send(-1, b"", SYN | ACK, back=True)
        self.send(0)
        return self

    def acknowledge(self, behind=len(TRUTH)):
        self.send(0, back=True, ack=behind)

    def each(self, step, order=None, bytes_=TRUTH):
        """The bytes in segments of this length."""
        begins = list(range(0, len(bytes_), step))
        for i in order(begins) if order else begins:
            self.send(i, bytes_[i:i + step])

    def fragments(self, step, order=None, twice=None):
        """One segment in fragments."""
        self.ident += 1
        whole = self.segment(0, TRUTH)
        begins = list(range(0, len(whole), step))
        for i in order(begins) if order else begins:
            for _ in range(2 if i == twice else 1):
                self.ip(whole[i:i + step], fragment=i, more=i + step < len(whole))


# ---- the cases: a function each, and what it says is its source ---------------------------------

CASES = []


def of(source, alerts=(1,)):
    def add(play):
        CASES.append((source, play, set(alerts)))
        return play
    return add


def swap(begins):
    return [begins[i ^ 1] if i ^ 1 < len(begins) else begins[i] for i in range(len(begins))]


def insertion(source, **how):
    """A segment that the receiver does not take, before the true one and with its numbers."""
    def play(c):
        c.shake()
        c.send(0, TRUTH[:9])
        c.send(9, DECOY[9:], **how)
        c.send(9, TRUTH[9:])
        c.acknowledge()
    CASES.append((source, play, {1}))

    def alone(c):
        c.shake()
        c.send(0, DECOY, **how)
        c.acknowledge(0)
    CASES.append((source + ", alone", alone, set()))


@of("PN: one segment")
def baseline(c):
    c.shake().send(0, TRUTH)


for size in (8, 24):
    CASES.append((f"PN: fragments of {size} bytes",
                  lambda c, size=size: c.shake().fragments(size), {1}))
CASES += [
    ("PN: a fragment out of order", lambda c: c.shake().fragments(8, swap), {1}),
    ("PN: a fragment twice", lambda c: c.shake().fragments(8, twice=24), {1}),
    ("PN: fragments in no order, one twice",
     lambda c: c.shake().fragments(8, lambda b: b[::-2] + b[-2::-2], twice=16), {1}),
    ("PN: the last fragment first", lambda c: c.shake().fragments(8, lambda b: b[-1:] + b[:-1]),
     {1}),
    ("PN: segments of one byte", lambda c: c.shake().each(1), {1}),
    ("PN: segments of two bytes out of order", lambda c: c.shake().each(2, swap), {1}),
    ("PN: segments of one byte in reverse", lambda c: c.shake().each(1, lambda b: b[::-1]), {1}),
    ("PN: no handshake in the capture", lambda c: c.each(4), {1}),
]


@of("PN: forward overlap of fragments (bsd: new bytes win that begin before)")
def forward_fragments(c):
    c.shake()
    c.ident += 1
    whole = c.segment(0, TRUTH)
    for i in range(32, len(whole), 16):
        if i + 16 < len(whole):
            c.ip(b"x" * 8, fragment=i + 8, more=True)
        c.ip(whole[i:i + 16], fragment=i, more=i + 16 < len(whole))
    c.ip(whole[:32], fragment=0, more=True)


@of("PN, HPK: a fragment with a wrong checksum of IP")
def broken_fragment(c):
    c.shake()
    c.ident += 1
    whole = c.segment(0, TRUTH)
    c.ip(b"x" * 8, fragment=40, more=True, ip_sum=1)
    for i in range(0, len(whole), 24):
        c.ip(whole[i:i + 24], fragment=i, more=i + 24 < len(whole))


@of("PN: a segment again with other bytes, that the receiver has")
def again(c):
    c.shake()
    for i, byte in enumerate(TRUTH):
        c.send(i, bytes([byte]))
        c.send(i, b"\0")


@of("PN: forward overlap of segments (bsd: new bytes win that begin before)")
def forward_segments(c):
    c.shake()
    for i in range(2, len(TRUTH), 2):
        c.send(i, b"xx")
    for i in range(1, len(TRUTH), 2):
        c.send(i, TRUTH[i:i + 3])
    c.send(0, TRUTH[:1])


@of("PN: segments between others that lie 2^31 away")
def far_away(c):
    c.shake()
    for i in range(0, len(TRUTH), 3):
        c.send(i, TRUTH[i:i + 3])
        c.send(i + 2**31 - 10**6, b"xxx")


insertion("PN, HPK: wrong checksum of TCP", tcp_sum=1)
insertion("PN, HPK: wrong checksum of IP", ip_sum=1)
insertion("PN, HPK: a TTL that does not reach", ttl=2)
insertion("PN: no ACK flag", flags=0)
insertion("PN, HPK: an old timestamp", time=3)
insertion("PN: another version of IP", version=5)
insertion("PN: a header of IP that is too short", words=3)
insertion("HPK: a length of IP behind the packet's end", longer=40)
insertion("HPK: a header of TCP that is too short", data_offset=3)
insertion("HPK: a header of TCP behind the segment's end", data_offset=15)
insertion("HPK: another protocol", protocol=7)
insertion("HPK: acknowledges what was not sent", ack=2**30)


@of("PN, HPK: bytes behind the receiver's window")
def beyond_window(c):
    c.shake().send(9000, DECOY)
    c.send(0, TRUTH)
    c.acknowledge()


@of("PN: SYNs between segments")
def syns(c):
    c.shake()
    for i in range(0, len(TRUTH), 3):
        c.send(i, TRUTH[i:i + 3])
        c.send(1000 * i + 5, b"", SYN)


@of("PN: a SYN with another number before the true one")
def desynchronized_before(c):
    c.isn = 12345
    c.send(-1, b"", SYN, tcp_sum=0)
    c.isn = ISN
    c.shake().send(0, TRUTH)
    c.acknowledge()


@of("PN: a SYN with another number in the connection")
def desynchronized_after(c):
    c.shake().send(0, TRUTH[:5])
    c.isn = 99
    c.send(-1, b"", SYN)
    c.isn = ISN
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("PN: a RST with a wrong number")
def wrong_rst(c):
    c.shake().send(0, TRUTH[:5])
    c.send(4000, b"", RST)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("PN: a RST with a wrong checksum")
def broken_rst(c):
    c.shake().send(0, TRUTH[:5])
    c.send(5, b"", RST, tcp_sum=1)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("HPK: a RST that is lost behind the sensor")
def lost_rst(c):
    c.shake().send(0, TRUTH[:5])
    c.send(5, b"", RST)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("PN: a FIN that the receiver does not get")
def lost_fin(c):
    c.shake().send(0, TRUTH[:5])
    c.send(5, b"", FIN | ACK, ttl=2)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("HPK: a FIN that is lost behind the sensor")
def taken_fin(c):
    c.shake().send(0, TRUTH[:5])
    c.send(5, b"", FIN | ACK)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("PN: the connection is reset, and its ports are used again")
def again_after_rst(c):
    c.shake().send(0, b"harmless")
    c.send(8, b"", RST)
    c.isn += 100000
    c.time += 1000
    c.shake().send(0, TRUTH)
    c.acknowledge()


@of("PN, HPK: bytes on the SYN that the server takes")
def taken_syn(c):
    c.send(-1, TRUTH[:9], SYN)
    c.send(-1, b"", SYN | ACK, back=True, ack=9)
    c.send(9, TRUTH[9:])
    c.acknowledge()


@of("PN, HPK: bytes on the SYN that the server does not take")
def refused_syn(c):
    c.send(-1, DECOY[:9], SYN)
    c.send(-1, b"", SYN | ACK, back=True)
    c.send(0, TRUTH)
    c.acknowledge()


@of("RFC 7413: all bytes on the SYN, before the client acknowledges the handshake")
def fast_open(c):
    c.send(-1, TRUTH, SYN)
    c.send(-1, b"", SYN | ACK, back=True, ack=len(TRUTH))


@of("PN: a client whose server is not seen")
def client_alone(c):
    c.send(-1, b"", SYN)
    c.send(0)
    c.send(0, TRUTH)
    c.send(len(TRUTH), b"", FIN | ACK)


@of("HPK: an urgent byte is taken out")
def urgent(c):
    c.shake()
    c.send(0, TRUTH[:9] + b"!" + TRUTH[9:], ACK | URG, urgent=10)


@of("HPK: sent again with other bytes behind a lost segment (bsd: the first stay)")
def inconsistent(c):
    c.shake().send(1, TRUTH[1:])
    c.send(1, DECOY[1:])
    c.send(0, TRUTH[:1])
    c.acknowledge()


@of("HPK: a keep-alive with a byte of its own")
def keep_alive(c):
    c.shake().send(0, TRUTH[:9])
    c.send(8, b"x")
    c.send(9, TRUTH[9:])
    c.acknowledge()


@of("HPK: cold start in the middle of a connection, with disorder")
def cold_start(c):
    c.send(0, b"")
    c.send(9, TRUTH[9:])
    c.send(0, TRUTH[:9])
    c.acknowledge()


@of("HPK: the window is withdrawn")
def withdrawn(c):
    c.shake()
    c.send(0, back=True, window=0)
    c.send(0, TRUTH)
    c.acknowledge()


@of("HPK: SYN and FIN together")
def syn_fin(c):
    c.shake().send(0, TRUTH[:5])
    c.send(700, b"", SYN | FIN)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("HPK: SYN and RST together")
def syn_rst(c):
    c.shake().send(0, TRUTH[:5])
    c.send(700, b"", SYN | RST)
    c.send(5, TRUTH[5:])
    c.acknowledge()


@of("HPK: reserved bits, an odd TOS, options of IP")
def odd_bits(c):
    c.shake()
    c.send(0, TRUTH[:9], reserved=0xE, tos=0xFF)
    c.send(9, TRUTH[9:], options=b"\1" * 8)


@of("HPK: options of TCP that are broken")
def broken_options(c):
    c.shake()
    c.send(0, TRUTH[:9], tcp_options=b"\x08\x0a" + struct.pack(">II", 1000, 0) + b"\x63\x63")
    c.send(9, TRUTH[9:])
    c.acknowledge()


@of("HPK: fragments whose bytes differ (bsd: the first stay)")
def inconsistent_fragments(c):
    c.shake()
    c.ident += 1
    whole = c.segment(0, TRUTH)
    for i in range(8, len(whole), 8):
        c.ip(whole[i:i + 8], fragment=i, more=i + 8 < len(whole))
        c.ip(b"x" * len(whole[i:i + 8]), fragment=i, more=i + 8 < len(whole))
    c.ip(whole[:8], fragment=0, more=True)


class Evasions(case.Case):
    def alerts(self, server, *arguments):
        """The sids of each case, from one capture of all, their packets in turn."""
        connections = []
        for i, (_, play, _) in enumerate(CASES):
            connections.append(Connection(FIRST_PORT + i, server))
            play(connections[-1])
        packets = []
        while any(c.packets for c in connections):
            packets += [c.packets.pop(0) for c in connections if c.packets]
        head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        path = self.path("evasions.pcap", head + b"".join(
            struct.pack("<IIII", 100 + i // 1000, i % 1000, len(p), len(p)) + p
            for i, p in enumerate(packets)))
        result = case.run(SLUICE, "run", "-q", "-r", path, "--device", "cpu", "--rules",
                          self.path("rules", RULES), "--header-checks=checksums", "--min-ttl", "3",
                          "--events", "alert", "--alerts", "eve:-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = [set() for _ in CASES]
        for line in result.stdout.splitlines():
            event = json.loads(line)
            if event["alert"]["gid"] == 1:  # others are of header checks
                case_ = max(event["src_port"], event["dest_port"]) - FIRST_PORT
                found[case_].add(event["alert"]["signature_id"])
        return found

    def test_catalogues(self):
        found = self.alerts(b"\xc0\xa8\1\1")
        for (source, _, expected), sids in zip(CASES, found):
            with self.subTest(source):
                self.assertEqual(sids, expected)

    def test_other_policies(self):
        """With the policy of another host other bytes win, and the signature is not whole."""
        found = self.alerts(b"\xc0\xa8\1\1", "--host-policy", "192.168.1.0/24=first")
        lost = [source for (source, _, sids), now in zip(CASES, found) if sids != now]
        self.assertEqual(len(lost), 2, lost)
        self.assertTrue(all("forward overlap" in source for source in lost), lost)
        found = self.alerts(b"\xc0\xa8\1\1", "--host-policy", "192.168.1.1/32=last")
        sids = {source: now for (source, _, _), now in zip(CASES, found)}
        self.assertEqual(
            sids["HPK: sent again with other bytes behind a lost segment (bsd: the first stay)"],
            {2})
        self.assertEqual(sids["HPK: fragments whose bytes differ (bsd: the first stay)"], set())


if __name__ == "__main__":
    case.main()
