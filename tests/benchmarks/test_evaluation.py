"""The page of the evaluation and its plots have the stored figures, and no others."""

import json
from xml.etree.ElementTree import fromstring

from benchmarks.evaluation import PAGE, PICTURES, STORED, page, plots
from benchmarks.evaluation_plots import Axis, plot


def test_page() -> None:
    """The page is the one that the stored figures make: nobody edits it by hand."""
    assert PAGE.read_text() == page(json.loads(STORED.read_text()))


def test_each_table_can_be_measured_again() -> None:
    """Each table has a command of this repository, the load, and as many cells in each row as columns."""
    for table in json.loads(STORED.read_text())["tables"]:
        assert table["command"].startswith(("python -m benchmarks.", "pytest "))
        assert table["load"]
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


def test_plots() -> None:
    """Each plot is the one that its table makes."""
    made = plots(json.loads(STORED.read_text()))
    assert {file.name: file.read_text() for file in PICTURES.glob("evaluation-*.svg")} == made


def test_a_plot_has_a_mark_for_each_value() -> None:
    """Each row with numbers has a line, texts are escaped, and a row without a number is left out."""
    asked = {"file": "a.svg", "label": ["name"], "values": ["first", "last"], "axis": "inputs"}
    rows = [["<a>", 3, 10], ["b", 1, 2], ["c", 1, "none"]]
    picture = fromstring(plot({"plot": asked, "columns": ["name", "first", "last"], "rows": rows}))  # noqa: S314 -- ours
    titles = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["first", "last", "<a>, first: 3", "<a>, last: 10", "b, first: 1", "b, last: 2"]


def test_an_axis_is_logarithmic_where_values_differ_much() -> None:
    """Values up to 50 times the least are drawn from 0; larger ones by powers of ten."""
    assert Axis([10, 500]).ticks() == [0, 200, 400, 600, 800]
    assert Axis([10, 501]).ticks() == [10, 100, 1000]
    assert Axis([0, 1, 3]).at(0) < Axis([0, 1, 3]).at(1)
