"""Adds and removes blocks of signing up. Each asks whether `by` may do it and writes the audit row itself."""

from __future__ import annotations

import ipaddress
from datetime import datetime
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock, Severity, UsernameBlock
from accounts.models.user import Permission
from accounts.policies.sign_up import taken
from accounts.policies.sign_up_gates import email_digest, normalised_username
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.api import refused_networks
from social.kernel.errors import FieldError, Invalid
from social.kernel.text.names import normalise_domain

SignUpBlock = EmailDomainBlock | CanonicalEmailBlock | IpBlock | UsernameBlock
B = TypeVar("B", EmailDomainBlock, CanonicalEmailBlock, IpBlock, UsernameBlock)


def block_email_domain(*, by: Staff, domain: str, allow_with_approval: bool = False) -> EmailDomainBlock:
    """Refuse e-mail addresses of a domain and its subdomains. Raises Forbidden; Invalid for no domain or a second time."""
    name = normalise_domain(domain)
    if name is None:
        raise Invalid.of([FieldError("domain", "ERR_INVALID", _("is invalid"))])
    return _add(by, EmailDomainBlock(domain=name, allow_with_approval=allow_with_approval), "domain")


def block_canonical_email(*, by: Staff, email: str) -> CanonicalEmailBlock:
    """Refuse an address in all its spellings. Raises Forbidden; Invalid for no address or a second time."""
    if not all(email.strip().rpartition("@")[::2]):
        raise Invalid.of([FieldError("email", "ERR_INVALID", _("is invalid"))])
    return _add(by, CanonicalEmailBlock(digest=email_digest(email)), "email")


def block_network(
    *, by: Staff, network: str, severity: Severity, comment: str = "", expires_at: datetime | None = None
) -> IpBlock:
    """Refuse sign-ups, or every request, of an address or network (CIDR) until `expires_at`; at once in this process
    and within `refused_networks.SECONDS` in all others. Raises Forbidden; Invalid for no network or a second time.
    """
    try:
        block = IpBlock.of(ipaddress.ip_network(network.strip(), strict=False), severity)
    except ValueError:
        raise Invalid.of([FieldError("ip", "ERR_INVALID", _("is invalid"))]) from None
    block.comment, block.expires_at = comment, expires_at
    return _add(by, block, "ip")


def block_username(*, by: Staff, username: str, exact: bool = True, allow_with_approval: bool = False) -> UsernameBlock:
    """Refuse a name, or with `exact=False` every name that contains it. Raises Forbidden; Invalid for a blank one or a
    second time.
    """
    name = username.strip().removeprefix("@")
    if not name:
        raise Invalid.of([FieldError("username", "ERR_BLANK", _("can't be blank"))])
    block = UsernameBlock(
        username=name, normalised=normalised_username(name), exact=exact, allow_with_approval=allow_with_approval
    )
    return _add(by, block, "username")


def remove_block(*, by: Staff, block: SignUpBlock) -> None:
    """Take a block back, of whichever kind. Raises Forbidden."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        _record(by, "destroy", block)
        block.delete()
        transaction.on_commit(refused_networks.forget)


def _add(by: Staff, block: B, field: str) -> B:
    require(by, Permission.MANAGE_BLOCKS)
    try:
        with transaction.atomic():
            block.save(force_insert=True)
            _record(by, "create", block)
            transaction.on_commit(refused_networks.forget)
    except IntegrityError:
        raise Invalid.of([taken(field)]) from None
    return block


def _record(by: Staff, action: str, block: SignUpBlock) -> None:
    record(by=by, action=action, target_type=type(block).__name__, target_id=block.pk, target_name=str(block))
