"""A child process on pipes: what is special about it."""

import os
import re
import select
import shlex
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from otf.adapter import Ending, Frame, LineLost
from otf.adapters import process
from otf.adapters.process import ProcessLine, open_process
from otf.errors import CodecError, ContactError, UsageError
from otf.framing import lines, prompt
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over, python, woken

pytestmark = [pytest.mark.anyio, pytest.mark.real]

SLEEPS = "import time; time.sleep(1000)"
WAITS = "import sys; sys.stdin.read()"


def writes(data: bytes, then: str = WAITS) -> list[str]:
    """The command of a process that writes these bytes to its standard output and goes on with `then`."""
    return python(f"import os; os.write(1, {data!r}); {then}")


# What arrives


async def test_lines_lose_their_ends() -> None:
    r"""A frame is a line without its end, `\n` or `\r\n`; an empty line is a frame too."""
    async with open_process(writes(b"one\n\ntwo\r\nthree\n"), ready=None) as line:
        assert await arrive(line, 4) == frames(b"one", b"", b"two", b"three")


async def test_the_last_line_needs_no_end() -> None:
    """What a process writes before it ends is delivered, though no line end follows it."""
    async with open_process(writes(b"one\ntwo", "os._exit(0)"), ready=None) as line:
        assert await arrive(line, over) == [*frames(b"one", b"two"), Ending("exit status 0")]


async def test_all_that_a_large_pipe_holds_comes_before_the_end() -> None:
    """What a process has written before it ended is delivered whole, though it takes many reads."""
    program = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, (b'x' * 99 + b'\\n') * 5000); os._exit(0)"
    async with open_process(python(program), ready=None) as line:
        with anyio.fail_after(SECONDS):
            await anyio.wait_readable(line.descriptors()[0])
        assert await arrive(line, over) == [*frames(*[b"x" * 99] * 5000), Ending("exit status 0")]


async def test_a_line_can_come_in_parts() -> None:
    """The parts of a line that is written in parts are one frame."""
    program = "import os, sys; os.write(1, b'on'); sys.stdin.readline(); os.write(1, b'e\\n'); sys.stdin.read()"
    async with open_process(python(program), ready=None) as line:
        await woken(line)
        assert line.receive() == []
        await line.send(b"go on")
        assert await arrive(line, 1) == frames(b"one")


async def test_a_line_that_is_too_long_is_cut() -> None:
    """A line over the largest size is delivered up to it, the rest is skipped, and the remarks say so."""
    async with open_process(writes(b"x" * 5000 + b"\nnext\n"), ready=None, framing=lines(largest=1000)) as line:
        assert await arrive(line, 2) == [Frame(b"x" * 1000, "longer than 1000 bytes"), Frame(b"next")]
        assert line.remarks() == ["frames that were too long or broken: 1; the last: longer than 1000 bytes"]


async def test_a_line_without_an_end_takes_no_memory() -> None:
    """Of an endless line the beginning is delivered once, and all that follows is forgotten."""
    program = "import os\nwhile True: os.write(1, b'x' * 65536)"
    async with open_process(python(program), ready=None) as line:
        assert await arrive(line, 1) == [Frame(b"x" * 65_536, "longer than 65536 bytes")]
        for _ in range(20):
            await woken(line)
            assert line.receive() == []


async def test_a_flood_comes_in_bounded_parts() -> None:
    """A process that writes without end gives 256 lines at a time, and can still be stopped."""
    with anyio.fail_after(SECONDS):
        async with open_process(python("import os\nwhile True: os.write(1, b'x\\n' * 1000)"), ready=None) as line:
            sizes: list[int] = []
            while sum(sizes) < 10_000:
                await woken(line)
                sizes.append(len(line.receive()))
            assert max(sizes) == 256


async def test_standard_error_is_drained() -> None:
    """A process that fills its standard error is not held up by that; the last 20 lines are kept for the remarks."""
    program = "import os; [os.write(2, b'%d ' % n + b'x' * 5000 + b'\\n') for n in range(300)]; os.write(1, b'done\\n')"
    async with open_process(python(f"{program}; {WAITS}"), ready=None) as line:
        assert await arrive(line, 1) == frames(b"done")
        assert [remark[:11] for remark in line.remarks()] == [f"stderr: {number}" for number in range(280, 300)]
        assert max(len(remark) for remark in line.remarks()) <= 520


async def test_last_words_need_no_line_end() -> None:
    """What a process says on its standard error right before it dies is there with the ending, in bytes or not."""
    program = "import os; os.write(2, b'out of m\\xffmory'); os._exit(9)"
    async with open_process(python(program), ready=None) as line:
        assert await arrive(line, over) == [Ending("exit status 9")]
        assert line.remarks() == ["stderr: out of m\\xffmory"]


# How it ends


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGKILL, "killed by SIGKILL"), (signal.SIGRTMIN + 1, "killed by signal 35")]
)
async def test_the_signal_that_ended_it_is_named(number: int, reason: str) -> None:
    """A process that is killed while nothing is said or sent wakes the runner, and the ending names the signal."""
    async with open_process(python(WAITS), ready=None) as line:
        os.kill(line.pid, number)
        assert await arrive(line, over) == [Ending(reason)]
        assert line.descriptors() == ()


async def test_the_end_is_seen_though_a_grandchild_holds_the_output() -> None:
    """The end of the process counts, and not that of its pipe, which something else may hold open."""
    program = f"import os, time\nif os.fork() == 0: {SLEEPS}\nos.write(1, b'last words\\n'); os._exit(4)"
    async with open_process(python(program), ready=None) as line:
        assert await arrive(line, over) == [*frames(b"last words"), Ending("exit status 4")]
        assert line.receive() == []


async def test_nothing_comes_after_the_end() -> None:
    """What a grandchild writes after the end of the process is not delivered, and wakes nobody."""
    program = (
        "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [10])\n"
        f"if os.fork() == 0: signal.sigwait([10]); os.write(1, b'late\\n'); os.write(2, b'late'); {SLEEPS}\n"
        "os._exit(4)"
    )
    async with open_process(python(program), ready=None) as line:
        assert await arrive(line, over) == [Ending("exit status 4")]
        os.killpg(line.pid, signal.SIGUSR1)
        await woken(line)
        assert (line.receive(), line.remarks()) == ([], ["stderr: late"])
        assert select.select(line.descriptors(), [], [], 0)[0] == []


async def test_an_output_that_is_closed_is_an_end() -> None:
    """A process that closes its output and lives on has ended its port; how it ended later is remarked."""
    program = "import os, sys; os.write(1, b'one'); os.close(1); sys.stdin.readline(); os._exit(5)"
    async with open_process(python(program), ready=None) as line:
        assert await arrive(line, over) == [*frames(b"one"), Ending("closed its output")]
        await line.send(b"go on")
        await woken(line)
        assert line.receive() == []
        with anyio.fail_after(SECONDS):
            while line.descriptors():
                await woken(line)
                assert line.receive() == []
        assert line.remarks() == ["it closed its output, and later: exit status 5"]


async def test_a_status_that_somebody_else_took_is_unknown() -> None:
    """Where other code has waited for the process, its end is still an end."""
    async with open_process(python("import os; os._exit(3)"), ready=None) as line:
        await woken(line)
        os.waitpid(line.pid, 0)  # noqa: ASYNC222 -- it has ended
        assert await arrive(line, over) == [Ending("exit status unknown")]


# Sending


async def test_sending_to_the_dead_says_how_they_died(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that breaks under a frame is told with what ended the process, though nobody has received that yet."""
    # how long a busy machine takes to bury a process is not what is tested
    monkeypatch.setattr(sys.modules[open_process.__module__], "PATIENCE", SECONDS)
    async with open_process(writes(b"last words\n", "os._exit(3)"), ready=None) as line:
        calls: list[str] = []
        line.arm(lambda: calls.append("wake"))
        with pytest.raises(LineLost, match=r"^exit status 3$"):
            await send_until_lost(line)
        assert calls == ["wake"]
        assert await arrive(line, over) == [*frames(b"last words"), Ending("exit status 3")]


async def test_sending_waits_a_moment_for_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pipe breaks first and the process ends a little later, it is that end which is told."""
    monkeypatch.setattr(sys.modules[open_process.__module__], "PATIENCE", SECONDS)
    async with open_process(python(f"import os; os.close(0); os.write(1, b'one\\n'); {SLEEPS}"), ready=None) as line:
        assert await arrive(line, 1) == frames(b"one")
        async with anyio.create_task_group() as tasks:

            async def send() -> None:
                with pytest.raises(LineLost, match=r"^killed by SIGKILL$"):
                    await line.send(b"anybody there?")

            tasks.start_soon(send)
            await anyio.wait_all_tasks_blocked()
            os.kill(line.pid, signal.SIGKILL)
            assert await arrive(line, over) == [Ending("killed by SIGKILL")]


async def test_sending_to_a_closed_input_is_told() -> None:
    """A process that lives but has closed its input has lost the line; what it says still arrives."""
    async with open_process(python(f"import os; os.close(0); os.write(1, b'one\\n'); {SLEEPS}"), ready=None) as line:
        with pytest.raises(LineLost, match=r"^closed its input$"):
            await send_until_lost(line)
        assert await arrive(line, 1) == frames(b"one")


async def send_until_lost(line: ProcessLine, data: bytes = b"anybody there?") -> None:
    """Send, and wait a moment, until that raises."""
    while True:
        await line.send(data)
        await anyio.lowlevel.checkpoint()


async def test_sending_after_the_context_is_told() -> None:
    """A line that was left is lost."""
    async with open_process(python(WAITS), ready=None) as line:
        pass
    with pytest.raises(LineLost):
        await line.send(b"one more")
    assert (line.receive(), line.descriptors()) == ([], ())


async def test_a_frame_cannot_hold_a_line_end() -> None:
    """A line end inside of a frame would make two lines of it: this is refused, and nothing is sent."""
    async with open_process(python(WAITS), ready=None) as line:
        with pytest.raises(CodecError, match=r"b'a\\nb' cannot be sent as one line"):
            await line.send(b"a\nb")


async def test_sending_waits_for_a_slow_reader() -> None:
    """A frame of a megabyte goes into a pipe that holds much less, as the process reads it."""
    program = "import sys; sys.stdin.readline(); print(len(sys.stdin.readline()), flush=True); sys.stdin.read()"
    async with open_process(python(program), ready=None) as line:
        await line.send(b"begin")
        await line.send(b"x" * 1_000_000)
        assert await arrive(line, 1) == frames(b"1000001")


async def test_a_frame_that_did_not_begin_leaves_the_line_whole() -> None:
    """Who is cancelled before anything of a frame was written can send another."""
    async with open_process(python(SLEEPS), ready=None, grace=0) as line:
        for _ in range(2):
            with anyio.move_on_after(0.01) as waiting:
                await send_until_lost(line, b"x" * (select.PIPE_BUF - 1))
            assert waiting.cancelled_caught


async def test_a_frame_that_was_cut_short_ends_the_line() -> None:
    """Who is cancelled amid a frame cannot send another, since the process would take both for one."""
    async with open_process(python(SLEEPS), ready=None, grace=0) as line:
        with anyio.move_on_after(0.01):
            await line.send(b"x" * 1_000_000)
        with pytest.raises(LineLost, match="in part"):
            await line.send(b"next")


# Getting ready


async def test_ready_is_waited_for() -> None:
    """The line is handed out after `ready`; what came before is remarked, and what came after is delivered."""
    async with process(writes(b"version 1\nready\none\ntwo\n"))() as line:
        assert await arrive(line, 2) == frames(b"one", b"two")
        assert line.remarks() == ["before it was ready: version 1"]


async def test_a_command_line_is_split_as_a_shell_does_it() -> None:
    """A command can be written as one string, with quotes, and no shell runs it."""
    command = shlex.join([sys.executable, "-I", "-S", "-c", "import sys; print(sys.argv)"]) + ' "a b" $HOME'
    async with process(command, ready=None)() as line:
        assert (await arrive(line, over))[0] == frames(b"['-c', 'a b', '$HOME']")[0]


async def test_environment_and_folder_are_the_callers(tmp_path: Path) -> None:
    """The process runs in the folder and with the environment that it was given."""
    program = "import os; print(os.getcwd(), os.environ['WHO'])"
    async with open_process(python(program), ready=None, env={"WHO": "otf"}, cwd=tmp_path) as line:
        assert (await arrive(line, over))[0] == frames(f"{tmp_path} otf".encode())[0]


@pytest.mark.parametrize(
    ("program", "seconds", "message"),
    [
        pytest.param(
            "import sys; print('hello', flush=True); sys.stderr.write('no config'); sys.exit(3)",
            SECONDS,
            r"was never ready: exit status 3, and no line 'ready' before\n"
            r"  before it was ready: hello\n  stderr: no config$",
            id="it dies",
        ),
        pytest.param(
            f"print('Ready.', flush=True); {SLEEPS}",
            0.2,
            r"did not print the line 'ready' within 0.2 s; give it more in ready_timeout, .*, or None for no line\n"
            r"  before it was ready: Ready.$",
            id="it is late",
        ),
        pytest.param(SLEEPS, 0.1, r"for no line\n  it printed nothing at all$", id="it is silent"),
        pytest.param(
            "while True: print('starting ...')",
            0.2,
            "did not print the line 'ready' within 0.2 s",
            id="it floods",
        ),
    ],
)
async def test_what_does_not_get_ready_is_told(program: str, seconds: float, message: str) -> None:
    """Who dies or is late before `ready` is stopped; the error shows the command, how it ended and what it said."""
    before = Baseline()
    with pytest.raises(ContactError, match=f"^`{re.escape(shlex.join(python(program)))}` .*{message}"):
        await used(python(program), seconds)
    assert not before.lasting_leaks()


async def used(command: str | list[str], seconds: float = SECONDS, *, cwd: Path | None = None) -> None:
    """Start a process, wait for `ready`, and stop it."""
    async with process(command, ready_timeout=seconds, grace=0.05, cwd=cwd)():
        pass


async def test_a_program_that_does_not_exist_is_told() -> None:
    """A name that is not a program gets an error that shows it, and says what to check."""
    with pytest.raises(ContactError, match=r"^cannot start `no-such-thing --x`: 'no-such-thing': no such file .*; che"):
        await used("no-such-thing --x")


async def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    """The error blames the folder, and not the program."""
    with pytest.raises(ContactError, match=r"in the folder .*/nowhere': no such file or directory; name another"):
        await used(python(WAITS), cwd=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("mode", "message"), [(0o644, "permission denied; .*chmod"), (0o755, "exec format error; it is")]
)
async def test_a_file_that_cannot_be_run_is_told(tmp_path: Path, mode: int, message: str) -> None:
    """A file that may not be executed, or is not a program, gets an error that says what it needs."""
    program = tmp_path / "program"
    program.write_bytes(b"\x00\x01")
    program.chmod(mode)
    with pytest.raises(ContactError, match=message):
        await used([str(program)])


async def test_a_start_that_fails_otherwise_is_told() -> None:
    """An argument that no system takes gets the system's own words."""
    with pytest.raises(ContactError, match="argument list too long; try to start it by hand"):
        await used([sys.executable, "x" * 10_000_000])


@pytest.mark.parametrize(
    ("command", "message"), [("", "no command"), ([], "no command"), ("a 'b", "no closing quotation")]
)
def test_what_is_no_command_is_told_at_once(command: str | list[str], message: str) -> None:
    """A bench with an empty command, or with a quotation left open, fails where it is written."""
    with pytest.raises(UsageError, match=message):
        process(command)


# Stopping


async def test_closing_the_input_is_enough() -> None:
    """A process that ends with its input gets no signal: it has all of the grace to end by itself."""
    program = "import sys; print('ready', flush=True); sys.stdin.read(); sys.stderr.write('left by itself')"
    with anyio.fail_after(SECONDS):
        async with open_process(python(program), grace=1000) as line:
            pass
    assert line.remarks() == ["stderr: left by itself"]


async def test_a_full_output_does_not_hold_up_the_end() -> None:
    """What a process writes while it ends is read away, so that it can end by itself."""
    program = "import sys; sys.stdin.read(); print('x' * 1000000); sys.stderr.write('left by itself')"
    with anyio.fail_after(SECONDS):
        async with open_process(python(program), ready=None, grace=1000) as line:
            pass
    assert line.remarks()[0] == "stderr: left by itself"


async def test_one_that_stays_is_asked_to_end() -> None:
    """A process that does not heed its input gets SIGTERM, and time to obey."""
    program = (
        "import os, signal, time; signal.signal(signal.SIGTERM, lambda *_: (os.write(2, b'asked'), os._exit(0)));"
        "print('ready', flush=True); time.sleep(1000)"
    )
    async with open_process(python(program), grace=0.5) as line:
        pass
    assert line.remarks() == ["stderr: asked"]


async def test_one_that_ignores_that_is_killed() -> None:
    """A process that ignores SIGTERM is killed."""
    before = Baseline()
    program = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); {SLEEPS}"
    async with open_process(python(program), grace=0.05):
        pass
    assert not before.lasting_leaks()


async def test_one_that_is_stopped_is_killed() -> None:
    """A process that is stopped can heed nothing, and is killed."""
    before = Baseline()
    async with open_process(python(f"print('ready', flush=True); {WAITS}"), grace=0.05) as line:
        os.kill(line.pid, signal.SIGSTOP)
    assert not before.lasting_leaks()


@asynccontextmanager
async def with_grandchild(leader: str) -> AsyncGenerator[tuple[ProcessLine, int], None]:
    """A process that has started another one, which heeds neither SIGTERM nor its input; and a handle on that."""
    program = (
        "import os, signal, time\n"
        f"if os.fork() == 0: signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); {SLEEPS}\n"
        f"import sys; {leader}"
    )
    async with open_process(python(program), ready=None, grace=0.05) as line:
        found = (await arrive(line, 1))[0]
        handle = os.pidfd_open(int(str(found).split("'")[1]))
        yield line, handle


@pytest.mark.parametrize("leader", [SLEEPS, WAITS, "sys.stdin.readline(); os._exit(0)"])
async def test_what_it_started_ends_too(leader: str) -> None:
    """What the process has started is killed, whether the process has to be killed, ends by itself, or is long gone."""
    async with with_grandchild(leader) as (line, grandchild):
        await line.send(b"leave")
        if "exit" in leader:
            await arrive(line, over)
    with anyio.fail_after(SECONDS):
        await anyio.wait_readable(grandchild)
    os.close(grandchild)


async def test_a_cancelled_start_is_stopped() -> None:
    """Who is cancelled while waiting for `ready` leaves no process, though that has to be killed first."""
    before = Baseline()
    with anyio.move_on_after(0.05):
        await used(python("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"))
    assert not before.lasting_leaks()


async def test_a_watcher_that_was_left_behind_is_told() -> None:
    """A task that still watches a descriptor when the line is closed does not wait for ever."""

    async def watch(descriptor: int) -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await anyio.wait_readable(descriptor)

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks, open_process(python(WAITS), ready=None) as line:
            for descriptor in line.descriptors():
                tasks.start_soon(watch, descriptor)
            await anyio.wait_all_tasks_blocked()


# Where the system offers less


@pytest.fixture
def poorer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox without a descriptor for the end of a process."""

    def fails(pid: int, _flags: int = 0) -> int:
        raise OSError(38, os.strerror(38), pid)

    monkeypatch.setattr(os, "pidfd_open", fails)


@pytest.mark.usefixtures("poorer")
async def test_an_end_is_seen_without_a_descriptor_for_it() -> None:
    """The end of the output wakes the runner then, and the process is asked."""
    before = Baseline()
    async with open_process(writes(b"ready\none\n", "os._exit(3)")) as line:
        assert await arrive(line, over) == [*frames(b"one"), Ending("exit status 3")]
    assert not before.lasting_leaks()


@pytest.mark.usefixtures("poorer")
@pytest.mark.parametrize("program", [WAITS, SLEEPS, f"import os; os.close(1); os.close(2); {SLEEPS}"])
async def test_a_process_is_stopped_without_a_descriptor_for_it(program: str) -> None:
    """A process is stopped in the same way there."""
    before = Baseline()
    async with open_process(python(f"print('ready', flush=True); {program}"), grace=0.05):
        pass
    assert not before.lasting_leaks()


# A terminal instead of pipes


async def test_a_process_on_a_terminal_of_its_own() -> None:
    """With `pty` a program sees a terminal, which neither echoes nor translates; all that it says is on it."""
    program = (
        "import os, sys; os.write(2, b'%d\\r\\n' % sys.stdout.isatty()); print(ascii(input()), flush=True); input()"
    )
    async with open_process(python(program), ready=None, pty=True) as line:
        assert await arrive(line, 1) == frames(b"1")
        await line.send(b"\x03 hello \x04")
        assert await arrive(line, 1) == frames(b"'\\x03 hello \\x04'")


async def test_a_terminal_is_told_when_it_is_hung_up() -> None:
    """A program on a terminal that does not read is ended by the hang-up, before any harder signal."""
    with anyio.fail_after(SECONDS):
        async with open_process(python(SLEEPS), ready=None, pty=True, grace=SECONDS):
            pass


async def test_prompts_can_be_the_framing_of_a_process() -> None:
    """A program that asks without ending the line is read by its prompt."""
    program = "[print('you said', input('? '), flush=True) for _ in range(2)]"
    async with open_process(python(program), ready=None, pty=True, framing=prompt(b"? ", end=b"\n")) as line:
        assert await arrive(line, 1) == frames(b"")
        await line.send(b"hello")
        assert await arrive(line, 1) == frames(b"you said hello\n")
