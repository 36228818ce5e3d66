"""Regular expressions over actions, by derivatives: a scenario's state is the expression of what may follow.

The method is that of Brzozowski, "Derivatives of Regular Expressions", 1964.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from otf.compose.actions import Action, Pattern, any_action, names, out, pattern
from otf.errors import UsageError

LONGEST: Final = 10_000  # characters of an expression


@dataclass(frozen=True, repr=False)
class Regex:
    """A regular expression over actions; `empty`: it also matches the empty sequence, so a run may end here."""

    empty: bool = False

    def __str__(self) -> str:
        """Return the expression as text."""
        return "end" if self.empty else "never"

    def __repr__(self) -> str:
        """Return the expression as text."""
        return str(self)

    def after(self, action: Action) -> Regex:
        """Return the expression for what may follow an action."""
        del action
        return NEVER

    def atoms(self) -> Iterator[Pattern]:
        """Yield the patterns in the expression."""
        yield from ()


NEVER: Final = Regex(empty=False)
DONE: Final = Regex(empty=True)


@dataclass(frozen=True, repr=False)
class Atom(Regex):
    """The expression of one action, given by its pattern."""

    item: Pattern = any_action

    def __str__(self) -> str:
        return str(self.item)

    def after(self, action: Action) -> Regex:
        """Return what may follow the action: nothing more if this pattern matches it, otherwise no word at all."""
        return DONE if self.item.matches(action) else NEVER

    def atoms(self) -> Iterator[Pattern]:
        """Yield its pattern."""
        yield self.item


@dataclass(frozen=True, repr=False)
class Concatenation(Regex):
    """The expression that matches what one expression matches, followed by what another one matches."""

    first: Regex = DONE
    second: Regex = DONE

    def __str__(self) -> str:
        return f"{_tight(self.first)} {_tight(self.second)}"

    def after(self, action: Action) -> Regex:
        """Return the rest of the first, then the second; or the rest of the second, if the first may be empty."""
        on = _then(self.first.after(action), self.second)
        return _either(on, self.second.after(action)) if self.first.empty else on

    def atoms(self) -> Iterator[Pattern]:
        """Yield the patterns of both."""
        yield from self.first.atoms()
        yield from self.second.atoms()


@dataclass(frozen=True, repr=False)
class Alternation(Regex):
    """The expression that matches whatever one of several expressions matches."""

    parts: frozenset[Regex] = frozenset()

    def __str__(self) -> str:
        return " | ".join(sorted(map(str, self.parts)))

    def after(self, action: Action) -> Regex:
        """Return the rest of any of them."""
        return reduce(_either, (part.after(action) for part in self.parts), NEVER)

    def atoms(self) -> Iterator[Pattern]:
        """Yield the patterns of all."""
        for part in self.parts:
            yield from part.atoms()


@dataclass(frozen=True, repr=False)
class Many(Regex):
    """The expression that matches another one any number of times, or not at all."""

    part: Regex = DONE

    def __str__(self) -> str:
        return f"{self.part}*" if isinstance(self.part, Atom) else f"({self.part})*"

    def after(self, action: Action) -> Regex:
        """Return the rest of one repetition, then any number of repetitions."""
        return _then(self.part.after(action), self)

    def atoms(self) -> Iterator[Pattern]:
        """Yield the patterns of the part."""
        yield from self.part.atoms()


def _tight(expr: Regex) -> str:
    return f"({expr})" if isinstance(expr, Alternation) else str(expr)


def atom(item: object) -> Regex:
    """Return the expression of one action."""
    return Atom(empty=False, item=pattern(item))


def sequence(parts: Sequence[Regex]) -> Regex:
    """Return the expression of several parts, one after the other."""
    return reduce(_then, parts, DONE)


def _then(first: Regex, second: Regex) -> Regex:
    if NEVER in {first, second}:
        return NEVER
    if first == DONE:
        return second
    return first if second == DONE else Concatenation(first.empty and second.empty, first, second)


def _either(one: Regex, other: Regex) -> Regex:
    parts = _parts(one) | _parts(other)
    if len(parts) <= 1:
        return next(iter(parts), NEVER)
    return Alternation(any(part.empty for part in parts), parts)


def _parts(expr: Regex) -> frozenset[Regex]:
    if isinstance(expr, Alternation):
        return expr.parts
    return frozenset() if expr == NEVER else frozenset([expr])


_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<name>!?[A-Za-z_][\w.\-]*(?:\((?:[^()'"]|'[^']*'|"[^"]*")+\))?(?:/(?:'[^']*'|"[^"]*"|[\w.\-]+))?)
    |(?P<sign>[()|*+?.;]))""",
    re.VERBOSE,
)


def expression(text: str) -> Regex:
    """Return the regular expression over actions in a text, such as `Init (Push | Pop)* Reset?`.

    A name may have values, as in `Push(1)`, and outputs after a slash, as in `Pop/1`. A dot matches any action, and
    `!Name` matches a spontaneous output. `expression` raises UsageError with the position of the first error.

    >>> from otf.compose import Action
    >>> calls = expression("Init (Push | Pop)* Reset?")
    >>> calls.after(Action("Init")), calls.after(Action("Pop"))
    ((Pop | Push)* (Reset | end), never)
    """
    if len(text) > LONGEST:
        raise UsageError(f"a scenario of {len(text):,} characters: at most {LONGEST:,} are allowed")
    reader = _Reader(text, list(_tokens(text)))
    expr = reader.either()
    if reader.tokens:
        raise reader.wrong(f"{reader.tokens[0][1]!r} is unexpected here")
    return expr


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            at = len(text) - len(text[place:].lstrip())
            message = f"scenario, character {at + 1}: {text[at : at + 10]!r} is neither an action nor a sign; {_HELP}"
            raise UsageError(message)
        place = found.end()
        yield found.start(found.lastgroup or 0), found[found.lastgroup or 0]


_HELP: Final = "write names, ( ) | * + ? and . for any action"


@dataclass
class _Reader:
    text: str
    tokens: list[tuple[int, str]]

    def either(self) -> Regex:
        expr = self.row()
        while self._takes("|"):
            expr = _either(expr, self.row())
        return expr

    def row(self) -> Regex:
        parts: list[Regex] = []
        while self.tokens and self.tokens[0][1] not in {"|", ")"}:
            if not self._takes(";"):
                parts.append(self.repeated())
        return sequence(parts)

    def repeated(self) -> Regex:
        expr = self.single()
        while self.tokens and self.tokens[0][1] in {"*", "+", "?"}:
            sign = self.tokens.pop(0)[1]
            many = Many(empty=True, part=expr)
            expr = _either(expr, DONE) if sign == "?" else many if sign == "*" else _then(expr, many)
        return expr

    def single(self) -> Regex:
        place, sign = self.tokens.pop(0)
        if sign == "(":
            expr = self.either()
            if not self._takes(")"):
                raise self.wrong("a closing ) is missing", place)
            return expr
        if sign == ".":
            return Atom(empty=False, item=any_action)
        if sign in {"*", "+", "?"}:
            raise self.wrong(f"{sign!r} has nothing before it", place)
        return Atom(empty=False, item=_named(sign))

    def _takes(self, sign: str) -> bool:
        if self.tokens and self.tokens[0][1] == sign:
            self.tokens.pop(0)
            return True
        return False

    def wrong(self, what: str, place: int | None = None) -> UsageError:
        at = self.tokens[0][0] if place is None else place
        return UsageError(f"scenario, character {at + 1}: {what}; {_HELP}")


def _named(token: str) -> Pattern:
    """Return the pattern of a name, with its values and outputs if it has any."""
    if token.startswith("!"):
        return out(token[1:])
    word, _, result = token.partition("/")
    name, opened, inside = word.partition("(")
    arguments = _literals(f"({inside[:-1]},)", token) if opened else None
    results = _literals(f"({result},)", token) if result else None

    def matches(action: Action) -> bool:
        if action.spontaneous or name not in names(action.input):
            return False
        fits = arguments is None or _values(action.input) == arguments
        return fits and (results is None or action.outputs is None or action.outputs == results)

    def concerns(action: Action) -> bool:
        return not action.spontaneous and name in names(action.input)

    return Pattern(token, concerns, matches)


def _literals(text: str, token: str) -> tuple[Any, ...]:
    try:
        found: tuple[Any, ...] = literal_eval(text)  # numbers, strings, bools and tuples of them; runs no code
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise UsageError(
            f"scenario: {token}: values are numbers, strings in quotation marks, or tuples of them"
        ) from error
    return found


def _values(value: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- any input
    if isinstance(getattr(value, "arguments", None), tuple):
        arguments: tuple[Any, ...] = value.arguments
        return arguments
    return tuple(getattr(value, field) for field in getattr(value, "__match_args__", ()))
