"""What the paths of a campaign show of requirements, what they cover of the model, and which steps passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.campaign.results import PathResult
from otf.core import Monitor, Node, Oracle, RequirementEvidence, Symbol, View
from otf.errors import TraceError, UsageError
from otf.shrink import issue_of
from otf.spec.transition import requirements
from otf.strategy import Coverage, StrategyKind
from otf.trace.events import Event, Seen, Sent
from otf.trace.kinds import PassedStep
from otf.trace.reading import TraceReader, bounded
from otf.trace.requirements import RequirementRecord
from otf.trace.tagged import Registry
from otf.values import show

EVENTS: Final = 200  # after which other paths get a turn
WithMonitor: TypeAlias = Callable[[Event, Monitor], None]


def ignored(_event: Event, _monitor: Monitor) -> None:
    """Do nothing."""


async def new_evidence(
    record: RequirementRecord, path: PathResult, bench: Bench, oracle: Oracle, strategy: StrategyKind
) -> RequirementRecord:
    """Return what a path adds to a record: the requirements that it violates, and those that its trace shows.

    A strategy's goal may have requirements: they are decided if every possible state is a goal. It reads nothing if the
    model refers to no requirement, or if all are decided.
    """
    found, failure = RequirementRecord(), path.verdict.failure
    if failure is not None:
        known = bench.known_issue(failure)
        found.failed(failure, str(path.trace))
        found.violates(requirements(known.req) if known else (), str(path.trace))
    if record.open({*oracle.model.requirements, *strategy.req}):
        evidence = RequirementEvidence(found.reached, set(record.decided))

        def after(event: Event, monitor: Monitor) -> None:
            evidence.follow(event, monitor)
            if strategy.req and strategy.reached is not None:
                _reaches(strategy.reached, strategy.req, monitor, evidence)

        # a trace that cannot be read says nothing; its path still counts
        with suppress(OSError, TraceError):
            await _follow(path.trace, bench, oracle, ignored, after)
        found.decided = evidence.decided - record.decided
    found.reached = found.reached - record.reached
    found.violated = {name: trace for name, trace in found.violated.items() if name not in record.violated}
    return found


def _reaches(
    reached: Callable[[Any], bool], req: tuple[str, ...], monitor: Monitor, evidence: RequirementEvidence
) -> None:
    """Note the requirements of a goal: tried if a possible state is one, decided if all are."""
    belief = monitor.belief
    goals = [reached(node.value) for node in belief.nodes]
    if any(goals):
        evidence.reached.update(req)
    if goals and all(goals) and belief.settled and all(isinstance(each.position, Node) for each in belief.hypotheses):
        evidence.decided.update(req)


async def cover(coverage: Coverage, trace: Path, bench: Bench, oracle: Oracle) -> None:
    """Add what the trace of a path covers, as the strategy `covering` does while driving a path.

    Raises UsageError for a trace that cannot be read back. Otherwise its coverage would not count, and a goal such as
    "nothing new for ten minutes" would be reached at once.
    """
    last: tuple[View | None, Symbol | None] = (None, None)

    def sent(event: Event, monitor: Monitor) -> None:
        nonlocal last
        if isinstance(event, Sent):
            view = oracle.view(monitor.belief)
            coverage.note(*last, view)
            last = view, oracle.model.symbol(event.input)

    try:
        await _follow(trace, bench, oracle, sent)
    except (OSError, TraceError) as error:
        raise UsageError(f"what workers cover is read from their traces: {error}") from error


async def _follow(trace: Path, bench: Bench, oracle: Oracle, before: WithMonitor, after: WithMonitor = ignored) -> None:
    """Call `before` and `after` for each event of a trace with the monitor, up to its verdict."""
    monitor = Monitor(oracle)
    with trace.open("rb") as file:
        reader = TraceReader(bounded(file), str(trace))
        for number, read in enumerate(reader.events(Registry(bench.known_types, bench.made_at))):
            if number % EVENTS == 0:
                await checkpoint()
            before(read.event, monitor)
            if monitor.tell(read.event) is not None:
                return
            after(read.event, monitor)


LONGEST: Final = 2_000  # inputs of a path whose steps are evidence: following a longer one again takes a second
LAST: Final = 200  # of its steps


def passed_steps(oracle: Oracle, events: Sequence[Event]) -> Iterator[PassedStep]:
    """Yield the last passed steps of a failing path whose state before was certain."""
    answers = list[list[str]]()
    for event in events:
        if isinstance(event, Sent):
            answers.append([])
        elif isinstance(event, Seen) and answers:
            answers[-1].append(show(event.output))
    if len(answers) > LONGEST:
        return
    for step, outputs in list(zip(issue_of(oracle, events).steps[:-1], answers, strict=False))[-LAST:]:
        if len(step.nodes) == 1:
            (node,) = step.nodes
            yield PassedStep(show(node.value), show(step.input.value), ", ".join(outputs))
