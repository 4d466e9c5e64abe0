# SPDX-License-Identifier: MIT
"""base64_decode with the options behind base64_data, which look at the decoded bytes."""
import base64
import dataclasses

from twins.layout import matches, solve
from twins.rules import Unknown
from twins.transforms import decoded


@dataclasses.dataclass(eq=False)
class Decode:
    most: int  # bytes that are decoded; 0: all
    offset: int
    relative: bool
    inner: list = dataclasses.field(default_factory=list)

    def text(self, data, cursor):
        first = (cursor if self.relative else 0) + self.offset
        return data[first:first + self.most if self.most else len(data)]

    def ways(self, data, cursor, names):
        plain = decoded(self.text(data, cursor))
        if plain and matches(self.inner, plain, names):
            yield cursor, names

    def place(self, state):
        """The text stands at the end of the buffer, so that nothing else is decoded."""
        found = solve(self.inner, lambda data: matches(self.inner, data))
        if not found:
            return
        data = found[0]
        padded = data + b"x" * (-len(data) % 3)
        text = base64.b64encode(padded if matches(self.inner, padded) else data)
        at = (state.cursor if self.relative else state.base) + self.offset
        after = state.with_cells(at, [1 << b for b in text])
        after = after and after.with_length(at + len(text), at + len(text))
        if after and not 0 < self.most < len(text):
            yield after.changed(spans={**after.spans, id(self): (at, at + len(text))})

    def others(self, name):
        """The same with one option of the decoded bytes replaced."""
        for i, option in enumerate(self.inner):
            for label, other in getattr(option, name)():
                inner = [*self.inner[:i], other, *self.inner[i + 1:]]
                yield f"{label} in base64", dataclasses.replace(self, inner=inner)

    def violations(self):
        yield from self.others("violations")

    def edges(self):
        yield from self.others("edges")


def read(value):
    decode = Decode(0, 0, False)
    for word in (value or "").split(","):
        name, _, number = word.strip().partition(" ")
        if name == "bytes":
            decode.most = int(number)
        elif name == "offset":
            decode.offset = int(number)
        elif name == "relative":
            decode.relative = True
        elif name:
            raise Unknown(f"base64_decode {name}")
    return decode
