# SPDX-License-Identifier: MIT
"""Builds packets with valid checksums, and writes them into a capture."""
import dataclasses
import struct

NUMBERS = {"icmp": 1, "tcp": 6, "udp": 17}
# Options of IPv4, filled up in front to words of four bytes.
IP_OPTIONS = {name: bytes.fromhex(text) for name, text in {
    "rr": "01 07 07 04 00000000", "ts": "44 08 05 00 00000000", "nop": "01010101",
    "sec": "01 82 0b 0000 0000 0000 000000", "esec": "01 85 03 00", "lsrr": "01 83 07 04 2c010101",
    "ssrr": "01 89 07 04 2c010101", "satid": "88 04 0001", "rtralt": "94 04 0000",
    "cipso": "86 08 00000001 0000", "eol": "00000000", "any": "01010101"}.items()}
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


@dataclasses.dataclass
class Packet:
    """What a packet says. Addresses are numbers."""
    protocol: str
    source: int
    target: int
    source_port: int = 0
    target_port: int = 0
    payload: bytes = b""
    fields: dict = dataclasses.field(default_factory=dict)
    pause: float = 0  # seconds before it
    before: tuple = ()  # of a talk: whether the client says it, and the bytes

    def field(self, name):
        """The value of a field, or the one that it has where nobody asks for another."""
        usual = {"ttl": 64, "id": 4660, "tos": 0, "fragbits": 0, "flags": PSH | ACK,
                 "seq": 1000, "ack": 2000 if self.field_flags() & ACK else 0, "window": 8192,
                 "urgent": 0, "fragoffset": 0, "itype": 8, "icode": 0, "icmp_id": 77, "icmp_seq": 1,
                 "ip_proto": NUMBERS.get(self.protocol, 253), "dsize": len(self.payload)}
        return self.fields.get(name, usual.get(name))

    def field_flags(self):
        return self.fields.get("flags", PSH | ACK)

    def changed(self, **fields):
        return dataclasses.replace(self, **fields)

    def with_fields(self, **fields):
        return self.changed(fields={**self.fields, **fields})

    def answer(self, **fields):
        """A packet of the other side."""
        return self.changed(source=self.target, target=self.source,
                            source_port=self.target_port, target_port=self.source_port, **fields)


def checksum(data):
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def transport(packet):
    """The header behind IP, and the payload."""
    get, payload = packet.field, packet.payload
    ends = struct.pack("!IIBBH", packet.source, packet.target, 0, get("ip_proto"), 0)
    if packet.protocol == "icmp":
        head = struct.pack("!BBHHH", get("itype"), get("icode"), 0, get("icmp_id"),
                           get("icmp_seq"))
        return head[:2] + struct.pack("!H", checksum(head + payload)) + head[4:] + payload
    if packet.protocol == "udp":
        head = struct.pack("!HHHH", packet.source_port, packet.target_port, 8 + len(payload), 0)
        covered = ends[:-2] + struct.pack("!H", len(head + payload)) + head + payload
        return head[:6] + struct.pack("!H", checksum(covered) or 0xffff) + payload
    if packet.protocol == "tcp":
        options = b""
        if get("tcp.mss") is not None:
            options += struct.pack("!BBH", 2, 4, get("tcp.mss"))
        if get("tcp.wscale") is not None:
            options += struct.pack("!BBBB", 1, 3, 3, get("tcp.wscale"))
        head = struct.pack("!HHIIBBHHH", packet.source_port, packet.target_port, get("seq"),
                           get("ack"), (20 + len(options)) * 4, get("flags"), get("window"), 0,
                           get("urgent"))
        head += options
        covered = ends[:-2] + struct.pack("!H", len(head + payload)) + head + payload
        return head[:16] + struct.pack("!H", checksum(covered)) + head[18:] + payload
    return payload


def encode(packet):
    get, body = packet.field, transport(packet)
    options = get("ip_options") or b""
    head = struct.pack("!BBHHHBBHII", 0x45 + len(options) // 4, get("tos"),
                       20 + len(options) + len(body), get("id"),
                       get("fragbits") << 13 | get("fragoffset"), get("ttl"), get("ip_proto"), 0,
                       packet.source, packet.target) + options
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    tags = get("vlans") or (7,) * (get("vlan.layers") or 0)
    link = bytes.fromhex("00005e00530200005e005301")
    link += b"".join(struct.pack("!HH", 0x8100, tag) for tag in tags)
    return link + b"\x08\0" + head + body


def opening(packet, sender_is_client, established):
    """The packets before one that belongs to a flow, and the packet with fitting numbers."""
    first = packet if sender_is_client else packet.answer()
    tags = {name: packet.fields[name] for name in ("vlans", "vlan.layers")
            if name in packet.fields}
    first = first.changed(fields=tags, payload=b"")
    wide = first.with_fields(window=65535)  # what follows is within it, with no acknowledgement
    if packet.protocol == "tcp":
        syn = wide.with_fields(flags=SYN, seq=999, ack=0)
        if not established:  # without a SYN, a sensor may take the flow up in its middle
            refusal = wide.answer().with_fields(flags=ACK, seq=4999, ack=999)
            return [syn, refusal], packet  # a client whose server is not seen may be established
        seqs = {"seq": 1000, "ack": 5000} if sender_is_client else {"seq": 5000, "ack": 1000}
        packet = packet.changed(fields={**seqs, **packet.fields})
        return [syn, wide.answer().with_fields(flags=SYN | ACK, seq=4999, ack=1000),
                wide.with_fields(flags=ACK, seq=1000, ack=5000)], packet
    ask = first.changed(payload=b"?")
    if packet.protocol == "udp" and established:
        return [ask, ask.answer(payload=b"!")], packet
    return [] if sender_is_client else [ask], packet


def spoken(packet, sender_is_client, segments):
    """The packets of a talk before one, behind the opening, and that one with fitting numbers."""
    seqs = {True: 1000, False: 5000}
    out = []

    def numbered(of, client):
        return of.with_fields(seq=seqs[client], ack=seqs[not client])

    for client, data in segments:
        base = packet if client == sender_is_client else packet.answer()
        out.append(numbered(base.changed(payload=data, pause=0), client))
        seqs[client] += len(data)
    return out, numbered(packet, sender_is_client)


def acknowledged(packet):
    """What the other side sends behind it."""
    return packet.answer(payload=b"", pause=0).with_fields(
        flags=ACK, seq=packet.field("ack"), ack=packet.field("seq") + len(packet.payload))


class Capture:
    """A pcap file of Ethernet. Time moves on by 50 microseconds a packet, so that a thousand are
    within a second."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        self.microseconds = 1_700_000_000_000_000
        self.written = 0

    def pause(self, seconds):
        self.microseconds += seconds * 1_000_000

    def write(self, packet):
        """The number of the packet in the file, from 1."""
        data = encode(packet)
        self.microseconds += 50 + int(packet.pause * 1_000_000)
        self.file.write(struct.pack("<IIII", *divmod(self.microseconds, 1_000_000), len(data),
                                    len(data)) + data)
        self.written += 1
        return self.written

    def close(self):
        self.file.close()
