"""The examples in docstrings do what they say."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import linecache
import pkgutil
from collections.abc import Iterator
from itertools import pairwise
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


def of_values(module: ModuleType) -> Iterator[doctest.DocTest]:
    """Yield the examples below the values and type aliases of a module, whose texts exist in its source only."""
    parser, body = doctest.DocTestParser(), ast.parse(inspect.getsource(module) or "").body
    for value, text in pairwise(body):
        if isinstance(value, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr):
            told = str(ast.literal_eval(text.value))
            yield parser.get_doctest(told, dict(vars(module)), module.__name__, module.__file__, text.lineno)


@pytest.mark.parametrize("name", PACKAGES)
def test_the_examples_of_a_package_hold(name: str) -> None:
    """Each example results in the lines below it, and each of these packages has examples."""
    linecache.clearcache()  # before each docstring, doctest asks the disk about every file in it
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    found = modules(name)
    tests = [test for module in found for test in (*finder.find(module), *of_values(module)) if test.examples]
    assert tests
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
