# SPDX-License-Identifier: MIT
"""A client's hello and a server's certificate of TLS 1.2: their bytes, and what buffers of rules
hold of them."""
import re
import struct

SAME = {"tls_sni": "tls.sni", "tls_cert_subject": "tls.cert_subject",
        "tls_cert_issuer": "tls.cert_issuer"}
OF_CLIENT = {"tls.sni"}
OF_SERVER = {"tls.cert_subject", "tls.cert_issuer", "tls.certs"}
BUFFERS = OF_CLIENT | OF_SERVER
FILLERS = {"tls.sni": (b"x", b"w.", b"0"), "tls.certs": (b"x", b"\0", b"\x30", b"A")}
USUAL = (b"x", b"A", b"w.", b"0", b"x ")
# Attributes of names, by the last byte of their number.
ATTRIBUTES = {b"CN": 3, b"SN": 4, b"C": 6, b"L": 7, b"ST": 8, b"O": 10, b"OU": 11}
EMAIL = bytes.fromhex("2a864886f70d010901")


def der(tag, *parts):
    body = b"".join(parts)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    size = (len(body).bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + len(body).to_bytes(size, "big") + body


def pairs_of(data):
    """Attributes of a name as a rule writes it; what is none becomes a common name."""
    pairs = []
    for text in data.split(b", "):
        key, mark, value = text.partition(b"=")
        if not mark or key not in ATTRIBUTES and key != b"emailAddress":
            key, value = b"CN", text
        if not value or b"\0" in value or b"," in value:
            return None
        pairs.append((key, value))
    return pairs


def spelled(pairs):
    return b", ".join(key + b"=" + value for key, value in pairs)


def encode_name(pairs):
    def number(key):
        return EMAIL if key == b"emailAddress" else bytes([0x55, 4, ATTRIBUTES[key]])
    return der(0x30, *(der(0x31, der(0x30, der(6, number(key)), der(0x0c, value)))
                       for key, value in pairs))


def certificate(issuer, subject, extra):
    """A certificate whose signature is none. `extra` stands in an extension."""
    algorithm = der(0x30, der(6, bytes.fromhex("2a864886f70d01010b")), der(5))
    key = der(0x30, der(0x30, der(6, bytes.fromhex("2a864886f70d010101")), der(5)),
              der(3, b"\0", der(0x30, der(2, b"\x7f" * 64), der(2, b"\1\0\1"))))
    dates = der(0x30, der(0x17, b"240101000000Z"), der(0x17, b"340101000000Z"))
    extension = der(0x30, der(6, bytes.fromhex("2a0304")), der(4, extra))
    signed = der(0x30, der(0xa0, der(2, b"\2")), der(2, b"\x11\x22"), algorithm,
                 encode_name(issuer), dates, encode_name(subject), key,
                 der(0xa3, der(0x30, extension)))
    return der(0x30, signed, algorithm, der(3, b"\0" + b"\x5a" * 64))


def handshake(kind, body):
    return bytes([kind]) + struct.pack("!I", len(body))[1:] + body


def record(body):
    return b"\x16\3\3" + struct.pack("!H", len(body)) + body


def client_hello(host):
    name = b"\0" + struct.pack("!H", len(host)) + host
    names = struct.pack("!H", len(name)) + name
    extensions = struct.pack("!HH", 0, len(names)) + names
    extensions += bytes.fromhex("000a00040002001d000b00020100000d0004000204 01".replace(" ", ""))
    return record(handshake(1, b"\3\3" + bytes(range(32)) + b"\0" + b"\0\4\xc0\x2f\0\x2f" + b"\1\0"
                            + struct.pack("!H", len(extensions)) + extensions))


def server_hello(chain):
    listed = b"".join(struct.pack("!I", len(one))[1:] + one for one in chain)
    return (record(handshake(2, b"\3\3" + bytes(range(32, 64)) + b"\0" + b"\xc0\x2f" + b"\0"))
            + record(handshake(11, struct.pack("!I", len(listed))[1:] + listed))
            + record(handshake(14, b"")))


class Talk:
    """A hello, and a certificate where the rule is about one."""
    protocol = "tls"

    def __init__(self, to_client, buffers):
        self.to_client, self.buffers = to_client, buffers

    def chain(self, said):
        """The server's only certificate, its issuer and its subject; or None."""
        issuer = pairs_of(said.get("tls.cert_issuer", b"CN=issuer.example"))
        subject = pairs_of(said.get("tls.cert_subject", b"CN=host.example"))
        if issuer is None or subject is None:
            return None
        return certificate(issuer, subject, said.get("tls.certs", b"x")), issuer, subject

    def values(self, said, asker=None):
        host = said.get("tls.sni", b"host.example")
        if "payload" in said or not re.fullmatch(rb"[A-Za-z0-9._-]{1,255}", host):
            return None
        out = {"tls.sni": host}
        if self.to_client:
            found = self.chain(said)
            if found is None or len(found[0]) > 15000:
                return None
            out.update({"tls.certs": found[0], "tls.cert_issuer": spelled(found[1]),
                        "tls.cert_subject": spelled(found[2])})
        return {name: value for name, value in out.items() if name in (asker or self).buffers}

    def value(self, said, buffer):
        return (self.values(said) or {}).get(buffer)

    def segments(self, said):
        hello = [(True, client_hello(said.get("tls.sni", b"host.example")))]
        if not self.to_client:
            return hello
        return [*hello, (False, server_hello([self.chain(said)[0]]))]

    def asks(self, said):
        return True
