"""A benchmark measures what its command line asks for, or nothing."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.measure import save

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    file.stem for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text(encoding="utf-8")
)


def ended(program: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Return the status with which a benchmark ends before it measures, and what it printed."""
    with pytest.raises(SystemExit) as leaving:
        import_module(f"benchmarks.{program}").main(arguments)
    out, err = capsys.readouterr()
    return leaving.value.code, out, err


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_measures_nothing(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` prints how the benchmark is called and what it measures, and ends."""
    status, out, err = ended(program, capsys, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: python -m benchmarks.{program} ")
    assert "None" not in out


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unknown_option_measures_nothing(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that is misspelt ends with status 2, since otherwise it would measure the defaults."""
    status, out, err = ended(program, capsys, "--stesp", "5")
    assert (status, out) == (2, "")
    assert "unrecognized arguments: --stesp" in err or "arguments are required" in err or "invalid choice" in err


@pytest.mark.parametrize(
    ("program", "option", "value", "message"),
    [
        ("speed", "--walks", "0", "0 is less than 1"),
        ("strategies", "--seeds", "many", "invalid positive value: 'many'"),
        ("shrink", "--system", "toaster", "invalid choice: 'toaster'"),
        ("wire", "--only", "udp,usb", "unknown: usb; possible are udp, tcp, pipe, pty"),
    ],
)
def test_a_value_that_cannot_be_measured_is_refused(
    program: str, option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what is wrong with the value."""
    status, _, err = ended(program, capsys, option, value)
    assert status == 2
    assert message in err


def test_figures_are_written_where_a_file_is_named(tmp_path: Path) -> None:
    """A file gets the figures as JSON; without one nothing is written."""
    save({"otf": 1.5}, tmp_path / "figures.json")
    save({"otf": 2.5}, None)
    assert json.loads((tmp_path / "figures.json").read_text(encoding="utf-8")) == {"otf": 1.5}
    assert [file.name for file in tmp_path.iterdir()] == ["figures.json"]
