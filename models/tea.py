"""A machine that decides by itself whether it makes tea or coffee, and conforming and wrong implementations.

Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.6: after the button nobody can tell
which it will be. An implementation may always make coffee, and do anything when you hit it, but it must never make
cacao.
"""

from __future__ import annotations

from typing import Final

from otf.notations import table

TEA: Final = table(
    [
        ("Idle", "Button", [], "Tea"),
        ("Idle", "Button", [], "Coffee"),
        ("Tea", "Coin", ["tea"], "FinalT"),
        ("Coffee", "Coin", ["coffee"], "FinalC"),
    ],
    accepting=["FinalT", "FinalC"],
    name="tea",
)

COFFEE_ONLY: Final = table(
    [("Idle", "Button", [], "Coffee"), ("Coffee", "Coin", ["coffee"], "FinalC")], name="coffee only"
)

BANG: Final = table(
    [
        ("Idle", "Button", [], "Coffee"),
        ("Coffee", "Coin", ["coffee"], "FinalC"),
        ("Idle", "Bang", [], "Cacao"),
        ("Cacao", "Coin", ["cacao"], "FinalC"),
    ],
    name="bang",
)

CACAO: Final = table(
    [
        ("Idle", "Button", [], "Coffee"),
        ("Coffee", "Coin", ["coffee"], "FinalC"),
        ("Idle", "Button", [], "Cacao"),
        ("Cacao", "Coin", ["cacao"], "FinalC"),
    ],
    name="cacao",
)
