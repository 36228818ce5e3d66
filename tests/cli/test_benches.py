"""Which bench a name means, its parameters, and the errors."""

import os
import py_compile
import re
import sys
from pathlib import Path

import pytest

from otf.cli.user_code import from_file
from tests.cli.command import failed, machine, otf

FEW = ("--traces", 1, "--steps", 5, "--seed", 1, "--out", "out")
MORE = """

from pathlib import Path
from typing import Literal


def choosy(where: Path = Path("."), size: Literal["small", "large"] = "small", cups=1, limit: int | None = None):
    assert (type(where), type(cups)) == (type(Path()), int)
    print(where, size, cups, limit)
    return bench


def needs(port: int):
    return bench


def odd(port: "Nowhere" = 1):
    return bench


def raises():
    raise RuntimeError("no cups")


def leaves():
    raise SystemExit(3)


def other():
    return 7


def loose(*anything, **more):
    return bench


def written_with_a_mistake():
    return Bench(spec, codec=lines({Coin: "coin"}))
"""


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("conferense", "did you mean conference?"),
        ("cofee", "did you mean coffee?"),
        ("quetzalcoatl", "`otf list` shows the shipped ones"),
        ("", "`otf list` shows the shipped ones"),
    ],
)
def test_an_unknown_bench_is_told_with_those_that_are_near(name: str, hint: str) -> None:
    """A name that means no bench ends with status 2, the nearest name, and the ways to name others."""
    message = failed("run", name)
    assert f"there is no bench {name!r}" in message
    assert hint in message
    assert "path/to/file.py[:name]" in message


def test_a_file_that_is_named_without_its_ending_is_found_again(folder: Path) -> None:
    """If .py is missing, the error names the file."""
    machine(folder)
    assert "did you mean machine.py?" in failed("run", "machine")


@pytest.mark.parametrize(
    "reference", ["machine.py", "./machine.py:make", "machine:bench", "shop.machine:make", "shop.machine"]
)
def test_a_bench_is_named_by_its_file_or_its_module(folder: Path, reference: str) -> None:
    """A path, a path with a name, a module with a name, and a module in a package all lead to the same bench."""
    machine(folder)
    machine(folder, name="shop/machine.py")
    assert otf("run", reference, *FEW).out.startswith("PASS")


def test_a_bench_is_run_as_it_is_written(folder: Path) -> None:
    """An edit within the same second that keeps the file's size is not missed for bytecode of the version before."""
    file = machine(folder)
    for count in (1, 2):
        file.write_text(f"number = {count}\n", encoding="utf-8")
        os.utime(file, ns=(count, count))
        made = from_file(Path("machine.py"))
        assert (made.number, made.__file__) == (count, str(file))
        py_compile.compile(str(file))


def test_a_path_may_hold_a_colon(folder: Path) -> None:
    """The text after the last colon is a name only if it can be one."""
    machine(folder, name="a:b.c/machine.py")
    assert otf("run", "a:b.c/machine.py", *FEW).status == 0


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nowhere.py", "nowhere.py: there is no such file"),
        ("nowhere/machine.py", "nowhere/machine.py: there is no such file"),
        ("./", ".: there is no such file"),
        ("./notes.txt", "notes.txt: a bench is a Python file, whose name ends in .py"),
        ("nowhere.machine", "nowhere.machine: ModuleNotFoundError: No module named 'nowhere'; is it installed in this"),
    ],
)
def test_a_bench_that_is_not_there(folder: Path, reference: str, message: str) -> None:
    """The error for a missing file or module names it."""
    (folder / "notes.txt").touch()
    assert message in failed("run", reference)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("x = 1\ndef f(:\n", "bad.py, line 2: invalid syntax: def f(:", id="syntax"),
        pytest.param("x = 1\n\nraise ValueError('no coins')", "bad.py, line 3: ValueError: no coins", id="raises"),
        pytest.param("import nowhere", "bad.py, line 1: ModuleNotFoundError: No module named 'nowhere'", id="import"),
        pytest.param("import sys\nsys.exit(5)", "bad.py, line 2: it ended the program (exit 5)", id="exit"),
        pytest.param("x = '\0'", "bad.py: source code string cannot contain null bytes", id="null byte"),
        pytest.param("import broken", "broken.py, line 2: '(' was never closed: print(", id="syntax of a neighbour"),
        pytest.param(
            "\n\nimport shop.till", "bad.py, line 3: ZeroDivisionError: division by zero", id="neighbour raises"
        ),
        pytest.param(
            "from otf import lines\n\ncodec = lines({bytes: 'coin'})",
            "bad.py, line 3: bytes is not a dataclass",
            id="refused by otf",
        ),
    ],
)
def test_a_bench_file_that_cannot_be_loaded(folder: Path, text: str, message: str) -> None:
    """Errors in a bench file come with the file and the line."""
    (folder / "bad.py").write_text(text, encoding="utf-8")
    (folder / "broken.py").write_text("\nprint(\n", encoding="utf-8")
    (folder / "shop").mkdir()
    (folder / "shop" / "till.py").write_text("1 / 0", encoding="utf-8")
    assert message in failed("run", "bad.py")


def test_a_bench_hides_no_module_of_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench called like a module of Python's library runs, though something imports that module only later."""
    (folder / "colorsys.py").write_text(
        "from otf.models.coffee import bench\nimport colorsys\ncolorsys.rgb_to_hls", "utf-8"
    )
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert otf("run", "colorsys.py", "--traces", 1, "--steps", 5, "--seed", 1).status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:", "till.py, line 1: invalid syntax"),
        ("\n1 / 0", "till.py, line 2: ZeroDivisionError: division by zero"),
    ],
)
def test_a_module_that_cannot_be_loaded(folder: Path, text: str, message: str) -> None:
    """For a bench in a package the error names the file too, since the module name does not."""
    (folder / "shop").mkdir()
    (folder / "shop" / "till.py").write_text(text, encoding="utf-8")
    told = failed("run", "shop.till")
    assert told.startswith("otf: shop.till")
    assert message in told


def test_a_name_that_is_not_in_the_file(folder: Path) -> None:
    """The error for a name that is not in the file, or is not a bench, lists the benches that are."""
    machine(folder)
    assert failed("run", "machine.py:mak").endswith("in it; did you mean machine.py:make?\n")
    assert "or name it: machine.py:bench" in failed("run", "machine.py:other")
    assert failed("run", "machine.py:codec") == (
        "otf: machine.py:codec: there is no bench 'codec' in it, but a LineCodec, which names no system to drive; "
        "make a bench with Bench.on_ports or Bench.in_process\n"
    )
    (folder / "empty.py").touch()
    assert "call yours that, or name it: empty.py:NAME" in failed("run", "empty.py")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("broken=no", "true or false"),
        ("cups=1.5", "a whole number"),
        ("cups=many", "a whole number"),
        ("price=?", "a number"),
    ],
)
def test_a_parameter_that_does_not_fit_its_type(folder: Path, given: str, kind: str) -> None:
    """The error for a value of the wrong kind names the parameter and its kind."""
    machine(folder)
    assert f"the parameter {given} does not fit: it must be {kind}" in failed("run", "machine.py:make", "--set", given)


def test_parameters_get_their_types(folder: Path) -> None:
    """Booleans, whole numbers, numbers and texts come to the factory as what its annotations say."""
    told = "    print(repr((broken, cups, price, maker)))\n    ports = "
    machine(folder, {"bench = make()": "", "    ports = ": told})
    sets = ("--set", "broken=false", "--set", "cups=3", "--set", "price=2", "--set", "maker=b: c=d")
    assert otf("run", "machine.py:make", *FEW, *sets).out.startswith("(False, 3, 2.0, 'b: c=d')\nPASS")


def test_types_beyond_the_plain_ones(folder: Path) -> None:
    """Paths, choices, optional values and parameters without an annotation can be set as well, or are refused."""
    machine(folder, more=MORE)
    sets = ("--set", "where=till", "--set", "size=large", "--set", "cups=2", "--set", "limit=null")
    assert otf("run", "machine.py:choosy", *FEW, *sets).out.startswith("till large 2 None\n")
    assert "size=huge does not fit" in failed("run", "machine.py:choosy", "--set", "size=huge")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("needs", "machine.py:needs: the parameter port has no default: set it with --set port=…"),
        ("odd", "machine.py:odd: NameError: name 'Nowhere' is not defined"),
        ("raises", "line 78: RuntimeError: no cups"),
        ("leaves", "line 82: it ended the program (exit 3)"),
        ("other", "machine.py:other: other() returned int, not a Bench\n  File "),
        ("written_with_a_mistake", "line 94: the pattern 'coin' must name each field of Coin once, in braces"),
    ],
)
def test_a_factory_that_makes_no_bench(folder: Path, name: str, message: str) -> None:
    """Errors in the function that makes the bench come with the file and the line."""
    machine(folder, more=MORE)
    assert message in failed("run", f"machine.py:{name}")


def test_a_factory_that_takes_anything(folder: Path) -> None:
    """`*args` and `**kwargs` are not parameters that can be set."""
    machine(folder, more=MORE)
    assert otf("run", "machine.py:loose", *FEW).status == 0
    assert "machine.py:loose has no such parameter" in failed("run", "machine.py:loose", "--set", "more=1")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("brokn=1", "did you mean broken? the parameters are broken, cups, price, maker, quiescence, L, R"),
        ("colour=red", "--set colour: machine.py:make has no such parameter; the parameters are broken, cups"),
        ("quiescence=-1", "--set quiescence=-1: a time is a number of seconds, from 0 to 86400 (a day)"),
        ("R=inf", "--set R=inf: a time is a number of seconds, from 0"),
        ("L=soon", "the parameter L=soon does not fit: it must be a number"),
        ("broken", "--set broken: write it as KEY=VALUE"),
    ],
)
def test_a_parameter_that_is_none(folder: Path, given: str, message: str) -> None:
    """The error for an unknown parameter names the nearest and all others; times are checked."""
    machine(folder)
    assert message in failed("run", "machine.py:make", "--set", given)


def test_all_parameters_that_do_not_fit_are_told(folder: Path) -> None:
    """Several at once, each with what was meant: the unknown names with the times, and the values of known ones."""
    machine(folder)
    told = failed("run", "machine.py:make", "--set", "brokn=1", "--set", "cps=2", "--quiescence", -1)
    assert re.findall(r"^  (--\S+)", told, re.MULTILINE) == ["--set", "--set", "--quiescence"]
    assert "did you mean broken?" in told
    assert "did you mean cups?" in told
    assert "otf: 2 mistakes\n" in failed("run", "machine.py:make", "--set", "broken=x", "--set", "cups=y")


def test_times_can_be_set_for_every_bench(folder: Path) -> None:
    """A bench that is not a function has its times as parameters, under the same names as others."""
    machine(folder)
    done = otf("run", "machine.py", *FEW, "--set", "quiescence=0.2", "--set", "L=0.01", "--set", "R=0.01", "--json")
    assert done.data["verdict"] == "pass"
    unknown = failed("run", "machine.py", "--set", "cups=2")
    assert "machine.py has no such parameter; the parameters are quiescence, L, R" in unknown


def test_a_file_is_executed_once(folder: Path) -> None:
    """The code of a bench file runs once in a command, however often the bench is loaded."""
    machine(folder, more="\nprint('loaded')\n")
    assert otf("run", "machine.py", *FEW).out.count("loaded") == 1
    trace = next((folder / "out").glob("path-*.jsonl"))
    assert otf("replay", trace, "--bench", "machine.py").out.count("loaded") == 0


@pytest.mark.parametrize("reference", ["os:system", "subprocess:run", "os.path:join"])
def test_a_part_of_python_is_no_bench(folder: Path, reference: str) -> None:
    """A description must not be able to call functions of Python as if they were benches."""
    (folder / "mine.toml").write_text(f'bench = "{reference}"\n[set]\ncommand = "touch PWNED"\n', encoding="utf-8")
    assert f"{reference}: this is part of Python, not a bench" in failed("run", "mine.toml")
    assert not (folder / "PWNED").exists()


def test_a_description_that_is_nested_too_deep(folder: Path) -> None:
    """A table within tables without end is not a TOML."""
    (folder / "mine.toml").write_text("a = " + "[" * 5000, encoding="utf-8")
    assert "mine.toml: not TOML: maximum recursion depth exceeded" in failed("run", "mine.toml")
