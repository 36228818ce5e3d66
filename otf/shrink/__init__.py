"""Shrinking: from a failing run of thousands of steps to the few that matter.

A search is a generator: it yields candidates, and is sent the issue that each candidate showed, or None if it passed.
It does no I/O, so that live and simulated shrinking share all code.

- `issue`: failing runs and candidates; `plan`: candidates that replan while they run
- `algorithms`: the searches by name; `ahead`: several candidates at a time, and how often to run each
- `classical`: the algorithms of others
- our own: `ladder` makes the first guess; `goals`, `parts` and `values` make less of it. They share `search` (the best
  so far, when to give up), `evidence` (what passed already), `traits` (which transitions are alike) and `ways` (the
  model as a map)
"""

from typing import TYPE_CHECKING

from otf.shrink.ahead import Ahead, repeats
from otf.shrink.algorithms import ALGORITHMS, BEST, Setting, pausing, shrinking
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, PausingSearch, Shrinking, issue_of
from otf.shrink.plan import StepPlan, again

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "ALGORITHMS",
    "BEST",
    "Ahead",
    "AllowedInputs",
    "Candidate",
    "Issue",
    "ModelStep",
    "PausingSearch",
    "Setting",
    "Shrinking",
    "StepPlan",
    "again",
    "issue_of",
    "pausing",
    "repeats",
    "shrinking",
]
