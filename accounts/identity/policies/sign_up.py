"""Rules of sign-ups: usernames, required values, and the blocks that keep people from signing up (parameters section 2)."""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from typing import Final

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

# Names with which a stranger could impersonate the server, and names of routes.
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
    """Values of a sign-up form, and the IP address of the client."""

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
    # The local path to which the link in the confirmation mail redirects.
    return_to: str = ""


@dataclass(frozen=True)
class Identity:
    """A person whom an issuer has identified; `email` is the address that the issuer has confirmed, or empty."""

    issuer: str
    subject: str
    name: str
    email: str = ""


def username_errors(username: str) -> list[FieldError]:
    """Return the errors of a local username; whether it is already in use is not checked."""
    if not username:
        return [FieldError.blank("username")]
    errors = []
    if not _USERNAME.fullmatch(username):
        errors.append(FieldError("username", "ERR_INVALID", _("must contain only letters, numbers and underscores")))
    if len(username) > USERNAME_LIMIT:
        errors.append(FieldError.too_long("username", USERNAME_LIMIT))
    if username.lower() in RESERVED:
        errors.append(FieldError("username", "ERR_RESERVED", _("is reserved")))
    return errors


def is_in_usernames(text: str) -> bool:
    """Tell whether a local username can be or contain this text; a block of any other text would match nobody."""
    return _USERNAME.fullmatch(text) is not None


def email_errors(email: str) -> list[FieldError]:
    """Return the errors of an e-mail address; whether it is already in use is not checked, and the DNS is not queried."""
    if not email:
        return [
            FieldError.blank("email"),
            FieldError.invalid("email"),
        ]
    if len(email) > EMAIL_LIMIT:
        return [FieldError.too_long("email", EMAIL_LIMIT)]
    local, _at, domain = email.rpartition("@")
    try:
        # The domain is checked below, because the domain of an intranet may have only one label.
        validate_email(f"{local}@example.com")
    except ValidationError:
        return [FieldError.invalid("email")]
    if ":" in domain or is_address_literal(domain) or normalise_domain(domain) is None:
        return [FieldError.invalid("email")]
    return []


def password_errors(password: str) -> list[FieldError]:
    if not password.strip():
        return [FieldError.blank("password")]
    if len(password) < PASSWORD_MINIMUM:
        message = _("is too short (minimum is %(limit)d characters)") % {"limit": PASSWORD_MINIMUM}
        return [FieldError("password", "ERR_TOO_SHORT", message)]
    if len(password) > PASSWORD_LIMIT:
        return [FieldError.too_long("password", PASSWORD_LIMIT)]
    return []


_ORDER = {
    name: place for place, name in enumerate(("email", "password", "username", "agreement", "reason", "date_of_birth"))
}


def in_order(errors: Iterable[FieldError]) -> list[FieldError]:
    """Return the errors in the order in which clients get them (contract, parameters section 2 "POST /api/v1/accounts")."""
    ordered = sorted(errors, key=lambda error: _ORDER[error.field])
    blank = next((error for error in ordered if error.field == "email" and error.code == "ERR_BLANK"), None)
    if blank is None:
        return ordered
    # For a blank address, "is invalid" comes after the errors of the username (only "is blank" comes before them).
    others = [error for error in ordered if error.field not in ("email", "password", "username")]
    invalid = [error for error in ordered if error.field == "email" and error is not blank]
    return [blank, *(error for error in ordered if error.field in ("password", "username")), *invalid, *others]


def draft_errors(draft: SignUpDraft, *, reason_required: bool, has_password: bool = True) -> list[FieldError]:
    """List the errors of a draft that can be found without the database."""
    errors = username_errors(draft.username) + email_errors(draft.email)
    if has_password:
        errors += password_errors(draft.password)
    if not draft.agreement:
        errors.append(FieldError("agreement", "ERR_ACCEPTED", _("must be accepted")))
    if reason_required and not draft.reason.strip():
        errors.append(FieldError.blank("reason"))
    if len(draft.reason) > REASON_LIMIT:
        errors.append(FieldError.too_long("reason", REASON_LIMIT))
    return errors


# Digits are replaced by the letters that they look like, so that they cannot be used to get around a block on a name.
_LOOK_ALIKES: Final = str.maketrans("0123456789", "oizeasgtbg")
_DATE_FORMATS: Final = ("%Y-%m-%d", "%d.%m.%Y")


class Decision(IntEnum):
    """Decision about a sign-up; if several blocks match the sign-up, the strictest decision counts."""

    ALLOWED = 0
    NEEDS_APPROVAL = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Findings:
    """Facts about a sign-up from the database and, if it was queried, the DNS."""

    username_in_use: bool = False
    email_in_use: bool = False
    canonical_email: bool = False
    network: Decision = Decision.ALLOWED
    email_domain: Decision = Decision.ALLOWED
    email_unreachable: bool = False
    username: Decision = Decision.ALLOWED

    @property
    def needs_approval(self) -> bool:
        """Tell whether staff must approve the sign-up, even if registrations are open."""
        return Decision.NEEDS_APPROVAL in (self.network, self.email_domain, self.username)

    def errors(self, *, faulty: Collection[str] = (), by_operator: bool = False) -> list[FieldError]:
        """Return the errors, except for fields in `faulty`, which have errors already. Blocks do not apply to an operator."""
        errors: list[FieldError] = []
        if "email" not in faulty:
            if self.email_domain is Decision.REFUSED and not by_operator:
                errors.append(FieldError("email", "ERR_BLOCKED", _("contains a disallowed e-mail provider")))
            elif self.email_unreachable and not by_operator:
                errors.append(FieldError("email", "ERR_UNREACHABLE", _("does not seem to exist")))
            if self.email_in_use or (self.canonical_email and not by_operator):
                errors.append(FieldError.taken("email"))
        if "username" not in faulty:
            if self.username_in_use:
                errors.append(FieldError.taken("username"))
            elif self.username is Decision.REFUSED and not by_operator:
                errors.append(FieldError("username", "ERR_RESERVED", _("is reserved")))
        return errors


def normalised_username(username: str) -> str:
    """Return a username in the form that blocks compare: in lower case, with digits replaced by the letters they look like."""
    return username.lower().translate(_LOOK_ALIKES)


def blockable_email_domain(text: str) -> str | None:
    """Return a domain of e-mail addresses as blocks store it; it may be written as `@example.org` or `*.example.org`, because a
    block covers subdomains anyway. None for a text that is no domain, or has a port, with which no e-mail address ends.
    """
    domain = normalise_domain(text.strip().removeprefix("@").removeprefix("*."))
    return None if domain is None or ":" in domain else domain


def email_digest(email: str) -> str:
    """Return the SHA-256 of an address without what many providers ignore: case, dots, and the text after a plus sign."""
    local, _at, domain = email.strip().lower().rpartition("@")
    canonical = f"{local.partition('+')[0].replace('.', '')}@{domain}"
    return hashlib.sha256(canonical.encode()).hexdigest()


def age_errors(date_of_birth: str, *, minimum: int, today: date) -> list[FieldError]:
    """Return the errors of a date of birth (`YYYY-MM-DD` or `DD.MM.YYYY`) if people must be at least `minimum` years old."""
    text = date_of_birth.strip()
    if not text:
        return [FieldError.blank("date_of_birth")]
    born = _date(text)
    if born is None or born > today:
        return [FieldError.invalid("date_of_birth")]
    # Dates are compared as tuples, because there is no 29 February in most years.
    if (born.year + minimum, born.month, born.day) > (today.year, today.month, today.day):
        return [FieldError("date_of_birth", "ERR_BELOW_LIMIT", _("is below the age limit"))]
    return []


def _date(text: str) -> date | None:
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    return None
