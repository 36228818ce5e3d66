"""`otf compare` of two models: where their answers differ, and what their systems answer there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from otf.adapter import Bench
from otf.cli.benches import load, model, named
from otf.cli.output import document, say
from otf.cli.signals import interruptible
from otf.cli.tools.report import write_page
from otf.explore import Graph, explore
from otf.explore.differences import AnswerDifference, Differences, differences, plain
from otf.learn.listening import answers_to
from otf.learn.symbols import Symbols
from otf.report.aligned import fields
from otf.report.compare_page import text_page
from otf.spec import Spec
from otf.trace.result import counted

LEARNED: Final = "learned.py"
JOURNAL: Final = "campaign.jsonl"
LIMIT: Final = 20_000  # states of each model
DRIVEN: Final = 20  # differences to send to the systems
FILES: Final = (".aut", ".dot", ".gv")


class ShownDifference(NamedTuple):
    """A difference, and each system's answer to its last input; "" if it was not sent."""

    difference: AnswerDifference
    a: str = ""
    b: str = ""


def are_models(a: str, b: str) -> bool:
    """Return whether two names are those of models, not of traces or campaigns."""
    return all(map(_is_model, (a, b)))


def _is_model(name: str) -> bool:
    path = Path(name)
    if path.is_dir():
        return (path / LEARNED).is_file() and not (path / JOURNAL).exists()
    return name != "-" and path.suffix != ".jsonl"


def compare_models(a: str, b: str, sets: Mapping[str, object], page: Path | None, *, as_json: bool) -> bool:
    """Show where the answers of two models differ; return whether they do."""
    names = [str(Path(each) / LEARNED) if Path(each).is_dir() else each for each in (a, b)]
    one, other = (explore(model(name, dict(sets)), LIMIT) for name in names)
    found = differences(one, other)
    benches = [_bench(name, sets) for name in names]
    shown = [*_driven(found.found, benches)]
    head, said = [*_heads(a, b, (one, other), found)], [[*_difference(*each)] for each in enumerate(shown, 1)]
    if page is not None:
        write_page(page, text_page(head, said))
    if as_json:
        document(_data(a, b, found, shown))
    else:
        say("\n".join([*head, *(line for lines in said for line in lines)]))
        if page is not None:
            say(f"page: {page}")
    return found.any


def _bench(name: str, sets: Mapping[str, object]) -> Bench | None:
    """Return the bench of a system; a file of another tool or a bare model has none."""
    if name.endswith(FILES) or isinstance(named(name), Spec):
        return None
    return load(name, sets)


def _driven(found: Sequence[AnswerDifference], benches: Sequence[Bench | None]) -> Iterator[ShownDifference]:
    """Yield the differences, the first ones with the answers of both systems."""
    one, other = benches
    if one is None or other is None:
        yield from map(ShownDifference, found)
        return
    for each in found[:DRIVEN]:
        yield ShownDifference(each, _answer(one, each.inputs), _answer(other, each.inputs))
    yield from map(ShownDifference, found[DRIVEN:])


def _answer(bench: Bench, inputs: Sequence[str]) -> str:
    """Return what a bench's system answers to the last of these inputs."""
    known = {plain(each): each for each in explore(bench.spec, LIMIT).inputs}
    if not inputs or any(each not in known for each in inputs):
        return ""
    answers = interruptible(partial(answers_to, bench, [known[each] for each in inputs])).value or [()]
    return "the connection has ended" if answers[-1] is None else Symbols().text(answers[-1])


def _data(a: str, b: str, found: Differences, shown: Sequence[ShownDifference]) -> dict[str, Any]:
    return {
        "a": a,
        "b": b,
        "differ": found.any,
        "whole": found.whole,
        "only_a": found.only_one,
        "only_b": found.only_other,
        "differences": [
            {
                "inputs": list(each.difference.inputs),
                "a": list(each.difference.one),
                "b": list(each.difference.other),
                "places": each.difference.places,
                "root": at < found.roots,
                "wider": each.difference.wider,
                "system_a": each.a,
                "system_b": each.b,
            }
            for at, each in enumerate(shown)
        ],
    }


def _heads(a: str, b: str, graphs: tuple[Graph, Graph], found: Differences) -> Iterator[str]:
    """Yield the result in a line, then both models and what only one of them has."""
    more = "" if found.whole else ", as far as they were followed"
    if not found.any:
        yield f"no difference: they answer all inputs that both have in the same way{more}"
    else:
        inputs = f"{counted(len(found.only_one), 'input')} only in A, {len(found.only_other):,} only in B"
        inputs += ", none in both" * (len(found.only_one) == len({*map(plain, graphs[0].inputs)}))
        yield f"they differ: {counted(len(found.found), 'difference')} in their answers{more}; {inputs}"
    for side, name, graph in zip("AB", (a, b), graphs, strict=True):
        yield f"{side}: {name}, {counted(len(graph.values), 'state')}, {counted(len(graph.inputs), 'input')}"
    for side, inputs_of in (("A", found.only_one), ("B", found.only_other)):
        if inputs_of:
            yield f"only {side} has the inputs {', '.join(inputs_of)}"
    if len(found.found) > 1:
        sent = f"; if both are benches, the first {DRIVEN} are sent to the systems" if len(found.found) > DRIVEN else ""
        behind = len(found.found) - found.roots
        last = f"; the last {behind:,} only show behind another one, and may be its consequences" * (behind > 0)
        yield f"the nearest first{last}{sent}:"


def _difference(number: int, shown: ShownDifference) -> Iterator[str]:
    way, inp, one, other, places = shown.difference
    where = f", at {places} places" if places > 1 else ""
    wider = shown.difference.wider
    more = f": {wider} allows what {'B' if wider == 'A' else 'A'} never does" if wider else ""
    yield f"{number}. after {counted(len(shown.difference.inputs), 'input')}{where}{more}"
    yield from (f"      {before} / {answer}" for before, answer in way)
    yield f"  A   {inp} / {' or '.join(one)}" + _told(shown.a)
    yield f"  B   {inp} / {' or '.join(other)}" + _told(shown.b)
    changed = fields(f"<- {' or '.join(one)}", f"<- {' or '.join(other)}")
    yield from (f"      differs in {each.what}: {each.a} in A, {each.b} in B" for each in changed)
    if shown.a and shown.a == shown.b:
        yield "  both systems answer the same there: a model is wrong (if it was learnt, learn on)"


def _told(answer: str) -> str:
    return f"    (the system: {answer})" if answer else ""
