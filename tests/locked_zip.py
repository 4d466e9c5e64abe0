# SPDX-License-Identifier: MIT
"""Members of a zip with the traditional encryption, after PKWARE's APPNOTE.TXT (6.1). The judge of
the archives is Python's zipfile, which decrypts them."""
import struct
import zlib


def one_step(value):
    return value >> 1 ^ 0xEDB88320 if value & 1 else value >> 1


def table_entry(value):
    for _ in range(8):
        value = one_step(value)
    return value


TABLE = [table_entry(value) for value in range(256)]


def add(total, byte):
    return total >> 8 ^ TABLE[(total ^ byte) & 255]


def take(keys, byte):
    keys[0] = add(keys[0], byte)
    keys[1] = ((keys[1] + (keys[0] & 255)) * 134775813 + 1) & 0xFFFFFFFF
    keys[2] = add(keys[2], keys[1] >> 24)


def encrypt(text, password, mark):
    """The salt ends in the mark: two bytes, as older programs check two."""
    keys, out = [0x12345678, 0x23456789, 0x34567890], bytearray()
    for byte in password:
        take(keys, byte)
    for byte in bytes(10) + mark + text:
        mask = (keys[2] | 2) & 0xFFFF
        out.append(byte ^ mask * (mask ^ 1) >> 8 & 255)
        take(keys, byte)
    return bytes(out)


def member(text, password, deflated, described):
    """A member "a", as (local header and data, entry of the directory)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text) + packer.flush() if deflated else text
    total, clock = zlib.crc32(text), 0xA54B
    data = encrypt(packed, password, struct.pack("<H", clock if described else total >> 16))
    head = struct.pack("<HHHHH", 20, 9 if described else 1, 8 if deflated else 0, clock, 33)
    sizes = struct.pack("<III", total, len(data), len(text))
    name = struct.pack("<HH", 1, 0)
    local = b"PK\3\4" + head + (bytes(12) if described else sizes) + name + b"a" + data
    if described:
        local += b"PK\7\x08" + sizes
    return local, (b"PK\1\2" + struct.pack("<H", 20) + head + sizes + name +
                   struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a")


def archive(text, password, deflated=True, described=False):
    local, entry = member(text, password, deflated, described)
    return (local + entry + b"PK\5\6" +
            struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0))
