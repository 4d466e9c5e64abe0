# SPDX-License-Identifier: MIT
"""Transforms of a buffer, forward, and back to bytes that become the given ones."""
import base64
import hashlib
import re
import urllib.parse

from twins.expressions import Translator
from twins.rules import Unknown, unquoted

# Hashes have no way back: these are the texts whose hashes are known.
TEXTS = (b"sluice.example", b"sluice")
# An expression that is a group between bytes that stand for themselves.
CAPTURE = re.compile(r"((?:[\w /:=,-]|\\\W)*)\(((?:[^()\\]|\\.)+)\)((?:[\w /:=,-]|\\\W)*)")
SAME = {"strip_pseudo_headers", "header_lowercase"}  # of text that has no lines


def read(name, value):
    """A pair of functions: forward, and back, which gives None where there is no way."""
    if name == "dotprefix":
        return (lambda data: b"." + data), (lambda data: data[1:] if data[:1] == b"." else None)
    if name == "to_lowercase":
        return bytes.lower, bytes.upper
    if name == "to_uppercase":
        return bytes.upper, bytes.lower
    if name == "strip_whitespace":
        return (lambda data: re.sub(rb"\s", b"", data)), (lambda data: data[:1] + b" " + data[1:])
    if name == "compress_whitespace":
        return (lambda data: re.sub(rb"\s+", b" ", data)), (lambda data: data.replace(b" ", b" \t"))
    if name == "url_decode":
        return (lambda data: urllib.parse.unquote_to_bytes(data.replace(b"+", b" ")),
                lambda data: b"%%%02x" % data[0] + data[1:].replace(b" ", b"+") if data else None)
    if name == "xor":
        key = bytes.fromhex(unquoted(value))

        def xor(data):
            return bytes(b ^ key[i % len(key)] for i, b in enumerate(data))
        return xor, xor
    if name in ("to_md5", "to_sha1", "to_sha256"):
        def digest(data):
            return hashlib.new(name.removeprefix("to_"), data).digest()
        return digest, {digest(text): text for text in TEXTS}.get
    if name == "from_base64" and not value:
        return decoded, base64.b64encode
    if name == "pcrexform":
        return captured(unquoted(value))
    if name in SAME:
        return (lambda data: data), (lambda data: data)
    raise Unknown(name)


def captured(text):
    """What the group of an expression takes; where there is no match the data stays."""
    shape = CAPTURE.fullmatch(text)
    if not shape or shape[2].startswith("?"):
        raise Unknown("pcrexform")
    expression = re.compile(Translator().translate(text).encode("latin-1"))
    before, behind = (re.sub(r"\\(.)", r"\1", part).encode() for part in shape.group(1, 3))

    def forward(data):
        match = expression.search(data)
        return match[1] if match else data

    def back(data):
        raw = before + data + behind
        return raw if forward(raw) == data else None
    return forward, back


def decoded(data):
    """What base64 stands for, up to what is none."""
    text = re.match(rb"[A-Za-z0-9+/]*", data)[0]
    text = text[:len(text) - (len(text) % 4 == 1)]
    return base64.b64decode(text + b"=" * (-len(text) % 4))
