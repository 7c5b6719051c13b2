"""How a fetch can fail, in words that carry nothing of the library beneath."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from social.kernel.errors import Unavailable


class FetchError(Unavailable):
    """No usable answer. `message` is for the person who asked and names nothing of the network; `detail` is for logs.

    `str(error)` is the detail, so that an address of the inside never reaches a client by way of the message.
    """

    def __init__(self, detail: str = "") -> None:
        super().__init__()
        self.detail = detail

    def __str__(self) -> str:
        return self.detail or self.message


class Refused(FetchError):
    """Never asked for: the scheme, host, port or address is not one this server connects to."""


class TimedOut(FetchError):
    """The whole exchange took longer than its deadline."""


class TooLarge(FetchError):
    """More bytes, raw or decompressed, or larger headers than the caller accepts."""


class WrongType(FetchError):
    """A content type or content encoding that was not asked for."""


class TooManyRedirects(FetchError):
    """More redirects than the caller follows."""


class Unreachable(FetchError):
    """No such name, no connection, or an answer that is not HTTP."""


class Untrusted(Unreachable):
    """The certificate of the other side does not prove its name."""

    default = gettext_noop("Remote SSL certificate could not be verified")


class Exhausted(FetchError):
    """The web request has no network time left."""

    default = gettext_noop("There was a temporary problem serving your request, please try again")


class Busy(Exhausted):
    """Too many web requests are waiting for the network: nothing was asked of anybody, who is not to blame."""
