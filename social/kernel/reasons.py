"""Reasons to refuse, cut or leave out content that others sent.

Content is accepted unless there is a reason to refuse it. Source: DESIGN section 4, "What others send is taken unless a rule
says no".
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Self


class Reason(Enum):
    """A reason to refuse, cut or leave out content that others sent. Each app lists its reasons in one enumeration.

    `sentence` is for people who read a log or a table. `rule` says what requires the refusal: a security row, a section of
    the contract, a standard, or what Mastodon does. `senders` says who sends such content in practice.
    """

    sentence: str
    rule: str
    senders: str

    def __new__(cls, sentence: str, rule: str, senders: str = "") -> Self:
        member = object.__new__(cls)
        member._value_ = sentence
        member.sentence, member.rule, member.senders = sentence, rule, senders
        return member

    def __str__(self) -> str:
        return self.sentence

    @property
    def key(self) -> str:
        """The name under which the reason is counted: the name of its app, a dot, and the reason's name in lower case."""
        return f"{type(self).__module__.partition('.')[0]}.{self.name.lower()}"


def reason_of(key: str) -> Reason | None:
    """Return the reason that is counted under this name; None for a name that only another release uses."""
    return next((reason for kind in Reason.__subclasses__() for reason in kind if reason.key == key), None)


_left_out: ContextVar[Counter[Reason] | None] = ContextVar("left_out", default=None)


def leave_out(reason: Reason, number: int = 1) -> None:
    """Count parts of an object as left out, for the `count_left_out` block around the call, if there is one."""
    counts = _left_out.get()
    if counts is not None and number > 0:
        counts[reason] += number


@contextmanager
def count_left_out() -> Iterator[Counter[Reason]]:
    """Yield a counter to which calls of `leave_out` in the block add."""
    counts: Counter[Reason] = Counter()
    token = _left_out.set(counts)
    try:
        yield counts
    finally:
        _left_out.reset(token)
