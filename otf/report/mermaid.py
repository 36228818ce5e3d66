"""A sequence chart in the language of Mermaid, which GitHub, GitLab and many editors draw."""

from __future__ import annotations

from collections.abc import Iterator

from otf.report.sequence import Chart, SequenceRow

SYSTEM = "SUT"


def mermaid(chart: Chart) -> str:
    """Return the chart as lines for Mermaid.

    >>> from otf.report.sequence import chart
    >>> from otf.trace.events import Quiet, Seen, Sent
    >>> print(mermaid(chart([Sent("a;b", "line", 0.0), Seen("x", "line", 0.1), Quiet(0.2)])))
    sequenceDiagram
        participant P0 as line
        participant SUT
        P0->>SUT: 'a#59;b'
        SUT->>P0: 'x'
        Note over P0,SUT: quiet
    """
    return "\n".join(_lines(chart))


def _lines(chart: Chart) -> Iterator[str]:
    half = -(-len(chart.ports) // 2)
    names = {port: f"P{number}" for number, port in enumerate(chart.ports)}
    drawn = [*names.values()]
    drawn.insert(half, SYSTEM)
    ports = {name: port for port, name in names.items()}
    yield "sequenceDiagram"
    for name in drawn:
        yield f"    participant {name}" + ("" if name == SYSTEM else f" as {_text(ports[name] or 'port')}")
    over = ",".join(dict.fromkeys([drawn[0], drawn[-1]]))
    if chart.earlier:
        yield f"    Note over {over}: {chart.earlier} earlier events"
    for row in chart.rows:
        yield f"    {_row(row, names, over)}"


def _row(row: SequenceRow, names: dict[str, str], over: str) -> str:
    here = " (here)" if row.failed else ""
    match row.kind:
        case "sent":
            return f"{names[row.port]}->>{SYSTEM}: {_text(row.text)}{here}"
        case "seen":
            return f"{SYSTEM}->>{names[row.port]}: {_text(row.text)}{here}"
        case "closed":
            return f"{SYSTEM}-x{names[row.port]}: {_text(row.text)}{here}"
        case _:
            return f"Note over {over}: {_text(row.text)}{here}"


def _text(text: str) -> str:
    # a semicolon ends a line, # begins an entity, and angle brackets would be taken for HTML
    return "".join(f"#{ord(char)};" if char in '#;<>&"%' or not char.isprintable() else char for char in text) or "-"
