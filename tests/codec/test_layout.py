"""Where the fields of a line lie: what a regular expression finds, without its time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.codec.layout import DIGITS, Layout
from otf.framing.frame import LARGEST

PARSERS: dict[type, str] = {
    int: rf"([+-]?[0-9]{{1,{DIGITS}}})",
    float: r"([+-]?(?:inf|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))",
    str: r"(.*?)",
}
KINDS = st.sampled_from([int, float, str])
PIECES = st.sampled_from(["", " ", "  ", "a", ".", "e", "1", "11", "-", "+", "inf", "na", "\n"])
LINES = st.lists(st.sampled_from([*" a.eE1200+-\n", "inf", "nan", "1.5e-3", "111"]), max_size=14).map("".join)


def lazily(layout: Layout, line: str) -> list[str] | None:
    """Return the fields that a regular expression finds in the line."""
    between = [*map(re.escape, layout.texts)]
    pattern = between[0] + "".join(PARSERS[kind] + text for kind, text in zip(layout.kinds, between[1:], strict=True))
    found = re.fullmatch(pattern, line)
    return None if found is None else list(found.groups())


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Patterns of up to four fields, with texts between them that numbers and texts may also be."""
    kinds = draw(st.lists(KINDS, max_size=4))
    return Layout(tuple(draw(PIECES) for _ in range(len(kinds) + 1)), tuple(kinds))


@given(layouts(), LINES)
def test_fields_are_those_of_the_lazy_match(layout: Layout, line: str) -> None:
    """For any pattern and line, the fields are those that a lazy regular expression finds."""
    assert layout.fields(line) == lazily(layout, line)


@given(layouts(), st.data())
def test_a_line_of_the_pattern_fits(layout: Layout, data: st.DataObject) -> None:
    """A line that was made by the pattern fits it, as in a lazy regular expression."""
    said = {int: st.integers().map(str), float: st.floats().map(str), str: LINES}
    line = layout.texts[0] + "".join(
        data.draw(said[kind]) + text for kind, text in zip(layout.kinds, layout.texts[1:], strict=True)
    )
    assert layout.fields(line) == lazily(layout, line)


@pytest.mark.parametrize("before", ["", "+", "x"])
@pytest.mark.parametrize("digits", [DIGITS - 1, DIGITS, DIGITS + 1, 2 * DIGITS, 2 * DIGITS + 1])
@pytest.mark.parametrize("kinds", [(int,), (int, int), (str, int), (int, str), (float, int)])
def test_an_int_has_no_more_digits_than_python_reads(kinds: tuple[type, ...], digits: int, before: str) -> None:
    """An int takes 4000 digits at most, and the next field the others, as in a lazy regular expression."""
    layout, line = Layout(("",) * (len(kinds) + 1), kinds), before + "1" * digits
    assert layout.fields(line) == lazily(layout, line)


HOSTILE = [
    (("", " ", ""), (str, str), " \n"),
    (("", " ", " ", ""), (str, str, str), " \n"),
    (("", "", "", "", ""), (str, str, str, str), "\n"),
    (("f ", ""), (float,), "x"),
    (("", "", ""), (float, float), "x"),
    (("", "", "", ""), (str, int, int), "x"),
    (("", "1", "1", "1", ""), (str, float, int, float), "x"),
    (("", "", "", ""), (str, float, str), "\n"),
]


@pytest.mark.parametrize("filling", [" ", "1", "1.", "1e", "+", ".1e+", "in", "nan"])
@pytest.mark.parametrize(("texts", "kinds", "end"), HOSTILE)
def test_no_line_takes_long(texts: tuple[str, ...], kinds: tuple[type, ...], end: str, filling: str) -> None:
    """The longest line of a framing takes little time in any pattern, also if it does not match."""
    layout, line = Layout(texts, kinds), (texts[0] + filling * LARGEST)[: LARGEST - len(end)] + end
    began = time.process_time()
    layout.fields(line)
    assert time.process_time() - began < 1
