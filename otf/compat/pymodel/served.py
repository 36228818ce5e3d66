"""A stepper in a process of its own: what `Apart` talks to."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.stepper import TYPES, Stepper
from otf.errors import OtfError
from otf.trace.tagged import Registry, encode


def main(arguments: list[str]) -> None:
    """Answer each line of standard input with a line of standard output, until it ends."""
    # whatever else is printed in this process must not look like an answer
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    reference, *folders = arguments
    try:
        stepper = Stepper(Modules(map(Path, folders), seed=None), reference)
    except OtfError as error:
        _say(answers, {"trouble": str(error)})
        return
    _say(answers, {"waits": stepper.waits})
    registry = Registry(TYPES)
    for line in sys.stdin.buffer:
        _say(answers, _answer(stepper, registry, json.loads(line)))


def _say(answers: IO[str], data: dict[str, Any]) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


def _answer(stepper: Stepper, registry: Registry, asked: dict[str, Any]) -> dict[str, Any]:
    failed = None
    try:
        if "call" in asked:
            call: Any = registry.decode(asked["call"])
            failed = stepper.test(call, registry.decode(asked["expected"]))
        elif "reset" in asked:
            stepper.restart()
        elif asked["wait"]:
            stepper.wait(asked["wait"])
        return {"failed": failed, "waits": stepper.waits, "seen": [encode(each) for each in stepper.seen()]}
    except OtfError as error:
        return {"trouble": str(error)}
    except BaseException as error:  # noqa: BLE001 -- whatever the stepper raises, the tester has to hear of it
        return {"raised": f"raised {type(error).__name__}: {error}"}
