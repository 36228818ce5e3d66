"""What is installed is what lies in the folders, and it is there at once."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
LINKS = {"adapters": Path("../adapters"), "models": Path("../models")}
BUDGET_MS = 150


def packages_below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Find each folder that Python takes for a package, without following a link."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        if "__init__.py" in files:
            here = Path(path)
            yield ".".join([name, *here.relative_to(folder).parts]), here.relative_to(ROOT)


def on_disk() -> dict[str, Path]:
    """Say under which name each folder is to be imported."""
    parts = {"otf": ROOT / "otf", "otf.adapters": ROOT / "adapters", "otf.models": ROOT / "models"}
    return dict(found for name, folder in parts.items() for found in packages_below(folder, name))


def installed_from(package: str) -> Path:
    """Say which folder a package is built from: the longest name in the mapping decides, as in setuptools."""
    mapping: dict[str, str] = SETUP["package-dir"]
    known = max((name for name in mapping if f"{package}.".startswith(f"{name}.")), key=len)
    return Path(mapping[known], *package.removeprefix(known).split(".")[1:])


def code(folder: Path) -> Iterator[Path]:
    """Find the Python files of one package."""
    return (ROOT / folder).glob("*.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from a copy of the work tree."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, tree], check=True)
    (built,) = folder.glob("*.whl")
    return built


def type_completeness(folder: Path) -> dict[str, Any]:
    """Let pyright look at the package in a folder, as it does where a user has installed it."""
    # it asks the `python` of the path where packages are, and the folder has to come before an editable otf
    env = {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pyright", "--verifytypes", "otf", "--ignoreexternal", "--outputjson"]
    # elsewhere: in the work tree it would read the settings of this project
    told = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd=folder)
    found: dict[str, Any] = json.loads(told.stdout)["typeCompleteness"]
    return found


def cpu_ms(program: str) -> float:
    """Measure the processor time of a fresh interpreter: the least of several, since a busy machine only adds to it."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (usage.ru_utime + usage.ru_stime) * 1000

    def once() -> float:
        before = spent()
        subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL, env=untraced)
        return spent() - before

    untraced = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return min(once() for _ in range(7))


def test_every_folder_of_code_is_installed() -> None:
    """The list of packages names each folder with an `__init__.py`, and its mapping leads to that folder."""
    assert {package: installed_from(package) for package in SETUP["packages"]} == on_disk()


@pytest.mark.slow
def test_a_wheel_holds_each_file_once(wheel: Path) -> None:
    """A wheel built from a work tree holds the files of all packages, as files and once, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.startswith("otf-")]
    source = [
        f"{package.replace('.', '/')}/{file.name}" for package, folder in on_disk().items() for file in code(folder)
    ]
    page = (file.name for kind in ("*.css", "*.js") for file in (ROOT / "otf" / "report").glob(kind))
    others = ["otf/py.typed", *(f"otf/report/{name}" for name in page)]
    assert sorted(names) == sorted([*others, *source])


@pytest.mark.slow
def test_an_installed_otf_tells_the_types_of_all_its_names(wheel: Path, tmp_path: Path) -> None:
    """Of what a wheel exports nothing is left for a type checker to infer, so that all of them see the same types."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    found = type_completeness(tmp_path)
    unclear = [
        f"{symbol['name']}: {problem['message']}" for symbol in found["symbols"] for problem in symbol["diagnostics"]
    ]
    assert Path(found["packageRootDirectory"]) == tmp_path / "otf"
    assert unclear == []
    assert found["completenessScore"] == 1


@pytest.mark.parametrize(("name", "target"), LINKS.items())
def test_links_lead_next_door(name: str, target: Path) -> None:
    """The links that make a work tree importable are relative, so that they hold in every clone."""
    link = ROOT / "otf" / name
    assert link.readlink() == target
    assert link.resolve() == ROOT / name


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import otf", id="import otf"),
        pytest.param("import sys; sys.argv = ['otf', '--help']; from otf.cli import main; main()", id="otf --help"),
    ],
)
def test_it_is_there_at_once(program: str) -> None:
    """Neither the import nor the help costs more than 150 ms of CPU beyond what Python itself needs to start."""
    assert cpu_ms(program) - cpu_ms("pass") < BUDGET_MS


def test_each_package_of_an_extra_has_its_licence() -> None:
    """The table of licences has each requirement of otf and of its extras, and no other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"otf": project["dependencies"], **project["optional-dependencies"]}
    needed = {(extra, re.split(r"[^\w-]", each)[0]) for extra, lines in extras.items() for each in lines}
    page = (ROOT / "docs" / "reference-extras.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in page.splitlines() if line.startswith("| ")]
    known = {(extra, name) for extra, names, licence in rows[1:] if licence for name in names.split(", ")}
    assert {pair for pair in needed if pair[1] != "otf"} == known
