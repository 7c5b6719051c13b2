"""Resolves the ids in documents to local objects and known remote objects, and checks which ids are taken."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from django.contrib.postgres.fields import ArrayField
from django.db import transaction
from django.db.models import DateTimeField, Q, QuerySet, TextField, Value
from django.db.models.functions import Lower

from accounts.collections.models import Collection
from accounts.models import Account
from accounts.queries.accounts import has_address
from federation.models import Tombstone
from federation.reasons import Reason, Rejected
from social.kernel import clock, ids, links, locks
from social.kernel.plans import Plan, Slot
from statuses.models import Status

_LOCAL_POST: Final = re.compile(r"/(?:users/|@)([A-Za-z0-9_.-]+)/(?:statuses/)?([0-9]{1,19})(?:/activity)?/?\Z")
_OWN_COLLECTION: Final = re.compile(r"(.*)/collections/([0-9]{1,19})/?")
_LOCAL_ACTOR: Final = re.compile(r"/(?:users/|@)([A-Za-z0-9_.-]+)/?\Z")
_URI: Final = Slot("uri", TextField())
_ACCOUNTS: Final = Plan(lambda: Account.objects.filter(uri__one_of=Slot("uris", ArrayField(TextField()))))
_POST_IDS: Final = Plan(lambda: Status.objects.filter(uri=_URI).values_list("id", flat=True))
Kind = type[Account] | type[Status] | type[Collection]
_USES: Final = Plan(
    lambda: (
        Tombstone.objects.filter(
            Q(expires_at=None) | Q(expires_at__gt=Slot("now", DateTimeField())),
            uri=_URI,
            actor_uri=Slot("actor_uri", TextField()),
        )
        .values_list(Value("Tombstone"))
        .union(
            Account.objects.filter(uri=_URI).values_list(Value("Account")),
            Status.objects.filter(uri=_URI, deleted_at=None).values_list(Value("Status")),
            Collection.objects.filter(uri=_URI).values_list(Value("Collection")),
            all=True,
        )
    )
)


def _posts() -> QuerySet[Status]:
    return Status.objects.select_related("account", "reblog_of__account")


def find_post_by_uri(uri: str) -> Status | None:
    """Return the post (or boost) with this id, even if deleted. A local post is also found by the id of its activity and by its
    page.
    """
    if not links.is_own(uri):
        return _posts().filter(uri=uri).first()
    match = _LOCAL_POST.match(urlsplit(uri).path)
    number = ids.parse_id(match[2]) if match is not None else None
    if match is None or number is None:
        return None
    return _posts().filter(has_address(match[1], None, "account__"), id=number, local=True).first()


def is_received(uri: str) -> bool:
    """Tell whether a remote post is stored here, even if it was deleted."""
    return bool(_POST_IDS.run(uri=uri))


def check_id(uri: str, actor_uri: str, kind: Kind | None = None) -> None:
    """Raise Rejected for an id that the actor has deleted or undone, or that belongs to a known object of another `kind`,
    because an id names only one object. `kind` is None for the id of an activity. The caller holds `lock("object:<uri>")`.
    """
    uses = {name for (name,) in _USES.run(uri=uri, actor_uri=actor_uri, now=clock.now())}
    if "Tombstone" in uses:
        raise Rejected(Reason.ALREADY_UNDONE)
    if uses and (kind is None or kind.__name__ not in uses):
        raise Rejected(Reason.ID_OF_SOMETHING_ELSE)


@contextmanager
def claimed_id(uri: str, actor_uri: str, kind: Kind | None = None) -> Iterator[None]:
    """Open a transaction during which nobody else can store an object with this id. Raises the errors of `check_id`."""
    with transaction.atomic():
        locks.lock(f"object:{uri}")
        check_id(uri, actor_uri, kind)
        yield


def own_username(uri: str) -> str | None:
    """Return the username in the id or page of a local account, whether or not the account exists; None for other addresses."""
    match = _LOCAL_ACTOR.match(urlsplit(uri).path) if links.is_own(uri) else None
    return match[1] if match is not None else None


def find_account_by_uri(uri: str) -> Account | None:
    """Return the known account with this id; a local account is also found by its page."""
    account = Account.objects.filter(uri=uri).first()
    username = own_username(uri) if account is None else None
    return Account.objects.filter(has_address(username, None)).first() if username is not None else account


def own_collection_id(uri: str, owner: Account) -> int | None:
    """Return the number in the id or page of a collection of the local account `owner`; None for any other address."""
    match = _OWN_COLLECTION.fullmatch(urlsplit(uri).path) if links.is_own(uri) else None
    places = ("", f"/ap/users/{owner.id}", f"/users/{owner.username}")
    return ids.parse_id(match[2]) if match is not None and match[1] in places else None


def find_owner_of_collection(uri: str) -> Account | None:
    """Return the owner of the local collection with this id or page; None for any other address."""
    match = _OWN_COLLECTION.fullmatch(urlsplit(uri).path) if links.is_own(uri) else None
    number = ids.parse_id(match[2]) if match is not None else None
    collection = Collection.objects.select_related("account").filter(id=number, uri=None).first() if number else None
    return (
        collection.account if collection is not None and own_collection_id(uri, collection.account) == number else None
    )


def find_accounts_by_uri(uris: Iterable[str]) -> dict[str, Account]:
    """Return the known accounts, by address; an address is an id, or the page of a local account. One query, or two if any
    address is a page.
    """
    unique_uris = list(uris)
    accounts_by_uri = {account.uri: account for account in _ACCOUNTS.run(uris=unique_uris)}
    names = {
        uri: name.lower()
        for uri in unique_uris
        if uri not in accounts_by_uri and (name := own_username(uri)) is not None
    }
    if names:
        own = Account.objects.annotate(name=Lower("username")).filter(
            domain=None, name__one_of=sorted(set(names.values()))
        )
        accounts = {account.username.lower(): account for account in own}
        accounts_by_uri |= {uri: accounts[name] for uri, name in names.items() if name in accounts}
    return accounts_by_uri
