"""Reads blocks of e-mail domains, addresses and networks for staff."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import QuerySet

from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock
from accounts.policies.sign_up_blocks import email_digest
from social.kernel.errors import NotFound

B = TypeVar("B")


def find_email_domain_block(block_id: int) -> EmailDomainBlock:
    """The block with this id. Raises NotFound."""
    return _found(EmailDomainBlock.objects.filter(pk=block_id).first())


def find_ip_block(block_id: int) -> IpBlock:
    """The block with this id, also one that has expired. Raises NotFound."""
    return _found(IpBlock.objects.filter(pk=block_id).first())


def find_canonical_email_block(block_id: int) -> CanonicalEmailBlock:
    """The block with this id. Raises NotFound."""
    return _found(CanonicalEmailBlock.objects.filter(pk=block_id).first())


def list_blocks_of(email: str) -> QuerySet[CanonicalEmailBlock]:
    """The blocks that an address meets in whatever spelling: at most one."""
    return CanonicalEmailBlock.objects.filter(digest=email_digest(email))


def _found(block: B | None) -> B:
    if block is None:
        raise NotFound
    return block
