"""Adds and removes sign-up blocks. Each function checks the permission of `by` and writes the audit row."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from accounts.identity.policies.sign_up import (
    blockable_email_domain,
    email_digest,
    is_in_usernames,
    normalised_username,
)
from accounts.identity.queries.sign_up import find_email_domain_blocks
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, EmailDomainRefusal, IpBlock, Severity, UsernameBlock
from accounts.models.user import Permission
from accounts.policies.networks import network_of
from accounts.policies.staff import Staff, require
from accounts.queries.tags import HISTORY_DAYS
from accounts.services.audit import record_about, record_changes, record_each
from social.api import refused_networks
from social.kernel import clock
from social.kernel.errors import Conflict, FieldError, Invalid, require_found
from social.kernel.locks import keep_rows, lock_row

SignUpBlock = EmailDomainBlock | CanonicalEmailBlock | IpBlock | UsernameBlock
DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ROWS: Final = 500
B = TypeVar("B", EmailDomainBlock, CanonicalEmailBlock, IpBlock, UsernameBlock)


def block_email_domain(*, by: Staff, domain: str, allow_with_approval: bool = False) -> EmailDomainBlock:
    """Block e-mail addresses of a domain and its subdomains. Raises Forbidden; Invalid for an invalid or blocked domain."""
    if not domain.strip():
        raise Invalid.of([FieldError.blank("domain")])
    name = blockable_email_domain(domain)
    if name is None:
        raise Invalid.of([FieldError.invalid("domain")])
    return _add(by, EmailDomainBlock(domain=name, allow_with_approval=allow_with_approval), "domain")


def block_email_domains(*, by: Staff, domains: Mapping[str, bool]) -> set[str]:
    """Block normalised domains, each mapped to its `allow_with_approval`; return the domains that were blocked before.

    Uses one transaction, with a fixed number of statements for every 500 domains. Raises Forbidden; Conflict when somebody else
    blocks one of the domains at the same moment.
    """
    require(by, Permission.MANAGE_BLOCKS)
    known_blocks = EmailDomainBlock.objects.filter(domain__one_of=list(domains))
    known = set(known_blocks.values_list("domain", flat=True))
    blocks = [
        EmailDomainBlock(domain=domain, allow_with_approval=allow)
        for domain, allow in domains.items()
        if domain not in known
    ]
    with _blocking():
        EmailDomainBlock.objects.bulk_create(blocks, batch_size=_ROWS)
        targets = [(block.pk, str(block)) for block in blocks]
        record_each(by=by, action="create", target_type=EmailDomainBlock.__name__, targets=targets)
    return known


def block_canonical_email(*, by: Staff, email: str) -> CanonicalEmailBlock:
    """Block an e-mail address in all its spellings. Raises Forbidden; Invalid for an invalid or blocked address."""
    if not all(email.strip().rpartition("@")[::2]):
        raise Invalid.of([FieldError.invalid("email")])
    return _add(by, CanonicalEmailBlock(digest=email_digest(email)), "canonical_email_hash")


def block_email_digest(*, by: Staff, digest: str) -> CanonicalEmailBlock:
    """Block an e-mail address by its digest. Raises Forbidden; Invalid for an invalid or blocked digest."""
    text = digest.strip().lower()
    if not text:
        raise Invalid.of([FieldError.blank("canonical_email_hash")])
    if not DIGEST.fullmatch(text):
        raise Invalid.of([FieldError.invalid("canonical_email_hash")])
    return _add(by, CanonicalEmailBlock(digest=text), "canonical_email_hash")


def block_network(
    *, by: Staff, network: str, severity: Severity, comment: str = "", expires_at: datetime | None = None
) -> IpBlock:
    """Block sign-ups, or every request, from an address or network (CIDR) until `expires_at`.

    The block takes effect immediately in this process, and in other processes within `refused_networks.RELOAD_SECONDS`. Raises
    Forbidden; Invalid for an invalid or blocked network.
    """
    block = _network_block(network, severity)
    block.comment, block.expires_at = comment, expires_at
    return _add(by, block, "ip")


def write_network_blocks(
    *, by: Staff, blocks: Mapping[str, Mapping[str, Any]], changing: Collection[str] = ()
) -> set[str]:
    """Block networks with these values, but change existing blocks only if named in `changing`; return the unchanged networks.

    Uses one transaction, with a fixed number of statements for every 500 networks. Raises Forbidden; Invalid; Conflict when
    somebody else blocks one of the networks at the same moment.
    """
    require(by, Permission.MANAGE_BLOCKS)
    with _blocking():
        known_blocks = IpBlock.objects.select_for_update().filter(network__one_of=list(blocks)).order_by("id")
        known = {block.network: block for block in known_blocks}
        new_blocks, changes = [], []
        unchanged = known.keys() - set(changing)
        for network, values in blocks.items():
            if network in unchanged:
                continue
            block = known.get(network)
            if block is None:
                block = _network_block(network, Severity(values["severity"]))
                new_blocks.append(block)
            else:
                changes.append((block, _state(block)))
            for name, value in values.items():
                setattr(block, name, value)
        IpBlock.objects.bulk_create(new_blocks, batch_size=_ROWS)
        changed = [block for block, _before in changes]
        IpBlock.objects.bulk_update(changed, ("severity", "comment", "expires_at"), batch_size=_ROWS)
        kind = IpBlock.__name__
        record_each(by=by, action="create", target_type=kind, targets=[(block.pk, str(block)) for block in new_blocks])
        details = [(block.pk, str(block), {"before": before, "after": _state(block)}) for block, before in changes]
        record_changes(by=by, action="update", target_type=kind, changes=details)
    return unchanged


def block_username(*, by: Staff, username: str, exact: bool = True, allow_with_approval: bool = False) -> UsernameBlock:
    """Block a username, or every username that contains it. Raises Forbidden; Invalid for an invalid or blocked username."""
    name = username.strip().removeprefix("@")
    if not name:
        raise Invalid.of([FieldError.blank("username")])
    if not is_in_usernames(name):
        raise Invalid.of(
            [FieldError("username", "ERR_INVALID", _("must contain only letters, numbers and underscores"))]
        )
    block = UsernameBlock(
        username=name, normalised=normalised_username(name), exact=exact, allow_with_approval=allow_with_approval
    )
    return _add(by, block, "username")


def change_network_block(*, by: Staff, block: IpBlock, changes: Mapping[str, Any]) -> None:
    """Change columns of a network block. Raises Forbidden, NotFound; Invalid like `block_network`."""
    require(by, Permission.MANAGE_BLOCKS)
    try:
        with transaction.atomic():
            current = require_found(IpBlock.objects.select_for_update().filter(pk=block.pk).first())
            before = _state(current)
            for name in ("severity", "comment", "expires_at"):
                setattr(current, name, changes.get(name, getattr(current, name)))
            if "network" in changes:
                other = _network_block(changes["network"], Severity(current.severity))
                current.network, current.first, current.last = other.network, other.first, other.last
            current.save()
            record_about(by, "update", current, before=before, after=_state(current))
            transaction.on_commit(refused_networks.forget)
    except IntegrityError:
        raise Invalid.of([FieldError.taken("ip")]) from None


def count_refusals(*, email: str, mail_hosts: Collection[str], address: str | None) -> None:
    """Count a sign-up that was refused by blocks of e-mail domains, for each of these blocks and for today (UTC)."""
    digest = hashlib.sha256((address or "").encode()).hexdigest()
    today = clock.now().astimezone(UTC).date()
    with transaction.atomic():
        blocks = find_email_domain_blocks(email, mail_hosts)
        for block_id in sorted(keep_rows(EmailDomainBlock, [block.pk for block in blocks])):
            refusal, is_new = EmailDomainRefusal.objects.get_or_create(
                block_id=block_id, day=today, address_digest=digest
            )
            if not is_new:
                EmailDomainRefusal.objects.filter(pk=refusal.pk).update(uses=F("uses") + 1)


def forget_old_refusals(*, batch: int = 5000) -> int:
    """Delete a batch of refusal counts that are too old for the history; return how many. Call it again until it returns 0."""
    oldest = clock.now().date() - timedelta(days=HISTORY_DAYS)
    rows = EmailDomainRefusal.objects.filter(day__lt=oldest)[:batch]
    return EmailDomainRefusal.objects.filter(id__in=rows.values("id")).delete()[0]


def remove_block(*, by: Staff, block: SignUpBlock) -> None:
    """Remove a sign-up block of any kind. Raises Forbidden; NotFound for a removed block."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(block)
        record_about(by, "destroy", current)
        current.delete()
        transaction.on_commit(refused_networks.forget)


def _add(by: Staff, block: B, field: str) -> B:
    require(by, Permission.MANAGE_BLOCKS)
    try:
        with transaction.atomic():
            block.save(force_insert=True)
            record_about(by, "create", block)
            transaction.on_commit(refused_networks.forget)
    except IntegrityError:
        raise Invalid.of([FieldError.taken(field)]) from None
    return block


@contextmanager
def _blocking() -> Iterator[None]:
    """Open a transaction for many blocks. Raises Conflict if somebody else writes one of the blocks meanwhile."""
    try:
        with transaction.atomic():
            yield
            transaction.on_commit(refused_networks.forget)
    except IntegrityError:
        raise Conflict from None


def _network_block(network: str, severity: Severity) -> IpBlock:
    try:
        return IpBlock.of(network_of(network), severity)
    except ValueError:
        raise Invalid.of([FieldError.invalid("ip")]) from None


def _state(block: IpBlock) -> dict[str, str | None]:
    expires = None if block.expires_at is None else clock.iso(block.expires_at)
    return {"network": block.network, "severity": block.severity, "comment": block.comment, "expires_at": expires}
