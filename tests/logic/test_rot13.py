"""The example of the paper: rotating letters by thirteen.

Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.2.
"""

from __future__ import annotations

from itertools import takewhile

from otf import check
from otf.logic import Property, for_all, implies
from otf.values import PRINTABLE, Char


def rot13(char: str) -> str:
    """Rotate a letter of the alphabet by half its length; leave the rest."""
    for first in "aA":
        if first <= char <= chr(ord(first) + 25):
            return chr((ord(char) - ord(first) + 13) % 26 + ord(first))
    return char


def twice_is_nothing(c: Char) -> bool:
    """Say that decoding is encoding."""
    return rot13(rot13(c)) == c


def differs(c: Char) -> bool:
    """Say too much: only letters differ."""
    return rot13(c) != c


def letters_differ(c: Char) -> Property:
    """Say it of letters only."""
    return implies(c.isalpha(), rot13(c) != c)


def test_it_is_proven_for_all_98_printable_characters() -> None:
    """All of them are tried, so that this is a proof."""
    assert str(check(twice_is_nothing)) == "proof after 98 tests"


def test_the_first_character_that_is_no_letter_is_the_counterexample() -> None:
    """It is the third of the order: letters, capitals, digits, white space and signs take turns."""
    result = check(differs)
    assert str(result) == "counterexample after 3 tests: c='0'"
    assert result.tests == 1 + len(list(takewhile(str.isalpha, PRINTABLE)))


def test_what_is_no_letter_is_rejected() -> None:
    """A rejection tells nothing about the property, and is not counted as a test."""
    assert str(check(letters_differ)) == "proof after 52 tests, 46 rejections"


def test_a_hundred_of_256_characters_are_no_proof() -> None:
    """Given values stand instead of those of the type; with more tests allowed it is a proof."""
    ascii_ = list(map(chr, range(256)))
    assert str(check(twice_is_nothing, ascii_, tests=100)) == "passed 100 tests"
    assert str(check(twice_is_nothing, ascii_, tests=500)) == "proof after 256 tests"
    assert str(check(for_all(ascii_, twice_is_nothing), tests=256)) == "proof after 256 tests"
