"""The two commands of the README are taken from it word for word, or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "commands.py"
RUN = "<!-- command: run -->\n```sh\notf run conference && echo 'it holds'\n```\n"
TEST = "<!-- command: test -->\n```sh\npytest\n```\n"


def taken_from(readme: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as continuous integration does."""
    return subprocess.run([sys.executable, SCRIPT, readme], capture_output=True, text=True, check=False)


def test_commands_come_out_word_for_word_and_in_order(tmp_path: Path) -> None:
    """Quotes and operators survive, prose and other blocks are left out, and `run` comes before `test`."""
    readme = tmp_path / "README.md"
    readme.write_text(f"# A title\n\n{TEST}\nand\n\n```sh\nrm -r everything\n```\n\n{RUN}", encoding="utf-8")
    assert taken_from(readme).stdout == "otf run conference && echo 'it holds'\npytest\n"


def test_the_readme_of_this_project_has_both() -> None:
    """What the README promises a newcomer is what continuous integration runs."""
    done = taken_from(SCRIPT.parents[1] / "README.md")
    assert [line.split(" && ")[-1] for line in done.stdout.splitlines()] == [
        ".venv/bin/otf run conference",
        ".venv/bin/pytest -n 3 --dist loadfile",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(RUN, "marks the commands ['run']", id="one is missing"),
        pytest.param(RUN + TEST + RUN, "marks the commands ['run', 'test', 'run']", id="one is there twice"),
        pytest.param(RUN.replace("run -->", "walk -->") + TEST, "['walk', 'test']", id="one is misspelt"),
        pytest.param(RUN.replace("```sh", "\n```sh") + TEST, "marker of 'run' is not followed", id="a gap"),
        pytest.param(RUN.replace("&&", "\n") + TEST, "marker of 'run' is not followed", id="two lines"),
        pytest.param(RUN + TEST.replace("pytest", " "), "marker of 'test' is not followed", id="an empty block"),
    ],
)
def test_a_readme_that_has_drifted_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    """Whatever is not exactly two marked commands of one line each ends with status 2 and says what is wrong."""
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    done = taken_from(readme)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
