"""Completion in a shell, and names that are nearly right."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import failed, otf


def completed(words: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words with which bash completes the last of these words."""
    monkeypatch.setenv("_OTF_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    return otf().out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("otf re", ["report", "rerun", "replay"]),
        ("otf run cof", ["coffee"]),
        ("otf run --stra", ["--strategy"]),
        ("otf run no-such", []),
        ("otf run coffee --strategy least-s", ["least-state"]),
        ("otf suite coffee --method t", ["tour"]),
        ("otf explore coffee --format m", ["mermaid"]),
        ("otf show trace.jsonl --format c", ["chart"]),
        ("otf mutants conference --fault C1", ["C1", "C10"]),
        ("otf run coffee --set f", ["fault="]),
        ("otf run coffee --set fault = f", ["fault=free", "fault=full"]),
    ],
)
def test_words_are_completed(words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands, shipped benches, options."""
    assert completed(words, monkeypatch) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str) -> None:
    """It calls otf to complete a word."""
    done = otf("completion", shell)
    assert done.status == 0
    assert f"_OTF_COMPLETE=complete_{shell}" in done.out


@pytest.mark.real
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_in_bash(folder: Path) -> None:
    """The script is taken by a real shell, and offers what begins so."""
    script = (
        'eval "$(otf completion bash)"; COMP_WORDS=(otf re); COMP_CWORD=1; _otf_completion otf; echo ${COMPREPLY[@]}; '
        "COMP_WORDS=(otf run coffee --set fault = f); COMP_CWORD=6; _otf_completion otf; echo ${COMPREPLY[@]}"
    )
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(["bash", "-c", script], env=path, capture_output=True, text=True, check=True)  # noqa: S607
    assert done.stdout == "report rerun replay\nfree full\n"


def test_an_unknown_shell() -> None:
    """The error lists the shells."""
    assert "tcsh: there is no script for this shell; there are scripts for bash, zsh, fish" in failed(
        "completion", "tcsh"
    )


def test_a_command_that_is_nearly_right() -> None:
    """The nearest is named, and all that there are."""
    done = otf("shirnk")
    assert done.status == 2
    assert "No such command 'shirnk'; did you mean shrink? the commands are run, new, list, " in done.err
    assert "No such command 'xyz'; the commands are run, " in otf("xyz").err
    assert "No such option: --verson" in otf("--verson").err
