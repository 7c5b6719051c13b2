"""Errors of a fetch; their messages reveal nothing about the HTTP library."""

from typing import ClassVar

from django.utils.translation import gettext_noop

from social.kernel.errors import Unavailable
from social.kernel.reasons import Reason


class FetchReason(Reason):
    """Reasons to refuse a response from another server, whatever was requested."""

    NO_ANSWER = "no usable answer came", "contract 1: accepted with status 200"
    ADDRESS_REFUSED = (
        "the address is not one that this server connects to",
        "security row 10: public addresses, web ports, and names that resolve to them",
        "pages and files on machines of a home network",
    )
    TIMED_OUT = "the answer took too long", "security row 4: a deadline for the whole exchange"
    ANSWER_TOO_LARGE = "the answer is too large", "contract 16, security row 4: a bound for each kind of thing"
    WRONG_TYPE = (
        "the answer has a content type that was not asked for",
        "security row 6: documents of actors and posts name their type; pages and files are what they are asked for",
    )
    TOO_MANY_REDIRECTS = "the answer is behind too many redirects", "contract 16: 3 redirects"
    UNREACHABLE = "the server cannot be reached", "there is nothing to take"
    UNTRUSTED = "the certificate does not prove the name", "RFC 9110 section 4.3.4"


class FetchError(Unavailable):
    """Failure to get a usable answer. `message` is for users and reveals nothing about the network; `detail` and `str(error)`
    are for logs, so that an internal address never reaches a client. The error is counted under `reason`.
    """

    reason: ClassVar[Reason] = FetchReason.NO_ANSWER

    def __init__(self, detail: str = "") -> None:
        super().__init__()
        self.detail = detail

    def __str__(self) -> str:
        return self.detail or self.message


class Refused(FetchError):
    """Refusal to connect: the scheme, host, port or address is not allowed."""

    reason = FetchReason.ADDRESS_REFUSED


class TimedOut(FetchError):
    reason = FetchReason.TIMED_OUT


class TooLarge(FetchError):
    """Answer with more bytes, raw or decompressed, or with larger headers than the caller accepts."""

    reason = FetchReason.ANSWER_TOO_LARGE


class WrongType(FetchError):
    """Answer with a content type or content encoding that was not requested."""

    reason = FetchReason.WRONG_TYPE


class TooManyRedirects(FetchError):
    reason = FetchReason.TOO_MANY_REDIRECTS


class Unreachable(FetchError):
    """Failure to reach a server: no such name, no connection, or an answer that is not HTTP."""

    reason = FetchReason.UNREACHABLE


class Untrusted(Unreachable):
    """The other server's certificate does not prove the server's name."""

    reason = FetchReason.UNTRUSTED

    default = gettext_noop("Remote SSL certificate could not be verified")


class Exhausted(FetchError):
    """The web request has no network time left."""

    default = gettext_noop("There was a temporary problem serving your request, please try again")


class Busy(Exhausted):
    """Refusal to fetch because too many web requests are waiting for the network; the other server is not at fault."""
