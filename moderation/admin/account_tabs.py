"""Tabs of an account's page in the admin: posts, strikes, notes, IP addresses and sessions, reports, the audit log."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.accounts import account_link
from accounts.identity.admin.users import role_name
from accounts.models import Account, User
from accounts.models.user import EVERYONE_ROLE_ID
from moderation.admin.audit_sentences import sentence
from moderation.admin.reported_posts import posts_by_id
from moderation.models import Appeal, Report, Strike
from moderation.queries.account_overview import AccountOverview
from social.api.staff_columns import Column, States, address, link, mark, row_link, shortened, shown, table

EXCERPT = 240
REPORT_STATES = States(
    open=(gettext_lazy("Open"), "waiting", Q(action_taken_at=None)),
    resolved=(gettext_lazy("Resolved"), "good", Q(action_taken_at__isnull=False)),
)


def _tab(name: str, label: Any, read: Callable[[AccountOverview], Any]) -> Column:
    """Return a line of an account's page; `read` takes its value from the overview that the page has loaded."""
    return shown(name, label, lambda account: read(account.__dict__["overview"]))


def _posts(overview: AccountOverview) -> Any:
    posts = posts_by_id(overview.posts).values()
    return format_html_join("", "{}", ((render_to_string("admin/case_post.html", {"post": post}),) for post in posts))


def _strikes(overview: AccountOverview) -> Any:
    rows = [
        (
            row_link(Strike, strike.pk, strike.get_action_display()),
            shortened(strike.text, EXCERPT),
            account_link(strike.account) if strike.account else _("The operator"),
            strike.created_at,
            strike_state(strike),
        )
        for strike in overview.strikes
    ]
    return table([_("Action"), _("Text"), _("By"), _("Since"), _("Appeal")], rows)


def strike_state(strike: Any) -> Any:
    """Return a label for a strike: "undone", or the state of its appeal; None if the strike was neither undone nor appealed."""
    appeal = getattr(strike, "appeal", None)
    if strike.overruled_at is not None:
        return mark(_("Undone"), "good")
    if appeal is None:
        return None
    words = mark(_("Rejected"), "bad") if appeal.state == "rejected" else mark(_("Waiting"), "waiting")
    return row_link(Appeal, appeal.pk, words)


def _notes(overview: AccountOverview) -> Any:
    rows = [
        (
            format_html('<span class="words text" dir="auto">{}</span>', note.text),
            account_link(note.author) if note.author else None,
            note.created_at,
            link(reverse("admin:accounts_account_remove_note", args=[note.account_id, note.pk]), _("Remove")),
        )
        for note in overview.notes
    ]
    return table([_("Note"), _("By"), _("Since"), _("Remove")], rows)


def _addresses(overview: AccountOverview) -> Any:
    rows = [(address(used.ip), used.used_at) for used in overview.card.admin.ips]
    return table([_("IP address"), _("Last seen")], rows)


def _sessions(overview: AccountOverview) -> Any:
    rows = [
        (shortened(session.user_agent, 120), address(session.ip), session.created_at, session.last_seen_at)
        for session in overview.sessions
    ]
    return table([_("Browser"), _("IP address"), _("Since"), _("Last seen")], rows)


def _people(users: Sequence[User]) -> Any:
    rows = [
        (account_link(user.account), address(user.email), user.created_at, _standing(user.account)) for user in users
    ]
    return table([_("Account"), _("E-mail address"), _("Joined"), _("State")], rows)


def _standing(account: Account) -> Any:
    if account.suspended:
        return mark(_("Suspended"), "bad")
    return mark(_("Limited"), "waiting") if account.limited else mark(_("Active"), "good")


def _reports(reports: Sequence[Report], person: str) -> Any:
    rows = [
        (
            row_link(Report, report.pk, report.get_category_display()),
            shortened(report.comment, EXCERPT),
            account_link(getattr(report, person)),
            report.created_at,
            REPORT_STATES.of(report),
        )
        for report in reports
    ]
    return table([_("Report"), _("Comment"), _("Account"), _("Since"), _("State")], rows)


def _user_line(name: str, label: Any, read: Callable[[User], Any]) -> Column:
    """Return a line about the user of the account; it is empty for a remote account."""
    return _tab(name, label, lambda overview: (user := overview.card.admin.user) and read(user))


def _inviter(user: User) -> Any:
    inviter = user.invite.inviter if user.invite is not None else None
    return None if inviter is None else row_link(User, inviter.pk, inviter.email)


def _sign_in(overview: AccountOverview) -> Any:
    """Return a label that says that the user can sign in, or why the user cannot; None for a remote account."""
    user = overview.card.admin.user
    if user is None:
        return None
    if user.disabled_at is not None:
        return mark(_("Disabled"), "bad")
    if not overview.card.admin.confirmed:
        return mark(_("Address not confirmed"), "waiting")
    return mark(_("Active"), "good") if user.approved else mark(_("Waiting for approval"), "waiting")


POSTS_TAB = _tab("recent_posts", gettext_lazy("Posts"), _posts)
STRIKES_TAB = _tab("strikes", gettext_lazy("Strikes"), _strikes)
NOTES_TAB = _tab("notes", gettext_lazy("Notes"), _notes)
ADDRESSES_TAB = _tab("addresses", gettext_lazy("IP addresses"), _addresses)
SESSIONS_TAB = _tab("sessions", gettext_lazy("Browsers"), _sessions)
SAME_ADDRESS_TAB = _tab(
    "same_address", gettext_lazy("Same IP address"), lambda overview: _people(overview.same_address)
)
SAME_DOMAIN_TAB = _tab(
    "same_mail_domain", gettext_lazy("Same mail server"), lambda overview: _people(overview.same_mail_domain)
)
REPORTS_TAB = _tab(
    "reports", gettext_lazy("Reports about this account"), lambda overview: _reports(overview.reports, "account")
)
REPORTED_TAB = _tab(
    "reported", gettext_lazy("Reports by this account"), lambda overview: _reports(overview.reported, "target_account")
)
AUDIT_TAB = _tab(
    "audit",
    gettext_lazy("Audit log"),
    lambda overview: table([_("When"), _("What")], [(entry.created_at, sentence(entry)) for entry in overview.audit]),
)

EMAIL = _user_line("email", gettext_lazy("E-mail address"), lambda user: address(user.email))
SIGN_IN = _tab("sign_in", gettext_lazy("Sign-in"), _sign_in)
ROLE = _user_line(
    "role", gettext_lazy("Role"), lambda user: None if user.role_id == EVERYONE_ROLE_ID else role_name(user.role)
)
REASON = _user_line("sign_up_reason", gettext_lazy("Why they want to join"), lambda user: user.sign_up_reason)
INVITED_BY = _user_line("invited_by", gettext_lazy("Invited by"), _inviter)
LANGUAGE = _user_line("locale", gettext_lazy("Language"), lambda user: user.locale)
LAST_SEEN = _user_line("active_at", gettext_lazy("Last seen"), lambda user: user.active_at)
