"""One request on its way: received, waiting for a thread, answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from social.api import later
from social.runtime.web import answers
from social.runtime.web.requests import Body

if TYPE_CHECKING:
    from social.runtime.web.connection import Connection
    from social.runtime.web.lanes import Lane
    from social.runtime.web.server import Server

_NOTHING = Body(0, None)


class Exchange:
    """A request with all that its answer takes."""

    __slots__ = (
        "abandoned",
        "address",
        "answer_closes",
        "body",
        "complete",
        "connection",
        "counted",
        "environ",
        "lane",
    )

    def __init__(self, connection: Connection, environ: dict[str, Any]) -> None:
        self.connection = connection
        self.environ = environ
        self.body: Body | None = None
        self.complete = False
        self.answer_closes = False
        self.abandoned = False
        self.address = ""
        """What is counted for the client; "" for one of our own proxies, of which nothing is counted."""
        self.counted = False
        self.lane: Lane | None = None

    def run(self) -> None:
        """Answer it, in a thread of a lane."""
        server = self.connection.server
        environ = self.environ
        answer: answers.Answer | None = None
        if not (self.abandoned and environ["REQUEST_METHOD"] in ("GET", "HEAD")):
            answer = self._answer(server.application)
            if self.connection.answer_here(self, answer):
                return
        server.loop.call_soon_threadsafe(self.connection.answered, self, answer)

    def _answer(self, application: answers.Application) -> answers.Answer:
        environ = self.environ
        try:
            environ["wsgi.input"] = (self.body or _NOTHING).open()
        except OSError as error:
            answers.logger.error("a body could not be kept: %s", error)
            self.answer_closes = True
            return answers.Answer(answers.refusal(503, answers.BUSY, 30))
        environ[later.KEY] = []
        return answers.call(application, environ, close=self.answer_closes)


class Question:
    """An answer that was put off, asked for once more."""

    __slots__ = ("_done", "_pending", "_server")

    def __init__(self, server: Server, pending: answers.Pending, done: Callable[[answers.Answer | None], None]) -> None:
        self._server = server
        self._pending = pending
        self._done = done

    def run(self) -> None:
        """Ask, in a thread of a lane."""
        answer = self._pending.ask()
        self._server.loop.call_soon_threadsafe(self._done, answer)
