"""What the button beside a block of code copies: what a reader can paste, without prompts and without output.

A block at Python's prompt becomes its statements, with a blank line after each one that the prompt would wait on. So it
runs in a file and at the prompt of every version: up to 3.12 the prompt ends a class at a blank line, and nowhere else.
A block of shell commands becomes the commands. The theme copies the attribute `data-copy` where there is one.
"""

from __future__ import annotations

import doctest
import re
from codeop import compile_command
from html import escape, unescape

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_BLOCK = re.compile(r'<div class="language-(?P<kind>pycon|console) highlight">(?P<code>.*?</code>)', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give each block with prompts what is copied in its place."""
    del page, config, files
    return _BLOCK.sub(_copied, html)


def _copied(block: re.Match[str]) -> str:
    text = unescape(_TAG.sub("", block["code"]))
    plain = statements(text) if block["kind"] == "pycon" else commands(text)
    return block[0].replace("<div ", f'<div data-copy="{escape(plain)}" ', 1)


def statements(text: str) -> str:
    """Return the statements of a block at Python's prompt."""
    return "".join(map(_entered, doctest.DocTestParser().get_examples(text)))


def _entered(example: doctest.Example) -> str:
    complete = compile_command(example.source.rstrip("\n")) is not None
    return example.source if complete else f"{example.source}\n"


def commands(text: str) -> str:
    """Return the commands of a block at a shell's prompt."""
    return "".join(f"{line.removeprefix('$ ')}\n" for line in text.splitlines() if line.startswith("$ "))
