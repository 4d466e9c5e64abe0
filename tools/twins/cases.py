# SPDX-License-Identifier: MIT
"""For a rule: packets that match it, and twins of them that violate one option each."""
import collections
import dataclasses

from twins import names, ranges
from twins.buffers import HEADERS, OF_PROTOCOL, Buffer, Header, Message, Name
from twins.bytes import ByteExtract, ByteJump
from twins.contents import Length
from twins.expressions import Pcre
from twins.model import FIELDS, PROTOCOL_OF
from twins.packets import IP_OPTIONS, NUMBERS, Packet, opening
from twins.rules import Unknown

HOME = (0x0a010000, 0x0afaffff)
OUTSIDE = (0x2c000000, 0x2cffffff)
CLIENT_PORTS = (20000, 60000)
SERVER_PORTS = (7000, 7999)
LABELS = {Pcre: "pcre", ByteJump: "byte_jump", ByteExtract: "byte_extract"}


@dataclasses.dataclass
class Case:
    """Packets that are written one behind the other, and for each whether the rule alerts on it,
    or None where nobody asks."""
    key: tuple
    label: str
    packets: list
    alerts: list


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

    def __init__(self, rule):
        self.sets = {"source": ranges.addresses(rule.source),
                     "target": ranges.addresses(rule.target),
                     "source_port": ranges.ports(rule.source_port),
                     "target_port": ranges.ports(rule.target_port)}
        self.both_ways = rule.both_ways

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
    """Makes the cases of one rule. `number` gives another number for each, and so another flow."""

    def __init__(self, model, number):
        self.model, self.number = model, number
        self.ends = Ends(model.rule)
        self.names = {s.buffer for s in model.sections if s.buffer in names.PARTS}
        self.protocol = self.choose_protocol()
        payload = [o for s in model.of_buffer("payload") for o in s.options]
        if "dsize" in model.fields:
            payload.insert(0, Length("dsize", model.fields["dsize"]))
        whole = Message if model.rule.protocol == "dns" else Buffer
        self.groups = {"payload": whole(payload)} if payload else {}
        for buffer in sorted(self.names):
            self.groups[buffer] = Name(model.of_buffer(buffer))
        for section in model.sections:
            if section.buffer in HEADERS:
                if section.transforms:
                    raise Unknown("transform of a header")
                self.groups[section.buffer] = Header(
                    section.buffer, [o for s in model.of_buffer(section.buffer)
                                     for o in s.options], self.protocol)
        if self.names and payload:
            raise Unknown("contents of a whole message of DNS beside a name in it")
        self.is_response = ("to_client" in model.flow
                            or bool(self.names - {"dns.query", "dns.queries.rrname"}))

    def choose_protocol(self):
        model, protocol = self.model, self.model.rule.protocol
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

    def packet(self, buffers):
        """The packet that carries these bytes."""
        n = next(self.number)
        dns_side = self.dns_side()
        packet = Packet(self.protocol, **self.ends.choose(n, dns_side))
        if self.model.same_ip:
            both = ranges.common(self.ends.sets["source"], self.ends.sets["target"])
            packet.source = packet.target = pick(both, n, (HOME, OUTSIDE))
        packet.payload = b"" if self.protocol == "icmp" else b"x"
        if dns_side:
            parts = {names.PARTS[b]: buffers[b] for b in self.names}
            packet.payload = names.message(parts or {"queries": b"host.example"},
                                           self.is_response)
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
        if not self.names and self.model.rule.protocol != "dns":
            return None
        return "source_port" if self.is_response else "target_port"

    def with_opening(self, packet, flow):
        """The packets of a case: those that open the flow, and the one that is judged."""
        if self.protocol == "other" or not self.model.flow:
            return [packet]
        first, last = opening(packet, "to_client" not in flow, "established" in flow)
        return [*first, last]

    def case(self, label, packet, alerts, flow=None):
        packets = self.with_opening(packet, self.model.flow if flow is None else flow)
        return Case(self.model.rule.key, label, packets,
                    [None] * (len(packets) - 1) + [alerts])

    def cases(self):
        """The case that matches, then twins and edges."""
        self.buffers, self.states = {}, {}
        for group, buffer in self.groups.items():
            found = buffer.lay_out()
            if found is None:
                raise Unknown(f"no bytes found for {group}")
            if isinstance(buffer, Message):
                self.is_response = found[0][2] >= 128
            self.buffers[group], self.states[group] = found
        packet = self.packet(self.buffers)
        if not self.ends.hold(packet):
            raise Unknown("addresses")
        yield self.case("match", packet, True)
        yield from self.twins_of_options()
        yield from self.twins_of_header()
        yield from self.twins_of_flow()

    def twins_of_options(self):
        for group, buffer in self.groups.items():
            for option in buffer.options:
                for label, data, alerts in self.buffers_of(group, option):
                    packet = self.packet({**self.buffers, group: data})
                    yield self.case(label, packet, alerts)

    def buffers_of(self, group, option):
        """What violates an option of a buffer, and what is at an edge of its meaning."""
        buffer = self.groups[group]
        done, failed = set(), collections.Counter()
        for label, other in option.violations():
            if label in done or failed[label] == 3:
                continue
            found = buffer.lay_out({option: other}, twin=True)
            failed[label] += 1
            if found:
                done.add(label)
                yield label, found[0], False
        data = None if done else buffer.damaged(option, self.buffers[group],
                                                   self.states[group])
        if data:
            yield LABELS.get(type(option), "content"), data, False
        for label, other in option.edges():
            found = buffer.lay_out({option: other})
            if found:
                yield label, found[0], True

    def twins_of_header(self):
        for name, allowed in self.model.fields.items():
            top = FIELDS[name]
            others = ranges.edges(allowed, top) if name != "dsize" else []
            if name != "ip_proto" and others:
                yield self.case(name, self.packet(self.buffers).with_fields(**{name: others[0]}),
                                False)
        for name in self.ends.sets:
            if self.protocol not in ("tcp", "udp") and name.endswith("port"):
                continue
            packet = self.packet(self.buffers)
            other = self.ends.outside(name, packet.source_port)
            if other is not None and not self.model.same_ip:
                packet = packet.changed(**{name: other})
                if not self.ends.hold(packet):
                    yield self.case(name.replace("_", " "), packet, False)
        if self.model.ip_option:
            other = {"nop": "rtralt", "any": None}.get(self.model.ip_option, "nop")
            packet = self.packet(self.buffers).with_fields(ip_options=IP_OPTIONS.get(other, b""))
            yield self.case("ipopts", packet, False)
        if self.model.vlan:
            number = ranges.edges(self.model.vlan[0], 4095)[0]
            packet = self.packet(self.buffers).with_fields(vlans=self.vlans(number))
            yield self.case("vlan.id", packet, False)
        if self.model.same_ip:
            packet = self.packet(self.buffers)
            yield self.case("sameip", packet.changed(target=packet.target ^ 3), False)
        other = {"tcp": "udp", "udp": "tcp", "icmp": "udp"}.get(self.protocol)
        if self.model.rule.protocol not in ("ip", "ip4", "ipv4", "pkthdr") and other:
            packet = self.packet(self.buffers)
            yield self.case("protocol", packet.changed(protocol=other, fields={}), False)

    def twins_of_flow(self):
        flow = self.model.flow
        swap = {"to_server": "to_client", "to_client": "to_server"}
        for word in sorted(flow):
            if word in swap:
                other = flow - {word} | {swap[word]}
            elif word == "established":
                other = flow - {word}
                if self.protocol == "udp" and "to_client" in other:
                    continue  # an answer establishes the flow
            else:
                other = {"established"}
            packet = self.packet(self.buffers)
            client = packet.answer() if "to_client" in other else packet
            # Such a packet of UDP may be taken for one of the server.
            if self.protocol != "udp" or not client.source_port < 1024 <= client.target_port:
                yield self.case(f"flow {word}", packet, False, other)
