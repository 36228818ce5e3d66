"""HTML, SVG and XML built from parts: all that is not markup yet is escaped."""

from __future__ import annotations

from html import escape

VOID = frozenset({"input", "meta", "br"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> Markup:
    r"""Return a text as markup: markup in it and control characters, which XML cannot hold, are escaped.

    >>> text("<b>\x00")
    '&lt;b&gt;\\x00'
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape("".join(char if _plain(char) else _shown(char) for char in str(value))))


def tag(name: str, /, *inner: object, **attributes: object) -> Markup:
    """Return an element; None leaves an attribute out, `_` in its name becomes `-`.

    >>> tag("p", "a < b", tag("br"), class_="x", data_n=1)
    '<p class="x" data-n="1">a &lt; b<br></p>'
    """
    pairs = "".join(f' {_name(key)}="{text(value)}"' for key, value in attributes.items() if value is not None)
    if name in VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{''.join(map(text, inner))}</{name}>")


def joined(*parts: object) -> Markup:
    """Return parts one after the other."""
    return Markup("".join(map(text, parts)))


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _plain(char: str) -> bool:
    return char.isprintable() or char == "\n"


def _shown(char: str) -> str:
    return char.encode("unicode_escape").decode()
