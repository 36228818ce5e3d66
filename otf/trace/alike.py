"""Finds whether one rule explains several failures: what they have in common, as texts.

Compares values as people see them. So it does not matter whether a message is text, a number, bytes or a dataclass, and
a worker or a journal can pass it on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Sequence
from itertools import zip_longest
from typing import Final, TypeAlias

NUMBER: Final = re.compile(r"\\x[0-9a-f]{2}|(?<![\w.])-?\d+(?:\.\d+)?|(?<=[A-Za-z_])\d+")
FIELD: Final = re.compile(rf"(?<=[=( ])'[^']*'|{NUMBER.pattern}")
HEAD: Final = re.compile(r"[(\[]?b?['\"]?[^\s(,'\"]*")
NAME: Final = re.compile(r"'[A-Za-z_]\w*'|[A-Za-z_]\w*\.\w+")
ATOM: Final = re.compile(r"-?[\w.+]+|b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"|<[^<>]*>")
SAYS: Final = re.compile(r"b?['\"]([A-Za-z_]+)\W+\w")
ECHO: Final = re.compile(r"'[^']+'| on \w+")
REACH: Final = 3
"""How many failing values in a row, with no passing one between them, make a range."""

WrongAnswer: TypeAlias = tuple[str, str, str]
"""What a rule is about (a state or an input), the output expected there, and the one seen."""


def template(text: str) -> str:
    """Return a text with its numbers replaced.

    >>> template("Value(number=99)"), template("error_17"), template("'reading 2.5'")
    ('Value(number=#)', 'error_#', "'reading #'")
    """
    return NUMBER.sub("#", text)


def numbers(text: str) -> tuple[float, ...]:
    r"""Return the numbers in a text.

    >>> numbers("Add(5, -2.5)"), numbers(r"b'R\x03'")
    ((5.0, -2.5), (3.0,))
    """
    return tuple(float(int(f"0{each[1:]}", 0)) if each[0] == "\\" else float(each) for each in NUMBER.findall(text))


def head(text: str) -> str:
    """Return what an input does, as far as its text says: the type of a dataclass, or the first word of a line.

    >>> head("Read(3)"), head("'set 17'"), head("'b'"), head("('add', 5)"), head("7")
    ('Read', "'set", "'b", "('add", '#')
    """
    found = HEAD.match(template(text))
    return found.group() if found else ""


def says_otherwise(inp: str, expected: str, seen: str) -> str:
    """Return the first word of a wrong text of several words; "" if the input has it, or an expected output.

    Like the type of a message, it says what the system did: for example, that it accepted what it has to refuse.

    >>> says_otherwise("'bid 4'", "'low 4'", "'high 4'"), says_otherwise("'get a'", "'a = 3'", "'a = 4'")
    ('high', '')
    """
    found = SAYS.match(seen)
    return found[1] if found and not re.search(rf"\b{found[1]}\b", f"{inp} {expected}") else ""


def is_atom(text: str) -> bool:
    """Return whether a value has no parts: a number, a text, or a member of an enum.

    >>> is_atom("3"), is_atom("'idle'"), is_atom("<Mode.ON: 1>"), is_atom("Read(3)"), is_atom("(1, 2)")
    (True, True, True, False, False)
    """
    return ATOM.fullmatch(text) is not None


def is_name(seen: str, known: Container[str]) -> bool:
    """Return whether an output is a name with a number that no output of the model has; `known` holds their forms.

    >>> is_name("'error_17'", {"'value_#'"}), is_name("'value_4'", {"'value_#'"}), is_name("'4'", {"'x'"})
    (True, False, False)
    """
    form = template(seen)
    return NAME.fullmatch(seen) is not None and form != seen and form not in known


def related(instances: Sequence[WrongAnswer]) -> bool:
    """Return whether the outputs seen follow in one way from those expected, or from what the instances are about.

    That is, all are the same, or larger by the same number, or by the same factor.

    >>> related([("1", "1", "2"), ("5", "5", "6")]), related([("1", "1", "2"), ("5", "5", "10")])
    (True, True)
    >>> related([("Read(3)", "Value(0)", "Value(99)"), ("Read(7)", "Value(0)", "Value(-1)")])
    False
    """
    if len({_without_echo(about, seen) for about, _, seen in instances}) == 1:
        return True
    if len({template(seen) for _, _, seen in instances}) > 1:
        return False
    seen = [numbers(each) for _, _, each in instances]
    others = ([numbers(expected) for _, expected, _ in instances], [numbers(about) for about, _, _ in instances])
    return any(_by_one_rule(each, seen) for each in others)


def _without_echo(about: str, seen: str) -> str:
    """Return an output without the texts that its input has as well."""
    texts = set(ECHO.findall(about))
    return ECHO.sub(lambda found: "*" if found.group() in texts else found.group(), seen)


def _by_one_rule(before: Sequence[tuple[float, ...]], after: Sequence[tuple[float, ...]]) -> bool:
    if not before[0] or not after[0] or len({*map(len, before)}) > 1 or len({*map(len, after)}) > 1:
        return False
    pairs = [(one[-1], other[-1]) for one, other in zip(before, after, strict=True)]
    more = {round(other - one, 6) for one, other in pairs}
    times = {round(other / one, 6) if one else None for one, other in pairs}
    return len(more) == 1 or (len(times) == 1 and None not in times)


def difference(expected: str, seen: str) -> str:
    """Return the form of a wrong output, with a star for each field that differs from the expected output.

    >>> difference("Done(room='a', temp=28)", "Done(room='a', temp=25)"), difference("Done('a', 28)", "Refused(3)")
    ('Done(room=#, temp=*)', 'Refused(*)')
    """
    before, after = FIELD.findall(expected), FIELD.findall(seen)
    right = FIELD.sub("#", expected) == FIELD.sub("#", seen)
    marks = iter("#" if right and one == other else "*" for one, other in zip_longest(before, after))
    return FIELD.sub(lambda _: next(marks), seen)


def is_slice(failing: Sequence[str], passed: Sequence[str]) -> bool:
    """Return whether one of several fields explains the failures: no run with one of its failing values passed.

    >>> failing = ["Set('a', 26)", "Set('c', 30)", "Set('b', 28)"]
    >>> is_slice(failing, ["Set('a', 5)", "Set('b', 20)", "Set('c', 25)"])
    True
    >>> is_slice(failing, ["Set('a', 5)", "Set('b', 29)", "Set('c', 25)"])
    False
    """
    form = FIELD.sub("#", failing[0])
    rows, right = ([_values(each) for each in some if FIELD.sub("#", each) == form] for some in (failing, passed))
    if min(len(rows), len(right)) < REACH or len(rows) < len(failing):
        return False
    columns = [{*column} for column in zip(*rows, strict=True)]
    decides = [at for at, values in enumerate(columns) if not any(_is_among(row[at], values) for row in right)]
    # the variation of the other fields shows that this one decides
    return any(any(len(values) > 1 for other, values in enumerate(columns) if other != at) for at in decides)


def _values(text: str) -> tuple[float | str, ...]:
    return tuple(each if each[0] == "'" else numbers(each)[0] for each in FIELD.findall(text))


def _is_among(value: float | str, others: Collection[float | str]) -> bool:
    """Return whether a value is one of others, or a number between them; different texts have no order."""
    found = [each for each in others if isinstance(each, float)]
    return value in others or (isinstance(value, float) and bool(found) and min(found) <= value <= max(found))


def is_range(failing: Sequence[str], passed: Sequence[str]) -> bool:
    """Return whether failing values are neighbours: they differ in one number, and none between them passed.

    >>> is_range(["Add(501)", "Add(700)", "Add(990)"], ["Add(3)", "Add(500)"])
    True
    >>> is_range(["Read(3)", "Read(7)", "Read(9)"], ["Read(5)"]), is_range(["a", "b", "c"], [])
    (False, False)
    """
    rows = [numbers(each) for each in failing]
    if len(rows) < REACH or len({*map(template, failing)}) > 1 or len({*map(len, rows)}) > 1:
        return False
    places = [at for at in range(len(rows[0])) if len({row[at] for row in rows}) > 1]
    if len(places) != 1:
        return False
    at, form = places[0], template(failing[0])
    least, most = min(row[at] for row in rows), max(row[at] for row in rows)
    right = [numbers(each) for each in passed if template(each) == form]
    return not any(len(row) == len(rows[0]) and least <= row[at] <= most for row in right)
