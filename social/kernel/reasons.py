"""Names the reasons for which what others sent is refused, cut or left out.

Where there is no reason a thing is taken. Source: DESIGN section 4, "What others send is taken unless a rule says no".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Self


class Reason(Enum):
    """A reason to refuse, cut or leave out what somebody else sent. Each app lists its own in one enumeration.

    `sentence` is for people who read a log or a table, `rule` says what asks for the refusal (a security row, a section of
    the contract, a standard, or what Mastodon does), `senders` who in the world sends such a thing.
    """

    sentence: str
    rule: str
    senders: str

    def __new__(cls, sentence: str, rule: str, senders: str = "") -> Self:
        """Make a member whose value is its sentence."""
        member = object.__new__(cls)
        member._value_ = sentence
        member.sentence, member.rule, member.senders = sentence, rule, senders
        return member

    def __str__(self) -> str:
        return self.sentence

    @property
    def key(self) -> str:
        """The name under which it is counted: that of its app, a dot, and its own in small letters."""
        return f"{type(self).__module__.partition('.')[0]}.{self.name.lower()}"


def reason_of(key: str) -> Reason | None:
    """Return the reason that is counted under this name; None for one of another release."""
    return next((reason for kind in Reason.__subclasses__() for reason in kind if reason.key == key), None)


_left_out: ContextVar[Counter[Reason] | None] = ContextVar("left_out", default=None)


def leave_out(reason: Reason, number: int = 1) -> None:
    """Note that parts of a thing are not taken. Without a `collected` block around it this does nothing."""
    counts = _left_out.get()
    if counts is not None and number > 0:
        counts[reason] += number


@contextmanager
def collected() -> Iterator[Counter[Reason]]:
    """Count what `leave_out` notes in the block."""
    counts: Counter[Reason] = Counter()
    token = _left_out.set(counts)
    try:
        yield counts
    finally:
        _left_out.reset(token)
