"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import otf

WITHOUT = {"otf.__main__", "otf.errors", "otf.pytest_plugin"}  # a script, exceptions, fixtures
PACKAGES = sorted({f"otf.{each.name}" for each in pkgutil.iter_modules(otf.__path__)} - WITHOUT)


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
