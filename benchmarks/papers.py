"""The definitions, examples and figures of the papers that otf builds on, beside otf's own results.

`python -m benchmarks.papers` prints the tables; `--write` puts them into docs/topics-papers.md. The right column is
computed here, with fixed seeds; the left is copied from the papers. This takes a minute or two of CPU, nearly all of it
for the tables on shrinking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final

from benchmarks.measure import command
from benchmarks.papers_functions import functions
from benchmarks.papers_line import PaperLine, at, line_of
from benchmarks.papers_models import modelled, reactive
from benchmarks.shrink import rows
from benchmarks.shrink_classical import cycles as model_cycles
from benchmarks.shrink_classical import elements, halving, partial
from benchmarks.shrink_subjects import SYSTEMS
from otf.notations import Command, generate

PAGE: Final = Path(__file__).parent.parent / "docs" / "topics-papers.md"
BEGIN: Final = "<!-- made by python -m benchmarks.papers -->"
SEEDS: Final = 10


SHRUNK: Final = {  # the averages of the tables: issue, elements, transitions, cycles, both, transitions
    "table 1, a vending machine": ("368", "6", "97,235", "14", "6", "951"),
    "table 2, ten vending machines": ("173", "4", "37,534", "11", "4", "458"),
    "table 3, essential cycles": ("51", "51", "2,068", "19", "19", "338"),
}


def shrinking() -> Iterator[PaperLine]:
    """Yield the averages of the tables of "Model-Based Shrinking for State Based Testing"."""
    yield PaperLine("3", "algorithm: half as long, at random", "", at(halving))
    yield PaperLine("5.1, 6.1", "algorithm: single transitions", "", f"{at(elements)}, with `truncates`")
    yield PaperLine("5.2, 6.3", "algorithm: cycles of the model", "", at(model_cycles))
    vending, cycles = SYSTEMS["vending"], SYSTEMS["cycles"]
    why = "we had to use other mutants and failing paths: the paper does not list its own"
    for (name, theirs), subjects in zip(SHRUNK.items(), (vending[:1], vending, cycles[:1]), strict=True):
        yield PaperLine("7", name, _averages(theirs), _averages(_shrunk(subjects, "-truncated")), why)
        yield PaperLine("7", f"{name}, skipping", "", _averages(_shrunk(subjects, "")), "otf skips unspecified inputs")


def _shrunk(subjects: list[Any], suffix: str) -> tuple[str, ...]:
    names = f"elements{suffix}", "cycles", f"cycles+elements{suffix}"
    found = [row for subject in subjects for seed in range(SEEDS) for row in rows(subject, seed, names)]
    elements, cycles, both = ([row for row in found if row.algorithm == name] for name in names)
    numbers = [
        mean(row.issue for row in elements),
        mean(row.length for row in elements),
        mean(row.transitions for row in elements),
        mean(row.length for row in cycles),
        mean(row.length for row in both),
        mean(row.transitions for row in both),
    ]
    return tuple(f"{number:,.0f}" for number in numbers)


def _averages(numbers: tuple[str, ...]) -> str:
    issue, elements, took, cycles, both, less = numbers
    return f"{issue} inputs; elements {elements} for {took} transitions; cycles {cycles}; both {both} for {less}"


def commanded() -> Iterator[PaperLine]:
    """Yield what is in "Stateful testing" of kiri-check."""
    yield PaperLine("Commands", "precondition, next state, run, postcondition", "", at(Command))
    yield PaperLine("Execution", "all commands on the model, then on the system", "", at(generate))
    yield PaperLine("Shrinking", "partial, reducing, value", "three phases", f"{at(partial)}")


PAPERS: Final[dict[str, Callable[[], Iterator[PaperLine]]]] = {
    "Koopman and Plasmeijer, Testing with Functions as Specifications": functions,
    "Koopman and Plasmeijer, Testing Reactive Systems with GAST": reactive,
    "Koopman, Achten and Plasmeijer, Model-Based Shrinking for State Based Testing": shrinking,
    "Jacky, PyModel: Model-based testing in Python": modelled,
    "kiri-check, Stateful testing": commanded,
}


def tables() -> str:
    """Return the tables of all papers."""
    return "\n".join(_table(name, list(lines())) for name, lines in PAPERS.items())


def _table(name: str, lines: list[PaperLine]) -> str:
    head = f"## {name}\n\n| section | what | the paper | otf | where they differ |\n|---|---|---|---|---|\n"
    return head + "".join(f"{line_of(line)}\n" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or write them."""
    parser = command("papers", __doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page of the docs")
    chosen = parser.parse_args(arguments)
    made = tables()
    if chosen.write:
        head = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
        PAGE.write_text(f"{head}{BEGIN}\n\n{made}", encoding="utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
