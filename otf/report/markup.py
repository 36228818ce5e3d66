"""HTML, SVG and XML built from parts, escaping everything that is not markup yet; and the frame of every page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable
from hashlib import sha256
from html import escape
from importlib.resources import files
from json import dumps
from typing import Any, Final
from zlib import compress

from msgspec.json import encode

from otf.values.text import plain

MARK: Final = "otf report"
"""Identifies a file as a report: `otf report` overwrites no other file."""

VOID = frozenset({"input", "meta", "br"})


class Markup(str):
    """Text that is markup already, so that nothing escapes it again."""

    __slots__ = ()


def text(value: object) -> Markup:
    r"""Return a text as markup, escaping markup in it and control characters, which XML cannot hold.

    >>> text("<b>\x00")
    '&lt;b&gt;\\x00'
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(plain(str(value), "\n")))


def tag(name: str, /, *inner: object, **attributes: object) -> Markup:
    """Return an element of HTML or XML; None omits an attribute, and `_` in an attribute's name becomes `-`.

    >>> tag("p", "a < b", tag("br"), class_="x", data_n=1)
    '<p class="x" data-n="1">a &lt; b<br></p>'
    """
    pairs = "".join(f' {_name(key)}="{text(value)}"' for key, value in attributes.items() if value is not None)
    if name in VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{''.join(map(text, inner))}</{name}>")


def joined(*parts: object) -> Markup:
    """Return some parts as one markup, one after the other."""
    return Markup("".join(map(text, parts)))


def scrolled(label: str, *inner: object, class_: str = "wide") -> Markup:
    """Return a part of a page that scrolls by itself, also with keys, with a label for screen readers."""
    return tag("div", *inner, class_=class_, tabindex=0, role="region", aria_label=label)


def own(name: str) -> Markup:
    """Return a file of this package, a style sheet or a script, unchanged."""
    return Markup(files("otf.report").joinpath(name).read_text(encoding="utf-8"))


class NumberedEntries:
    """Entries for the scripts of a page, without duplicates, each with a number."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, entry: object, name: Hashable = None) -> int:
        """Return the number of an entry; entries of one name share one, by default equal entries."""
        found = self._numbers.setdefault(encode(entry) if name is None else name, len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found


def packed_data(name: str, data: Any) -> Markup:  # noqa: ANN401 -- any JSON data
    """Return data for the scripts of a page, compressed; no text in Base64 can end the element.

    >>> packed_data("data", ["</script>"]).count("</script>")
    1
    """
    packed = compress(dumps(data, separators=(",", ":")).encode("ascii"))
    return tag("script", b64encode(packed).decode(), type="text/plain", id=name)


def framed(title: str, styles: str, scripts: str, *body: object, mark: str, connects: str = "'none'") -> str:
    """Return a page that loads nothing and runs only these scripts, whatever the system's texts contain.

    `mark` names the command that wrote the page. `connects` lists the addresses that its scripts may contact.
    """
    allowed = f"style-src '{_hash(styles)}'; script-src '{_hash(scripts)}'; connect-src {connects}; base-uri 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="generator", content=mark),
        tag("meta", http_equiv="Content-Security-Policy", content=f"default-src 'none'; {allowed}"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(styles)),
    )
    whole = tag("html", head, tag("body", *body, tag("script", Markup(scripts))), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
