"""Mutants of a model: whether this bench, in this budget, would notice a system that is wrong in one rule.

The model is served as its own system, in virtual time and in this process. Each mutant of it is wrong in one rule, and
the bench tests it as it would test the real system. A mutant that survives shows where the model, the codec or the
budget lets a mistake pass.
"""

from otf.mutation.choice import ModelMutant
from otf.mutation.hunt import HuntBudget, HuntMode
from otf.mutation.judging import Fate, JudgedMutant, Survival
from otf.mutation.report import MutationReport, bench_of, mutate

__all__ = [
    "Fate",
    "HuntBudget",
    "HuntMode",
    "JudgedMutant",
    "ModelMutant",
    "MutationReport",
    "Survival",
    "bench_of",
    "mutate",
]
