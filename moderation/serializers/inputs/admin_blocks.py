"""What staff send about blocks: of servers, e-mail domains, addresses and networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Severity
from accounts.policies.sign_up_blocks import network_of
from moderation.policies.domain_rules import DomainRuleDraft
from social.api.inputs import ClientBoolean, ClientString, Input, as_integer
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid


class DomainRuleInput(Input[DomainRuleDraft]):
    """What a rule for a server says."""

    draft = DomainRuleDraft
    severity = ClientString()
    reject_media = ClientBoolean()
    reject_reports = ClientBoolean()
    obfuscate = ClientBoolean()
    private_comment = ClientString()
    public_comment = ClientString()


@dataclass(frozen=True)
class DomainForm:
    """A domain."""

    domain: str = ""


class DomainNameInput(Input[DomainForm]):
    """Which server."""

    draft = DomainForm
    domain = ClientString(strip=True)


@dataclass(frozen=True)
class EmailDomainForm:
    """The parameters of blocking an e-mail domain."""

    domain: str = ""
    allow_with_approval: bool = False


class EmailDomainInput(Input[EmailDomainForm]):
    """Which e-mail domain, and whether staff let people with it in one by one."""

    draft = EmailDomainForm
    domain = ClientString(strip=True)
    allow_with_approval = ClientBoolean()


@dataclass(frozen=True)
class NetworkForm:
    """The parameters of blocking a network; None: not sent."""

    ip: str | None = None
    severity: str | None = None
    comment: str | None = None
    expires_in: str | None = None

    def changes(self) -> Mapping[str, Any]:
        """What was sent, as the service takes it. Raises Invalid for what is no severity and for a blank address."""
        found: dict[str, Any] = {}
        if self.severity is not None:
            if self.severity not in Severity.values:
                raise Invalid.of([FieldError("severity", "ERR_INCLUSION", _("is not included in the list"))])
            found["severity"] = Severity(self.severity)
        if self.ip is not None:
            found["network"] = self._network(self.ip)
        if self.comment is not None:
            found["comment"] = self.comment
        if self.expires_in is not None:
            found["expires_at"] = self._expires_at(self.expires_in)
        return found

    def complete(self) -> Mapping[str, Any]:
        """As `changes`, of a new block. Raises Invalid for one without severity or address."""
        if not (self.severity or "").strip():
            missing = FieldError("severity", "ERR_BLANK", _("can't be blank"))
            raise Invalid.of([FieldError("severity", "ERR_INCLUSION", _("is not included in the list")), missing])
        return {"network": self._network(self.ip or ""), **self.changes()}

    @staticmethod
    def _network(text: str) -> str:
        """What was sent, if it is an address or a network; the API says of anything else that it is blank."""
        try:
            return str(network_of(text))
        except ValueError:
            raise Invalid.of([FieldError("ip", "ERR_BLANK", _("can't be blank"))]) from None

    @staticmethod
    def _expires_at(seconds: str) -> datetime | None:
        if not seconds.strip():
            return None
        try:
            return clock.now() + timedelta(seconds=max(0, as_integer(seconds)))
        except OverflowError:
            raise Invalid.of([FieldError("expires_in", "ERR_INVALID", _("is invalid"))]) from None


class NetworkInput(Input[NetworkForm]):
    """Which network, how far, why and for how many seconds."""

    draft = NetworkForm
    ip = ClientString(strip=True)
    severity = ClientString(strip=True)
    comment = ClientString(max_length=10_000)
    expires_in = ClientString()


@dataclass(frozen=True)
class EmailForm:
    """An e-mail address, or the digest of one."""

    email: str = ""
    canonical_email_hash: str = ""


class EmailInput(Input[EmailForm]):
    """Whose address."""

    draft = EmailForm
    email = ClientString(strip=True)
    canonical_email_hash = ClientString(strip=True)


class EmailTestInput(EmailInput):
    """As EmailInput, with the address."""

    required_keys = ("email",)
