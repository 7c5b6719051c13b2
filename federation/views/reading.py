"""Who asks for a document, and what they may be given.

Source: contract, federation sections 1 and 8; behaviours section 7; security rows 19, 39 and 40.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q
from django.http import HttpRequest

from accounts.models import Account
from accounts.queries.accounts import list_accounts
from accounts.queries.sign_up import is_retired
from federation.documents.reading import Rejected
from federation.remote import signers
from federation.signatures.message import BadSignature
from federation.views.messages import message_of
from social.kernel.errors import Forbidden, Gone, NotFound, Unavailable
from social.kernel.ids import parse_id
from statuses.models import Status
from statuses.policies.visibility import FOR_ANYBODY
from statuses.queries.statuses import list_statuses


@dataclass(frozen=True)
class ShownPost:
    """A post, and whether only this caller may see it."""

    status: Status
    private: bool


def find_local_account(username: str, *, served_while_suspended: bool = False) -> Account:
    """The local account with a document of its own.

    Raises NotFound, Gone for one that was deleted or erased, and Forbidden for one suspended for a time.
    """
    account = (
        list_accounts()
        .select_related("stat", "moved_to")
        .filter(domain=None, username__iexact=username, user__isnull=False)
        .first()
    )
    if account is None:
        raise Gone if is_retired(username) else NotFound
    if account.erased_at is not None:
        raise Gone
    if account.suspended and not served_while_suspended:
        raise Forbidden
    return account


def signer_of(request: HttpRequest) -> Account | None:
    """Who signed the request and reads as itself; None for nobody, and for a signature that is not good.

    A suspended account is a stranger (security row 13), and so are the accounts of this server.
    """
    if "Signature" not in request.headers:
        return None
    try:
        account = signers.verify(message_of(request)).account
    except (BadSignature, Rejected, Unavailable):
        return None
    return None if account.suspended or account.local else account


def find_shown_post(request: HttpRequest, username: str, status_id: str) -> ShownPost:
    """The local post, for everybody, or for a signer who may read it. Raises NotFound.

    Another account of the reader's server is a stranger, the one that stands for the server too (behaviours section 7).
    """
    number = parse_id(status_id)
    if number is None:
        raise NotFound
    wanted = Q(id=number, local=True, account__username__iexact=username)
    found = _first(None, wanted)
    if found is not None:
        return ShownPost(found, private=False)
    # Whether there is such a post is not asked before: a key that is fetched for a private one and not for an absent one
    # would reveal which of the two it is (security row 60).
    signer = signer_of(request)
    if signer is None:
        raise NotFound
    found = _first(signer.id, wanted)
    if found is None:
        raise NotFound
    return ShownPost(found, private=True)


def find_deleted(username: str, status_id: str) -> Status | None:
    """A post everybody could read and that was deleted, for its tombstone."""
    number = parse_id(status_id)
    if number is None:
        return None
    gone = Q(id=number, local=True, account__username__iexact=username, deleted_at__isnull=False)
    return Status.objects.select_related("account").filter(gone, visibility__in=FOR_ANYBODY).first()


def _first(viewer_id: int | None, wanted: Q) -> Status | None:
    return list_statuses(viewer_id).select_related("account", "reblog_of__account").filter(wanted).first()
