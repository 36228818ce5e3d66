"""The size of the tree is counted by one script, the same for any checkout."""

from __future__ import annotations

from pathlib import Path

from benchmarks.size import Size, measure, size_of, sources, table

MODULE = '''"""A module."""

__all__ = ["shown"]
LIMIT: int = 3
_hidden = 1


def shown() -> int:
    """Return a number."""
    if LIMIT:
        return _hidden
    return 0


class _Inside:
    """A class that nobody sees."""
'''


def test_a_module_is_counted() -> None:
    """Docstrings are not statements, and a name with an underscore is not public."""
    assert size_of(MODULE) == Size(lines=16, statements=8, files=1, functions=1, public=2, documented=1)


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A folder that is a link belongs to another tree, and what is not Python does not count."""
    package, beside = tmp_path / "otf", tmp_path / "models"
    for folder in (package / "core", beside):
        folder.mkdir(parents=True)
        (folder / "one.py").write_text("A = 1\nB = 2\n")
    (package / "__init__.py").write_text("")
    (package / "page.css").write_text("p {}\n")
    (package / "models").symlink_to(beside)
    assert [str(path.relative_to(tmp_path)) for path in sources(package)] == ["otf/__init__.py", "otf/core/one.py"]
    assert measure(tmp_path) == {"(modules)": Size(files=1), "core": Size(lines=2, statements=2, files=1, public=2)}
    assert table(measure(tmp_path)).splitlines()[-1].split() == ["otf/", "2", "2", "2", "0", "2", "0"]
