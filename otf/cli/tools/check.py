"""`otf check`: laws of a model, for people and for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from otf.cli.option_values import LAWS, LIVE, REQUIRED, among
from otf.cli.options import AsJson, BenchName, Depth, Sets, StateLimit, guarded, option
from otf.cli.output import document, say
from otf.errors import FAIL, PASS, UsageError

EXAMPLES = """\b
Examples:
  otf check conference                           all laws of the model
  otf check coffee --law deterministic           this law must hold
  otf check lamp.py --invariant lamp.py:sane     sane(state) must hold
  otf check lamp.py --invariant lamp.py:sane=R1  and a failure cites R1
  otf check lamp.py --property lamp.py:safe      always(…) must hold
  otf check otf-runs/coffee-7                    is it as it was written?
"""


@guarded
def check(
    bench: BenchName,
    laws: Annotated[
        list[str] | None,
        option("LAW", f"Must hold: {', '.join(LAWS)}; repeatable.", "--law", autocompletion=among(*LAWS)),
    ] = None,
    invariants: Annotated[
        list[str] | None,
        option(
            "PLACE[=ID]",
            "A function that must hold for every state, and the requirement that it states; repeatable.",
            "--invariant",
        ),
    ] = None,
    properties: Annotated[
        list[str] | None,
        option(
            "PLACE", "A temporal property, such as always(…), that must hold for every run; repeatable.", "--property"
        ),
    ] = None,
    limit: StateLimit = 10_000,
    depth: Depth = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Check laws of a model: each is proven if all states were seen (or all within bounds), passed, or refuted.

    A refuted law comes with the shortest way to a state where it does not hold. The exit status is 1 if a required law
    does not hold: an invariant, a property (those of the bench too), a law named by --law; without --law that there is
    no dead end, that no timer expires in a state without a transition for it, and that each timer of a transition is
    started somewhere.

    For the folder of a campaign it says which files and lines are whole, torn, edited, mixed or missing. It runs and
    judges nothing. The exit status is 1 if one was edited, mixed or is missing, 3 if one was torn.
    """
    from otf.adapter.third_party import watched
    from otf.campaign.journal_lines import JOURNAL
    from otf.cli.benches import parsed
    from otf.cli.tools.explore import bar, model
    from otf.cli.tools.folder_check import checked_folder
    from otf.cli.tools.laws import as_law, cited_sentences, invariant_findings, property_findings, summary
    from otf.explore import explore as explored
    from otf.explore.analysis import ask_twice, general, liveness
    from otf.explore.expiring import expiring
    from otf.explore.finding import LawVerdict

    if (Path(bench) / JOURNAL).exists():
        return checked_folder(Path(bench), as_json=as_json)
    asked = _asked(laws)
    spec = model(bench, parsed(sets))
    with bar(quiet=as_json) as progress, watched():
        graph = explored(spec, limit, depth=depth, progress=progress)
        ask_twice(spec, graph)
        timers = expiring(spec, limit)
    given = (*invariant_findings(graph, invariants or ()), *property_findings(graph, bench, sets, properties or ()))
    found = [*general(graph), liveness(graph, law=LIVE), *timers, *given]
    must = [each for each in found if each.law in asked or each.law not in LAWS]
    data = {"name": graph.name, "whole": graph.whole, "laws": [as_law(each) for each in found]}
    document(data) if as_json else say("\n".join([summary(graph, found, must), *cited_sentences(bench, sets, found)]))
    return FAIL if any(each.verdict is LawVerdict.REFUTED for each in must) else PASS


def _asked(laws: list[str] | None) -> Sequence[str]:
    unknown = [law for law in laws or () if law not in LAWS]
    if unknown:
        message = f"--law {unknown[0]}: choose among {', '.join(LAWS)}"
        raise UsageError(message)
    return laws or REQUIRED
