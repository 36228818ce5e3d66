"""The old name of `otf.channels`."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__: list[str] = []
