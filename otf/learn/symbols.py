"""PortOutputs as the symbols of a machine: what varies from path to path, such as a time or a number, is left out.

An answer whose outputs differ from path to path, and only in the fields of a message or in words with digits, is one
answer: these parts are masked from then on, in every answer of that form.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from otf.spec import Where, on
from otf.trace.events import Ended
from otf.values import show

PortOutputs: TypeAlias = tuple[tuple[str, Any], ...]
"""PortOutputs, each with its port."""

SILENT: Final = "nothing"
"""The answer to an input that no output followed until the system rested."""

MASK: Final = "*"
_VARIABLE: Final = re.compile(r"[^\s,;=<>\[\](){}\"']*\d[^\s,;=<>\[\](){}\"']*")


class OutputForm(NamedTuple):
    """The form of an output, and its parts that may vary: `names` are the fields of a message, () in a text."""

    kind: str
    parts: tuple[str, ...]
    names: tuple[str, ...] = ()


def form(value: object) -> OutputForm:
    """Return the form of an output.

    >>> form("250 id 4711 taken")
    OutputForm(kind="'* id * taken'", parts=('250', '4711'), names=())
    """
    if isinstance(value, str):
        return OutputForm(repr(_VARIABLE.sub(MASK, value)), tuple(_VARIABLE.findall(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Ended)):
        names = tuple(each.name for each in dataclasses.fields(value) if each.init)
        kind = type(value)
        return OutputForm(
            f"{kind.__module__}.{kind.__qualname__}", tuple(show(getattr(value, name)) for name in names), names
        )
    return OutputForm(show(value), ())


class Symbols:
    """The texts of answers, and the outputs that each stands for.

    >>> symbols = Symbols()
    >>> one, two = (("net", "001 at 17:01"),), (("net", "001 at 17:02"),)
    >>> symbols.text(one), symbols.mask([one, two]), symbols.text(two)
    ('001 at 17:01', True, '001 at *')
    """

    def __init__(self) -> None:
        self.outputs: dict[str, PortOutputs] = {SILENT: ()}
        self.masked: set[tuple[str, int]] = set()

    def text(self, outputs: PortOutputs) -> str:
        """Return the text of an answer."""
        found = ", ".join(self.value(value) for _, value in outputs) or SILENT
        self.outputs.setdefault(found, outputs)
        return found

    def value(self, value: object) -> str:
        """Return the text of an output, with a `*` for each part that varies."""
        kind, parts, names = form(value)
        hidden = self.hidden(value)
        if isinstance(value, str):
            left = iter(range(len(parts)))
            text = _VARIABLE.sub(lambda found: MASK if next(left) in hidden else found[0], value)
            return text if text and text.isprintable() else show(text)
        if not hidden:
            return show(value)
        shown = (f"{name}={MASK if at in hidden else parts[at]}" for at, name in enumerate(names))
        return f"{kind.rpartition('.')[2]}({', '.join(shown)})"

    def hidden(self, value: object) -> set[int]:
        """Return the numbers of the parts of an output that vary."""
        kind, parts, _ = form(value)
        return {at for at in range(len(parts)) if (kind, at) in self.masked}

    def mask(self, answers: Sequence[PortOutputs]) -> bool:
        """Mask the parts in which answers of the same form differ; return whether that makes fewer of them."""
        groups = defaultdict[tuple[tuple[str, str], ...], list[list[OutputForm]]](list)
        for answer in answers:
            forms = [(port, form(value)) for port, value in answer]
            groups[tuple((port, each.kind) for port, each in forms)].append([each for _, each in forms])
        before = len(self.masked)
        for column in (column for group in groups.values() for column in zip(*group, strict=True)):
            for at, seen in enumerate(zip(*(each.parts for each in column), strict=True)):
                if len(set(seen)) > 1:
                    self.masked.add((column[0].kind, at))
        return len(self.masked) > before

    def item(self, port: str, value: object) -> Any:  # noqa: ANN401 -- an item of outputs
        """Return an output as a model has it: the value, what it has in common with others, or the end of a port."""
        if isinstance(value, Ended):
            return on(port, Ended) if port else Ended
        if not self.hidden(value):
            return value
        if isinstance(value, str):
            pattern = re.compile(self.pattern(value))
            return Where(lambda seen: pattern.fullmatch(seen) is not None, says=self.value(value), examples=(value,))
        kind, hidden = type(value), self.hidden(value)
        kept = {name: getattr(value, name) for at, name in enumerate(form(value).names) if at not in hidden}

        def alike(seen: object) -> bool:
            return isinstance(seen, kind) and all(getattr(seen, name) == each for name, each in kept.items())

        return Where(alike, says=self.value(value), examples=(value,))

    def pattern(self, text: str) -> str:
        """Return the regular expression of a text with parts that vary."""
        found, at, hidden = "", 0, self.hidden(text)
        for number, part in enumerate(_VARIABLE.finditer(text)):
            found += re.escape(text[at : part.start()])
            found += r"\S+" if number in hidden else re.escape(part[0])
            at = part.end()
        return found + re.escape(text[at:])
