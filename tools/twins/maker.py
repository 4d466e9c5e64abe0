# SPDX-License-Identifier: MIT
"""Makes a packet that matches a rule, and those that have to come before it in its flow."""
from twins import http, names, ranges, tls
from twins.buffers import HEADERS, OF_PROTOCOL, Buffer, Header, Message, Name, Value
from twins.contents import Length
from twins.model import PROTOCOL_OF
from twins.packets import ACK, IP_OPTIONS, NUMBERS, SYN, Packet, opening, spoken
from twins.rules import Unknown

HOME = (0x0a010000, 0x0afaffff)
OUTSIDE = (0x2c000000, 0x2cffffff)
CLIENT_PORTS = (20000, 60000)
SERVER_PORTS = (7000, 7999)


def pick(allowed, n, pools):
    """The number of a set that stands for `n`, out of the first pool that has some of it."""
    for pool in pools:
        inside = ranges.common(allowed, (pool,))
        if inside:
            break
    else:
        inside = allowed
    if not inside:
        raise Unknown("an empty set of addresses, ports or numbers")
    first, last = max(inside, key=lambda pair: min(pair[1] - pair[0], 1 << 16))
    return first + n % (last - first + 1)


class Ends:
    """Addresses and ports of a rule."""

    def __init__(self, sets, both_ways):
        self.sets, self.both_ways = sets, both_ways

    @classmethod
    def of(cls, rule):
        return cls({"source": ranges.addresses(rule.source),
                    "target": ranges.addresses(rule.target),
                    "source_port": ranges.ports(rule.source_port),
                    "target_port": ranges.ports(rule.target_port)}, rule.both_ways)

    def joined(self, other, turned):
        """What this rule and another have in common, whose packets go the other way if turned; or
        None."""
        names = ["target", "source", "target_port", "source_port"] if turned else self.sets
        both = {name: ranges.common(allowed, other.sets[theirs])
                for (name, allowed), theirs in zip(self.sets.items(), names)}
        return Ends(both, self.both_ways) if all(both.values()) else None

    def hold(self, packet):
        """Whether the packet goes from the rule's source to its target."""
        portless = packet.protocol not in ("tcp", "udp")

        def one_way(p):
            return all(ranges.holds(allowed, getattr(p, name))
                       for name, allowed in self.sets.items()
                       if not (portless and name.endswith("port")))

        return one_way(packet) or (self.both_ways and one_way(packet.answer()))

    def choose(self, n, dns_side):
        """Addresses and ports that are the rule's: others for another `n`, where there are."""
        dns = {side: (53, 53) for side in (dns_side,) if side}
        source_pools = (HOME, OUTSIDE)
        source = pick(self.sets["source"], n, source_pools)
        target_pools = (OUTSIDE, HOME) if ranges.holds((HOME,), source) else (HOME, OUTSIDE)
        return {"source": source, "target": pick(self.sets["target"], n, target_pools),
                "source_port": pick(self.sets["source_port"], n,
                                    (dns.get("source_port", CLIENT_PORTS),)),
                "target_port": pick(self.sets["target_port"], n,
                                    (dns.get("target_port", SERVER_PORTS),))}

    def outside(self, name, n):
        """An address or a port that is not the rule's, or None."""
        whole = ranges.PORTS if name.endswith("port") else ranges.ADDRESSES
        pools = ((30000, 50000), (2, 1023)) if name.endswith("port") else (HOME, OUTSIDE)
        others = ranges.minus(whole, self.sets[name])
        return pick(others, n, pools) if others else None


class Maker:
    """Makes packets of one rule. `number` gives another number for each, and so another flow.
    `setters` knows the rules that set bits."""

    def __init__(self, model, number, setters):
        self.model, self.number = model, number
        self.ends = self.flow_ends = Ends.of(model.rule)
        self.names = {s.buffer for s in model.sections if s.buffer in names.PARTS}
        self.protocol = self.choose_protocol()
        payload = [o for s in model.of_buffer("payload") for o in s.options]
        if "dsize" in model.fields:
            payload.insert(0, Length("dsize", model.fields["dsize"]))
        self.of_message = {name: pick(allowed, 0, ((0, 0), (1, 1)))
                           for name, allowed in model.message.items()}
        self.talk = self.choose_talk()
        model.is_dns |= bool(self.names or self.of_message or model.absent)
        whole = Message if model.is_dns else Buffer
        self.groups = {"payload": whole(payload)} if payload else {}
        for buffer in sorted(self.names):
            self.groups[buffer] = Name(model.of_buffer(buffer))
        if self.talk:
            self.add_values()
        for section in model.sections:
            if section.buffer in HEADERS:
                if section.transforms:
                    raise Unknown("transform of a header")
                self.groups[section.buffer] = Header(
                    section.buffer, [o for s in model.of_buffer(section.buffer)
                                     for o in s.options], self.protocol)
        if (self.names or self.of_message) and payload:
            raise Unknown("contents of a whole message of DNS beside a part of it")
        self.is_response = ("to_client" in model.flow
                            or bool(self.names - {"dns.query", "dns.queries.rrname"})
                            or self.of_message.get("dns.rcode", 0) > 0)
        self.solve()
        if self.talk and not self.agree(self.buffers):
            raise Unknown("buffers that one message does not have")
        self.setters, self.chain = setters, []
        for bits in model.bits:
            if bits.verb == "isset":
                self.add_setters(bits)

    def choose_talk(self):
        """What is said in a flow of HTTP or TLS, or None."""
        model, asked = self.model, {s.buffer for s in self.model.sections}
        for module in (http, tls):
            if not (asked & module.BUFFERS or model.rule.protocol == module.__name__[6:]):
                continue
            to_client = "to_client" in model.flow or (
                "to_server" not in model.flow and bool(asked & module.OF_SERVER))
            if (not to_client and asked & module.OF_SERVER) or set(model.fields) - {"dsize"}:
                raise Unknown("a rule about packets beside a message")
            return module.Talk(to_client, (asked & module.BUFFERS) - {"payload"})
        return None

    def join_uris(self):
        """Where a rule asks for both URIs, both are one without escapes."""
        sections = self.model.sections
        if {"http.uri", "http.uri.raw"} <= {s.buffer for s in sections}:
            self.talk.escapes = False
            for section in sections:
                if section.buffer == "http.uri.raw":
                    section.buffer = "http.uri"

    def add_values(self):
        """A group for each buffer of the talk, and for what stands anywhere in it."""
        self.join_uris()
        module = http if self.talk.protocol == "http" else tls
        for buffer in sorted(b for b in {s.buffer for s in self.model.sections}
                             if b in module.BUFFERS):
            self.groups[buffer] = Value(buffer, self.model.of_buffer(buffer), self.talk,
                                        module.FILLERS.get(buffer, module.USUAL))
        if "payload" in self.groups:
            if "dsize" in self.model.fields:
                raise Unknown("dsize beside a message")
            self.groups["payload"] = Value("payload", self.model.of_buffer("payload"), self.talk,
                                           http.USUAL)

    def agree(self, buffers):
        """Whether a talk with these bytes has what each buffer of the rule is asked for."""
        values = self.talk.values(buffers)
        return values is not None and all(
            group.holds(values.get(name)) for name, group in self.groups.items()
            if isinstance(group, Value))

    def also_matches(self, other):
        """Whether what this rule's talk says matches another rule, too."""
        if not self.talk:
            return False
        if not other.talk or other.talk.protocol != self.talk.protocol:
            return False
        values = self.talk.values(self.buffers, other.talk)
        return values is not None and all(
            group.holds(values.get(name)) if isinstance(group, Value)
            else name == "payload" and group.accepts(values.get(name, b""))
            for name, group in other.groups.items())

    def choose_protocol(self):
        model, protocol = self.model, self.model.rule.protocol
        if protocol in ("http", "tls"):
            return "tcp"
        if protocol in ("tcp", "udp", "icmp"):
            return protocol
        if protocol in ("tcp-pkt", "tcp-stream"):
            return "tcp"
        if protocol == "dns":
            return "udp"
        if protocol not in ("ip", "ip4", "ipv4", "pkthdr"):
            raise Unknown(f"protocol {protocol}")
        for of in ("icmp", "tcp"):
            if {f for f, p in PROTOCOL_OF.items() if p == of} & set(model.fields):
                return of
        for section in model.sections:
            if section.buffer in OF_PROTOCOL:
                return OF_PROTOCOL[section.buffer]
        if "established" in model.flow:
            return "tcp"
        allowed = model.fields.get("ip_proto", ((17, 17),))
        return next((p for p in ("udp", "tcp", "icmp") if ranges.holds(allowed, NUMBERS[p])),
                    "other")

    def solve(self):
        """Finds bytes for each buffer."""
        self.buffers, self.states = {}, {}
        for group, buffer in self.groups.items():
            found = buffer.lay_out()
            if found is None:
                raise Unknown(f"no bytes found for {group}")
            if isinstance(buffer, Message):
                self.is_response = found[0][2] >= 128
            self.buffers[group], self.states[group] = found

    def add_setters(self, bits):
        """Puts rules in front that set the bits that this one asks for."""
        found = [self.add_setter(name) for name in bits.names]
        if not (any(found) if bits.one_is_enough else all(found)):
            raise Unknown("no rule sets the bit in such a flow")

    def add_setter(self, name):
        for setter in self.setters.of("set", name):
            joined = self.in_one_flow(setter)
            if joined:
                self.flow_ends, turned = joined
                self.chain += [(maker, turn != turned) for maker, turn in setter.chain]
                self.chain.append((setter, turned))
                return True
        return False

    def in_one_flow(self, other):
        """Ends of a flow in which this rule and the other match, and whether the other's packets
        go the other way; or None."""
        if other.protocol != self.protocol or bool(self.talk) != bool(other.talk):
            return None
        if self.talk:
            if self.talk.protocol != other.talk.protocol:
                return None
            turned = self.talk.to_client != other.talk.to_client
            ends = self.flow_ends.joined(other.flow_ends, turned)
            return (ends, turned) if ends else None
        directions = [m.model.flow & {"to_server", "to_client"} for m in (self, other)]
        ways = (directions[0] != directions[1],) if all(directions) else (False, True)
        for turned in ways:
            ends = self.flow_ends.joined(other.flow_ends, turned)
            if ends:
                return ends, turned
        return None

    @property
    def flow(self):
        """What the flow has to be for this rule and for those in front of it."""
        words = set(self.model.flow)
        for maker, turned in self.chain:
            if not words & {"to_server", "to_client"}:
                other = {"to_server": "to_client", "to_client": "to_server"}
                words |= {other.get(w, w) if turned else w for w in maker.model.flow}
            words |= maker.model.flow & {"established"}
        return words

    def in_talk(self, packet, established, chain, n):
        """The same for a rule about a talk, whose last part is said n times."""
        client = not self.talk.to_client
        first, packet = opening(packet, client, established)
        segments = []
        for maker, _ in chain:
            segments += maker.talk.segments(maker.buffers)
        own = list(packet.before)
        if segments and segments[-1][0] and own and not self.talk.asks(self.buffers):
            own = []  # the answer is to the request that is there
        segments += own * n
        before, packet = spoken(packet, client, segments)
        return first + before, packet

    def in_flow(self, packet, flow=None, chain=None, n=1):
        """The packets that come before one in its flow, and that one, which is sent n times."""
        flow = self.flow if flow is None else flow
        chain = self.chain if chain is None else chain
        if self.talk:
            return self.in_talk(packet, "established" in flow or not self.model.flow, chain, n)
        first = []
        opens = packet.protocol == "tcp" and packet.field("flags") & (SYN | ACK) == SYN
        if opens and not flow & {"to_client", "established"}:
            return first, packet  # another SYN would match and count as well
        if self.protocol != "other" and (self.model.flow or chain):
            first, packet = opening(packet, "to_client" not in flow, "established" in flow)
        for maker, turned in chain:
            base = packet.answer() if turned else packet
            keep = {n: base.fields[n] for n in ("vlans", "vlan.layers") if n in base.fields}
            first.append(maker.filled(base.changed(fields=keep), maker.buffers))
        return first, packet

    def packet(self, buffers):
        """The packet that carries these bytes."""
        n = next(self.number)
        packet = Packet(self.protocol, **self.flow_ends.choose(n, self.dns_side()))
        if self.model.same_ip:
            both = ranges.common(self.ends.sets["source"], self.ends.sets["target"])
            packet.source = packet.target = pick(both, n, (HOME, OUTSIDE))
        return self.filled(packet, buffers)

    def filled(self, packet, buffers, more=(), **others):
        """The packet with these bytes, and with fields as the rule wants them, but for others in a
        message of DNS, which has names in more buffers."""
        packet = packet.changed(payload=b"" if self.protocol == "icmp" else b"x")
        if self.dns_side():
            parts = {names.PARTS[b]: b"there.example" for b in more}
            parts.update({names.PARTS[b]: buffers[b] for b in self.names})
            numbers = {name.removeprefix("dns."): number
                       for name, number in {**self.of_message, **others}.items()}
            packet.payload = names.message(parts or {"queries": b"host.example"},
                                           self.is_response, **numbers)
        if self.talk:
            *before, (_, payload) = self.talk.segments(buffers)
            return packet.changed(payload=payload, before=tuple(before))
        for name, raw in buffers.items():
            if name not in names.PARTS:
                packet = self.groups[name].put(packet, raw)
        for name, allowed in self.model.fields.items():
            present = packet.field(name)
            if name != "dsize" and (present is None or not ranges.holds(allowed, present)):
                packet = packet.with_fields(**{name: pick(allowed, 0, ())})
        if self.model.ip_option:
            packet = packet.with_fields(ip_options=IP_OPTIONS[self.model.ip_option])
        if self.model.vlan:
            packet = packet.with_fields(vlans=self.vlans(pick(self.model.vlan[0], 0, ())))
        return packet

    def vlans(self, number):
        """Tags so that the layer that is asked for has this number."""
        layer = self.model.vlan[1]
        if layer == "1":
            return (7, number)
        return (number, number) if layer == "all" else (number,)

    def dns_side(self):
        """The side that has the server's port."""
        if not self.model.is_dns:
            return None
        return "source_port" if self.is_response else "target_port"
