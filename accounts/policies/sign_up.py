"""What a new account may be called and must bring (contract, parameters section 2 "POST /api/v1/accounts")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from accounts.policies.domains import is_address_literal
from social.kernel.errors import FieldError
from social.kernel.text.names import normalise_domain

USERNAME_LIMIT = 30
EMAIL_LIMIT = 320
PASSWORD_MINIMUM = 8
PASSWORD_LIMIT = 72
REASON_LIMIT = 420
_USERNAME = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
# Names a stranger could pretend to be the server with, and names that are routes of ours.
RESERVED = frozenset(
    [
        "abuse", "account", "accounts", "actor", "admin", "administration", "administrator", "api", "auth", "contact",
        "help", "helpdesk", "inbox", "info", "instance", "mod", "moderator", "moderators", "mods", "oauth", "owner",
        "postmaster", "relay", "root", "security", "server", "social", "staff", "support", "sysadmin", "system",
        "webmaster",
    ]
)  # fmt: skip


@dataclass(frozen=True)
class SignUpDraft:
    """What somebody who signs up has filled in, and where they come from."""

    username: str
    email: str
    password: str
    agreement: bool
    locale: str | None = None
    reason: str = ""
    time_zone: str | None = None
    date_of_birth: str = ""
    invite_code: str = ""
    ip: str | None = None
    # Where the link in the confirmation mail leads on to: a path of ours.
    return_to: str = ""


def username_errors(username: str) -> list[FieldError]:
    """What is wrong with a local username, apart from being taken."""
    if not username:
        return [FieldError("username", "ERR_BLANK", _("can't be blank"))]
    errors = []
    if not _USERNAME.fullmatch(username):
        errors.append(FieldError("username", "ERR_INVALID", _("must contain only letters, numbers and underscores")))
    if len(username) > USERNAME_LIMIT:
        message = _("is too long (maximum is %(limit)d characters)") % {"limit": USERNAME_LIMIT}
        errors.append(FieldError("username", "ERR_TOO_LONG", message))
    if username.lower() in RESERVED:
        errors.append(FieldError("username", "ERR_RESERVED", _("is reserved")))
    return errors


def email_errors(email: str) -> list[FieldError]:
    """What is wrong with an e-mail address, apart from being taken; no other machine is asked about its domain."""
    if not email:
        return [
            FieldError("email", "ERR_BLANK", _("can't be blank")),
            FieldError("email", "ERR_INVALID", _("is invalid")),
        ]
    if len(email) > EMAIL_LIMIT:
        message = _("is too long (maximum is %(limit)d characters)") % {"limit": EMAIL_LIMIT}
        return [FieldError("email", "ERR_TOO_LONG", message)]
    local, _at, domain = email.rpartition("@")
    try:
        # Whether a domain can be one is asked below: names of one label are, on an intranet.
        validate_email(f"{local}@example.com")
    except ValidationError:
        return [FieldError("email", "ERR_INVALID", _("is invalid"))]
    if ":" in domain or is_address_literal(domain) or normalise_domain(domain) is None:
        return [FieldError("email", "ERR_INVALID", _("is invalid"))]
    return []


def password_errors(password: str) -> list[FieldError]:
    """What is wrong with a password."""
    if not password.strip():
        return [FieldError("password", "ERR_BLANK", _("can't be blank"))]
    if len(password) < PASSWORD_MINIMUM:
        message = _("is too short (minimum is %(limit)d characters)") % {"limit": PASSWORD_MINIMUM}
        return [FieldError("password", "ERR_TOO_SHORT", message)]
    if len(password) > PASSWORD_LIMIT:
        message = _("is too long (maximum is %(limit)d characters)") % {"limit": PASSWORD_LIMIT}
        return [FieldError("password", "ERR_TOO_LONG", message)]
    return []


def taken(field: str) -> FieldError:
    """The error for what somebody else has already."""
    return FieldError(field, "ERR_TAKEN", _("has already been taken"))


_ORDER = {
    name: place for place, name in enumerate(("email", "password", "username", "agreement", "reason", "date_of_birth"))
}


def in_order(errors: Iterable[FieldError]) -> list[FieldError]:
    """The errors in the order in which clients get them (contract, parameters section 2 "POST /api/v1/accounts")."""
    found = sorted(errors, key=lambda error: _ORDER[error.field])
    blank = next((error for error in found if error.field == "email" and error.code == "ERR_BLANK"), None)
    if blank is None:
        return found
    # A blank address is said to be invalid only after what is wrong with the name.
    others = [error for error in found if error.field not in ("email", "password", "username")]
    invalid = [error for error in found if error.field == "email" and error is not blank]
    return [blank, *(error for error in found if error.field in ("password", "username")), *invalid, *others]


def draft_errors(draft: SignUpDraft, *, reason_required: bool) -> list[FieldError]:
    """Every rule a draft breaks that can be seen without asking the database."""
    errors = username_errors(draft.username) + email_errors(draft.email) + password_errors(draft.password)
    if not draft.agreement:
        errors.append(FieldError("agreement", "ERR_ACCEPTED", _("must be accepted")))
    if reason_required and not draft.reason.strip():
        errors.append(FieldError("reason", "ERR_BLANK", _("can't be blank")))
    if len(draft.reason) > REASON_LIMIT:
        message = _("is too long (maximum is %(limit)d characters)") % {"limit": REASON_LIMIT}
        errors.append(FieldError("reason", "ERR_TOO_LONG", message))
    return errors
