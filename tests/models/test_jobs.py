"""The job queue: who gets which job, and when nobody does."""

import pytest

from otf.core import Monitor
from otf.models.jobs import bench
from otf.models.jobs.inputs import inputs
from otf.models.jobs.messages import Command, JobsCodec, Reply, replies
from otf.models.jobs.state import MINE, SHORT, Job, State, alike
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.models.scripts import judged

CODEC = JobsCodec()
PUT = Command("a", "put", (2, 0, 1000), "x")
URGENT = Command("a", "put", (1, 0, 1000), "yy")
NOW = Command("b", "reserve-with-timeout", (0,))
BLOCKS = Command("b", "reserve")
FIRST, SECOND = Reply("a", "INSERTED", (1,)), Reply("a", "INSERTED", (2,))
GIVEN = Reply("b", "RESERVED", (1, 1), "x")


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(PUT, FIRST), (NOW, GIVEN)], "pass"),
        ([(PUT, FIRST), (URGENT, SECOND), (NOW, Reply("b", "RESERVED", (2, 2), "yy"))], "pass"),
        ([(PUT, FIRST), (URGENT, SECOND), (NOW, GIVEN)], "fail"),
        ([(NOW, Reply("b", "TIMED_OUT"))], "pass"),
        ([(BLOCKS,), (PUT, FIRST, GIVEN)], "pass"),
        ([(BLOCKS,), (PUT, GIVEN, FIRST)], "pass"),
        ([(BLOCKS,), (PUT, FIRST)], "fail"),
        ([(PUT, FIRST), (NOW, GIVEN), (Command("a", "release", (1, 1, 0)), Reply("a", "NOT_FOUND"))], "pass"),
        ([(PUT, FIRST), (NOW, GIVEN), (Command("b", "release", (1, 1, 0)), Reply("b", "RELEASED"))], "pass"),
        (
            [
                (PUT, FIRST),
                (NOW, GIVEN),
                (Command("b", "bury", (1, 0)), Reply("b", "BURIED")),
                (NOW, Reply("b", "TIMED_OUT")),
            ],
            "pass",
        ),
        ([(PUT, FIRST), (Command("b", "delete", (1,)), Reply("b", "DELETED")), (NOW, Reply("b", "TIMED_OUT"))], "pass"),
        ([(PUT, FIRST), (Command("b", "delete", (1,)), Reply("b", "DELETED")), (NOW, GIVEN)], "fail"),
        ([(Command("a", "delete", ("x",)), Reply("a", "BAD_FORMAT"))], "pass"),
        ([(Command("a", "bogus"), Reply("a", "UNKNOWN_COMMAND"))], "pass"),
    ],
)
def test_what_the_queue_may_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """To two clients."""
    assert judged(bench(), *script) == outcome


def test_a_short_time_may_be_over_at_any_moment() -> None:
    """A job with a time-to-run of a second may be ready again, and may still be reserved."""
    short = (Command("a", "put", (2, 0, 1), "x"), FIRST), (Command("a", "reserve"), Reply("a", "RESERVED", (1, 1), "x"))
    assert judged(bench(), *short, (NOW, GIVEN)) == "pass"
    assert judged(bench(), *short, (NOW, Reply("b", "TIMED_OUT"))) == "pass"


def test_a_job_that_is_not_given_away_when_its_time_is_over_is_a_known_issue() -> None:
    """The client that waits for it is blamed on the queue, as what it is known for."""
    made = bench()
    monitor = Monitor(made.oracle())
    events: list[Event] = [
        *(Sent(Command("a", "put", (2, 0, 1), "x"), "a", 0.0), Seen(FIRST, "a", 0.1), Quiet(0.2)),
        *(Sent(Command("a", "reserve"), "a", 0.3), Seen(Reply("a", "RESERVED", (1, 1), "x"), "a", 0.4), Quiet(0.5)),
        *(Sent(BLOCKS, "b", 0.6), Quiet(0.7), Quiet(5.0)),
    ]
    verdict = [monitor.tell(event) for event in events][-1]
    assert verdict is not None
    assert verdict.failure is not None
    assert made.known_issues[0].shows(verdict.failure)


@pytest.mark.parametrize(("given", "outcome"), [((1, 1, "x"), "pass"), ((2, 2, "yy"), "pass"), ((3, 1, "x"), "fail")])
def test_a_client_that_waits_gets_any_of_the_jobs_that_are_kicked(given: tuple[int, int, str], outcome: str) -> None:
    """The protocol does not say in which order they are kicked; beanstalkd gives the one away that was buried first."""
    number, size, body = given
    script: list[tuple[object, ...]] = [(PUT, FIRST), (URGENT, SECOND)]
    for job, length, text in ((2, 2, "yy"), (1, 1, "x")):
        script += [(Command("a", "reserve"), Reply("a", "RESERVED", (job, length), text))]
        script += [(Command("a", "bury", (job, 0)), Reply("a", "BURIED"))]
    kicked = Reply("a", "KICKED", (2,)), Reply("b", "RESERVED", (number, size), body)
    assert judged(bench(), *script, (BLOCKS,), (Command("a", "kick", (10,)), *kicked)) == outcome


def test_bytes() -> None:
    """A job follows its command on a line of its own, and an answer that says so."""
    assert CODEC.encode(PUT) == b"put 2 0 1000 1\r\nx\r\n"
    framer = replies()
    cut = framer().feed(b"RESERVED 1 4\r\na\r\nb\r\nINSERTED 2\r\nUSING default\r\n")
    assert [CODEC.decode("b", frame.data) for frame in cut] == [
        Reply("b", "RESERVED", (1, 4), "a\r\nb"),
        Reply("b", "INSERTED", (2,)),
        Reply("b", "USING default"),
    ]


def test_a_silence_holds_for_all_jobs_that_are_alike() -> None:
    """Ids count up for ever; where a job is, whether its time runs, and who waits is what the queue talks about."""
    first, later = State((Job(1, 2, SHORT, "x", "a"),), 2), State((Job(7, 2, SHORT, "x", "a"),), 8)
    for name in MINE:
        assert alike(first, Command("a", name, (1, 0))) == alike(later, Command("a", name, (7, 0)))
    assert alike(first, PUT) != alike(State((), 2), PUT)
    assert alike(first, PUT) != alike(State(first.jobs, 2, frozenset("b")), PUT)
    assert alike(first, "malformed") == (first, "malformed")
    assert alike(first, Command("a", "delete")) != alike(first, Command("b", "delete"))  # without its argument


def test_the_same_command_is_the_same_object_in_each_state() -> None:
    """The engine recognises it without a look at its contents."""
    first, later = State((Job(1, 2, 1000, "x"),), 2), State((Job(1, 2, 1000, "x"), Job(2, 2, 1000, "x")), 3)
    commands = {id(command) for command in inputs("", later)}
    assert all(id(command) in commands for command in inputs("", first))
