"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
import linecache
import pkgutil
from types import ModuleType

import pytest

import otf

# a script, exceptions, fixtures, and what would decide how these tests end
WITHOUT = {"otf.__main__", "otf.errors", "otf.pytest_plugin", "otf.supervisor"}
PACKAGES = sorted({f"otf.{each.name}" for each in pkgutil.iter_modules(otf.__path__)} - WITHOUT)


def modules(name: str) -> list[ModuleType]:
    """Return a package and its modules, or a module by itself."""
    package = importlib.import_module(name)
    path = getattr(package, "__path__", ())
    return [package, *(importlib.import_module(each.name) for each in pkgutil.walk_packages(path, f"{name}."))]


@pytest.mark.parametrize("name", PACKAGES)
def test_the_examples_of_a_package_hold(name: str) -> None:
    """Each example results in the lines below it, and each of these packages has examples."""
    linecache.clearcache()  # before each docstring, doctest asks the disk about every file in it
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = [test for module in modules(name) for test in finder.find(module) if test.examples]
    assert tests
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
