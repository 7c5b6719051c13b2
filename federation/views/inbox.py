"""Inboxes: an activity is stored, then answered with 202 (contract, federation section 11)."""

from functools import partial

from django.http import HttpRequest, HttpResponse

from accounts.models import Account
from accounts.services.instance_actor import instance_actor
from federation.inbound import waiting
from federation.inbound.receiving import receive
from federation.signatures.message import Message
from federation.views.negotiation import REFUSALS, accepts, message_of, refusal, refused
from federation.views.reading import find_local_account
from social.api.later import answer_later, may_be_delayed
from social.kernel.errors import Gone
from social.kernel.http.client import Busy
from social.kernel.http.limits import web_request_budget


@accepts
def shared_inbox(request: HttpRequest) -> HttpResponse:
    """`POST /inbox`."""
    return _receive(request, None)


@accepts
def inbox(request: HttpRequest, username: str) -> HttpResponse:
    """`POST /users/:username/inbox`."""
    account = find_local_account(username, served_while_suspended=True)
    if account.suspended:
        raise Gone
    return _receive(request, account)


@accepts
def instance_inbox(request: HttpRequest) -> HttpResponse:
    """`POST /actor/inbox`."""
    return _receive(request, instance_actor())


def _receive(request: HttpRequest, recipient: Account | None) -> HttpResponse:
    if not request.headers.get("Content-Type"):
        return refusal("Not Acceptable", 406)
    message = message_of(request)
    try:
        return _receive_activity(message, recipient)
    except Busy as busy:
        place = waiting.begin(message.source) if may_be_delayed(request) else None
        if place is None:
            raise
        poll = partial(_try_again, message, recipient, place)
        return answer_later(request, poll, refused(busy), seconds=waiting.WAIT_SECONDS)


def _receive_activity(message: Message, recipient: Account | None) -> HttpResponse:
    receive(message, recipient)
    return HttpResponse(b"", status=202)


def _try_again(message: Message, recipient: Account | None, place: object) -> HttpResponse | None:
    """Return the response to a request whose sender's key must be fetched; None while too many other keys are being fetched."""
    with web_request_budget():
        try:
            answer = _receive_activity(message, recipient)
        except Busy:
            return None
        except REFUSALS as error:
            answer = refused(error)
    waiting.end(place)
    return answer
