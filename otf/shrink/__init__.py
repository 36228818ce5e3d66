"""Shrinking: from a failure of thousands of steps to the few that matter.

Pure: a shrinker yields candidates and is told what came of them, so that live and simulated shrinking are one code.

What is shrunk, and how one talks with a search: `issue`; candidates: `inputs` (a list) and `plan` (goals that are
planned while they run); what all searches share: `once`; asking for several at a time: `ahead`; how often to repeat:
`confidence`; against a system in this process: `simulated`. By name: `algorithms`.

The algorithms of others: `halving`, `elements`, `cycles`, `partial`, `ddmin`. Our own is `modelled`: `ladder` finds
the first guess (`harmless`: what it leaves out), `goals`, `replan`, `parts`, `names` and `values` make less of it. They
share `search` (the best so far, when to give up), `evidence` (what passed already), `traits` (which transitions are
alike) and `ways` (the model as a map, with `tree` for the shortest ways).
"""

from typing import TYPE_CHECKING

from otf.shrink.ahead import Ahead
from otf.shrink.algorithms import ALGORITHMS, BEST, Setting, shrinking
from otf.shrink.confidence import repeats
from otf.shrink.inputs import AllowedInputs
from otf.shrink.issue import Candidate, Issue, ModelStep, Shrinking, issue_of
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
    "Setting",
    "Shrinking",
    "StepPlan",
    "again",
    "issue_of",
    "repeats",
    "shrinking",
]
