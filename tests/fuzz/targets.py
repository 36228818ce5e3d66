"""Every parser of bytes of strangers, as a function of bytes: it returns, or raises an error of otf, in bounded time.

`python -m benchmarks.fuzz` has atheris search for other ends; what it met is in `corpus`, and `test_corpus` runs it.
"""
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any, Final

from otf.campaign import run
from otf.campaign.journal_reader import Past
from otf.cli.replay_logs import How, opinion
from otf.cli.sut_addresses import description
from otf.cli.tools.check import check_folder
from otf.cli.tools.live import _Handler
from otf.codec import lines as text_lines
from otf.codec.can import DbcCodec, dbc, decode_bus, decode_can
from otf.codec.library import LibraryCodec
from otf.codec.mqtt import MqttCodec
from otf.codec.web import HttpCodec
from otf.errors import OtfError
from otf.framing import Frame, Framing, cobs, fixed, length, lines, prompt, silence, slip
from otf.framing.web import http, websocket
from otf.models.coffee import bench as coffee
from otf.offline import judge
from otf.trace.reading import TraceReader, bounded
from tests.codec.declared import constructs, jsons, msgpacks, protobufs
from tests.codec.test_can import DBC
from tests.offline.captures import CaptureWriter
from tests.offline.test_canlogs import BUS
from tests.offline.test_formats import BENCH, LOGS
from tests.offline.test_hostile_logs import FILES

CORPUS: Final = Path(__file__).with_name("corpus")
FRAMINGS: Final[list[Framing]] = [
    *(lines(), lines(b"\r\n", largest=64), prompt(b"> "), length(), length(1, largest=9), fixed(3)),
    *(slip(), cobs(), silence(0.1, largest=64), http(), http(largest=64), websocket(), websocket(largest=64)),
]
WEB: Final = 4  # the last of them
FORMS: Final = [*FILES, "pcap"]


def framing(data: bytes) -> None:
    """A stream is cut into the same frames, whole and in pieces; the first bytes choose the framing and the piece."""
    if len(data) < 2:
        return
    make, piece, stream = FRAMINGS[data[0] % len(FRAMINGS)], data[1] + 1, data[2:]
    whole, parts = make(), make()
    found = [*whole.feed(stream), *whole.rest()]
    again = [frame for at in range(0, len(stream), piece) for frame in parts.feed(stream[at : at + piece])]
    again += parts.rest()
    # h11 and wsproto end a stream at the first mistake, as soon as they have seen it
    is_web = data[0] % len(FRAMINGS) >= len(FRAMINGS) - WEB
    assert (_until_trouble(again) == _until_trouble(found)) if is_web else (again == found)
    assert sum(len(frame.data) for frame in found) <= 2 * len(stream) + 64


def _until_trouble(frames: list[Frame]) -> list[Frame]:
    return list(takewhile(lambda frame: not frame.trouble, frames))


def codec(data: bytes) -> None:
    """Bytes are undecodable, or a value whose bytes are read as the same; the first byte chooses the codec."""
    if not data:
        return
    each = codecs()[data[0] % len(codecs())]
    value = each.decode("line", data[1:])
    if isinstance(each, LibraryCodec | DbcCodec):
        again = each.decode("line", each.encode(value))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- bytes
        assert repr(again) == repr(value)


@cache
def codecs() -> list[Any]:
    """Return one codec of each kind."""
    (folder() / "car.dbc").write_text(DBC, encoding="utf-8")
    raw = [SimpleNamespace(decode=lambda _, data, read=read: read(data)) for read in (decode_bus, decode_can)]
    made: list[Callable[..., LibraryCodec]] = [constructs, protobufs, jsons, msgpacks]
    own = [text_lines({int: "{}", str: "say {}"}), MqttCodec(), HttpCodec(), dbc(folder() / "car.dbc"), *raw]
    return [*own, *(make(exact=exact) for make in made for exact in (True, False))]


def log(data: bytes) -> None:
    """A capture or a log of another program is judged; the first byte chooses the format."""
    if data:
        form = FORMS[data[0] % len(FORMS)]
        bench = BUS if form in {"candump", "asc", "blf"} else BENCH
        how = How(form=form, choice="9600" if form == "sigrok" else "")
        opinion(str(LOGS / "log"), io.BytesIO(data[1:]), bench, how)


def trace(data: bytes) -> None:
    """A trace is read and judged."""
    judge(TraceReader(bounded(io.BytesIO(data)), "fuzzed"), coffee())


def journal(data: bytes) -> None:
    """The journal of a folder is read for `--resume`, and checked."""
    (folder() / "campaign.jsonl").write_bytes(data)
    with suppress(OtfError):
        Past(folder())
    check_folder(folder(), as_json=True)


def toml(data: bytes) -> None:
    """A description of a bench is read."""
    (folder() / "bench.toml").write_bytes(data)
    description(folder() / "bench.toml")


def database(data: bytes) -> None:
    """A DBC file is read, and a frame decoded by it."""
    (folder() / "fuzzed.dbc").write_bytes(data)
    dbc(folder() / "fuzzed.dbc").decode("", b"\0\0\1\0\4\0\0\0\1\2\3\4\0\0\0\0")


def page(data: bytes) -> None:
    """The live page answers a request; only one with the right host and token gets it."""
    said = io.BytesIO()
    connection = SimpleNamespace(makefile=lambda *_: io.BytesIO(data), sendall=said.write, settimeout=lambda _: None)
    answers = SimpleNamespace(answer=lambda path: ("text/plain", b"SECRET") if path in {"/", "/state"} else None)
    server: Any = SimpleNamespace(page=answers, token="0" * 32, server_port=80)
    _Handler(connection, ("127.0.0.1", 1), server)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a socket
    assert b"SECRET" not in said.getvalue() or b"0" * 32 in data


TARGETS: Final[dict[str, Callable[[bytes], object]]] = {
    each.__name__: each for each in (framing, codec, log, trace, journal, toml, database, page)
}


@cache
def folder() -> Path:
    """Return a folder of this process for parsers that read files."""
    return Path(mkdtemp(prefix="otf-fuzz-"))


def call(name: str, data: bytes) -> None:
    """Call a target; errors of otf are right ends."""
    with suppress(OtfError):
        TARGETS[name](data)


def seeds() -> dict[str, list[bytes]]:
    """Return the first inputs: one that is right, of each kind."""
    own, capture = Path(mkdtemp(dir=folder())), io.BytesIO()
    run(coffee(), traces=1, steps=4, seed=1, out=own / "out")
    CaptureWriter(capture).udp(1.0, ("127.0.0.1", 5000), ("127.0.0.1", 5001), b"hello")
    return {
        "framing": [
            bytes([at, 1]) + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\0\3abc\xc0> \n" for at in range(13)
        ],
        "codec": [bytes([at]) + b'{"tag":2,"code":3,"share":0.5,"at":null}\r\n' for at in range(len(codecs()))],
        "log": [bytes([at]) + (LOGS / file).read_bytes()[:2_000] for at, file in enumerate(FILES.values())]
        + [bytes([len(FILES)]) + capture.getvalue()],
        "trace": [(own / "out" / "path-0001.jsonl").read_bytes()],
        "journal": [(own / "out" / "campaign.jsonl").read_bytes()],
        "toml": [b'bench = "coffee"\nL = 0.1\n[ports]\nline = "tcp://h:1"\n[set]\nfault = "dry"\n'],
        "database": [DBC.encode()],
        "page": [b"GET /?token=" + b"0" * 32 + b" HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"],
    }


def corpus(name: str) -> list[bytes]:
    """Return the inputs that reached different code, or ended wrongly once."""
    file = CORPUS / f"{name}.json"
    return [base64.b64decode(each) for each in json.loads(file.read_text(encoding="ascii"))] if file.exists() else []


def store(name: str, inputs: list[bytes]) -> None:
    """Replace the corpus of a target."""
    text = ",\n".join(json.dumps(base64.b64encode(each).decode()) for each in inputs)
    (CORPUS / f"{name}.json").write_text(f"[\n{text}\n]\n", encoding="ascii")
