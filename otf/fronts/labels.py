"""Labels of transitions in files: `input / output, output`, `?input`, `!output`, or an input alone."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from otf.errors import UsageError
from otf.fronts.table import Written, table

SILENT: Final = frozenset({"", "-", "nothing", "no output", "epsilon", "ε", "λ"})
INNER: Final = frozenset({"i", "tau", "τ"})
LONGEST: Final = 50_000_000  # characters of a file
SPONTANEOUS: Final = "(unasked)"


class Label(NamedTuple):
    """What a label says: the input (None: unasked), and the outputs."""

    input: str | None
    outputs: tuple[str, ...]


def label(text: str) -> Label:
    """Return what a label says.

    >>> label("coin / nothing"), label("!beep"), label("go/a,b")
    (Label(input='coin', outputs=()), Label(input=None, outputs=('beep',)), Label(input='go', outputs=('a', 'b')))
    """
    inp, slash, said = text.rpartition("/")
    if slash:
        asked = inp.strip()
        return Label(None if asked == SPONTANEOUS else asked.removeprefix("?"), outputs(said))
    text = text.strip()
    if text.startswith("!"):
        return Label(None, (text[1:],))
    return Label(None, ()) if text in INNER else Label(text.removeprefix("?"), ())


def outputs(text: str) -> tuple[str, ...]:
    """Return the outputs in a text."""
    return tuple(each for part in text.split(",") if (each := part.strip()) not in SILENT)


def whole(rows: list[tuple[Any, Label, Any]], initial: object, name: str) -> Written:
    """Return the spec of rows with labels."""
    asked = [(source, said.input, said.outputs, target) for source, said, target in rows if said.input is not None]
    alone = [(source, said.outputs, target) for source, said, target in rows if said.input is None]
    return table(asked, initial=initial, spontaneous=alone, name=name)


def wrong(where: str, line: int, what: str) -> UsageError:
    """Return the error for a line of a file."""
    return UsageError(f"{where}, line {line}: {what}")


def bounded(text: str, where: str) -> str:
    """Return a text that is no longer than it may be."""
    if len(text) > LONGEST:
        message = f"{where}: {len(text):,} characters; there may be {LONGEST:,}"
        raise UsageError(message)
    return text
