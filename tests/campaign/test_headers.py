"""Headers: enough to judge a trace again, and to know whether the model is still the same."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from otf.campaign import Settings
from otf.campaign.settings import header
from otf.spec import Spec, Transition, fingerprint, goto, restrict, total
from tests.campaign.machine import COFFEE, bench

MODEL = """
from functools import partial
from otf.spec import Spec, goto, restrict, total

def helper(state):
    return state + 1

def step(state, inp):
    yield goto(helper(state))

def offers(state):
    return ["go"]

class Step:
    def __call__(self, state, inp):
        yield goto(helper(state))

    def method(self, state, inp):
        yield goto(helper(state))

SPECS = {
    "function": Spec(step, 0, ["go"]),
    "inputs": Spec(step, 0, offers),
    "object": Spec(Step(), 0, ["go"]),
    "method": Spec(Step().method, 0, ["go"]),
    "partial": Spec(partial(step), 0, ["go"]),
    "total": total(Spec(step, 0, ["go"])),
    "restricted": restrict(total(Spec(partial(step), 0, ["go"])), lambda state, inp: True),
}
"""
Models: TypeAlias = Callable[[str, str], dict[str, Spec[Any, Any]]]
KINDS = ["function", "inputs", "object", "method", "partial", "total", "restricted"]


def _module(path: Path, source: str) -> ModuleType:
    path.write_text(source)
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Models:
    """Return a function that makes the specs of a source, in a module of its own."""

    def specs(name: str, source: str) -> dict[str, Spec[Any, Any]]:
        module = _module(tmp_path / f"{name}.py", source)
        monkeypatch.setitem(sys.modules, name, module)
        found: dict[str, Spec[Any, Any]] = module.SPECS
        return found

    return specs


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_source_has_another_fingerprint(models: Models, kind: str) -> None:
    """A change anywhere in the file of the model shows, however the model is put together; a copy is the same."""
    before, same = models("model_a", MODEL)[kind], models("model_b", MODEL)[kind]
    after = models("model_c", MODEL.replace("state + 1", "state + 2"))[kind]
    assert fingerprint(before) == fingerprint(same) != fingerprint(after)


@pytest.mark.parametrize("kind", KINDS)
def test_a_newer_otf_is_not_another_model(models: Models, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What otf itself does to complete or restrict a spec is not a part of the model."""
    before = fingerprint(models("model_a", MODEL)[kind])
    source = inspect.getsource

    def newer(part: ModuleType) -> str:
        return source(part) + "#" * part.__name__.startswith("otf.")

    monkeypatch.setattr(inspect, "getsource", newer)
    assert fingerprint(models("model_a", MODEL)[kind]) == before


def test_a_model_without_source() -> None:
    """A model that was typed in has its name for a fingerprint: better than none."""
    names: dict[str, Any] = {"__name__": "typed_in"}
    source = "def one(state, inp): return []\ndef two(state, inp): return []\n"
    exec(source, names)  # noqa: S102 -- as at a prompt: there is no file to be read
    one, two = Spec(names["one"], 0, []), Spec(names["two"], 0, [])
    assert fingerprint(one) == fingerprint(Spec(names["one"], 1, [])) != fingerprint(two)


def _emits(state: int) -> list[Transition[int]]:
    return [goto(state)]


def test_what_comes_unasked_counts() -> None:
    """A model is written in all the files of its functions."""
    talkative: Spec[Any, Any] = Spec(COFFEE.step, 0, [], _emits)
    again: Spec[Any, Any] = Spec(partial(COFFEE.step), 0, [])
    assert fingerprint(talkative) != fingerprint(COFFEE)
    assert fingerprint(again) == fingerprint(COFFEE)
    assert fingerprint(restrict(total(COFFEE), lambda _state, _inp: True)) != fingerprint(COFFEE)


def test_what_a_header_says(tmp_path: Path) -> None:
    """The header names the bench as the user did, with its parameters and times, and how inputs are chosen."""
    settings = Settings(out=tmp_path, reference="./machine.py:bench", seed=5, strategy="random", mode="eager", burst=2)
    first, second = (header(bench(parameters={"fault": "none"}), settings, path) for path in (1, 2))
    assert (first.bench, first.parameters, first.seed) == ("./machine.py:bench", {"fault": "none"}, 5)
    assert (first.strategy, first.mode, first.burst, first.inputs) == ("random", "eager", 2, "mixed")
    assert (first.quiescence, first.latency, first.busy) == (1.0, 0.002, 0.002)
    assert (first.path, second.path, first.shrunk) == (1, 2, False)
    assert first.fingerprint == fingerprint(COFFEE)
    assert first.run != second.run
    assert {"otf", "python"} <= first.versions.keys()


def test_a_bench_without_a_reference(tmp_path: Path) -> None:
    """A bench without a reference has its own name; a script is not a strategy of a campaign."""
    head = header(bench(), Settings(out=tmp_path), 1, strategy="script")
    assert (head.bench, head.strategy) == ("machine", "script")
