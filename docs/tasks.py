"""An entry of the reference for each name that users need, sorted by what one does with it, in the order of use.

mkdocstrings by itself leaves out some names that another module defines. A package that is not listed here keeps the
order of its `__all__`; a module that is not listed is left to mkdocstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from importlib import import_module
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
        "Model time": "start stop Elapse Idle drifting TimerStart TimerStop TimerAction",
        "Change a model": "total restrict",
        "Name the sentences of a standard": "Requirement Requirements",
    },
    "otf.channels": {"Lose or reorder messages": "lossy duplicating reordering Unreliable InNet NetMessage"},
    "otf.codec": {"Write a codec": "lines Codec PortAction LineCodec"},
    "otf.codec.by_port": {"Give each port its codec": "codecs At PortCodecs"},
    "otf.codec.records": {"Make a codec from dataclasses": "records RecordCodec"},
    "otf.codec.fields": {
        "Numbers": "u8 i8 u16be u16le i16be i16le u24be u24le u32be u32le i32be i32le u64be u64le i64be i64le Number",
        "Texts and bytes": "text raw until rest Extent extent_of",
        "Write a format": "Format too_short refused",
    },
    "otf.codec.composed": {"Lists and bits": "items sized bits"},
    "otf.codec.checksums": {
        "Lengths and checksums": "length checksum Computed",
        "Ways to compute a checksum": "crc8 crc8_maxim crc16_modbus crc16_arc crc16_x25 crc16_ccitt crc16_xmodem crc32 "
        "sum8 lrc8 xor8",
    },
    "otf.codec.can": {
        "Make a codec of frames or messages": "CanCodec CanFrame dbc DbcCodec CanError",
        "Convert one frame": "encode_can decode_can encode_can_error decode_bus",
    },
    "otf.codec.web": {
        "HTTP": "HttpCodec HttpRequest HttpResponse Headers",
        "WebSocket": "WebSocketCodec WsText WsBytes WsPing WsPong WsClose WsOpen WsOpened WsMessage",
    },
    "otf.adapter": {
        "Make a bench": "Bench lines Codec KnownIssue trace_may_set InputMode CodecError",
        "Start, reset and stop the system": "Life Listening Expect Snapshot command_qemu Flash Recording",
        "Know the limits of the line": "Barrier Limits lossy duplicating reordering PortAction Ended Undecodable",
        "Write an adapter": "Line Port Frame Framer Ending Trouble LineLost LINE_PROTOCOL Arrival Framing Connect "
        "Opener",
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
        "Write a framing": "Framer Frame Tail Framing LARGEST",
    },
    "otf.framing.web": {"The web": "http websocket"},
    "otf.adapter.labs": {"Boards of a lab": "board_port BoardPort"},
    "otf.testing": {
        "Test your own": "check_codec check_framing check_adapter",
        "Write the rig of an adapter": "Echo arrive Rig ADAPTER_CHECKS",
    },
    "otf.campaign": {
        "Run a campaign": "run Settings SettingsKeywords Campaign Listener",
        "Read its result": "Summary PathResult FailureGroup Shrunk Retried require_decided NonconformanceError "
        "InconclusiveError",
        "Drive a failure again, or shrink it": "rerun Shrinker Budget",
    },
    "otf.explore": {"Visit all states": "explore Graph Edge Arc"},
    "otf.explore.expiring": {"Check timers": "expiring"},
    "otf.explore.conform": {"Compare two models": "conforms equivalent compared LIMIT BAG"},
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
        "Choose one": "weighted script goal own Strategy StrategyKind STRATEGIES",
        "Count coverage, and end there": "covering Until Coverage",
    },
    "otf.suite": {
        "Make a suite": "suite Suite Method METHODS AUTO",
        "Make one for a model that chooses": "adaptive AdaptiveSuite ADAPTIVE",
    },
    "otf.values": {
        "List the values of a type": "every given register Values ValueSource",
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
        "The events of a run": "Sent Seen Quiet Closed Ended Undecodable Event",
        "Its verdict": "Verdict Failure Allowed Signature FailureKind",
    },
    "otf.core": {
        "Judge events": "Monitor Oracle Model Limits Timing Routes",
        "Conduct a run": "Session Send Wait Stop Ping Barrier SessionCommand",
        "Choose inputs": "InputMode",
    },
    "otf.core.pacing": {"Wait for silence after each answer": "Strict"},
    "otf.core.observed": {"Say what a log shows of an output": "Some ANYTHING ObservedRun"},
    "otf.offline": {"Judge a log of one system": "judge Judgement"},
    "otf.offline.logs": {"Judge a log that no otf wrote": "judge_foreign Noted Opinion"},
    "otf.offline.nodes": {
        "Judge the logs of several nodes": "judge_nodes NodeEvent NodesOpinion",
        "Find the part that matters": "smallest_slice in_order Forget",
    },
    "otf.errors": {
        "What otf raises": "UsageError ModelError CodecError ContactError TraceError WriteError OtfError Interruption",
    },
    "otf.laws": {"Check every transition": "deterministic total transitions invariant after"},
    "otf.simulate": {
        "Make a system from a model": "System SimulatedSystem faulty Mutation",
        "Run it without I/O": "World TimeBounds conduct",
    },
    "otf.mutation": {
        "Hunt mutants": "mutate MutationReport JudgedMutant Fate Survival",
        "Choose what is hunted": "bench_of HuntBudget HuntMode",
    },
    "otf.compat.pymodel": {
        "Run models of PyModel": "bench load Loaded Composition",
        "Count as its analyzer does": "count_states",
    },
    "otf.models.conference": {"The conference protocol": "bench conference Sizes Conf Idle"},
    "otf.models.coffee": {"A coffee machine": "bench coffee Coin Button Coffee"},
    "otf.models.coffees": {"The coffee machines of a paper": "C0 C1 C2 C3 C4 IO"},
    "otf.models.mqtt": {"MQTT": "bench mqtt served_by requirements_of"},
    "otf.models.http": {"HTTP": "bench web served_by"},
    "otf.models.websocket": {"WebSocket": "bench echo served_by"},
    "otf.models.uboot.messages": {
        "A bench of your own for U-Boot": "UbootCodec prompts Type Answer Countdown PORT PROMPT"
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


def _public(module: str) -> list[str]:
    """Return the names in the `__all__` of a package, or those that a module in `TASKS` defines; nothing for others."""
    path = ROOT / module.replace(".", "/").replace("otf/adapters", "adapters").replace("otf/models", "models")
    if path.with_suffix(".py").exists():
        return dir(import_module(module)) if module in TASKS else []
    body = ast.parse((path / "__init__.py").read_text(encoding="utf-8")).body
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
