"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

PACKAGES = (
    "otf.channels",
    "otf.campaign.run",
    "otf.adapter",
    "otf.adapters",
    "otf.codec",
    "otf.compat",
    "otf.compose",
    "otf.explore",
    "otf.framing",
    "otf.fronts",
    "otf.laws",
    "otf.logic",
    "otf.renamed",
    "otf.runner",
    "otf.shrink",
    "otf.spec",
    "otf.suite",
    "otf.testing",
    "otf.trace",
    "otf.values",
)


def modules(name: str) -> list[ModuleType]:
    """Return a package and its modules, or a module by itself."""
    package = importlib.import_module(name)
    path = getattr(package, "__path__", ())
    return [package, *(importlib.import_module(each.name) for each in pkgutil.walk_packages(path, f"{name}."))]


@pytest.mark.parametrize("name", PACKAGES)
def test_the_examples_of_a_package_hold(name: str) -> None:
    """Each example results in the lines below it, and each of these packages has examples."""
    results = [doctest.testmod(module) for module in modules(name)]
    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) > 0
