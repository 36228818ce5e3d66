"""Two pages that are made from the code: every option of every command, and the messages of the errors.

A search for an option or an error message finds it there. Neither page can be out of date.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from html import escape, unescape
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from otf.cli.app import COMMANDS, STATUS, app
from otf.cli.messages import ABOUT, sources, texts

OPTIONS = """# Commands and options

What `otf COMMAND --help` prints, for all commands. [What each is for](pages.md#the-commands),
[JSON keys and exit statuses](reference-bench.md).
"""
MESSAGES = """# Messages

What otf prints, taken from its code, for your search; … stands for what differs. `otf help WORDS` looks a message up,
too. An error itself says what to do, and the guide under each heading says more. The
[exit status](reference-bench.md#exit-statuses) tells who has to act.
Did you look for a verdict? [The kinds of failure](questions.md), [inconclusive](topics-promise.md).
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the two pages."""
    files.append(File.generated(config, "commands.md", content=commands()))
    files.append(File.generated(config, "messages.md", content=messages()))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give each message an address, to which a search for its words leads (theme.js)."""
    del config, files
    if page.file.src_uri != "messages.md":
        return html
    counts = Counter[str]()

    def addressed(found: re.Match[str]) -> str:
        name = "-".join(re.findall(r"[a-z]+", unescape(found[1]).lower())[:8])
        counts[name] += 1
        name = f"{name}-{counts[name]}" if counts[name] > 1 else name
        link = f'<a class="headerlink" href="#{name}" title="This message">&para;</a>'
        return f'<li class="message" id="{name}"><code>{found[1]}</code>{link}</li>'

    return re.sub(r"<li><code>(.*?)</code></li>", addressed, html)


# Options


def commands() -> str:
    """Return the page of the commands, in the order of use."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="otf")
    parts = [_command(name, group.get_command(context, name)) for name in COMMANDS]
    return "\n".join([OPTIONS, *parts, "## Exit statuses of the commands", _block(STATUS)])


def _command(name: str, command: Any) -> str:  # noqa: ANN401 -- typer does not export the type
    context = typer.Context(command, info_name=f"otf {name}")
    rows = [(each.param_type_name, *record) for each in command.params if (record := each.get_help_record(context))]
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    arguments = [f"- `{use}`: {_text(says)}" for kind, use, says in rows if kind == "argument"]
    options = [_option(name, use, says) for kind, use, says in rows if kind == "option"]
    said = [f"`{usage}`", _text(command.help or ""), "\n".join(arguments), *options, _block(command.epilog or "")]
    return "\n\n".join([f"## otf {name}", *said, ""])


def _option(command: str, use: str, says: str) -> str:
    name = use.partition(" ")[0].strip(",")
    head = f"### {escape(use)} {{: #{command}-{name.strip('-')} data-toc-label='{name}' }}"
    return f"{head}\n\n`otf {command} {use}`: {_text(says)}"


def _text(text: str) -> str:
    """Return help as Markdown: only what stands between backticks is markup."""
    parts = escape(text, quote=False).split("`")
    return "`".join(
        re.sub(r"([*_\[\]|])", r"\\\1", each) if place % 2 == 0 else each for place, each in enumerate(parts)
    )


def _block(text: str) -> str:
    return f"```text\n{textwrap.dedent(text.replace(chr(8), '')).strip()}\n```\n" if text.strip() else ""


# Messages


def messages() -> str:
    """Return the page of the messages, by what they are about."""
    parts = [MESSAGES]
    for heading, (guide, *places) in ABOUT.items():
        found = sorted({each for place in places for file in sources(place) for each in texts(file)})
        parts += [f"## {heading}", f"[More]({guide})", "\n".join(f"- `{each}`" for each in found)]
    return "\n\n".join(parts)
