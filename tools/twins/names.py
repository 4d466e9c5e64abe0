# SPDX-License-Identifier: MIT
"""Messages of DNS, and buffers that are names in them."""
import struct

PARTS = {"dns.queries.rrname": "queries", "dns.query": "queries",
         "dns.answers.rrname": "answers", "dns.authorities.rrname": "authorities",
         "dns.additionals.rrname": "additionals", "dns.response.rrname": "answers"}


def is_name(name):
    """Whether a message can hold this text as a name: labels of 1 to 63 bytes, 253 in all."""
    return 0 < len(name) <= 253 and all(0 < len(label) <= 63 for label in name.split(b"."))


def encode(name):
    return b"".join(bytes([len(label)]) + label for label in name.split(b".")) + b"\0"


def templates():
    """Messages with free bytes: pairs (known bytes by position, length). The first is a response
    with 200 bytes of text, the second a query of a name with three free labels."""
    text = 200
    head = struct.pack("!HHHHHH", 4711, 0x8180, 1, 1, 0, 0)
    head += encode(b"host.example") + struct.pack("!HH", 16, 1)
    head += struct.pack("!HHHIHB", 0xc00c, 16, 1, 60, text + 1, text)
    yield dict(enumerate(head)), len(head) + text
    head = struct.pack("!HHHHHH", 4711, 0x0100, 1, 0, 0, 0)
    known = dict(enumerate(head))
    for label in range(3):
        known[len(head) + 21 * label] = 20
    end = len(head) + 63
    known.update(enumerate(b"\0\0\x01\0\x01", end))
    yield known, end + 5


def message(names, response=False, rrtype=1, opcode=0, rcode=0):
    """A message with one name in each of these parts. A query has the name of the query alone."""
    response = response or set(names) != {"queries"}
    flags = (0x8180 if response else 0x0100) | opcode << 11 | rcode
    question = names.get("queries", b"host.example")
    parts = [names.get(p) for p in ("answers", "authorities", "additionals")]
    out = struct.pack("!HHHHHH", 4711, flags, 1, *[int(p is not None) for p in parts])
    out += encode(question) + struct.pack("!HH", rrtype, 1)
    for name in parts:
        if name is not None:
            out += encode(name) + struct.pack("!HHIH", 1, 1, 60, 4) + bytes((192, 0, 2, 1))
    return out
