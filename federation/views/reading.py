"""Access to documents: identifies the requester, and finds the documents that the requester may read (contract, federation
sections 1 and 8; behaviours section 7; security rows 19, 39 and 40).
"""

from django.http import HttpRequest

from accounts.identity.queries.sign_up import is_retired
from accounts.models import Account
from accounts.queries.accounts import has_address, list_accounts
from federation.inbound.quotas import host_of
from federation.reasons import Rejected
from federation.remote import signers
from federation.signatures.message import BadSignature
from federation.views.negotiation import is_secure_mode, message_of
from moderation.queries.blocks import is_closed_to
from social.kernel.errors import Forbidden, Gone, NotFound, Unavailable, require_found
from social.kernel.ids import parse_id
from statuses.policies.audience import is_for_everybody
from statuses.policies.posts import Post
from statuses.queries.posts import load_posts
from statuses.queries.statuses import find_post


def find_local_account(username: str, *, served_while_suspended: bool = False) -> Account:
    """Return the local account with this username, except the instance actor. Raises NotFound, Gone for an account that was
    deleted or erased, and Forbidden for a suspended account unless `served_while_suspended` is True.
    """
    rows = list_accounts().select_related("stat", "moved_to")
    account = rows.filter(has_address(username, None), user__isnull=False).first()
    if account is None:
        raise Gone if is_retired(username) else NotFound
    if account.erased_at is not None:
        raise Gone
    if account.suspended and not served_while_suspended:
        raise Forbidden
    return account


def signer_of(request: HttpRequest) -> Account | None:
    """Return the account that signed the request, as the reader of the document; None if there is no valid signature.

    The signature of a suspended account, of a blocked server (security row 13) or of this server is ignored. In secure mode
    raises BadSignature (401) without a valid signature, Unavailable when the signer's server could not be reached, and
    Forbidden for a blocked server.
    """
    signed = signature_of(request)
    return signed.account if signed is not None else None


def reader_id_of(request: HttpRequest) -> int | None:
    """Return the id of the account that signed the request, or None. The rules and errors of `signer_of` apply."""
    signer = signer_of(request)
    return signer.id if signer is not None else None


def signature_of(request: HttpRequest) -> signers.Signed | None:
    """Return the verified signature of a request with its fingerprint. The rules and errors of `signer_of` apply."""
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
    """Raise the errors of `signer_of` in secure mode, for documents that are the same for every reader."""
    if is_secure_mode():
        signer_of(request)


def find_shown_post(request: HttpRequest, username: str, status_id: str) -> tuple[Post, int | None]:
    """Return a local post that the signer (or everybody, if there is none) may read, and the signer's id. Raises NotFound; for
    a suspended or deleted author the errors of `find_local_account`, because NotFound would mean that the post was deleted.

    An account that the author has blocked may not read public posts either (contract, federation section 11). Other accounts of
    the reader's server may read no more than anonymous readers (behaviours section 7).
    """
    number = require_found(parse_id(status_id))
    # The signer is determined before the post is looked up. If the signer's key were fetched only when the post exists, the
    # fetch would reveal that a private post exists (security row 60).
    viewer_id = reader_id_of(request)
    try:
        post = find_post(number, viewer_id)
    except NotFound:
        find_local_account(username)
        raise
    if not _is_at(post, username):
        raise NotFound
    return post, viewer_id


def find_deleted(username: str, status_id: str) -> Post | None:
    """Return a deleted post that was public or unlisted, for its tombstone; None for any other post."""
    number = parse_id(status_id)
    for post in load_posts([number]) if number is not None else ():
        if post.is_deleted and _is_at(post, username) and is_for_everybody(post):
            return post
    return None


def _is_at(post: Post, username: str) -> bool:
    return post.local and post.username.lower() == username.lower()
