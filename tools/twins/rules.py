# SPDX-License-Identifier: MIT
"""Reads a rule of Suricata, Snort 2 or Snort 3 into its header and its options."""
import dataclasses
import re

ACTIONS = {"alert", "log", "drop", "sdrop", "block", "reject", "rejectsrc", "rejectdst",
           "rejectboth", "pass"}
SHORT = re.compile(r"\s*(\w+)\s+([\w-]+)?\s*\((.*)\)\s*$", re.S)
WHOLE = re.compile(r"\s*(\w+)\s+([\w-]+)\s+(\[.*?\]|\S+)\s+(\[.*?\]|\S+)\s+(->|<>)\s+"
                   r"(\[.*?\]|\S+)\s+(\[.*?\]|[^\s(]+)\s*\((.*)\)\s*$", re.S)
# What a content has behind it in Suricata and Snort 2, and inside it in Snort 3.
WINDOW = {"offset", "depth", "distance", "within"}
MARKS = {"nocase", "startswith", "endswith", "rawbytes", "fast_pattern", "fast_pattern_offset",
         "fast_pattern_length", "width"}
# Of these options the first value can be a number that has a sign or a comma.
SILENT = {"msg", "sid", "rev", "gid", "priority", "classtype", "reference", "metadata", "target",
          "tag", "prefilter", "rem", "soid", "service"}


class Unknown(Exception):
    """The generator has no model of something in the rule."""


@dataclasses.dataclass
class Option:
    """An option as it was written: its name, and the text behind the colon or None."""
    name: str
    value: str | None


@dataclasses.dataclass
class Rule:
    action: str
    protocol: str
    source: str
    source_port: str
    both_ways: bool
    target: str
    target_port: str
    options: list
    snort3: bool
    text: str = ""

    def value(self, name, default=None):
        return next((o.value for o in self.options if o.name == name), default)

    @property
    def key(self):
        """What names the rule in an alert: gid and sid."""
        return int(self.value("gid", 1)), int(self.value("sid", 0))


def pieces(text, separator):
    """Splits at a separator that stands outside quotes and behind no backslash."""
    out, piece, quoted, escaped = [], [], False, False
    for c in text:
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == '"':
            quoted = not quoted
        elif c == separator and not quoted:
            out.append("".join(piece).strip())
            piece = []
            continue
        piece.append(c)
    out.append("".join(piece).strip())
    return out


def unquoted(text):
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def read_bytes(text):
    """The bytes of a content: hexadecimal between bars, and escapes by a backslash."""
    out, i, in_hex = bytearray(), 0, False
    while i < len(text):
        if text[i] == "|":
            in_hex = not in_hex
            i += 1
        elif in_hex:
            if text[i].isspace():
                i += 1
            else:
                out.append(int(text[i:i + 2], 16))
                i += 2
        else:
            i += text[i] == "\\"
            out += text[i].encode("utf-8", "surrogateescape")
            i += 1
    return bytes(out)


def is_snort3(match, options):
    """A short header, an option service, or a modifier inside a content mark Snort 3."""
    return match.re is SHORT or any(
        o.name == "service"
        or (o.name == "content" and len(pieces(o.value or "", ",")) > 1) for o in options)


def read(text):
    """The rule of one line. Raises Unknown where it has no known form."""
    match = WHOLE.match(text) or SHORT.match(text)
    if not match or match[1] not in ACTIONS:
        raise Unknown("form of the rule")
    options = []
    for piece in pieces(match[match.re.groups], ";"):
        if piece:
            name, colon, value = piece.partition(":")
            options.append(Option(name.strip(), value.strip() if colon else None))
    snort3 = is_snort3(match, options)
    if match.re is SHORT:
        return Rule(match[1], match[2] or "ip", "any", "any", False, "any", "any", options,
                    snort3, text)
    return Rule(match[1], match[2], match[3], match[4], match[5] == "<>", match[6], match[7],
                options, snort3, text)
