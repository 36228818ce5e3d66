"""`otf explore`: what is shown of a model, in which forms, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import failed, otf


def test_a_table_and_what_is_true() -> None:
    """States and transitions, then the laws; no dead end: status 0."""
    done = otf("explore", "coffee")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["    0  0  (initial)", "         Coin(cents=5) / nothing  ->  1"]
    assert "coffee: 3 states, 4 transitions" in lines
    at = lines.index("total: no: Button() is not specified in 0")
    assert lines[at + 1] == "      each state specifies every input that is enabled in it; it need not be so"
    assert lines[-2] == "no dead end: proven: 3 states, 4 transitions"


def test_a_large_model_is_summarised() -> None:
    """Kinds of states and inputs, and how to see the states; --whole lists them."""
    done = otf("explore", "conference")
    assert done.out.splitlines()[:4] == [
        "conference: 37 states, 392 transitions",
        "states:   36 Conf, 1 Idle; the farthest is 3 steps from the start",
        "inputs:   12 JoinPDUin, 12 AnswerPDUin, 6 DataPDUin, 4 Join, 3 LeavePDUin, 2 Datareq, 1 Leave",
        "too many to list: --whole lists all states, --depth 2 those near Idle()",
    ]
    assert "    0  Idle()  (initial)\n" in otf("explore", "conference", "--whole").out


def test_json_is_one_document() -> None:
    """With the laws."""
    data = otf("explore", "coffee", "--json").data
    assert (len(data["states"]), len(data["transitions"])) == (3, 4)
    assert {law["law"]: law["verdict"] for law in data["laws"]}["deterministic"] == "proven"


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("dot", "digraph"),
        ("mermaid", "stateDiagram-v2"),
        ("graphml", "<graphml"),
        ("aut", "des (0, 4, 3)"),
        ("svg", "<?xml"),
    ],
)
def test_forms_for_other_tools(tmp_path: Path, form: str, begins: str) -> None:
    """Into a file, with a summary on standard output."""
    file = tmp_path / "coffee"
    done = otf("explore", "coffee", "--format", form, "--out", file)
    assert (done.status, done.out.splitlines()[0]) == (0, "coffee: 3 states, 4 transitions")
    assert file.read_text(encoding="utf-8").startswith(begins)


def test_a_dead_end_is_status_1(tmp_path: Path) -> None:
    """A machine of another tool, with a state that nothing leaves."""
    file = tmp_path / "end.aut"
    file.write_text('des (0, 1, 2)\n(0, "go / x", 1)\n', encoding="utf-8")
    done = otf("explore", file)
    assert done.status == 1
    assert "no dead end: refuted: no accepting state can be reached from 1" in done.out


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """An Aldebaran file of the model, explored again."""
    file = tmp_path / "coffee.aut"
    otf("explore", "coffee", "--format", "aut", "--out", file)
    assert otf("explore", file, "--format", "aut").out == file.read_text(encoding="utf-8")


def test_a_scenario_restricts() -> None:
    """Two coins and the button: four states."""
    done = otf("explore", "coffee", "--scenario", "Coin(5) Coin(5) Button", "--format", "mermaid")
    assert done.out.count('state "') == 4


def test_a_bound_is_told() -> None:
    """The output names the bound, and nothing is proven."""
    done = otf("explore", "otf.models.coffees:C4", "--limit", "10")
    assert "27 transitions; the model has more: from 2 of these states, the search did not go on (limit)" in done.out
    assert "deterministic: passed: 10 states, 27 transitions; not all were seen: limit" in done.out


def test_a_large_model_is_drawn_small() -> None:
    """A note says so."""
    done = otf("explore", "otf.models.coffees:C4", "--limit", "400", "--format", "dot")
    assert "400 states are too many to draw" in done.err
    assert done.out.count("[label=") < 1_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("coffee", "--format", "xml"), "choose one of text, json, dot"),
        (("coffee", "--out", "/nowhere/coffee"), "--out /nowhere/coffee"),
        (("coffee", "--scenario", "Tea"), "names Tea, which is not an action of the model"),
        (("nowhere.aut",), "No such file"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], said: str) -> None:
    """One message, status 2."""
    assert said in failed("explore", *arguments)


def test_states_by_their_fields() -> None:
    """States that agree in these fields are one; a field that no state has is refused, with those that there are."""
    done = otf("explore", "irc", "--by", "members,operators", "--format", "mermaid")
    assert done.out.count('state "') == 27
    assert "there" not in done.err
    # the summary of many groups: no one of them is far from the start
    first, second, *_ = otf("explore", "conference", "--by", "conf,nick,members").out.splitlines()
    assert (first, second[:8]) == ("conference: 37 states, 392 transitions", "inputs: ")
    assert "group them by one or more of type, members" in failed("explore", "irc", "--by", "tea")


def test_a_page_to_walk_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a file, or into a temporary one that a browser opens; if there is no browser, a message says so."""
    shown: list[str] = []

    def refused(url: str) -> bool:
        shown.append(url)
        return False

    monkeypatch.setattr("webbrowser.open", refused)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = otf("explore", "coffee", "--page", tmp_path / "page.html")
    assert (done.out.splitlines()[-1], shown) == (f"page: {tmp_path / 'page.html'}", [])
    done = otf("explore", "coffee", "--open")
    assert shown == [Path(done.out.splitlines()[-1].removeprefix("page: ")).as_uri()]
    assert "no browser could be started" in done.err
    assert "otf explore: coffee" in Path(shown[0].removeprefix("file://")).read_text(encoding="utf-8")


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    """Only a page of ours is."""
    file = tmp_path / "page.html"
    file.write_text("mine", encoding="utf-8")
    assert "this file exists already" in failed("explore", "coffee", "--page", file)


def test_the_name_of_a_file_says_what_it_is_to_be(tmp_path: Path) -> None:
    """Text in a file that a browser opens would be of no use."""
    page, drawn = tmp_path / "coffee.html", tmp_path / "coffee.dot"
    assert otf("explore", "coffee", "--out", page).status == otf("explore", "coffee", "--out", drawn).status == 0
    assert "<h1>otf explore: " in page.read_text(encoding="utf-8")
    assert drawn.read_text(encoding="utf-8").startswith("digraph")


def test_what_is_behind_outputs_that_decide_is_not_decided(tmp_path: Path) -> None:
    """A model of which one state is known says so where it says that its laws passed."""
    (tmp_path / "ids.py").write_text(
        "from otf import Accept, Spec\n"
        "spec = Spec(lambda ids, inp: [Accept(lambda out: (*ids, out), says='an id')], (), ['new'])\n",
        encoding="utf-8",
    )
    said = otf("explore", f"{tmp_path / 'ids.py'}:spec").out
    assert "1 state, 1 transition; not whole: some outputs decide the next state, and what is behind them" in said
