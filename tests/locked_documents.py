# SPDX-License-Identifier: MIT
"""Encrypted documents that open without a password, after ISO 32000-2 (7.6) and MS-OFFCRYPTO
(2.3.4). `wrong` makes the key another one. AES is that of the command openssl."""
import hashlib
import struct
import subprocess
import zlib

PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
OWNER, IDENTITY = bytes(range(32)), b"0123456789abcdef"
PERMISSIONS = b"\xfc\xff\xff\xff"  # -4


def rc4(key, text):
    state, j, out, i = list(range(256)), 0, bytearray(), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    for byte in text:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def aes(mode, key, text, start=None):
    """Of whole blocks; `start` is CBC's."""
    vector = [] if start is None else ["-iv", start.hex()]
    return subprocess.run(["openssl", "enc", f"-aes-{8 * len(key)}-{mode}", "-nopad", "-K",
                           key.hex(), *vector], input=text, check=True, capture_output=True).stdout


def pdf(stream, handler):
    return (b"%PDF-1.4\n5 0 obj<</Filter/Fl#61teDecode/Length " + str(len(stream)).encode() +
            b">>stream\n" + stream + b"\nendstream endobj\n6 0 obj<</Filter/Standard" + handler +
            b">>endobj\ntrailer<</Encrypt 6 0 R/ID[<" + IDENTITY.hex().encode() + b"><00>]>>\n")


def handler_of(version, revision, bits, owner, user, more=b""):
    return (f"/V {version}/R {revision}/Length {bits}/P -4/O<{owner.hex()}>/U<{user.hex()}>"
            .encode() + more)


def pdf_key(revision, bits, wrong):
    """The key that an empty password makes, and what checks it."""
    key = hashlib.md5(PAD + OWNER + PERMISSIONS + IDENTITY + wrong).digest()[:bits // 8]
    if revision == 2:
        return key, rc4(key, PAD)
    for _ in range(50):
        key = hashlib.md5(key).digest()[:bits // 8]
    user = hashlib.md5(PAD + IDENTITY).digest()
    for count in range(20):
        user = rc4(bytes(byte ^ count for byte in key), user)
    return key, user + bytes(16)


def pdf_rc4(revision, bits, text, wrong=b""):
    key, user = pdf_key(revision, bits, wrong)
    own = hashlib.md5(key + b"\5\0\0" + b"\0\0").digest()[:min(16, bits // 8 + 5)]
    return pdf(rc4(own, zlib.compress(text)),
               handler_of(revision - 1, revision, bits, OWNER, user))


def hash_salt(revision, salt):
    """Algorithm 2.B, of an empty password."""
    key, count, last = hashlib.sha256(salt).digest(), 0, 0
    while revision == 6 and (count < 64 or last > count - 32):
        text = aes("cbc", key[:16], key * 64, key[16:32])
        key = (hashlib.sha256, hashlib.sha384, hashlib.sha512)[sum(text[:16]) % 3](text).digest()
        count, last = count + 1, text[-1]
    return key[:32]


def pdf_aes(revision, text, wrong=b""):
    """Revision 4 has a key for each object; 5 and 6 have one for all."""
    method = b"/CF<</StdCF<</CFM/AESV%d>>>>/StmF/StdCF/StrF/StdCF" % (2 if revision == 4 else 3)
    start, packed = bytes(range(16)), zlib.compress(text)
    padding = 16 - len(packed) % 16
    if revision == 4:
        key, user = pdf_key(revision, 128, wrong)
        handler = handler_of(4, 4, 128, OWNER, user, method)
        key = hashlib.md5(key + b"\5\0\0" + b"\0\0" + b"sAlT").digest()
    else:
        key, checked, made = bytes(range(7, 39)), b"checked!", b"makes it"
        sealed = aes("cbc", hash_salt(revision, made), key, bytes(16))
        user = hash_salt(revision, checked + wrong) + checked + made
        handler = handler_of(5, revision, 256, OWNER, user, b"/UE<" + sealed.hex().encode() + b">" +
                             method)
    return pdf(start + aes("cbc", key, packed + bytes([padding]) * padding, start), handler)

SECTOR, END, NO_ENTRY = 512, 0xFFFFFFFE, 0xFFFFFFFF


def ole2_entry(name, kind, child, right, first, length):
    text = (name + "\0").encode("utf-16-le")
    return (text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, NO_ENTRY, right,
                                                child) +
            bytes(36) + struct.pack("<IQ", first, length))


def ole2(streams):
    """A compound file of two streams, which are long enough to have sectors of their own."""
    table, body = [0xFFFFFFFD, END], b""
    entries = [ole2_entry("Root Entry", 5, 1, NO_ENTRY, END, 0)]
    for number, (name, content) in enumerate(streams):
        n = -(-len(content) // SECTOR)
        entries.append(ole2_entry(name, 2, NO_ENTRY, 2 if number == 0 else NO_ENTRY, len(table),
                                  len(content)))
        table += [*range(len(table) + 1, len(table) + n), END]
        body += content.ljust(n * SECTOR, b"\0")
    head = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) +
            struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, END, 0, END,
                        0) + struct.pack("<I", 0)).ljust(SECTOR, b"\xff")
    return (head + struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff") +
            b"".join(entries).ljust(SECTOR, b"\0") + body)


def office(bits, document, password="VelvetSweatshop"):
    """Office tries this password by itself."""
    salt, verifier = bytes(range(16)), b"sixteen letters."
    key = hashlib.sha1(salt + password.encode("utf-16-le")).digest()
    for count in range(50000):
        key = hashlib.sha1(struct.pack("<I", count) + key).digest()
    key = hashlib.sha1(key + bytes(4)).digest()
    key = b"".join(hashlib.sha1(bytes(with_byte ^ byte for byte in key.ljust(64, b"\0"))).digest()
                   for with_byte in (0x36, 0x5C))[:bits // 8]
    header = struct.pack("<8I", 0x24, 0, 0, 0x8004, bits, 0x18, 0, 0) + b"\0\0"
    info = (struct.pack("<HHII", 4, 2, 0x24, len(header)) + header + struct.pack("<I", 16) + salt +
            aes("ecb", key, verifier) + struct.pack("<I", 20) +
            aes("ecb", key, hashlib.sha1(verifier).digest().ljust(32, b"\0")))
    length = max(4096, -(-len(document) // 16) * 16)
    package = struct.pack("<Q", len(document)) + aes("ecb", key, document.ljust(length, b"\0"))
    return ole2([("EncryptionInfo", info.ljust(4096, b"\0")), ("EncryptedPackage", package)])
