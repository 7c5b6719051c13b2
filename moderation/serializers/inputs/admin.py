"""Parameters of the staff API for accounts, reports and hashtags."""

import re
from typing import Final

from django.utils.translation import gettext as _

from accounts.services.tags import TagChange
from moderation.queries.admin_accounts import ORIGINS, STATUSES, AccountFilter
from moderation.queries.reports import ReportFilter
from social.api.fields import ClientString, IdField
from social.api.inputs import Form, Id, Input, Stripped
from social.kernel.errors import BadRequest

# Negative ids are accepted, because the id of the default role is negative.
_ROLE_ID: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)


class _AccountConditions(Form):
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""


class AccountsInput(_AccountConditions):
    """Parameters of `GET /api/v2/admin/accounts`; a condition that is left out does not apply."""

    origin: str = ""
    status: str = ""
    permissions: str = ""
    role_ids: tuple[str, ...] = ()
    invited_by: Id | None = None

    def conditions(self) -> AccountFilter:
        """Return the conditions for the query. Raises BadRequest for an unknown origin or status."""
        if self.origin and self.origin not in ORIGINS:
            raise BadRequest(_("Unknown origin: %(word)s") % {"word": self.origin})
        if self.status and self.status not in STATUSES:
            raise BadRequest(_("Unknown status: %(word)s") % {"word": self.status})
        return AccountFilter(
            origin=self.origin or None,
            status=self.status or None,
            staff=self.permissions == "staff",
            role_ids=tuple(int(number) for number in self.role_ids if _ROLE_ID.fullmatch(number)),
            invited_by=self.invited_by,
            **{name: getattr(self, name) for name in _AccountConditions.names()},
        )


class AccountsV1Input(_AccountConditions):
    """Parameters of `GET /api/v1/admin/accounts`; the flags from `local` to `staff` apply if they are sent, whatever their
    values.
    """

    local: Stripped = ""
    remote: Stripped = ""
    active: Stripped = ""
    pending: Stripped = ""
    disabled: Stripped = ""
    silenced: Stripped = ""
    suspended: Stripped = ""
    sensitized: Stripped = ""
    staff: Stripped = ""

    def conditions(self) -> AccountFilter:
        """Return the conditions: by default, local accounts that are not suspended. The last of the sent STATUSES applies."""
        # `sensitized` has no effect in version 1 (contract, parameters section 6).
        states = [name for name in STATUSES if name != "sensitized" and getattr(self, name)]
        return AccountFilter(
            origin="remote" if self.remote else "local",
            status=states[-1] if states else "active",
            staff=bool(self.staff),
            **{name: getattr(self, name) for name in _AccountConditions.names()},
        )


class ActionInput(Form):
    """An action on an account, its reason, and whether the person is notified."""

    type: str = ""
    report_id: Id | None = None
    warning_preset_id: Id | None = None
    text: Stripped = ""
    send_email_notification: bool = True


class ReportsInput(Input[ReportFilter]):
    fields = ("resolved", "unresolved")
    account_id = IdField()
    target_account_id = IdField()


class ReportChangeInput(Form):
    """Changes to the category and the rules of a report; None leaves a value unchanged."""

    category: str | None = None
    rule_ids: tuple[int, ...] | None = None


class TagInput(Input[TagChange]):
    """The spelling of a hashtag, and where it may be used and shown."""

    fields = ("usable", "listable", "trendable")
    display_name = ClientString(strip=True, blank=False, max_length=500)
