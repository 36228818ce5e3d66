"""Turns the pages, which are written to be read in the repository, into a site.

Pages above this folder (the README, the changelog) join it under names of their own. Links to source code lead to it as
text; those to tests and benchmarks, which are not part of the site, become the name of the file. Rows of the findings
get anchors.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ABOVE = {
    "README.md": "start.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
SOUGHT = {
    **dict.fromkeys(("questions.md", "glossary.md"), 30),
    **dict.fromkeys(("howto-learn.md", "howto-first-minutes.md"), 5),
    "howto-times.md": 2,
    "commands.md": 0.001,
    **dict.fromkeys(
        ("design.md", "findings.md", "howto-pymodel.md", "topics-evaluation.md", "topics-papers.md", "messages.md"), 0.1
    ),
    **dict.fromkeys(("changelog.md", "releasing.md", "contributing.md"), 0.01),
}
"""How much a page weighs in the search, beside 1: who types a word wants its meaning first, and what uses it later."""
_ROW = re.compile(r'<tr>\s*<td>(?P<cell><a href="findings/(?P<system>[\w.-]+?)\.(?:md|html)">.*?)</td>')
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


DIALOG = 'data-md-component="search" role="dialog"'


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from above."""
    for source, name in ABOVE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to where things are in the site."""
    del config, files
    part = page.file.src_uri.partition("/")[0]
    weight = SOUGHT.get(page.file.src_uri, {"reference": 0.02, "findings": 0.1}.get(part, 1))
    page.meta.setdefault("search", {"boost": weight})
    above = page.file.src_uri in ABOVE.values()
    folder = ROOT if above else (ROOT / "docs" / page.file.src_uri).parent
    return _LINK.sub(lambda found: _led(found, folder, page.file.src_uri), markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give each row of the findings an address: its system, and its number among those of that system."""
    del config, files
    if page.file.src_uri != "findings.md":
        return html
    counts = Counter[str]()

    def anchored(row: re.Match[str]) -> str:
        counts[row["system"]] += 1
        name = f"{row['system']}-{counts[row['system']]}"
        return (
            f'<tr id="{name}"><td>{row["cell"]} <a class="headerlink" href="#{name}" title="This row">&para;</a></td>'
        )

    return _ROW.sub(anchored, html)


def _led(found: re.Match[str], folder: Path, uri: str) -> str:
    target, anchor = found["target"], found["anchor"] or ""
    if "://" in target:
        return found[0]
    path = (folder / target).resolve()
    if not path.exists():
        return found[0]  # the strict build says so
    name = path.relative_to(ROOT).as_posix()
    if name in ABOVE:
        return f"[{found['text']}]({'../' * uri.count('/')}{ABOVE[name]}{anchor})"
    if name.startswith("docs/"):
        return f"[{found['text']}]({'../' * uri.count('/')}{name.removeprefix('docs/')}{anchor})"
    if path.suffix == ".py" and name.startswith(("models/", "otf/", "adapters/")):
        return f"[{found['text']}]({'../' * uri.count('/')}{name}.txt)"
    return found["text"] if name in found["text"] else f"{found['text']} (`{name}`)"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the dialog of the search, which the theme does not."""
    del page, config
    return output.replace(DIALOG, f'{DIALOG} aria-label="search"')
