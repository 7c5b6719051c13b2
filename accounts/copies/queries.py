"""Reads copies of remote files."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Coalesce

from accounts.copies.models import CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.models import Account
from accounts.policies.audience import is_present
from social.kernel.errors import NotFound

_BYTES = Coalesce(Sum("file_size"), 0) + Coalesce(Sum("preview_size"), 0)


def find_copy(purpose: CopyPurpose, url: str) -> RemoteCopy | None:
    """Return the copy of a file, in any state; None when it was never requested."""
    return RemoteCopy.objects.filter(digest=digest_of(purpose, url)).first()


def find_copies(purpose: CopyPurpose, urls: Iterable[str]) -> dict[str, RemoteCopy]:
    """Return the copies of these files that were ever requested, in any state, by their URLs; takes one query."""
    digests = [digest_of(purpose, url) for url in set(urls)]
    return {copy.url: copy for copy in RemoteCopy.objects.filter(digest__one_of=digests)}


def find_picture_url(account_id: int, name: str) -> str:
    """Return the remote address of the `avatar` or `header` of a remote account that is not suspended. Raises NotFound."""
    found = Account.objects.filter(is_present(), id=account_id).exclude(domain=None)
    url = found.values_list(f"{name}_remote_url", flat=True).first()
    if not url:
        raise NotFound
    return str(url)


def count_bytes(copies: QuerySet[RemoteCopy] | None = None) -> int:
    """Count the bytes of `copies`, or of all copies if it is None."""
    chosen = RemoteCopy.objects.filter(state=CopyState.READY) if copies is None else copies
    total: int = chosen.aggregate(total=_BYTES)["total"]
    return total


def sum_up() -> list[tuple[str, str, int, int]]:
    """Sum up copies by purpose and state: rows of purpose, state, number and bytes."""
    copies = RemoteCopy.objects.values_list("purpose", "state").order_by("purpose", "state")
    return list(copies.annotate(count=Count("id"), bytes=_BYTES))
