"""Actions of staff on local users: sign-ups, confirmations, roles and access."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.identity.policies.sign_up import EMAIL_LIMIT
from accounts.identity.services import staff
from accounts.models import Account, Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.staff import Staff
from accounts.queries.users import find_user_of_account
from accounts.services.erasing import reject_user
from social.api.staff_acts import Act, ActionVariant, Menu, Words
from social.api.staff_forms import StaffForm
from social.kernel.errors import Forbidden

SANCTIONS: Final = Menu(_("Moderate"), "gavel")
ACCESS: Final = Menu(_("Access"), "key")


def user_of(row: Account | User) -> User:
    """Return the user of an account, or the row itself if it is a user. Raises Forbidden for a remote account."""
    if isinstance(row, User):
        return row
    if not row.local:
        raise Forbidden
    return find_user_of_account(row.pk)


def on_users(test: Callable[[Any, User], Any]) -> Callable[[Any], bool]:
    """Return a condition for rows: the row has a user, its account is not deleted, and `test(row, user)` is true."""

    def fits(row: Any) -> bool:
        user = row if isinstance(row, User) else getattr(row, "user", None)
        account = row.account if isinstance(row, User) else row
        return user is not None and account.deleted_at is None and bool(test(row, user))

    return fits


class EmailForm(StaffForm):
    email = forms.EmailField(label=_("New e-mail address"), max_length=EMAIL_LIMIT)


def role_form(by: Staff) -> type[StaffForm]:
    """Return the class of the form on which a user's new role is chosen: no role, or any role that ranks below that of `by`."""
    roles = Role.objects.exclude(pk=EVERYONE_ROLE_ID).order_by("-position")
    field = forms.ModelChoiceField(
        roles if by.position is None else roles.filter(position__lt=by.position),
        label=_("Role"),
        required=False,
        empty_label=_("No role"),
    )
    return type("RoleForm", (StaffForm,), {"role": field})


_USER_ACT: Final = partial(Act, permission=Permission.MANAGE_USERS, ranked=True)
_ACCESS_ACT: Final = partial(Act, permission=Permission.MANAGE_USER_ACCESS, ranked=True, menu=ACCESS)

APPROVE: Final = _USER_ACT(
    "approve",
    _("Approve"),
    lambda by, row: staff.approve(by=by, user=user_of(row)),
    icon="check",
    variant=ActionVariant.PRIMARY,
    one=Words(_("Approve this sign-up?"), _("The sign-up is approved. The person gets an e-mail.")),
    many=Words(
        "",
        ngettext_lazy("%(count)d sign-up was approved.", "%(count)d sign-ups were approved.", "count"),
        _("Approve the selected sign-ups"),
    ),
    fits=on_users(lambda row, user: not user.approved),
    audit=_("%(by)s approved the sign-up of %(target)s"),
)
REJECT: Final = _USER_ACT(
    "reject",
    _("Reject"),
    lambda by, row: reject_user(by=by, user=user_of(row)),
    icon="close",
    variant=ActionVariant.DANGER,
    one=Words(_("Reject this sign-up? It is deleted."), _("The sign-up is rejected and deleted.")),
    many=Words(
        _("Reject these sign-ups? They are deleted."),
        ngettext_lazy("%(count)d sign-up was rejected.", "%(count)d sign-ups were rejected.", "count"),
        _("Reject the selected sign-ups"),
    ),
    fits=on_users(lambda row, user: not user.approved),
    audit=_("%(by)s rejected the sign-up of %(target)s"),
)
ENABLE: Final = _USER_ACT(
    "enable",
    _("Enable sign-in again"),
    lambda by, row: staff.enable(by=by, user=user_of(row)),
    icon="lock_open",
    menu=SANCTIONS,
    one=Words(_("Let this person sign in again?"), _("The person can sign in again.")),
    many=Words(
        "",
        ngettext_lazy("%(count)d user can sign in again.", "%(count)d users can sign in again.", "count"),
        _("Enable again"),
    ),
    fits=on_users(lambda row, user: user.disabled_at is not None),
    audit=_("%(by)s enabled %(target)s again"),
    api="enable",
    api_summary="Enable sign-in again for a disabled user.",
)
CONFIRM: Final = _USER_ACT(
    "confirm",
    _("Confirm the address"),
    lambda by, row: staff.confirm(by=by, user=user_of(row)),
    icon="mark_email_read",
    menu=ACCESS,
    one=Words(
        _("Mark the e-mail address as confirmed, although nobody has opened the link in the e-mail?"),
        _("The address is confirmed."),
    ),
    many=Words(
        _("Mark these e-mail addresses as confirmed, although nobody has opened the links in the e-mails?"),
        ngettext_lazy("%(count)d e-mail address is confirmed.", "%(count)d e-mail addresses are confirmed.", "count"),
        _("Confirm their e-mail addresses"),
    ),
    fits=on_users(lambda row, user: not row.__dict__["confirmed"]),
    audit=_("%(by)s confirmed the e-mail address of %(target)s"),
)
DISABLE_USERS: Final = Act(
    "disable",
    _("Disable the account: refuse sign-in and all requests"),
    lambda by, user: staff.disable(by=by, user=user),
    permission=Permission.MANAGE_USERS,
    many=Words(
        _("Disable these users? They are signed out everywhere and cannot sign in."),
        ngettext_lazy("%(count)d user was disabled.", "%(count)d users were disabled.", "count"),
    ),
)
CHANGE_ROLE: Final = Act(
    "change_role",
    _("Change the role"),
    lambda by, row, sent: staff.set_role(by=by, user=user_of(row), role=sent["role"]),
    permission=Permission.MANAGE_ROLES,
    ranked=True,
    icon="shield_person",
    menu=ACCESS,
    one=Words(_("Which role should this person have?"), _("The role is changed.")),
    form=role_form,
    fits=on_users(lambda row, user: True),
    audit=_("%(by)s changed the role of %(target)s"),
)
CHANGE_EMAIL: Final = _ACCESS_ACT(
    "change_email",
    _("Change the e-mail address"),
    lambda by, row, sent: staff.set_email(by=by, user=user_of(row), **sent),
    icon="alternate_email",
    one=Words(
        _("Change the e-mail address of this person? The new address counts as confirmed."),
        _("The address is changed. A notice was sent to the old address."),
    ),
    form=EmailForm,
    fits=on_users(lambda row, user: True),
    audit=_("%(by)s changed the e-mail address of %(target)s"),
)
SEND_PASSWORD: Final = _ACCESS_ACT(
    "send_password",
    _("Send a password reset e-mail"),
    lambda by, row: staff.send_password_reset(by=by, user=user_of(row)),
    icon="password",
    verb="send_password_reset",
    one=Words(
        _("E-mail this person a link to choose a new password?"),
        _("The link to choose a new password is on its way."),
    ),
    fits=on_users(lambda row, user: True),
    audit=_("%(by)s sent %(target)s a password reset e-mail"),
)
RESET_FACTOR: Final = _ACCESS_ACT(
    "reset_factor",
    _("Remove the second factors"),
    lambda by, row: staff.reset_second_factor(by=by, user=user_of(row)),
    icon="phonelink_erase",
    verb="reset_second_factor",
    one=Words(
        _("Remove all second factors and recovery codes of this person? This signs the person out everywhere."),
        _("The second factors are removed. The person is signed out everywhere."),
    ),
    fits=on_users(lambda row, user: row.__dict__["factors"]),
    audit=_("%(by)s removed the second factors of %(target)s"),
)
