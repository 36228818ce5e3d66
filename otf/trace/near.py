"""The allowed output nearest to the one seen, and the difference between them.

Works on the texts of a failure, which are Python literals and calls: it parses them but never runs them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from otf.trace.differing import Difference, few
from otf.trace.texts import Output, in_row, parsed, without_port
from otf.trace.verdict import Failure

ANY_ORDER: Final = "in any order: "
TYPES: Final = {"str", "bytes", "int", "float"}
SPONTANEOUS: Final = "an output that the model emits by itself"
COMPARED: Final = 100  # outputs: a long one takes some 15 ms
_PORT: Final = re.compile(r" on ([^\W\d]\w*)(?=, |$)")
_CUT: Final = re.compile(r"… \([\d,]+ characters\)")  # of a value that was too long
_RAISED: Final = re.compile(r", line \d+, in [^()]*\)['\"]\)$")  # by a line of the user's codec
_AT: Final = re.compile(r" @ (\w+)$")


class NearestOutput(NamedTuple):
    """An allowed output, and the parts in which the one seen differs from it."""

    output: Output
    differences: list[Difference]


def near(failure: Failure) -> Iterator[str]:
    """Yield lines that name the most likely mistake, if the values show it."""
    if failure.kind == "missing":
        yield from _left_out(failure)
    elif failure.kind == "undecodable":
        if _RAISED.search(failure.seen):
            yield "  remark:          `decode` raised this: if the codec is wrong, and not the system, mend that line"
    elif any(state.orders for state in failure.allowed) and failure.kind in {"wrong", "unasked"}:
        # it is unknown which input this output answers, so a guess would be one of many
        yield "  remark:          in no order of these inputs does the model allow all outputs that were seen"
    elif _CUT.search(failure.seen):
        yield "  remark:          this output is too long to be compared here; `otf show` with --whole has all of it"
    elif failure.seen in failure.before:
        yield "  remark:          the same output came before in this step: was it sent twice?"
    elif failure.kind in {"wrong", "unasked"}:
        allowed = list(dict.fromkeys(output for outputs in branches(failure) for output in outputs))
        same = [output for output in allowed if output.text == without_port(failure.seen).text]
        yield from _misplaced(failure, same) if same else _nearest(failure, allowed)


def _misplaced(failure: Failure, same: Sequence[Output]) -> Iterator[str]:
    ports = [output.port for output in same if output.port not in {"", failure.port}]
    if len(ports) == len(same):
        yield f"  remark:          the model allows it on {' or '.join(ports)}, and it came on {failure.port}"
    else:
        yield "  remark:          the model allows it in this step: did it come before another output of its port?"


def _nearest(failure: Failure, allowed: Sequence[Output]) -> Iterator[str]:
    found = nearest(failure, allowed)
    if found is not None:
        yield f"  nearest allowed: {in_row(found.output.text)}"
        yield from (f"                   {each}" for each in found.differences)
        yield from (f"  remark:          {each}" for each in map(_of_types, found.differences) if each)


def _of_types(difference: Difference) -> str:
    """Return a remark on a part whose type is not the one that the model expects; "" for any other part."""
    match [type(each.value).__name__ for each in map(parsed, difference[1:]) if isinstance(each, ast.Constant)]:
        case [seen, allowed] if seen != allowed and {seen, allowed} <= TYPES:
            says = f"{difference.path or 'it'} is of type {seen}, and the model expects {allowed}"
            return f"{says}: the model or the codec may be wrong, too"
        case _:
            return ""


def nearest(failure: Failure, allowed: Iterable[Output]) -> NearestOutput | None:
    """Return the output that differs least from the one seen; None if all differ in more than a few parts."""
    seen, before = without_port(failure.seen).text, {without_port(text).text for text in failure.before}
    compared = [(output, few(seen, output.text)) for output in islice(allowed, COMPARED)]
    candidates = [NearestOutput(output, found) for output, found in compared if found and output.text not in before]
    # an output that differs in one part is nearer than one that differs as a whole
    return min(candidates, key=lambda each: (not each.differences[0].path, len(each.differences)), default=None)


def alternatives(failure: Failure) -> list[Output]:
    """Return the outputs that could have come instead, each once; empty if the model allows no further output."""
    if lacks_spontaneous(failure):
        return [Output(SPONTANEOUS, "")]
    left = [rest(outputs, failure.before) for outputs in branches(failure)]
    return list(dict.fromkeys(output for outputs in left for output in outputs))


def lacks_spontaneous(failure: Failure) -> bool:
    """Return whether an output is missing although all outputs of the step's own transitions came."""
    found = [*branches(failure)] if failure.kind == "missing" and failure.before else []
    seen = [*map(without_port, failure.before)]
    return bool(found) and all(_less(seen, outputs) is not None for outputs in found)


def _left_out(failure: Failure) -> Iterator[str]:
    # if nothing came, the allowed outputs explain enough
    if not failure.before:
        return
    if lacks_spontaneous(failure):
        yield f"  did not come:    {SPONTANEOUS}, by a timer or `emits`, after these"
        return
    left = [rest(outputs, failure.before) for outputs in branches(failure)]
    missing = [", ".join(output.text for output in outputs) for outputs in left if outputs]
    if missing and len(missing) == len(left):
        yield f"  did not come:    {' or '.join(dict.fromkeys(missing))}"


def branches(failure: Failure) -> Iterator[list[Output]]:
    """Yield the outputs of each branch, one by one."""
    for state in failure.allowed:
        for texts, _ in state.branches:
            yield [output for text in texts if text for output in _apart(text)]


def _apart(text: str) -> list[Output]:
    """Return the outputs of a transition's item; `AnyOrder` has several, and a port may follow."""
    whole = without_port(text)
    if not whole.text.startswith(ANY_ORDER):
        return [whole]
    # several messages may each name their port, which Python cannot parse
    readable = _PORT.sub(r" @ \1", text.removeprefix(ANY_ORDER))
    several = f"({readable},)"
    tree = parsed(several)
    if not isinstance(tree, ast.Tuple):
        return [whole]
    each = [without_port(_AT.sub(r" on \1", ast.get_source_segment(several, part) or "")) for part in tree.elts]
    return [Output(part.text, part.port or whole.port) for part in each]


def rest(outputs: Sequence[Output], seen: Iterable[str]) -> list[Output]:
    """Return the outputs of a branch that were not seen yet; empty if the run saw anything that the branch lacks."""
    return _less(outputs, map(without_port, seen)) or []


def _less(whole: Iterable[Output], part: Iterable[Output]) -> list[Output] | None:
    """Return some outputs without others, each of which must be among them; None if one is not."""
    left = list(whole)
    for output in part:
        at = next((at for at, each in enumerate(left) if _same(output, each)), None)
        if at is None:
            return None
        del left[at]
    return left


def _same(one: Output, other: Output) -> bool:
    # a model need not name the port that its codec knows
    return one.text == other.text and (one.port == other.port or not (one.port and other.port))
