"""Answers that wait for background work without holding a thread or a database connection.

The web server polls whether the work is done, and uses a thread only during each poll. Under another WSGI server the request's
thread waits.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.http import HttpRequest, HttpResponse

#: The key in the WSGI environment of a list to which a Wait is appended. Only servers that can delay answers put a list there.
KEY: Final = "social.waits"
#: Seconds between two polls: the first pause, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0

Poll = Callable[[], HttpResponse | None]


@dataclass(frozen=True)
class Wait:
    """A delayed answer: `poll` is called until it returns the answer, or until `seconds` have passed."""

    poll: Poll
    seconds: float


def may_be_delayed(request: HttpRequest) -> bool:
    """Tell whether the server can delay the answer to this request without holding a thread."""
    return KEY in request.META


def answer_later(request: HttpRequest, poll: Poll, otherwise: HttpResponse, *, seconds: float) -> HttpResponse:
    """Return the answer of `poll` as soon as it returns one, or `otherwise` if it has returned none after `seconds`.

    `poll` may run in any thread, without the request; its database connection is closed after each call. The answer of `poll`
    replaces the status, body and headers of `otherwise`, which has passed the middleware.
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
    """Call `poll` once, and close the database connection."""
    try:
        return poll()
    finally:
        if not connection.in_atomic_block:
            connection.close()
