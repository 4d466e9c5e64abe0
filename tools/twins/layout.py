# SPDX-License-Identifier: MIT
"""Lays options out in a buffer, and says whether a buffer matches options.

Both walk over a list of options. Each has the methods

    ways(data, cursor, names)  where the option can match: pairs (cursor behind it, names)
    place(state)               states that have what the option asks for, the likeliest first
    violations()               pairs (what is violated, an option that asks for just that)
    edges()                    pairs (which edge, an option that asks for this edge of the meaning)

`matches` is the reference: it tries every choice of occurrences. `solve` is a search that goes
back, over sets of bytes at each position. What it finds is checked by the reference.
"""
import dataclasses
import functools

ANY = (1 << 256) - 1
LONGEST = 30000  # bytes of a payload; a capture can have segments that a host has joined
STEPS = 1500  # of a search for what matches; one for a twin gives up at a twentieth of it
TRIES = 200


def one_of(values):
    mask = 0
    for value in values:
        mask |= 1 << value
    return mask


@functools.cache
def bytes_of(mask):
    return [value for value in range(256) if mask >> value & 1]


def is_known(mask):
    return mask & (mask - 1) == 0


@dataclasses.dataclass
class State:
    """A buffer that is being laid out: the bytes that each position may have."""
    cells: dict
    cursor: int = 0
    names: dict = dataclasses.field(default_factory=dict)
    at_least: int = 0
    at_most: int = LONGEST
    end: int = 0      # behind the last position that is in cells
    base: int = 0     # where the buffer of the options begins
    reserved: int = 0  # contents that may stand anywhere stand behind this
    spans: dict = dataclasses.field(default_factory=dict)
    gap: int = 0  # bytes before a content that may stand elsewhere, at first

    def changed(self, **fields):
        return dataclasses.replace(self, **fields)

    def with_cells(self, position, masks):
        """The state with these bytes at a position, or None where others are there."""
        stop = position + len(masks)
        if position < 0 or stop > self.at_most:
            return None
        cells = dict(self.cells)
        for i, mask in enumerate(masks, position):
            mask &= cells.get(i, ANY)
            if not mask:
                return None
            cells[i] = mask
        return State(cells, self.cursor, self.names, max(self.at_least, stop), self.at_most,
                     max(self.end, stop), self.base, self.reserved, self.spans, self.gap)

    def with_length(self, first, last):
        """The state with a length between these two, or None where it cannot be."""
        first, last = max(first, self.at_least, self.end), min(last, self.at_most)
        return self.changed(at_least=first, at_most=last) if first <= last else None


@dataclasses.dataclass(eq=False)
class Begin:
    """Where the options of another buffer begin. Only the state of the search knows it."""
    base: int = 0

    def ways(self, data, cursor, names):
        yield 0, names

    def place(self, state):
        yield state.changed(base=self.base, cursor=self.base)

    def violations(self):
        return ()

    edges = violations


@dataclasses.dataclass(eq=False)
class Anything(Begin):
    """In place of an option that is left out: the cursor may be anywhere behind it."""

    def ways(self, data, cursor, names):
        for end in range(len(data) + 1):
            yield end, names


def matches(options, data, names=None):
    """Whether some choice of occurrences satisfies every option."""
    seen = set()

    def search(i, cursor, names):
        if i == len(options):
            return True
        place = (i, cursor, tuple(sorted(names.items())))
        if place in seen:
            return False
        seen.add(place)
        return any(search(i + 1, *way) for way in options[i].ways(data, cursor, names))

    return search(0, 0, names or {})


def states(options, first, most):
    """States in which each option has its place. Gives up behind so many steps."""
    steps = 0

    def search(i, state):
        nonlocal steps
        if i == len(options):
            yield state
            return
        for after in options[i].place(state):
            steps += 1
            if steps > most:
                return
            yield from search(i + 1, after)

    return search(0, first)


FILLERS = (b"-", b"x", b"\0", b"0", b"\xff", b"A", b"\x20", b"w.", b"5g", b"\n", b"kM\x81\x02")


@functools.cache
def usual(mask, odd):
    """A byte of a set: a plain one where it has one."""
    plain = next((v for v in b"x0 .~" if mask >> v & 1), None)
    lowest, highest = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    return plain or (highest if odd else lowest)


def filled(state, length, filler):
    """The bytes of a state, with a filler where several may stand."""
    out = bytearray(filler * (length // len(filler) + 1))[:length]
    odd = filler[0] & 1
    for i, mask in state.cells.items():
        if i < length and not mask >> out[i] & 1:
            out[i] = usual(mask, odd)
    return bytes(out)


def solve(options, accept, first=None, fillers=FILLERS, effort=1.0):
    """Bytes that `accept` takes, and the state that they come from; or None."""
    tries = TRIES * effort
    for state in states(options, first or State({}), STEPS * effort):
        shortest = max(state.at_least, state.end)
        for length in dict.fromkeys((shortest, min(shortest + 7, state.at_most),
                                     min(shortest + 40, state.at_most))):
            for filler in fillers:
                tries -= 1
                if tries < 0:
                    return None
                data = filled(state, length, filler)
                if accept(data):
                    return data, state
    return None
