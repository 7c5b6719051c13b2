"""Blocks of signing up, over HTTP: e-mail domains, networks, and single addresses by their digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock
from accounts.models.user import Permission
from accounts.queries.sign_up import load_refusals
from accounts.services import sign_up_blocks
from moderation.queries.admin_blocks import (
    find_canonical_email_block,
    find_email_domain_block,
    find_ip_block,
    list_blocks_of,
)
from moderation.serializers.admin_blocks import (
    CanonicalEmailBlockSerializer,
    EmailDomainBlockSerializer,
    IpBlockSerializer,
)
from moderation.serializers.inputs.admin_blocks import EmailDomainInput, EmailInput, EmailTestInput, NetworkInput
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply

_PAGES = ByCursor(Limit(100, 200))


class AdminEmailDomainBlocksViewSet(AdminViewSet):
    """`/api/v1/admin/email_domain_blocks`."""

    endpoints = {
        "list": Endpoint(
            access.staff("admin:read:email_domain_blocks"), "AdminEmailDomainBlock", many=True, paging=_PAGES
        ),
        "retrieve": Endpoint(access.staff("admin:read:email_domain_blocks"), "AdminEmailDomainBlock"),
        "create": Endpoint(
            access.staff("admin:write:email_domain_blocks"), "AdminEmailDomainBlock", input=EmailDomainInput
        ),
        "destroy": Endpoint(access.staff("admin:write:email_domain_blocks"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """All of them, newest first."""
        self.acting(Permission.MANAGE_BLOCKS)
        page = self.paginate(EmailDomainBlock.objects.all())
        return page.respond(self._entities(page.items))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One of them."""
        self.acting(Permission.MANAGE_BLOCKS)
        return reply(self._entities([find_email_domain_block(id)])[0])

    def create(self, request: Request) -> HttpResponse:
        """Block an e-mail domain."""
        by, form = self.acting(Permission.MANAGE_BLOCKS), EmailDomainInput.read(request)
        block = sign_up_blocks.block_email_domain(
            by=by, domain=form.domain, allow_with_approval=form.allow_with_approval
        )
        return reply(self._entities([block])[0])

    def destroy(self, request: Request, id: int) -> Any:
        """Block it no more."""
        by = self.acting(Permission.MANAGE_BLOCKS)
        sign_up_blocks.remove_block(by=by, block=find_email_domain_block(id))
        return {}

    def _entities(self, blocks: Sequence[EmailDomainBlock]) -> Any:
        context = {"refusals": load_refusals([block.pk for block in blocks])}
        return EmailDomainBlockSerializer(blocks, many=True, context=context).data


class AdminIpBlocksViewSet(AdminViewSet):
    """`/api/v1/admin/ip_blocks`."""

    endpoints = {
        "list": Endpoint(access.staff("admin:read:ip_blocks"), "AdminIpBlock", many=True, paging=_PAGES),
        "retrieve": Endpoint(access.staff("admin:read:ip_blocks"), "AdminIpBlock"),
        "create": Endpoint(access.staff("admin:write:ip_blocks"), "AdminIpBlock", input=NetworkInput),
        "update": Endpoint(access.staff("admin:write:ip_blocks"), "AdminIpBlock", input=NetworkInput),
        "destroy": Endpoint(access.staff("admin:write:ip_blocks"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """All of them, newest first, expired ones too."""
        self.acting(Permission.MANAGE_BLOCKS)
        page = self.paginate(IpBlock.objects.all())
        return page.respond(IpBlockSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One of them."""
        self.acting(Permission.MANAGE_BLOCKS)
        return reply(IpBlockSerializer(find_ip_block(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Block a network."""
        by = self.acting(Permission.MANAGE_BLOCKS)
        block = sign_up_blocks.block_network(by=by, **NetworkInput.read(request).complete())
        return reply(IpBlockSerializer(block).data)

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change what is sent."""
        by = self.acting(Permission.MANAGE_BLOCKS)
        block = find_ip_block(id)
        sign_up_blocks.change_network_block(by=by, block=block, changes=NetworkInput.read(request).changes())
        return reply(IpBlockSerializer(find_ip_block(id)).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Block it no more."""
        by = self.acting(Permission.MANAGE_BLOCKS)
        sign_up_blocks.remove_block(by=by, block=find_ip_block(id))
        return {}


class AdminCanonicalEmailBlocksViewSet(AdminViewSet):
    """`/api/v1/admin/canonical_email_blocks`."""

    endpoints = {
        "list": Endpoint(
            access.staff("admin:read:canonical_email_blocks"), "AdminCanonicalEmailBlock", many=True, paging=_PAGES
        ),
        "retrieve": Endpoint(access.staff("admin:read:canonical_email_blocks"), "AdminCanonicalEmailBlock"),
        "test": Endpoint(
            access.staff("admin:read:canonical_email_blocks"),
            "AdminCanonicalEmailBlock",
            many=True,
            input=EmailTestInput,
        ),
        "create": Endpoint(
            access.staff("admin:write:canonical_email_blocks"), "AdminCanonicalEmailBlock", input=EmailInput
        ),
        "destroy": Endpoint(access.staff("admin:write:canonical_email_blocks"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """All of them, newest first."""
        self.acting(Permission.MANAGE_BLOCKS)
        page = self.paginate(CanonicalEmailBlock.objects.all())
        return page.respond(CanonicalEmailBlockSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One of them."""
        self.acting(Permission.MANAGE_BLOCKS)
        return reply(CanonicalEmailBlockSerializer(find_canonical_email_block(id)).data)

    def test(self, request: Request) -> HttpResponse:
        """Whether an address is blocked: the block, or an empty list."""
        self.acting(Permission.MANAGE_BLOCKS)
        found = list(list_blocks_of(EmailTestInput.read(request).email))
        return reply(CanonicalEmailBlockSerializer(found, many=True).data)

    def create(self, request: Request) -> HttpResponse:
        """Block an address, or the digest of one."""
        by, form = self.acting(Permission.MANAGE_BLOCKS), EmailInput.read(request)
        if form.email:
            block = sign_up_blocks.block_canonical_email(by=by, email=form.email)
        else:
            block = sign_up_blocks.block_email_digest(by=by, digest=form.canonical_email_hash)
        return reply(CanonicalEmailBlockSerializer(block).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Block it no more."""
        by = self.acting(Permission.MANAGE_BLOCKS)
        sign_up_blocks.remove_block(by=by, block=find_canonical_email_block(id))
        return {}
