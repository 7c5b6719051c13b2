"""Exports and imports bookmarks as a table: each line is the ActivityPub id of a known post, or the address of a local post's
page.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.transfers.policies import BadLine, Problem
from accounts.transfers.services.portable_lists import BATCH, Entry, Existing, PortableList, in_order, register
from social.kernel import links
from social.kernel.batches import in_batches
from social.kernel.errors import require_found
from statuses.models import Bookmark, Status
from statuses.queries.statuses import find_post
from statuses.services.interactions import bookmark_status

_COLUMN: Final = "#uri"
_ADDRESS: Final = re.compile(r"https?://[^\s/]+/\S+")
_OWN_PATH: Final = re.compile(r"/(?:users/[^/]+/statuses|@[^/]+)/([0-9]{1,19})")


def _bookmarks(account_id: int) -> QuerySet[Bookmark]:
    return Bookmark.objects.filter(account_id=account_id, status__deleted_at=None).select_related("status__account")


def _address(status: Status) -> str:
    return status.uri or links.status_uri(status.account.username, status.id)


def _rows(account_id: int) -> Iterator[Sequence[str]]:
    # Authors are read only for local posts, because remote posts have a stored address.
    rows = _bookmarks(account_id).values_list("id", "status_id", "status__uri", "status__account_id", named=True)
    for batch in in_batches(in_order(rows, newest_first=True), BATCH):
        here = {author for _id, _number, uri, author in batch if not uri}
        names = dict(Account.objects.filter(id__one_of=here).values_list("id", "username")) if here else {}
        for _id, number, uri, author in batch:
            yield (uri or links.status_uri(names[author], number),)


def _read(cells: Sequence[str]) -> Entry:
    address = cells[0].strip()
    if not _ADDRESS.fullmatch(address):
        raise BadLine(Problem.NO_POST_ADDRESS)
    return Entry(address, {"address": address})


def _find(address: str) -> int:
    base = links.web_url()
    if address.startswith(f"{base}/"):
        own = _OWN_PATH.fullmatch(address.removeprefix(base))
        found = Status.objects.filter(id=int(own[1]), local=True) if own else Status.objects.none()
    else:
        found = Status.objects.filter(uri=address, local=False)
    return require_found(found.values_list("id", flat=True).first())


def _add(account: Account, entry: Entry, member: Account | None) -> None:
    bookmark_status(account_id=account.id, status=find_post(_find(entry.values["address"]), account.id))


def _existing_entries(account_id: int, after: int, limit: int) -> list[Existing]:
    found = _bookmarks(account_id).filter(id__gt=after).order_by("id")[:limit]
    return [Existing(bookmark.id, _address(bookmark.status)) for bookmark in found]


def _remove(account: Account, thing: Existing) -> None:
    Bookmark.objects.filter(account_id=account.id, id=thing.id).delete()


BOOKMARKS: Final = PortableList(
    name="bookmarks",
    title=_("Bookmarks"),
    file_name="bookmarks.csv",
    columns=(_COLUMN,),
    named=False,
    count=lambda account_id: _bookmarks(account_id).count(),
    rows=_rows,
    read=_read,
    add=_add,
    existing=_existing_entries,
    remove=_remove,
)


def register_bookmarks() -> None:
    """Register the users' bookmarks for import and export."""
    register(BOOKMARKS)
