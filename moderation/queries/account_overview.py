"""Reads the data that an account's page in the admin shows in addition to the profile, in a fixed number of statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from allauth.usersessions.models import UserSession
from django.db.models import Q, QuerySet

from accounts.models import Account, AuditEntry, User
from moderation.models import Report, StaffNote, Strike
from moderation.queries.admin_accounts import AdminAccount, describe_accounts
from moderation.queries.person_cards import PersonCard, complete_cards
from statuses.models import Status
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.page import PostPage, fill, of_rows
from statuses.queries.posts import load_posts

LISTED_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class AccountOverview:
    """An account for staff: its public posts, strikes, notes, addresses, sessions, reports about and by it, and audit log; and
    users with the same address or mail server. All lists are sorted newest first.
    """

    card: PersonCard
    posts: PostPage
    strikes: Sequence[Strike]
    notes: Sequence[StaffNote]
    sessions: Sequence[UserSession]
    same_address: Sequence[User]
    same_mail_domain: Sequence[User]
    reports: Sequence[Report]
    reported: Sequence[Report]
    audit: Sequence[AuditEntry]


def load_account_overview(account: Account) -> AccountOverview:
    """Return the overview of an account, with at most LISTED_LIMIT rows of each kind."""
    admin = describe_accounts([account])[account.pk]
    user = admin.user
    public = Status.objects.filter(
        account_id=account.pk, visibility__in=OPEN_VISIBILITIES, deleted_at=None, reblog_of=None
    )
    posts = load_posts(public.order_by("-id").values_list("id", flat=True)[:LISTED_LIMIT])
    reports = Report.objects.filter(Q(target_account_id=account.pk) | Q(account_id=account.pk)).select_related(
        "account", "target_account"
    )
    newest_reports = list(reports.order_by("-id")[: 2 * LISTED_LIMIT])
    return AccountOverview(
        card=complete_cards({account.pk: admin}, [account.pk])[account.pk],
        posts=fill(of_rows(sorted(posts, key=lambda post: -post.id), None)),
        strikes=_newest(Strike.objects.filter(target_account_id=account.pk).select_related("account", "appeal")),
        notes=_newest(StaffNote.objects.filter(account_id=account.pk).select_related("author")),
        sessions=list(UserSession.objects.filter(user=user).order_by("-last_seen_at")[:LISTED_LIMIT]) if user else [],
        same_address=list(_others(user).filter(_has_same_address(admin))[:LISTED_LIMIT]) if user else [],
        same_mail_domain=list(_others(user).filter(_has_same_mail_domain(user))[:LISTED_LIMIT]) if user else [],
        reports=[report for report in newest_reports if report.target_account_id == account.pk][:LISTED_LIMIT],
        reported=[report for report in newest_reports if report.account_id == account.pk][:LISTED_LIMIT],
        audit=load_audit(account, user),
    )


def _newest(rows: Any) -> list[Any]:
    return list(rows.order_by("-id")[:LISTED_LIMIT])


def same_people(admin: AdminAccount, limit: int) -> list[User]:
    """List users who were seen at the same addresses or have an e-mail address of the same domain, newest first; one query."""
    if admin.user is None:
        return []
    return list(_others(admin.user).filter(_has_same_mail_domain(admin.user) | _has_same_address(admin))[:limit])


def _others(user: User) -> QuerySet[User]:
    return User.objects.exclude(pk=user.pk).select_related("account").order_by("-id")


def _has_same_address(admin: AdminAccount) -> Q:
    addresses = [used.ip for used in admin.ips]
    sessions = UserSession.objects.filter(ip__one_of=addresses)
    return Q(sign_up_ip__one_of=addresses) | Q(pk__in=sessions.values("user_id"))


def _has_same_mail_domain(user: User) -> Q:
    return Q(email__iendswith=f"@{user.email.rpartition('@')[2]}")


def load_audit(account: Account, user: User | None, report_ids: Sequence[int] = ()) -> list[AuditEntry]:
    """Return the newest entries of the audit log about an account, its user and these reports, newest first."""
    about = Q(target_type="Account", target_id=account.pk)
    if user is not None:
        about |= Q(target_type="User", target_id=user.pk)
    if report_ids:
        about |= Q(target_type="Report", target_id__one_of=list(report_ids))
    return _newest(AuditEntry.objects.filter(about))
