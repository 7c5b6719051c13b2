"""Answers that wait for background work without a thread or a database connection.

The web server asks again and again whether the work is done, each time for a moment in one of its threads. Where another
server runs the application, the thread waits itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.http import HttpRequest, HttpResponse

#: The key of a WSGI environment under which a server that can wait leaves a list for a Wait.
KEY: Final = "social.waits"
#: Seconds between two questions: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0

Poll = Callable[[], HttpResponse | None]


@dataclass(frozen=True)
class Wait:
    """`poll` is asked until it answers, for at most `seconds`."""

    poll: Poll
    seconds: float


def is_put_off(request: HttpRequest) -> bool:
    """Tell whether an answer to this request can wait without a thread."""
    return KEY in request.META


def answer_later(request: HttpRequest, poll: Poll, otherwise: HttpResponse, *, seconds: float) -> HttpResponse:
    """The answer of `poll` as soon as it has one, else `otherwise` after so many seconds.

    `poll` may run in any thread, without the request; a database connection that it uses is given back after each
    question. Of its answer status, body and the headers that it sets replace those of `otherwise`, which has gone
    through the middleware.
    """
    waits: list[Wait] | None = request.META.get(KEY)
    if waits is not None:
        waits.append(Wait(poll, seconds))
        return otherwise
    end, pause = time.monotonic() + seconds, FIRST_PAUSE
    while (answer := ask(poll)) is None and time.monotonic() + pause < end:
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return answer if answer is not None else otherwise


def ask(poll: Poll) -> HttpResponse | None:
    """Ask once, and give the connection back."""
    try:
        return poll()
    finally:
        if not connection.in_atomic_block:
            connection.close()
