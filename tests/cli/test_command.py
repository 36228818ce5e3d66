"""The shape of a command: a dataclass of its options, and a function that takes it and returns the exit status."""

from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import pytest

from otf.cli.app import COMMANDS


def named(place: str) -> Any:  # noqa: ANN401 -- a class, or a function
    """What stands at a place of the command line's package."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"otf.cli.{module}"), name)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_work_of_a_command_takes_its_options(command: str) -> None:
    """What the list names is a dataclass with examples, and a function of it alone that returns a status."""
    entry = COMMANDS[command]
    options, work = named(entry.options), named(entry.work)
    assert get_type_hints(work) == {"asked": options, "return": int}
    assert f"otf {command}" in options.examples
    assert is_dataclass(options)
