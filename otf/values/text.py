"""Values as text: short, on one line, and without control sequences for a terminal."""

from __future__ import annotations

LONGEST = 300


def show(value: object, longest: int = LONGEST) -> str:
    """Return `repr(value)` on one line of at most `longest` characters; control characters are escaped.

    Values come from the system under test: a name with an escape sequence must not change the terminal.

    >>> show(("a", 1)), show("x" * 50, longest=12)
    ("('a', 1)", "'xxxxxxxxxx…")
    """
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 -- a broken __repr__ in a model must not hide the failure to show
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"
