"""What staff send about accounts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from moderation.queries.admin_accounts import ORIGINS, STATUSES, AccountFilter
from social.api.inputs import ClientBoolean, ClientString, IdField, Input, StringListField
from social.kernel.errors import BadRequest

# The role that everybody has without one has a negative id.
_ROLE_ID: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_COMMON: Final = ("username", "display_name", "by_domain", "email", "ip")


@dataclass(frozen=True)
class AccountsForm:
    """The parameters of `GET /api/v2/admin/accounts`."""

    origin: str = ""
    status: str = ""
    permissions: str = ""
    role_ids: tuple[str, ...] = ()
    invited_by: int | None = None
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""

    def wanted(self) -> AccountFilter:
        """As the query takes it. Raises BadRequest for an unknown origin or status."""
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
            **{name: getattr(self, name) for name in _COMMON},
        )


class AccountsInput(Input[AccountsForm]):
    """Which accounts are looked for; what is left out does not matter."""

    draft = AccountsForm
    origin = ClientString()
    status = ClientString()
    permissions = ClientString()
    role_ids = StringListField()
    invited_by = IdField()
    username = ClientString()
    display_name = ClientString()
    by_domain = ClientString()
    email = ClientString()
    ip = ClientString()


@dataclass(frozen=True)
class AccountsV1Form:
    """The parameters of `GET /api/v1/admin/accounts`: each of the words from `local` to `staff` counts by being there."""

    local: str = ""
    remote: str = ""
    active: str = ""
    pending: str = ""
    disabled: str = ""
    silenced: str = ""
    suspended: str = ""
    sensitized: str = ""
    staff: str = ""
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""

    def wanted(self) -> AccountFilter:
        """As the query takes it: by default people of this server who are not suspended, of several states the last one."""
        # `sensitized` is a word without effect (contract, parameters section 6).
        states = [name for name in STATUSES if name != "sensitized" and getattr(self, name)]
        return AccountFilter(
            origin="remote" if self.remote else "local",
            status=states[-1] if states else "active",
            staff=bool(self.staff),
            **{name: getattr(self, name) for name in _COMMON},
        )


class AccountsV1Input(Input[AccountsV1Form]):
    """Which accounts are looked for, in the words of version 1."""

    draft = AccountsV1Form
    local = ClientString(strip=True)
    remote = ClientString(strip=True)
    active = ClientString(strip=True)
    pending = ClientString(strip=True)
    disabled = ClientString(strip=True)
    silenced = ClientString(strip=True)
    suspended = ClientString(strip=True)
    sensitized = ClientString(strip=True)
    staff = ClientString(strip=True)
    username = ClientString()
    display_name = ClientString()
    by_domain = ClientString()
    email = ClientString()
    ip = ClientString()


@dataclass(frozen=True)
class ActionForm:
    """The parameters of an action on an account."""

    type: str = ""
    report_id: int | None = None
    warning_preset_id: int | None = None
    text: str = ""
    send_email_notification: bool = True


class ActionInput(Input[ActionForm]):
    """What is done to an account, why, and whether the person is notified."""

    draft = ActionForm
    type = ClientString()
    report_id = IdField()
    warning_preset_id = IdField()
    text = ClientString(strip=True)
    send_email_notification = ClientBoolean()
