"""The inboxes: stored, then 202 (contract, federation section 11)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from accounts.models import Account
from accounts.queries.accounts import list_accounts
from accounts.queries.sign_up import is_retired
from accounts.services.instance_actor import instance_actor
from federation.inbound.receiving import receive
from federation.views.negotiation import accepts, message_of, refusal
from social.kernel.errors import Gone, NotFound


@accepts
def shared_inbox(request: HttpRequest) -> HttpResponse:
    """`POST /inbox`."""
    return _receive(request, None)


@accepts
def inbox(request: HttpRequest, username: str) -> HttpResponse:
    """`POST /users/:username/inbox`."""
    account = list_accounts().filter(domain=None, username__iexact=username, user__isnull=False).first()
    if account is None:
        raise Gone if is_retired(username) else NotFound
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
    receive(message_of(request), recipient)
    return HttpResponse(b"", status=202)
