"""Reads accounts as staff see them, with their users, filtered by properties of the account or the user."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.audience import is_present
from accounts.policies.networks import network_of
from accounts.queries.accounts import filter_by_prefix
from accounts.queries.discovery import list_recommended
from social.kernel.errors import require_found
from social.kernel.text.names import normalise_domain
from statuses.models import Status

STATUSES: Final = ("active", "pending", "disabled", "silenced", "suspended", "sensitized")
ORIGINS: Final = ("local", "remote")
IPS_SHOWN: Final = 20
RECOMMENDED_LIMIT: Final = 100
"""Number of the most followed accounts that are shown as suggested."""
_POSTS_LIMIT: Final = 50


@dataclass(frozen=True, slots=True)
class AccountFilter:
    """Conditions on accounts; None or empty: no condition. `staff`: only users who may handle reports."""

    origin: str | None = None
    status: str | None = None
    staff: bool = False
    role_ids: tuple[int, ...] = ()
    invited_by: int | None = None
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""


@dataclass(frozen=True, slots=True)
class UsedAddress:
    """An IP address with the time when it was last used."""

    ip: str
    used_at: datetime


@dataclass(frozen=True, slots=True)
class AdminAccount:
    """An account, its user if it is local, whether the user's address is confirmed, and the IP addresses, newest first."""

    account: Account
    user: User | None
    confirmed: bool
    ips: tuple[UsedAddress, ...]


def list_for_staff(account_filter: AccountFilter) -> QuerySet[Account]:
    """Return the accounts that match, unordered; the server's own account is left out."""
    rows = _accounts()
    if account_filter.origin is not None:
        rows = rows.filter(domain__isnull=account_filter.origin == "local")
    if account_filter.status is not None:
        rows = rows.filter(of_status(account_filter.status))
    if account_filter.staff:
        bits = Permission.ADMINISTRATOR | Permission.MANAGE_REPORTS
        rows = rows.alias(rights=F("user__role__permissions").bitand(bits)).filter(rights__gt=0)
    if account_filter.role_ids:
        rows = rows.filter(user__role_id__one_of=account_filter.role_ids)
    if account_filter.invited_by is not None:
        rows = rows.filter(user__invite__inviter__account_id=account_filter.invited_by)
    if account_filter.username.strip():
        rows = filter_by_prefix(rows, account_filter.username.strip())
    if account_filter.display_name.strip():
        rows = rows.filter(display_name__istartswith=account_filter.display_name.strip())
    if account_filter.by_domain.strip():
        rows = rows.filter(domain=normalise_domain(account_filter.by_domain) or "")
    if account_filter.email.strip():
        rows = rows.filter(user__email__istartswith=account_filter.email.strip())
    return by_address(rows, account_filter.ip.strip()) if account_filter.ip.strip() else rows


def find_for_staff(account_id: int) -> Account:
    """Return the account with this id, whatever its state. Raises NotFound."""
    return require_found(_accounts().filter(id=account_id).first())


def load_admin_accounts(account_ids: Collection[int]) -> dict[int, AdminAccount]:
    """Return accounts as staff see them, by id, in three queries; unknown ids are left out."""
    return describe_accounts(Account.objects.filter(id__one_of=account_ids))


def describe_accounts(loaded: Iterable[Account]) -> dict[int, AdminAccount]:
    """Return these loaded accounts as staff see them, keyed by id. Needs two queries."""
    accounts = {account.id: account for account in loaded}
    described = list(accounts)
    confirmed = EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True)
    users = {
        user.account_id: user
        for user in User.objects.select_related("role", "invite__inviter")
        .annotate(confirmed=Exists(confirmed))  # type: ignore[no-redef]  # fills the attribute
        .filter(account_id__one_of=described)
    }
    addresses_by_user: dict[int, dict[str, datetime]] = {}
    for user in users.values():
        if user.sign_up_ip is not None:
            addresses_by_user.setdefault(user.pk, {})[user.sign_up_ip] = user.created_at
    sessions = UserSession.objects.filter(user_id__one_of=[user.pk for user in users.values()])
    for user_id, ip, used_at in sessions.values_list("user_id", "ip", "last_seen_at"):
        by_address = addresses_by_user.setdefault(user_id, {})
        by_address[ip] = max(used_at, by_address.get(ip, used_at))
    return {
        number: AdminAccount(
            account,
            user,
            confirmed=user is not None and bool(user.__dict__["confirmed"]),
            ips=_latest_first(addresses_by_user.get(user.pk, {})) if user is not None else (),
        )
        for number, account, user in ((number, account, users.get(number)) for number, account in accounts.items())
    }


def _latest_first(last_used: dict[str, datetime]) -> tuple[UsedAddress, ...]:
    addresses = (UsedAddress(ip, used_at) for ip, used_at in last_used.items())
    return tuple(sorted(addresses, key=lambda address: address.used_at, reverse=True))[:IPS_SHOWN]


def _accounts() -> QuerySet[Account]:
    return Account.objects.filter(Q(domain__isnull=False) | Q(user__isnull=False))


def of_status(status: str) -> Q:
    """Return the condition for an account to have this status (one of STATUSES)."""
    return {
        "active": is_present(),
        "pending": Q(user__approved=False, deleted_at=None),
        "disabled": Q(user__disabled_at__isnull=False),
        "silenced": Q(limited_at__isnull=False),
        "suspended": ~is_present(),
        "sensitized": Q(sensitized_at__isnull=False),
    }[status]


def by_address(rows: QuerySet[Account], address: str) -> QuerySet[Account]:
    """Return the accounts that signed up from or were seen at an IP address or network; no accounts for any other text."""
    try:
        network = network_of(address)
    except ValueError:
        return rows.none()
    first, last = str(network.network_address), str(network.broadcast_address)
    sessions = UserSession.objects.filter(user__account_id=OuterRef("pk"), ip__gte=first, ip__lte=last)
    return rows.filter(Q(user__sign_up_ip__gte=first, user__sign_up_ip__lte=last) | Q(Exists(sessions)))


def recommended() -> ArraySubquery:
    """Return the ids of the RECOMMENDED_LIMIT most followed accounts among those that may be suggested to all users."""
    return ArraySubquery(list_recommended().values("id")[:RECOMMENDED_LIMIT])


def writing_in(rows: QuerySet[Account], language: str) -> QuerySet[Account]:
    """Return the accounts among `recommended()` that have written one of their latest posts in a language (ISO 639)."""
    latest = Status.objects.filter(account=OuterRef(OuterRef("pk")), reblog_of=None, deleted_at=None)
    posts = Status.objects.filter(id__one_of=ArraySubquery(latest.order_by("-id").values("id")[:_POSTS_LIMIT]))
    return rows.filter(Exists(posts.filter(language=language.lower())), id__one_of=recommended())
