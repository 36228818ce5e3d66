"""Composition: models that share actions, and scenarios that restrict them."""

from otf.compose.actions import Action, Pattern, any_action, does, out
from otf.compose.guided import Guided, Machine, Scenario, composed, guided, scenario
from otf.compose.product import Product, product
from otf.compose.regex import expression

__all__ = [
    "Action",
    "Guided",
    "Machine",
    "Pattern",
    "Product",
    "Scenario",
    "any_action",
    "composed",
    "does",
    "expression",
    "guided",
    "out",
    "product",
    "scenario",
]
