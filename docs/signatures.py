"""Puts each parameter of a signature on a line of its own, if there are several: in methods and overloads, too.

The formatter of mkdocstrings breaks only what is too long for a line, and then keeps together what fits.
"""

from __future__ import annotations

import re
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_SIGNATURE: Final = re.compile(
    r'(<div class="language-python doc-signature highlight"><pre><span></span><code><span class="nf">\w+</span>)'
    r'(<span class="p">\(.*?</code>)',
    re.DOTALL,
)
_PART: Final = re.compile(r'<span class="s[0-9a-z]">.*?</span>|<[^>]+>|[^<]', re.DOTALL)  # a text, a tag, a character
_TAG: Final = "<[^>]+>"
_LAST: Final = re.compile(rf",\s*((?:{_TAG})*)$")  # a comma behind the last parameter
_INSIDE: Final = re.compile(rf"(\[(?:{_TAG})*) ")  # a blank behind a bracket
_TRAILING: Final = re.compile(rf",((?:{_TAG})*) ((?:{_TAG})*)\]")  # a comma before one
_PARAMETER: Final = re.compile(r"^    \**\w", re.MULTILINE)
_BREAK: Final = "\n    "


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Break the signatures of a page of the reference."""
    del config, files
    reference = page.file.src_uri.startswith("reference/")
    return _SIGNATURE.sub(lambda found: found[1] + broken(found[2]), html) if reference else html


def broken(code: str) -> str:
    r"""Return a signature from its bracket on, with a line for each parameter if it has more than one.

    >>> broken("(a: int, *, b: str = '') -&gt; None")
    "(\n    a: int,\n    *,\n    b: str = '',\n) -&gt; None"
    >>> broken("(a: dict[str, int]) -&gt; None")
    '(a: dict[str, int]) -&gt; None'
    >>> broken("(a: Callable[\n    [int],\n    str,\n] | None, b: int)")
    '(\n    a: Callable[[int], str] | None,\n    b: int,\n)'
    """
    done, depth, rest = "", 0, _PART.findall(code)
    while rest and not (depth == 1 and rest[0] == ")"):
        part = rest.pop(0)
        if depth and part.isspace():  # the formatter breaks a long type, whose parts then look like parameters
            while rest and rest[0].isspace():
                rest.pop(0)
            part = " "
        depth += (part in "([{") - (part in ")]}")
        done += f"{part}{_BREAK}" if depth == 1 and part in "(," else part
    done = _INSIDE.sub(r"\1", _TRAILING.sub(r"\1\2]", done))
    text = _LAST.sub(r"\1", re.sub(rf"({_BREAK}(?:{_TAG})*)\s+", r"\1", done))
    lines = f"{text},\n{''.join(rest)}"
    return lines if len(_PARAMETER.findall(re.sub(_TAG, "", lines))) > 1 else code
