"""Fetches the names of a package from their modules at first use.

Importing all of otf takes a third of a second; a model file or a command needs only a part of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module


def fetching(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of the calling package, which imports a name of the package when it is first used.

    The names of a package are its imports under `if TYPE_CHECKING`.

    >>> import otf
    >>> otf.Accept.__module__
    'otf.spec.outputs'
    >>> otf.unheard_of
    Traceback (most recent call last):
      ...
    AttributeError: module 'otf' has no attribute 'unheard_of'
    """
    code = sys._getframe(1).f_code  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- Python compiles these imports too, and they are there without the source

    @cache
    def homes() -> dict[str, str]:
        from dis import get_instructions

        found, home = dict[str, str](), ""
        for each in get_instructions(code):
            if each.opname == "IMPORT_NAME":
                home = each.argval
            elif each.opname == "IMPORT_FROM":
                found[each.argval] = home
        return found

    def fetch(name: str) -> object:
        if name not in homes():
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        found: object = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, found)  # later uses find it there
        return found

    return fetch
