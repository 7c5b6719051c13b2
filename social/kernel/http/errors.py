"""Failures of a fetch, in words that carry nothing of the library beneath."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from social.kernel.errors import Unavailable


class FetchError(Unavailable):
    """Lack of a usable answer. `message` is for the person who asked and names nothing of the network; `detail` is for logs.

    `str(error)` is the detail, so that an address of the inside never reaches a client by way of the message.
    """

    def __init__(self, detail: str = "") -> None:
        super().__init__()
        self.detail = detail

    def __str__(self) -> str:
        return self.detail or self.message


class Refused(FetchError):
    """Refusal to ask: the scheme, host, port or address is not one this server connects to."""


class TimedOut(FetchError):
    """The whole exchange took longer than its deadline."""


class TooLarge(FetchError):
    """Answer of more bytes, raw or decompressed, or larger headers than the caller accepts."""


class WrongType(FetchError):
    """A content type or content encoding that was not asked for."""


class TooManyRedirects(FetchError):
    """Answer with more redirects than the caller follows."""


class Unreachable(FetchError):
    """Failure to reach a server: no such name, no connection, or an answer that is not HTTP."""


class Untrusted(Unreachable):
    """The certificate of the other side does not prove its name."""

    default = gettext_noop("Remote SSL certificate could not be verified")


class Exhausted(FetchError):
    """The web request has no network time left."""

    default = gettext_noop("There was a temporary problem serving your request, please try again")


class Busy(Exhausted):
    """Refusal to ask because too many web requests are waiting for the network; the other server is not at fault."""
