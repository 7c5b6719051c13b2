"""Parameters of staff about blocks: of servers, e-mail domains, addresses and networks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.utils.translation import gettext as _

from accounts.models import Severity
from accounts.policies.sign_up import network_of
from moderation.policies.domain_rules import DomainRuleDraft
from social.api.fields import ClientString, as_integer
from social.api.inputs import Form, Input, Stripped
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid


class DomainRuleInput(Input[DomainRuleDraft]):
    """Values of a rule for a server."""

    fields = ("severity", "reject_media", "reject_reports", "obfuscate", "private_comment", "public_comment")


class DomainNameInput(Form):
    """The domain of a server."""

    domain: Stripped = ""


class EmailDomainInput(Form):
    """An e-mail domain, and whether staff let people with it in one by one."""

    domain: Stripped = ""
    allow_with_approval: bool = False


class NetworkInput(Form):
    """A network, its severity, the reason and the number of seconds; None: not sent."""

    ip: Stripped | None = None
    severity: Stripped | None = None
    comment: Annotated[str, ClientString(max_length=10_000)] | None = None
    expires_in: str | None = None

    def changes(self) -> Mapping[str, Any]:
        """The values for the service. Raises Invalid for what is no severity and for a blank address."""
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
        """The values of a new block. Raises Invalid for one without severity or address."""
        if not (self.severity or "").strip():
            missing = FieldError("severity", "ERR_BLANK", _("can't be blank"))
            raise Invalid.of([FieldError("severity", "ERR_INCLUSION", _("is not included in the list")), missing])
        return {"network": self._network(self.ip or ""), **self.changes()}

    @staticmethod
    def _network(text: str) -> str:
        """The value that was sent, if it is an address or a network; the API says of anything else that it is blank."""
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


class EmailInput(Form):
    """An e-mail address, or the digest of one."""

    email: Stripped = ""
    canonical_email_hash: Stripped = ""


class EmailTestInput(EmailInput):
    """EmailInput with the address."""

    required_keys = ("email",)
