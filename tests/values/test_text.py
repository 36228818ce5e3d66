"""How values are shown: short, on one line, harmless, and always."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.values import show


class Speaks:
    """A value whose `repr` is the given text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        """Return the text as it is."""
        return self.text


class Broken:
    def __repr__(self) -> str:
        """Fail."""
        message = "no words"
        raise RuntimeError(message)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, "a"), "(1, 'a')"),
        ("a\x1b[2Jb", r"'a\x1b[2Jb'"),
        (Speaks("red \x1b[31m"), r"red \x1b[31m"),
        (Speaks("two\nlines\t"), r"two\nlines\t"),
        (Speaks("right \u202e left, half \ud800"), r"right \u202e left, half \ud800"),
        (Speaks("ein Grüß Gott"), "ein Grüß Gott"),
        (Broken(), "<Broken whose repr raised RuntimeError>"),
        ((Broken(),), "<tuple whose repr raised RuntimeError>"),
    ],
)
def test_a_value_is_shown_as_python_does_but_harmlessly(value: object, text: str) -> None:
    """Escape sequences, line ends and marks that reverse text are escaped; a broken repr is reported."""
    assert show(value) == text


@given(st.text(), st.integers(1, 40))
def test_whatever_it_is_it_fits_on_one_line(text: str, longest: int) -> None:
    """The text has at most the given length, and all of it is printable."""
    shown = show(Speaks(text), longest)
    assert len(shown) <= longest
    assert shown.isprintable()


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    """By default, a text is cut after 300 characters."""
    assert show("x" * 50, longest=12) == "'xxxxxxxxxx…"
    assert len(show("x" * 1000)) == 300
