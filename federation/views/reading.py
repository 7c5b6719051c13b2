"""Readers of documents: who asks, and what they may be given.

Source: contract, federation sections 1 and 8; behaviours section 7; security rows 19, 39 and 40.
"""

from __future__ import annotations

from django.http import HttpRequest

from accounts.models import Account
from accounts.queries.accounts import has_address, list_accounts
from accounts.queries.sign_up import is_retired
from federation.documents.reading import Rejected
from federation.inbound.quotas import host_of
from federation.remote import signers
from federation.signatures.message import BadSignature
from federation.views.negotiation import is_secure_mode, message_of
from moderation.queries.blocks import is_closed_to
from social.kernel.errors import Forbidden, Gone, NotFound, Unavailable, require_found
from social.kernel.ids import parse_id
from statuses.policies.posts import Post
from statuses.policies.visibility import is_for_anybody
from statuses.queries.posts import load_posts
from statuses.queries.statuses import find_post


def find_local_account(username: str, *, served_while_suspended: bool = False) -> Account:
    """The local account with a document of its own.

    Raises NotFound, Gone for one that was deleted or erased, and Forbidden for one suspended for a time.
    """
    account = (
        list_accounts()
        .select_related("stat", "moved_to")
        .filter(has_address(username, None), user__isnull=False)
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
    """The account that signed the request and reads as itself; None for nobody, and for a signature that is not good.

    A suspended account and one of a closed server are strangers (security row 13), and so are the accounts of this server.
    In secure mode raises BadSignature (401) without a good signature, Unavailable when the signer's server could not be
    asked, and Forbidden for a closed server.
    """
    signed = signature_of(request)
    return signed.account if signed is not None else None


def signature_of(request: HttpRequest) -> signers.Signed | None:
    """The signature of a request, as `signer_of`, with its fingerprint."""
    secure = is_secure_mode()
    if "Signature" not in request.headers and not secure:
        return None
    try:
        signed = signers.verify(message_of(request))
    except Rejected as reason:
        if secure:
            raise BadSignature(reason.reason, f"the signer cannot be confirmed: {reason}") from None
        return None
    except (BadSignature, Unavailable):
        if secure:
            raise
        return None
    account = signed.account
    if account.domain is None or is_closed_to(account.domain, host_of(account.uri)):
        if secure:
            raise Forbidden
        return None
    return None if account.suspended else signed


def require_signature(request: HttpRequest) -> None:
    """Raise as `signer_of` in secure mode, for what is the same for every reader."""
    if is_secure_mode():
        signer_of(request)


def find_shown_post(request: HttpRequest, username: str, status_id: str) -> tuple[Post, int | None]:
    """The post of this server, if the signer, or without one anybody, may read it; and the signer's id. Raises NotFound, and
    for any post of an account that is suspended for a time or gone as `find_local_account`: not found would say that the
    post was deleted.

    Whom the author has blocked may not read the public ones either (contract, federation section 11). Another account of
    the reader's server is a stranger, the one that stands for the server too (behaviours section 7).
    """
    number = require_found(parse_id(status_id))
    # The signer is found before the post: a key that is fetched for a private one and not for an absent one would reveal
    # which of the two it is (security row 60).
    signer = signer_of(request)
    viewer_id = signer.id if signer is not None else None
    try:
        post = find_post(number, viewer_id)
    except NotFound:
        find_local_account(username)
        raise
    if not _is_at(post, username):
        raise NotFound
    return post, viewer_id


def find_deleted(username: str, status_id: str) -> Post | None:
    """A post everybody could read and that was deleted, for its tombstone."""
    number = parse_id(status_id)
    for post in load_posts([number]) if number is not None else ():
        if post.is_deleted and _is_at(post, username) and is_for_anybody(post.visibility):
            return post
    return None


def _is_at(post: Post, username: str) -> bool:
    return post.local and post.username.lower() == username.lower()
