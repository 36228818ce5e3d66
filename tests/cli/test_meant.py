"""A name that a bench spells wrongly: the error names the one that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import failed, otf, recorded, rewrite

NAMES = """
from __future__ import annotations
import os.path
from otf import Spek, linesz, Bench
from otf.adapters import tcp, tpc, serialport
from otf import adapters


class Held:
    first = 1


def outer(given, *more, **named):
    global later
    later, (one, *rest) = given, more
    try:
        match given:
            case {"a": held, **left} | [held, *left] as whole:
                return first(held, left, whole, rest, one)
    except OSError as error:
        return (
            fiirst + str(error), later, named, os
        )
    for each in more:
        if (found := each):
            yield found, __file__, __name__, print


async def inner(first=lambda given: given):
    with open("x") as file:
        goto(1, file)
        del first
"""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("from otf import Bench; Bench.in_proces", "no attribute 'in_proces'; did you mean in_process?"),
        ("from otf.adapters import serial", "did you mean serialport?"),
        ("from otf import bencch", "did you mean Bench?"),
        ("from otf.adaptors import tcp", "No module named 'otf.adaptors'; did you mean otf.adapters?"),
        ("bench = lambda: None", "<lambda>() returned None, not a Bench; is a `return` missing?"),
        ("import otf; otf.zzzz", "has no attribute 'zzzz'\n"),
    ],
)
def test_a_near_miss_is_named(folder: Path, line: str, says: str) -> None:
    """As in Python's own traceback; where no name is near, none is guessed."""
    (folder / "mine.py").write_text(f"{line}\n", encoding="utf-8")
    done = otf("run", "mine.py")
    assert done.status == 2
    assert says in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run mine.py --paths 2", "No such option: --paths; did you mean --traces?"),
        ("run mine.py --trace 2", "No such option: --trace; did you mean --traces?"),
        ("run coffee --quiescence -1", "otf: --quiescence -1: a time is a number of seconds"),
        ("run coffee --mode eger", "--mode eger: did you mean eager? choose one of strict, eager"),
        ("run coffee --inputs mixd", "'mixed'; did you mean mixed?"),
        ("run coffee --known 5", "No such option: --known; the options are --traces, --time, --seed, "),
        ("run coffee -o there", "No such option: -o; did you mean --out?"),
        ("run --bench coffee", "No such option: --bench; write the BENCH alone, without --bench"),
        ("run coffee --seed", "Write --seed NUMBER: The same seed gives the same inputs; default: random."),
        ("explore", "Missing argument 'BENCH'. A shipped bench, "),
        ("run coffee --strategy mine.py:Mine", "--strategy mine.py:Mine: there is nothing of that name; "),
        ("run coffee --strategy :Mine", "--strategy :Mine: write file.py:NAME or package.module:NAME"),
        ("check coffee --invariant mine", "--invariant mine: write file.py:NAME or package.module:NAME"),
        ("check coffee --property mime.py:a", "--property mime.py:a: mime.py: there is no such file; did you mean"),
        ("run coffee --scenario Coyn", "not an action of the model; did you mean Coin? its actions are"),
        ("run coffee --sut tcp://127.0.0.1", "--sut tcp://127.0.0.1: not an address: '127.0.0.1'; write tcp://HOST"),
        ("run coffee --device mine.py", "--device mine.py: there is no device in it; write a line for each"),
        ("run coffee --device runz/a", "--device runz/a: No such file or directory; write a line for each device"),
        ("suite coffee --read a.json", "--read a.json: No such file or directory; `otf suite BENCH --write FILE`"),
        ("learn coffee --only Tea", "--only Tea: it leaves none of the 3 inputs: Coin(cents=5), Coin(cents=10), But"),
        ("learn coffee --wait -1", "'--wait': -1.0 is not in the range"),
        ("explore coffee --out a.svgz", "--out a.svgz: the format svgz: did you mean svg? choose one of text, "),
        ("run mine.toml", "there is no key benhc; did you mean bench? the keys are"),
        ("run runs/path-0001.jsonl", "this is a trace, which `otf show`, `replay` and `report` read"),
        ("learn --sut tcp:/a:1 --alphabet mine.toml", "--sut tcp:/a:1: not an address: 'tcp:/a:1'; write tcp://HOST"),
        (
            "replay mine.toml --bench coffee --format text --port lien",
            "the bench has no port 'lien'; did you mean line? it has line",
        ),
        ("--log debg list", "--log debg: did you mean debug? The levels are debug, info, warning, error; "),
        ("help ModelEror", "did you mean ModelError?"),
        ("run coffee --set fault=fre", "did you mean free?"),
        ("mutants coffee --fault dri", "--fault dri: did you mean dry? coffee ships dry, free, full"),
        ("run coffee --sut tpc://127.0.0.1:1", "is not an address of a system; did you mean tcp? write one of\n"),
        ("check coffee --law totle", "--law totle: did you mean total? choose among"),
        ("run mime.py", "mime.py: there is no such file; did you mean mine.py?"),
        ("run nothing-like-it.py", "there is no such file; otf looked in /"),
        ("show runs/path-001.jsonl", "No such file or directory; did you mean runs/path-0001.jsonl?"),
        (
            "show runs/nowhere.jsonl",
            "No such file or directory; give the path of a trace (`otf run` prints the folder)",
        ),
        ("report rums", "rums: No such file or directory; did you mean runs?"),
        ("report elsewhere", "give the folder of a campaign"),
    ],
)
def test_a_file_with_nearly_that_name_is_named(folder: Path, words: str, says: str) -> None:
    """A file or folder that is not there, but whose neighbour has nearly its name."""
    (folder / "mine.py").touch()
    (folder / "mine.toml").write_text("benhc = 1", encoding="utf-8")
    (folder / "runs").mkdir()
    (folder / "runs" / "path-0001.jsonl").touch()
    done = otf(*words.split())
    assert done.status == 2
    assert says in done.err


def test_all_unknown_names_of_a_file_are_told_at_once(folder: Path) -> None:
    """Those that it binds nowhere, and those that otf does not have; each once, with its line and what was meant."""
    (folder / "mine.py").write_text(NAMES, encoding="utf-8")
    first, *rest = otf("run", "mine.py").err.splitlines()
    assert first.startswith("otf: mine.py, line 4: ImportError: cannot import name 'Spek' from 'otf' (")
    assert rest == [
        "  line 4: cannot import name 'linesz' from 'otf'; did you mean lines?",
        "  line 5: cannot import name 'tpc' from 'otf.adapters'; did you mean tcp?",
        "  line 22: name 'fiirst' is not defined; did you mean first?",
        "  line 31: name 'goto' is not defined; write `from otf import goto`",
    ]


@pytest.mark.parametrize("text", ["from os.path import *\nxx\nyy", "xx\nxx", "xx"])
def test_only_certain_names_are_told(folder: Path, text: str) -> None:
    """None after a star, and none twice."""
    (folder / "mine.py").write_text(f"{text}\n", encoding="utf-8")
    message = otf("run", "mine.py").err
    assert "NameError: name 'xx' is not defined" in message
    assert message.count("\n") == 1


def test_a_bench_among_several_of_a_file_is_named(folder: Path) -> None:
    """Benches, and the functions that say that they return one."""
    made = "from otf import Bench\nfrom otf.models import coffee\nleft = coffee.bench()\n"
    (folder / "mine.py").write_text(f"{made}def right() -> Bench:\n    return left\n", encoding="utf-8")
    for name, says in (("", "name it: mine.py:left or mine.py:right"), (":rihgt", "did you mean mine.py:right?")):
        assert says in failed("run", f"mine.py{name}")


def test_a_folder_is_no_bench(folder: Path) -> None:
    """The message says which commands take one; a file with an ending is never meant by the name of a folder."""
    (folder / "pathh").mkdir()
    assert "there is no bench 'pathh'; it is a folder, which `otf run --resume`" in failed("run", "pathh")
    (folder / "campaign").mkdir()
    (folder / "campaign" / "path-0001.jsonl").touch()
    assert "did you mean" not in failed("show", "path.jsonl")
    assert "Is a directory; give a trace in it, such as campaign/path-0001.jsonl" in failed("rerun", "campaign")


@pytest.mark.usefixtures("folder")
def test_a_trace_of_another_bench() -> None:
    """The message names the bench with which it was recorded."""
    otf("run", "coffee", "--traces", 1, "--steps", 5, "--out", "runs", "--no-saved")
    message = failed("replay", "runs/path-0001.jsonl", "--bench", "tickets")
    assert message.endswith("it is a trace of the bench 'coffee', not of tickets; leave out --bench\n")
    lines = recorded(Path("runs/path-0001.jsonl"))
    lines[0]["parameters"]["falt"] = "dry"
    message = failed("replay", rewrite(Path("typo.jsonl"), lines), "--bench", "coffee:bench")
    assert message.startswith("otf: typo.jsonl: coffee:bench has no parameter 'falt'; did you mean fault?")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("learn", "coffee", "--algorithm", "lstr"),
            "there is no algorithm 'lstr'; did you mean lstar? there are kv, ",
        ),
        (("completion", "bsh"), "no script for this shell; did you mean bash? there are scripts for bash, zsh, fish"),
        (
            ("replay", "x", "--bench", "coffee", "--format", "txt"),
            "no such format; did you mean text? there are pcap, ",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_value_of_an_option_that_is_nearly_right(words: tuple[str, ...], says: str) -> None:
    """The one that was meant comes first, then all."""
    assert says in failed(*words)


def test_what_a_wrong_import_should_bring_is_not_told_again(folder: Path) -> None:
    """The import of `tpc` is the mistake, and not the `tcp` that the rest of the file uses."""
    (folder / "mine.py").write_text("from otf.adapters import tpc\n\nbench = tcp\nfirst = zzz\n", encoding="utf-8")
    said = failed("run", "mine.py")
    assert "did you mean tcp?" in said
    assert "did you mean tpc?" not in said
    assert "line 4: name 'zzz' is not defined" in said
