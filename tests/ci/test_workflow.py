"""The workflow of the public forge asks what the project promises."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")


def test_each_supported_python_runs_the_commands_of_the_readme() -> None:
    """The matrix begins with the Python that the package requires, has no gap, and its job runs `.ci/run`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (matrix,) = re.findall(r"python: \[(.*)\]", WORKFLOW)
    minors = [int(version) for version in re.findall(r'"3\.(\d+)"', matrix)]
    assert project["requires-python"] == f">=3.{minors[0]}"
    assert minors == [*range(minors[0], minors[-1] + 1)]
    assert re.search(r"^      - run: bash \.ci/run$", WORKFLOW, re.MULTILINE)


def test_foreign_steps_are_named_by_their_commit() -> None:
    """A tag can be moved to other code; a commit cannot."""
    used = re.findall(r"uses: (\S+)", WORKFLOW)
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each)] == []
