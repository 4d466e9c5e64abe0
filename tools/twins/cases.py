# SPDX-License-Identifier: MIT
"""For a rule: packets that match it, and twins of them that violate one option each."""
import collections
import dataclasses

from twins import ranges
from twins.bytes import ByteExtract, ByteJump
from twins.expressions import Pcre
from twins.model import FIELDS, OF_MESSAGE
from twins.packets import IP_OPTIONS, acknowledged
from twins.rules import Unknown

LABELS = {Pcre: "pcre", ByteJump: "byte_jump", ByteExtract: "byte_extract"}


@dataclasses.dataclass
class Case:
    """Packets that are written one behind the other, and for each whether the rule alerts on it,
    or None where nobody asks."""
    key: tuple
    label: str
    packets: list
    alerts: list


class Twins:
    """Makes the cases of one rule."""

    def __init__(self, maker):
        self.maker, self.model, self.ends = maker, maker.model, maker.ends
        self.protocol, self.groups, self.buffers = maker.protocol, maker.groups, maker.buffers

    def packet(self, buffers=None):
        return self.maker.packet(buffers or self.buffers)

    def case(self, label, packet, alerts, flow=None, chain=None):
        """The case of a packet, which is sent as often as the rule counts."""
        count = self.model.count
        once = bool(count and self.maker.talk and self.maker.talk.protocol == "tls")
        if once and not count.alerts(1)[0]:
            raise Unknown("a count of hellos")
        if alerts:
            expected = count.alerts(count.enough) if count else [True]
        else:
            expected = [False] * (count.quiet + 1 if count and count.kind != "limit" else 1)
        expected = expected[:1] if once else expected  # a flow has one hello
        first, packet = self.maker.in_flow(packet, flow, chain, len(expected))
        packets = first + following(packet, len(expected))
        if self.maker.talk:
            packets.append(acknowledged(packets[-1]))
            expected.append(False)
        if count and count.seconds:  # packets of other rules may have matched and counted
            packets[0] = packets[0].changed(pause=count.seconds + 2)
        return Case(self.model.rule.key, label, packets, [None] * len(first) + expected)

    def cases(self):
        """The case that matches, then twins and edges."""
        packet = self.packet()
        if not self.ends.hold(packet):
            raise Unknown("addresses")
        if self.is_unmade():
            raise Unknown("another rule sets what has to be unset")
        if any(b.verb == "noalert" for b in self.model.bits):
            yield self.case("noalert", packet, False)
            return
        yield self.case("match", packet, True)
        yield from self.twins_of_options()
        yield from self.twins_of_header()
        yield from self.twins_of_flow()
        yield from self.twins_of_bits()
        yield from self.twins_of_count()

    def is_unmade(self):
        """Whether a rule that comes before sets a bit of which this one wants that it is not set.
        """
        others = [s for bits in self.model.bits if bits.verb == "isnotset" for name in bits.names
                  for s in self.maker.setters.of("set", name)]
        return any(s.model.rule.key != self.model.rule.key and self.maker.also_matches(s)
                   for s in others)

    def twins_of_options(self):
        for group, buffer in self.groups.items():
            for option in buffer.options:
                for label, data, alerts in self.buffers_of(group, option):
                    if self.maker.talk and alerts != self.maker.agree({**self.buffers,
                                                                       group: data}):
                        continue
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
                                                   self.maker.states[group])
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
        for name, allowed in self.model.message.items():
            others = ranges.edges(allowed, OF_MESSAGE[name])
            if others:
                packet = self.maker.filled(self.packet(), self.buffers, **{name: others[0]})
                yield self.case(name, packet, False)
        for buffer in self.model.absent:
            yield self.case("absent", self.maker.filled(self.packet(), self.buffers, (buffer,)),
                            False)
        for name in self.ends.sets:
            if name.endswith("port") and (self.protocol not in ("tcp", "udp") or self.any_port()):
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
            packet = self.packet(self.buffers).with_fields(vlans=self.maker.vlans(number))
            yield self.case("vlan.id", packet, False)
        if self.model.same_ip:
            packet = self.packet(self.buffers)
            yield self.case("sameip", packet.changed(target=packet.target ^ 3), False)
        other = {"tcp": "udp", "udp": "tcp", "icmp": "udp"}.get(self.protocol)
        if (self.model.rule.protocol not in ("ip", "ip4", "ipv4", "pkthdr") and other
                and not self.maker.talk):
            packet = self.packet(self.buffers)
            yield self.case("protocol", packet.changed(protocol=other, fields={}), False)

    def any_port(self):
        """Whether the rule is one of Snort 3 for the service, on any port."""
        return self.maker.talk and self.model.rule.snort3 and any(
            o.name == "service" for o in self.model.rule.options)

    def twins_of_flow(self):
        flow = self.model.flow
        swap = {"to_server": "to_client", "to_client": "to_server"}
        for word in sorted(flow):
            if word in swap and self.maker.talk:
                continue  # a message goes one way alone
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

    def twins_of_bits(self):
        """Without the rule that sets a bit; and with one that sets what has to be unset."""
        sets = [s for bits in self.model.bits if bits.verb == "isset" for name in bits.names
                for s in self.maker.setters.of("set", name)]
        if self.maker.chain and not any(map(self.maker.also_matches, sets)):
            yield self.case("isset", self.packet(), False, chain=[])
        for bits in self.model.bits:
            for name in bits.names if bits.verb in ("isset", "isnotset") else ():
                verb = "unset" if bits.verb == "isset" else "set"
                for other in self.maker.setters.of(verb, name):
                    joined = self.maker.in_one_flow(other)
                    if joined and not bits.one_is_enough and not other.chain:
                        chain = [*self.maker.chain, (other, joined[1])]
                        yield self.case(f"{verb} before {bits.verb}", self.packet(), False,
                                        chain=chain)
                        break

    def twins_of_count(self):
        """Of which one counter has too few matches, as another has one of them, or as time has
        gone by."""
        count = self.model.count
        if not count or count.count < 2 or count.seconds is None:
            return
        if self.maker.talk and self.maker.talk.protocol == "tls":
            return
        one, other = self.packet(), self.packet()
        addresses = {"by_src": ("source",), "by_dst": ("target",),
                     "by_both": ("source", "target")}.get(count.track, ())
        if addresses and all(getattr(one, a) != getattr(other, a) for a in addresses):
            yield self.two(f"count {count.track}", one, other, count.kind == "limit")
        one, other = self.packet(), self.packet()
        other = other.changed(source=one.source, target=one.target)
        if (one.source_port, one.target_port) != (other.source_port, other.target_port):
            other = other.changed(pause=count.seconds + 2)
            yield self.two("seconds", one, other, count.kind == "limit")

    def two(self, label, one, other, alerts):
        """As many matches as stay quiet, or as a limit allows, and one of another flow."""
        count = self.model.count
        first, packet = self.maker.in_flow(one, n=count.quiet)
        packets = first + following(packet, count.quiet)
        packets[0] = packets[0].changed(pause=count.seconds + 2)
        expected = [None] * len(packets)
        pause = other.pause
        first, packet = self.maker.in_flow(other.changed(pause=0))
        later = [*first, packet]
        later[0] = later[0].changed(pause=pause)
        return Case(self.model.rule.key, label, packets + later,
                    expected + [None] * len(first) + [alerts])


def following(packet, n):
    """The packet n times, in TCP each behind the bytes of the one before."""
    if packet.protocol != "tcp":
        return [packet] * n
    return [packet.with_fields(seq=(packet.field("seq") + i * len(packet.payload)) % 2**32)
            if i else packet for i in range(n)]
