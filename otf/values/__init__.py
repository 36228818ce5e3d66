"""Values: when two are the same, how one is shown, and which values a type has."""

from typing import TYPE_CHECKING

from otf.values.arguments import Rows, name_of_function, register, rows
from otf.values.bounds import Alphabet, Among, Char, Range, Size
from otf.values.builtin import PRINTABLE
from otf.values.cost import show
from otf.values.enumeration import Enumeration, block_start, given, is_enumeration
from otf.values.front import Values, ValueSource, enumerated, every, is_type, ready
from otf.values.identity import fresh, key, likeness
from otf.values.strategies import is_strategy, smallest
from otf.values.subsets import FiniteFunction
from otf.values.tiers import Flat

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "PRINTABLE",
    "Alphabet",
    "Among",
    "Char",
    "Enumeration",
    "FiniteFunction",
    "Flat",
    "Range",
    "Rows",
    "Size",
    "ValueSource",
    "Values",
    "block_start",
    "enumerated",
    "every",
    "fresh",
    "given",
    "is_enumeration",
    "is_strategy",
    "is_type",
    "key",
    "likeness",
    "name_of_function",
    "ready",
    "register",
    "rows",
    "show",
    "smallest",
]
