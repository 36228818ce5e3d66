"""Models in files of other tools, compared with live systems."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from otf.cli.benches import load, parameters
from tests.cli.command import failed, otf

MACHINE = """digraph g {
  s0 -> s1 [label="SYN(V,V,0) / ACK+SYN(FRESH,NEXT,0)"];
  s0 -> s0 [label="ACK(V,V,0) / RST(ZERO,ZERO,0)"];
  s1 -> s1 [label="SYN(V,V,0) / -"];
  s1 -> s0 [label="ACK(V,V,0) / ACK(NEXT,NEXT,0), RST(ZERO,ZERO,0)"];
  __start0 -> s0;
}
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine in a file."""
    file = tmp_path / "machine.dot"
    file.write_text(MACHINE, encoding="utf-8")
    return file


@pytest.mark.real
def test_one_command_compares_a_live_system_with_a_machine_in_a_file(machine: Path) -> None:
    """The machine itself as a program on pipes passes; with a fault it fails, and its trace is judged again."""
    system, out = f"exec:{sys.executable} -m otf.cli.model_server {machine}", machine.parent / "out"
    quick = ("--set", "quiescence=0.3", "--traces", 1, "--steps", 12, "--seed", 1)
    done = otf("run", machine, "--sut", system, *quick, "--out", out / "right")
    assert done.status == 0, done.said
    wrong = otf("run", machine, "--sut", f"{system} --fault 1", *quick, "--no-shrink", "--out", out / "wrong")
    assert wrong.status == 1, wrong.said
    trace = out / "wrong" / "path-0001.jsonl"
    assert otf("replay", trace, "--bench", machine).status == 1


def test_a_machine_without_a_system_says_what_is_missing(machine: Path) -> None:
    """The address of the system."""
    assert f"{machine} is a model, and says nothing of a system: add --sut exec:COMMAND" in failed(
        "run", machine, "--traces", 1, "--out", machine.parent / "out"
    )


def test_a_file_is_a_bench_for_every_command(machine: Path) -> None:
    """Its name, its parameters, and a description in TOML beside it."""
    (machine.parent / "lab.toml").write_text('bench = "machine.dot"\n[ports]\nline = "exec:cat"\n', encoding="utf-8")
    assert (load(str(machine)).name, parameters(str(machine))) == ("machine", {})
    assert load(str(machine.parent / "lab.toml")).spec.initial == "s0"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """It is not there, or no text."""
    (tmp_path / "b.aut").write_bytes(b"\xff")
    assert "No such file" in failed("run", tmp_path / "a.dot")
    assert "can't decode byte 0xff" in failed("run", tmp_path / "b.aut")
