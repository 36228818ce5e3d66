"""Names of a package that are fetched from their modules when they are used for the first time.

Importing all of otf takes a third of a second; a model file and a command need a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from sys import modules


def fetching(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package whose names are in these modules, relative to `otf`.

    >>> fetch = fetching("otf.spec", {"spec.outputs": ["Accept"]})
    >>> fetch("Accept").__module__
    'otf.spec.outputs'
    >>> fetch("accept")
    Traceback (most recent call last):
      ...
    AttributeError: module 'otf.spec' has no attribute 'accept'
    """
    places = {name: f"otf.{home}" for home, names in homes.items() for name in names}

    def fetch(name: str) -> object:
        if name not in places:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        found: object = getattr(import_module(places[name]), name)
        setattr(modules[package], name, found)  # asked once: later uses find it there
        return found

    return fetch
