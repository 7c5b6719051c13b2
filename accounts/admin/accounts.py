"""Columns, filters and the search of admin pages about local and remote accounts."""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Q, QuerySet
from django.db.models.functions import Collate, Lower
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, ActorType, Domain, User
from accounts.queries.accounts import filter_by_prefix, has_address, split_address
from social.api.staff import newest
from social.api.staff_columns import (
    COUNT_LIMIT,
    address,
    condition_filter,
    lines,
    link,
    mark,
    row_link,
    shortened,
    shown,
)
from social.kernel.text.markup import plain

SERVERS_FOUND = 1_000
ADDRESS_ORDER = Collate(Lower("username"), "C")
KINDS = {
    ActorType.PERSON: _("Person"),
    ActorType.SERVICE: _("Bot"),
    ActorType.GROUP: _("Group"),
    ActorType.APPLICATION: _("Application"),
    ActorType.ORGANIZATION: _("Organization"),
}


def account_link(account: Account) -> SafeString:
    """Return a link to the account's page in the admin. Staff who may not open that page get the account's address as text."""
    return row_link(Account, account.pk, f"@{account.acct}")


def account_column(name: str, label: Any, *, minor: bool = False) -> Any:
    """Return a column that links to the account in a row's attribute `name`; the column is empty if the attribute is None."""

    def read(row: Any) -> SafeString | None:
        account = getattr(row, name)
        return account_link(account) if account is not None else None

    return shown(name, label, read, minor=minor)


def matching(queryset: QuerySet[Any], term: str, prefix: str = "") -> QuerySet[Any]:
    """Filter rows by the accounts that `find_addressed` finds; `prefix` is the lookup from the row to its account."""
    return queryset.filter(**{f"{prefix}id__one_of": find_addressed(term)})


def find_addressed(term: str) -> list[int]:
    """Return the ids of accounts whose address begins with the term, or whose username or server name contains the term. Each
    query returns at most COUNT_LIMIT ids.
    """
    username, at, domain = term.strip().removeprefix("@").partition("@")
    begun = filter_by_prefix(Account.objects.order_by(ADDRESS_ORDER), username)
    if not at:
        # The ids of local accounts are in an array, because with a join PostgreSQL would read all accounts.
        people = ArraySubquery(User.objects.values("account_id"))
        here = Account.objects.filter(id__one_of=people, username__icontains=username)
        recent = newest(Account.objects.filter(username__icontains=username))
        return _ids(begun, _of_servers(Account.objects, username), here, recent)
    pair = split_address(f"{username}@{domain}")
    if pair is not None and pair[1] is None:
        return _ids(Account.objects.filter(has_address(pair[0], None)))
    return _ids(_of_servers(begun, domain if pair is None else pair[1] or ""))


def _of_servers(rows: Any, part: str) -> QuerySet[Account]:
    """Return the accounts among the rows whose server's name contains `part`."""
    names = [*Domain.objects.filter(name__icontains=part).values_list("name", flat=True)[:SERVERS_FOUND], part.lower()]
    accounts: QuerySet[Account] = rows.alias(server=Lower("domain")).filter(server__one_of=names)
    return accounts


def _ids(*kinds: QuerySet[Account]) -> list[int]:
    return list({number for rows in kinds for number in rows.values_list("id", flat=True)[:COUNT_LIMIT]})


HomeFilter = condition_filter(
    "home", _("home"), here=(_("This server"), Q(domain=None)), elsewhere=(_("Other servers"), Q(domain__isnull=False))
)


KindFilter = condition_filter(
    "kind", _("kind"), **{kind.value.lower(): (words, Q(actor_type=kind)) for kind, words in KINDS.items()}
)


def state_of(account: Account) -> SafeString:
    """Return the state of an account in one word; the account's user must be loaded."""
    if account.suspended:
        return mark(gettext("Suspended"), "bad")
    user = getattr(account, "user", None)
    if user is not None and user.disabled_at is not None:
        return mark(gettext("Disabled"), "bad")
    if user is not None and not user.approved:
        return mark(gettext("Waiting for approval"), "waiting")
    if account.limited:
        return mark(gettext("Limited"), "waiting")
    return mark(gettext("Moved"), "waiting") if account.moved_to_id is not None else mark(gettext("Active"), "good")


def _count(name: str) -> Any:
    def read(account: Account) -> Any:
        stat = getattr(account, "stat", None)
        return 0 if stat is None else getattr(stat, name)

    return read


def _fields(account: Account) -> Any:
    rows = [(field.get("name", ""), plain(field.get("html") or field.get("value") or "")) for field in account.fields]
    return "\n".join(f"{name}: {value}" for name, value in rows)


# Only columns with an index are sortable, because sorting a hundred thousand joined rows for one page takes too long.
ADDRESS = shown("acct", _("Address"), lambda account: address(f"@{account.acct}"), order=ADDRESS_ORDER)
NAME = shown("display_name", _("Name"), lambda a: shortened(a.display_name, 60) if a.display_name else "", minor=True)
STATE = shown("state", _("State"), state_of)
KIND = shown("kind", _("Kind"), lambda account: KINDS.get(account.actor_type, account.actor_type), minor=True)
POSTS = shown("posts", _("Posts"), _count("statuses_count"), minor=True)
FOLLOWERS = shown("followers", _("Followers"), _count("followers_count"), minor=True)
CREATED_TIME = shown("created_at", _("Since"), order="id")


PAGE = shown("page", _("Page"), lambda account: link(account.page_url, account.page_url))
SUMMARY = (ADDRESS, PAGE, STATE, KIND)
PROFILE = lines(
    _("Profile"),
    shown("display_name", _("Name")),
    shown("note", _("Biography"), lambda account: plain(account.note_html)),
    shown("fields", _("Profile fields"), _fields),
    shown("locked", _("Approves followers")),
    shown("discoverable", _("May be suggested to others")),
    shown("indexable", _("Posts may be found by search")),
    shown("following", _("Following"), _count("following_count")),
    FOLLOWERS,
    tab=True,
)
FIGURES = (POSTS, shown("last_status_at", _("Last post"), lambda a: _count("last_status_at")(a) or None))
MOMENTS = lines(
    _("Since when"),
    CREATED_TIME,
    shown("limited_at", _("Limited since")),
    shown("suspended_at", _("Suspended since")),
    account_column("moved_to", _("Moved to")),
    shown("fetched_at", _("Last fetched from its server")),
    shown("uri", _("ActivityPub id")),
    tab=True,
)
