# SPDX-License-Identifier: MIT
"""Options that read a number out of a buffer: byte_test, byte_jump, byte_extract, byte_math."""
import dataclasses
import itertools
import random

from twins.contents import number
from twins.layout import LONGEST, bytes_of, is_known
from twins.rules import Unknown

# Numbers that are tried where a later option decides which of them fits.
USUAL = (4, 8, 2, 1, 12, 16, 20, 32, 0, 64, 100, 128, *range(3, 60))
BASES = {"dec": 10, "hex": 16, "oct": 8}


@dataclasses.dataclass(eq=False)
class Reading:
    """How many bytes are read, where, and how they are a number."""
    size: int | str
    offset: int | str
    relative: bool = False
    little: bool = False
    base: int | None = None  # of digits; None: the bytes themselves
    mask: int | None = None

    def place(self, cursor, begin, names):
        """Where the bytes are and how many, or None."""
        offset, size = number(self.offset, names), number(self.size, names)
        if offset is None or size is None:
            return None
        if size == 0 and self.base is not None:
            raise Unknown("all digits of a text")
        return (cursor if self.relative else begin) + offset, size

    def shift(self):
        return (self.mask & -self.mask).bit_length() - 1 if self.mask else 0

    def value(self, raw):
        """The number that these bytes are, or None. Of digits those before another byte count."""
        if self.base is None:
            value = int.from_bytes(raw, "little" if self.little else "big")
        else:
            digits = "0123456789abcdef"[:self.base]
            text = raw.decode("latin-1").lower().lstrip()
            n = next((i for i, c in enumerate(text) if c not in digits), len(text))
            if n == 0:
                return None
            value = int(text[:n], self.base)
        return value if self.mask is None else (value & self.mask) >> self.shift()

    def raw(self, value, size):
        """Bytes that are this number, or None where they cannot be."""
        value = value << self.shift()
        if value < 0 or (self.mask is not None and value & ~self.mask):
            return None
        if self.base is not None:
            text = {10: f"{value:0{size}d}", 16: f"{value:0{size}x}", 8: f"{value:0{size}o}"}
            raw = text[self.base].encode()
            return raw if len(raw) == size else None
        if value >> (8 * size):
            return None
        return value.to_bytes(size, "little" if self.little else "big")

    def values_in(self, state, at, size, wanted):
        """The states that have one of the wanted numbers there, with the number."""
        masks = [state.cells.get(i, (1 << 256) - 1) for i in range(at, at + size)]
        known = all(is_known(m) for m in masks)
        raws = () if known else (self.raw(v, size) for v in wanted)
        draw = random.Random(at)
        narrow = any(i in state.cells for i in range(at, at + size))
        drawn = (bytes(draw.choice(bytes_of(m)) for m in masks)
                 for _ in range(1 if known else 30 if narrow else 0))
        for raw in itertools.chain(raws, drawn):
            after = raw is not None and state.with_cells(at, [1 << b for b in raw])
            if after:
                value = self.value(raw)
                if value is not None:
                    yield value, after

    def all_values(self, size):
        top = self.base ** size if self.base else 1 << (8 * size)
        return (self.mask >> self.shift()) + 1 if self.mask else top


class Reads:
    """What the options share: where their bytes are, and that none has an edge of its own."""

    def read(self, data, cursor, names):
        """The position, the number of bytes and the number, or None."""
        where = self.reading.place(cursor, 0, names)
        if where is None or where[0] < 0 or where[1] < 0 or sum(where) > len(data):
            return None
        if where[1] == 0:
            return *where, 0
        value = self.reading.value(data[where[0]:sum(where)])
        return None if value is None else (*where, value)

    def readings(self, state, wanted):
        """Position, number of bytes, number and state for each wanted number that fits."""
        where = self.reading.place(state.cursor, state.base, state.names)
        if where is None or where[0] < state.base:
            return
        at, size = where
        if size == 0:
            yield at, size, 0, state
            return
        for value, after in self.reading.values_in(state, at, size, wanted):
            spans = {**after.spans, id(self): (at, at + size)}
            yield at, size, value, after.changed(spans=spans)

    def violations(self):
        return ()

    def edges(self):
        return ()


@dataclasses.dataclass(eq=False)
class ByteTest(Reads):
    reading: Reading
    operator: str
    negated: bool
    operand: int | str

    def holds(self, value, names):
        operand = number(self.operand, names)
        if operand is None:
            return False
        result = {"<": value < operand, ">": value > operand, "=": value == operand,
                  "<=": value <= operand, ">=": value >= operand, "&": value & operand != 0,
                  "^": value ^ operand != 0}[self.operator]
        return result != self.negated

    def ways(self, data, cursor, names):
        read = self.read(data, cursor, names)
        if read and self.holds(read[2], names):
            yield cursor, names

    def wanted(self, names, size):
        """Numbers that pass, those near the edge first."""
        operand = number(self.operand, names)
        if operand is None:
            return []
        top = self.reading.all_values(size) - 1
        pool = [operand, operand + 1, operand - 1, 0, top, operand ^ 1, top & ~operand,
                operand & -operand, operand // 2, operand * 2,
                *(operand | 1 << bit for bit in range(8)), *USUAL]
        return [v for v in dict.fromkeys(pool) if 0 <= v <= top and self.holds(v, names)]

    def place(self, state):
        size = number(self.reading.size, state.names) or 0
        for _, _, value, after in self.readings(state, self.wanted(state.names, size)):
            if self.holds(value, state.names):
                yield after

    def violations(self):
        yield "byte_test", dataclasses.replace(self, negated=not self.negated)


@dataclasses.dataclass(eq=False)
class ByteJump(Reads):
    reading: Reading
    multiplier: int = 1
    align: bool = False
    origin: str = "here"  # here, begin, end
    behind: int | str = 0

    def target(self, at, size, value, begin, length, names):
        """Where the cursor is then, or None where that is outside the buffer."""
        behind = number(self.behind, names)
        if behind is None:
            return None
        jump = value * self.multiplier
        if self.align:
            jump += -jump % 4
        target = {"here": at + size, "begin": begin, "end": length}[self.origin] + jump + behind
        return target if begin <= target <= length else None

    def ways(self, data, cursor, names):
        read = self.read(data, cursor, names)
        target = self.target(*read, 0, len(data), names) if read else None
        if target is not None:
            yield target, names

    def wanted(self, state):
        """Numbers that lead behind all that has a place, then others."""
        where = self.reading.place(state.cursor, state.base, state.names)
        behind = number(self.behind, state.names)
        if where is None or behind is None or self.origin == "end":
            return USUAL
        origin = sum(where) if self.origin == "here" else state.base
        return [*(max(0, -(-(max(state.end, sum(where)) + i - origin - behind)
                           // self.multiplier)) for i in (0, 4, 16)), *USUAL]

    def place(self, state):
        for at, size, value, after in self.readings(state, self.wanted(state)):
            if self.origin != "end":
                target = self.target(at, size, value, state.base, LONGEST, state.names)
                # The end itself is left out: programs differ there.
                ended = target is not None and after.with_length(target + 1, LONGEST)
                if ended:
                    yield ended.changed(cursor=target)
                continue
            shortest = max(after.at_least, after.end)
            for length in range(shortest, min(shortest + 30, after.at_most) + 1):
                ended = after.with_length(length, length)
                target = self.target(at, size, value, state.base, length, state.names)
                if ended and target is not None and target < length:
                    yield ended.changed(cursor=target)


@dataclasses.dataclass(eq=False)
class ByteExtract(Reads):
    """byte_extract and byte_math: a number gets a name."""
    reading: Reading
    name: str
    operator: str = "*"
    operand: int | str = 1
    align: int = 1

    def result(self, value, names):
        operand = number(self.operand, names)
        if operand is None or (operand == 0 and self.operator == "/"):
            return None
        result = {"+": value + operand, "-": value - operand, "*": value * operand,
                  "/": value // (operand or 1), "<<": value << min(operand, 64),
                  ">>": value >> operand}[self.operator]
        return result + -result % self.align

    def ways(self, data, cursor, names):
        read = self.read(data, cursor, names)
        result = self.result(read[2], names) if read else None
        if result is not None:
            yield read[0] + read[1], {**names, self.name: result}

    def place(self, state):
        for at, size, value, after in self.readings(state, USUAL):
            result = self.result(value, state.names)
            if result is not None and 0 <= result < 1 << 31:
                yield after.changed(cursor=at + size, names={**state.names, self.name: result})
