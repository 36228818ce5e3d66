"""Ways to write a model other than a step function: tables, graphs in files, classes with actions, and commands."""

from otf.notations.actions import Call, action, actions, behaviour, observable
from otf.notations.commands import Command, Commands, Result, generate
from otf.notations.files import read_aut, read_dot
from otf.notations.table import Written, table

__all__ = [
    "Call",
    "Command",
    "Commands",
    "Result",
    "Written",
    "action",
    "actions",
    "behaviour",
    "generate",
    "observable",
    "read_aut",
    "read_dot",
    "table",
]
