"""Facts that griffe, which reads files and imports nothing, gets wrong.

A name may hide the submodule that defines it: `otf.campaign.run` is a function from the file run.py. For Python the
function wins, since the package imports it; for griffe the file wins. And `light` makes a dataclass, and a named tuple
has the signature of one.

A class tells in its docstring what its fields mean, or a comment does: each field gets its own part of that, for
readers who come to it by the search. The formats of numbers are described by what they write. And no default or
parameter is a private name, nor is a number hidden behind one.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from typing import Any

import griffe

from otf.codec import fields

_NAME = griffe.ExprName("dataclass", parent=griffe.ExprName("dataclasses"))
_DATACLASS = griffe.Decorator(_NAME, lineno=None, endlineno=None)


_DEFAULTS = (
    (re.compile(r"^_limits\(\)$"), "Limits()"),
    (re.compile(r"^dict\[.*\]\(\)$"), "{}"),
    (re.compile(r"^list\[.*\]\(\)$"), "[]"),
    (re.compile(r"^set\[.*\]\(\)$"), "set()"),
    (re.compile(r"^_MISSING$"), "spec.initial"),
    (re.compile(r"^\(lambda: (.*)\)\(\)$"), r"\1"),
    (re.compile(r"^_numbers\(\)$"), 'array("l")'),
)
_NUMBER = re.compile(r"[\d_]+(?:\.\d+)?")
_PRIVATE = re.compile(r"(?<![\w.])_[A-Za-z]\w*|^field\(")
_COMMENT = re.compile(r"^[^#]*?  # (?!noqa|type:|pyright)(.+)$")


class Hints(griffe.Extension):
    """Corrects classes and packages; dataclasses have to have their signatures before that."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:  # noqa: ANN401 -- what griffe may pass one day
        """Let a class with the decorator `light` be a dataclass, and a named tuple."""
        if any(str(each) in ("light", "NamedTuple") for each in [*(one.value for one in cls.decorators), *cls.bases]):
            cls.decorators.append(_DATACLASS)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:  # noqa: ANN401 -- the same
        """Put names in the place of the submodules that they hide."""
        for package in _packages(pkg):
            for name, module in list(package.modules.items()):
                if not module.is_alias and (home := package.imports.get(name)):
                    package.members[name] = named = _instead(module, pkg.modules_collection[home], package)
                    for alias in list(module.aliases.values()):  # the same name in other packages: `otf.run`
                        alias.target = named
        _add_numbers(pkg["codec.fields"])
        for each in _defined(pkg):
            if isinstance(each, griffe.Attribute):
                _explain(each)
                _let_be_method(each)
            elif isinstance(each, griffe.Function):
                hidden = "_" if each.name == "__init__" else "\0"  # a private field
                public = [part for part in each.parameters if not part.name.startswith(hidden)]
                each.parameters = griffe.Parameters(*(_shown(part, each.module) for part in public))
                _complete(each)


def _add_numbers(module: griffe.Module) -> None:
    """Add the formats of numbers, two of which are made in each line of code."""
    for name, number in vars(fields).items():
        if isinstance(number, fields.Number):
            told = griffe.Docstring(_number(name, number))
            module.set_member(name, griffe.Attribute(name, value=repr(number), docstring=told))


def _let_be_method(field: griffe.Attribute) -> None:
    """Put a function in the place of an attribute of a class that has it as its value."""
    function = field.module.members.get(str(field.value))
    if isinstance(field.parent, griffe.Class) and isinstance(function, griffe.Function) and not field.annotation:
        field.parent.members[field.name] = method = copy.copy(function)
        method.name, method.parent = field.name, field.parent


def _number(name: str, number: fields.Number) -> str:
    """Return what a format of numbers is, with an example."""
    order = {"big": ", the most significant first", "little": ", the least significant first"}[number.order]
    sign = "a signed integer (two's complement)" if number.signed else "an unsigned integer"
    size = f"{number.width} bytes{order}" if number.width > 1 else "1 byte"
    sample = -2 if number.signed else 258 if number.width > 1 else 7
    example = f">>> {name}.write({sample})\n{number.write(sample)!r}"
    return f"The format of {sign} of {size}.\n\n```pycon\n{example}\n```"


def _packages(package: griffe.Module) -> list[griffe.Module]:
    inner = [each for each in package.modules.values() if not each.is_alias and each.is_init_module]
    return [package, *(found for each in inner for found in _packages(each))]


def _instead(module: griffe.Module, visible: griffe.Object, package: griffe.Module) -> griffe.Object:
    named = copy.copy(visible)
    named.parent = package
    named.members = {**named.members, **module.members}  # other names are still found by paths through the submodule
    return named


def _shown(parameter: griffe.Parameter, module: griffe.Module) -> griffe.Parameter:
    for private, shown in _DEFAULTS:
        if private.search(str(parameter.default)):
            parameter.default = private.sub(shown, str(parameter.default))
    with suppress(KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
        constant = module.members[str(parameter.default)]
        number = str(getattr(constant.final_target if constant.is_alias else constant, "value", ""))
        parameter.default = number if _NUMBER.fullmatch(number) else parameter.default
    return parameter


def _complete(function: griffe.Function) -> None:
    """Give the overloads of a function its defaults: they themselves only say that there is one."""
    for parameter in (each for overload in function.overloads or () for each in overload.parameters):
        if str(parameter.default) == "...":
            parameter.default = function.parameters[parameter.name].default


def _defined(inside: griffe.Object | griffe.Alias) -> Iterator[griffe.Object | griffe.Alias]:
    for each in list(inside.members.values()):
        if not each.is_alias:
            yield each
            yield from _defined(each)


def _explain(field: griffe.Attribute) -> None:
    """Give a field without a docstring what that of its class says about it, or a comment; hide how it is made."""
    cls = field.parent
    told = list[griffe.Object | griffe.Alias]()
    if isinstance(cls, griffe.Class):
        told = [
            cls.module.members.get(cls.name.removesuffix("Keywords"), cls),
            *cls.mro(),
        ]  # the same fields, as keywords
    said = (meaning(field.name, each.docstring.value) for each in told if each.docstring)
    number = getattr(fields, field.name, None) if field.module.path == fields.__name__ else None
    if isinstance(number, fields.Number):
        field.docstring = griffe.Docstring(_number(field.name, number), parent=field)
    if not field.docstring and (text := next(filter(None, said), "") or commented(field)):
        field.docstring = griffe.Docstring(text, parent=field)
    if _PRIVATE.search(str(field.value)):
        field.value = None
    if isinstance(cls, griffe.Class) and "class-attribute" not in field.labels and "property" not in field.labels:
        _declare(field, cls)


def _declare(field: griffe.Attribute, cls: griffe.Class) -> None:
    """Give a field that `__init__` assigns its type, from a base or the parameter that it keeps, and no assignment."""
    bases = (base.members.get(field.name) for base in cls.mro())
    field.annotation = field.annotation or next((each.annotation for each in bases if each), None)
    made = cls.members.get("__init__")
    if field.annotation is None and isinstance(made, griffe.Function) and str(field.value) in made.parameters:
        field.annotation = made.parameters[str(field.value)].annotation
    field.value = None


def commented(field: griffe.Attribute) -> str:
    """Return the comment behind an attribute, or that above it."""
    lines = (field.module.source or "").splitlines() if field.lineno else []
    first, last = (field.lineno or 1) - 1, field.endlineno or 0
    if found := next((found for line in lines[first:last] if (found := _COMMENT.match(line))), None):
        return found[1]
    above = [*takewhile(lambda line: line.lstrip().startswith("# "), reversed(lines[:first]))]
    return " ".join(line.strip(" #") for line in reversed(above))


def meaning(name: str, said: str) -> str:
    r"""Return what a docstring says about a field: its row of a table, its attribute, or the sentences about it.

    These begin with its name; if none does, they are those that have it and do not begin with that of another field.

    >>> meaning("port", "A line.\n\n| field | meaning |\n|---|---|\n| `port` | its name |")
    'its name'
    >>> meaning("seed", "Attributes:\n    seed: The seed of all\n        choices.\n    time: Seconds.")
    'The seed of all choices.'
    >>> meaning("cut", "A result. `cut`: it ended early. `why` says more.")
    '`cut`: it ended early.'
    >>> meaning("step", "`step(state)` says what may happen; none: nothing may. `other` calls `step`.")
    '`step(state)` says what may happen; none: nothing may.'
    """
    if row := re.search(rf"^\| `{name}` \|(?:.*\|)? (.+?) \|$", said, re.MULTILINE):
        return row[1]
    if entry := re.search(rf"^    {name}: (.+(?:\n {{5,}}.+)*)", said, re.MULTILINE):
        return " ".join(entry[1].split())
    prose = " ".join(said.partition(">>>")[0].split())
    named = [each for each in re.split(r"(?<=[.;:?!]) (?=[`A-Z]|otf )", prose) if re.search(rf"`{name}\b", each)]
    own = [each for each in named if re.match(rf"`{name}\b", each)]
    free = [each for each in named if not each.startswith("`")]
    return re.sub(r"[;:]$", ".", " ".join(own or free or named[:1]))
