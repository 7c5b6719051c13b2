"""Searches for accounts, hashtags and posts (contract, behaviours section 15)."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from django.db.models import Model, OuterRef, Q

from accounts.collections.models import Collection as PeopleCollection
from accounts.collections.queries import find_linked
from accounts.models import Account, Tag
from accounts.policies.relations import blocked_by
from accounts.queries.accounts import by_address, has_address, list_accounts, split_address
from accounts.queries.discovery import search_accounts
from accounts.queries.tags import search_tags
from accounts.services.remote_accounts import proper_address
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Status
from timelines.policies.search_query import Sides, parse_query
from timelines.ports import remote_objects
from timelines.services.search_index import Search, status_index

RESULTS_LIMIT: Final = 40
"""Limit on the results of each kind in one response (contract, endpoints)."""

QUERY_LENGTH_LIMIT: Final = 1000
"""Maximum number of characters of a search text; the rest is ignored."""

_URL: Final = re.compile(r"https?://\S+\Z")
_LOCAL_POST: Final = re.compile(r"/(?:(?:ap/)?users/|@)[A-Za-z0-9_.-]+/(?:statuses/)?([0-9]{1,19})/?\Z")
_LOCAL_PERSON: Final = re.compile(r"/(?:users/|@)([A-Za-z0-9_.-]+)/?\Z")
_NUMBERED_PERSON: Final = re.compile(r"/ap/users/([0-9]{1,19})/?\Z")


@dataclass(frozen=True)
class SearchForm:
    """Search as a client requests it. `kind` is empty for all kinds; an unknown kind finds nothing. `offset` needs a `kind`."""

    text: str = ""
    kind: str = ""
    resolve: bool = False
    limit: int = 20
    offset: int = 0
    min_id: int | None = None
    max_id: int | None = None
    account_id: int | None = None
    following: bool = False
    exclude_unreviewed: bool = False

    def wants(self, kind: str) -> bool:
        return self.kind in ("", kind)


@dataclass
class Found:
    """Search results, in the order of display: ids, and hashtags. The viewer may not be allowed to read all of them."""

    accounts: Sequence[int] = ()
    statuses: Sequence[int] = ()
    hashtags: Sequence[Tag] = field(default_factory=list)
    collections: Sequence[int] = ()


def search(form: SearchForm, viewer_id: int) -> Found:
    """Return all matches of the requested kinds. With `resolve`, a text that is an address finds only the object with that
    address, fetched if necessary. Runs outside of a transaction. Raises NotFound (`account_id`) and InvalidDate.
    """
    text = form.text.strip()[:QUERY_LENGTH_LIMIT]
    form = replace(form, limit=min(form.limit, RESULTS_LIMIT), offset=form.offset if form.kind else 0)
    if form.resolve and _URL.match(text):
        return _find_object(text, form, viewer_id)
    found = Found()
    if form.limit == 0:
        return found
    if form.wants("accounts"):
        found.accounts = _accounts(text, form, viewer_id)
    if form.wants("hashtags") and "@" not in text:
        found.hashtags = search_tags(
            text, limit=form.limit, offset=form.offset, exclude_unreviewed=form.exclude_unreviewed
        )
    if form.wants("statuses"):
        found.statuses = _statuses(text, form, viewer_id)
    return found


def find_at_address(url: str, viewer_id: int) -> Found:
    """Return the object with this address, fetched if necessary, readable or not. Must run outside of a transaction."""
    return _find_object(url, SearchForm(), viewer_id)


def _accounts(text: str, form: SearchForm, viewer_id: int) -> list[int]:
    if form.resolve and "@" in text:
        text = proper_address(text)
    matches = search_accounts(text.removeprefix("#"), viewer_id=viewer_id, following=form.following)
    return matches[form.offset : form.offset + form.limit]


def _statuses(text: str, form: SearchForm, viewer_id: int) -> list[int]:
    if form.account_id is not None and not list_accounts().filter(id=form.account_id).exists():
        raise NotFound
    query = parse_query(text)
    author_ids, excluded = _authors(query.authors, viewer_id)
    if form.account_id is not None:
        author_ids = {form.account_id} if author_ids is None else author_ids & {form.account_id}
    if author_ids is not None and not author_ids:
        return []
    return status_index.get().find(
        Search(
            viewer_id=viewer_id,
            query=query,
            limit=form.limit,
            offset=form.offset,
            authors=author_ids,
            excluded_authors=excluded,
            min_id=form.min_id,
            max_id=form.max_id,
        )
    )


def _authors(names: Sides, viewer_id: int) -> tuple[set[int] | None, Collection[int]]:
    # The authors that `from:` names (None if it names none), and the authors that are excluded; an unknown name is nobody.
    pairs = {name: split_address(name) for name in (*names.wanted, *names.excluded)}
    accounts = by_address([pair for name, pair in pairs.items() if pair is not None and name.lower() != "me"])

    def account_id(name: str) -> int | None:
        if name.lower() == "me":
            return viewer_id
        pair = pairs[name]
        account = accounts.get((pair[0].lower(), pair[1])) if pair is not None else None
        return account.id if account is not None else None

    excluded = {number for number in map(account_id, names.excluded) if number is not None}
    if not names.wanted:
        return None, excluded
    # A post has only one author, so several different names match nothing.
    several = {account_id(name) for name in names.wanted}
    return {number for number in several if number is not None} if len(several) == 1 else set(), excluded


def _find_object(url: str, form: SearchForm, viewer_id: int) -> Found:
    found = Found()
    kind, number = _local(url) if links.is_own(url) else _remote(url)
    if number is None:
        return found
    if kind is Status and form.wants("statuses"):
        found.statuses = [number]
    elif kind is Account and form.wants("accounts"):
        # An account that blocks the viewer cannot be found in any way (SEED-128).
        visible = list_accounts().filter(id=number).exclude(blocked_by(viewer_id, OuterRef("id")))
        found.accounts = list(visible.values_list("id", flat=True))
    elif kind is PeopleCollection and not form.kind:
        found.collections = [number]
    return found


def _remote(url: str) -> tuple[type[Model], int | None]:
    finder = remote_objects.find()
    thing = finder.find_by_url(url) if finder is not None else None
    return (type(thing), thing.id) if thing is not None else (Status, None)


def _local(url: str) -> tuple[type[Model], int | None]:
    # The model and the id of the object to which a local address belongs.
    path = urlsplit(url).path
    address = links.web_url(path.rstrip("/"))
    if (collection := find_linked([address]).get(address)) is not None:
        return PeopleCollection, collection
    if (found := _LOCAL_PERSON.match(path)) is not None:
        return Account, _person_id(has_address(found[1], None))
    if (found := _NUMBERED_PERSON.match(path)) is not None:
        return Account, _person_id(Q(id=parse_id(found[1]) or 0, domain=None))
    return Status, parse_id(found[1]) if (found := _LOCAL_POST.match(path)) is not None else None


def _person_id(condition: Q) -> int | None:
    return list_accounts().filter(condition).values_list("id", flat=True).first()
