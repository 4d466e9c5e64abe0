# SPDX-License-Identifier: MIT
"""For a rule: packets that match it, and twins of them that violate one option each."""
import dataclasses

from twins import names, ranges
from twins.contents import Length, fresh_state
from twins.layout import FILLERS, Begin, State, matches, solve
from twins.model import FIELDS
from twins.packets import NUMBERS, Packet, opening
from twins.rules import Unknown

HOME = (0x0a010000, 0x0afaffff)
OUTSIDE = (0x2c000000, 0x2cffffff)
CLIENT_PORTS = (20000, 60000)
SERVER_PORTS = (7000, 7999)
NAME_FILLERS = (b"x", b"a7-", b"wwwwwww.", b"w.", b"0")


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
        self.groups = {"payload": payload}
        for buffer in sorted(self.names):
            self.groups[buffer] = [o for s in model.of_buffer(buffer)
                                   for o in (Begin(0 if s.transforms else 1), *s.options)]
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
        if {"itype", "icode"} & set(model.fields):
            return "icmp"
        if "flags" in model.fields or "established" in model.flow:
            return "tcp"
        allowed = model.fields.get("ip_proto", ((17, 17),))
        return next((p for p in ("udp", "tcp", "icmp") if ranges.holds(allowed, NUMBERS[p])),
                    "other")

    def accepts(self, group, data, replaced=None):
        """Whether the bytes of a buffer match the rule, or the rule with replaced options."""
        replaced = replaced or {}

        def get(options):
            return [replaced.get(o, o) for o in options]

        if group == "payload":
            return matches(get(self.groups[group]), data)
        if data[:1] != b"." or not names.is_name(data[1:]):
            return False
        return all(matches(get(s.options), data if s.transforms else data[1:])
                   for s in self.model.of_buffer(group))

    def lay_out(self, group, replaced=None, twin=False):
        """Bytes that match, or as a twin those that match but for one option; None: not found."""
        options = [(replaced or {}).get(o, o) for o in self.groups[group]]
        if not options:
            return b"" if self.protocol == "icmp" else b"x"

        def accept(data):
            if twin:
                return not self.accepts(group, data) and self.accepts(group, data, replaced)
            return self.accepts(group, data)

        state, fillers = fresh_state(options), FILLERS
        if group in names.PARTS:
            state = state.with_cells(0, [1 << ord(".")])
            fillers = NAME_FILLERS
        elif self.model.rule.protocol == "dns":
            return self.lay_out_message(options, accept)
        found = solve(options, accept, state, fillers)
        return found and found[0]

    def lay_out_message(self, options, accept):
        """A whole message of DNS. Which side sends it is known from it."""
        for known, length in names.templates():
            cells = {at: 1 << byte for at, byte in known.items()}
            found = solve(options, accept, State(cells, at_least=length, at_most=length))
            if found:
                self.is_response = found[0][2] >= 128
                return found[0]
        return None

    def packet(self, buffers):
        """The packet that carries these bytes."""
        n = next(self.number)
        dns_side = self.dns_side()
        packet = Packet(self.protocol, **self.ends.choose(n, dns_side))
        if self.model.same_ip:
            both = ranges.common(self.ends.sets["source"], self.ends.sets["target"])
            packet.source = packet.target = pick(both, n, (HOME, OUTSIDE))
        packet.payload = buffers["payload"]
        if self.names:
            parts = {names.PARTS[b]: buffers[b][1:] for b in self.names}
            packet.payload = names.message(parts, self.is_response)
        elif dns_side and not self.groups["payload"]:
            packet.payload = names.message({"queries": b"host.example"}, self.is_response)
        for name, allowed in self.model.fields.items():
            if name not in FIELDS and name not in ("flags", "fragbits"):
                continue
            if not ranges.holds(allowed, packet.field(name)):
                packet = packet.with_fields(**{name: pick(allowed, 0, ())})
        return packet

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
        self.buffers = {}
        for group in self.groups:
            self.buffers[group] = self.lay_out(group)
            if self.buffers[group] is None:
                raise Unknown(f"no bytes found for {group}")
        packet = self.packet(self.buffers)
        if not self.ends.hold(packet):
            raise Unknown("addresses")
        yield self.case("match", packet, True)
        yield from self.twins_of_options()
        yield from self.twins_of_header()
        yield from self.twins_of_flow()

    def twins_of_options(self):
        for group, options in self.groups.items():
            for option in options:
                done = set()
                for label, other in option.violations():
                    data = label not in done and self.lay_out(group, {option: other}, twin=True)
                    if data:
                        done.add(label)
                        packet = self.packet({**self.buffers, group: data})
                        yield self.case(label, packet, False)
                for label, other in option.edges():
                    data = self.lay_out(group, {option: other})
                    if data:
                        packet = self.packet({**self.buffers, group: data})
                        yield self.case(label, packet, True)

    def twins_of_header(self):
        for name, allowed in self.model.fields.items():
            top = FIELDS.get(name, 255 if name == "flags" else 7)
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
