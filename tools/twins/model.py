# SPDX-License-Identifier: MIT
"""What a rule asks for: fields of headers, the flow, and options of each buffer."""
import dataclasses
import re

from twins import base64_data, expressions, http, ranges, tls
from twins.base64_data import Decode
from twins.buffers import HEADERS
from twins.bytes import BASES, ByteExtract, ByteJump, ByteTest, Reading
from twins.contents import Content, DataAt, Length
from twins.packets import IP_OPTIONS
from twins.rules import MARKS, SILENT, WINDOW, Unknown, pieces, read_bytes, unquoted
from twins.state import Bits, read_address_bits, read_bits, read_count

# Fields that are numbers, and the largest.
FIELDS = {"itype": 255, "icode": 255, "ttl": 255, "id": 65535, "ip_proto": 255, "tos": 255,
          "fragoffset": 8191, "seq": 2**32 - 1, "ack": 2**32 - 1, "window": 65535,
          "icmp_id": 65535, "icmp_seq": 65535, "tcp.mss": 65535, "tcp.wscale": 255,
          "vlan.layers": 2, "flags": 255, "fragbits": 7, "dsize": 65535}
# Numbers in a message of DNS, and the largest.
OF_MESSAGE = {"dns.opcode": 15, "dns.rcode": 15, "dns.rrtype": 65535}
OTHER_NAMES = {"tcp.flags": "flags", "tcp.seq": "seq", "tcp.ack": "ack", "tcp.window": "window"}
# Fields that only packets of this protocol have.
PROTOCOL_OF = {**dict.fromkeys(("itype", "icode", "icmp_id", "icmp_seq"), "icmp"),
               **dict.fromkeys(("flags", "seq", "ack", "window", "tcp.mss", "tcp.wscale"), "tcp")}
BUFFERS = {"pkt_data": "payload", "dns.query": "dns.query", "dns_query": "dns.query",
           **{f"dns.{part}.rrname": f"dns.{part}.rrname"
              for part in ("queries", "answers", "authorities", "additionals", "response")},
           **{name: name for name in HEADERS},
           **{name: name for name in http.BUFFERS | tls.BUFFERS}, **http.SAME, **tls.SAME}
# What Suricata and Snort 2 have behind a content.
MODIFIERS = {name: buffer for name, buffer in http.SAME.items() if name != "file_data"}
TRANSFORMS = {"dotprefix", "to_lowercase", "to_uppercase", "strip_whitespace",
              "compress_whitespace", "url_decode", "xor", "to_md5", "to_sha1", "to_sha256",
              "from_base64", "strip_pseudo_headers", "header_lowercase", "pcrexform"}
FLOW = {"to_server": "to_server", "from_client": "to_server", "to_client": "to_client",
        "from_server": "to_client", "established": "established",
        "not_established": "not_established", "stateless": None, "no_stream": None}
FLAG_BITS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "E": 64, "2": 64, "C": 128,
             "1": 128}
FRAGMENT_BITS = {"M": 1, "D": 2, "R": 4}


@dataclasses.dataclass
class Section:
    buffer: str
    transforms: list
    options: list


@dataclasses.dataclass
class Model:
    rule: object
    fields: dict = dataclasses.field(default_factory=dict)
    flow: set = dataclasses.field(default_factory=set)
    same_ip: bool = False
    ip_option: str | None = None
    vlan: tuple | None = None  # numbers, and the layer
    message: dict = dataclasses.field(default_factory=dict)  # numbers in a message of DNS
    absent: list = dataclasses.field(default_factory=list)  # buffers that a message lacks
    is_dns: bool = False
    count: object = None
    bits: list = dataclasses.field(default_factory=list)
    sections: list = dataclasses.field(default_factory=list)

    def of_buffer(self, buffer):
        return [s for s in self.sections if s.buffer == buffer]


def allowed_bits(value, bits, top):
    """Of flags or fragbits: the values that `+`, `*`, `!` or nothing before the bits allows."""
    value, _, ignored = value.replace(" ", "").partition(",")
    modifier = "".join(c for c in value if c in "+*!")
    try:
        want = sum({bits[c.upper()] for c in value if c not in "+*!0"})
        mask = top & ~sum({bits[c.upper()] for c in ignored})
    except KeyError as error:
        raise Unknown(f"bits {value}") from error
    test = {"+": lambda v: v & want == want, "*": lambda v: v & want != 0,
            "!": lambda v: v & want == 0, "": lambda v: v == want}[modifier]
    return ranges.union([((v, v),) for v in range(top + 1) if test(v & mask)])


def integer(text):
    """A number, or the name of one that another option sets."""
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def add_window(content, words):
    """A modifier of a content: its name, and its value where it has one."""
    name = words[0]
    if name in WINDOW:
        if len(words) < 2:
            raise Unknown(f"content {name}")
        return content.copy(**{name: integer(words[1])})
    return content.copy(**{"nocase": {"nocase": True}, "startswith": {"starts": True},
                           "endswith": {"ends": True}}.get(name, {}))


def read_content(value):
    """content, with the modifiers that Snort 3 writes inside it."""
    text, *inside = pieces(value, ",")
    negated = text.startswith("!")
    content = Content(read_bytes(unquoted(text.lstrip("! "))), negated)
    for words in inside:
        words = re.split(r"[\s:]+", words)
        if words[0] not in WINDOW | MARKS:
            raise Unknown(f"content {words[0]}")
        content = add_window(content, words)
    return content


def read_data_at(value, snort3):
    text, *words = [w.strip() for w in value.split(",")]
    if set(words) - {"relative", "rawbytes"}:
        raise Unknown(f"isdataat {value}")
    return DataAt(integer(text.lstrip("! ")), text.startswith("!"), "relative" in words, snort3)


SIGNS = {"big", "string", "relative", "little", "align", "from_beginning", "from_end", "rawbytes",
         *BASES}


class Words:
    """What stands behind the numbers of an option of bytes: words, and words with a value."""

    def __init__(self, value, first):
        parts = [p.strip() for p in value.split(",")]
        self.first, self.values = parts[:first], {}
        if len(self.first) < first:
            raise Unknown("an option of bytes with too few words")
        for part in parts[first:]:
            name, _, number = part.partition(" ")
            self.values[name] = number.strip()

    def reading(self, size, offset, known):
        """How the number is read. Raises Unknown where a word has no model."""
        for name in self.values:
            if name not in SIGNS | known | {"bitmask", "endian"}:
                raise Unknown(f"word {name} of an option of bytes")
        base = next((BASES[n] for n in self.values if n in BASES), 10)
        mask = self.values.get("bitmask")
        return Reading(integer(size), integer(offset), "relative" in self.values,
                       "little" in self.values or self.values.get("endian") == "little",
                       base if "string" in self.values else None,
                       int(mask, 16) if mask else None)


def read_test(value):
    words = Words(value, 4)
    size, operator, operand, offset = words.first
    negated = operator.startswith("!")
    operator = operator.lstrip("! ") or "="
    if operator not in ("<", ">", "=", "<=", ">=", "&", "^"):
        raise Unknown(f"byte_test {operator}")
    operand = int(operand, 16) if operand.lower().startswith("0x") else integer(operand)
    return ByteTest(words.reading(size, offset, set()), operator, negated, operand)


def read_jump(value):
    words = Words(value, 2)
    reading = words.reading(*words.first, {"multiplier", "post_offset"})
    origin = next((o for o in ("begin", "end") for w in words.values
                   if w == {"begin": "from_beginning", "end": "from_end"}[o]), "here")
    return ByteJump(reading, int(words.values.get("multiplier", 1)), "align" in words.values,
                    origin, integer(words.values.get("post_offset", "0")))


def read_extract(value):
    words = Words(value, 3)
    size, offset, name = words.first
    align = int(words.values.get("align") or ("align" in words.values) * 4) or 1
    return ByteExtract(words.reading(size, offset, {"multiplier"}), name, "*",
                       int(words.values.get("multiplier", 1)), align)


def read_math(value):
    words = Words(value, 0)
    get = words.values.get
    reading = words.reading(get("bytes"), get("offset", "0"),
                            {"bytes", "offset", "oper", "rvalue", "result"})
    if get("string") in BASES:
        reading.base = BASES[get("string")]
    return ByteExtract(reading, get("result"), get("oper"), integer(get("rvalue")))


READERS = {"pcre": expressions.read, "byte_test": read_test, "byte_jump": read_jump,
           "byte_extract": read_extract, "byte_math": read_math,
           "base64_decode": base64_data.read}


class Reader:
    """Goes through the options of a rule, in order."""

    def __init__(self, rule):
        self.model = Model(rule)
        self.section = self.last = None  # `last` has the last content

    def options(self):
        """Those of the present buffer, which is the payload if none is named."""
        if self.section is None:
            self.section = Section("payload", [], [])
            self.model.sections.append(self.section)
        return self.section.options

    def move_last(self, buffer):
        """Moves the last option of the payload into a buffer."""
        option = self.options().pop()
        if not self.section.options:
            self.model.sections.remove(self.section)
            self.section = None
        self.last = self.of_buffer(buffer)
        self.last.options.append(option)

    def of_buffer(self, buffer):
        """The section of a modifier's buffer."""
        found = self.model.of_buffer(buffer)
        if not found:
            found = [Section(buffer, [], [])]
            self.model.sections += found
        return found[0]

    def read_pcre(self, value):
        """A flag of a buffer of HTTP puts the expression into it."""
        plain, flags = re.fullmatch(r"(.*/)([A-Za-z]*)\"?", value, re.S).groups()
        buffer = next((http.OF_FLAG[f] for f in flags if f in http.OF_FLAG), None)
        if buffer is None:
            self.options().append(expressions.read(value))
            return
        flags = "".join(f for f in flags if f not in http.OF_FLAG)
        self.of_buffer(buffer).options.append(
            expressions.read(plain + flags + ('"' if value.endswith('"') else "")))

    def read(self, option):
        name, value = OTHER_NAMES.get(option.name, option.name), option.value
        rule, model = self.model.rule, self.model
        if name in SILENT:
            return
        if name == "content":
            self.options().append(read_content(value))
            self.last = self.section
        elif name in WINDOW | MARKS and self.last:
            options = self.last.options
            last = max((i for i, o in enumerate(options) if isinstance(o, Content)), default=None)
            if last is None:
                raise Unknown(f"{name} without a content")
            options[last] = add_window(options[last], (name, value))
        elif name == "isdataat":
            self.options().append(read_data_at(value, rule.snort3))
        elif name == "pcre" and re.fullmatch(r".*/[A-Za-z]*\"?", value, re.S):
            self.read_pcre(value)
        elif name in ("urilen", "uricontent"):
            self.of_buffer("http.uri").options.append(
                read_content(value) if name == "uricontent" else
                Length(name, ranges.numbers(value.partition(",")[0], 65535)))
        elif name in READERS:
            self.options().append(READERS[name](value))
        elif name == "base64_data":
            decode = next((o for o in reversed(self.options()) if isinstance(o, Decode)), None)
            if decode is None:
                raise Unknown("base64_data without base64_decode")
            self.section = Section(name, [], decode.inner)
        elif name in MODIFIERS and not rule.snort3 and self.section and self.section.options \
                and self.section.buffer in ("payload", MODIFIERS[name]):
            if self.section.buffer == "payload":
                self.move_last(MODIFIERS[name])
        elif name in BUFFERS and value:
            raise Unknown(f"{name} {value}")
        elif name in ("bsize", "bufferlen"):
            self.options().insert(0, Length(name, ranges.numbers(value, 65535)))
        elif name in BUFFERS:
            self.section = Section(BUFFERS[name], [], [])
            model.sections.append(self.section)
        elif name == "absent":
            self.leave_out(value)
        elif name in TRANSFORMS:
            self.section.transforms.append((name, value))
        elif name == "flow":
            self.read_flow(value)
        elif name in ("flags", "fragbits"):
            bits, top = (FLAG_BITS, 255) if name == "flags" else (FRAGMENT_BITS, 7)
            model.fields[name] = allowed_bits(value, bits, top)
        elif name in FIELDS:
            if name == "tos" and value.lstrip("!").startswith("x"):
                value = value.replace("x", "0x")
            model.fields[name] = ranges.numbers(value, FIELDS[name])
        elif name == "ipopts" and value in IP_OPTIONS:
            model.ip_option = value
        elif name == "vlan.id":
            number, _, layer = value.partition(",")
            if layer not in ("", "0", "1", "any", "all"):
                raise Unknown(f"vlan.id {value}")
            model.vlan = (ranges.numbers(number, 4095), layer)
        elif name in ("threshold", "detection_filter"):
            model.count = read_count(name, value)
        elif name == "flowbits":
            model.bits.append(read_bits(value))
        elif name == "xbits":
            model.bits.append(read_address_bits(value))
        elif name == "noalert":
            model.bits.append(Bits(name, (), False))
        elif name in OF_MESSAGE:
            model.message[name] = ranges.numbers(value, OF_MESSAGE[name])
        elif name == "app-layer-protocol" and value == "dns":
            model.is_dns = True
        elif name == "sameip":
            model.same_ip = True
        else:
            raise Unknown(name)

    def leave_out(self, value):
        section = self.section
        if value or section is None or not section.buffer.startswith("dns."):
            raise Unknown("absent")
        self.model.sections.remove(section)
        self.model.absent.append(section.buffer)

    def read_flow(self, value):
        for word in value.split(","):
            word = word.strip()
            if word not in FLOW:
                raise Unknown(f"flow {word}")
            if FLOW[word]:
                self.model.flow.add(FLOW[word])


def build(rule):
    """The model of a rule. Raises Unknown where it has an option without a model."""
    reader = Reader(rule)
    reader.model.is_dns = rule.protocol == "dns"
    for option in rule.options:
        reader.read(option)
    if rule.action == "pass":
        raise Unknown("pass: raises no alert")
    return reader.model
