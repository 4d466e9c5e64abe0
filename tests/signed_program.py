# SPDX-License-Identifier: MIT
"""Programs for Windows that are signed (Authenticode), certificates after RFC 5280, and lines of
.crb. Keys and signatures of RSA are those of the command openssl."""
import datetime
import hashlib
import os
import struct
import subprocess

RSA, SHA256, SHA256_RSA = "1.2.840.113549.1.1.1", "2.16.840.1.101.3.4.2.1", "1.2.840.113549.1.1.11"
CODE_SIGNING, SERVER = "1.3.6.1.5.5.7.3.3", "1.3.6.1.5.5.7.3.1"


def der(tag, *parts):
    content = b"".join(parts)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 128 | size]) + length.to_bytes(size, "big") + content


def sequence(*parts):
    return der(0x30, *parts)


def oid(text):
    first, second, *rest = map(int, text.split("."))
    out = bytes([40 * first + second])
    for number in rest:
        digits = [number & 127]
        while number := number >> 7:
            digits.insert(0, 128 | number & 127)
        out += bytes(digits)
    return der(6, out)


def integer(number):
    return der(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def algorithm(name):
    return sequence(oid(name), der(5))


class Key:
    """A key, and the name of its owner."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name + ".key")
        self.content = der(0x31, sequence(oid("2.5.4.3"), der(12, name.encode())))
        subprocess.run(["openssl", "genrsa", "-out", self.path, "1024"], check=True,
                       capture_output=True)
        shown = subprocess.run(["openssl", "rsa", "-in", self.path, "-noout", "-modulus"],
                               check=True, capture_output=True).stdout.decode()
        self.modulus = int(shown.split("=")[1], 16)

    def sign(self, text):
        return subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.path], input=text,
                              check=True, capture_output=True).stdout

    def certificate(self, issuer, serial, ca=False, use=CODE_SIGNING, years=1):
        """Valid since two years, and for some more; expired where `years` is negative."""
        now = datetime.datetime.now(datetime.timezone.utc)
        times = [der(0x17, (now + datetime.timedelta(days=365 * n)).strftime("%y%m%d%H%M%SZ")
                     .encode()) for n in (-2, years)]
        public = sequence(algorithm(RSA), der(3, b"\0", sequence(integer(self.modulus),
                                                                integer(65537))))
        extensions = [sequence(oid("2.5.29.19"), der(4, sequence(der(1, b"\xff"))))] if ca else []
        if use is not None:
            extensions.append(sequence(oid("2.5.29.37"), der(4, sequence(oid(use)))))
        body = sequence(der(0xA0, integer(2)), integer(serial), algorithm(SHA256_RSA),
                        sequence(issuer.content), sequence(*times), sequence(self.content), public,
                        *([der(0xA3, sequence(*extensions))] if extensions else []))
        return sequence(body, algorithm(SHA256_RSA), der(3, b"\0", issuer.sign(body)))

    def line(self, name, trusted=1, serial=None, code=1, cert=1, levels=""):
        """Of .crb. The hashes are of what a subject and a number hold."""
        number = "" if serial is None else hashlib.sha1(integer(serial)[2:]).hexdigest()
        return (f"{name};{trusted};{hashlib.sha1(self.content).hexdigest()};{number};"
                f"{self.modulus:x};010001;{code};0;{cert};0;comment{levels}\n")


def program(text):
    """A program whose section holds a text."""
    optional = bytearray(224)
    struct.pack_into("<H", optional, 0, 0x10B)
    struct.pack_into("<IIIII", optional, 16, 4096, 4096, 4096, 0x400000, 4096)
    struct.pack_into("<I", optional, 36, 512)
    struct.pack_into("<II", optional, 56, 8192, 512)
    struct.pack_into("<I", optional, 92, 16)
    head = (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" +
            struct.pack("<HHIIIHH", 0x14C, 1, 0, 0, 0, 224, 0x102) + optional +
            b".text\0\0\0" + struct.pack("<IIII", 512, 4096, 512, 512) + bytes(12) +
            struct.pack("<I", 0x60000020))
    return head.ljust(512, b"\0") + text.ljust(512, b"\0")


def sign(plain, key, issuer, serial, certificates):
    """Signs with the certificate that the issuer gave to the key."""
    entry = 64 + 24 + 96 + 32
    digest = hashlib.sha256(plain[:64 + 88] + plain[64 + 92:entry] + plain[entry + 8:]).digest()
    data = sequence(oid("1.3.6.1.4.1.311.2.1.15"), sequence(der(3, b"\0")))
    statement = data + sequence(algorithm(SHA256), der(4, digest))
    type_of = oid("1.3.6.1.4.1.311.2.1.4")
    attributes = (sequence(oid("1.2.840.113549.1.9.3"), der(0x31, type_of)) +
                  sequence(oid("1.2.840.113549.1.9.4"),
                           der(0x31, der(4, hashlib.sha256(statement).digest()))))
    signer = sequence(integer(1), sequence(sequence(issuer.content), integer(serial)),
                      algorithm(SHA256), der(0xA0, attributes), algorithm(RSA),
                      der(4, key.sign(der(0x31, attributes))))
    signed = sequence(integer(1), der(0x31, algorithm(SHA256)),
                      sequence(type_of, der(0xA0, sequence(statement))),
                      der(0xA0, *certificates), der(0x31, signer))
    pkcs7 = sequence(oid("1.2.840.113549.1.7.2"), der(0xA0, signed))
    pkcs7 += bytes(-len(pkcs7) % 8)
    out = bytearray(plain)
    struct.pack_into("<II", out, entry, len(plain), 8 + len(pkcs7))
    return bytes(out) + struct.pack("<IHH", 8 + len(pkcs7), 0x200, 2) + pkcs7
