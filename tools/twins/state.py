# SPDX-License-Identifier: MIT
"""What outlasts a packet: how often a rule matched, and bits of a flow that other rules set."""
import dataclasses
import re

from twins.rules import Unknown

LARGEST_COUNT = 1000


@dataclasses.dataclass
class Count:
    """threshold, or detection_filter as another kind of it."""
    kind: str
    track: str
    count: int
    seconds: int | None
    multiplier: int = 1

    def alerts(self, n):
        """Whether each of n matches of one counter alerts."""
        steps = {self.count * self.multiplier ** i for i in range(12)}
        test = {"limit": lambda i: i <= self.count, "threshold": lambda i: i % self.count == 0,
                "both": lambda i: i == self.count, "filter": lambda i: i > self.count,
                "backoff": steps.__contains__}[self.kind]
        return [test(i) for i in range(1, n + 1)]

    @property
    def enough(self):
        """So many matches show what the option does."""
        if self.kind in ("threshold", "backoff") and self.count * self.multiplier <= 20:
            return 2 * self.count * self.multiplier
        return self.count + (2 if self.kind == "filter" else 1)

    @property
    def quiet(self):
        """The most matches after which the next one does what a first one does not."""
        return self.count if self.kind in ("filter", "limit") else self.count - 1


def read_count(name, value):
    words = dict(re.split(r"[\s:]+", w.strip(), maxsplit=1) for w in value.split(","))
    kind = words.get("type", "filter") if name == "threshold" else "filter"
    unknown = set(words) - {"type", "track", "count", "seconds", "multiplier"}
    if unknown or "count" not in words:
        raise Unknown(f"{name} {value}")
    count = Count(kind, words["track"], int(words["count"]),
                  int(words["seconds"]) if "seconds" in words else None,
                  int(words.get("multiplier", 1)))
    if count.count > LARGEST_COUNT:
        raise Unknown(f"{name} of more than {LARGEST_COUNT} matches")
    return count


@dataclasses.dataclass(frozen=True)
class Bits:
    """flowbits: a verb, and names of which one is enough, or of which all count."""
    verb: str
    names: tuple
    one_is_enough: bool


def read_bits(value):
    verb, _, rest = value.partition(",")
    verb, names = verb.strip(), rest.split(",")[0].strip()
    if verb not in ("set", "unset", "isset", "isnotset", "noalert"):
        raise Unknown(f"flowbits {verb}")
    parts = tuple(n.strip() for n in re.split(r"[|&]", names) if n.strip())
    return Bits(verb, parts, "|" in names)


def read_address_bits(value):
    """xbits. Names of those that follow another address are other names."""
    verb, name, *words = [w.strip() for w in value.split(",")]
    track = next((w.split()[1] for w in words if w.startswith("track")), None)
    if verb not in ("set", "unset", "isset", "isnotset") or track is None:
        raise Unknown(f"xbits {value}")
    return Bits(verb, (f"{track} {name}",), False)


class Setters:
    """The rules that set or unset a bit, of all rules that sluice understands."""
    WRITES = re.compile(r"\b(?:flowbits|xbits)\s*:\s*(set|unset)\s*,\s*([^;]*)")

    def __init__(self, texts, make):
        self.make, self.made, self.places = make, {}, {}
        for place, text in texts.items():
            for verb, names in self.WRITES.findall(text):
                for name in re.split(r"[|&]", names.split(",")[0]):
                    self.places.setdefault((verb, name.strip()), []).append((place, text))

    def of(self, verb, name):
        """Makers of rules that do so, without those that have no packets."""
        for place, text in self.places.get((verb, name.rpartition(" ")[2]), ()):
            if place not in self.made:
                self.made[place] = None  # a rule that needs itself has no packets
                try:
                    self.made[place] = self.make(text)
                except Unknown:
                    pass
            maker = self.made[place]
            if maker and any(b.verb == verb and name in b.names for b in maker.model.bits):
                yield maker
