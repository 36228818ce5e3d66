"""How many defects are behind failures: one wrong step may explain several kinds, and one kind may be two defects.

A system that forgets to remove a member answers wrongly whenever members matter: five kinds of failure, one defect.
What they share is a step before the failing one, with a right answer and a wrong state. To find such a step in a shrunk
run, ask the model: is there a state from which everything after the step is right? The first such step is the cause.

A defect of the output itself often looks like that too. So ask the system: most inputs that tell the two states apart
must fail after that step, and what follows must not fail if another way leads to the state. A system may also keep what
the model drops, and restore it under its old name after `Join; Leave; Join`. So what the two states differ in, a name
or a member, tells the defects of a step apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Generator, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice, product
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from otf.core import Monitor, Node, Oracle, Symbol
from otf.core.timing import FOREVER, Span
from otf.shrink.issue import Issue, NodeSet, completed, issue_of
from otf.shrink.shortest_ways import ModelMap
from otf.trace.alike import head
from otf.trace.events import Event, Guess, Sent
from otf.trace.verdict import Signature, Verdict
from otf.values import show

LONGEST: Final = 50  # steps of a shrunk run to look at
STATES: Final = 200  # states to try for one step
INPUTS: Final = 200  # inputs to compare in two states
MOST: Final = 0.6  # share of the inputs that tell two states apart that has to fail


RUNS: Final = 100  # of the system, at most
TOLD: Final = 8  # runs to try after a step
DEEP: Final = 3  # inputs of such a run
PAIRS: Final = 40  # states, or pairs of them, in which to look for one more input
FURTHER: Final = 20  # states to try after a step that are further away
FAR: Final = 3  # runs, at least, that have to show such a state; all of them have to
TRIED: Final = 3  # wrong states to try after a step, if they differ in the same fields

Defect: TypeAlias = tuple[str, tuple[str, ...]]
"""What deviations of one defect share: what the input does, and the fields in which the wrong state differs."""
Inputs: TypeAlias = tuple[Symbol, ...]
Answer: TypeAlias = Signature | Literal[False] | None
"""How the system fails at the last input of a run; False if it passes, None if it fails earlier."""
Found = TypeVar("Found")
Asking: TypeAlias = Generator[Inputs, Answer, Found]
"""It yields inputs of runs, receives the answers, and returns the conclusion."""
Replies: TypeAlias = dict[Inputs, Answer]
"""The answers so far."""


class Deviation(NamedTuple):
    """A step that may have led to a wrong state: the inputs up to it, and runs from there that would reveal it.

    `predicted` is what they end with in the wrong state, if it is `far` from the right one. `elsewhere` is a run that
    reaches the state in another way. After the step the run passes, or it fails with another signature, `also`, and so
    shows two defects.
    """

    defect: Defect
    inputs: Inputs = ()
    shown_by: tuple[Inputs, ...] = ()
    elsewhere: Inputs = ()
    also: Signature | None = None
    predicted: tuple[frozenset[str], ...] = ()
    far: bool = False


class ShrunkFailure(NamedTuple):
    """A shrunk failure: its signature, and the steps that may have caused it."""

    signature: Signature | None
    deviations: tuple[Deviation, ...] = ()


def shrunk_failure(oracle: Oracle, events: Sequence[Event]) -> ShrunkFailure:
    """Return the steps of a shrunk run that may have led to the wrong state."""
    issue = issue_of(oracle, events)
    # no single state explains what a property says about a whole run
    whole = issue.signature is not None and issue.signature.kind == "property"
    if whole or len(issue) > LONGEST:
        return ShrunkFailure(issue.signature)
    return ShrunkFailure(issue.signature, tuple(_deviations(oracle, events, issue)))


def one_defect(failures: Sequence[ShrunkFailure]) -> Asking[dict[int, int]]:
    """Find failures that the same step explains, each with the other failure to count it with."""
    defects = defaultdict[Defect, list[int]](list)
    for at, failure in enumerate(failures):
        for defect in dict.fromkeys(each.defect for each in failure.deviations if each.also is None):
            defects[defect].append(at)
    known = {each.signature for each in failures}
    found, firsts, answers = dict[int, int](), set[int](), Replies()
    for defect, members in sorted(defects.items(), key=lambda each: (-len(each[1]), each[0])):
        left = [at for at in range(len(failures)) if at not in found and at not in firsts]
        together = list[int]()
        for at in left if len({*left} & {*members}) > 1 else ():
            if (yield from _is_caused(defect, failures[at], known, answers)):
                together.append(at)
        if len({*together} & {*members}) > 1:
            firsts.add(together[0])
            found.update(dict.fromkeys(together[1:], together[0]))
    return dict(sorted(found.items()))


def _is_caused(
    defect: Defect, failure: ShrunkFailure, known: Container[Signature | None], answers: Replies
) -> Asking[bool]:
    # a failure explained by this defect and another known one is not a third defect
    ours = [each for each in failure.deviations if each.defect == defect and (each.also is None or each.also in known)]
    shown = yield from _shown(ours, failure.signature, answers)
    # a wrong state stays wrong for a while
    earlier = (each for each in failure.deviations if each.also is None and each.defect[0] != defect[0])
    first = [each for each in earlier if len(each.inputs) < shown]
    return shown > 0 and not (yield from _shown(first, failure.signature, answers))


def _shown(deviations: Iterable[Deviation], signature: Signature | None, answers: Replies) -> Asking[int]:
    """Return after how many inputs the system shows one of these wrong states; 0 if it shows none."""
    for deviation in deviations:
        if (yield from _is_shown(deviation, signature, answers)):
            return len(deviation.inputs)
    return 0


def _is_shown(deviation: Deviation, signature: Signature | None, answers: Replies) -> Asking[bool]:
    elsewhere: Answer = False
    if deviation.elsewhere:
        elsewhere = yield from asked(deviation.elsewhere, answers)
    # another defect may hide what this one would show there; so may this one, if its step is on the way
    hides = deviation.far and deviation.defect[0] in map(what_it_does, deviation.elsewhere)
    if (elsewhere is None and not hides) or (elsewhere is not False and elsewhere == signature):
        return False
    told, exact = dict[str, bool](), list[bool]()
    for run, predicted in zip(deviation.shown_by, deviation.predicted, strict=True):
        fails = yield from asked((*deviation.inputs, *run), answers)
        told[what_it_does(run[-1])] = told.get(what_it_does(run[-1]), False) or bool(fails)
        exact.append(bool(fails and fails.exact and fails.exact.seen in predicted))
    if deviation.far:  # among many states, some explain a few wrong outputs by chance
        return len(exact) >= FAR and all(exact)
    return bool(told) and sum(told.values()) >= MOST * len(told)


def asked(run: Inputs, answers: Replies) -> Asking[Answer]:
    """Return the answer to a run; None if it is unknown and there were too many runs already."""
    if run not in answers and len(answers) < RUNS:
        answers[run] = yield run
    return answers.get(run)


def what_it_does(inp: Symbol) -> str:
    """Return the head of an input, such as its name without fields."""
    return head(show(inp.value))


def _deviations(oracle: Oracle, events: Sequence[Event], issue: Issue) -> Iterator[Deviation]:
    sent = [at for at, event in enumerate(events) if isinstance(event, Sent)]
    seen, tried = list[Node](), Counter[tuple[int, Defect, Signature | None]]()
    for number, step in enumerate(issue.steps[:-1]):
        # a timer may have expired before; its own step is one that waits, and is certain again
        seen += sorted(step.nodes, key=lambda node: show(node.value))
        if len(step.target) != 1:
            continue
        (right,), elsewhere = step.target, None
        near = dict.fromkeys((*reversed(seen), *_after(oracle, seen[-len(step.nodes) :])))
        for node in _around(oracle, near):
            far = node not in near
            defect = what_it_does(step.input), (*sorted(_differing(right.value, node.value)),)
            group, most = (number, FURTHER) if far else (-1, TRIED)
            if node is right or tried[group, defect, None] == most:
                continue
            fails = _failures_from(oracle, node, events[sent[number + 1] :])
            if fails is None or len(fails) > 1 or issue.signature in fails:
                continue
            also = next(iter(fails), None)
            tried[group, defect, also] += 1
            if tried[group, defect, also] <= most:
                elsewhere = _elsewhere(oracle, issue, number) if elsewhere is None else elsewhere
                told = _told_apart(oracle, right, node)
                runs, says = (*told,), (*told.values(),)
                yield Deviation(defect, issue.inputs[: number + 1], runs, elsewhere, also, says, far)


def _elsewhere(oracle: Oracle, issue: Issue, number: int) -> Inputs:
    """Return the run with another way to the state after a step; empty if there is none.

    Best is a way without that step. After a loop, the shortest way is another one too.
    """
    step, rest = issue.steps[number], issue.inputs[number + 1 :]
    for avoided in (frozenset([step[:2]]), frozenset[tuple[NodeSet, Symbol]]()):
        ways = ModelMap(oracle, avoided=avoided)
        way = () if ways.start == step.target else completed(ways.path(ways.start, step.target))
        found = None if way is None else tuple(each.input for each in way)
        if found is not None and found != issue.inputs[: number + 1]:
            return *found, *rest
    return ()


def _after(oracle: Oracle, nodes: Iterable[Node]) -> dict[Node, None]:
    """Return the states to which one input leads from these."""
    pairs = ((node, inp) for node in islice(nodes, PAIRS) for inp in oracle.model.offered(node).all[:INPUTS])
    moves = (move for pair in pairs for move in oracle.model.moves(*pair))
    return dict.fromkeys(islice((each.target for each in moves if each.target is not None), STATES))


def _around(oracle: Oracle, near: dict[Node, None]) -> dict[Node, None]:
    """Return these states and those around them, the nearest first."""
    found, level = dict(near), near
    while level and len(found) < STATES:
        level = {node: None for node in _after(oracle, level) if node not in found}
        found.update(level)
    return found


def _differing(right: object, wrong: object) -> Iterator[str]:
    if is_dataclass(right) and type(right) is type(wrong):
        yield from (each.name for each in fields(right) if getattr(right, each.name) != getattr(wrong, each.name))


def _failures_from(oracle: Oracle, node: Node, events: Sequence[Event]) -> set[Signature] | None:
    """Return what fails in a run if the system starts in this state; None if its end cannot be judged."""
    monitor = Monitor(oracle, oracle.anywhere([node], Span(-FOREVER, 0.0)))
    ended: Verdict | None = None
    for event in events:
        if ended is not None and isinstance(event, Sent):
            if not monitor.guess():
                return None
            monitor.tell(Guess(event.at))
            ended = None
        ended = ended or monitor.tell(event)
    ended = ended or monitor.end()
    failures = [*filter(None, (ended.failure, *ended.behind))]
    return None if ended.truncated else {each.signature for each in failures}


def _told_apart(oracle: Oracle, right: Node, wrong: Node) -> dict[Inputs, frozenset[str]]:
    """Return runs that tell the states apart, and what the wrong one says: of like inputs, one answered and one not.

    They have one input; two or three if none does: what a cache will forget shows after one more is in it.
    """
    pairs = {(right, wrong): Inputs()}
    for _ in range(DEEP):
        found, then = dict[tuple[str, bool], tuple[Inputs, frozenset[str]]](), dict[tuple[Node, Node], Inputs]()
        for (one, other), run in islice(pairs.items(), PAIRS):
            for inp in oracle.model.offered(one).all[:INPUTS]:
                ours, theirs = (oracle.model.moves(node, inp) for node in (one, other))
                says, expected = {move.texts for move in theirs}, {move.texts for move in ours}
                if says != expected and says and expected:
                    texts = frozenset(text for each in says for text in each)
                    found.setdefault((what_it_does(inp), any(says)), ((*run, inp), texts))
                for at, to in product(ours, theirs) if says == expected else ():
                    if at.target is not None and to.target is not None and at.target is not to.target:
                        then.setdefault((at.target, to.target), (*run, inp))
        if found:
            return dict(islice(found.values(), TOLD))
        pairs = then
    return {}
