"""The text of a value: parsed but never run, split from its port, and shortened."""

from __future__ import annotations

import ast
import warnings
from typing import Final, NamedTuple

from otf.values import show
from otf.values.text import COMPARED, WHOLE

LONGEST: Final = 60  # the most characters of a value
ROW: Final = 200  # the most characters of a value in a table
FIELD: Final = (40, 24)  # the most characters of a field, depending on the others


class Output(NamedTuple):
    """One of the outputs that a model allows, as text, with its port if the model names it."""

    text: str
    port: str = ""


def without_port(text: str) -> Output:
    """Split an output from its port, if its text has one."""
    bare, _, port = text.rpartition(" on ")
    return Output(bare, port) if bare and port.isidentifier() else Output(text)


def parsed(text: str) -> ast.expr | None:
    """Return a text as a Python expression, or None if it is not one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a text that is not Python needs no warning
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def brief(text: str, longest: int = LONGEST) -> str:
    """Return the text of a value, short enough for a title: it shortens the longest parts, and keeps the port.

    >>> brief("Get(method='POST', target='/holds/3975c4ab-02e3-7665/confirm', headers=(('a', 'b'),))")
    "Get(method='POST', target='/holds/…confirm', …)"
    """
    if len(text) <= longest:
        return text
    bare = without_port(text)
    if bare.port:
        return f"{brief(bare.text, longest)} on {bare.port}"
    call = parsed(text)
    if not isinstance(call, ast.Call):
        return _shortened(text, longest)
    head, fields = text.partition("(")[0], [ast.get_source_segment(text, each) or "" for each in _parts_of(call)]
    for most in FIELD:
        whole = f"{head}({', '.join(_shortened(each, most) for each in fields)})"
        if len(whole) <= longest:
            return whole
    starts = (
        f"{head}({''.join(f'{_shortened(each, FIELD[-1])}, ' for each in fields[:at])}…)" for at in range(len(fields))
    )
    return [each for each in starts if len(each) <= longest or each == f"{head}(…)"][-1]


def in_row(text: str, longest: int = ROW) -> str:
    """Return a value for a row of a table: without the middles of its fields if it is long, unless `WHOLE` says so.

    >>> in_row("Put(to='/a', headers='" + "x" * 300 + "', body='1')")
    "Put(to='/a', headers='xxxxxxxxxxxxxxxxx…xxxxxxxxxxxx', body='1')"
    """
    return text if WHOLE.get() else brief(text, longest)


def message_text(value: object, longest: int = ROW) -> str:
    """Return a message as text for a row, so that each of its fields can be seen.

    >>> message_text(("Put", 1))
    "('Put', 1)"
    """
    return in_row(show(value, COMPARED), longest)


def _parts_of(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]


def _shortened(text: str, most: int) -> str:
    """Return a text, without its middle if it is too long: paths often differ at their end."""
    return text if len(text) <= most else f"{text[: most - most // 3 - 1]}…{text[-(most // 3) :]}"
