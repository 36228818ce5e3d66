"""Finds the fields in a line: the same result as a regular expression, but in time linear in the line.

A regular expression with several `.*?` tries every way to divide a line: a system that sends a kilobyte of spaces would
keep the tester busy for minutes. This matcher reads a line twice. From the end, it marks the positions from which the
rest fits. Then, from the beginning, each field takes the first (a str) or the last (a number) of these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

DIGITS: Final = 4_000  # the most digits of an int: Python does not read numbers of more than 4,300
_INT: Final = re.compile(rf"[+-]?[0-9]{{1,{DIGITS}}}")
# possessive quantifiers (`++`): the grammar leaves no choice, and backtracking would only take time
_FLOAT: Final = re.compile(r"[+-]?(?:inf|nan|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)")
_RUN: Final = re.compile(r"[0-9]+")
_SIGN: Final = re.compile(r"[+-]")
_WORD: Final = re.compile(r"(?=inf|nan)")
_POWER: Final = re.compile(r"[eE][+-]?([0-9]++)")
_FRACTION: Final = re.compile(r"\.([0-9]*+)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a line, each an int, float or str, and the texts before, between and after the fields."""

    texts: tuple[str, ...]
    kinds: tuple[type, ...]

    def fields(self, line: str) -> list[str] | None:
        """Return the texts of the fields, or None if the line does not fit.

        A str is as short as possible and a number as long as possible; earlier fields decide first.

        >>> Layout(("say ", " ", ""), (str, str)).fields("say hello to all")
        ['hello', 'to all']
        """
        first, last = self.texts[0], self.texts[-1]
        if not self.kinds:
            return [] if line == first else None
        if not line.startswith(first) or not line.endswith(last):
            return None
        all_ends = self._ends(line)
        return None if all_ends is None else self._taken(line, all_ends)

    def _ends(self, line: str) -> list[bytearray] | None:
        """Return where each field may end so that the rest of the line fits."""
        ends = bytearray(len(line) + 1)
        ends[len(line) - len(self.texts[-1])] = 1
        found = [ends]
        for at in range(len(self.kinds) - 1, 0, -1):
            ends = _before(self.texts[at], line, _starts(self.kinds[at], line, ends))
            found.append(ends)
        fits = _starts(self.kinds[0], line, ends)
        return found[::-1] if fits[len(self.texts[0])] else None

    def _taken(self, line: str, all_ends: list[bytearray]) -> list[str]:
        found, at = list[str](), len(self.texts[0])
        for kind, text, ends in zip(self.kinds, self.texts[1:], all_ends, strict=True):
            end = ends.find(1, at) if kind is str else _longest(_INT if kind is int else _FLOAT, line, at, ends)
            found.append(line[at:end])
            at = end + len(text)
        return found


def _before(text: str, line: str, fits: bytearray) -> bytearray:
    """Return the positions where this text begins, if the rest of the line fits after it."""
    if not text:
        return fits
    ends, at = bytearray(len(fits)), line.find(text)
    while at >= 0:
        ends[at] = fits[at + len(text)]
        at = line.find(text, at + 1)
    return ends


def _starts(kind: type, line: str, ends: bytearray) -> bytearray:
    """Return the positions from which a field of this type reaches one of these ends."""
    if kind is str:
        return _texts(line, ends)
    fits = _ints(line, ends) if kind is int else _floats(line, ends)
    for sign in _SIGN.finditer(line):
        # of two signs in a row, the first is visited first: at that time no number begins at the second
        fits[sign.start()] = fits[sign.end()]
    return fits


def _texts(line: str, ends: bytearray) -> bytearray:
    fits, begin = bytearray(len(ends)), 0
    for part in line.split("\n"):  # a str does not cross the end of a line
        last = ends.rfind(1, begin, begin + len(part) + 1)
        fits[begin : last + 1] = b"\1" * (last + 1 - begin)
        begin += len(part) + 1
    return fits


def _ints(line: str, ends: bytearray) -> bytearray:
    fits = bytearray(len(ends))
    for run in _RUN.finditer(line):
        nearest = len(line) + DIGITS + 1
        for end in range(run.end(), run.start(), -1):
            nearest = end if ends[end] else nearest
            fits[end - 1] = nearest - end < DIGITS
    return fits


def _floats(line: str, ends: bytearray) -> bytearray:
    fits = bytearray(len(ends))
    for word in _WORD.finditer(line):
        fits[word.start()] = ends[word.start() + 3]
    for run in _RUN.finditer(line):
        first, last = run.span()
        there = _fraction(line, last, ends)
        for end in range(last, first, -1):
            fits[end - 1] = there = there or bool(ends[end])
        if line[first - 1 : first] == ".":
            fits[first - 1] = _within(ends, first, last) or _power(line, last, ends)
    return fits


def _fraction(line: str, at: int, ends: bytearray) -> bool:
    """Return whether a fraction or an exponent at this position reaches an end."""
    found = _FRACTION.match(line, at)
    if found is None:
        return _power(line, at, ends)
    return _within(ends, at, found.end()) or _power(line, found.end(), ends)


def _power(line: str, at: int, ends: bytearray) -> bool:
    found = _POWER.match(line, at)
    return found is not None and _within(ends, found.start(1), found.end())


def _within(ends: bytearray, after: int, upto: int) -> bool:
    return ends.find(1, after + 1, upto + 1) >= 0


def _longest(number: re.Pattern[str], line: str, at: int, ends: bytearray) -> int:
    """Return the last of these ends that a number from this position reaches; there is at least one."""
    found = number.match(line, at)
    last = at if found is None else found.end()
    # a shorter prefix may not be a number: `1e` of `1e5`
    return next(end for end in range(last, at, -1) if ends[end] and number.fullmatch(line, at, end))
