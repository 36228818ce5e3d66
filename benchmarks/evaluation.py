"""The page of the evaluation and its plots, from stored figures: `python -m benchmarks.evaluation [--write]`.

The figures are in `evaluation.json`, each table with the command that measures it again; nothing is computed here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.evaluation_plots import plot

STORED: Final = Path(__file__).with_suffix(".json")
PAGE: Final = Path(__file__).parents[1] / "docs" / "topics-evaluation.md"
PICTURES: Final = PAGE.parent / "pictures"


def page(stored: dict[str, Any]) -> str:
    """Return the page as Markdown."""
    return "\n".join([*_head(stored), *(line for table in stored["tables"] for line in _table(table)), *_tail(stored)])


def _head(stored: dict[str, Any]) -> Iterator[str]:
    yield "# Evaluation: otf on subjects that everybody knows\n"
    yield "<!-- made by python -m benchmarks.evaluation --write -->\n"
    yield from (f"{each}\n" for each in stored["method"])
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {value} |" for name, value in stored["setting"].items())
    yield ""


def _table(table: dict[str, Any]) -> Iterator[str]:
    yield f"## {table['name']}\n"
    yield from (f"{each}\n" for each in table["says"])
    if "subject" in table:
        yield f"Subject: {table['subject']}. Licence: {table['licence']}. Snapshot: `{table['snapshot']}`.\n"
    yield f"To repeat the measurement, type `{table['command']}`.\n"
    yield f"During the measurement, the load of the machine was {table['load']}.\n"
    yield _row(table["columns"])
    yield "|" + "---|" * len(table["columns"])
    yield from map(_row, table["rows"])
    yield ""
    if "plot" in table:
        yield f"![{table['plot']['axis']}](pictures/{table['plot']['file']})\n"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(f'{each:,}' if isinstance(each, int) else str(each) for each in cells)} |"


def plots(stored: dict[str, Any]) -> dict[str, str]:
    """Return the plots by their files."""
    return {table["plot"]["file"]: plot(table) for table in stored["tables"] if "plot" in table}


def _tail(stored: dict[str, Any]) -> Iterator[str]:
    for head, name in (("Threats to validity", "threats"), ("What we did not reach", "missing")):
        yield f"## {head}\n"
        yield from (f"- {each}" for each in stored[name])
        yield ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} and its plots")
    write = parser.parse_args(arguments).write
    stored = json.loads(STORED.read_text())
    text = page(stored)
    if write:
        PAGE.write_text(text)
        for name, picture in plots(stored).items():
            (PICTURES / name).write_text(picture)
    else:
        print(text)


if __name__ == "__main__":
    main()
