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

_FIELDS, _FORMAT = "reference-bench.html#fields-of-a-bench", "reference-bench.html#trace-format"
_NETWORK, _EXIT = "topics-promise.html#a-network-in-the-model", "reference-bench.html#exit-statuses"
_LAWS, _SHRINKING = "howto-models.html#analysing", "topics-shrinking.html#how-the-search-works"
_FRAMING, _CODECS = "howto-adapters.html#framing", "howto-adapters.html#which-codec-when"
_BENCHES = "gallery.html#models-of-real-systems"
GUIDES: Final[Mapping[str, str]] = {
    "otf": "tutorial.html#the-vocabulary-of-a-model",
    "otf.Spec": "tutorial.html#2-the-model",
    "otf.goto": "tutorial.html#2-the-model",
    "otf.Transition": "tutorial.html#8-more-than-one-thing-may-happen",
    "otf.Bench": "howto-first-bench.html#make-it-yours-one-part-at-a-time",
    "otf.Codec": "tutorial.html#7-a-codec-class-of-your-own",
    "otf.NonconformanceError": _EXIT,
    "otf.InconclusiveError": _EXIT,
    "otf.UsageError": _EXIT,
    "otf.restrict": "howto-models.html#composing-and-scenarios",
    "otf.Settings": "howto-choose.html#which-budget",
    "otf: Run it, and read the result": "tutorial.html#4-the-test",
    "otf: Endings and errors": _EXIT,
    "otf.spec": "tutorial.html#the-vocabulary-of-a-model",
    "otf.spec: Model time": "howto-models.html#time",
    "otf.spec: Change a model": "howto-models.html#composing-and-scenarios",
    "otf.spec: Name the sentences of a standard": "howto-requirements.html",
    "otf.check": "howto-properties.html#checking-a-property",
    "otf.adapter": _FIELDS,
    "otf.adapter.InputMode": "reference-bench.html#enabled-inputs",
    "otf.adapter: Start, reset and stop the system": "howto-adapters.html#the-life-of-a-system",
    "otf.adapter.lossy": _NETWORK,
    "otf.adapter.duplicating": _NETWORK,
    "otf.adapter.reordering": _NETWORK,
    "otf.adapter.Limits": _FIELDS,
    "otf.adapter: Write an adapter": "howto-adapter-authors.html#the-protocol-and-its-version",
    "otf.adapter.Framer": _FRAMING,
    "otf.adapter.Framing": _FRAMING,
    "otf.adapters": "howto-adapters.html#adapters",
    "otf.framing": _FRAMING,
    "otf.framing.lines": _FRAMING,
    "otf.adapter.labs": "howto-boards.html#with-labgrid",
    "otf.testing": "howto-adapter-authors.html#its-tests",
    "otf.testing.check_framing": _FRAMING,
    "otf.campaign": "howto-choose.html#which-budget",
    "otf.campaign.Listener": "howto-reports.html#while-it-runs",
    "otf.campaign: Read its result": "howto-reports.html#what-a-pass-is-worth",
    "otf.campaign.FailureGroup": "topics-shrinking.html#what-counts-as-the-same-failure",
    "otf.campaign.Retried": "howto-adapters.html#when-the-wire-fails",
    "otf.campaign.Shrunk": _SHRINKING,
    "otf.campaign: Drive a failure again, or shrink it": _SHRINKING,
    "otf.campaign.rerun": "topics-shrinking.html#saved-failures",
    "otf.mutation": "howto-models.html#would-this-bench-notice",
    "otf.offline": "reference-bench.html#logs-of-other-programs",
    "otf.offline.nodes": "reference-bench.html#logs-of-several-nodes",
    "otf.core.observed": "reference-bench.html#logs-of-several-nodes",
    "otf.trace.result": "reference-bench.html#json-keys",
    "otf.errors": _EXIT,
    "otf.compat.pymodel": "howto-pymodel.html#in-a-minute",
    "otf.core": "topics-ioco.html#observed-there-may-be-several-states",
    "otf.core.pacing": "howto-times.html#observed-silence",
    "otf.core: Conduct a run": "topics-promise.html#the-bounds-on-time",
    "otf.simulate": "topics-promise.html#how-we-test-the-promise",
    "otf.explore": "howto-models.html#exploring",
    "otf.explore.analysis": _LAWS,
    "otf.explore.expiring": "howto-models.html#time",
    "otf.explore.conform": _LAWS,
    "otf.compose": "howto-models.html#composing-and-scenarios",
    "otf.notations": "howto-models.html#four-ways-to-write-a-model",
    "otf.models": _BENCHES,
    "otf.models.conference": "gallery.html#the-conference-protocol",
    "otf.models.coffee": "gallery.html#a-coffee-machine-to-copy-from",
    "otf.models.coffees": "gallery.html#the-coffee-machines-c0-to-c4",
    "otf.models.uboot.messages": "howto-boards.html#the-board",
    "otf.channels": _NETWORK,
    "otf.codec": _CODECS,
    "otf.codec.can": "howto-adapters.html#can-iso-tp-and-dbc",
    "otf.codec.web": _FRAMING,
    "otf.suite": "howto-models.html#suites-made-in-advance",
    "otf.suite: Make one for a model that chooses": "howto-models.html#where-the-system-chooses",
    "otf.suite.METHODS": "howto-choose.html#which-suite",
    "otf.suite.Method": "howto-choose.html#which-suite",
    "otf.suite.AUTO": "howto-choose.html#which-suite",
    "otf.strategy": "howto-choose.html#which-strategy",
    "otf.strategy.Strategy": "howto-choose.html#which-strategy",
    "otf.strategy: Count coverage, and end there": "howto-models.html#strategies-and-coverage",
    "otf.trace": _FORMAT,
    "otf.trace: Its verdict": "tutorial.html#5-a-failure-and-how-to-read-it",
    "otf.values": "howto-properties.html#the-order-of-values",
    "otf.values.given": "howto-properties.html#inputs-of-a-spec",
    "otf.logic": "howto-properties.html#checking-a-property",
    "otf.logic: Write a property of values": "howto-properties.html#if-and-or-not-for-all-exists",
    "otf.logic: Write a property of runs": "howto-properties.html#properties-of-runs",
    "otf.laws": "howto-properties.html#laws-of-a-spec",
}
"""Where a guide speaks of a name: first, if the name itself stands here; otherwise if no guide uses it."""


def guide_of(path: str) -> str:
    """Return where a guide speaks of what a name is for, by its task or its package."""
    package, _, name = path.rpartition(".")
    task = next((task for task, names in TASKS.get(package, {}).items() if name in names.split()), "")
    parts = package.split(".")
    above = (".".join(parts[:to]) for to in range(len(parts), 1, -1))
    return next(filter(None, map(GUIDES.get, (f"{package}: {task}", *above))), GUIDES["otf"])


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
