"""The shape of a command: a dataclass holds its options; a function takes that and returns the exit status."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Annotated, Any, NoReturn, ParamSpec, get_type_hints

import typer

from otf.cli.options import flag
from otf.cli.output import DEBUG, document, error_document, report_error
from otf.cli.signals import SIGNALS
from otf.errors import USERS_OWN, OtfError

P = ParamSpec("P")
Debug = Annotated[bool, flag("--debug", "Show the whole traceback of an error.", envvar="OTF_DEBUG", show_envvar=True)]


def worker(kind: Any, place: str) -> Callable[..., int]:  # noqa: ANN401 -- a dataclass
    """Return a function that imports the worker of a command when called, and runs it."""

    def work(asked: Any) -> int:  # noqa: ANN401 -- an object of that dataclass
        module, _, name = place.rpartition(".")
        status: int = getattr(import_module(module), name)(asked)
        return status

    work.__doc__ = kind.__doc__
    work.__annotations__["asked"] = kind
    return work


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Return the command in the form that typer calls: it exits with its own status, or that of its error.

    An error is one message on standard error; with `--json` also the document on standard output. Each command gets the
    option `--debug`. A dataclass parameter stands for all its options, as `SystemOptions` does.
    """
    own = inspect.signature(command, eval_str=True).parameters.values()
    several: dict[str, Any] = {each.name: each.annotation for each in own if is_dataclass(each.annotation)}

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        DEBUG.set(bool(kwargs.pop("debug", False)))
        as_json = bool(kwargs.get("as_json")) or kwargs.get("form") == "json"
        kwargs.update({name: _taken(kind, kwargs) for name, kind in several.items()})
        try:
            status = command(*args, **kwargs)
        except OtfError as error:
            _fail(error, as_json=as_json)
        except KeyboardInterrupt as error:
            # where our handlers are installed, Ctrl-C raises nothing: this one comes from the bench
            if not SIGNALS.installed:
                raise
            _fail(_exited(error), as_json=as_json)
        except (Exception, *USERS_OWN):
            raise
        except BaseException as error:  # noqa: BLE001 -- a model that exits must not end the command as if it had passed
            _fail(_exited(error), as_json=as_json)
        raise typer.Exit(status)

    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    shown = [option for each in own for option in (_options_of(each.annotation) if each.name in several else [each])]
    run.__annotations__["return"] = "None"
    run.__dict__["__signature__"] = inspect.Signature([*shown, debug])
    return run


def _options_of(kind: Any) -> list[inspect.Parameter]:  # noqa: ANN401 -- a dataclass
    """Return the options among the fields of a dataclass, as parameters; a field may hold several."""
    found, types = list[inspect.Parameter](), get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        if is_dataclass(types[each.name]):
            found += _options_of(types[each.name])
        elif _is_option(types[each.name]):
            default = each.default if each.default_factory is MISSING else each.default_factory()
            known = inspect.Parameter.empty if default is MISSING else default
            found.append(
                inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=known, annotation=types[each.name])
            )
    return found


def _is_option(annotation: Any) -> bool:  # noqa: ANN401 -- an annotation
    return annotation is typer.Context or hasattr(annotation, "__metadata__")


def _taken(kind: Any, given: dict[str, Any]) -> Any:  # noqa: ANN401 -- a dataclass
    """Return a dataclass with its options, removing them from `given`."""
    own, types = dict[str, Any](), get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        if is_dataclass(types[each.name]):
            own[each.name] = _taken(types[each.name], given)
        elif _is_option(types[each.name]):
            own[each.name] = given.pop(each.name)
    return kind(**own)


def _exited(error: BaseException) -> OtfError:
    from otf.adapter.third_party import blamed  # brings the event loop along

    found = blamed(error)
    found.__cause__ = error
    return found


def _fail(error: OtfError, *, as_json: bool) -> NoReturn:
    """Report an error and end with its exit status."""
    report_error(error)
    if as_json:
        document(error_document(str(error)))
    raise typer.Exit(error.exit_status)
