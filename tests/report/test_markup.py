"""Markup: whatever is not markup already is escaped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otf.report.markup import Markup, joined, tag, text
from tests.report.runs import HOSTILE, parsed


def test_elements() -> None:
    """Parts that are markup stay as they are, all else is text; an attribute that is None is left out."""
    assert tag("p", tag("b", "x"), " & ", 3, class_="a", data_n=1, hidden=None) == (
        '<p class="a" data-n="1"><b>x</b> &amp; 3</p>'
    )
    assert tag("input", type="search") == '<input type="search">'
    assert joined("<", Markup("<br>")) == "&lt;<br>"


def test_what_a_system_may_say() -> None:
    """Markup in it is escaped, and control characters are shown."""
    said = text(HOSTILE)
    assert "<" not in said
    assert '"' not in said
    assert "\\x1b[31m\\x00&amp;" in said


@given(st.text(), st.text())
def test_any_text_is_well_formed(inner: str, attribute: str) -> None:
    """In an element and in an attribute, and it is there as it was where it is printable."""
    element = parsed(tag("p", inner, title=attribute))
    assert (element.text or "") == "".join(char if printable(char) else escaped(char) for char in inner)
    assert len(list(element.iter())) == 1


def printable(char: str) -> bool:
    """Return whether a character is shown as it is."""
    return char.isprintable() or char == "\n"


def escaped(char: str) -> str:
    """Show a character by its number."""
    return char.encode("unicode_escape").decode()
