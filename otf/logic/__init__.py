"""Logical properties: functions from values to True or False, checked systematically."""

from typing import TYPE_CHECKING

from otf.logic.checking import TESTS, check, check_async, checking, exists, for_all, quantified
from otf.logic.judging import Property, Quantified, Testable, Waiting, all_of, any_of, iff, implies, not_
from otf.logic.result import PropertyOutcome, PropertyResult

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "TESTS",
    "Property",
    "PropertyOutcome",
    "PropertyResult",
    "Quantified",
    "Testable",
    "Waiting",
    "all_of",
    "any_of",
    "check",
    "check_async",
    "checking",
    "exists",
    "for_all",
    "iff",
    "implies",
    "not_",
    "quantified",
]
