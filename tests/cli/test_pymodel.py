"""PyModel's modules on the command line: `pymodel:MODEL,MODEL@STEPPER`."""

from pathlib import Path

from tests.cli.command import otf
from tests.compat.samples import STACK, SWITCH, write

UNSAFE = "\ndef stateinvariant(): return not power\n"
RIGHT = "def TestAction(a, b, c): pass\ndef Reset(): pass"


def test_models_are_explored_by_their_names(folder: Path) -> None:
    """`otf explore` takes modules of PyModel, and actions can be left out."""
    write(folder, Stack=STACK)
    assert "Stack: 7 states, 12 transitions" in otf("explore", "pymodel:Stack").out
    assert "Stack: 7 states, 6 transitions" in otf("explore", "pymodel:Stack", "--set", "exclude=pop", "--depth", 2).out


def test_an_invariant_that_does_not_hold_is_found(folder: Path) -> None:
    """An unsafe state is marked, the way to it is told, and the exit status says so."""
    write(folder, Switch=SWITCH + UNSAFE)
    result = otf("explore", "pymodel:Switch")
    assert result.status == 1
    assert "(unsafe)" in result.out
    assert "invariant: refuted: not in power=True\n      the model's own invariant " in result.out
    assert "\n    1  On() / nothing" in result.out


def test_a_stepper_is_named_behind_the_models(folder: Path) -> None:
    """`otf run` drives a system through a stepper, in this process where there is no timeout."""
    write(folder, Switch=SWITCH, Right=RIGHT)
    result = otf("run", "pymodel:Switch@Right", "--set", "timeout=0", "--seed", 1, "--out", "out")
    assert result.status == 0, result.said
    assert "PASS" in result.out


def test_a_strategy_of_pymodel_is_named_by_its_file(folder: Path) -> None:
    """`--strategy file.py:SelectAction` loads a strategy."""
    write(folder, Stack=STACK, Last="def SelectAction(enabled): return enabled[-1][:2]")
    result = otf("run", "pymodel:Stack", "--strategy", "Last.py:SelectAction", "--seed", 1, "--out", "out")
    assert result.status == 0, result.said


def test_a_trace_does_not_choose_what_is_imported(folder: Path) -> None:
    """A trace names its bench and parameters, and none of them loads a module."""
    write(folder, Switch=SWITCH)
    otf("run", "pymodel:Switch", "--seed", 1, "--traces", 1, "--out", "out")
    trace = folder / "out" / "path-0001.jsonl"
    refused = otf("replay", trace)
    assert refused.status == 2
    assert "a trace may not choose what code is loaded" in refused.err
    write(folder, Evil="open('harm', 'w').close()")
    text = trace.read_text(encoding="utf-8").replace('"include":""', '"include":"","stepper":"Evil","folder":"Evil"')
    trace.write_text(text, encoding="utf-8")
    assert otf("replay", trace, "--bench", "pymodel:Switch").status == 0
    assert not (folder / "harm").exists()


def test_what_is_wrong_is_told(folder: Path) -> None:
    """No model, one that is not there, and a parameter that there is not."""
    write(folder, Switch=SWITCH)
    assert "write pymodel:MODEL[,MODEL…][@STEPPER]" in otf("explore", "pymodel:@Right").err
    assert "there is no such file" in otf("explore", "pymodel:Nowhere").err
    assert "there is no action 'Up'; there are Off, On" in otf("explore", "pymodel:Switch", "--set", "exclude=Up").err
    assert "the parameters are include, exclude, timeout" in otf("explore", "pymodel:Switch", "--set", "depth=Up").err
