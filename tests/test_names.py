"""The public names: few at the top, and all that a bench is made of in one place."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import otf
import otf.adapter

MOST = 30
ROOT = Path(__file__).parents[1]


def test_the_top_has_few_names() -> None:
    """`from otf import …` gives at most 30 names, each the same object as in its home, and each is listed."""
    assert len(otf.__all__) <= MOST
    assert dir(otf) == sorted(otf.__all__)
    for name in otf.__all__:
        value = getattr(otf, name)
        assert getattr(import_module(value.__module__), value.__name__) is value


def test_there_is_no_other_name_at_the_top() -> None:
    """A name that is not there is an AttributeError that names it."""
    with pytest.raises(AttributeError, match="module 'otf' has no attribute 'Nothing'"):
        _ = otf.Nothing  # type: ignore[attr-defined]


def test_a_model_file_imports_a_part_of_otf() -> None:
    """`from otf import *` gives all that a model needs, and leaves what drives a system to `run`."""
    code = "from otf import *; import sys; print(*(name for name in sys.modules if name.startswith('otf')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert len(found) <= 60
    assert not {"otf.campaign.campaign", "otf.core.monitor", "otf.runner.path", "otf.shrink"}.intersection(found)


def test_a_bench_is_made_of_what_is_in_one_package() -> None:
    """`otf.adapter` has each type of a field of `Bench`, and each word that a codec, a model's port or a line needs."""
    for name in ("Barrier", "Ended", "Life", "Limits", "KnownIssue", "PortAction", "Codec", "lossy", "reordering"):
        assert name in otf.adapter.__all__
    assert dataclasses.is_dataclass(otf.adapter.Bench)
    assert all(hasattr(otf.adapter, name) for name in otf.adapter.__all__)


def test_a_type_name_means_one_thing() -> None:
    """No public class or type alias of otf/ and adapters/ is defined twice, fewer than five in all; models apart."""
    twice = {name: files for name, files in defined().items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if not name.startswith("_")} == {}
    assert len(twice) < 5


def test_a_name_that_is_defined_twice_is_found() -> None:
    """Classes, aliases and annotated aliases count; type variables, constants and functions do not."""
    aliases = "Both = int | str\nAlias: TypeAlias = int\n"
    found = types(f'class A: ...\n{aliases}D = TypeVar("D")\nE = 1\nF: Final = 2\ndef H(): ...')
    assert list(found) == ["A", "Both", "Alias"]


def defined() -> dict[str, list[str]]:
    """Return the files in which each type name is defined."""
    found = defaultdict[str, list[str]](list)
    for file in (*ROOT.glob("otf/**/*.py"), *ROOT.glob("adapters/**/*.py")):
        inner = file.relative_to(ROOT).parts
        if inner[:2] not in {("otf", "adapters"), ("otf", "models")}:  # links to folders beside otf/
            for name in types(file.read_text(encoding="utf-8")):
                found[name].append("/".join(inner))
    return found


def types(source: str) -> Iterator[str]:
    """Yield the names of the classes and type aliases at the top of a file, type variables apart."""
    for node in ast.parse(source).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Subscript()) if is_camel(name):
                yield name
            case _:
                pass


def is_camel(name: str) -> bool:
    """Return whether a name is written like that of a type."""
    return name.lstrip("_")[:1].isupper() and not name.isupper()
