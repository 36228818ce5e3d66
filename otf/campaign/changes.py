"""Changes of a model: fingerprints of its transitions, and starting a folder anew for a changed model.

The traces of a campaign belong to its model; among traces of another model, otf would judge them wrongly. So it moves
them to a separate folder, with their journal, and nothing is lost. In the new campaign, new or changed transitions come
first.

Both files, `transitions.json` and `changed.json`, are data: reading them runs nothing, and a damaged or too long file
counts as missing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

import msgspec

from otf.campaign.journal_file import claim
from otf.campaign.journal_lines import JOURNAL, About, digest, named
from otf.campaign.journal_reader import Past
from otf.explore import explore
from otf.explore.graph import OPEN, SPONTANEOUS, Graph
from otf.runner.writer import put, writing
from otf.spec import Spec
from otf.strategy.pool import ChangedFirst
from otf.trace.reading import BAD_JSON

TRANSITIONS: Final = "transitions.json"
CHANGED: Final = "changed.json"
STATES: Final = 5_000  # of a model, nearest to its initial state: more would take longer than a short campaign lasts
MOST: Final = 0.5
"""With a larger share of changed transitions, a model counts as a new one, and no transition comes first."""
LARGEST: Final = 64 << 20  # bytes of a file

Data = TypeVar("Data")


class TransitionPrints(msgspec.Struct, frozen=True):
    """The fingerprints of a model's transitions by state and input, as digests; `whole`: it has no others.

    >>> from otf.spec import goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit)], False, ["press"])
    >>> prints = TransitionPrints.of(lamp)
    >>> len(prints.states), prints.whole, prints.changed(prints)
    (2, True, [])
    """

    states: dict[str, dict[str, str]]
    whole: bool = True

    @classmethod
    def of(cls, spec: Spec[Any, Any], seconds: float = float("inf")) -> TransitionPrints:
        """Return the fingerprints of a spec, as many as this time allows. Raises ModelError."""
        ends = monotonic() + seconds
        late = False

        def over() -> bool:
            nonlocal late
            late = late or monotonic() >= ends
            return late

        graph = explore(_until(spec, over), STATES)
        return cls(_prints(graph), graph.whole and not late)

    def changed(self, before: TransitionPrints) -> list[str]:
        """Return the new or changed transitions, each as `STATE INPUT`; none if most have changed.

        What lay beyond the bound of the earlier model is unknown, so not new.
        """
        found = [
            f"{state} {inp}"
            for state, inputs in self.states.items()
            for inp, now in inputs.items()
            if (was := before.states.get(state, {}).get(inp)) != now and (was or before.whole)
        ]
        return [] if len(found) > MOST * sum(map(len, self.states.values())) else found


def _until(spec: Spec[Any, Any], over: Callable[[], bool]) -> Spec[Any, Any]:
    """Return a spec that offers no inputs or spontaneous transitions once the time is over."""

    def inputs(state: Any) -> Iterable[Any]:  # noqa: ANN401 -- any state
        return () if over() else spec.inputs(state)

    return spec.remade(spec.step, spec.initial, inputs, spec.emits, spec.partial)


def _prints(graph: Graph) -> dict[str, dict[str, str]]:
    states = [digest(node.key) for node in graph.states]
    inputs = [digest(symbol.key) for symbol in graph.symbols]
    ways: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for arc in graph.arcs():
        target = "" if arc.target == OPEN else states[arc.target]
        ways[arc.source, arc.input].append(f"{graph.texts[arc.outputs]} {graph.times.get(arc, '')} {target}")
    emits = {source: sorted(found) for (source, inp), found in ways.items() if inp == SPONTANEOUS}
    targets: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for arc in graph.arcs():
        targets[arc.source, arc.input].add(arc.target)
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for (source, inp), texts in ways.items():
        if inp != SPONTANEOUS:
            # what the system may do by itself in the next state shows after this input
            after = [emits.get(target, []) for target in sorted(targets[source, inp])]
            found[states[source]][inputs[inp]] = _print(repr((sorted(texts), after)))
    return dict(found)


def _print(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class ChangedTransitions(msgspec.Struct, frozen=True):
    """The transitions of a model that come first, each as `STATE INPUT`."""

    changed: list[str] = []

    @classmethod
    def of(cls, folder: Path) -> ChangedTransitions:
        """Return those of a folder, none if it has none."""
        return read(folder / CHANGED, cls) or cls()

    def of_lane(self, lane: int, lanes: int) -> list[str]:
        """Return those that the paths of a lane look for: each transition belongs to one lane, whatever others do."""
        return [pair for pair in self.changed if int(_print(pair), 16) % lanes == lane]

    def first(self, lane: int, lanes: int) -> ChangedFirst | None:
        """Return what the paths of a lane look for first."""
        own = self.of_lane(lane, lanes)
        pairs = ((state, inp) for state, _, inp in (pair.partition(" ") for pair in own))
        return ChangedFirst(pairs, named, lanes) if own else None


def read(file: Path, kind: type[Data]) -> Data | None:
    """Return the content of a file, None if it is missing, damaged or too long."""
    with suppress(OSError, *BAD_JSON):
        # opening a pipe would block for ever
        if file.is_file() and file.stat().st_size <= LARGEST:
            return msgspec.json.decode(file.read_bytes(), type=kind)
    return None


SHARE: Final = 0.05  # of a campaign's time, for the fingerprints of its model
LONGEST: Final = 10.0  # seconds for them
_OWN: Final = re.compile(r"(path|saved|rerun)[-_].*")
_VERSION: Final = frozenset({"fingerprint", "otf"})


def renew(out: Path, about: About, spec: Spec[Any, Any], seconds: float) -> None:
    """Move the campaign in a folder aside if it belongs to an earlier model or version.

    Call it before using the folder, for a campaign that takes that many seconds. Raises UsageError if another run uses
    the folder, WriteError, ModelError.
    """
    past = Past(out)
    differs = set[str]() if past.about is None else _differences(past.about, about)
    if past.about is None or not differs or differs - _VERSION:
        return  # there is nothing, the same campaign continues, or it is refused: see `Past.check`
    lock = claim(out, JOURNAL, joins=True)
    try:
        now, before = _prints_in_time(spec, seconds), read(out / TRANSITIONS, TransitionPrints)
        _set_aside(out, past.about, _first(out, past, now, before))
        put(out / TRANSITIONS, msgspec.json.encode(now))
    finally:
        os.close(lock)


def keep_transitions(out: Path, spec: Spec[Any, Any], seconds: float) -> None:
    """Store the fingerprints of a model's transitions in the folder for later campaigns, unless they are there."""
    if not (out / TRANSITIONS).exists():
        put(out / TRANSITIONS, msgspec.json.encode(_prints_in_time(spec, seconds)))


def _prints_in_time(spec: Spec[Any, Any], seconds: float) -> TransitionPrints:
    return TransitionPrints.of(spec, min(SHARE * seconds, LONGEST))


def _differences(was: About, now: About) -> set[str]:
    one, other = was.parts(), now.parts()
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}


def _first(out: Path, past: Past, now: TransitionPrints, before: TransitionPrints | None) -> ChangedTransitions:
    """Return the changed transitions, with those that an earlier change left untried."""
    tried = past.knowledge(past.counted).visits
    left = [pair for pair in ChangedTransitions.of(out).changed if pair not in tried and _has(now, pair)]
    changed = [] if before is None else now.changed(before)
    return ChangedTransitions([*dict.fromkeys([*changed, *left])])


def _has(prints: TransitionPrints, pair: str) -> bool:
    state, _, inp = pair.partition(" ")
    return inp in prints.states.get(state, {})


def _set_aside(out: Path, was: About, first: ChangedTransitions) -> None:
    """Move the campaign in a folder to one below it; if killed, it continues the next time."""
    aside = _free_folder(out, str(was.header.get("fingerprint", "")))
    with writing(aside, "the folder of the earlier campaign"):
        aside.mkdir(exist_ok=True)
        for name in (TRANSITIONS, CHANGED):
            if (out / name).is_file():
                shutil.copyfile(out / name, aside / name)
    put(out / CHANGED, msgspec.json.encode(first))
    with writing(aside, "the earlier campaign"):
        for file in sorted(out.iterdir()):
            if _OWN.fullmatch(file.name) and file.is_file():
                file.replace(aside / file.name)
        # the last step: until then the folder belongs to the earlier model
        (out / JOURNAL).replace(aside / JOURNAL)


def _free_folder(out: Path, fingerprint: str) -> Path:
    """Return a folder without a campaign, or one to which an unfinished move was going."""
    name, number = re.sub(r"\W", "", fingerprint)[:16] or "unknown", 1
    while ((aside := out / f"before-{name}{f'~{number}' if number > 1 else ''}") / JOURNAL).exists():
        number += 1
    return aside
