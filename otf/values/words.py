"""The words of a value, if it has text: they show that a name in one value occurs in another."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias, cast

TextWords: TypeAlias = tuple[str, ...]
"""The words of a value in order: its types in angle brackets, those of its texts and bytes, and its numbers."""

WORD: Final = re.compile(r"\w+|[^\w\s]")
_REMEMBERED: Final = 512


@lru_cache(_REMEMBERED)
def words(value: Hashable) -> TextWords:
    r"""Return the words of a value, by its key.

    >>> from otf.values.identity import key
    >>> words(key(("get", 7, b"/jobs/12", b"\x00")))
    ('<tuple>', 'get', '<int>', '7', '/', 'jobs', '/', '12', '\x00')
    """
    return tuple(_words(value))


def _words(value: Hashable) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in cast("tuple[Hashable, ...]", value):
            yield from _words(each)
    elif isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        yield from WORD.findall(text) if text.isprintable() else [text]
    elif isinstance(value, type):
        yield f"<{value.__qualname__}>"
    else:
        yield str(value)
