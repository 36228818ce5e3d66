"""An entry of the reference for each name that users need, sorted by what one does with it, in the order of use.

mkdocstrings by itself leaves out some names that another module defines. A package that is not listed here keeps the
order of its `__all__`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_PACKAGE = re.compile(r"^::: (?P<name>otf[\w.]*)\n", re.MULTILINE)
TASKS: Final[Mapping[str, Mapping[str, str]]] = {
    "otf": {
        "Write a model": "goto Spec Transition on AnyOrder OneOf Where Accept start stop total restrict",
        "Put it on the wire": "Bench Codec lines trace_may_set",
        "Run it, and read the result": "run Settings Summary",
        "Check functions, too": "check check_async",
        "Endings and errors": "NonconformanceError InconclusiveError Ended OtfError UsageError ModelError CodecError "
        "ContactError TraceError",
    },
    "otf.spec": {
        "Write a transition": "Spec goto Transition",
        "Say which outputs are allowed": "on On AnyOrder OneOf Where Accept",
        "Model time": "start stop TimerStart TimerStop TimerAction Elapse Idle drifting",
        "Change a model": "total restrict",
        "Name the sentences of a standard": "Requirement Requirements",
    },
    "otf.adapter": {
        "Make a bench": "Bench InputMode Codec lines CodecError KnownIssue trace_may_set",
        "Start, reset and stop the system": "Life Listening Expect Snapshot command_qemu Flash Recording",
        "Know the limits of the line": "Barrier Limits lossy duplicating reordering PortAction Ended Undecodable",
        "Write an adapter": "Port Line Arrival Frame Ending Trouble LineLost Framer Framing Connect Opener "
        "LINE_PROTOCOL",
    },
    "otf.adapters": {
        "A program on this machine": "process inprocess from_thread",
        "The network": "tcp udp unix",
        "Devices and buses": "serialport can isotp restbus CyclicMessage visa",
        "Faults on the line": "inject Faults",
    },
    "otf.framing": {
        "Text": "lines prompt",
        "Binary": "length fixed measured slip cobs silence",
        "Parts that come back": "registers Register",
        "Write a framing": "Framing Framer Frame Tail LARGEST",
    },
    "otf.campaign": {
        "Run a campaign": "run Settings SettingsKeywords Campaign Listener",
        "Read its result": "Summary PathResult FailureGroup Shrunk Retried require_decided NonconformanceError "
        "InconclusiveError",
        "Drive a failure again, or shrink it": "rerun Shrinker Budget",
    },
    "otf.compose": {
        "Let models run beside each other": "product cyclic",
        "Restrict a model to a scenario": "compose guide scenario Scenario expression",
        "Name the actions of a scenario": "does out any_action",
    },
    "otf.notations": {
        "A table": "table Written",
        "A class with actions": "actions action observable Call behaviour",
        "Commands": "Command Commands Result generate",
        "A file of another tool": "read_dot read_aut",
    },
    "otf.strategy": {
        "Choose one": "STRATEGIES Strategy StrategyKind weighted script goal own",
        "Count coverage, and end there": "covering Until Coverage",
    },
    "otf.suite": {
        "Make a suite": "suite Suite METHODS Method AUTO",
        "Make one for a model that chooses": "adaptive AdaptiveSuite ADAPTIVE",
    },
    "otf.values": {
        "List the values of a type": "every given register ValueSource Values",
        "Bound them": "Range Size Alphabet Char Among",
        "Call functions with them": "FiniteFunction smallest",
        "Show values": "show",
    },
    "otf.logic": {
        "Check a property": "check check_async PropertyResult PropertyOutcome",
        "Write a property of values": "for_all exists implies iff all_of any_of not_ Property",
        "Write a property of runs": "always never sometimes until then now within Formula PropertyStep",
    },
    "otf.trace": {
        "The events of a run": "Event Sent Seen Quiet Closed Ended Undecodable",
        "Its verdict": "Verdict Failure FailureKind Allowed Signature",
    },
    "otf.core": {
        "Judge events": "Monitor Oracle Model Limits Timing Routes",
        "Conduct a run": "Session SessionCommand Send Wait Stop Ping Barrier",
        "Choose inputs": "InputMode",
    },
    "otf.simulate": {
        "Make a system from a model": "System SimulatedSystem faulty Mutation",
        "Run it without I/O": "World TimeBounds conduct",
    },
    "otf.mutation": {
        "Hunt mutants": "mutate MutationReport JudgedMutant Fate Survival",
        "Choose what is hunted": "bench_of HuntMode HuntBudget",
    },
    "otf.compat.pymodel": {
        "Run models of PyModel": "bench load Loaded Composition",
        "Count as its analyzer does": "count_states",
    },
}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the entries of its names in the place of a package."""
    del config, files
    return _PACKAGE.sub(_entries, markdown) if page.file.src_uri.startswith("reference/") else markdown


def _entries(found: re.Match[str]) -> str:
    names = _public(found["name"])
    if not names:
        return found[0]
    head = f"::: {found['name']}\n    options: {{members: false, show_root_heading: false}}\n"
    parts = [head]
    for task, group in _grouped(found["name"], names).items():
        parts += [f'<p class="task">{task}</p>\n'] if task else []
        parts += [f"::: {found['name']}.{name}\n    options: {{heading_level: 3}}\n" for name in group]
    return "\n".join(parts)


def _public(package: str) -> list[str]:
    """Return the names in the `__all__` of a package, or nothing for a module without one."""
    folder = package.replace(".", "/").replace("otf/adapters", "adapters").replace("otf/models", "models")
    source = ROOT / folder / "__init__.py"
    body = ast.parse(source.read_text(encoding="utf-8")).body if source.exists() else []
    assigned = [each for each in body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__"]
    return [str(name) for each in assigned for name in ast.literal_eval(each.value)]


def _grouped(package: str, names: list[str]) -> dict[str, list[str]]:
    """Return the names of a package under its tasks, or all of them if no tasks are listed.

    What is not listed only otf's own packages import. Raises ValueError for a listed name that the package lacks.
    """
    tasks = {task: listed.split() for task, listed in TASKS.get(package, {"": " ".join(names)}).items()}
    listed = [name for group in tasks.values() for name in group]
    if len(listed) != len(set(listed) & set(names)):
        message = f"docs/tasks.py, {package}: {sorted(set(listed) - set(names)) or 'a name stands there twice'}"
        raise ValueError(message)
    return tasks
