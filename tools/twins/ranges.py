# SPDX-License-Identifier: MIT
"""Sets of numbers: addresses, ports, and fields of headers, as sorted pairs (first, last)."""
import ipaddress
import re

from twins.rules import Unknown

ADDRESSES = ((0, 2**32 - 1),)
PORTS = ((0, 65535),)

# Variables of usual rule sets. The command hands the same to sluice.
NETWORKS = ("HTTP_SERVERS", "SMTP_SERVERS", "SQL_SERVERS", "DNS_SERVERS", "TELNET_SERVERS",
            "FTP_SERVERS", "SSH_SERVERS", "SIP_SERVERS", "DC_SERVERS", "DNP3_SERVER",
            "DNP3_CLIENT", "MODBUS_SERVER", "MODBUS_CLIENT", "ENIP_SERVER", "ENIP_CLIENT")
VARIABLES = {
    "HOME_NET": "10.0.0.0/8", "EXTERNAL_NET": "!$HOME_NET", "AIM_SERVERS": "$EXTERNAL_NET",
    "HTTP_PORTS": "[80,8080]", "SHELLCODE_PORTS": "!80", "ORACLE_PORTS": "1521",
    "SSH_PORTS": "22", "DNP3_PORTS": "20000", "MODBUS_PORTS": "502", "FILE_DATA_PORTS":
    "[$HTTP_PORTS,110,143]", "FTP_PORTS": "21", "GENEVE_PORTS": "6081", "VXLAN_PORTS": "4789",
    "TEREDO_PORTS": "3544", "SIP_PORTS": "[5060,5061]", **{name: "$HOME_NET" for name in NETWORKS}}


def union(sets):
    out = []
    for first, last in sorted(pair for one in sets for pair in one):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return tuple(out)


def minus(whole, taken):
    out = []
    for first, last in whole:
        for a, b in taken:
            if b < first or last < a:
                continue
            if first < a:
                out.append((first, a - 1))
            first = b + 1
        if first <= last:
            out.append((first, last))
    return tuple(out)


def common(one, other):
    return minus(one, minus(((0, 2**64),), other))


def holds(ranges, number):
    return any(first <= number <= last for first, last in ranges)


def elements(text):
    """The elements of a list, which can have lists as elements."""
    depth, piece, out = 0, "", []
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            out.append(piece.strip())
            piece = ""
        else:
            piece += c
    return [p for p in out + [piece.strip()] if p]


def address(text):
    if text == "any":
        return ADDRESSES
    if ":" in text:
        return ()  # packets have IPv4 addresses alone
    first, dash, last = text.partition("-")
    try:
        if dash:
            return ((int(ipaddress.ip_address(first)), int(ipaddress.ip_address(last))),)
        net = ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise Unknown(f"address {text}") from error
    return ((int(net[0]), int(net[-1])),)


def port(text):
    if text == "any":
        return PORTS
    first, colon, last = text.partition(":")
    try:
        return ((int(first or 0), int((last or 65535) if colon else first)),)
    except ValueError as error:
        raise Unknown(f"port {text}") from error


def parse(text, whole, one):
    """A set as a rule writes it: elements that are in it, less those behind an exclamation mark."""
    text = text.strip()
    if text.startswith("!"):
        return minus(whole, parse(text[1:], whole, one))
    if text.startswith("$"):
        if text[1:] not in VARIABLES:
            raise Unknown(f"variable {text}")
        return parse(VARIABLES[text[1:]], whole, one)
    if not text.startswith("["):
        return one(text)
    parts = elements(text[1:-1])
    kept = [parse(p, whole, one) for p in parts if not p.startswith("!")]
    taken = [parse(p[1:], whole, one) for p in parts if p.startswith("!")]
    return minus(union(kept) if kept else whole, union(taken))


def addresses(text):
    return parse(text, ADDRESSES, address)


def ports(text):
    return parse(text, PORTS, port)


INTERVAL = re.compile(r"(\d+)\s*(<=>|<>|-)\s*(\d+)$")
BOUND = re.compile(r"(<=|>=|<|>|=|!=|!)?\s*(\w+)$")


def numbers(text, top):
    """Of a field that goes up to `top`: a number, a bound, or an interval between two numbers,
    which are outside it, but where it is written `<=>`."""
    whole = ((0, top),)
    text = text.strip()
    if text.startswith("!") and INTERVAL.match(text[1:]):
        return minus(whole, numbers(text[1:], top))
    between = INTERVAL.match(text)
    if between:
        inner = 0 if between[2] == "<=>" else 1
        return common(whole, ((int(between[1]) + inner, int(between[3]) - inner),))
    bound = BOUND.match(text)
    try:
        number = int(bound[2], 16 if bound[2].startswith("0x") else 10) if bound else None
    except ValueError:
        number = None
    if number is None:
        raise Unknown(f"number {text}")
    one = {"<": (0, number - 1), "<=": (0, number), ">": (number + 1, top), ">=": (number, top)}
    if bound[1] in ("!", "!="):
        return minus(whole, ((number, number),))
    first, last = one.get(bound[1], (number, number))
    return common(whole, ((first, last),)) if first <= last else ()


def edges(ranges, top):
    """Numbers just outside the set, the nearest first."""
    near = [n for first, last in ranges for n in (first - 1, last + 1) if 0 <= n <= top]
    return [n for n in near if not holds(ranges, n)]
