"""Ways to write a model besides a function: tables and graphs, actions with enabling conditions, commands."""

from otf.fronts.actions import Call, action, actions, observable
from otf.fronts.aut import read_aut
from otf.fronts.commands import Command, Commands, Result, generated
from otf.fronts.dot import read_dot
from otf.fronts.objects import behaviour
from otf.fronts.table import Written, table

__all__ = [
    "Call",
    "Command",
    "Commands",
    "Result",
    "Written",
    "action",
    "actions",
    "behaviour",
    "generated",
    "observable",
    "read_aut",
    "read_dot",
    "table",
]
