"""Domain rules and blocks of sign-ups, over HTTP: servers, e-mail domains, networks, and e-mail addresses by their digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.identity.queries.sign_up import load_refusals
from accounts.identity.services import sign_up_blocks
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock
from accounts.models.user import Permission
from moderation.models import DomainAllow, DomainRule
from moderation.queries.blocks import (
    find_allow,
    find_canonical_email_block,
    find_email_domain_block,
    find_ip_block,
    find_rule,
    list_blocks_of,
)
from moderation.serializers.admin import (
    CanonicalEmailBlockSerializer,
    DomainAllowSerializer,
    DomainRuleSerializer,
    EmailDomainBlockSerializer,
    IpBlockSerializer,
)
from moderation.serializers.inputs.admin_blocks import (
    DomainNameInput,
    DomainRuleInput,
    EmailDomainInput,
    EmailInput,
    EmailTestInput,
    NetworkInput,
)
from moderation.services import domain_rules
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply

_READ_BLOCKS = access.staff("admin:read:domain_blocks", Permission.MANAGE_FEDERATION)
_WRITE_BLOCKS = access.staff("admin:write:domain_blocks", Permission.MANAGE_FEDERATION)
_READ_ALLOWS = access.staff("admin:read:domain_allows", Permission.MANAGE_FEDERATION)
_WRITE_ALLOWS = access.staff("admin:write:domain_allows", Permission.MANAGE_FEDERATION)
_SERVER_PAGES = ByCursor(Limit(100, 500))


class AdminDomainBlocksViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ_BLOCKS, "AdminDomainBlock", many=True, paging=_SERVER_PAGES),
        "retrieve": Endpoint(_READ_BLOCKS, "AdminDomainBlock"),
        "create": Endpoint(_WRITE_BLOCKS, "AdminDomainBlock", input=DomainRuleInput, also=("domain",)),
        "update": Endpoint(_WRITE_BLOCKS, "AdminDomainBlock", input=DomainRuleInput),
        "destroy": Endpoint(_WRITE_BLOCKS, EMPTY),
    }

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Answer errors as other endpoints do; a conflict includes the existing rule (contract, entities "Errors")."""
        if isinstance(exc, domain_rules.AlreadyRuled):
            known = DomainRuleSerializer(exc.rule).data
            return reply({"error": exc.message, "existing_domain_block": known}, status=422)
        return super().handle_exception(exc)

    def list(self, request: Request) -> HttpResponse:
        """List of rules, newest first."""
        page = self.paginate(DomainRule.objects.all())
        return page.respond(DomainRuleSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """A rule."""
        return reply(DomainRuleSerializer(find_rule(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Create a rule for a server."""
        domain, draft = DomainNameInput.read(request).domain, DomainRuleInput.read(request)
        return reply(DomainRuleSerializer(domain_rules.create_rule(by=self.by, domain=domain, draft=draft)).data)

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the values of a rule."""
        domain_rules.change_rule(by=self.by, rule=find_rule(id), draft=DomainRuleInput.read(request))
        return reply(DomainRuleSerializer(find_rule(id)).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Remove a rule."""
        domain_rules.remove_rule(by=self.by, rule=find_rule(id))
        return {}


class AdminDomainAllowsViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ_ALLOWS, "AdminDomainAllow", many=True, paging=_SERVER_PAGES),
        "retrieve": Endpoint(_READ_ALLOWS, "AdminDomainAllow"),
        "create": Endpoint(_WRITE_ALLOWS, "AdminDomainAllow", input=DomainNameInput),
        "destroy": Endpoint(_WRITE_ALLOWS, EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List of allowed servers, newest first."""
        page = self.paginate(DomainAllow.objects.all())
        return page.respond(DomainAllowSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An allowed server."""
        return reply(DomainAllowSerializer(find_allow(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Allow a server; repeating it is not an error."""
        allow = domain_rules.allow_domain(by=self.by, domain=DomainNameInput.read(request).domain)
        return reply(DomainAllowSerializer(allow).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Stop allowing a server."""
        domain_rules.disallow_domain(by=self.by, allow=find_allow(id))
        return {}


_READ_DOMAINS = access.staff("admin:read:email_domain_blocks", Permission.MANAGE_BLOCKS)
_WRITE_DOMAINS = access.staff("admin:write:email_domain_blocks", Permission.MANAGE_BLOCKS)
_READ_NETWORKS = access.staff("admin:read:ip_blocks", Permission.MANAGE_BLOCKS)
_WRITE_NETWORKS = access.staff("admin:write:ip_blocks", Permission.MANAGE_BLOCKS)
_READ_ADDRESSES = access.staff("admin:read:canonical_email_blocks", Permission.MANAGE_BLOCKS)
_WRITE_ADDRESSES = access.staff("admin:write:canonical_email_blocks", Permission.MANAGE_BLOCKS)
_BLOCK_PAGES = ByCursor(Limit(100, 200))


class AdminEmailDomainBlocksViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ_DOMAINS, "AdminEmailDomainBlock", many=True, paging=_BLOCK_PAGES),
        "retrieve": Endpoint(_READ_DOMAINS, "AdminEmailDomainBlock"),
        "create": Endpoint(_WRITE_DOMAINS, "AdminEmailDomainBlock", input=EmailDomainInput),
        "destroy": Endpoint(_WRITE_DOMAINS, EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List of e-mail domain blocks, newest first."""
        page = self.paginate(EmailDomainBlock.objects.all())
        return page.respond(self._entities(page.items))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An e-mail domain block."""
        return reply(self._entities([find_email_domain_block(id)])[0])

    def create(self, request: Request) -> HttpResponse:
        """Block an e-mail domain."""
        form = EmailDomainInput.read(request)
        block = sign_up_blocks.block_email_domain(
            by=self.by, domain=form.domain, allow_with_approval=form.allow_with_approval
        )
        return reply(self._entities([block])[0])

    def destroy(self, request: Request, id: int) -> Any:
        """Remove an e-mail domain block."""
        sign_up_blocks.remove_block(by=self.by, block=find_email_domain_block(id))
        return {}

    def _entities(self, blocks: Sequence[EmailDomainBlock]) -> Any:
        context = {"refusals": load_refusals([block.pk for block in blocks])}
        return EmailDomainBlockSerializer(blocks, many=True, context=context).data


class AdminIpBlocksViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ_NETWORKS, "AdminIpBlock", many=True, paging=_BLOCK_PAGES),
        "retrieve": Endpoint(_READ_NETWORKS, "AdminIpBlock"),
        "create": Endpoint(_WRITE_NETWORKS, "AdminIpBlock", input=NetworkInput),
        "update": Endpoint(_WRITE_NETWORKS, "AdminIpBlock", input=NetworkInput),
        "destroy": Endpoint(_WRITE_NETWORKS, EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List of network blocks, newest first, expired ones included."""
        page = self.paginate(IpBlock.objects.all())
        return page.respond(IpBlockSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """A network block."""
        return reply(IpBlockSerializer(find_ip_block(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Block a network."""
        block = sign_up_blocks.block_network(by=self.by, **NetworkInput.read(request).complete())
        return reply(IpBlockSerializer(block).data)

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the values that are sent."""
        block = find_ip_block(id)
        sign_up_blocks.change_network_block(by=self.by, block=block, changes=NetworkInput.read(request).changes())
        return reply(IpBlockSerializer(find_ip_block(id)).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Remove a network block."""
        sign_up_blocks.remove_block(by=self.by, block=find_ip_block(id))
        return {}


class AdminCanonicalEmailBlocksViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ_ADDRESSES, "AdminCanonicalEmailBlock", many=True, paging=_BLOCK_PAGES),
        "retrieve": Endpoint(_READ_ADDRESSES, "AdminCanonicalEmailBlock"),
        "test": Endpoint(_READ_ADDRESSES, "AdminCanonicalEmailBlock", many=True, input=EmailTestInput),
        "create": Endpoint(_WRITE_ADDRESSES, "AdminCanonicalEmailBlock", input=EmailInput),
        "destroy": Endpoint(_WRITE_ADDRESSES, EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List of blocks of e-mail addresses, newest first."""
        page = self.paginate(CanonicalEmailBlock.objects.all())
        return page.respond(CanonicalEmailBlockSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """A block of an e-mail address."""
        return reply(CanonicalEmailBlockSerializer(find_canonical_email_block(id)).data)

    def test(self, request: Request) -> HttpResponse:
        """The block of an e-mail address, in a list, which is empty if the address is not blocked."""
        found = list(list_blocks_of(EmailTestInput.read(request).email))
        return reply(CanonicalEmailBlockSerializer(found, many=True).data)

    def create(self, request: Request) -> HttpResponse:
        """Block an e-mail address, or the digest of one."""
        form = EmailInput.read(request)
        if form.email:
            block = sign_up_blocks.block_canonical_email(by=self.by, email=form.email)
        else:
            block = sign_up_blocks.block_email_digest(by=self.by, digest=form.canonical_email_hash)
        return reply(CanonicalEmailBlockSerializer(block).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Remove the block of an e-mail address."""
        sign_up_blocks.remove_block(by=self.by, block=find_canonical_email_block(id))
        return {}
