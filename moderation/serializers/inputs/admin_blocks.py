"""Parameters of the staff API for blocks: of servers, e-mail domains, e-mail addresses and networks."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any

from accounts.models import Severity
from accounts.policies.networks import network_of
from moderation.policies.domain_rules import DomainRuleDraft
from social.api.fields import ClientString, as_integer
from social.api.inputs import Form, Input, Stripped
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid, require_valid


class DomainRuleInput(Input[DomainRuleDraft]):
    fields = ("severity", "reject_media", "reject_reports", "obfuscate", "private_comment", "public_comment")


class DomainNameInput(Form):
    domain: Stripped = ""


class EmailDomainInput(Form):
    """An e-mail domain, and whether users of the domain may sign up with the approval of staff."""

    domain: Stripped = ""
    allow_with_approval: bool = False


class NetworkInput(Form):
    """A network, its severity, the reason and the duration in seconds; None: not sent."""

    ip: Stripped | None = None
    severity: Stripped | None = None
    comment: Annotated[str, ClientString(max_length=10_000)] | None = None
    expires_in: str | None = None

    def changes(self) -> Mapping[str, Any]:
        """Return the values for the service. Raises Invalid with all errors: severity, address, expiry."""
        values: dict[str, Any] = {}
        errors: list[FieldError] = []
        if self.severity is not None and self.severity not in Severity.values:
            errors.append(FieldError.not_included("severity"))
        elif self.severity is not None:
            values["severity"] = Severity(self.severity)
        if self.ip is not None:
            try:
                values["network"] = str(network_of(self.ip))
            except ValueError:
                # The contract requires this error for every invalid address.
                errors.append(_blank_error("ip"))
        if self.severity == "":
            errors.append(_blank_error("severity"))
        if self.comment is not None:
            values["comment"] = self.comment
        if self.expires_in is not None:
            try:
                values["expires_at"] = _expires_at(self.expires_in)
            except OverflowError:
                errors.append(FieldError.invalid("expires_in"))
        require_valid(errors)
        return values

    def complete(self) -> Mapping[str, Any]:
        """Return the values of a new block. Raises Invalid as `changes` does, and for a missing severity; a missing address is
        reported only if everything else is valid (observed in Mastodon).
        """
        values = replace(self, severity=self.severity or "").changes()
        if "network" not in values:
            raise Invalid.of([_blank_error("ip")])
        return values


def _blank_error(field: str) -> FieldError:
    return FieldError.blank(field)


def _expires_at(seconds: str) -> datetime | None:
    return clock.now() + timedelta(seconds=max(0, as_integer(seconds))) if seconds.strip() else None


class EmailInput(Form):
    """An e-mail address, or the digest of one."""

    email: Stripped = ""
    canonical_email_hash: Stripped = ""


class EmailTestInput(EmailInput):
    """An e-mail address, which is required."""

    required_keys = ("email",)
