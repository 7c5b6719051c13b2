"""Reads users with the rows and counters that the entity of their own account needs, and lists staff in the audit log."""

from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import F, Func, IntegerField, OuterRef, QuerySet, Subquery, TextField

from accounts.models import Account, FollowRequest, Role, User
from accounts.models.user import WAITING_COUNTS, Permission
from accounts.policies.audience import is_present
from social.kernel.errors import NotFound, require_found
from social.kernel.plans import Plan, Slot
from social.kernel.statements import rows_of

FOLLOW_REQUESTS_SHOWN: Final = 40


# PostgreSQL stores a changed row as a new row version, with another transaction id (xmin) or position (ctid).
_VERSIONS: Final = """concat_ws(' ', accounts_user.xmin, accounts_user.ctid, accounts_account.xmin, accounts_account.ctid,
 accounts_role.xmin, accounts_role.ctid)"""
_OWN_STATE: Final = f"""
SELECT {_VERSIONS}, stat.followers_count, stat.following_count, stat.statuses_count, stat.last_status_at,
       (SELECT count(*) FROM (SELECT FROM accounts_followrequest
                               WHERE target_id = accounts_user.account_id LIMIT {FOLLOW_REQUESTS_SHOWN}) AS waiting)
  FROM accounts_user
  JOIN accounts_account ON accounts_account.id = accounts_user.account_id
  JOIN accounts_role ON accounts_role.id = accounts_user.role_id
  LEFT JOIN accounts_accountstat stat ON stat.account_id = accounts_user.account_id
 WHERE accounts_user.id = %(user)s
"""  # noqa: S608 (constants)


class OwnState(NamedTuple):
    """Counters of a user's own account, and the versions of its rows; two states are equal if nothing has changed."""

    versions: str
    followers_count: int | None
    following_count: int | None
    statuses_count: int | None
    last_status_at: datetime | None
    follow_requests_count: int


class CountOf(Subquery):
    """Count of a query's rows, up to the limit of the query."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def count_waiting(user: User, name: str) -> int:
    """Return a user's count by its name in WAITING_COUNTS (0 for an unknown name), cached until `forget_waiting` is called."""
    if name not in WAITING_COUNTS:
        return 0
    known: int | None = getattr(user, f"waiting_{name}", None)
    if known is None:
        users = User.objects.filter(pk=user.pk).annotate(counted=WAITING_COUNTS[name]())
        known = int(users.values_list("counted", flat=True).first() or 0)
        setattr(user, f"waiting_{name}", known)
    return known


def forget_waiting(user: User, name: str) -> None:
    """Discard the stored count, so that `count_waiting` counts again after a change within the request."""
    setattr(user, f"waiting_{name}", None)


class _Versions(Func):
    template = _VERSIONS
    output_field = TextField()


def _users() -> QuerySet[User]:
    return User.objects.select_related("account__stat", "role").filter(id=Slot("id", User._meta.pk))


def _users_with_requests() -> QuerySet[User]:
    waiting = FollowRequest.objects.filter(target_id=OuterRef("account_id")).values("id")[:FOLLOW_REQUESTS_SHOWN]
    return _users().annotate(requests=CountOf(waiting), versions=_Versions())


_USER = Plan(_users)
_USER_WITH_REQUESTS = Plan(_users_with_requests)
_OWN_ACCOUNT = Plan(lambda: Account.objects.filter(id=Slot("id", Account._meta.pk)))


def find_user(user_id: int | None) -> User:
    """Return the user with everything that their own account's entity needs, in one query. Raises NotFound."""
    return _require_user(_USER.first(id=user_id or 0))


def find_user_with_state(user_id: int | None) -> tuple[User, OwnState]:
    """Return the user and their state, with at most FOLLOW_REQUESTS_SHOWN follow requests, in one query. Raises NotFound."""
    user = _require_user(_USER_WITH_REQUESTS.first(id=user_id or 0))
    stat = getattr(user.account, "stat", None)
    counters = (None,) * 4
    if stat is not None:
        counters = stat.followers_count, stat.following_count, stat.statuses_count, stat.last_status_at
    return user, OwnState(user.__dict__["versions"], *counters, user.__dict__["requests"])


def find_own_state(user_id: int) -> OwnState | None:
    """Return the state of a user's rows, or None for an unknown user. Takes one small query."""
    rows = rows_of(_OWN_STATE, {"user": user_id})
    return OwnState(*rows[0]) if rows else None


def find_role(account_id: int) -> Role | None:
    """Return the role of an account's user, as `require` expects it for `over`; None for a remote account. Takes one query."""
    user = User.objects.select_related("role").filter(account_id=account_id).first()
    return None if user is None else user.role


def _require_user(user: User | None) -> User:
    if user is None:
        raise NotFound
    # Set the reverse relation, which would otherwise be read by another query.
    user.account.user = user
    return user


def find_own_account(account_id: int | None) -> Account:
    """Return the caller's own account without counters and role, for actions that need neither. Raises NotFound."""
    return require_found(_OWN_ACCOUNT.first(id=account_id or 0))


def list_staff(permission: Permission) -> QuerySet[User]:
    """List users whose role grants a permission and who can use their account, with account and role."""
    return (
        User.objects.select_related("account", "role")
        .alias(granted=F("role__permissions").bitand(Permission.ADMINISTRATOR | permission))
        .exclude(granted=0)
        .filter(is_present("account"), disabled_at=None, approved=True, activated_at__isnull=False)
        .order_by("pk")
    )


def find_user_of_account(account_id: int) -> User:
    """Return the user of a local account, with account and role. Raises NotFound for a remote account."""
    return require_found(User.objects.select_related("account", "role").filter(account_id=account_id).first())


# The query makes one index lookup for each staff member, however many entries the log has.
_ACTORS = """
WITH RECURSIVE actors (id) AS (
  SELECT min(account_id) FROM accounts_auditentry
   UNION ALL
  SELECT (SELECT min(account_id) FROM accounts_auditentry WHERE account_id > actors.id) FROM actors
   WHERE actors.id IS NOT NULL)
SELECT e.account_id, e.account_name FROM actors
 CROSS JOIN LATERAL (
   SELECT account_id, account_name FROM accounts_auditentry WHERE account_id BETWEEN actors.id AND actors.id
    ORDER BY account_id DESC, id LIMIT 1) e
"""


def list_actors() -> list[tuple[int, str]]:
    """Return the staff members with entries in the audit log, as pairs of account id and name, in the order of the ids."""
    return [(number, name) for number, name in rows_of(_ACTORS, {})]
