"""Old names: what was called otherwise in an earlier version still works, with a warning that names the new one.

An old name lasts one version. To drop one, delete its line here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Final, TypeVar, cast

RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "otf.adapter": {"Departure": "otf.adapter.KnownIssue"},
    "otf.campaign": {"Judgement": "otf.offline.Judgement", "judge": "otf.offline.judge"},
    "otf.codec": {"Deed": "otf.codec.PortAction", "Lines": "otf.codec.LineCodec"},
    "otf.core": {"Command": "otf.core.SessionCommand", "Place": "otf.core.Node"},
    "otf.logic": {"Outcome": "otf.logic.PropertyOutcome", "Result": "otf.logic.PropertyResult"},
    "otf.report": {"Found": "otf.report.ReportedFailure", "Path": "otf.report.PathSummary"},
    "otf.shrink": {
        "Inputs": "otf.shrink.AllowedInputs",
        "Plan": "otf.shrink.StepPlan",
        "Step": "otf.shrink.ModelStep",
    },
    "otf.simulate": {
        "Bounds": "otf.simulate.TimeBounds",
        "Device": "otf.simulate.SimulatedSystem",
        "Fault": "otf.simulate.Mutation",
        "Unreliable": "otf.simulate.UnreliableWorld",
    },
    "otf.spec": {
        "Held": "otf.channels.NetMessage",
        "InNet": "otf.channels.InNet",
        "duplicating": "otf.channels.duplicating",
        "lossy": "otf.channels.lossy",
        "reordering": "otf.channels.reordering",
    },
    "otf.spec.channels": {
        "Held": "otf.channels.NetMessage",
        "InNet": "otf.channels.InNet",
        "Unreliable": "otf.channels.Unreliable",
        "duplicating": "otf.channels.duplicating",
        "lossy": "otf.channels.lossy",
        "reordering": "otf.channels.reordering",
    },
    "otf.strategy": {"Kind": "otf.strategy.StrategyKind", "Visits": "otf.strategy.VisitCounts"},
    "otf.suite": {"Machine": "otf.suite.NumberedMachine"},
    "otf.values": {"Source": "otf.values.ValueSource"},
}
"""For each package the old names that it had, each with its home of today."""

T = TypeVar("T", bound=type[Any])


def old_names(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it finds what has another name or another home now.

    >>> import otf.codec
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     print(otf.codec.Deed, seen[0].message)
    <enum 'PortAction'> otf.codec.Deed has a new name: otf.codec.PortAction; the old one goes with the next version
    """
    table = RENAMED[package]

    def find(name: str) -> object:
        if name not in table:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        _warn(f"{package}.{name}", table[name])
        home, _, new = table[name].rpartition(".")
        return getattr(import_module(home), new)

    return find


def old_keywords(**names: str) -> Callable[[T], T]:
    """Let a class be called with old names of its keywords, and read by them; each argument is `old="new"`.

    >>> @old_keywords(colour="color")
    ... class Pen:
    ...     def __init__(self, *, color: str) -> None:
    ...         self.color = color
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     print(Pen(colour="red").color, seen[0].message)
    red Pen(colour=…) has a new name: Pen(color=…); the old one goes with the next version
    """

    def change(cls: T) -> T:
        make = cls.__init__

        @wraps(make)
        def __init__(self: object, *args: object, **given: object) -> None:  # noqa: N807 -- it takes the place of that
            for old in names.keys() & given.keys():
                _warn(f"{cls.__name__}({old}=…)", f"{cls.__name__}({names[old]}=…)")
                # `dataclasses.replace` passes the new name as well, with the value that is to be replaced
                given[names[old]] = given.pop(old)
            make(self, *args, **given)

        cls.__init__ = __init__
        for old, new in names.items():
            setattr(cls, old, property(_reader(cls.__name__, old, new)))
        return cls

    return change


def old_method(owner: object, old: str, new: str) -> Callable[..., Any]:
    """Return the method of an object by its new name, or by the old one if its class still defines that."""
    if not hasattr(owner, old):
        return cast("Callable[..., Any]", getattr(owner, new))
    _warn(f"{type(owner).__name__}.{old}", f"{type(owner).__name__}.{new}")
    return cast("Callable[..., Any]", getattr(owner, old))


def _reader(owner: str, old: str, new: str) -> Callable[[object], object]:
    def read(self: object) -> object:
        _warn(f"{owner}.{old}", f"{owner}.{new}")
        return getattr(self, new)

    return read


def _warn(old: str, new: str) -> None:
    message = f"{old} has a new name: {new}; the old one goes with the next version"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
