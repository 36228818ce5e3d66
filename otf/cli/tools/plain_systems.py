"""A system of which only the address and some messages are known: texts, in which each character is a byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otf.cli.user_code import near_file
from otf.errors import CodecError, OtfError, UsageError, choose

if TYPE_CHECKING:
    from otf.adapter import Bench, Life
    from otf.draft.registers import GuessedRegister
    from otf.framing import Framing

PORT: Final = "line"
LARGEST: Final = 1 << 20  # bytes of a file of messages
ANSWERED: Final = 1.0  # seconds to wait for an answer to a reset message
SETTLE: Final = 0.05  # seconds during which to drop the rest of these answers
DATAGRAMS: Final = ("udp", "can", "isotp", "visa")  # the schemes of addresses without a framing
ENDS: Final = {"lines": "\n", "crlf": "\r\n"}
_MESSAGES: Final = "; name a file with a message in each line, or a recording"
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([\\nrt0]))")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}


@dataclass(frozen=True)
class Texts:
    r"""The codec of messages that are texts, each character a byte; it adds `end` to each.

    >>> Texts("\r\n").encode("put 2\r\nhi"), Texts().decode("", b"\xff")
    (b'put 2\r\nhi\r\n', 'ÿ')
    """

    end: str = ""
    types: tuple[type, ...] = (str,)

    def port(self, value: object) -> str:
        """Return the name of the only port."""
        del value
        return ""

    def encode(self, value: object) -> bytes:
        """Return the bytes of a message, with its end. Raises CodecError for a character that is not a byte."""
        try:
            return f"{value}{self.end}".encode("latin-1")
        except UnicodeError as error:
            raise CodecError(f"{value!r} has characters that are not bytes; write these as \\xHH") from error

    def decode(self, port: str, data: bytes) -> str:
        """Return bytes as a text."""
        del port
        return data.decode("latin-1")


@dataclass(frozen=True)
class Messages:
    """The messages of a file, how to cut the stream into them (a framing, and its code), and how each ends."""

    texts: Sequence[str]
    end: str = "\n"
    framing: Framing | None = None
    code: str = ""
    # whether the end is a guess that the system's answers may refute
    guessed: bool = True
    registers: Sequence[GuessedRegister] = ()


@dataclass(frozen=True)
class PlainSystem:
    """A system at an address, with its messages, the command that starts it afresh, and messages that reset it."""

    url: str
    messages: Messages
    start: str = ""
    reset: Sequence[str] = ()
    registers: Mapping[str, str] = field(default_factory=dict[str, str])
    quiescence: float | None = None

    def bench(self) -> Bench:
        """Return its bench, with a model that only knows the inputs."""
        from otf.spec import Spec

        spec = Spec[None, str](lambda _state, _inp: [], None, self.messages.texts)
        options: dict[str, Any] = {"start": self.start, "reset": self.reset, "quiescence": self.quiescence}
        options["registers"] = self.registers
        return text_bench(spec, self.url, end=self.messages.end, framing=self.messages.framing, **options)

    def code(self) -> tuple[list[str], list[str]]:
        """Return the code of its bench, and the imports."""
        options: dict[str, Any] = {"end": self.messages.end, "start": self.start, "reset": self.reset}
        options |= {"registers": self.registers, "quiescence": self.quiescence}
        given = [f"{name}={value!r}" for name, value in options.items() if value and value != "\n"]
        given += [f"framing={self.messages.code}"] if self.messages.code else []
        code = [
            "",
            f"def bench(url: str = {self.url!r}) -> Bench:",
            '    """Return the bench of the system at this address."""',
            f"    return {', '.join(['text_bench(spec, url', *given])})",
        ]
        imports = [f"from otf import Bench{', framing' if self.messages.code else ''}"]
        return code, [*imports, "from otf.cli.tools.plain_systems import text_bench"]


def text_bench(
    spec: Any,  # noqa: ANN401 -- any spec
    url: str,
    *,
    end: str = "\n",
    framing: Framing | None = None,
    start: str = "",
    reset: Sequence[str] = (),
    registers: Mapping[str, str] | None = None,
    quiescence: float | None = None,
) -> Bench:
    """Return the bench of a system whose messages are texts; each gets `end`, unless there is a framing.

    Before each path, `start` is the command that starts a fresh system, and `reset` holds messages to send then.
    `registers` maps names to patterns in answers, for use in inputs. Raises UsageError for an invalid address.
    """
    from otf import framing as framings
    from otf.adapter import Bench
    from otf.cli.sut_addresses import about, port_at

    stream = url.partition(":")[0] not in DATAGRAMS
    cut = framing or (framings.lines(b"\r\n" if end == "\r\n" else b"\n", sent=b"") if stream else None)
    if registers and cut is None:
        raise UsageError(f"--register: {url} has datagrams; registers are for a stream of messages")
    if registers and cut is not None:
        with about("--"):
            cut = framings.registers(cut, {name: pattern.encode("latin-1") for name, pattern in registers.items()})
    codec = Texts(end if stream and framing is None else "")
    name = "".join(each if each.isalnum() else "_" for each in url.partition("://")[2] or url).strip("_")
    with about(f"--sut {url}: "):
        ports = {PORT: port_at(url, cut)}
    return Bench.on_ports(spec, codec, ports, name=name, quiescence=quiescence, life=_life(codec, url, start, reset))


def _life(codec: Texts, url: str, start: str, reset: Sequence[str]) -> Life | None:
    from otf.adapter import Expect, Life, Listening

    if not start and not reset:
        return None
    host, _, port = url.partition("://")[2].partition("?")[0].rpartition(":")
    scheme = url.partition(":")[0]
    ready = Listening(int(port), host.strip("[]"), udp=scheme == "udp") if port.isdigit() else None
    if scheme == "unix":
        return Life(server=start or None, ready=Path(url.partition(":")[2]).exists)
    # some servers drop what comes before they have answered, and a late answer would count for the path
    answered = Expect(PORT, b"", ANSWERED, needed=False)
    inband = [step for each in reset for step in ((PORT, codec.encode(each)), answered)]
    return Life(server=start or None, ready=ready if start else None, inband=inband, settle=SETTLE if reset else 0.0)


def lines_of(file: Path) -> list[str]:
    """Return the lines of a file, each once, without empty lines and comments (#). Raises UsageError."""
    lines = [line.strip() for line in _read(file).decode("utf-8", "replace").splitlines()]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def unescaped(text: str) -> str:
    r"""Return a message from a file of texts: `\n`, `\r`, `\t`, `\0`, `\\` and `\xHH` stand for characters.

    >>> unescaped(r"put 2\r\nhi"), unescaped(r"C:\dir")
    ('put 2\r\nhi', 'C:\\dir')
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPES[found[2]], text)


def named(registers: Sequence[str]) -> dict[str, str]:
    """Return the patterns of registers given as NAME=REGEX. Raises UsageError."""
    found = {name: pattern for name, equals, pattern in (each.partition("=") for each in registers) if equals}
    if len(found) < len(registers):
        raise UsageError("--register: write NAME=REGEX, such as 'job=INSERTED (\\d+)', once for each name")
    return found


def messages(file: Path, framing: str, *, registers: bool = True) -> Messages:
    """Return the messages of a file: one per line, or those sent to a system in a capture or a marked log.

    `framing` is a name, or "" for a guess; `registers`: guess those of a recording. Raises UsageError.
    """
    from otf.cli.tools.starters import FRAMINGS

    if framing and framing not in FRAMINGS:
        raise UsageError(f"--framing {framing}: there is no such framing; {choose(framing, FRAMINGS, 'there are')}")
    found = _recorded(file, registers=registers)
    if found is None:
        texts = [unescaped(each) for each in lines_of(file)]
        ends = {line.endswith(b"\r\n") for line in _read(file).splitlines(keepends=True)}
        crlf = ends == {True} or any("\r\n" in each for each in texts)
        found = Messages(texts, end="\r\n" if crlf else "\n", guessed=not crlf)
    if not framing:
        return found
    if framing in ENDS:
        return replace(found, end=ENDS[framing], framing=None, code="", guessed=False)
    from otf import framing as framings

    cut = {"length": framings.length(2), "slip": framings.slip(), "cobs": framings.cobs()}
    made = cut.get(framing, framings.silence(0.02))
    return replace(found, end="", framing=made, code=FRAMINGS[framing], guessed=False)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(
            f"--alphabet {file}: it cannot be read ({error.strerror}){near_file(file, _MESSAGES)}"
        ) from error
    if len(data) > LARGEST:
        raise UsageError(f"--alphabet {file}: more than {LARGEST:,} bytes; a file of messages has at most that")
    return data


def _recorded(file: Path, *, registers: bool) -> Messages | None:
    """Return the messages sent in a recording; None if the file is not one."""
    from otf.draft.dialogue import CRLF, FORMS, cut, is_text, read_dialogue
    from otf.draft.registers import guessed_registers
    from otf.trace.pcap import MAGIC
    from otf.trace.pcapng import MAGIC as NEXT_MAGIC

    captured = False
    try:
        with file.open("rb") as opened:
            captured = opened.read(4) in {*MAGIC, NEXT_MAGIC}
            opened.seek(0)
            dialogue, guess = cut(read_dialogue(opened, str(file)))
    except OSError as error:
        raise UsageError(
            f"--alphabet {file}: it cannot be read ({error.strerror}){near_file(file, _MESSAGES)}"
        ) from error
    except OtfError as error:
        if captured:
            raise UsageError(f"--alphabet {file}: {error}; a recording is {FORMS}") from error
        return None
    if all(each.sent for each in dialogue.utterances):
        return None
    texts = list(dict.fromkeys(each.data.decode("latin-1") for each in dialogue.utterances if each.sent and each.data))
    found: list[GuessedRegister] = []
    if registers and all(is_text(each.data) for each in dialogue.utterances):
        texts, found = guessed_registers(dialogue.utterances)
    if guess.code in {"", CRLF}:
        return Messages(texts, "\r\n" if guess.code else "\n", guessed=not captured, registers=found)
    return Messages(texts, "", guess.framing, guess.code, guessed=False, registers=found)
