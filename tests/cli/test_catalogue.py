"""The words of the options, which are listed a second time so that help and Tab need not wait for the engine."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import get_args

import pytest

from otf.adapter.bench_options import Silence
from otf.campaign import Budget
from otf.cli import catalogue
from otf.cli.benches import about, load, parameters
from otf.cli.catalogue import TIMES, listed, sources
from otf.core import InputMode
from otf.explore.analysis import GENERAL
from otf.explore.expiring import LOST, UNKNOWN
from otf.strategy import STRATEGIES
from otf.strategy.names import SAYS
from otf.suite import ADAPTIVE, METHODS
from otf.suite.adaptive import RUNS
from otf.trace.record import LARGEST, Mode


def test_the_words_are_those_of_the_engine() -> None:
    """Each list of words, and each default, is what the engine says."""
    assert tuple(STRATEGIES) == tuple(SAYS)
    assert (tuple(METHODS), tuple(ADAPTIVE), RUNS) == (
        catalogue.METHODS,
        catalogue.ADAPTIVE,
        catalogue.RUNS,
    )
    assert (catalogue.GENERAL, catalogue.REQUIRED[1:]) == (GENERAL, (LOST, UNKNOWN))
    assert get_args(catalogue.InputChoice) == get_args(InputMode)
    assert get_args(Mode) == catalogue.MODES
    assert set(catalogue.SILENCES) == set(get_args(Silence))
    assert Budget(catalogue.TRANSITIONS, catalogue.RESETS, catalogue.SECONDS) == Budget()
    assert catalogue.MIB == LARGEST >> 20


def test_the_benches_are_found_without_importing_them() -> None:
    """The names, parameters and mutants that Tab offers are those of the shipped benches."""
    package = import_module("otf.models")
    modules = {each.name: import_module(f"otf.models.{each.name}") for each in pkgutil.iter_modules(package.__path__)}
    benches = [name for name, module in modules.items() if hasattr(module, "bench")]
    assert catalogue.benches("") == sorted(benches)
    for name in benches:
        bench, (says, listed_ones, mutants) = load(name), listed(sources()[name])
        assert says == (modules[name].__doc__ or "").splitlines()[0] == about(name)
        assert listed_ones == {**parameters(name), **{key: getattr(bench, field) for key, field in TIMES.items()}}
        context = SimpleNamespace(params={"bench": name}, args=[])
        assert catalogue.faults(context, "") == list(bench.mutants)
        assert [*mutants] == [*bench.mutants]
        assert catalogue.settings(context, "") == [f"{key}=" for key in (*parameters(name), *TIMES)]


@pytest.mark.parametrize("module", ["run_arguments", "commands", "tools.commands", "tools.model_commands"])
def test_a_page_of_help_does_not_wait_for_the_engine(module: str) -> None:
    """What declares the options imports neither engine nor event loop: a page of help costs what `otf --help` costs."""
    heavy = "{'trio', 'msgspec', 'otf.core', 'otf.spec', 'otf.adapter', 'otf.campaign'} & set(sys.modules)"
    program = f"import sys, otf.cli.{module}; print({heavy} or '')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
