"""What is wrong with a module that cannot be loaded; one of Python 2 is called that."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Final

SYNTAX: Final = (
    (r"Missing parentheses in call to '(print|exec)'", r"the statement \1"),
    (r"multiple exception types must be parenthesized", "`except Kind, name`"),
    (r"leading zeros in decimal integer literals", "an octal number such as 0777"),
    (r"inconsistent use of tabs", "tabs and spaces mixed in one block"),
)
LINES: Final = (
    (r"^\s*except\s+[\w.]+\s*,\s*\w+\s*:", "`except Kind, name`"),
    (r"^\s*raise\s+[\w.]+\s*,", "`raise Kind, text`"),
    (r"<>", "the operator <>"),
    (r"`[^`]+`", "backquotes"),
    (r"\b\d+L\b", "a long number such as 10L"),
    (r"\bur['\"]", "a text such as ur''"),
)
NAMES: Final = ("basestring", "cmp", "execfile", "long", "raw_input", "reduce", "reload", "unichr", "unicode", "xrange")
GONE: Final = ("ConfigParser", "Queue", "StringIO", "cPickle", "cookielib", "httplib", "urllib2", "urlparse")


def python2(error: BaseException, file: Path) -> str:
    """Return what is wrong with the module in a file that raised this when it was loaded."""
    if isinstance(error, SyntaxError):
        where, text = _named(error.filename, file, error.lineno), (error.text or "").strip()
        old = _syntax(error.msg or "", text)
        if old:
            return f"{where}: this is Python 2, {old}: {text}; convert it (PyModel's fork zlorb/PyModel has done so)"
        return f"{where}: {error.msg}: {text}"
    where = _named(str(file), file, _line(error, file))
    old = _gone(error)
    if old:
        return f"{where}: this is Python 2: {old}; convert it (PyModel's fork zlorb/PyModel has done so)"
    if isinstance(error, SystemExit):
        return f"{where}: it ended the program (exit {error.code!r}) when it was imported"
    return f"{where}: {type(error).__name__}: {error}"


def _named(name: str | None, file: Path, line: int | None) -> str:
    return f"{name or file}" + (f", line {line}" if line else "")


def _syntax(message: str, text: str) -> str:
    for pattern, says in SYNTAX:
        found = re.search(pattern, message)
        if found:
            return found.expand(says)
    return next((says for pattern, says in LINES if re.search(pattern, text)), "")


def _gone(error: BaseException) -> str:
    if isinstance(error, NameError) and error.name in NAMES:
        return f"{error.name} is no name any more"
    if isinstance(error, ModuleNotFoundError) and error.name in GONE:
        return f"the module {error.name} has another name now"
    if isinstance(error, TypeError) and "for >>: 'function'" in str(error):
        return "the statement print >>"  # it still parses, as a shift
    return ""


def _line(error: BaseException, file: Path) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return lines[-1] if lines else None
