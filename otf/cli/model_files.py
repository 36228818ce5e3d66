"""Models in files of other tools as benches: `otf run mealy.dot --sut exec:./server`.

Inputs and outputs are the texts of the labels, each a line on the wire.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from otf.adapter import Bench
from otf.codec import lines
from otf.errors import UsageError
from otf.notations import read_aut, read_dot

PORT: Final = "line"


def as_module(path: Path) -> ModuleType:
    """Return a module with the bench of a file. Raises UsageError for a file that is no model."""

    def nowhere() -> NoReturn:
        message = f"{path} is a model, and says nothing of a system: add --sut exec:COMMAND, or another address"
        raise UsageError(message)

    try:
        read = read_aut if path.suffix == ".aut" else read_dot
        spec = read(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: {error}"
        raise UsageError(message) from error
    module = ModuleType(path.stem)
    vars(module)["bench"] = Bench.on_ports(spec, lines({str: "{}"}), {PORT: nowhere}, name=path.stem)
    return module
