"""Rules for other servers, and servers that limited federation is open to, over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models.user import Permission
from moderation.models import DomainAllow, DomainRule
from moderation.queries.domain_rules import find_allow, find_rule
from moderation.serializers.admin_blocks import DomainAllowSerializer, DomainRuleSerializer
from moderation.serializers.inputs.admin_blocks import DomainNameInput, DomainRuleInput
from moderation.services.domain_rules import (
    AlreadyRuled,
    allow_domain,
    change_rule,
    create_rule,
    disallow_domain,
    remove_rule,
)
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply

_PAGES = ByCursor(Limit(100, 500))


class AdminDomainBlocksViewSet(AdminViewSet):
    """`/api/v1/admin/domain_blocks`."""

    endpoints = {
        "list": Endpoint(access.staff("admin:read:domain_blocks"), "AdminDomainBlock", many=True, paging=_PAGES),
        "retrieve": Endpoint(access.staff("admin:read:domain_blocks"), "AdminDomainBlock"),
        "create": Endpoint(
            access.staff("admin:write:domain_blocks"), "AdminDomainBlock", input=DomainRuleInput, also=("domain",)
        ),
        "update": Endpoint(access.staff("admin:write:domain_blocks"), "AdminDomainBlock", input=DomainRuleInput),
        "destroy": Endpoint(access.staff("admin:write:domain_blocks"), EMPTY),
    }

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # as in ApiViewSet
        """As everywhere; with the rule that is there already (contract, entities "Errors")."""
        if isinstance(exc, AlreadyRuled):
            known = DomainRuleSerializer(exc.rule).data
            return reply({"error": exc.message, "existing_domain_block": known}, status=422)
        return super().handle_exception(exc)

    def list(self, request: Request) -> HttpResponse:
        """All rules, newest first."""
        self.acting(Permission.MANAGE_FEDERATION)
        page = self.paginate(DomainRule.objects.all())
        return page.respond(DomainRuleSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One rule."""
        self.acting(Permission.MANAGE_FEDERATION)
        return reply(DomainRuleSerializer(find_rule(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Make a rule for a server."""
        by = self.acting(Permission.MANAGE_FEDERATION)
        domain, draft = DomainNameInput.read(request).domain, DomainRuleInput.read(request)
        return reply(DomainRuleSerializer(create_rule(by=by, domain=domain, draft=draft)).data)

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change what a rule says."""
        by = self.acting(Permission.MANAGE_FEDERATION)
        change_rule(by=by, rule=find_rule(id), draft=DomainRuleInput.read(request))
        return reply(DomainRuleSerializer(find_rule(id)).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Take a rule back."""
        by = self.acting(Permission.MANAGE_FEDERATION)
        remove_rule(by=by, rule=find_rule(id))
        return {}


class AdminDomainAllowsViewSet(AdminViewSet):
    """`/api/v1/admin/domain_allows`."""

    endpoints = {
        "list": Endpoint(access.staff("admin:read:domain_allows"), "AdminDomainAllow", many=True, paging=_PAGES),
        "retrieve": Endpoint(access.staff("admin:read:domain_allows"), "AdminDomainAllow"),
        "create": Endpoint(access.staff("admin:write:domain_allows"), "AdminDomainAllow", input=DomainNameInput),
        "destroy": Endpoint(access.staff("admin:write:domain_allows"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """All allowed servers, newest first."""
        self.acting(Permission.MANAGE_FEDERATION)
        page = self.paginate(DomainAllow.objects.all())
        return page.respond(DomainAllowSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One allowed server."""
        self.acting(Permission.MANAGE_FEDERATION)
        return reply(DomainAllowSerializer(find_allow(id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Allow a server; twice is the same."""
        by = self.acting(Permission.MANAGE_FEDERATION)
        allow = allow_domain(by=by, domain=DomainNameInput.read(request).domain)
        return reply(DomainAllowSerializer(allow).data)

    def destroy(self, request: Request, id: int) -> Any:
        """Allow a server no more."""
        by = self.acting(Permission.MANAGE_FEDERATION)
        disallow_domain(by=by, allow=find_allow(id))
        return {}
