"""Whom blocks keep from signing up, and what they compare (contract, parameters section 2, entities "Admin")."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from typing import Final

from django.utils.translation import gettext as _

from accounts.policies.sign_up import taken
from social.kernel.errors import FieldError

# Digits that are read as letters, so that a blocked name is not written with them instead.
_LOOK_ALIKES: Final = str.maketrans("0123456789", "oizeasgtbg")
_DATE_FORMATS: Final = ("%Y-%m-%d", "%d.%m.%Y")


class Decision(IntEnum):
    """What a block decides about a sign-up; of several blocks the strictest counts."""

    ALLOWED = 0
    NEEDS_APPROVAL = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Findings:
    """What the tables, and the DNS if it was asked, say about somebody who signs up."""

    username_in_use: bool = False
    email_in_use: bool = False
    canonical_email: bool = False
    network: Decision = Decision.ALLOWED
    email_domain: Decision = Decision.ALLOWED
    email_unreachable: bool = False
    username: Decision = Decision.ALLOWED

    @property
    def needs_approval(self) -> bool:
        """Whether staff must look at it, however open registrations are."""
        return Decision.NEEDS_APPROVAL in (self.network, self.email_domain, self.username)

    def errors(self, *, faulty: Collection[str] = (), by_operator: bool = False) -> list[FieldError]:
        """The errors to answer with; nothing about fields that are `faulty` in themselves.

        Blocks are not for an operator, who may know better; what is somebody else's stays so.
        """
        errors: list[FieldError] = []
        if "email" not in faulty:
            if self.email_domain is Decision.REFUSED and not by_operator:
                errors.append(FieldError("email", "ERR_BLOCKED", _("contains a disallowed e-mail provider")))
            elif self.email_unreachable and not by_operator:
                errors.append(FieldError("email", "ERR_UNREACHABLE", _("does not seem to exist")))
            if self.email_in_use or (self.canonical_email and not by_operator):
                errors.append(taken("email"))
        if "username" not in faulty:
            if self.username_in_use:
                errors.append(taken("username"))
            elif self.username is Decision.REFUSED and not by_operator:
                errors.append(FieldError("username", "ERR_RESERVED", _("is reserved")))
        return errors


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """The network of an address or of CIDR; bits of the host do not count. Raises ValueError for what is neither, and for an
    address of one interface (`fe80::1%eth0`), which means nothing elsewhere.
    """
    if "%" in text:
        raise ValueError(text)
    return ipaddress.ip_network(text.strip(), strict=False)


def normalised_username(username: str) -> str:
    """A name as blocks compare it: small letters, digits as the letters they look like."""
    return username.lower().translate(_LOOK_ALIKES)


def domain_and_parents(domain: str) -> list[str]:
    """`a.b.example`, `b.example`, `example`: where a block of the domain may stand."""
    labels = domain.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]


def email_digest(email: str) -> str:
    """SHA-256 of an address without what many providers ignore in it: case, dots, and what follows a plus sign."""
    local, _at, domain = email.strip().lower().rpartition("@")
    canonical = f"{local.partition('+')[0].replace('.', '')}@{domain}"
    return hashlib.sha256(canonical.encode()).hexdigest()


def age_errors(date_of_birth: str, *, minimum: int, today: date) -> list[FieldError]:
    """What is wrong with a date of birth (`YYYY-MM-DD` or `DD.MM.YYYY`) where people must be `minimum` years old."""
    text = date_of_birth.strip()
    if not text:
        return [FieldError("date_of_birth", "ERR_BLANK", _("can't be blank"))]
    born = _date(text)
    if born is None or born > today:
        return [FieldError("date_of_birth", "ERR_INVALID", _("is invalid"))]
    # Tuples, because a 29th of February has no birthday in most years.
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
