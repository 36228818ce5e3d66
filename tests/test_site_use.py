"""What a reader does with the site: copy code, read tables on a phone, look at drawings in the dark."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from codeop import compile_command
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer import Context
from typer.main import get_command

from otf.cli.app import COMMANDS, app
from tests.debian import FONT
from tests.report.browser import CHROMIUM, browser
from tests.report.test_cards import AXE

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


# What the button beside a block copies

PROMPTS = re.compile(
    r'<div data-copy="(?P<copy>[^"]*)" class="language-(?P<kind>\w+) highlight">(?P<code>.*?)</code>', re.DOTALL
)


class Copied(NamedTuple):
    """A block with prompts: what the page shows, and what is copied."""

    shown: str
    copy: str


def copied(page: Path, kind: str) -> list[Copied]:
    """Return the blocks of a page that have prompts."""
    found = PROMPTS.finditer(page.read_text(encoding="utf-8"))
    return [
        Copied(unescape(re.sub(r"<[^>]+>", "", each["code"])), unescape(each["copy"]))
        for each in found
        if each["kind"] == kind
    ]


def entered(text: str) -> Iterator[str]:
    """Yield what Python's prompt runs when it gets these lines one by one."""
    lines = list[str]()
    for line in text.splitlines():
        lines.append(line)
        if compile_command("\n".join(lines)) is not None:
            yield "\n".join(lines)
            lines.clear()
    assert not lines, f"the prompt still waits: {lines}"


def same(statement: str) -> str:
    """Return a statement without its layout."""
    return ast.dump(ast.parse(statement))


def test_code_can_be_pasted_at_the_prompt(site: Path) -> None:
    """What is copied has no prompts and no output, and the prompt runs every statement of it, whole."""
    blocks = [block for page in sorted(site.rglob("*.html")) for block in copied(page, "pycon")]
    assert len(blocks) > 300
    for block in blocks:
        statements = [same(each.source) for each in doctest.DocTestParser().get_examples(block.shown)]
        assert [same(each) for each in entered(block.copy) if each.strip()] == statements, block.copy


def test_commands_can_be_pasted(site: Path) -> None:
    """What is copied of a shell session are its commands."""
    blocks = [block for page in sorted(site.glob("*.html")) for block in copied(page, "console")]
    assert len(blocks) > 5
    for block in blocks:
        assert block.copy.splitlines() == re.findall(r"^\$ (.*)$", block.shown, re.MULTILINE)


@pytest.mark.slow
def test_the_tutorial_runs_when_pasted(site: Path, tmp_path: Path) -> None:
    """All blocks of the tutorial, pasted one after the other into a running Python, print what the page shows."""
    blocks = copied(site / "tutorial.html", "pycon")
    shown = [each for block in blocks for each in doctest.DocTestParser().get_examples(block.shown)]
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        input="\n".join(block.copy for block in blocks),
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "".join(each.want for each in shown if each.exc_msg is None)
    assert done.stderr.count("Traceback (most recent call last)") == sum(each.exc_msg is not None for each in shown)


def test_the_search_prefers_pages_to_attributes(site: Path) -> None:
    """Questions and the glossary weigh more than guides, and these more than the reference."""
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    weights = {each["location"]: float(each.get("boost", 1)) for each in found}
    assert weights["questions.html"] == weights["glossary.html"] > weights["howto-times.html"]
    assert weights["howto-times.html"] > weights["reference/adapter.html"] > 0


def test_every_option_has_an_entry(site: Path) -> None:
    """The page of the commands has a heading for each option of each command, with what it does below."""
    text = (site / "commands.html").read_text(encoding="utf-8")
    group: Any = get_command(app)
    context = Context(group)
    for name in COMMANDS:
        for each in group.get_command(context, name).params:
            if each.param_type_name == "option":
                assert f'id="{name}-{each.opts[0].strip("-")}"' in text, (name, each.opts)


def test_messages_are_found(site: Path) -> None:
    """The page of the messages has what errors print, and no code of a page or a draft."""
    text = unescape((site / "messages.html").read_text(encoding="utf-8"))
    for message in ("another socket has it", "there is no such device", "the codec raised for the input"):
        assert message in text
    assert "addEventListener" not in text


def test_each_drawing_of_the_gallery_can_be_walked(site: Path) -> None:
    """Beside it is a link to the page that `otf explore --page` writes."""
    text = (site / "gallery.html").read_text(encoding="utf-8")
    pages = re.findall(r'<a class="walk" href="([^"]+)"', text)
    assert len(pages) == text.count('<span class="drawing') > 15
    for page in pages:
        assert "<h1>otf explore: " in (site / page).read_text(encoding="utf-8")


def test_the_models_of_real_systems_can_be_walked(site: Path) -> None:
    """Beside each bench in the gallery is a page to walk in, which needs no system."""
    text = (site / "gallery.html").read_text(encoding="utf-8")
    walks = re.findall(r'\(<a href="(gallery/\w+\.html)">walk in it', text)
    assert len(walks) > 15
    for page in walks:
        assert "<h1>otf explore: " in (site / page).read_text(encoding="utf-8")


def test_a_field_gets_its_part_of_the_text_of_its_class(site: Path) -> None:
    """The entry of a field says what the docstring of its class says about it."""
    text = (site / "reference" / "otf.html").read_text(encoding="utf-8")
    entry = text.partition('id="otf.Bench.quiescence"')[2].partition('class="doc doc-object ')[0]
    assert "seconds of silence after which otf expects no output" in entry


SIGNED = re.compile(
    r'<h4 id="(otf[\w.]+)"[^>]*>(?:(?!</h4>).)*doc-attribute-name(?:(?!<h4).)*?<code>(.*?)</code>', re.DOTALL
)


def test_each_field_has_a_type(site: Path) -> None:
    """The signature of a field is its type, not an assignment from `__init__`; members of enumerations have values."""
    pages = [page.read_text(encoding="utf-8") for page in sorted((site / "reference").glob("*.html"))]
    fields = [(name, unescape(re.sub(r"<[^>]+>", "", code))) for page in pages for name, code in SIGNED.findall(page)]
    assert len(fields) > 400
    assert [each for each in fields if not re.match(r"\w+: |[A-Z_]+ = ", each[1])] == []
    assert [each for each in fields if " if " in each[1]] == []


def test_the_text_of_a_field_is_whole(site: Path) -> None:
    """It is the sentence about this field, to its full stop, and not one about another that names it."""
    text = (site / "reference" / "spec.html").read_text(encoding="utf-8") + (site / "reference" / "otf.html").read_text(
        encoding="utf-8"
    )
    for name, said in {"initial": "the state in which each path begins.", "partial": "`total` did not make."}.items():
        entry = text.partition(f'id="otf.Spec.{name}"')[2].partition("</p>")[0]
        assert unescape(re.sub(r"</?code>", "`", entry)).endswith(said)


def test_each_row_of_the_findings_has_an_address(site: Path) -> None:
    """A row can be linked: its id is its system and a number, and no id is there twice."""
    names = re.findall(r'<tr id="([^"]+)"', (site / "findings.html").read_text(encoding="utf-8"))
    assert len(names) == len(set(names)) > 70


def test_names_stand_under_their_tasks(site: Path) -> None:
    """A page of the reference is sorted by what one does."""
    pages = [page.read_text(encoding="utf-8") for page in sorted((site / "reference").glob("*.html"))]
    tasks = [re.findall(r'<p class="task">(.+?)</p>', page) for page in pages]
    assert any(each[:2] == ["Make a bench", "Start, reset and stop the system"] for each in tasks)


# In a browser

CUT = """[...document.querySelectorAll('.md-content table')].filter(each => {
  const frame = each.closest('article').getBoundingClientRect();
  const scrolls = getComputedStyle(each.parentElement).overflowX === 'auto';
  return (scrolls ? each.parentElement : each).getBoundingClientRect().right > frame.right + 1;
}).map(each => each.rows[0].innerText)"""
SHOWN = "getComputedStyle(document.querySelector('svg.failure g:last-of-type')).opacity"


@needs_browser
@pytest.mark.skipif(not Path(FONT).exists(), reason="the font of phones is not installed: fonts-liberation")
@pytest.mark.real
def test_tables_are_not_cut(site: Path, tmp_path: Path) -> None:
    """Every column of every table is inside its page on a phone, or its frame scrolls: one of many columns does."""
    pages = [page for page in sorted(site.glob("*.html")) if "<table>" in page.read_text(encoding="utf-8")]
    assert len(pages) > 10
    with browser(tmp_path / "profile") as seen:
        seen.size(390)
        for page in pages:
            seen.open(page)
            assert seen.ask(CUT) == [], page


@needs_browser
@pytest.mark.real
def test_the_first_page_plays(site: Path, tmp_path: Path) -> None:
    """Its failure appears event by event, at once for a reader who wants no motion; nothing comes from elsewhere."""
    with browser(tmp_path / "profile") as seen:
        seen.size(390)
        seen.open(site / "index.html")
        seen.ask("document.getAnimations().forEach(each => { each.pause(); each.currentTime = 0; })")
        assert float(seen.ask(SHOWN)) == 0
        seen.ask("document.getAnimations().forEach(each => each.finish())")
        assert float(seen.ask(SHOWN)) == 1
        seen.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        seen.open(site / "index.html")
        assert float(seen.ask(SHOWN)) == 1
        assert seen.ask("document.documentElement.scrollWidth") <= 390
        assert {request.partition(":")[0] for request in seen.requests} <= {"file", "data"}


@needs_browser
@pytest.mark.real
def test_the_site_follows_the_system(site: Path, tmp_path: Path) -> None:
    """A reader whose system turns dark after the first visit sees the pages dark, and light again afterwards."""
    with browser(tmp_path / "profile") as seen:
        for dark, scheme in [(False, "default"), (True, "slate"), (False, "default")]:
            seen.size(1280, dark=dark)
            seen.open(site / "questions.html")
            assert seen.ask("document.body.getAttribute('data-md-color-scheme')") == scheme


@needs_browser
@pytest.mark.real
def test_drawings_follow_the_page(site: Path, tmp_path: Path) -> None:
    """In the dark the gallery's texts are bright, and each state and arrow names itself when the pointer is over it."""
    with browser(tmp_path / "profile") as seen:
        seen.size(1280, dark=True)
        seen.open(site / "gallery.html")
        assert seen.ask("getComputedStyle(document.querySelector('.drawing text')).fill").startswith("rgba(226")
        unnamed = "[...document.querySelectorAll('.drawing .edge')].filter(each => !each.querySelector('a')).length"
        assert seen.ask(unnamed) == 0
        names = "[...document.querySelectorAll('[id]')].map(each => each.id)"
        assert seen.ask(f"{names}.length - new Set({names}).size") == 0


@needs_browser
@pytest.mark.real
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_on_the_first_page(site: Path, tmp_path: Path, *, dark: bool) -> None:
    """Names of dialogs, contrast of code, landmarks: as the common checker of accessibility sees them."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    with browser(tmp_path / "profile") as seen:
        seen.size(1280, dark=dark)
        seen.open(site / "index.html", drawn="document.querySelector('.md-code__nav')")
        seen.ask("document.getAnimations().forEach(each => each.finish())")
        seen.ask((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + "; true")
        assert seen.ask(AXE) == []


@needs_browser
@pytest.mark.real
@pytest.mark.parametrize("page", ["tutorial.html", "gallery.html", "findings.html"])
def test_what_scrolls_is_scrolled_by_keys(site: Path, tmp_path: Path, page: str) -> None:
    """On a phone, keys reach each block of code, drawing and table that is wider than its frame."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    with browser(tmp_path / "profile") as seen:
        seen.size(390)
        seen.open(site / page, drawn="document.querySelector('[tabindex=\"0\"]')")
        seen.ask((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + "; true")
        rule = '{ runOnly: ["scrollable-region-focusable"] }'
        found = f"axe.run({rule}).then(all => all.violations.flatMap(each => each.nodes.map(node => node.html)))"
        assert seen.ask(found) == []


FOUND = """(() => {
  const first = document.querySelector('.md-search-result__link');
  return first ? first.getAttribute('href').replace(/^.*\\/|[?#].*$/gu, '') : '';
})()"""
ASKED = {
    "flaky": "questions.html",
    "flakey": "questions.html",  # misspelt
    "quiesence": "questions.html",
    "shrinkng": "topics-shrinking.html",
    "serial port": "questions.html",
    "CAN bus": "questions.html",
    "exit code": "questions.html",
    "race condition": "questions.html",
    "--stop-first": "commands.html",
    "github actions": "howto-reports.html",
    "live": "howto-reports.html",
    "watch a campaign": "howto-reports.html",
    "compare": "howto-reports.html",
    "NonconformanceError": "campaign.html",
    "Spec": "otf.html",
    "Bench": "adapter.html",
    "Elapse": "spec.html",
    "HttpRequest": "spec.html",
    "there is no bench": "questions.html",
    "--resume": "commands.html",
    "--into": "commands.html",
    "address already in use": "questions.html",
    "connection refused": "questions.html",
    "there is no such device": "messages.html",
    "the codec raised for the input": "messages.html",
    "the codec gave 'A(x=1)' for the input A(x=1), which is not bytes; use text.encode()": "messages.html",
    "the model raised NameError: name 'HIGEST' is not defined": "messages.html",
    "does not fit: it must be a whole number": "messages.html",
    "which is not a transition; write goto": "messages.html",
    "timeout": "questions.html",
    "watchdog": "howto-first-minutes.html",
    "heartbeat": "howto-first-minutes.html",
    "stderr": "questions.html",
    "retry": "questions.html",
    "windows": "questions.html",
    "deadlock": "questions.html",
    "crash": "questions.html",
    "debug": "questions.html",
    "verbose": "questions.html",
    "grpc": "questions.html",
    "database": "questions.html",
    "cancel": "questions.html",
    "weights": "questions.html",
    "latency": "questions.html",
    "serial port permission": "questions.html",
    "minimize": "topics-shrinking.html",
    "baud rate": "questions.html",
    "hexdump": "questions.html",
    "hex dump": "questions.html",
    "ignore known bug": "questions.html",
    "stdout of my program": "questions.html",
    "memory leak": "questions.html",
    "debounce": "questions.html",
    "contributing": "questions.html",
    "sleep": "questions.html",
    "jitter": "questions.html",
    "version": "questions.html",
    "cannot be compared: a list can change and has no hash": "messages.html",
    "no contact with the system under test": "questions.html",
}
TYPE = """(asked => {
  const field = document.querySelector('[data-md-component=search-query]');
  document.querySelector('.md-search-result__list').replaceChildren();
  field.focus();
  field.value = asked;
  field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
})"""


@needs_browser
@pytest.mark.real
def test_the_search_finds_what_is_meant(site: Path, tmp_path: Path) -> None:
    """From a disk, too: what has all of the words comes first, options lose their hyphens, misspelt words are found."""
    with browser(tmp_path / "profile") as seen:
        seen.size(1280)
        seen.open(site / "index.html")
        for asked, page in ASKED.items():
            seen.ask(f"{TYPE}({json.dumps(asked)})")
            seen.until(FOUND)
            assert seen.ask(FOUND) == page, asked
            assert seen.ask("document.querySelectorAll('.md-search-result mark').length") > 0, asked
        assert {request.partition(":")[0] for request in seen.requests} <= {"file", "data"}
        assert seen.console == []


PASTED = {
    "another socket has it: stop its program": "another socket has it",
    "the codec has no bytes for the input Up(): TypeError": "the codec has no bytes for the input",
    "there is no such device: /dev/ttyUSB7": "there is no such device",
}


@needs_browser
@pytest.mark.real
def test_a_message_leads_to_itself(site: Path, tmp_path: Path) -> None:
    """Who pastes a message into the search, with its values, and follows the first hit, sees that message."""
    with browser(tmp_path / "profile") as seen:
        seen.size(1280)
        for pasted, message in PASTED.items():
            seen.open(site / "index.html")
            seen.ask(f"{TYPE}({json.dumps(pasted)})")
            seen.until(FOUND)
            page, _, words = seen.ask("document.querySelector('.md-search-result__link').href").partition("?")
            seen.ask(f"location.href = {json.dumps(f'{page}?{words}')}")
            seen.until("document.querySelector('.message:target')")
            assert message in seen.ask("document.querySelector('.message:target').innerText")


BESIDE = """[...document.querySelectorAll('.md-sidebar--secondary .md-nav__link')]
  .filter(each => each.getClientRects().length).map(each => each.innerText.trim())"""


@needs_browser
@pytest.mark.real
def test_the_list_beside_has_the_names(site: Path, tmp_path: Path) -> None:
    """Beside a page of the reference are its names, and the fields of the one that is read."""
    with browser(tmp_path / "profile") as seen:
        seen.size(1280)
        seen.open(site / "reference" / "adapter.html")
        assert {"Bench", "Life", "tcp"} < {*seen.ask(BESIDE)}
        assert "settle" not in seen.ask(BESIDE)
        seen.ask("location.hash = '#otf.adapter.Life.settle'")
        seen.until(f"{BESIDE}.includes('settle')")
        assert "quiescence" not in seen.ask(BESIDE)


@needs_browser
@pytest.mark.real
def test_labels_of_the_gallery_are_read_on_a_phone(site: Path, tmp_path: Path) -> None:
    """No drawing shrinks so far that its labels are lower than ten pixels; it scrolls in its frame instead."""
    with browser(tmp_path / "profile") as seen:
        seen.size(390)
        seen.open(site / "gallery.html")
        assert seen.ask("document.querySelectorAll('.drawing svg').length") > 15
        high = "each => parseFloat(each.getAttribute('font-size')) * each.getScreenCTM().a"
        assert seen.ask(f"Math.min(...[...document.querySelectorAll('.drawing svg text')].map({high}))") >= 9.99
        assert seen.ask("document.documentElement.scrollWidth") <= 390
