"""A defect that spoils the outputs of several ports is one kind, whichever of them comes first."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from otf import Bench, Spec, goto, lines
from otf.adapter import Line
from otf.campaign import Campaign, Settings, Summary
from otf.codec.by_port import At, codecs
from otf.spec import Transition
from tests.runner.playing import Answer, hub, virtually

BOTH = "off says armed on the pad, and the siren chirps"
ONE = "off says light on the pad"
OTHER = "the siren still rings at off"


class Panel(NamedTuple):
    """An alarm: whether it is armed, and rings."""

    armed: bool = False
    rings: bool = False


def outputs(panel: Panel, inp: str) -> tuple[Panel, list[tuple[str, str]]]:
    """Return what an input of the pad does."""
    match inp:
        case "arm":
            return panel._replace(armed=True), [("pad", "armed"), ("siren", "chirp")]
        case "open" if panel.armed:
            return panel._replace(rings=True), [("siren", "ring")]
        case "off":
            return Panel(), [("pad", "off")]
        case _:
            return panel, [("pad", "well")]


def step(panel: Panel, inp: At) -> Iterator[Transition[Panel]]:
    """Answer on two ports."""
    then, said = outputs(panel, str(inp.message))
    yield goto(then, *(At(port, text) for port, text in said))


def faulty(panel: Panel, inp: str, faults: tuple[str, ...]) -> tuple[Panel, list[tuple[str, str]]]:
    """Return what an input does in a panel with faults."""
    then, said = outputs(panel, inp)
    if inp == "off" and panel.armed and BOTH in faults:
        said = [("pad", "armed"), ("siren", "chirp")]
    if inp == "off" and panel.armed and ONE in faults:
        said = [("pad", "light")]
    if inp == "off" and panel.rings and OTHER in faults:
        said = [*said, ("siren", "ring")]
    return then, said


def campaign(out: Path, *faults: str, seed: int = 7) -> Summary:
    """Return what a campaign finds: which port speaks first is left to chance."""
    random = Random(seed)

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line]]:
        panel = Panel()

        def answering(_port: str, data: bytes) -> list[Answer]:
            nonlocal panel
            panel, said = faulty(panel, data.decode(), faults)
            return [(random.choice((0.001, 0.003)), port, text.encode()) for port, text in said]

        async with hub(answering, "pad", "siren")() as found:
            yield found

    codec, inputs = lines({str: "{}"}), [At("pad", each) for each in ("arm", "open", "off", "look")]
    bench = Bench(Spec(step, Panel(), inputs), connect=connect, codec=codecs(pad=codec, siren=codec), quiescence=0.02)
    return virtually(Campaign(bench, Settings(out=out, traces=20, steps=20, seed=1, mode="strict")).run)


def test_one_kind_for_both_ports(tmp_path: Path) -> None:
    """Its shortest run is the same; where chance leaves a longer one for the other port, the shorter one shows both."""
    for seed in range(4):
        groups = campaign(tmp_path / str(seed), BOTH, seed=seed).failures.values()
        assert [each.shrunk.steps for each in groups if each.shrunk is not None] == [2]


def test_two_defects_on_two_ports_stay_two(tmp_path: Path) -> None:
    """The siren rings only where it rang before: that takes one input more, and by chance two."""
    found = list[list[int]]()
    for seed in range(3):
        groups = campaign(tmp_path / str(seed), ONE, OTHER, seed=seed).failures.values()
        found.append(sorted(each.shrunk.steps for each in groups if each.shrunk is not None))
    assert [2, 3] in found
    assert [len(each) for each in found] == [2, 2, 2]
