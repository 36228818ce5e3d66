"""The contracts of the import linter say the same thing about the same layers."""

import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}


def exists(layer: str) -> bool:
    """Say whether a layer has been written already."""
    return any((ROOT / "otf" / place).exists() for place in (f"{layer}.py", f"{layer}/__init__.py"))


def test_every_layer_below_the_adapter_is_held_pure() -> None:
    """A layer that is added below the runner and its adapter is added to the contract that keeps I/O and clocks out."""
    layers: list[str] = CONTRACTS["layers"]["layers"]
    below = [name.strip(" ()") for row in layers[layers.index("adapter") + 1 :] for name in row.split(":")]
    assert sorted(CONTRACTS["pure"]["source_modules"]) == sorted(f"otf.{layer}" for layer in below if exists(layer))


def test_no_module_imports_itself_by_way_of_others() -> None:
    """The modules of otf can be ordered so that each imports earlier ones only; imports in functions count."""
    graph = grimp.build_graph("otf")
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imported).prepare()  # a CycleError names the circle
    assert len(imported) > 200


def test_the_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """No module imports what a contract forbids it."""
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0, capsys.readouterr().out
