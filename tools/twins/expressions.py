# SPDX-License-Identifier: MIT
"""pcre: what an expression matches, and bytes that it matches, by a walk over its parsed form."""
import dataclasses
import random
import re
import re._constants as op
import re._parser as parser
import warnings

from twins.layout import ANY, LONGEST, bytes_of, one_of
from twins.rules import Unknown, unquoted

ATTEMPTS = 8
WALKS = {}
WORD = one_of(v for v in range(256) if chr(v) in "_" or (v < 128 and chr(v).isalnum()))
DIGIT = one_of(range(48, 58))
SPACE = one_of(b" \t\n\r\f\v")
CATEGORIES = {op.CATEGORY_DIGIT: DIGIT, op.CATEGORY_NOT_DIGIT: ANY & ~DIGIT,
              op.CATEGORY_SPACE: SPACE, op.CATEGORY_NOT_SPACE: ANY & ~SPACE,
              op.CATEGORY_WORD: WORD, op.CATEGORY_NOT_WORD: ANY & ~WORD}
POSIX = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
         "space": r"\s", "xdigit": "0-9a-fA-F", "punct": r"!-/:-@\[-`{-~", "print": " -~",
         "word": r"\w", "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "blank": r" \t"}
# Escapes and groups that Python writes otherwise than PCRE.
ESCAPES = {"h": r"[ \t\xa0]", "H": r"[^ \t\xa0]", "R": r"(?:\r\n|[\n\v\f\r\x85])", "z": r"\Z",
           "Z": r"(?=\n?\Z)", "e": r"\x1b", "N": r"[^\n]", "v": r"[\n\v\f\r\x85]", "<": "<",
           ">": ">"}
IN_SET = {"h": r" \t\xa0", "v": r"\n\v\f\r\x85", "e": r"\x1b"}
TOKEN = re.compile(r"\\x\{([0-9a-fA-F]+)\}|\\Q(.*?)\\E|\\(.)|\[:(\^?)(\w+):\]|(\(\?<(?=[A-Za-z]))"
                   r"|(\(\?([a-z]*-?[a-z]+)\))|(.)", re.S)


class Translator:
    """Writes an expression of PCRE as one of Python."""

    def __init__(self):
        self.in_set = False
        self.set_begins = False
        self.depth = 0
        self.opened = []  # depths at which a group of flags was begun

    def token(self, match):
        code, quoted, escape, negation, posix, group, flags, letters, plain = match.groups()
        began, self.set_begins = self.set_begins, False
        if code:
            return f"\\x{int(code, 16):02x}"
        if quoted is not None:
            return re.escape(quoted)
        if escape:
            table = IN_SET if self.in_set else ESCAPES
            known = escape in "dDsSwWbBAafnrtx\\" or not escape.isalpha()
            if escape not in table and not known:
                raise Unknown(f"pcre \\{escape}")
            return table.get(escape, "\\" + escape)
        if posix and not negation and self.in_set:
            return POSIX[posix]
        if group and not self.in_set:
            self.depth += 1
            return "(?P<"
        if flags and not self.in_set:
            self.opened.append(self.depth)
            return f"(?{letters}:"
        if plain is None:
            return match[0].replace("[", r"\[")
        return self.plain(plain, began)

    def plain(self, c, began):
        if self.in_set:
            if c == "]" and not began:
                self.in_set = False
            elif c == "^" and began:
                self.set_begins = True
            elif c in "[]":
                return "\\" + c
            return c
        if c == "[":
            self.in_set = self.set_begins = True
        elif c == "(":
            self.depth += 1
        elif c == ")":
            closing = self.close() + c
            self.depth -= 1
            return closing
        return c

    def close(self):
        closing = ""
        while self.opened and self.opened[-1] == self.depth:
            self.opened.pop()
            closing += ")"
        return closing

    def translate(self, text):
        if re.search(r"\{,\d", text):
            raise Unknown("pcre {,n}: releases of PCRE2 differ")
        return TOKEN.sub(self.token, text) + self.close()


class Walk:
    """Bytes that an expression matches: the sets of bytes at positions from its begin, and marks.
    The first walk takes the first branch and as few repetitions as can be, others draw lots."""

    def __init__(self, tree, flags, attempt):
        self.draw = random.Random(attempt) if attempt else None
        self.cells, self.at, self.failed = {}, 0, False
        self.begins, self.line_begins, self.ends, self.line_ends = set(), set(), set(), set()
        self.groups = {}
        self.referred = set(referred(tree))
        self.walk(tree, flags)

    def put(self, mask, flags=0):
        if flags & re.IGNORECASE:
            mask |= one_of(bytes([v]).swapcase()[0] for v in bytes_of(mask))
        both = self.cells.get(self.at, ANY) & mask
        self.failed |= not both
        self.cells[self.at] = both
        self.at += 1

    def walk(self, tree, flags):
        for code, argument in tree:
            getattr(self, "on_" + str(code).lower())(argument, flags)
            if self.at > LONGEST:
                raise Unknown("pcre longer than a payload")

    def on_literal(self, value, flags):
        self.put(1 << value, flags)

    def on_not_literal(self, value, flags):
        mask = 1 << value
        if flags & re.IGNORECASE:
            mask |= 1 << bytes([value]).swapcase()[0]
        self.put(ANY & ~mask)

    def on_any(self, _, flags):
        self.put(ANY if flags & re.DOTALL else ANY & ~(1 << 10))

    def on_in(self, items, flags):
        mask, negated = 0, False
        for code, value in items:
            if code is op.NEGATE:
                negated = True
            elif code is op.LITERAL:
                mask |= 1 << value
            elif code is op.RANGE:
                mask |= one_of(range(value[0], value[1] + 1))
            else:
                mask |= CATEGORIES[value]
        if flags & re.IGNORECASE:
            mask |= one_of(bytes([v]).swapcase()[0] for v in bytes_of(mask))
        self.put(ANY & ~mask if negated else mask)

    def on_branch(self, argument, flags):
        branches = argument[1]
        self.walk(self.draw.choice(branches) if self.draw else branches[0], flags)

    def on_subpattern(self, argument, flags):
        group, added, removed, tree = argument
        first = self.at
        self.walk(tree, (flags | added) & ~removed)
        if group is not None:
            self.groups[group] = (first, self.at)
            if group in self.referred:
                for i in range(first, self.at):
                    self.cells[i] &= -self.cells[i]

    def on_max_repeat(self, argument, flags):
        least, most, tree = argument
        n = int(least)
        if self.draw:
            n += self.draw.choice((0, 0, 1, 2, 5))
        for _ in range(min(n, int(most))):
            self.walk(tree, flags)

    on_min_repeat = on_possessive_repeat = on_max_repeat

    def on_atomic_group(self, tree, flags):
        self.walk(tree, flags)

    def on_groupref(self, group, _):
        for i in range(*self.groups.get(group, (0, 0))):
            self.put(self.cells[i])

    def on_groupref_exists(self, argument, flags):
        group, yes, no = argument
        self.walk((yes if group in self.groups else no) or (), flags)

    def on_at(self, where, flags):
        many = flags & re.MULTILINE
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            (self.line_begins if many and where is op.AT_BEGINNING else self.begins).add(self.at)
        elif where in (op.AT_END, op.AT_END_STRING):
            (self.line_ends if many and where is op.AT_END else self.ends).add(self.at)

    def on_assert(self, argument, flags):
        """What has to follow is laid over what follows."""
        direction, tree = argument
        here = self.at
        if direction < 0:
            self.at -= int(tree.getwidth()[0])
        self.walk(tree, flags)
        self.at = here

    def on_assert_not(self, _, __):
        """The reference finds out whether it holds."""


def referred(tree):
    """Groups that the expression refers to."""
    if isinstance(tree, (parser.SubPattern, list, tuple)):
        for item in tree:
            if isinstance(item, tuple) and item and item[0] is op.GROUPREF:
                yield item[1]
            elif isinstance(item, tuple) and item and item[0] is op.GROUPREF_EXISTS:
                yield item[1][0]
            yield from referred(item)


def walked(compiled, tree, flags, attempt):
    """The walk of an attempt, of which the last ones are kept."""
    key = compiled, attempt
    if key not in WALKS:
        if len(WALKS) > 100:
            WALKS.clear()
        WALKS[key] = Walk(tree, flags, attempt)
    return WALKS[key]


@dataclasses.dataclass(eq=False)
class Pcre:
    compiled: object
    tree: object
    flags: int
    negated: bool
    relative: bool
    anchored: bool
    first_attempt: int = 0
    stays: bool = False

    def ways(self, data, cursor, names):
        origin = cursor if self.relative else 0
        subject, at, seen = data[origin:], 0, set()
        while at <= len(subject) and len(seen) < 300:
            match = (self.compiled.match if self.anchored else self.compiled.search)(subject, at)
            if not match or (self.anchored and at):
                break
            seen.add(origin + match.end())
            at = match.start() + 1
        if self.negated or self.stays:
            if self.negated != bool(seen):
                yield cursor, names
            return
        for end in sorted(seen):
            yield end, names

    def place(self, state):
        if self.negated:
            yield state
            return
        for attempt in range(self.first_attempt, self.first_attempt + ATTEMPTS):
            walk = walked(self.compiled, self.tree, self.flags, attempt)
            if not walk.failed:
                yield from self.places(state, walk)

    def places(self, state, walk):
        origin = state.cursor if self.relative else state.base
        first = -min([0, *walk.cells])  # what looks behind begins before the match
        if self.anchored or walk.begins:
            positions = [origin - min(walk.begins, default=0)]
        else:
            behind = max(state.end, state.reserved, origin) + first
            apart = state.end > origin  # a word before it is not one with a word of its own
            positions = dict.fromkeys([*([origin] if self.relative else []), behind + apart,
                                       behind, behind + 1, *range(origin, origin + 40)])
        for at in positions:
            after = self.put(state, walk, origin, at)
            if after:
                yield after.changed(
                    cursor=state.cursor if self.stays else at + walk.at,
                    spans={**state.spans, id(self): (at, at + walk.at)})

    @staticmethod
    def put(state, walk, origin, at):
        """The state with the walk's bytes at a position, or None."""
        wanted = walk.cells
        if at + walk.at > state.at_most or any(
                not mask & wanted.get(i - at, ANY) for i, mask in state.cells.items()):
            return None
        cells = {at + i: mask for i, mask in wanted.items()}
        newlines = [at + i - 1 for i in walk.line_begins if at + i != origin]
        newlines += [at + i for i in walk.line_ends if i != walk.at or state.end > at + i]
        for i in newlines:
            cells[i] = cells.get(i, ANY) & 1 << 10
        first = min(cells, default=at)
        if first < state.base:
            return None
        last = max(cells, default=at - 1)
        if last >= state.at_most:
            return None
        masks = [cells.get(i, ANY) for i in range(first, last + 1)]
        state = state.with_cells(first, masks)
        if not state:
            return None
        state = state.with_length(at + walk.at, LONGEST)
        if state and (walk.ends or (walk.line_ends and not newlines)):
            state = state.with_length(at + walk.at, at + walk.at)
        return state

    def violations(self):
        if self.negated:
            yield "pcre !", dataclasses.replace(self, negated=False, stays=True)

    def edges(self):
        if not self.negated:
            yield "other match of pcre", dataclasses.replace(self, first_attempt=3)


def read(value):
    """pcre of a rule. Raises Unknown where Python has no such expression."""
    match = re.match(r"(!?)\s*/(.*)/([A-Za-z]*)$", unquoted(value.lstrip("! ")), re.S)
    if not match:
        raise Unknown("form of pcre")
    negated = value.startswith("!")
    letters, flags = match[3], 0
    for letter in letters:
        if letter not in "ismxRAEOB":
            raise Unknown(f"pcre /{letter}")
        if letter in "ismx":
            flags |= {"i": re.I, "s": re.S, "m": re.M, "x": re.X}[letter]
    text = Translator().translate(match[2])
    if "E" in letters and text.endswith("$"):
        text = text[:-1] + r"\Z"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = text.encode("utf-8", "surrogateescape")
            compiled, tree = re.compile(raw, flags), parser.parse(raw, flags)
    except (re.error, OverflowError) as error:
        raise Unknown(f"pcre: {error}") from error
    return Pcre(compiled, tree, tree.state.flags, negated, "R" in letters, "A" in letters)
