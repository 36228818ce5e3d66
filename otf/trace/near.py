"""The allowed output nearest to the one seen, and the difference between them.

Works on the texts of a failure, which are Python literals and calls: it parses them but never runs them.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from otf.trace.verdict import Failure
from otf.values.text import shortened

ANY_ORDER: Final = "in any order: "
MOST: Final = 3  # more differences would not help
_PORT: Final = re.compile(r" on ([^\W\d]\w*)(?=, |$)")
_CUT: Final = re.compile(r"… \([\d,]+ characters\)")  # of a value that was too long
_AT: Final = re.compile(r" @ (\w+)$")
_DEFAULT: Final = ast.Name("its default")  # of a field that is not shown


class Difference(NamedTuple):
    """A part in which two values differ: its path, the value seen and the value allowed."""

    path: str
    seen: str
    allowed: str

    def __str__(self) -> str:
        """Return the difference as text."""
        return f"{self.path or 'it'} is {self.seen}, not {self.allowed}"


class Output(NamedTuple):
    """An output of a branch, with its port if the model names it."""

    text: str
    port: str = ""


class NearestOutput(NamedTuple):
    """An allowed output, and the parts in which the one seen differs from it."""

    output: Output
    differences: list[Difference]


def near(failure: Failure) -> Iterator[str]:
    """Yield lines that name the most likely mistake, if the values show it.

    >>> list(differences("Money(coins=1, of='me')", "Money(coins=2, of='me')"))
    [Difference(path='coins', seen='1', allowed='2')]
    """
    if failure.kind == "missing":
        yield from _left_out(failure)
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
        yield f"  nearest allowed: {shortened(found.output.text)}"
        yield from (f"                   {each}" for each in found.differences)


def nearest(failure: Failure, allowed: Iterable[Output]) -> NearestOutput | None:
    """Return the output that differs least from the one seen; None if all differ in more than a few parts."""
    seen, before = without_port(failure.seen).text, {without_port(text).text for text in failure.before}
    compared = [(output, _few(differences(seen, output.text))) for output in allowed]
    candidates = [NearestOutput(output, found) for output, found in compared if found and output.text not in before]
    # an output that differs in one part is nearer than one that differs as a whole
    return min(candidates, key=lambda each: (not each.differences[0].path, len(each.differences)), default=None)


def alternatives(failure: Failure) -> list[Output]:
    """Return the outputs that could have come instead, each once; empty if the model allows no further output."""
    left = [rest(outputs, failure.before) for outputs in branches(failure)]
    return list(dict.fromkeys(output for outputs in left for output in outputs))


def _left_out(failure: Failure) -> Iterator[str]:
    # if nothing came, the allowed outputs explain enough
    if not failure.before:
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


def without_port(text: str) -> Output:
    """Split an output from its port, if its text has one."""
    bare, _, port = text.rpartition(" on ")
    return Output(bare, port) if bare and port.isidentifier() else Output(text)


def rest(outputs: Sequence[Output], seen: Iterable[str]) -> list[Output]:
    """Return the outputs of a branch that were not seen yet; empty if something else was seen."""
    left = list(outputs)
    for text in seen:
        at = next((at for at, output in enumerate(left) if output.text == without_port(text).text), None)
        if at is None:
            return []
        del left[at]
    return left


def _few(found: Iterable[Difference] | None) -> list[Difference]:
    several = [] if found is None else list(found)
    return several if len(several) <= MOST else []


def differences(seen: str, allowed: str) -> list[Difference] | None:
    """Return the differences of two values of one type; None if the types differ or they are not plain values."""
    one, other = parsed(seen), parsed(allowed)
    if isinstance(one, ast.Call) and isinstance(other, ast.Call) and _same(one.func, other.func):
        return list(_compared(one, other, ""))
    return None


def _compared(one: ast.expr, other: ast.expr, path: str) -> Iterator[Difference]:
    inner = _inner(one, other, path)
    if inner is None:
        if not _same(one, other):
            yield Difference(path, ast.unparse(one), ast.unparse(other))
        return
    for left, right, where in inner:
        yield from _compared(left, right, where)


def _inner(one: ast.expr, other: ast.expr, path: str) -> list[tuple[ast.expr, ast.expr, str]] | None:
    """Return the corresponding parts of two values; None if they must be compared as a whole."""
    match one, other:
        case (ast.Call(), ast.Call()) if _same(one.func, other.func) and len(one.args) == len(other.args):
            dot = f"{path}." if path else ""
            left, right = _named(one), _named(other)
            if one.args and left.keys() != right.keys():
                return None
            named = [(left.get(name, _DEFAULT), right.get(name, _DEFAULT), f"{dot}{name}") for name in left | right]
            plain = zip(one.args, other.args, strict=True)
            return [*((left, right, f"{path}[{at}]") for at, (left, right) in enumerate(plain)), *named]
        case (ast.Tuple() | ast.List(), ast.Tuple() | ast.List()) if _alike(one, other):
            elements = zip(one.elts, other.elts, strict=True)
            return [(left, right, f"{path}[{at}]") for at, (left, right) in enumerate(elements)]
        case _:
            return None


def _alike(one: ast.Tuple | ast.List, other: ast.Tuple | ast.List) -> bool:
    return type(one) is type(other) and len(one.elts) == len(other.elts)


def _named(call: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def parsed(text: str) -> ast.expr | None:
    """Return a text as a Python expression, or None if it is not one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a text that is not Python needs no warning
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
