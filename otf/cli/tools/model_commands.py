"""The commands of the tools that query a model, as help shows them: the options of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final

from otf.cli.catalogue import ADAPTIVE, FORMATS, LAWS, METHODS, RUNS, among, faults
from otf.cli.options import (
    AsJson,
    BenchName,
    Depth,
    Jobs,
    Out,
    Sets,
    StateLimit,
    SystemOptions,
    WholeValues,
    flag,
    option,
)

BUDGET: Final = 20_000  # inputs to each mutant
SECONDS: Final = 300.0  # of virtual time


@dataclass(frozen=True, kw_only=True)
class ExploreCommand:
    """Show all states and transitions of a model, within bounds, and its laws; of a large model a summary.

    BENCH may also be an .aut or .dot file. The exit status is 1 if the model has a dead end (a state without a way out,
    or from which no final state can be reached) or if its invariant does not hold.
    """

    bench: BenchName
    form: Annotated[
        str, option("FORM", f"One of {', '.join(FORMATS)}.", "--format", autocompletion=among(*FORMATS))
    ] = "text"
    out: Annotated[Path | None, option("FILE", "The file to write, such as .html; default: standard output.")] = None
    limit: StateLimit = 10_000
    depth: Depth = None
    scenario: Annotated[str | None, option("ACTIONS", "Only this scenario: a regular expression over actions.")] = None
    by: Annotated[
        str | None, option("FIELDS", "Group the states that agree in these fields: members or type,members.")
    ] = None
    page: Annotated[Path | None, option("FILE", "Write a page on which the states are walked.")] = None
    opens: Annotated[bool, flag("--open", "Open such a page in a browser.")] = False
    whole: WholeValues = False
    sets: Sets = None
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf explore coffee                                states and laws
  otf explore coffee --format svg --out coffee.svg  a picture
  otf explore irc --open                            a page to walk on
  otf explore irc --by members                      states that agree are one
  otf explore machine.aut --format mermaid          a file from another tool
  otf explore coffee --scenario 'Coin Coin Button'  only this scenario
"""


@dataclass(frozen=True, kw_only=True)
class CheckCommand:
    """Check laws of a model: each is proven if all states were seen (or all within bounds), passed, or refuted.

    A refuted law is shown with the shortest way to a state that breaks it. The exit status is 1 if a required law does
    not hold: an invariant, a property (the bench's too), or a law named by --law. Without --law three laws are
    required: there is no dead end, no timer expires in a state without a transition for it, and every timer that a
    transition waits for is started somewhere.

    Given the folder of a campaign, it reports which files and lines are whole, torn, edited, mixed or missing. It runs
    and judges nothing. The exit status is then 1 if any was edited, mixed or is missing, and 3 if any was torn.
    """

    bench: BenchName
    laws: Annotated[
        list[str] | None,
        option("LAW", f"Must hold: {', '.join(LAWS)}; repeatable.", "--law", autocompletion=among(*LAWS)),
    ] = None
    invariants: Annotated[
        list[str] | None,
        option(
            "PLACE[=ID]",
            "A function that must hold for every state, and the requirement that it states; repeatable.",
            "--invariant",
        ),
    ] = None
    properties: Annotated[
        list[str] | None,
        option(
            "PLACE", "A temporal property, such as always(…), that must hold for every run; repeatable.", "--property"
        ),
    ] = None
    limit: StateLimit = 10_000
    depth: Depth = None
    sets: Sets = None
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf check conference                           all laws of the model
  otf check coffee --law deterministic           this law must hold
  otf check lamp.py --invariant lamp.py:sane     sane(state) must hold
  otf check lamp.py --invariant lamp.py:sane=R1  and a failure cites R1
  otf check lamp.py --property lamp.py:safe      always(…) must hold
  otf check otf-runs/coffee-7                    is it as it was written?
"""


@dataclass(frozen=True, kw_only=True)
class SuiteCommand:
    """Generate a test suite from a model: lists of inputs, or adaptive tests, each after a reset of the system.

    Its size and what a pass guarantees are printed before anything runs; for a file, by its paths and the current
    model. The tests run and are judged as paths of a campaign; a failure is shrunk. If the method uses inputs that
    the model does not specify, the system must ignore them.
    """

    bench: BenchName
    method: Annotated[
        str,
        option(
            "NAME",
            f"One of {', '.join([*METHODS, *ADAPTIVE])}; or auto: the shortest of chain, spy, hsi and h.",
            autocompletion=among(*METHODS, *ADAPTIVE, "auto"),
        ),
    ] = "chain"
    extra: Annotated[
        int,
        option(
            "NUMBER",
            "How many more states than the model the system may have. w, wp and hsi then cover some larger ones, too.",
            min=0,
        ),
    ] = 0
    reset_cost: Annotated[float, option("NUMBER", "For auto: how many inputs a reset costs.", min=0)] = 1.0
    limit: Annotated[int, option("NUMBER", "At most this many states of the model.", min=1)] = 100_000
    write: Annotated[Path | None, option("FILE", "Write the suite, and do not run it.")] = None
    read: Annotated[Path | None, option("FILE", "Run a suite from a file.")] = None
    runs: Annotated[int | None, option("NUMBER", f"How often each adaptive test is run; default: {RUNS}.", min=1)] = (
        None
    )
    dry: Annotated[bool, flag("--dry", "Describe the suite, and do not run it.")] = False
    jobs: Jobs = 1
    out: Out = None
    system: SystemOptions
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf suite coffee                              describe it, then run it
  otf suite coffee --method tour --dry          only describe it
  otf suite coffee --method hsi --extra 1 --write suite.json
  otf suite coffee --method auto --reset-cost 20 --dry
  otf suite coffee --read suite.json
  otf suite bench.py --method state-counting    for a system that has a choice
"""


@dataclass(frozen=True, kw_only=True)
class MutantsCommand:
    """Run against every mutant that the bench ships, and print which were found, in how many steps.

    It tests the tester: each mutant is the system with one known mistake. A failure that is found is shrunk at once.
    If the bench ships none, or BENCH is a model, mutants of the model are tried, served as the system in virtual time:
    see "Would this bench notice?" in docs/howto-models.md. With --out DIR their fates are written there, for the page
    of `otf report DIR`. The exit status is 0 if all mutants were found or are
    proved to conform, 1 if one was not, 3 if paths of one that was not were inconclusive.
    """

    bench: BenchName
    only: Annotated[
        list[str] | None, option("ID", "Only this mutant; repeatable.", "--fault", autocompletion=faults)
    ] = None
    budget: Annotated[int, option("STEPS", "How many inputs may be sent to each mutant.", min=1)] = BUDGET
    seed: Annotated[int, option("NUMBER", "The seed of all campaigns.")] = 1
    model: Annotated[bool, flag("--model", "Mutate the model itself, though the bench ships mutants.")] = False
    most: Annotated[int, option("NUMBER", "How many mutants of the model are tried.", min=1)] = 100
    operators: Annotated[
        list[str] | None, option("NAME", "Only such mutants of the model: drop, field, …; repeatable.", "--operator")
    ] = None
    seconds: Annotated[float, option("SECONDS", "Virtual time for each mutant of the model.", min=0.0)] = SECONDS
    spend: Annotated[str | None, option("TIME", "End after this time (60s, 5m); mutants of the model only.")] = None
    mode: Annotated[str, option("MODE", "For mutants of the model: eager or strict.")] = "eager"
    jobs: Jobs = 1
    out: Out = None
    system: SystemOptions
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf mutants coffee               each known fault must be found
  otf mutants coffee --fault free  one of them
"""
