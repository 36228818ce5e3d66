"""A failure on one line, by its values: the input, what was expected, and what came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from otf.trace.clock import overdue_timer
from otf.trace.differing import Difference
from otf.trace.near import SPONTANEOUS, alternatives, branches, lacks_spontaneous, nearest, rest
from otf.trace.texts import LONGEST, brief, without_port
from otf.trace.verdict import POSSIBLE, Failure

MOST: Final = 2  # the most alternatives, or inputs sent at once, that are named


class BriefDifference(NamedTuple):
    """The parts in which an expected output and the one seen differ."""

    expected: str
    seen: str


def title(failure: Failure) -> str:
    """Return a failure on one line; of two similar values, the line shows only the parts that differ.

    >>> from otf.trace.verdict import Allowed, Signature
    >>> signature = Signature("wrong", "int", "Open", "OpenDone", "OpenDone")
    >>> allowed = Allowed("0", ((("OpenDone(file='a', size=1)",), "1"),))
    >>> print(title(Failure(signature, 3, 1, "Open()", "OpenDone(file='a', size=9)", "", allowed=(allowed,))))
    wrong: Open() -> expected OpenDone(size=1, …), seen OpenDone(size=9, …)
    """
    kind, signature = failure.kind, failure.signature
    if kind == "property":
        return str(signature)
    after = _inputs(failure) or "no input"
    since = overdue_timer(failure)
    if kind in {"late", "early"} and not since:
        due = f": {failure.times[0].partition(':')[0]}" if failure.times else ""
        return f"{kind}: {after} -> {brief(failure.seen)}{due}"
    if since:
        by = failure.times[0].rpartition(" and ")[2].removesuffix(" of the run")
        return f"{kind}: {_overdue(failure, since)} did not come by {by}"
    expected, seen = brief_difference(failure) or (_expected(failure), brief(came(failure)))
    if kind == "undecodable":  # why it does not decode stands below
        seen = f"{failure.seen.partition(', why=')[0]}, …)"
    return f"{kind}: {after} -> expected {expected}, seen {seen}"


def _inputs(failure: Failure) -> str:
    sent = failure.input.split("; ")
    if len(sent) != failure.together:
        return brief(failure.input)
    more = [f"{len(sent) - MOST} more"] if len(sent) > MOST else []
    return " & ".join([*map(brief, sent[:MOST]), *more])


def _overdue(failure: Failure, since: str) -> str:
    """Return the output due since then, with the named timer that causes it, if any."""
    timer = since.partition("the timer '")[2].partition("' was started")[0]
    ways = ((way, after) for state in failure.allowed for way, after in zip(state.branches, state.after, strict=False))
    texts = [", ".join(filter(None, outputs)) for (outputs, _), after in ways if timer and after == timer]
    return f"{_either(failure, texts) if texts else _expected(failure)}{f' (timer {timer})' if timer else ''}"


def came(failure: Failure) -> str:
    """Return what was seen when the run failed."""
    return "nothing" if failure.seen == "nothing more" and not failure.before else failure.seen


def brief_difference(failure: Failure) -> BriefDifference | None:
    """Return how the output seen differs from the nearest expected one; None if the two are not alike."""
    options = alternatives(failure)
    found = nearest(failure, options) if failure.kind == "wrong" else None
    if found is None or not found.differences[0].path:
        return None
    parts = found.differences
    others = [each.text for each in options if each.text != found.output.text]
    return BriefDifference(
        _either(failure, [_parts(found.output.text, parts, [each.allowed for each in parts]), *others]),
        _parts(without_port(failure.seen).text, parts, [each.seen for each in parts]),
    )


def _parts(whole: str, differences: Sequence[Difference], values: Sequence[str]) -> str:
    head = whole.partition("(")[0]
    each = [
        f"{each.path}={brief(value)}" if each.path[0] != "[" else brief(value)
        for each, value in zip(differences, values, strict=True)
    ]
    lengths = accumulate(len(part) + len(", ") for part in each)
    room = LONGEST - len(f"{head}(…)")
    named = ", ".join(each[: max(1, sum(length <= room for length in lengths))])
    return f"{head}({named})" if f"{head}({named})" == whole else f"{head}({named}, …)"


def _expected(failure: Failure) -> str:
    if failure.kind == "unasked":
        return "no output"
    if lacks_spontaneous(failure):
        return SPONTANEOUS
    if failure.kind == "missing":
        left = [", ".join(each.text for each in rest(outputs, failure.before)) for outputs in branches(failure)]
    else:
        left = [each.text for each in alternatives(failure)]
        if not left and failure.kind == "wrong" and failure.before and any(branches(failure)):
            return "nothing more"
    return _either(failure, filter(None, left)) or failure.signature.expected


def _either(failure: Failure, texts: Iterable[str]) -> str:
    named = [*dict.fromkeys(map(brief, texts))]
    least = "at least " if POSSIBLE in failure.note else ""
    return " or ".join(named) if len(named) <= MOST else f"{named[0]} or {least}{len(named) - 1:,} others"
