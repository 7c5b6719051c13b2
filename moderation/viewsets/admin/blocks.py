"""Domain rules and blocks of sign-ups, over HTTP: servers, e-mail domains, networks, and e-mail addresses by their digest."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.identity.queries.sign_up import load_refusals
from accounts.identity.services import sign_up_blocks
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock
from accounts.models.user import Permission
from moderation.models import DomainAllow, DomainRule
from moderation.queries.blocks import list_blocks_of
from moderation.serializers import admin
from moderation.serializers.inputs import admin_blocks as inputs
from moderation.services import domain_rules
from moderation.viewsets.admin.base import AdminRowsViewSet, row_endpoints, row_titles
from social.api import access
from social.api.declarations import Endpoint
from social.api.responses import reply


class AdminDomainBlocksViewSet(AdminRowsViewSet):
    endpoints = row_endpoints(
        "domain_blocks",
        Permission.MANAGE_FEDERATION,
        "AdminDomainBlock",
        create=inputs.DomainRuleInput,
        update=inputs.DomainRuleInput,
        also=("domain",),
        most=500,
    )
    model, serializer = DomainRule, admin.DomainRuleSerializer
    titles = row_titles("a rule", "rules")

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Handle errors as other endpoints do; a conflict includes the existing rule (contract, entities "Errors")."""
        if isinstance(exc, domain_rules.AlreadyRuled):
            known = admin.DomainRuleSerializer(exc.rule).data
            return reply({"error": exc.message, "existing_domain_block": known}, status=422)
        return super().handle_exception(exc)

    def create(self, request: Request) -> HttpResponse:
        """Create a rule for a server."""
        domain, draft = inputs.DomainNameInput.read(request).domain, inputs.DomainRuleInput.read(request)
        return self.present(domain_rules.create_rule(by=self.by, domain=domain, draft=draft))

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the values of a rule."""
        domain_rules.change_rule(by=self.by, rule=self.find(id), draft=inputs.DomainRuleInput.read(request))
        return self.present(self.find(id))

    def remove(self, row: DomainRule) -> None:
        domain_rules.remove_rule(by=self.by, rule=row)


class AdminDomainAllowsViewSet(AdminRowsViewSet):
    endpoints = row_endpoints(
        "domain_allows", Permission.MANAGE_FEDERATION, "AdminDomainAllow", create=inputs.DomainNameInput, most=500
    )
    model, serializer = DomainAllow, admin.DomainAllowSerializer
    titles = row_titles("an allowed server", "allowed servers") | {"destroy": "Stop allowing a server."}

    def create(self, request: Request) -> HttpResponse:
        """Allow a server; repeating it is not an error."""
        return self.present(domain_rules.allow_domain(by=self.by, domain=inputs.DomainNameInput.read(request).domain))

    def remove(self, row: DomainAllow) -> None:
        domain_rules.disallow_domain(by=self.by, allow=row)


class _SignUpBlocksViewSet(AdminRowsViewSet):
    def remove(self, row: Any) -> None:
        sign_up_blocks.remove_block(by=self.by, block=row)


class AdminEmailDomainBlocksViewSet(_SignUpBlocksViewSet):
    endpoints = row_endpoints(
        "email_domain_blocks", Permission.MANAGE_BLOCKS, "AdminEmailDomainBlock", create=inputs.EmailDomainInput
    )
    model, serializer = EmailDomainBlock, admin.EmailDomainBlockSerializer
    titles = row_titles("an e-mail domain block", "e-mail domain blocks")

    def create(self, request: Request) -> HttpResponse:
        """Block an e-mail domain."""
        form = inputs.EmailDomainInput.read(request)
        return self.present(
            sign_up_blocks.block_email_domain(
                by=self.by, domain=form.domain, allow_with_approval=form.allow_with_approval
            )
        )

    def context(self, rows: Sequence[EmailDomainBlock]) -> dict[str, Any]:
        return {"refusals": load_refusals([block.pk for block in rows])}


class AdminIpBlocksViewSet(_SignUpBlocksViewSet):
    endpoints = row_endpoints(
        "ip_blocks", Permission.MANAGE_BLOCKS, "AdminIpBlock", create=inputs.NetworkInput, update=inputs.NetworkInput
    )
    model, serializer = IpBlock, admin.IpBlockSerializer
    titles = row_titles("a network block", "network blocks, also expired ones")

    def create(self, request: Request) -> HttpResponse:
        """Block a network."""
        return self.present(sign_up_blocks.block_network(by=self.by, **inputs.NetworkInput.read(request).complete()))

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change a network block; values that are not sent stay as they are."""
        block = self.find(id)
        sign_up_blocks.change_network_block(
            by=self.by, block=block, changes=inputs.NetworkInput.read(request).changes()
        )
        return self.present(self.find(id))


class AdminCanonicalEmailBlocksViewSet(_SignUpBlocksViewSet):
    endpoints = row_endpoints(
        "canonical_email_blocks", Permission.MANAGE_BLOCKS, "AdminCanonicalEmailBlock", create=inputs.EmailInput
    ) | {
        "test": Endpoint(
            access.staff("admin:read:canonical_email_blocks", Permission.MANAGE_BLOCKS),
            "AdminCanonicalEmailBlock",
            many=True,
            input=inputs.EmailTestInput,
        ),
    }
    model, serializer = CanonicalEmailBlock, admin.CanonicalEmailBlockSerializer
    titles = row_titles("a block of an e-mail address", "blocks of e-mail addresses")

    def test(self, request: Request) -> HttpResponse:
        """List the block of an e-mail address; the list is empty if the address is not blocked."""
        return reply(self.entities(list(list_blocks_of(inputs.EmailTestInput.read(request).email))))

    def create(self, request: Request) -> HttpResponse:
        """Block an e-mail address, or the digest of one."""
        form = inputs.EmailInput.read(request)
        if form.email:
            return self.present(sign_up_blocks.block_canonical_email(by=self.by, email=form.email))
        return self.present(sign_up_blocks.block_email_digest(by=self.by, digest=form.canonical_email_hash))
