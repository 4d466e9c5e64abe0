# SPDX-License-Identifier: MIT
"""Buffers of a packet: how bytes are laid out in each, and how a packet carries them."""
import struct

from twins import names, transforms
from twins.contents import fresh_state
from twins.layout import FILLERS, Anything, Begin, State, matches, solve
from twins.packets import NUMBERS, Packet, encode


class Buffer:
    """The payload, and what other buffers change of it."""
    fillers = FILLERS

    def __init__(self, options):
        self.options = options

    def accepts(self, raw, replaced=None):
        """Whether what a packet carries matches the rule, or the rule with replaced options."""
        return matches(self.with_replaced(self.options, replaced), raw)

    @staticmethod
    def with_replaced(options, replaced):
        return [(replaced or {}).get(o, o) for o in options]

    def first_state(self, options):
        return fresh_state(options)

    def raw(self, data):
        """What a packet carries so that the buffer has these bytes, or None."""
        return data

    def lay_out(self, replaced=None, twin=False):
        """What matches, or as a twin what matches but for one option, and the state that it comes
        from; or None."""
        options = self.with_replaced(self.options, replaced)

        def accept(data):
            raw = self.raw(data)
            if raw is None or (twin and self.accepts(raw)):
                return False
            return self.accepts(raw, replaced if twin else None)

        for state in self.first_states(options):
            found = solve(options, accept, state, self.fillers, 0.05 if replaced else 1)
            if found:
                return self.raw(found[0]), found[1]
        return None

    def first_states(self, options):
        return [self.first_state(options)]

    def damaged(self, option, raw, state):
        """What matched, with another byte where the option did, so that it does not; or None."""
        first, last = state.spans.get(id(option), (0, 0)) if state else (0, 0)
        for at in range(first, min(last, first + 12, len(raw))):
            for other in b"q\x01\xfe\n7 ":
                changed = raw[:at] + bytes([other]) + raw[at + 1:]
                if (changed != raw and not self.accepts(changed)
                        and self.accepts(changed, {option: Anything()})):
                    return changed
        return None

    def put(self, packet, raw):
        return packet.changed(payload=raw)


class Message(Buffer):
    """The payload of a rule of DNS: a whole message."""

    def first_states(self, options):
        for known, length in names.templates():
            yield State({at: 1 << byte for at, byte in known.items()}, at_least=length,
                        at_most=length)


class Name(Buffer):
    """A name in a message of DNS. It is laid out behind a dot, which dotprefix has and others have
    not; a section with another transform stands alone."""
    fillers = (b"x", b"a7-", b"wwwwwww.", b"w.", b"0")

    def __init__(self, sections):
        self.sections = [(s.options, [transforms.read(*t) for t in s.transforms])
                         for s in sections]
        self.dotted = all([name for name, _ in s.transforms] in ([], ["dotprefix"])
                          for s in sections)
        self.alone = len(sections) == 1
        super().__init__([o for options, changes in self.sections
                          for o in (Begin(int(self.dotted and not changes)), *options)])

    def first_state(self, options):
        state = super().first_state(options)
        if not self.dotted:
            return state
        # A content that begins with a dot has a letter in front of it.
        return state.with_cells(0, [1 << ord(".")]).changed(reserved=2)

    def raw(self, data):
        if self.dotted:
            return data[1:] if names.is_name(data[1:]) else None
        for _, back in reversed(self.sections[0][1]):
            data = back(data) if data is not None else None
        return data if data is not None and self.alone and names.is_name(data) else None

    def accepts(self, raw, replaced=None):
        return names.is_name(raw) and all(
            matches(self.with_replaced(options, replaced), changed(raw, changes))
            for options, changes in self.sections)

    def damaged(self, option, raw, state):
        if self.dotted:
            state = State({}, spans={k: (max(a - 1, 0), b - 1) for k, (a, b) in
                                     state.spans.items()})
        else:
            state = State({}, spans={id(option): (0, len(raw))})
        return super().damaged(option, raw, state)


class Value(Buffer):
    """A buffer of a message of HTTP or TLS, which the talk says. All sections are about one value.
    """

    def __init__(self, name, sections, talk, fillers):
        self.name, self.talk, self.fillers = name, talk, fillers
        self.said = None, None  # the last bytes that were asked for, and what the talk has of them
        self.sections = [(s.options, [transforms.read(*t) for t in s.transforms])
                         for s in sections]
        self.dotted = any(name == "dotprefix" for s in sections for name, _ in s.transforms)
        self.ways_back = [back for _, changes in self.sections for _, back in changes]
        if self.ways_back and len(self.sections) > 1 and any(
                [name for name, _ in s.transforms] not in ([], ["dotprefix"]) for s in sections):
            raise Unknown("several transforms of a buffer")
        super().__init__([o for options, changes in self.sections
                          for o in (Begin(int(self.dotted and not changes)), *options)])

    def first_state(self, options):
        state = super().first_state(options)
        known = [b for b in (b"." if self.dotted else b"", b"/" if self.name == "http.uri" else b"")
                 if b]
        for at, byte in enumerate(known):
            state = state.with_cells(at, [1 << byte[0]]).changed(reserved=at + 2)
        return state

    def first_states(self, options):
        state = self.first_state(options)
        states = [state, state.changed(gap=1)]
        if self.name == "http.uri" and not self.dotted:
            # A query may have what a path may not.
            states.append(state.with_cells(1, [1 << ord("?")]).changed(reserved=2))
        return [s for s in states if s]

    def raw(self, data):
        if len(self.sections) > 1:
            return data[1:] if self.dotted else data
        for back in reversed(self.ways_back):
            data = back(data) if data is not None else None
        return data

    def holds(self, value, replaced=None):
        """Whether the rule's options match what the buffer has; None: it is not there."""
        return value is not None and all(
            matches(self.with_replaced(options, replaced), changed(value, changes))
            for options, changes in self.sections)

    def accepts(self, raw, replaced=None):
        if self.said[0] != raw:
            self.said = raw, self.talk.value({self.name: raw}, self.name)
        return self.holds(self.said[1], replaced)

    def damaged(self, option, raw, state):
        """Transforms move the place of an option. Some have none."""
        if id(option) in state.spans and (self.ways_back or self.dotted):
            state = State({}, spans={id(option): (0, len(raw))})
        return super().damaged(option, raw, state)


def changed(data, changes):
    for forward, _ in changes:
        data = forward(data)
    return data


# Where a header begins in a packet, and how long it is, where it has no options.
HEADERS = {"ipv4.hdr": (14, 20), "tcp.hdr": (34, 20), "udp.hdr": (34, 8), "icmpv4.hdr": (34, 8),
           "ip.src": (26, 4), "ip.dst": (30, 4)}
OF_PROTOCOL = {"tcp.hdr": "tcp", "udp.hdr": "udp", "icmpv4.hdr": "icmp"}


class Header(Buffer):
    """A header as a buffer. The packet gets the fields that are laid out, and what is asked for of
    others, such as a checksum, holds or not."""

    def __init__(self, name, options, protocol):
        super().__init__(options)
        self.name, self.protocol = name, protocol
        self.sample = Packet(protocol, 0x0a010203, 0x2c010203, 20000, 7000, b"x" * 9)
        self.fillers = (self.bytes_of(self.sample),)

    def bytes_of(self, packet):
        first, length = HEADERS[self.name]
        return encode(packet)[first:first + length]

    def first_state(self, options):
        length = HEADERS[self.name][1]
        return State({}, at_least=length, at_most=length)

    def accepts(self, raw, replaced=None):
        return super().accepts(self.bytes_of(self.put(self.sample, raw)), replaced)

    def put(self, packet, raw):
        get = struct.unpack_from
        if self.name == "ip.src":
            return packet.changed(source=get("!I", raw)[0])
        if self.name == "ip.dst":
            return packet.changed(target=get("!I", raw)[0])
        if self.name == "ipv4.hdr":
            fields = {"tos": raw[1], "id": get("!H", raw, 4)[0], "fragbits": raw[6] >> 5,
                      "ttl": raw[8]}
        elif self.name == "tcp.hdr":
            fields = {"seq": get("!I", raw, 4)[0], "ack": get("!I", raw, 8)[0],
                      "flags": raw[13], "window": get("!H", raw, 14)[0],
                      "urgent": get("!H", raw, 18)[0]}
        elif self.name == "icmpv4.hdr":
            fields = {"itype": raw[0], "icode": raw[1], "icmp_id": get("!H", raw, 4)[0],
                      "icmp_seq": get("!H", raw, 6)[0]}
        else:
            fields = {}
        return packet.with_fields(**fields)


assert set(OF_PROTOCOL.values()) <= set(NUMBERS)
