"""Values: what makes two of them the same, how they are shown, and which ones a type has."""

from typing import TYPE_CHECKING

from otf.values.arguments import Rows, name_of_function, rows
from otf.values.atoms import PRINTABLE
from otf.values.bounds import Alphabet, Among, Char, Range, Size
from otf.values.enumeration import Enumeration
from otf.values.flat import Flat
from otf.values.front import Values, ValueSource, enumerated, every, is_type, ready
from otf.values.functions import FiniteFunction
from otf.values.identity import key
from otf.values.instead import given, is_enumeration
from otf.values.order import block_start
from otf.values.registering import register
from otf.values.sameness import fresh, likeness
from otf.values.strategies import is_strategy, smallest
from otf.values.text import show

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
