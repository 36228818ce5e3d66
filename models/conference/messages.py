"""Inputs and outputs of a conference protocol entity, named from its own point of view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Join:
    """Its user joins a conference under a nickname."""

    nick: str
    conf: str


@dataclass(frozen=True, slots=True)
class Datareq:
    """Its user says something."""

    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Its user leaves the conference."""


@dataclass(frozen=True, slots=True)
class JoinPDUin:
    """The entity `cpe` asks to join."""

    cpe: int
    nick: str
    conf: str


@dataclass(frozen=True, slots=True)
class AnswerPDUin:
    """The entity `cpe` says that it takes part."""

    cpe: int
    nick: str
    conf: str


@dataclass(frozen=True, slots=True)
class DataPDUin:
    """The entity `cpe` passes on the words of its user."""

    cpe: int
    text: str


@dataclass(frozen=True, slots=True)
class LeavePDUin:
    """The entity `cpe` leaves."""

    cpe: int


@dataclass(frozen=True, slots=True)
class JoinPDUout:
    """This user asks the entity `cpe` to join."""

    cpe: int
    nick: str
    conf: str


@dataclass(frozen=True, slots=True)
class AnswerPDUout:
    """The entity `cpe` learns that this user takes part."""

    cpe: int
    nick: str
    conf: str


@dataclass(frozen=True, slots=True)
class DataPDUout:
    """The entity `cpe` gets the words of this user."""

    cpe: int
    text: str


@dataclass(frozen=True, slots=True)
class LeavePDUout:
    """The entity `cpe` learns that this user leaves."""

    cpe: int


@dataclass(frozen=True, slots=True)
class Data:
    """The user sees the words of another user."""

    nick: str
    text: str


UserInput: TypeAlias = Join | Datareq | Leave
PDUin: TypeAlias = JoinPDUin | AnswerPDUin | DataPDUin | LeavePDUin
PDUout: TypeAlias = JoinPDUout | AnswerPDUout | DataPDUout | LeavePDUout
Input: TypeAlias = UserInput | PDUin
Output: TypeAlias = PDUout | Data

TYPES: tuple[type, ...] = (
    *(Join, Datareq, Leave),
    *(JoinPDUin, AnswerPDUin, DataPDUin, LeavePDUin),
    *(JoinPDUout, AnswerPDUout, DataPDUout, LeavePDUout, Data),
)
