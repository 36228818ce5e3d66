"""PyModel's modules are loaded unchanged, anew each time, and errors have file and line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from otf.compat.pymodel import Live, load
from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.product import count_states
from otf.errors import UsageError
from otf.notations import Call
from otf.spec import fingerprint
from tests.compat.samples import SPEED, STACK, SWITCH, write


def test_a_model_program_is_loaded_by_its_name(tmp_path: Path) -> None:
    """A module is found in the folder by its name."""
    loaded = load("Stack", folder=write(tmp_path, Stack=STACK))
    assert count_states(loaded.spec) == (7, 12, 1, 0, 0, 0, True)
    assert loaded.notes == ()


def test_a_model_program_is_loaded_by_its_path(tmp_path: Path) -> None:
    """The path of a file names a module, and those beside it are found too."""
    write(tmp_path, Switch=SWITCH, Speed=SPEED)
    assert count_states(load(str(tmp_path / "Switch.py"), "Speed").spec)[:3] == (6, 12, 1)


def test_a_module_that_is_installed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is in no folder is found on Python's own path."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(write(tmp_path, Switch=SWITCH))])
    assert count_states(load("Switch", folder=tmp_path / "nowhere").spec)[:2] == (2, 2)


def test_two_instances_do_not_share_a_module(tmp_path: Path) -> None:
    """Two instances share no state, and neither is in sys.modules by its name."""
    write(tmp_path, Stack=STACK)
    one, two = load("Stack", folder=tmp_path), load("Stack", folder=tmp_path)
    (after,) = one.spec.step(one.spec.initial, Call("push", (1,)))
    assert list(two.spec.inputs(two.spec.initial)) == [Call("push", (1,)), Call("push", (2,))]
    assert list(one.spec.inputs(after.state))[-1] == Call("pop")  # type: ignore[union-attr] # no Accept here
    assert "Stack" not in sys.modules


def test_only_the_variables_of_the_state_are_restored(tmp_path: Path) -> None:
    """A variable that `state` does not name is not restored."""
    counting = STACK.replace(
        "def push(x): stack.insert(0, x)", "calls = []\ndef push(x): calls.append(x); stack.append(x)"
    )
    loaded = load("Stack", folder=write(tmp_path, Stack=counting))
    for _ in range(3):
        list(loaded.spec.step(loaded.spec.initial, Call("push", (1,))))
    assert loaded.modules.loaded["Stack"].calls == [1, 1, 1]
    assert show_state(loaded.spec.initial) == "stack=[]"


def show_state(state: object) -> str:
    """Return a state as people see it."""
    return repr(state)


@pytest.mark.parametrize("order", [("Stack", "Config"), ("Config", "Stack")])
def test_a_configuration_counts_wherever_it_stands(tmp_path: Path, order: tuple[str, str]) -> None:
    """A configuration changes the model, whether it is named before it or after it."""
    config = "'''pymodel config'''\nimport Stack\nStack.StateFilter = lambda: len(Stack.stack) < 2\n"
    loaded = load(*order, folder=write(tmp_path, Stack=STACK, Config=config))
    assert count_states(loaded.spec)[:2] == (3, 4)


def test_a_configuration_alone_is_no_model(tmp_path: Path) -> None:
    """A configuration without a model is refused, and a call without modules."""
    write(tmp_path, Stack=STACK, Config="'''PyModel config'''\nimport Stack")
    with pytest.raises(UsageError, match="name the model that they configure"):
        load("Config", folder=tmp_path)
    with pytest.raises(UsageError, match="at least one"):
        load(folder=tmp_path)


def test_actions_can_be_left_out(tmp_path: Path) -> None:
    """`include` and `exclude` name the actions that are left, in every kind of model."""
    suite = "from Switch import On, Off\ntestSuite = [[(On, ()), (Off, ()), (On, ())]]"
    write(tmp_path, Switch=SWITCH, Runs=suite)
    assert count_states(load("Switch", folder=tmp_path, exclude=["Off"]).spec)[:2] == (2, 1)
    assert count_states(load("Switch", folder=tmp_path, include=["On"]).spec)[:2] == (2, 1)
    assert count_states(load("Runs", folder=tmp_path, exclude=["Off"]).spec)[:2] == (2, 1)
    with pytest.raises(UsageError, match="no action 'Up'; there are Off, On"):
        load("Switch", folder=tmp_path, exclude=["Up"])


def test_a_reset_that_leads_elsewhere_is_told(tmp_path: Path) -> None:
    """Where reset and import disagree, every path begins as after the import, and a note says so."""
    odd = STACK.replace("del stack[:]", "stack.append(1)")
    loaded = load("Stack", folder=write(tmp_path, Stack=odd))
    assert "every path begins as after the import" in loaded.notes[0]
    assert show_state(loaded.spec.initial) == "stack=[]"
    assert len(list(loaded.spec.inputs(loaded.spec.initial))) == 2


def test_a_reset_that_raises_is_told(tmp_path: Path) -> None:
    """A model whose reset raises is loaded, with a note: no path depends on the reset."""
    loaded = load("Stack", folder=write(tmp_path, Stack=STACK.replace("del stack[:]", "1 / 0")))
    assert "ZeroDivisionError" in loaded.notes[0]


OLD = [
    "print 'a'",
    "import sys\nprint >>sys.stderr, 1",
    "exec 'a = 1'",
    "raise NotImplementedError, 'no'",
    "a = 1 <> 2",
    "a = `1`",
    "a = 0777",
    "a = 10L",
    "a = ur'x'",
    "for i in xrange(3): pass",
    "import urllib2",
]
if sys.version_info < (3, 14):  # from there on it is two kinds of exceptions
    OLD.append("try: pass\nexcept ValueError, e: pass")


@pytest.mark.parametrize("text", OLD)
def test_a_module_of_python_2_is_called_that(tmp_path: Path, text: str) -> None:
    """A module for Python 2 is refused as such, with file and line."""
    write(tmp_path, Old=f"\n{text}\n")
    with pytest.raises(UsageError, match=r"Old\.py, line [23]: this is Python 2: .*; convert it"):
        load("Old", folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = (\n", "line 1: '\\(' was never closed"),
        ("a = 1\nb = a / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "line 1: it ended the program \\(exit 3\\)"),
        ("import Beside", "Beside.py, line 1: NameError"),
        ("import nothing_there", "line 1: ModuleNotFoundError"),
        ("from pymodel import pmt", "ImportError"),
        ("import pymodel.pmt", "of PyModel itself there is only pymodel.observation_queue"),
        ("a = 1", "this is not a model of PyModel"),
        ("graph = []", "this one has no `initial`"),
        ("initial = 0\ngraph = [(0, 1)]", "row 1 of the graph is \\(0, 1\\)"),
        ("testSuite = [[1]]", "run 1 of the suite has 1"),
        ("actions = (1,)\nstate = ()", "actions has 1, which is not a function"),
        ("state = ('a',)\nactions = ()", "`state` names 'a'"),
        ("from threading import Lock\na = Lock()\nstate = ('a',)\nactions = ()", "cannot be copied: TypeError"),
    ],
)
def test_a_module_that_cannot_be_used_is_told_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    """The error for a broken module has its file and, if known, the line."""
    write(tmp_path, Broken=text, Beside="oops")
    with pytest.raises(UsageError, match=says):
        load("Broken", folder=tmp_path)


@pytest.mark.parametrize("reference", ["nowhere", "no/where.py", "two words", "a.b"])
def test_a_module_that_is_not_there_is_told(tmp_path: Path, reference: str) -> None:
    """A name without a file is refused, with the folders that were searched."""
    with pytest.raises(UsageError, match=r"there is no such file|is not a module"):
        load(reference, folder=tmp_path)


def test_a_file_of_the_folder_comes_before_an_installed_one_for_the_folder_alone(tmp_path: Path) -> None:
    """A file `socket.py` replaces the module for its folder, and for no other code."""
    import socket

    write(tmp_path, socket="simulated = True", Uses="import socket\nfrom json import dumps\nimport os.path as p")
    module = Modules([tmp_path]).load("Uses")
    assert module.socket.simulated
    assert sys.modules["socket"] is socket
    assert module.p.join("a", "b") == "a/b"


def test_packages_are_imported_as_always(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package beside a module is found, and shared like any other."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "a_package_beside").mkdir()
    (tmp_path / "a_package_beside" / "__init__.py").write_text("value = 3")
    write(tmp_path, Uses="from a_package_beside import value")
    assert Modules([tmp_path]).load("Uses").value == 3
    del sys.modules["a_package_beside"]


def test_modules_may_import_each_other_in_a_circle(tmp_path: Path) -> None:
    """Modules may import each other in a circle, and dataclasses work in them."""
    data = "from __future__ import annotations\nfrom dataclasses import dataclass\nimport B\n"
    write(tmp_path, A=data + "@dataclass\nclass Point:\n    x: int\n", B="import A")
    module = Modules([tmp_path]).load("A")
    assert module.B.A is module
    assert module.Point(1).x == 1


def test_what_a_module_prints_goes_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A module prints to standard error, since standard output belongs to the command."""
    write(tmp_path, Loud="import sys\nprint('hello')\nprint('there', file=sys.stdout)")
    Modules([tmp_path]).load("Loud")
    assert capsys.readouterr() == ("there\n", "hello\n")


def test_the_observation_queue_has_both_its_names(tmp_path: Path) -> None:
    """The fork says `pymodel.observation_queue`, the original `observation_queue`."""
    names = "import pymodel.observation_queue as a\nfrom pymodel import observation_queue as b\n"
    names += "import observation_queue as c"
    modules = Modules([write(tmp_path, Names=names)])
    module = modules.load("Names")
    assert module.a is module.b is module.c is modules.observations


def test_what_a_module_draws_is_its_own(tmp_path: Path) -> None:
    """The same seed gives the same numbers, whatever else is drawn; without a seed they differ."""
    write(tmp_path, Draws="import random\nfrom random import choice\nnumber = random.random(), choice(range(10**9))")

    def drawn(seed: int | None) -> object:
        return Modules([tmp_path], seed).load("Draws").number

    assert drawn(0) == drawn(0)
    assert len({drawn(None) for _ in range(3)}) == 3


def test_a_changed_model_has_another_fingerprint(tmp_path: Path) -> None:
    """The fingerprint of a model in a trace changes with the text of its modules, and with nothing else."""

    def now() -> str:
        return fingerprint(load("Stack", "Config", folder=tmp_path).spec)

    write(tmp_path, Stack=STACK, Config="'pymodel config'\nimport Stack")
    before = now()
    assert before == now()
    write(tmp_path, Config="'pymodel config'\nimport Stack\nStack.domains = {Stack.push: {'x': [1]}}")
    assert before != now()
    live = Live(load("Stack", "Config", folder=tmp_path).spec)
    assert len(live.sources) == 2
