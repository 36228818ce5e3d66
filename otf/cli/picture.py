"""Drawing with Graphviz, in a separate process with a time limit: a large graph must not hang the command."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Final

from otf.errors import UsageError

SECONDS: Final = 60
PROGRAM: Final = """
import sys, pygraphviz
text, form = sys.stdin.buffer.read().decode(), sys.argv[1]
sys.stdout.buffer.write(pygraphviz.AGraph(text).draw(format=form, prog="dot"))
"""


def picture(dot: str, form: str, seconds: float = SECONDS) -> bytes:
    """Return the picture of a graph in the language of Graphviz, as `svg` or `png`. Raises UsageError."""
    if find_spec("pygraphviz") is None:
        message = "pictures need pygraphviz: pip install 'otf[pictures]'; dot and mermaid need nothing"
        raise UsageError(message)
    command = [sys.executable, "-I", "-W", "ignore", "-c", PROGRAM, form]
    try:
        done = subprocess.run(command, input=dot.encode(), capture_output=True, timeout=seconds, check=False)  # noqa: S603 -- as above
    except subprocess.TimeoutExpired as error:
        message = f"Graphviz took longer than {seconds:g} s; draw fewer states (--limit, --depth), or use --format dot"
        raise UsageError(message) from error
    if done.returncode or not done.stdout:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
        raise UsageError(f"Graphviz could not draw it: {last[0]}")
    return done.stdout
