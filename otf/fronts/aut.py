"""Reading Aldebaran files (`.aut`), which many tools for labelled transition systems write."""

from __future__ import annotations

import re
from typing import Any, Final

from otf.fronts.labels import Label, bounded, label, whole, wrong
from otf.fronts.table import Written

_HEAD: Final = re.compile(r"\s*des\s*\(\s*(\d{1,12})\s*,\s*(\d{1,12})\s*,\s*(\d{1,12})\s*\)\s*$")
_EDGE: Final = re.compile(r'\s*\(\s*(\d{1,12})\s*,\s*(?:"((?:[^"\\]|\\.)*)"|([^",()][^"]*?))\s*,\s*(\d{1,12})\s*\)\s*$')


def read_aut(text: str, name: str = "aut") -> Written:
    r"""Return the spec in the text of an Aldebaran file; inputs and outputs are texts, states numbers.

    >>> read_aut('des (0, 1, 2)\n(0, "coin / tea", 1)').inputs(0)
    ('coin',)
    """
    lines = [(number, line) for number, line in enumerate(bounded(text, name).splitlines(), 1) if line.strip()]
    number, first = lines[0] if lines else (1, "")
    head = _HEAD.match(first)
    if head is None:
        raise wrong(name, number, "the first line of an .aut file is: des (initial, transitions, states)")
    initial, count, states = map(int, head.groups())
    rows = [_row(name, number, line, states) for number, line in lines[1:]]
    if len(rows) != count:
        raise wrong(name, number, f"it announces {count} transitions, and {len(rows)} follow")
    return whole(rows, initial, name)


def _row(name: str, number: int, line: str, states: int) -> tuple[Any, Label, Any]:
    found = _EDGE.match(line)
    if found is None:
        raise wrong(name, number, f'{line.strip()[:60]!r} is no transition; write (0, "input / output", 1)')
    source, target = int(found[1]), int(found[4])
    if max(source, target) >= states:
        raise wrong(name, number, f"there is no state {max(source, target)}: the first line announces {states}")
    said = found[2] if found[2] is not None else found[3]
    return source, label(re.sub(r"\\(.)", r"\1", said)), target
