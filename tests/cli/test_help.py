"""Help, version and wrong usage: what a newcomer reads first."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from otf.cli.app import COMMANDS as LAZY
from otf.cli.app import HEADINGS
from otf.cli.options import GROUPS
from otf.cli.output import harmless
from tests.cli.command import failed, otf

COMMANDS = list(LAZY)


def test_help_names_the_commands_and_where_to_begin() -> None:
    """The first page shows the commands in groups, each with a whole sentence; one to try first; the exit statuses."""
    done = otf("--help")
    groups = re.findall(r"^([A-Z][a-z, ]+):\n((?:  \w.*\n)+)", done.out, re.MULTILINE)
    assert done.status == 0
    assert [heading for heading, _ in groups] == list(HEADINGS.values())
    assert [rows.split()[0] for _, rows in groups] == list(HEADINGS)
    lines = "".join(rows for _, rows in groups).splitlines()
    assert [line.split()[0] for line in lines] == [*COMMANDS, "help"]
    assert all(line.endswith(".") and "..." not in line for line in lines)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Begin with `otf run conference`" in done.out
    assert "  1    the system does what the model does not allow; a mutant was not found" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command: str) -> None:
    """Each command has a page of its own, of 80 columns, on which every option has a text."""
    done = otf(command, "--help")
    assert done.status == 0
    assert done.out.startswith(f"Usage: otf {command} ")
    assert otf(command, "-h").out == done.out or "More options" in otf(command, "-h").out
    assert max(len(line) for line in done.out.splitlines()) <= 80
    options = done.out.partition("Options:")[2].splitlines()
    assert all(len(line.split()) > 2 or not line.lstrip().startswith("--") for line in options if "SECONDS" not in line)


def test_short_help_names_every_option_and_explains_the_first() -> None:
    """`otf run -h` fits two screens of 40 lines; all that `otf run --help` explains is at least named."""
    short, whole = otf("run", "-h").out, otf("run", "--help").out
    assert len(short.splitlines()) <= 80 < len(whole.splitlines())
    assert "More options (otf run --help explains them):\n  What is tested " in short
    assert "\n  Exit status:\n    0 pass, 1 fail, 2 wrong usage" in short
    named = set(re.findall(r"--[a-z][a-z-]+[a-z]", whole.partition("Options:")[2]))
    assert {each for each in named if f"\n  {each} " in whole} <= set(re.findall(r"--[a-z][a-z-]+[a-z]", short))


def test_values_defaults_and_units_are_said() -> None:
    """What shrinking does and costs, what is at the same time, and how much is added: no manual is needed."""
    told = " ".join(otf("run", "--help").out.split())
    assert "fewest inputs that still cause each kind of failure: the system is driven again, up to --budget" in told
    assert "How many paths are driven at the same time, each on its own copy of the system; 1: one after" in told
    assert "as many as --traces says (default: 10); the seed stays." in told


@pytest.mark.parametrize("command", COMMANDS)
def test_one_option_has_one_notation(command: str) -> None:
    """Values are in capitals, or words with bars between them: no TEXT, INTEGER or brackets of the library."""
    options = otf(command, "--help").out.partition("Options:")[2]
    assert not re.findall(r"\n  --\S+ +(?:TEXT|INTEGER|FLOAT|PATH|<\S+|\[\S+)", options)


def test_without_a_command_help_is_shown() -> None:
    """`otf` alone is wrong usage, and shows what there is."""
    done = otf()
    assert (done.status, done.out) == (2, "")
    assert "Test a system:\n  run " in done.err


def test_help_is_a_command_too() -> None:
    """`otf help run` shows what `otf run --help` shows, and `otf help` what `otf --help` does."""
    assert otf("help", "run") == otf("run", "--help")
    assert otf("help") == otf("--help")


def test_the_version() -> None:
    """`otf --version` is one line, with the version of `pyproject.toml`."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (otf("--version").status, otf("--version").out) == (0, f"otf {project['version']}\n")


def test_python_runs_the_package_as_the_command() -> None:
    """`python -m otf` prints what `otf` prints, under the same name, and ends with the same status."""
    command = [sys.executable, "-m", "otf", "brew"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    here = otf("brew")
    assert (done.returncode, done.stdout, done.stderr) == (here.status, here.out, here.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument 'BENCH'"),
        (["run", "coffee", "--tracs", "5"], "No such option: --tracs; did you mean --traces?"),
        (["run", "coffee", "--jobs", "0"], "Invalid value for '--jobs': 0 is not in the range x>=1"),
        (["run", "coffee", "--traces", "-1"], "Invalid value for '--traces': -1 is not in the range x>=1"),
        (["run", "coffee", "--steps", "0"], "Invalid value for '--steps': 0 is not in the range x>=1"),
        (["run", "coffee", "--burst", "0"], "Invalid value for '--burst': 0 is not in the range x>=1"),
        (["run", "coffee", "--malformed", "3"], "Invalid value for '--malformed': 3.0 is not in the range 0<=x<=1"),
        (["explore", "coffee", "--limit", "0"], "Invalid value for '--limit': 0 is not in the range x>=1"),
        (["check", "coffee", "--depth", "-1"], "Invalid value for '--depth': -1 is not in the range x>=0"),
        (
            ["run", "coffee", "--traces", "many"],
            "Invalid value for '--traces': 'many' is not a whole number, such as 10",
        ),
        (["run", "coffee", "--jobs", "x"], "'x' is not a whole number, such as 10"),
        (["run", "coffee", "--inputs", "some"], "'some' is not one of 'uioco', 'any', 'all', 'mixed'"),
        (["run", "coffee", "conference"], "Got unexpected extra argument(s) (conference); leave it out, or put it in"),
        (["replay"], "Missing argument 'TRACE...'. `otf run` writes traces to its --out folder"),
        (["shrink"], "Missing argument 'TRACE'. `otf run` writes traces to its --out folder"),
        (["brew"], "No such command 'brew'"),
        (["--tea"], "No such option: --tea"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    """A call that cannot be meant ends with status 2, the usage and what is wrong; with --json as a document."""
    done = otf(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: otf ")
    assert message in done.err
    document = otf(*arguments, "--json")
    assert document.status == 2
    assert document.data["verdict"] == "error"
    assert message in document.data["error"]


@pytest.mark.parametrize("words", ["show nowhere.jsonl", "explore cofee", "explore coffee --limit 0"])
def test_a_format_of_json_asks_for_the_document_of_an_error_too(words: str) -> None:
    """`--format json` is another name for `--json`, also for what is refused."""
    for form in (["--format", "json"], ["--format=json"]):
        done = otf(*words.split(), *form)
        assert (done.status, done.data["verdict"]) == (2, "error")


@pytest.mark.parametrize(
    ("words", "says", "more"),
    [
        ("the codec has no bytes for the input Up()", "the codec has no bytes for the input", "docs/howto-choose.md"),
        ("connection refused", "the system cannot be reached", "docs/questions.md"),
    ],
)
def test_help_looks_a_message_up(words: str, says: str, more: str) -> None:
    """The words of a message lead to it, and to the guide that says more."""
    first, _, _ = otf("help", *words.split()).out.partition("\n\n")
    assert says in first
    assert more in first


def test_help_says_what_a_public_name_is() -> None:
    """The name of an error, too, which a traceback shows."""
    assert otf("help", "ModelError").out.startswith("ModelError: The model is broken: for instance, ")


def test_help_says_what_a_term_means() -> None:
    """A term of the glossary comes first, in the field's words or in those of otf."""
    for term in ("quiescence", "Quiet"):
        assert otf("help", term).out.startswith(
            "quiescence, δ; `Quiet`: the observation that nothing more comes\n  more: docs/glossary.md\n"
        )
    assert "given number of inputs sent at once, then quiescence\n" in otf("help", "burst").out


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("missing", ["missing"]),
        ("unexpected", ["wrong", "unasked"]),
        ("crashed", ["ended"]),
        ("timeout", ["missing", "late"]),
    ],
)
def test_help_says_what_a_kind_of_failure_means(word: str, kinds: list[str]) -> None:
    """The kind itself, and what users call it; a longer text is a message."""
    lines = otf("help", word).out.splitlines()
    assert [line.partition(",")[0] for line in lines if ", a kind of failure: " in line] == kinds
    assert "a kind of failure" not in otf("help", word, "is", "what", "was", "seen").out
    assert "did you mean crashed?" in failed("help", "crashd")


def test_help_of_an_installed_otf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no guides, so the help names what there is."""
    monkeypatch.setattr("otf.cli.messages.DOCS", tmp_path / "docs")
    assert "\n  more: `python -m pydoc otf.trace`; a clone of otf has docs/questions.md\n" in otf("help", "late").out
    assert "`otf COMMAND --help`; a clone of otf has docs/commands.md\n" in otf("help", "quiescence").out


def test_help_for_words_of_no_message() -> None:
    """They may be a misspelt command."""
    assert failed("help", "repotr").startswith(
        "otf: no message has these words: repotr; did you mean report? the commands"
    )


def test_a_defect_is_told_as_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unforeseen error is not a verdict on the system: status 3, its traceback, and whose defect it is."""
    from otf.cli import called

    monkeypatch.setattr("otf.cli.listing.sources", None)
    # another test of this process may have loaded trio-asyncio, which changes asyncio for good
    monkeypatch.setattr("otf.cli.user_code._BEFORE", {})
    assert called(["list", "--json"]) == 3
    out, err = capsys.readouterr()
    assert "Traceback" in err
    assert "otf: this is a defect of otf, or of a bench's own adapter" in err
    assert "TypeError: 'NoneType' object is not callable" in out
    assert not list(folder.iterdir())


def test_what_a_terminal_would_obey_is_escaped() -> None:
    """Line ends and letters of all languages stay; escape sequences, marks of direction, half characters do not."""
    assert harmless("a\n\u00e9\u4e2d") == "a\n\u00e9\u4e2d"
    assert harmless("\x1b[0m\u202e\udc80\r\x9b") == "\\x1b[0m\\u202e\\udc80\\r\\x9b"


def test_the_help_of_run_begins_with_what_everybody_needs() -> None:
    """`otf run --help` lists eleven options, then the others in groups, each under its name."""
    first, *groups = re.split(r"\n\n(?=\S[^\n]*:\n)", otf("run", "--help").out.partition("\n\nOptions:\n")[2])
    assert re.findall(r"^ +--(\w+)", first, re.MULTILINE) == [
        *("traces", "time", "seed", "out", "resume", "page", "json", "set", "sut", "steps", "stop", "debug"),
    ]
    assert [group.splitlines()[0].removesuffix(":") for group in groups] == list(GROUPS)
