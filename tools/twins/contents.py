# SPDX-License-Identifier: MIT
"""Options of a buffer's bytes: content, isdataat, and the length (dsize, bsize)."""
import dataclasses
import functools

from twins import ranges
from twins.layout import LONGEST, State

FREE = 60  # so many places are tried where a content may stand at many


def number(value, names):
    """A number, or the value of a name that another option has set."""
    return names.get(value) if isinstance(value, str) else value


OTHER_CASE = bytes(range(256)).swapcase()


def other_case(byte):
    return OTHER_CASE[byte]


@dataclasses.dataclass(eq=False)
class Content:
    text: bytes
    negated: bool = False
    nocase: bool = False
    offset: int | str | None = None
    depth: int | str | None = None
    distance: int | str | None = None
    within: int | str | None = None
    starts: bool = False
    ends: bool = False
    # Of an option that violates another, or asks for an edge: its one place, from the beginning,
    # the cursor or the end; or that it is there without moving the cursor.
    place_at: tuple | None = None
    stays: bool = False

    @property
    def relative(self):
        return self.distance is not None or self.within is not None

    def window(self, base, cursor, names, length):
        """First and last position of the content, or None where a name is not set."""
        n = len(self.text)
        if self.place_at:
            origin, delta = self.place_at
            at = {"begin": base, "cursor": cursor, "end": length - n}[origin] + delta
            return at, at
        values = [number(v, names) for v in (self.offset, self.depth, self.distance, self.within)]
        if None in [v for v, of in zip(values, (self.offset, self.depth, self.distance,
                                                self.within)) if of is not None]:
            return None
        offset, depth, distance, within = values
        first, last = base + (offset or 0), length - n
        if self.starts:
            last = min(last, base)
        if self.relative:
            first = max(first, cursor + (distance or 0))
            if within is not None:
                last = min(last, cursor + (distance or 0) + within - n)
            if depth is not None:
                last = min(last, cursor + depth - n)
        elif depth is not None:
            last = min(last, first + depth - n)
        if self.ends:
            first = max(first, length - n)
        return max(first, base), last

    def occurrences(self, data, first, last):
        text = self.text.lower() if self.nocase else self.text
        data = data.lower() if self.nocase else data
        at = data.find(text, first)
        while 0 <= at <= last:
            yield at
            at = data.find(text, at + 1)

    def ways(self, data, cursor, names):
        window = self.window(0, cursor, names, len(data))
        if window is None:
            return
        found = self.occurrences(data, max(window[0], 0), window[1])
        if self.negated or self.stays:
            if (next(found, None) is None) == self.negated:
                yield cursor, names
            return
        for at in found:
            yield at + len(self.text), names

    @functools.cached_property
    def masks(self):
        return [1 << b | (1 << other_case(b) if self.nocase else 0) for b in self.text]

    def places(self, state):
        """Positions to try."""
        n = len(self.text)
        if self.ends or (self.place_at and self.place_at[0] == "end"):
            gap = -self.place_at[1] if self.place_at else 0
            window = self.window(state.base, state.cursor, state.names, state.at_most)
            first = max(state.end - n, self.window_first(state), 0)
            if state.at_least == state.at_most:
                first = state.at_most - n - gap
            for at in range(first, first + FREE):
                if window is None or not state.at_least <= at + n + gap <= state.at_most:
                    continue
                yield at, at + n + gap
            return
        window = self.window(state.base, state.cursor, state.names, state.at_most)
        if window is None or window[0] > window[1] or window[0] < state.base:
            return
        first, last = window
        free = not self.relative and self.depth is None and not self.starts
        order = []
        if free and not self.place_at:
            order.append(max(state.end + state.gap, state.reserved, first))
        elif state.gap and self.depth is None and not self.place_at:
            order.append(first + state.gap)
        order += range(first, min(last, first + FREE) + 1)
        order += [last - i for i in range(3) if last - i > first + FREE and last < LONGEST - 400]
        for at in dict.fromkeys(order):
            if first <= at <= last:
                yield at, None

    def window_first(self, state):
        """The first position of a content that ends the buffer, however long that is."""
        first = state.base + (number(self.offset, state.names) or 0)
        if self.relative:
            first = max(first, state.cursor + (number(self.distance, state.names) or 0))
        return first

    def place(self, state):
        if self.negated:
            yield state
            return
        for at, length in self.places(state):
            after = state.with_cells(at, self.masks)
            if after and length is not None:
                after = after.with_length(length, length)
            if after:
                yield after.changed(
                    cursor=state.cursor if self.stays else at + len(self.text),
                    spans={**state.spans, id(self): (at, at + len(self.text))})

    def copy(self, **fields):
        return dataclasses.replace(self, **fields)

    def changed_texts(self):
        """The text with one other byte: the last, the first, one between."""
        n = len(self.text)
        for i in dict.fromkeys((n - 1, 0, n // 2)):
            for other in b"qzQ7\x01\xfe":
                if other not in (self.text[i], other_case(self.text[i])):
                    yield self.text[:i] + bytes([other]) + self.text[i + 1:]

    def violations(self):
        if self.negated:
            yield "content !", self.copy(negated=False, stays=True)
            return
        for text in self.changed_texts():
            yield "content", self.copy(text=text)
        if not self.nocase:
            for i, byte in enumerate(self.text):
                if other_case(byte) != byte:
                    yield "case", self.copy(text=self.text[:i] + bytes([other_case(byte)])
                                            + self.text[i + 1:])
                    break
        yield from self.moved()

    def moved(self):
        """Just outside each edge of its window."""
        n = len(self.text)
        fixed = {"offset": None, "depth": None, "distance": None, "within": None,
                 "starts": False, "ends": False}
        if self.starts:
            yield "startswith", self.copy(**fixed, place_at=("begin", 1))
        if self.ends:
            yield "endswith", self.copy(**fixed, place_at=("end", -1))
        values = (self.offset, self.depth, self.distance, self.within)
        if any(isinstance(v, str) for v in values):
            return
        if self.offset:
            yield "offset", self.copy(**fixed, place_at=("begin", self.offset - 1))
        if self.depth is not None and not self.relative:
            at = (self.offset or 0) + self.depth - n + 1
            yield "depth", self.copy(**fixed, place_at=("begin", at))
        if self.distance is not None:
            yield "distance", self.copy(**fixed, place_at=("cursor", self.distance - 1))
        if self.within is not None:
            at = (self.distance or 0) + self.within - n + 1
            yield "within", self.copy(**fixed, place_at=("cursor", at))

    def edges(self):
        """The last place of a window, and other case where it does not matter."""
        n = len(self.text)
        values = (self.offset, self.depth, self.distance, self.within)
        if self.negated or any(isinstance(v, str) for v in values):
            return
        if self.within is not None:
            at = (self.distance or 0) + self.within - n
            yield "last of within", self.copy(place_at=("cursor", at))
        elif self.depth is not None and self.depth > n:
            at = (self.offset or 0) + self.depth - n
            yield "last of depth", self.copy(place_at=("begin", at))
        if self.nocase and self.text.swapcase() != self.text:
            yield "other case", self.copy(text=self.text.swapcase(), nocase=False)


@dataclasses.dataclass(eq=False)
class DataAt:
    """isdataat. In Suricata a relative one asks for n bytes behind the cursor, in Snort 3 for a
    byte at that place; an absolute one asks in both for a byte at the place."""
    offset: int | str
    negated: bool = False
    relative: bool = False
    snort3: bool = False

    def needed(self, base, cursor, names):
        offset = number(self.offset, names)
        if offset is None:
            return None
        if self.relative:
            return cursor + offset + self.snort3
        return base + offset + 1

    def ways(self, data, cursor, names):
        needed = self.needed(0, cursor, names)
        if needed is not None and (len(data) >= needed) != self.negated:
            yield cursor, names

    def place(self, state):
        needed = self.needed(state.base, state.cursor, state.names)
        if needed is None:
            return
        bounds = (0, needed - 1) if self.negated else (needed, LONGEST)
        after = state.with_length(*bounds)
        if after:
            yield after

    def violations(self):
        yield "isdataat", dataclasses.replace(self, negated=not self.negated)

    def edges(self):
        if not self.negated:
            yield "last byte of isdataat", JustAt(self.offset, False, self.relative, self.snort3)


class JustAt(DataAt):
    """A buffer that ends with the byte that is asked for."""

    def place(self, state):
        needed = self.needed(state.base, state.cursor, state.names)
        after = state.with_length(needed, needed) if needed is not None else None
        if after:
            yield after


@dataclasses.dataclass(eq=False)
class Length:
    """dsize and bsize: the length of the whole buffer is in a set."""
    name: str
    allowed: tuple

    def ways(self, data, cursor, names):
        if ranges.holds(self.allowed, len(data)):
            yield cursor, names

    def place(self, state):
        for first, last in self.allowed:
            after = state.with_length(state.base + first, state.base + last)
            if after:
                yield after

    def violations(self):
        for size in ranges.edges(self.allowed, LONGEST):
            yield self.name, Length(self.name, ((size, size),))

    def edges(self):
        last = self.allowed[-1][1] if self.allowed else 0
        if self.allowed and last < LONGEST and last > self.allowed[0][0]:
            yield f"largest {self.name}", Length(self.name, ((last, last),))
        if self.allowed and self.allowed[0][0] and last > self.allowed[0][0]:
            least = self.allowed[0][0]
            yield f"least {self.name}", Length(self.name, ((least, least),))


def fresh_state(options, base=0):
    """A state in which contents that may stand anywhere leave room for those that may not."""
    reserved = 0
    for option in options:
        if isinstance(option, Content) and isinstance(option.depth, int):
            reserved = max(reserved, (option.offset if isinstance(option.offset, int) else 0)
                           + option.depth)
    return State({}, base=base, cursor=base, reserved=base + min(reserved, 200))
