"""Examples in docstrings become code: without a fence, Markdown would take `>>> [f(x)] [1]` for a quoted link."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)


class Fences(griffe.Extension):
    """Puts a fence around each block of examples."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401 -- what griffe may pass one day
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None and "```" not in obj.docstring.value:  # an object with two names comes twice
            obj.docstring.value = _EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(example: re.Match[str]) -> str:
    return f"```pycon\n{example[0].rstrip()}\n```\n"
