"""A failure in one line, by its values: the input, what was expected, and what came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from otf.trace.near import Difference, alternatives, branches, nearest, rest, without_port
from otf.trace.verdict import Failure

LONGEST: Final = 60  # characters of a value
MOST: Final = 2  # alternatives that are named


class BriefDifference(NamedTuple):
    """Two values by the parts in which they differ."""

    expected: str
    seen: str


def title(failure: Failure) -> str:
    """Return a failure in one line; of two values that are alike it has the parts that differ.

    >>> from otf.trace.verdict import Allowed, Signature
    >>> signature = Signature("wrong", "int", "Open", "OpenDone", "OpenDone")
    >>> allowed = Allowed("0", ((("OpenDone(file='a', size=1)",), "1"),))
    >>> print(title(Failure(signature, 3, 1, "Open()", "OpenDone(file='a', size=9)", "", allowed=(allowed,))))
    wrong: Open() -> expected OpenDone(size=1, …), seen OpenDone(size=9, …)
    """
    kind, signature = failure.kind, failure.signature
    if kind == "property":
        return str(signature)
    after = brief(failure.input) or "no input"
    if kind in {"late", "early"}:
        due = f": {failure.times[0].partition(':')[0]}" if failure.times else ""
        return f"{kind}: {after} -> {brief(failure.seen)}{due}"
    expected, seen = brief_difference(failure) or (_expected(failure), brief(came(failure)))
    return f"{kind}: {after} -> expected {expected}, seen {seen}"


def came(failure: Failure) -> str:
    """Return what was seen when the run failed."""
    return "nothing" if failure.seen == "nothing more" and not failure.before else failure.seen


def brief(text: str) -> str:
    """Return a value within the length of a title: of a long one the fields that fit, and its port."""
    if len(text) <= LONGEST:
        return text
    bare = without_port(text)
    if bare.port:
        return f"{brief(bare.text)} on {bare.port}"
    if re.match(r"[\w.]+\(", text) is None:
        return f"{text[: LONGEST - 2]} …"
    starts = (text[: each.start()] for each in re.finditer(", ", text[: LONGEST - 2]))
    # a comma may be part of a text, or of a value inside
    fields = [each for each in starts if each.count("(") - each.count(")") == 1 and not _within_text(each)]
    return f"{fields[-1]}, …)" if fields else f"{text.partition('(')[0]}(…)"


def _within_text(part: str) -> bool:
    return part.count("'") % 2 + part.count('"') % 2 > 0


def brief_difference(failure: Failure) -> BriefDifference | None:
    """Return the nearest output that was expected and the one seen; None if they are not alike."""
    options = alternatives(failure)
    found = nearest(failure, options) if failure.kind == "wrong" else None
    if found is None or not found.differences[0].path:
        return None
    parts = found.differences
    others = [each.text for each in options if each.text != found.output.text]
    return BriefDifference(
        _either([_parts(found.output.text, parts, [each.allowed for each in parts]), *others]),
        _parts(without_port(failure.seen).text, parts, [each.seen for each in parts]),
    )


def _parts(whole: str, differences: Sequence[Difference], values: Sequence[str]) -> str:
    head = whole.partition("(")[0]
    named = ", ".join(
        f"{each.path}={brief(value)}" if each.path[0] != "[" else brief(value)
        for each, value in zip(differences, values, strict=True)
    )
    return f"{head}({named})" if f"{head}({named})" == whole else f"{head}({named}, …)"


def _expected(failure: Failure) -> str:
    if failure.kind == "unasked":
        return "no output"
    if failure.kind == "missing":
        left = [", ".join(each.text for each in rest(outputs, failure.before)) for outputs in branches(failure)]
    else:
        left = [each.text for each in alternatives(failure)]
    return _either(filter(None, left)) or failure.signature.expected


def _either(texts: Iterable[str]) -> str:
    named = [*dict.fromkeys(map(brief, texts))]
    return " or ".join(named) if len(named) <= MOST else f"{named[0]} or {len(named) - 1:,} others"
