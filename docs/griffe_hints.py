"""Facts that griffe, which reads files and imports nothing, gets wrong.

A name may hide the submodule that defines it: `otf.campaign.run` is a function from the file run.py. For Python the
function wins, since the package imports it; for griffe the file wins. And `light` makes a dataclass.
"""

from __future__ import annotations

import copy
from typing import Any

import griffe

_NAME = griffe.ExprName("dataclass", parent=griffe.ExprName("dataclasses"))
_DATACLASS = griffe.Decorator(_NAME, lineno=None, endlineno=None)


class Hints(griffe.Extension):
    """Corrects classes and packages; dataclasses have to have their signatures before that."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:  # noqa: ANN401 -- what griffe may pass one day
        """Let a class with the decorator `light` be a dataclass."""
        if any(str(each.value) == "light" for each in cls.decorators):
            cls.decorators.append(_DATACLASS)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:  # noqa: ANN401 -- the same
        """Put names in the place of the submodules that they hide."""
        for package in _packages(pkg):
            for name, module in list(package.modules.items()):
                if not module.is_alias and (home := package.imports.get(name)):
                    package.members[name] = named = _instead(module, pkg.modules_collection[home], package)
                    for alias in list(module.aliases.values()):  # the same name in other packages: `otf.run`
                        alias.target = named


def _packages(package: griffe.Module) -> list[griffe.Module]:
    inner = [each for each in package.modules.values() if not each.is_alias and each.is_init_module]
    return [package, *(found for each in inner for found in _packages(each))]


def _instead(module: griffe.Module, visible: griffe.Object, package: griffe.Module) -> griffe.Object:
    named = copy.copy(visible)
    named.parent = package
    named.members = {**named.members, **module.members}  # other names are still found by paths through the submodule
    return named
